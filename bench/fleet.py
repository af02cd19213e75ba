#!/usr/bin/env python3
"""How well `blackjack fleet` tells hosts that are not like the others, and how fast.

usage: fleet.py [--program build/blackjack] [--machine NAME] [--effort quick] [--fleets N] [--altered N] [--folder FOLDER]
                [--seed N] [--many N]

60 profiles of one simulated machine with as many seeds are what equals look like. Fleets of 500 are drawn from them with
replacement. Of N fleets of equals no host may be named but one in a hundred fleets. Of N more, five hosts of each are
altered in one key by eight times its spread between equals (standard deviation of logarithms), at least by one in a
hundred (simulated equals are alike to a thousandth, and such differences are not named), up or down: 95% must be named. Then 10,000 profiles without curves, plain and compressed, within 10 s each.
Exits with 1 when one of these fails.
"""

import argparse
import gzip
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EQUALS = 60
HOSTS = 500
ALTERED = 5
SPREADS = 8
LEAST_CHANGE = 0.01
MANY = 10000
MANY_S = 10
LEAST_FOUND = 0.95


def measure(program, machine, effort, folder):
    """Paths of the profiles of equals; those that are there are taken."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(ROOT, "machines", machine + ".json")
    paths = []
    for seed in range(1, EQUALS + 1):
        paths.append(os.path.join(folder, f"{machine}-{effort}-{seed}.json"))
        if not os.path.exists(paths[-1]):
            subprocess.run([program, "run", "-q", "--no-curves", "--effort", effort, "--machine", "sim:" + path,
                            "--seed", str(seed), "-o", paths[-1]], check=True)
    return paths


def judge(program, folder):
    done = subprocess.run([program, "fleet", folder, "--json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"fleet.py: {done.stderr.strip()}")
    return json.loads(done.stdout)


def draw(equals, folder):
    """A fleet; what each host is drawn from."""
    sources = [random.choice(equals) for _ in range(HOSTS)]
    for host, source in enumerate(sources):
        os.link(source, os.path.join(folder, f"node{host:03}.json"))
    return sources


def find_spreads(equals):
    """Of every number that nine in ten equals have, surely enough: its spread on the scale of logarithms."""
    profiles = []
    for path in equals:
        with open(path, encoding="utf-8") as file:
            profiles.append(json.load(file)["characteristics"])
    spreads = {}
    for key, answer in profiles[0].items():
        values = []
        for profile in profiles:
            other = profile.get(key, {})
            if other.get("status") == "ok" and other.get("confidence") in ("medium", "high"):
                values.append(other["value"])
        if len(values) < 0.9 * len(profiles) or not all(isinstance(v, (int, float)) and v > 0 for v in values):
            continue
        logs = [math.log(value) for value in values]
        spread = statistics.stdev(logs)
        if spread > 0 and answer["unit"] != "cycles":  # cycles follow from time and clock, and are not judged
            spreads[key] = spread
    return spreads


def alter(path, key, factor):
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    answer = profile["characteristics"][key]
    if answer["status"] != "ok" or answer.get("confidence") not in ("medium", "high"):
        return False
    answer["value"] *= factor
    if "interval" in answer:
        answer["interval"] = [bound * factor for bound in answer["interval"]]
    os.unlink(path)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(profile, file)
    return True


def bench_equals(program, equals, fleets):
    named = []
    for _ in range(fleets):
        with tempfile.TemporaryDirectory() as folder:
            draw(equals, folder)
            named += [(row["key"], row["ratio"], row["p"]) for row in judge(program, folder)["outliers"]]
    return named


def bench_altered(program, equals, spreads, fleets):
    """Altered hosts, those found, those missed by key, other hosts that were named."""
    total, found, missed, others = 0, 0, {}, []
    for _ in range(fleets):
        with tempfile.TemporaryDirectory() as folder:
            draw(equals, folder)
            altered = {}
            while len(altered) < ALTERED:
                host, key = f"node{random.randrange(HOSTS):03}.json", random.choice(sorted(spreads))
                factor = math.exp(random.choice((-1, 1)) * max(SPREADS * spreads[key], LEAST_CHANGE))
                if host not in altered and alter(os.path.join(folder, host), key, factor):
                    altered[host] = key, factor
            named = {(row["file"], row["key"]) for row in judge(program, folder)["outliers"]}
            for host, (key, factor) in altered.items():
                total += 1
                if (host, key) in named:
                    found += 1
                else:
                    missed.setdefault(key, []).append(round(factor, 3))
            others += [pair for pair in named if pair[0] not in altered]
    return total, found, missed, others


def bench_many(program, equals, ending, many):
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for number, path in enumerate(equals):
            source = os.path.join(folder, f".source{number}")
            with open(path, "rb") as file, open(source, "wb") as copy:
                text = file.read()
                copy.write(gzip.compress(text) if ending == ".json.gz" else text)
            sources.append(source)
        for host in range(many):
            os.link(sources[host % len(sources)], os.path.join(folder, f"node{host:05}{ending}"))
        started = time.monotonic()
        judge(program, folder)
        return time.monotonic() - started


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "blackjack"))
    parser.add_argument("--machine", default="core2_duo")
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--fleets", type=int, default=100, help="of equals")
    parser.add_argument("--altered", type=int, default=20, help="fleets with five altered hosts each")
    parser.add_argument("--seed", type=int, default=20, help="of what is drawn")
    parser.add_argument("--many", type=int, default=MANY, help="profiles to time the reading of; 0: none")
    parser.add_argument("--folder", help="keeps the profiles, and takes those that are there")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        equals = measure(arguments.program, arguments.machine, arguments.effort, arguments.folder or scratch)
        named = bench_equals(arguments.program, equals, arguments.fleets)
        print(f"{arguments.machine}, {arguments.effort}: {len(named)} numbers of equals named in {arguments.fleets} "
              f"fleets of {HOSTS}", flush=True)
        for row in sorted(set(named))[:10]:
            print(f"  {row}")
        spreads = find_spreads(equals)
        total, found, missed, others = bench_altered(arguments.program, equals, spreads, arguments.altered)
        print(f"{found} of {total} altered hosts found ({len(spreads)} keys with a spread), {len(others)} others named",
              flush=True)
        for key, factors in sorted(missed.items()):
            print(f"  missed: {key} {factors}, spread {spreads[key]:.3g}")
        failed = len(named) > arguments.fleets / 100 or found < LEAST_FOUND * total
        for ending in (".json", ".json.gz") if arguments.many else ():
            seconds = bench_many(arguments.program, equals, ending, arguments.many)
            print(f"{arguments.many} profiles *{ending}: {seconds:.1f} s", flush=True)
            failed = failed or seconds > MANY_S
    sys.exit(failed)


if __name__ == "__main__":
    main()
