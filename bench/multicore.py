#!/usr/bin/env python3
"""How often the answers about cpus are right, and what they cost, on simulated machines.

usage: multicore.py [--build FOLDER] [--random N] [--seeds N] [--no-zoo] [--no-large] [--jobs N] [--effort quick|normal] [-o FILE.md]

Tree, sharing and contention groups of random machines (tree, threads a core, caches, nodes, domains and OS numbers drawn;
several seeds each) and of the zoo's machines with several cpus, judged by tests/sim/truth_cpus.py. What the probes before
would have told is handed over from the file (multicore_main.c). Then the 256 threads of epyc_2x64, shuffled, and a machine
of 1,024 made from it: pairs, group experiments, seconds on the machine's clock of topology, sharing, contention and numa,
and cpu seconds of choosing and analysing without the simulator.

Exit status 1 where fewer than 95 in 100 are exactly right, or more than 1 in 200 are wrong with `high`.
"""

import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "sim"))
import truth
import truth_cpus

LEAST_RIGHT, MOST_SURE_AND_WRONG = 0.95, 0.005
PROBES = "topology,sharing,contention,numa"


def compile_main(build, folder):
    program = Path(folder) / "multicore_main"
    libraries = [str(path) for path in sorted(build.glob("lib*.a")) if path.name != "libblackjack.a"]
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-I", str(ROOT / "src"), str(ROOT / "bench" / "multicore_main.c"),
                    "-Wl,--start-group", *libraries, "-Wl,--end-group", "-ljansson", "-lhwloc", "-lpthread", "-ldl",
                    "-lm", "-o", str(program)], check=True)
    return program


# ---- machines

def draw_sizes(draw):
    """Cpus in a core, cluster, chip, node, socket, machine: each a multiple of the one within."""
    while True:
        smt = draw.choice([1, 1, 1, 2, 2, 4])
        sizes = [smt]
        for chances in ([1, 1, 1, 2, 4], [2, 3, 4, 6, 8], [1, 1, 2, 3], [1, 1, 1, 2, 4], [1, 2, 2, 4]):
            sizes.append(sizes[-1] * draw.choice(chances))
        if 4 <= sizes[-1] <= 128:
            return sizes


def draw_machine(number):
    """A level of the tree is at least an eighth further than the one within. Domains are those of chips, nodes, sockets or
    the machine, or a bus of two to four within them that one pair fills."""
    draw = random.Random("multicore %d" % number)
    smt, cluster, chip, node, socket, cpus = draw_sizes(draw)
    ghz = round(draw.uniform(1.5, 4), 2)
    policy, hashed = draw.choice(["neither", "neither", "inclusive"]), draw.choice(["plain", "hashed"])
    l1, l2 = draw.choice([16, 32, 48, 64]) * 1024, draw.choice([256, 512, 1024, 1280]) * 1024
    caches = [{"level": 1, "size": l1, "line": 64, "ways": 8 if l1 % 49152 else 12, "latency": draw.choice([3, 4, 5]),
               "shared_by": smt},
              {"level": 2, "size": l2, "line": 64, "ways": 8 if l2 % 1310720 else 20, "latency": draw.randint(11, 18),
               "shared_by": cluster, "mapped": "physical", "policy": policy, "index": hashed}]
    if draw.random() < 0.8:
        caches.append({"level": 3, "size": draw.choice([3, 4, 6, 8]) << 20, "line": 64, "ways": 16,
                       "latency": draw.randint(35, 60), "shared_by": chip, "mapped": "physical",
                       "policy": draw.choice(["neither", "neither", "exclusive"]), "index": draw.choice(["plain", "hashed"])})
    ns, exchange = draw.uniform(5, 12), {}
    for name, size in (("smt", smt), ("L2", cluster), ("L3", chip), ("node", node), ("socket", socket), ("remote", cpus)):
        if name != "L3" or len(caches) > 2:
            exchange[name] = round(ns, 1)
        ns *= draw.uniform(1.18, 2.5)
    gbs, domains, inside = round(draw.uniform(3, 20), 1), [], 1
    if draw.random() < 0.2 and cluster > smt and smt == 1:
        domains.append({"shared_by": cluster, "gbs": round(gbs * draw.uniform(1.1, 1.6), 1)})
        inside = cluster
    for size in sorted({chip, node, socket, cpus}):
        if size > inside and draw.random() < 0.6:
            whole = (domains[-1]["gbs"] if domains else gbs) * size / inside
            domains.append({"shared_by": size, "gbs": round(max(whole * draw.uniform(0.3, 0.8), 1.1 * gbs), 1)})
            inside = size
    latency = int(draw.uniform(60, 110) * ghz)
    machine = {"format": "blackjack-machine/1", "name": "multicore_%d" % number, "clock_ghz": ghz, "cpus": cpus, "smt": smt,
               "numa_nodes": cpus // node, "sockets": cpus // socket, "caches": caches,
               "memory": {"latency": latency, "remote_latency": int(latency * draw.uniform(1.3, 2)), "cpu_gbs": gbs,
                          "domains": domains},
               "page": {"base": 4096, "huge": draw.choice([0, 2 << 20, 2 << 20]), "frames": "random"},
               "exchange": exchange, "exchange_overlap": draw.choice([2, 4, 6]),
               "noise": {"jitter": 0.015, "spike_rate": 0.01, "spike_factor": 5}}
    numbers = list(range(cpus))
    draw.shuffle(numbers)
    machine["numbering"] = numbers
    return machine


