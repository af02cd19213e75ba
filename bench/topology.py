#!/usr/bin/env python3
"""What the topology probe costs on large simulated machines, and whether it is right.

usage: topology.py [--build FOLDER] [--shuffles N] [--random N] [--all-pairs] [-o FILE.md]

The 256 threads of machines/epyc_2x64.json with OS numbers shuffled, a machine of 1,024 threads made from it, and random
topologies: pairs and group experiments asked, seconds on the machine's clock, cpu seconds of choosing and analysing
without the simulator (topology_main.c times it apart), and whether the tree is the file's. All pairs and Servet's table I
stand beside them.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def compile_main(build, folder):
    program = Path(folder) / "topology_main"
    libraries = [str(path) for path in sorted(build.glob("lib*.a")) if path.name != "libblackjack.a"]
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-I", str(ROOT / "src"), str(ROOT / "bench" / "topology_main.c"),
                    "-Wl,--start-group", *libraries, "-Wl,--end-group", "-ljansson", "-lhwloc", "-lpthread", "-ldl",
                    "-lm", "-o", str(program)], check=True)
    return program


def shuffle(machine, seed):
    numbers = list(range(machine["cpus"]))
    random.Random(seed).shuffle(numbers)
    machine["numbering"] = numbers
    return machine


def make_epyc(seed, sockets=2):
    machine = json.loads((ROOT / "machines" / "epyc_2x64.json").read_text())
    machine["cpus"] = 128 * sockets
    machine["sockets"] = sockets
    machine["numa_nodes"] = 4 * sockets
    return shuffle(machine, seed), [2, 16, 32, 128]


def make_random(seed):
    """A tree of two to four levels over 8 to 128 cpus, each level at least an eighth farther than the one within."""
    draw = random.Random(seed)
    machine = json.loads((ROOT / "machines" / "epyc_2x64.json").read_text())
    smt = draw.choice([1, 1, 2, 2, 4])
    sizes, ns = [smt], [draw.uniform(5, 12)]
    names, things = ["smt"] if smt > 1 else [], ["L2", "L3", "node", "socket"]
    for thing in sorted(draw.sample(things, draw.randint(1, 4)), key=things.index):
        grown = sizes[-1] * draw.choice([2, 3, 4, 8])
        if grown <= 128:
            sizes.append(grown)
            ns.append(ns[-1] * draw.uniform(1.18, 3))
            names.append(thing)
    cpus = sizes[-1] * draw.choice([2, 2, 4]) if sizes[-1] <= 64 else sizes[-1]
    by_name = dict(zip((names if smt > 1 else ["none"] + names), zip(sizes, ns)))
    levels = {name: size for name, (size, _) in by_name.items()}
    machine.update({"cpus": cpus, "smt": smt, "name": "random_%d" % seed})
    inner = smt
    for cache, thing in zip(machine["caches"], ["smt", "L2", "L3"]):
        inner = max(inner, levels.get(thing, 0))
        cache["shared_by"] = inner
    machine["caches"][0]["shared_by"] = smt
    machine["numa_nodes"] = cpus // levels.get("node", cpus)
    machine["sockets"] = cpus // levels.get("socket", cpus)
    machine["exchange"] = {name: round(value, 1) for name, (_, value) in by_name.items() if name != "none"}
    machine["exchange"]["remote"] = round(ns[-1] * draw.uniform(1.18, 3), 1)
    machine["memory"].pop("domains")
    return shuffle(machine, seed), [size for size in sorted(set(levels.values())) if 1 < size < cpus]


def expected_groups(machine, sizes):
    numbers = machine["numbering"]
    return {frozenset(numbers[i:i + size]) for size in sizes for i in range(0, machine["cpus"], size)}


def list_groups(node):
    for child in node.get("children", []):
        yield frozenset(child["cpus"])
        yield from list_groups(child)


def run_one(program, folder, machine, sizes, seed, all_pairs=False):
    path = Path(folder) / "machine.json"
    path.write_text(json.dumps(machine))
    known = {"cache.levels": len(machine["caches"]), "cache.line_bytes": 64}
    for level, cache in enumerate(machine["caches"], 1):
        known["cache.L%d.size_bytes" % level] = known["cache.L%d.capacity_bytes" % level] = cache["size"]
    environment = dict(os.environ, KNOWN=" ".join("%s=%d" % item for item in known.items()))
    done = subprocess.run([str(program), str(path), str(seed)] + (["all"] if all_pairs else []), env=environment,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit("topology.py: %s" % done.stderr.strip())
    said = json.loads(done.stdout)
    said["right"] = set(list_groups(said["tree"])) == expected_groups(machine, sizes)
    return said


def row(name, machine, said):
    tree = said["tree"]
    return "| %s | %d | %d | %d | %d | %.1f | %.2f | %s | %s |" % (
        name, machine["cpus"], tree["pairs_measured"], tree["pairs_possible"], said["experiments"], said["machine_s"],
        said["choosing_s"] + said["analysing_s"], "exact" if said["right"] else "WRONG", said["confidence"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--shuffles", type=int, default=3)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--all-pairs", action="store_true", help="also all pairs of 256 threads")
    parser.add_argument("-o", dest="output", type=Path)
    options = parser.parse_args()
    lines = ["| machine | cpus | pairs | of | group tests | machine s | cpu s | tree | certain |",
             "|---|---|---|---|---|---|---|---|---|"]
    right = confident_wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        program = compile_main(options.build, folder)
        for seed in range(1, options.shuffles + 1):
            machine, sizes = make_epyc(seed)
            lines.append(row("2 x 64 cores, shuffle %d" % seed, machine, run_one(program, folder, machine, sizes, seed)))
        if options.all_pairs:
            machine, sizes = make_epyc(1)
            lines.append(row("the same, all pairs", machine, run_one(program, folder, machine, sizes, 1, True)))
        if options.shuffles > 0:
            machine, sizes = make_epyc(1, sockets=8)
            lines.append(row("8 x 64 cores", machine, run_one(program, folder, machine, sizes, 1)))
        for seed in range(1, options.random + 1):
            machine, sizes = make_random(seed)
            said = run_one(program, folder, machine, sizes, seed)
            right += said["right"]
            confident_wrong += not said["right"] and said["confidence"] == "high"
            lines.append(row("random %d: %s" % (seed, sizes), machine, said))
    lines += ["", "Servet, table I, all pairs: 276 minutes on 24 cores (Dunnington), 120 on 16 (Finis Terrae)."]
    if options.random > 0:
        lines.append("Random topologies: %d of %d exact, %d wrong and sure of it." % (right, options.random,
                                                                                   confident_wrong))
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if options.output:
        options.output.write_text(text)


if __name__ == "__main__":
    main()
