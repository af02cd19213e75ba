#!/usr/bin/env python3
"""How often `blackjack diagnose` names the right resource, on simulated machines and loads whose kind is known.

usage: diagnose.py PROGRAM [--machines LIST] [--seeds N] [--random N] [--drawn N] [--draw TEXT] [--mixtures] [--strong] [--folder FOLDER] [--verbose]

Loads of one kind each (none, cache, bandwidth, dram_rows) are drawn from each machine's own facts, never from what the program
says of it: sizes, rates and rows come from the machine file, and what a load collides with follows from them by the arithmetic
below. Machines without DRAM rows in their file get some. --random N: N more loads of each kind and machine, drawn wider.
--drawn N: N machines that are drawn as well, in place of those of the zoo. --draw TEXT: other loads and machines than before.
--mixtures: loads of two kinds; right is the larger one, or undetermined.
--strong: one copy over all cpus. Its working set is divided among them, so there are no loads of the kind cache.
Exit status 1: a confident answer was wrong, or fewer than 95 in 100 were named rightly.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = ["none", "cache", "bandwidth", "dram_rows"]
DEFAULT = ["barcelona", "nehalem_ep", "zen3", "a64fx", "ring_8"]


class Machine:
    """The facts of a machine file that loads are made of."""

    def __init__(self, spec):
        self.spec = spec
        memory = spec["memory"]
        self.name = spec["name"]
        cpus, smt = spec.get("cpus", 1), spec.get("smt", 1)
        self.ghz = spec.get("clock_ghz", 1.0)
        self.caches = spec["caches"]
        self.last = self.caches[-1]
        self.line = self.last.get("line", 64)
        self.latency_ns = memory["latency"] / self.ghz
        self.cpu_gbs = memory["cpu_gbs"]
        chips = max(spec.get("sockets", 1), spec.get("numa_nodes", 1))
        threads = min(cpus // chips, self.last.get("shared_by", smt) if self.last.get("shared_by", smt) > smt else cpus)
        self.cores = threads // smt
        self.gbs = min([self.cores * self.cpu_gbs] + [d["gbs"] * max(threads / d["shared_by"], 1)
                                                      for d in memory.get("domains", [])])
        controllers = spec.get("numa_nodes", 1) if spec.get("numa_nodes", 1) > 1 else spec.get("sockets", 1)
        controller = cpus // controllers
        self.controller_gbs = min([controller * self.cpu_gbs] + [d["gbs"] * max(controller / d["shared_by"], 1)
                                                                 for d in memory.get("domains", [])])
        if "dram" not in spec:
            # Rows for twice the cores that a chip has; a line that finds its row closed takes twice as long.
            wanted_ns = self.line / self.gbs - self.line / self.controller_gbs + self.line / self.gbs
            spec["dram"] = {"open_rows": 2 * self.cores, "row_bytes": 8192, "conflict_ns": 30,
                            "banks": max(1, round(30 / wanted_ns))}
        self.dram = spec["dram"]

    def closed_gbs(self, places):
        """What the chip's memory gives while its cpus go through so many rows."""
        share = max(0, 1 - self.dram["open_rows"] / places)
        return min(self.gbs, self.line / (self.line / self.controller_gbs +
                                          share * self.dram["conflict_ns"] / self.dram["banks"]))