def make_epyc(seed, sockets=2):
    machine = json.loads((ROOT / "machines" / "epyc_2x64.json").read_text())
    machine.update({"cpus": 128 * sockets, "sockets": sockets, "numa_nodes": 4 * sockets})
    numbers = list(range(machine["cpus"]))
    random.Random(seed).shuffle(numbers)
    machine["numbering"] = numbers
    return machine


def complete(machine, folder):
    """The machine with the defaults of the format, as truth.py reads it."""
    path = Path(folder) / ("%s_%d.json" % (machine["name"], random.getrandbits(40)))
    path.write_text(json.dumps(machine))
    return path, truth.load_machine(path)


# ---- runs

def known_of(machine):
    caches, ghz = machine["caches"], machine["clock_ghz"]
    known = {"cache.levels": len(caches), "cache.line_bytes": caches[0]["line"],
             "memory.latency_ns": machine["memory"]["latency"] / ghz}
    for level, cache in enumerate(caches):
        prefix = "cache.L%d." % (level + 1)
        known[prefix + "size_bytes"] = known[prefix + "capacity_bytes"] = truth.capacity(caches, level)
        known[prefix + "latency_ns"] = cache["latency"] / ghz
        known[prefix + "line_bytes"] = cache["line"]
    return known


def run_one(program, machine, folder, seed, effort, probes=PROBES):
    path, whole = complete(machine, folder)
    environment = dict(os.environ, KNOWN=" ".join("%s=%r" % item for item in known_of(whole).items()))
    done = subprocess.run([str(program), str(path), str(seed), effort, probes], env=environment, capture_output=True,
                          text=True)
    path.unlink()
    if done.returncode != 0:
        raise SystemExit("multicore.py: %s, seed %d: %s" % (machine["name"], seed, done.stderr.strip()))
    return json.loads(done.stdout), whole


def list_groups(node):
    for child in node.get("children", []):
        yield child["cpus"]
        yield from list_groups(child)


def judge(said, machine):
    """(key, right or wrong or open, confidence, what was said) of each answer."""
    expected, notes = truth_cpus.find_cpus(machine, 1)
    answers, verdicts = said["answers"], []
    for key, wanted in expected.items():
        if ".full." in key or key == "cpu.kinds":
            continue
        answer = answers.get(key, {"value": None, "confidence": "none", "reason": "not there"})
        value = answer["value"]
        if value is None:
            level = int(key[7]) - 1 if key.startswith("cache.L") else 0
            caches = machine["caches"]
            close = level > 0 and truth.capacity(caches, level) < 2.1 * truth.capacity(caches, level - 1)
            verdicts.append((key, "open" if close else "none", answer["confidence"], answer["reason"]))
            continue
        if key == "topology.tree":
            right = (sorted(list_groups(value)) == wanted and value.get("tree_like", True) == notes["tree_like"])
            value = sorted({len(group) for group in list_groups(value)})
        elif key == "memory.contention":
            right = [sorted(level["groups"]) for level in value["levels"]] == wanted
            value = [[len(group) for group in level["groups"]][:4] for level in value["levels"]]
        else:
            right = sorted(value) == wanted
            value = [len(group) for group in value][:6]
        verdicts.append((key, "right" if right else "wrong", answer["confidence"], value))
    return verdicts


