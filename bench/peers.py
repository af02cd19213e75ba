#!/usr/bin/env python3
"""Do our figures agree with those of other people's tools on this machine? Ours and theirs in turns, as ratios.

    peers.py --program build/blackjack [--runs N] [--l1-cycles N] [--effort E] [-o FILE.md]
    peers.py --self-test

Beside likwid-bench (package likwid), lmbench (bw_mem, lat_mem_rd), STREAM (as stream.py finds it), a plain pointer chase
over the same pages (peers_chase.c), and the clock that follows from a first-level load of so many cycles (--l1-cycles; 4
unless given, 5 on many Intel cores). What is not there is named and left out. docs/peers.md says what the table means.
"""
import argparse
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import textwrap

import stream

HERE = os.path.dirname(os.path.abspath(__file__))
RATE_AIM, LATENCY_AIM, CLOCK_AIM = 0.1, 0.1, 0.005
# Wide vectors first: what the kernel says the processor has, and what likwid calls it.
WIDTHS = (("avx512f", "_avx512"), ("avx", "_avx"), ("sse2", "_sse"), (None, ""))
LIKWID = (("load", "memory.read_gbs"), ("store", "memory.write_gbs"), ("store_mem", "memory.write_past_gbs"),
          ("copy", "memory.copy_gbs"), ("copy_mem", "memory.copy_past_gbs"))
# bw_mem counts a copied byte once, we count it read and written.
BW_MEM = (("frd", "memory.read_gbs", 1), ("fwr", "memory.write_gbs", 1), ("fcp", "memory.copy_gbs", 2))
FIRST_LEVEL_BYTES = 8192


class Left(Exception):
    """A peer is left out, and why."""


def run(command, cpu, huge=False):
    """Standard output and error of a tool on one cpu; huge: its malloc asks for huge pages (glibc 2.35 and newer)."""
    environment = dict(os.environ, GLIBC_TUNABLES="glibc.malloc.hugetlb=1") if huge else None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False,
                              preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    except (OSError, subprocess.SubprocessError) as trouble:
        raise Left(str(trouble)) from trouble
    said = done.stdout + done.stderr
    if done.returncode != 0:
        last = [line for line in said.splitlines() if line.strip()][-1:] or ["nothing"]
        raise Left("%s ended with %d and said: %s" % (os.path.basename(command[0]), done.returncode, last[0].strip()))
    return said


def find_number(pattern, text):
    found = re.search(pattern, text, re.M)
    if found is None:
        raise Left("its output has no %r" % pattern)
    return float(found.group(1))


# ---- ours

class Ours:
    """A run of the program: its answers, and which memory they are about."""

    def __init__(self, profile):
        self.profile = profile

    def value(self, key):
        answer = self.profile["characteristics"].get(key, {})
        return answer.get("value")

    def buffer(self, key):
        """(bytes, pages) of the largest working set behind an answer."""
        evidence = self.profile["characteristics"].get(key, {}).get("evidence", [])
        curves = [self.profile["curves"][name] for name in evidence if name in self.profile["curves"]]
        curves = [curve for curve in curves if curve["x"]["unit"] == "bytes" and curve["x"]["values"]]
        if not curves:
            raise Left("no curve says what %s was measured over" % key)
        curve = max(curves, key=lambda one: max(one["x"]["values"]))
        return int(max(curve["x"]["values"])), curve.get("attributes", {}).get("pages", "base")


def run_ours(program, effort, cpu, folder):
    path = os.path.join(folder, "profile.json")
    done = subprocess.run([os.path.abspath(program), "run", "clock", "cache", "bandwidth", "--cpus", str(cpu), "--effort",
                           effort, "--quiet", "--force", "-o", path], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit("peers.py: %s" % done.stderr.strip())
    with open(path, encoding="utf-8") as file:
        return Ours(json.load(file))


# ---- theirs: each gives [(our key, what it is beside, aim or None, their value)] for a run of ours

def pick_likwid_tests(listed, flags):
    """{"load": "load_avx512", ...}: the widest of each that is listed and that the processor has."""
    names = set(re.findall(r"^(\w+) - ", listed, re.M))
    picked = {}
    for test, _ in LIKWID:
        fitting = [test + suffix for flag, suffix in WIDTHS if (flag is None or flag in flags) and test + suffix in names]
        if fitting:
            picked[test] = fitting[0]
    return picked


def read_flags():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"^(?:flags|Features)\s*:(.*)$", file.read(), re.M)
    return set(found.group(1).split()) if found else set()