def draw_machine(name, draw):
    """A chip or two of today's kind with sizes, rates, rows and noise that nobody chose."""
    cores, smt, chips = draw.choice([2, 3, 4, 6, 8, 12, 16]), draw.choice([1, 1, 2]), draw.choice([1, 1, 2])
    ghz, line = round(draw.uniform(1.5, 4.5), 1), draw.choice([64, 64, 64, 128])
    threads = cores * smt
    first, second = draw.choice([16, 32, 48, 64]) << 10, draw.choice([128, 256, 512, 1024, 2048]) << 10
    last = max(draw.choice([1, 2, 3, 4]) * cores << 20, 4 * second)
    caches = [{"level": 1, "size": first, "line": line, "ways": 8, "latency": draw.choice([3, 4, 5]), "shared_by": smt,
               "mapped": "virtual"},
              {"level": 2, "size": second, "line": line, "ways": 8, "latency": draw.randint(10, 18), "shared_by": smt,
               "mapped": "physical"},
              {"level": 3, "size": last, "line": line, "ways": 16, "latency": draw.randint(30, 75), "shared_by": threads,
               "policy": draw.choice(["neither", "inclusive", "exclusive"]), "index": draw.choice(["plain", "hashed"]),
               "mapped": "physical"}]
    if draw.random() < 0.25: # two levels, the second is everybody's
        caches = caches[:1] + [dict(caches[2], level=2, latency=draw.randint(12, 40), policy="inclusive")]
    cpu_gbs = draw.uniform(3, 25)
    gbs = cpu_gbs * draw.uniform(1.1, max(1.2, 0.8 * cores))
    spec = {"format": "blackjack-machine/1", "name": name, "clock_ghz": ghz, "cpus": threads * chips, "smt": smt, "sockets": chips,
            "numa_nodes": chips, "numbering": draw.choice(["compact", "scatter"]), "caches": caches,
            "memory": {"latency": round(draw.uniform(60, 150) * ghz), "remote_latency": round(draw.uniform(160, 220) * ghz),
                       "cpu_gbs": round(cpu_gbs, 2), "domains": [{"shared_by": threads, "gbs": round(gbs, 2)}]},
            "misses_in_flight": draw.choice([8, 12, 16, 24]), "page": {"base": 4096, "huge": draw.choice([0, 2 << 20]), "frames": "random"},
            "prefetchers": draw.choice([[], ["stride"], ["adjacent"], ["stride", "region"]]),
            "exchange": {"smt": 10, f"L{len(caches)}": draw.randint(20, 60), "socket": 100, "remote": 150},
            "noise": {"jitter": round(draw.uniform(0.002, 0.03), 4), "spike_rate": round(draw.uniform(0, 0.02), 4), "spike_factor": draw.uniform(2, 10)}}
    if smt > 1:
        spec["shared_units"] = draw.choice([["fp"], ["int", "fp"], []])
    if draw.random() < 0.5:
        spec["dram"] = {"open_rows": draw.choice([8, 16, 32, 64]), "row_bytes": draw.choice([8192, 32768]),
                        "conflict_ns": round(draw.uniform(20, 50)), "banks": draw.choice([4, 8, 16, 32])}
    return spec


def stream(demand, machine, arrays):
    """A load that draws so many GB/s alone."""
    size = 1 << 20
    compute = max(size / demand - size / machine.cpu_gbs, 0)
    return {"compute_ns": compute, "stream": {"arrays": arrays, "bytes": size}}


def make_load(kind, machine, draw):
    """A load of that kind, or None where this machine has nothing to collide with."""
    n, gbs = machine.cores, machine.gbs
    if kind == "none":
        first = machine.caches[0]["size"]
        return {"compute_ns": draw.uniform(1e3, 1e5), "reuse": {"bytes": int(first * draw.uniform(0.2, 0.7)),
                                                                "accesses": draw.randint(1, 1000)}}
    if kind == "cache":
        size = machine.last["size"]
        if machine.last.get("shared_by", 1) <= machine.spec.get("smt", 1):
            return None
        # An exclusive cache adds to what its cpus have of their own.
        own = sum(c["size"] for c in machine.caches[:-1]) if machine.last.get("policy") == "exclusive" else 0
        least = 1.5 * (own + size / n)
        if least > 0.85 * (own + size):
            return None
        working = draw.uniform(least, 0.85 * (own + size))
        accesses = 1000
        compute = accesses * machine.last["latency"] / machine.ghz * draw.uniform(0.1, 1)
        # What misses must not fill memory, or it would be two kinds: at most as many rows as there are, all closed.
        if n * machine.line / machine.latency_ns > 0.6 * machine.closed_gbs(1e9):
            return None
        return {"compute_ns": compute, "reuse": {"bytes": int(working), "accesses": accesses}}
    if kind == "bandwidth":
        most = min(machine.cpu_gbs * 0.97, gbs * 0.95) * n / gbs
        if most < 1.25 or machine.closed_gbs(n) < gbs:
            return None
        return stream(gbs / n * draw.uniform(1.2, most), machine, 1)
    arrays = draw.choice([16, 24, 32, 48])
    closed = machine.closed_gbs(arrays * n)
    low, high = 1.15 * closed / gbs, 0.97
    demand = gbs / n * draw.uniform(low, high) if low < high else 0
    if demand <= 0 or demand > machine.cpu_gbs:
        return None
    return stream(demand, machine, arrays)


def make_mixture(machine, draw):
    """Bandwidth and rows: the load, and which part is larger by how much."""
    n, gbs = machine.cores, machine.gbs
    arrays = draw.choice([8, 16, 32])
    demand = min(machine.cpu_gbs * 0.97, gbs / n * draw.uniform(1.05, 3))
    parts = {"bandwidth": math.log(max(n * demand / gbs, 1)),
             "dram_rows": math.log(min(gbs, n * demand) / machine.closed_gbs(arrays * n))
             if n * demand > machine.closed_gbs(arrays * n) else 0}
    return stream(demand, machine, arrays), max(parts, key=parts.get), parts


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


