#!/usr/bin/env python3
"""How often `blackjack verify` finds what it must, and how often it alarms without a cause.

usage: verify.py [--program build/blackjack] [--machines NAME,...] [--runs N] [--folder FOLDER]
       verify.py [--program build/blackjack] --native equals,quota,sibling,same [--folder FOLDER] [--times N]

Simulated, of each machine: a baseline (effort normal, seed 1), then N runs in all with other seeds of the same machine,
none of which may alarm but one in a thousand; then the machine with one thing altered at a time (a level halved, its
latency or that of memory a quarter longer, its rate or that of memory a fifth lower), each with five seeds: each must be
found.

--native does on this machine what is named, with 5 s each, against a baseline that is measured unless the folder has one: runs of
equals (20, none may alarm; they come last); with a cpu quota of 80% of one cpu and of all (root and a writable control group are needed);
with a copy of blackjack on the sibling of the measured cpu, and on all cpus. Nothing else may run.
Exits with 1 when one alarms too often or an alteration is missed that the baseline did not say it cannot tell.
"""

import argparse
import collections
import copy
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import limits

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEFAULT_MACHINES = "core2_duo,riscv_board,omap3,nehalem_ep,no_l3,three_way,barcelona,zen3,neoverse_n1,random_replacement"
PROBES = ["clock", "cache", "bandwidth", "contexts"]
SEEDS = 5
FALSE_ALARM = 0.001