class Tally:
    def __init__(self):
        self.counts, self.troubles = {}, []

    def add(self, name, machine, seed, verdicts):
        for key, verdict, confidence, value in verdicts:
            kind = "sharing" if key.endswith("sharing") else key.split(".")[-1]
            count = self.counts.setdefault(kind, {"right": 0, "wrong": 0, "none": 0, "open": 0, "sure": 0})
            count[verdict] += 1
            count["sure"] += verdict == "wrong" and confidence == "high"
            if verdict in ("wrong", "none"):
                self.troubles.append("%s, seed %d: %s %s (%s)" % (name, seed, key, value, confidence))

    def rows(self):
        lines = ["| answer | right | wrong | with high | none | left open |", "|---|---|---|---|---|---|"]
        for kind, count in sorted(self.counts.items()):
            asked = count["right"] + count["wrong"] + count["none"]
            lines.append("| %s | %d of %d (%.1f%%) | %d | %d | %d | %d |" % (
                kind, count["right"], asked, 100 * count["right"] / max(asked, 1), count["wrong"], count["sure"],
                count["none"], count["open"]))
        return lines

    def is_good(self):
        whole = [sum(count[what] for count in self.counts.values()) for what in ("right", "wrong", "none", "sure")]
        asked = max(sum(whole[:3]), 1)
        return whole[0] >= LEAST_RIGHT * asked and whole[3] <= MOST_SURE_AND_WRONG * asked


def run_many(program, folder, work, options):
    tally = Tally()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tasks = [(machine, seed, pool.submit(run_one, program, machine, folder, seed, options.effort,
                                             "topology,sharing,contention")) for machine, seed in work]
        for machine, seed, task in tasks:
            said, whole = task.result()
            verdicts = judge(said, whole)
            tally.add(machine["name"], whole, seed, verdicts)
            bad = ["%s %s (%s)" % (key, value, sure) for key, verdict, sure, value in verdicts if verdict in ("wrong", "none")]
            print("%s, %d cpus, seed %d: %s" % (machine["name"], whole["cpus"], seed, "; ".join(bad) or "right"),
                  file=sys.stderr, flush=True)
    return tally


def describe_large(program, folder, machine, name, options):
    said, whole = run_one(program, machine, folder, 1, options.effort)
    tree = said["answers"]["topology.tree"]["value"]
    wrong = [key for key, verdict, _, _ in judge(said, whole) if verdict in ("wrong", "none")]
    cpus = machine["cpus"]
    return "| %s | %d | %d | %d | %d | %d | %.0f | %.2f | %s |" % (
        name, cpus, tree["pairs_measured"], 3 * cpus, tree["pairs_possible"], said["experiments"], said["machine_s"],
        said["choosing_s"] + said["analysing_s"], "all right" if not wrong else "wrong: " + ", ".join(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--random", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first", type=int, default=1, help="number of the first random machine")
    parser.add_argument("--effort", choices=["quick", "normal"], default="quick")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-zoo", action="store_true")
    parser.add_argument("--no-large", action="store_true")
    parser.add_argument("-o", dest="output", type=Path)
    options = parser.parse_args()
    lines, good = [], True
    with tempfile.TemporaryDirectory() as folder:
        program = compile_main(options.build, folder)
        parts = []
        if options.random > 0:
            drawn = [draw_machine(number) for number in range(options.first, options.first + options.random)]
            parts.append(("%d random machines, %d seeds" % (options.random, options.seeds),
                          [(machine, seed) for machine in drawn for seed in range(1, options.seeds + 1)]))
        if not options.no_zoo:
            zoo = [json.loads(path.read_text()) for path in sorted((ROOT / "machines").glob("*.json"))]
            zoo = [machine for machine in zoo if machine.get("cpus", 1) > 1]
            parts.append(("The zoo's %d machines with several cpus, %d seeds" % (len(zoo), options.seeds),
                          [(machine, seed) for machine in zoo for seed in range(1, options.seeds + 1)]))
        for title, work in parts:
            tally = run_many(program, folder, work, options)
            good = good and tally.is_good()
            lines += [title + ":", "", *tally.rows(), "", *("    " + trouble for trouble in tally.troubles), ""]
        if not options.no_large:
            lines += ["| machine | cpus | pairs | 3 N | all pairs | group tests | machine s, four probes | cpu s without the simulator "
                      "| answers |", "|---|---|---|---|---|---|---|---|---|",
                      describe_large(program, folder, make_epyc(1), "2 x 64 cores, shuffled", options),
                      describe_large(program, folder, make_epyc(1, 8), "8 x 64 cores, shuffled", options), "",
                      "Servet, table I, minutes: sharing 11 and 3, memory 20 and 5, all pairs of messages 276 and 120 (Dunnington,"
                      " 24 cores; Finis Terrae, 16)."]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.output:
        options.output.write_text(text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