class Bench:
    def __init__(self, program, folder, verbose, strong):
        self.program, self.folder, self.verbose = program, folder, verbose
        self.words = ["--strong"] if strong else []
        self.count = 0

    def prepare(self, machine):
        path = self.folder / f"{machine.name}.machine.json"
        profile = self.folder / f"{machine.name}.profile.json"
        path.write_text(json.dumps(machine.spec))
        if not profile.exists():
            run([self.program, "run", "--machine", f"sim:{path}", "--effort", "quick", "--quiet", "--no-curves", "-o",
                 profile, "sharing"])
        return path, profile

    def ask(self, machine, load, seed, effort):
        path, profile = self.prepare(machine)
        self.count += 1
        file = self.folder / "load.json"
        file.write_text(json.dumps({"format": "blackjack-load/1", "name": "load", **load}))
        return json.loads(run([self.program, "diagnose", "--machine", f"sim:{path}", "--load", file, "--profile", profile,
                               "--seed", str(seed), "--effort", effort, "--json"] + self.words))

    def tell(self, machine, load, answer, expected):
        if self.verbose:
            closure = answer["closure"]
            print(f"  {machine.name} {expected}: {answer['verdict']['resource']} {answer['verdict']['confidence']} "
                  f"measured {closure['measured']:.3f} predicted {closure['predicted']:.3f} {closure['parts']} "
                  f"pressure {closure['pressure']} demand {answer['evidence']['demand_gbs']} {load}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--machines", default=",".join(DEFAULT))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--drawn", type=int, default=0)
    parser.add_argument("--draw", default="")
    parser.add_argument("--mixtures", action="store_true")
    parser.add_argument("--strong", action="store_true")
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--folder")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(exist_ok=True)
        sys.exit(judge(Bench(options.program, folder, options.verbose, options.strong), options))


def judge(bench, options):
    zoo = Path(__file__).resolve().parent.parent / "machines"
    specs = [json.loads((zoo / f"{name}.json").read_text()) for name in options.machines.split(",")]
    if options.drawn:
        specs = [draw_machine(f"drawn_{i}", random.Random(f"{options.draw} machine {i}")) for i in range(options.drawn)]
    machines = [Machine(spec) for spec in specs]
    kinds = ["mixture"] if options.mixtures else [kind for kind in KINDS if kind != "cache" or not options.strong]
    right = wrong = total = confident_wrong = 0
    print(f"{'machine':16}" + "".join(f"{kind:>24}" for kind in kinds))
    for machine in machines:
        row = f"{machine.name:16}"
        for kind in kinds:
            draw = random.Random(f"{options.draw}{machine.name} {kind}")
            tally = {"right": 0, "undetermined": 0, "wrong": 0, "high": 0}
            for seed in range(1, options.seeds + options.random + 1):
                if kind == "mixture":
                    load, expected, parts = make_mixture(machine, draw)
                else:
                    load, expected = make_load(kind, machine, draw), kind
                if load is None:
                    continue
                answer = bench.ask(machine, load, seed, options.effort)
                verdict, sure = answer["verdict"]["resource"], answer["verdict"]["confidence"]
                outcome = "right" if verdict == expected else "undetermined" if verdict == "undetermined" else "wrong"
                if kind == "mixture" and outcome == "wrong" and max(parts.values()) - min(parts.values()) < 0.049:
                    outcome = "right" # as large as the other
                tally[outcome] += 1
                tally["high"] += sure == "high"
                total += 1
                right += outcome == "right" or (kind == "mixture" and outcome == "undetermined")
                confident_wrong += outcome == "wrong" and sure in ("medium", "high")
                if outcome != "right" or options.verbose:
                    bench.verbose, was = True, bench.verbose
                    bench.tell(machine, load, answer, f"{expected}{' ' + str(parts) if kind == 'mixture' else ''} seed {seed}")
                    bench.verbose = was
            shown = f"{tally['right']}/{tally['undetermined']}/{tally['wrong']} ({tally['high']} high)"
            row += f"{shown if sum(tally.values()) else '-':>24}"
        print(row, flush=True)
    print(f"right/undetermined/wrong; {right} of {total} as expected ({100 * right / max(total, 1):.1f}%), "
          f"{confident_wrong} confidently wrong")
    return 0 if confident_wrong == 0 and right >= 0.95 * total else 1


if __name__ == "__main__":
    main()