def verify(program, baseline, machine, seed, *more):
    done = subprocess.run([program, "verify", baseline, "--machine", "sim:" + machine, "--seed", str(seed), "--json", *more],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"verify.py: {machine}, seed {seed}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def alter(machine):
    """(what, key that is meant, machine) of each alteration."""
    for index, cache in enumerate(machine["caches"]):
        level = cache["level"]
        for field, factor, what, key in (("size", 0.5, "halved", f"cache.L{level}.size_bytes"),
                                         ("latency", 1.25, "latency +25%", f"cache.L{level}.latency_ns"),
                                         ("gbs", 0.8, "bandwidth -20%", f"cache.L{level}.read_gbs")):
            if field not in cache:
                continue
            changed = copy.deepcopy(machine)
            cell = changed["caches"][index]
            cell[field] *= factor
            if field == "size":
                cell[field] = int(cell[field])
                ways = cell.get("ways", 0)
                # A level no larger than the nearer one is no level; ways go where sets cannot be halved.
                if index > 0 and cell[field] <= machine["caches"][index - 1]["size"]:
                    continue
                if ways > 0 and cell[field] % (ways * cell["line"]) != 0:
                    cell["ways"] = max(1, ways // 2)
            yield f"L{level} {what}", key, changed
    for field, factor, what, key in (("latency", 1.25, "latency +25%", "memory.latency_ns"),
                                     ("cpu_gbs", 0.8, "bandwidth -20%", "memory.read_gbs")):
        if field in machine["memory"]:
            changed = copy.deepcopy(machine)
            changed["memory"][field] *= factor
            yield f"memory {what}", key, changed
    changed = copy.deepcopy(machine)
    changed["clock_ghz"] *= 0.8
    yield "clock -20%", "cpu.clock_ghz", changed


def bench_machine(program, name, runs, folder):
    """False alarms, missed alterations, lines of the table."""
    path = os.path.join(ROOT, "machines", name + ".json")
    with open(path, encoding="utf-8") as file:
        machine = json.load(file)
    baseline = os.path.join(folder, f"baseline-{name}.json")
    if not os.path.exists(baseline):
        subprocess.run([program, "run", *PROBES, "-q", "--machine", "sim:" + path, "-o", baseline], check=True)
    alarms, seconds = [], 0.0
    started = time.monotonic()
    for seed in range(2, 2 + runs):
        result = verify(program, baseline, path, seed)
        seconds += result["seconds"]
        if result["verdict"] == "worse":
            alarms.append((seed, result["key"]))
    cost = (time.monotonic() - started) / max(runs, 1)
    blind = {note.split(":")[0] for note in result["notes"] if "cannot be told" in note}
    print(f"{name}: {len(result['numbers'])} numbers, {len(alarms)} alarms in {runs} runs of equals, "
          f"{seconds / max(runs, 1):.1f} simulated s and {cost:.2f} s each"
          + (f"; blind to {', '.join(sorted(blind))}" if blind else "") + "".join(f" {alarm}" for alarm in alarms),
          flush=True)
    missed, named, tried = [], 0, 0
    altered = os.path.join(folder, f"altered-{name}.json")
    for what, key, changed in alter(machine):
        with open(altered, "w", encoding="utf-8") as file:
            json.dump(changed, file)
        keys = []
        for seed in range(1, 1 + SEEDS):
            result = verify(program, baseline, altered, seed)
            tried += 1
            keys.append(result["key"])
        named += keys.count(key)
        found = SEEDS - keys.count(None)
        if found < SEEDS:
            missed.append((what, key in blind))
        if found < SEEDS or any(other not in (key, None) for other in keys):
            print(f"  {what}: {found} of {SEEDS}: {', '.join(sorted({str(k) for k in keys}))}"
                  + (" (said to be blind to it)" if key in blind else ""), flush=True)
    print(f"  {tried} altered runs, {named} of them named after what was altered", flush=True)
    return len(alarms), missed


def find_sibling(cpu):
    """Another thread of the same core, else any other cpu; None: there is none."""
    try:
        with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", encoding="utf-8") as file:
            siblings = {int(part) for part in file.read().replace("-", ",").split(",")} - {cpu}
    except OSError:
        siblings = set()
    others = sorted(siblings or os.sched_getaffinity(0) - {cpu})
    return others[0] if others else None


class Busy:
    """Copies of blackjack at work on these cpus, for as long as this lasts."""

    def __init__(self, program, cpus):
        self.commands = [[program, "run", "cache", "bandwidth", "--effort", "thorough", "--repeat", "20", "-q", "--cpus", str(cpu),
                          "-o", "/dev/null", "--force"] for cpu in cpus]

    def __enter__(self):
        self.copies = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in self.commands]
        time.sleep(1)  # until they measure
        return self

    def enter(self):
        pass

    def __exit__(self, *_):
        for copy_of_it in self.copies:
            copy_of_it.kill()
            copy_of_it.wait()


def verify_here(program, baseline, limit, seed):
    done = subprocess.run([program, "verify", baseline, "--budget", "5", "--seed", str(seed), "--quiet"],
                          preexec_fn=limit.enter, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip()


def bench_native(program, wanted, times, repeat, folder):
    """Whether all is as it must be."""
    baseline = os.path.join(folder, "baseline-native.json")
    if not os.path.exists(baseline):
        subprocess.run([program, "run", *PROBES, "-q", "--repeat", str(repeat), "-o", baseline], check=True)
    with open(baseline, encoding="utf-8") as file:
        cpu = json.load(file)["run"]["cpu_measured"]
    cpus = sorted(os.sched_getaffinity(0))
    cases = [("quota", "quota of 0.8 cpus", lambda: limits.quota_group(0.8), 1),
             ("quota", f"quota of {0.8 * len(cpus):.1f} cpus", lambda: limits.quota_group(0.8 * len(cpus)), 1),
             ("sibling", "a copy on the sibling", lambda: Busy(program, [find_sibling(cpu)]), 1),
             ("same", "copies on the same cpus", lambda: Busy(program, cpus), 1),
             ("equals", "as it was", lambda: limits.Plain(lambda: None), 0)]
    good = True
    for name, what, make, expected in cases:
        if name not in wanted or (name == "sibling" and find_sibling(cpu) is None):
            continue
        outcomes = []
        started = time.monotonic()
        with make() as limit:
            for seed in range(1, 1 + times[expected]):
                outcomes.append(verify_here(program, baseline, limit, seed))
        took = (time.monotonic() - started) / len(outcomes)
        right = sum(status == expected for status, _ in outcomes)
        good = good and right == len(outcomes)
        print(f"{what}: {right} of {len(outcomes)} {'say so' if expected else 'quiet'}, {took:.1f} s each", flush=True)
        for line, count in collections.Counter(line for _, line in outcomes).most_common(6):
            print(f"  {count}x {line}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "blackjack"))
    parser.add_argument("--machines", default=DEFAULT_MACHINES)
    parser.add_argument("--runs", type=int, default=1000, help="of equals, over all machines")
    parser.add_argument("--folder", help="keeps the baselines, and takes those that are there")
    parser.add_argument("--native", help="what to do on this machine instead: equals,quota,sibling,same")
    parser.add_argument("--repeat", type=int, default=3, help="runs of the native baseline")
    parser.add_argument("--times", type=int, default=20, help="native runs of equals")
    arguments = parser.parse_args()
    if arguments.folder:
        os.makedirs(arguments.folder, exist_ok=True)
    if arguments.native:
        with tempfile.TemporaryDirectory() as scratch:
            sys.exit(not bench_native(arguments.program, arguments.native.split(","), (arguments.times, 3), arguments.repeat,
                                      arguments.folder or scratch))
    names = arguments.machines.split(",")
    alarms, missed = 0, []
    each = math.ceil(arguments.runs / len(names))
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or scratch
        for name in names:
            more, lost = bench_machine(arguments.program, name, each, folder)
            alarms += more
            missed += [(name, what) for what, told in lost if not told]
    print(f"{alarms} false alarms in {each * len(names)} runs; {len(missed)} alterations missed unsaid: {missed}")
    allowed = 1 + FALSE_ALARM * each * len(names)
    sys.exit(1 if alarms > allowed or missed else 0)


if __name__ == "__main__":
    main()
