#!/usr/bin/env python3
"""Does `compare` cry wolf, and does it bark?

    compare.py --program build/blackjack [--seeds N] [--machines FOLDER] [--probes NAME...] [-o FILE.md]

Measures every simulated machine with N seeds (default 2) and compares all pairs: they must be the same. Then halves one
level of each machine, in turn, and compares with the whole one: different, and the level's size must be named.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import subprocess
import sys
import tempfile


def measure(program, machine, seed, probes, output):
    done = subprocess.run([program, "run", *probes, "--machine", "sim:" + machine, "--seed", str(seed), "--quiet", "--force",
                           "-o", output], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode > 1:
        sys.exit("compare.py: %s: %s" % (machine, done.stderr.strip()))
    return output


def compare(program, a, b):
    done = subprocess.run([program, "compare", a, b, "--json"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode > 1:
        sys.exit("compare.py: cannot compare %s and %s" % (a, b))
    found = json.loads(done.stdout)
    if (found["verdict"] == "different") != (done.returncode == 1):
        sys.exit("compare.py: exit status %d for %s" % (done.returncode, found["verdict"]))
    return found


def halved(machine, level, folder):
    """The machine with the size of one level halved, sets and not ways; None where that cannot be."""
    with open(machine, encoding="utf-8") as file:
        description = json.load(file)
    cache = description["caches"][level]
    inner = description["caches"][level - 1]["size"] if level > 0 else 0
    # Half of it must still be a level of its own beside the one within.
    if cache["size"] % 2 or cache["size"] // 2 < 2 * inner or (cache["size"] // 2) % (cache["line"] * max(cache["ways"], 1)):
        return None
    cache["size"] //= 2
    path = os.path.join(folder, "%s.L%d.json" % (description["name"], level + 1))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(description, file)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/blackjack")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--machines", default="machines")
    parser.add_argument("--probes", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    machines = sorted(os.path.join(arguments.machines, name) for name in os.listdir(arguments.machines))
    lines = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        def run(machine, seed, tag):
            name = os.path.basename(machine).rpartition(".")[0]
            return pool.submit(measure, arguments.program, machine, seed, arguments.probes,
                               os.path.join(folder, "%s.%s.profile" % (name, tag)))
        whole = {machine: [run(machine, seed, seed) for seed in range(1, arguments.seeds + 1)] for machine in machines}
        cut = []
        for machine in machines:
            with open(machine, encoding="utf-8") as file:
                levels = len(json.load(file)["caches"])
            for level in range(levels):
                path = halved(machine, level, folder)
                if path is not None:
                    cut.append((machine, level + 1, run(path, arguments.seeds + 1, "cut")))
        pairs = same = 0
        for machine, profiles in whole.items():
            for a, b in itertools.combinations(profiles, 2):
                found = compare(arguments.program, a.result(), b.result())
                pairs += 1
                same += found["verdict"] == "same"
                for entry in found["differences"]:
                    lines.append("%s: says that %s differs" % (os.path.basename(machine), entry["key"]))
        noticed = named = 0
        for machine, level, profile in cut:
            found = compare(arguments.program, whole[machine][0].result(), profile.result())
            keys = {entry["key"] for entry in found["differences"]}
            noticed += found["verdict"] == "different"
            right = any(key in keys for key in ("cache.L%d.size_bytes" % level, "cache.L%d.capacity_bytes" % level,
                                                "cache.L%d" % level))
            named += right
            if not right:
                lines.append("%s: L%d halved: %s" % (os.path.basename(machine), level, ", ".join(sorted(keys)) or "same"))
    table = ["| compare | seen |", "|---|---|",
             "| pairs of profiles of one simulated machine, %d seeds: same | %d of %d |" % (arguments.seeds, same, pairs),
             "| one level halved: different | %d of %d |" % (noticed, len(cut)),
             "| the same: the level is named | %d of %d |" % (named, len(cut)), ""] + lines
    print("\n".join(table))
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