def beside_likwid(ours, cpu, _):
    if shutil.which("likwid-bench") is None:
        raise Left("likwid-bench is not there (package likwid; 'make deps-peers')")
    tests = pick_likwid_tests(run(["likwid-bench", "-a"], cpu), read_flags())
    rows = []
    for test, key in LIKWID:
        if test not in tests or ours.value(key) is None:
            continue
        size, pages = ours.buffer(key)
        said = run(["likwid-bench", "-t", tests[test], "-w", "N:%dkB:1" % (size // 1000)], cpu, pages == "huge")
        rows.append((key, "likwid " + tests[test], RATE_AIM, find_number(r"^MByte/s:\s+([0-9.]+)", said) / 1e3))
    if not rows:
        raise Left("likwid-bench has no test that fits")
    return rows


def find_lmbench(name):
    paths = glob.glob("/usr/lib/lmbench/bin/" + name) + glob.glob("/usr/lib/lmbench/bin/*/" + name)
    path = shutil.which(name) or (paths[0] if paths else None)
    if path is None:
        raise Left("%s is not there (package lmbench, in Debian's non-free part)" % name)
    return path


def parse_lat_mem_rd(said):
    """The latency of its largest size."""
    rows = re.findall(r"^([0-9.]+)\s+([0-9.]+)\s*$", said, re.M)
    if not rows:
        raise Left("lat_mem_rd printed no rows")
    return float(rows[-1][1])


def beside_lmbench(ours, cpu, _):
    bw_mem, lat_mem_rd = find_lmbench("bw_mem"), find_lmbench("lat_mem_rd")
    rows = []
    for kind, key, times in BW_MEM:
        if ours.value(key) is not None:
            size, pages = ours.buffer(key)
            # One of two buffers of a copy.
            said = run([bw_mem, "-N", "1", str(size // times), kind], cpu, pages == "huge")
            rows.append((key, "lmbench bw_mem " + kind, None, times * find_number(r"^[0-9.]+\s+([0-9.]+)", said) / 1e3))
    if ours.value("memory.latency_ns") is not None:
        size, pages = ours.buffer("memory.latency_ns")
        said = run([lat_mem_rd, "-t", "-N", "1", str(size >> 20), "64"], cpu, pages == "huge")
        rows.append(("memory.latency_ns", "lmbench lat_mem_rd -t", None, parse_lat_mem_rd(said)))
    return rows


def parse_chase(said, size, pages):
    """(median, least) in ns; the pages must be those that were asked for."""
    if pages == "huge" and find_number(r"^huge_bytes (\S+)", said) < 0.9 * size:
        raise Left("the chase was not granted huge pages")
    return find_number(r"^median_ns (\S+)", said), find_number(r"^least_ns (\S+)", said)


def beside_chase(ours, cpu, tools):
    rows = []
    if ours.value("memory.latency_ns") is not None:
        size, pages = ours.buffer("memory.latency_ns")
        median, _ = parse_chase(run([tools["chase"], str(size), pages], cpu), size, pages)
        rows.append(("memory.latency_ns", "a plain chase", LATENCY_AIM, median))
    cycles, clock = tools["l1_cycles"], "cpu.clock_ghz"
    if ours.value(clock) is not None:
        _, least = parse_chase(run([tools["chase"], str(FIRST_LEVEL_BYTES), "base"], cpu), FIRST_LEVEL_BYTES, "base")
        rows.append((clock, "%g / chase in 8 KiB" % cycles, CLOCK_AIM, cycles / least))
        if ours.value("cache.L1.latency_ns"):
            rows.append((clock, "%g / our L1 latency" % cycles, CLOCK_AIM, cycles / ours.value("cache.L1.latency_ns")))
    return rows


def beside_stream(ours, _, tools):
    """STREAM tells the best of its passes, so ours is the best, too. A compiler makes memcpy of its copy, which stores
    past the caches where there is much to copy."""
    if not tools["stream"]:
        raise Left("STREAM: the source of Debian's numactl cannot be had")
    rows = []
    for name, measure in tools["stream"]:
        try:
            rate = measure()
        except (subprocess.SubprocessError, OSError, AttributeError) as trouble:
            raise Left("STREAM: %s" % trouble) from trouble
        ordinary = name.endswith(stream.ORDINARY)
        rows.append(("memory.copy_best_gbs" if ordinary else "memory.copy_past_best_gbs", name, None, rate))
    return [row for row in rows if ours.value(row[0]) is not None]


PEERS = (("likwid-bench", beside_likwid), ("lmbench", beside_lmbench), ("chase", beside_chase), ("STREAM", beside_stream))


# ---- the table

def tabulate(ratios, left):
    """Lines of the table: ratios are {(key, beside, aim): [ours by theirs of each turn]}."""
    lines = ["Ours by theirs, turn by turn. In aim: turns within 10% (rates, latency) or",
             "0.5% (clock); rows without an aim count otherwise than we do.\n",
             "| ours | beside | ratio | least | most | in aim |", "|---|---|---|---|---|---|"]
    for (key, beside, aim), values in ratios.items():
        digits = 4 if aim == CLOCK_AIM else 2
        within = "" if aim is None else "%d/%d" % (sum(abs(value - 1) <= aim for value in values), len(values))
        lines.append("| %s | %s | %.*f | %.*f | %.*f | %s |" % (
            key, beside, digits, statistics.median(values), digits, min(values), digits, max(values), within))
    for name, reasons in left.items():
        lines += ["", textwrap.fill("Left out of %d turns, %s: %s" % (len(reasons), name, reasons[-1]), 80)]
    return lines


def prepare_tools(l1_cycles, folder):
    chase = os.path.join(folder, "chase")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", os.path.join(HERE, "peers_chase.c"), "-o", chase], check=True)
    try:
        found = stream.find_stream(None, folder)
    except (subprocess.SubprocessError, OSError):
        found = []
    return {"chase": chase, "l1_cycles": l1_cycles, "stream": found}


def take_turns(arguments):
    ratios, left = {}, {}
    cpu = min(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder:
        tools = prepare_tools(arguments.l1_cycles, folder)
        for turn in range(arguments.runs):
            print("peers.py: turn %d of %d" % (turn + 1, arguments.runs), file=sys.stderr)
            ours = run_ours(arguments.program, arguments.effort, cpu, folder)
            for name, measure in PEERS:
                try:
                    for key, beside, aim, theirs in measure(ours, cpu, tools):
                        ratios.setdefault((key, beside, aim), []).append(ours.value(key) / theirs)
                except Left as why:
                    left.setdefault(name, []).append(str(why))
    return ["# Ours beside other tools (turns: %d)\n" % arguments.runs] + tabulate(ratios, left)


# ---- does it read what they print?

def self_test():
    listed = "load - Double-precision load\nload_avx - Double\nload_avx512 - Double\ncopy_mem - Double\n"
    assert pick_likwid_tests(listed, {"sse2", "avx"}) == {"load": "load_avx", "copy_mem": "copy_mem"}
    assert find_number(r"^MByte/s:\s+([0-9.]+)", "Time:\t\t1 sec\nMByte/s:\t\t6742.96\nCycles") == 6742.96
    assert parse_lat_mem_rd('"stride=64\n0.00049 1.126\n128.00000 95.370\n\n') == 95.37
    assert parse_chase("median_ns 101.5\nleast_ns 99\nhuge_bytes 1000\n", 1000, "huge") == (101.5, 99)
    curve = {"x": {"unit": "bytes", "values": [4096, 65536]}, "attributes": {"pages": "huge"}}
    ours = Ours({"characteristics": {"memory.read_gbs": {"value": 10, "evidence": ["gone", "w"]}}, "curves": {"w": curve}})
    assert ours.buffer("memory.read_gbs") == (65536, "huge") and ours.value("memory.copy_gbs") is None
    for refused in (lambda: parse_chase("median_ns 1\nleast_ns 1\nhuge_bytes 0\n", 1000, "huge"),
                    lambda: parse_lat_mem_rd("Usage: lat_mem_rd"), lambda: find_number("^MByte/s", "Cannot find domain"),
                    lambda: ours.buffer("memory.copy_gbs"), lambda: run(["/nowhere/likwid-bench"], 0),
                    lambda: run(["sh", "-c", "echo no domain; exit 3"], min(os.sched_getaffinity(0)))):
        try:
            refused()
        except Left as why:
            assert str(why)
        else:
            raise AssertionError("nothing was refused")
    text = "\n".join(tabulate({("memory.write_past_gbs", "likwid store_mem_avx512", 0.1): [1.0, 1.2, 1.05],
                               ("memory.copy_past_best_gbs", "STREAM -O3 native", None): [1],
                               ("cpu.clock_ghz", "4 / L1", CLOCK_AIM): [1.004, 0.99], ("a", "b", None): [2]},
                              {"lmbench": ["not there, " + 12 * "far away "]}))
    assert "| 1.05 | 1.00 | 1.20 | 2/3 |" in text and "0.9900 | 1.0040 | 1/2 |" in text, text
    assert "| 2.00 | 2.00 | 2.00 |  |" in text and "Left out of 1 turns, lmbench: not there" in text
    assert max(map(len, text.splitlines())) <= 80
    print("peers.py: self-test passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--l1-cycles", type=float, default=4)
    parser.add_argument("--effort", default="normal")
    parser.add_argument("-o", "--output")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    if not arguments.program or arguments.runs < 1:
        parser.error("--program and at least one run are wanted")
    text = "\n".join(take_turns(arguments))
    print(text)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
