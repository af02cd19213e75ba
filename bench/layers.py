#!/usr/bin/env python3
"""How often `blackjack-comm` finds the layers of random machines of messages, and how often it is sure of something wrong.

usage: layers.py [--program build/blackjack-comm] [--machines N] [--effort normal] [--seed N] [--keep FOLDER]

Each machine has one to four layers, nested by random factors, ranks placed by block, in turn or at random, costs 2% to 500%
above those of the layer below at the size by which layers are told apart, one or two protocols a layer, and noise. Two
layers that differ by less than 5% there must come out as one, by more than 20% as two; between them both are right, as
the program's own limit is 10%. Also counted: switches of protocol (each where the time jumps by more than 15%) and the
cost of all pairs at once. Exits with 1 where more than one machine in a hundred has a confident wrong layer.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BYTES = 32768
ONE_BELOW, TWO_ABOVE = 1.05, 1.20
RANKS_MOST = 256


def time_us(segments, size):
    segment = [s for s in segments if s["from_bytes"] <= size][-1]
    return segment["us"] + size / segment["gbs"] / 1000


def draw_segments(at_bytes_us):
    """One protocol or two, so scaled that BYTES take so long."""
    start = math.exp(random.uniform(math.log(0.1), math.log(0.9)))  # share of the time that no bytes explain
    segments = [{"from_bytes": 0, "us": start, "gbs": BYTES / 1000 / (1 - start)}]
    if random.random() < 0.5:
        switch = 2 ** random.randint(10, 20)
        later = dict(segments[0], from_bytes=switch, us=segments[0]["us"] + random.uniform(0.2, 2),
                     gbs=segments[0]["gbs"] * random.uniform(0.8, 2))
        segments.append(later)
    scale = at_bytes_us / time_us(segments, BYTES)
    return [{"from_bytes": s["from_bytes"], "us": round(s["us"] * scale, 5), "gbs": round(s["gbs"] / scale, 5)}
            for s in segments]


def draw(number):
    count, ranks, layers = random.randint(1, 4), 1, []
    us = math.exp(random.uniform(math.log(1), math.log(20)))
    for at in range(count):
        ranks *= random.choice([2, 2, 3, 4, 4, 6, 8])
        if ranks > RANKS_MOST:
            break
        layers.append({"within": f"level{at}", "ranks": ranks, "segments": draw_segments(us),
                       "share": round(random.uniform(0, 0.3), 3)})
        us *= math.exp(random.uniform(math.log(1.02), math.log(6)))
    if len(layers) > 1 and random.random() < 0.6:
        layers[-1]["within"] = "network"
    ranks = layers[-1]["ranks"]
    placement = random.choice(["block", "cyclic", random.sample(range(ranks), ranks)])
    return {"format": "blackjack-machine/1", "name": f"layers{number}", "cpus": 2,
            "caches": [{"level": 1, "size": BYTES, "line": 64, "ways": 8, "latency": 4}],
            "messages": {"layers": layers, "placement": placement},
            "noise": {"jitter": round(math.exp(random.uniform(math.log(0.003), math.log(0.15))), 4),
                      "spike_rate": round(random.uniform(0, 0.05), 3), "spike_factor": random.choice([2, 5, 20])}}


def places_of(machine):
    """By rank, where it sits; the file says which rank sits at which place."""
    layers, placement = machine["messages"]["layers"], machine["messages"]["placement"]
    ranks = layers[-1]["ranks"]
    parts = ranks // layers[-2]["ranks"] if len(layers) > 1 else 1
    if placement == "block":
        placement = range(ranks)
    elif placement == "cyclic":
        placement = [place % (ranks // parts) * parts + place // (ranks // parts) for place in range(ranks)]
    places = [0] * ranks
    for place, rank in enumerate(placement):
        places[rank] = place
    return places


def true_partitions(machine):
    """Of every layer: groups of ranks, its time, and whether a host ends with it."""
    places = places_of(machine)
    found = []
    for layer in machine["messages"]["layers"]:
        groups = {}
        for rank, place in enumerate(places):
            groups.setdefault(place // layer["ranks"], []).append(rank)
        found.append((sorted(map(sorted, groups.values())), time_us(layer["segments"], BYTES),
                      layer["within"] == "network"))
    return found


def acceptable(machine):
    """All lists of partitions that are right: boundaries that may or must be there."""
    layers, answers = true_partitions(machine), [[]]
    for at, (groups, us, network) in enumerate(layers):
        last = at == len(layers) - 1
        ratio = 9 if last else layers[at + 1][1] / us
        forced = last or layers[at + 1][2] != network or ratio > TWO_ABOVE
        kept = [answer + [groups] for answer in answers]
        answers = kept if forced else kept + answers if ratio > ONE_BELOW else answers
    return answers


def jumps(layer):
    """Where the time of a layer jumps clearly."""
    segments = layer["segments"]
    return [b["from_bytes"] for a, b in zip(segments, segments[1:])
            if abs(math.log((b["us"] + b["from_bytes"] / b["gbs"] / 1000) / (a["us"] + b["from_bytes"] / a["gbs"] / 1000))) > math.log(1.15)]


def measure(program, machine, effort, seed, folder):
    path = os.path.join(folder, machine["name"] + ".json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(machine, file)
    done = subprocess.run([program, "--machine", "sim:" + path, "--quiet", "--effort", effort, "--seed", str(seed), "-o",
                           "-"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"layers.py: {path}: {done.stderr.strip()}")
    return json.loads(done.stdout)["characteristics"]["comm.layers"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "blackjack-comm"))
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for the machines that came out wrong")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    right = sure_wrong = unsure_right = switches = switches_right = scalings = scalings_right = 0
    with tempfile.TemporaryDirectory() as folder:
        if arguments.keep:
            os.makedirs(arguments.keep, exist_ok=True)
        for number in range(arguments.machines):
            machine = draw(number)
            answer = measure(arguments.program, machine, arguments.effort, arguments.seed * 1000 + number,
                             arguments.keep or folder)
            layers = answer["value"] or []
            found = [sorted(map(sorted, layer["groups"])) for layer in layers]
            sure = answer["status"] == "ok" and answer["confidence"] in ("medium", "high")
            # Groups of a layer are those that the one below has in parts.
            is_right = found in acceptable(machine)
            right += is_right
            unsure_right += is_right and not sure
            sure_wrong += sure and not is_right
            if not is_right:
                truth = [(len(groups), round(us, 3)) for groups, us, _ in true_partitions(machine)]
                print(f"{machine['name']}: {'SURE ' if sure else ''}{answer['status']} {answer['confidence']}: groups by "
                      f"layer {[len(groups) for groups in found]}, times {[l['latency_us'] for l in layers]}; true "
                      f"{truth}, jitter {machine['noise']['jitter']}; {answer.get('reason', '')}", flush=True)
                continue
            if len(layers) != len(machine["messages"]["layers"]) or not sure:
                continue
            for layer, truth in zip(layers, machine["messages"]["layers"]):
                longest = layer["curve"][-1][0]
                true_jumps = [at for at in jumps(truth) if at < longest / 4]
                at = [switch["at_bytes"] for switch in layer.get("switches", [])]
                switches += 1
                good = all(any(j / 1.6 <= a <= j * 1.6 for a in at) for j in true_jumps)
                extra = [a for a in at if not any(s["from_bytes"] / 1.6 <= a <= s["from_bytes"] * 1.6
                                                  for s in truth["segments"])]
                switches_right += good and not extra
                if not good or extra:
                    print(f"{machine['name']}: switches at {at}, true {true_jumps}, jitter {machine['noise']['jitter']}")
                if layer["scaling"]:
                    pairs, factor = layer["scaling"][-1]
                    scalings += 1
                    good = abs(factor / (1 + truth["share"] * (pairs - 1)) - 1) < 0.1
                    scalings_right += good
                    if not good:
                        print(f"{machine['name']}: {pairs} pairs at once {factor}, true "
                              f"{1 + truth['share'] * (pairs - 1):.4g}, noise {machine['noise']}")
    print(f"{arguments.machines} machines, {arguments.effort}: layers right {right} (of these {unsure_right} unsure), sure and "
          f"wrong {sure_wrong}; curves with the right switches {switches_right} of {switches}; all pairs at once within 10% "
          f"{scalings_right} of {scalings}")
    sys.exit(sure_wrong > arguments.machines / 100)


if __name__ == "__main__":
    main()
