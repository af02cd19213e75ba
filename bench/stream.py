#!/usr/bin/env python3
"""Is our bandwidth of memory what McCalpin's STREAM finds? Both in turns, several times.

    stream.py --program build/blackjack [--stream FILE] [--runs N] [-o FILE.md]

FILE is STREAM's source (stream.c, compiled with $CC and -O2, and again with -O3 -march=native) or a program built from it.
Without it the STREAM inside HPC Challenge is run, if that is installed (Debian: hpcc and openmpi-bin), with the flags of its
packager and vectors of 25 MB. If there is neither, the table says so.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ARRAY_ELEMENTS = 2 ** 23
# HPC Challenge takes its vectors from the memory of HPL's matrix, a bit less than a quarter of it each: 25 MB. Larger ones
# would cost minutes of linear algebra first.
HPL_ORDER = 3600
HPL_INPUT = """one core
-
HPL.out
8
1
%d Ns
1
80 NBs
0
1
1 Ps
1 Qs
16.0
1
2
1
4
1
2
1
1
1
1
1
1
2
64
0
0
1
8
-
0
1200
0
40
"""


def run(command, folder, environment=None):
    return subprocess.run(command, cwd=folder, env={**os.environ, **(environment or {})}, capture_output=True, text=True,
                          check=True, timeout=300).stdout


def find_stream(given, folder):
    """(what it is, function that returns the best GB/s of its copy); None: there is none."""
    kinds = []
    if given and given.endswith(".c"):
        for flags in (["-O2"], ["-O3", "-march=native"]):
            path = os.path.join(folder, "stream%d" % len(kinds))
            run([os.environ.get("CC", "cc"), *flags, "-DSTREAM_ARRAY_SIZE=%d" % ARRAY_ELEMENTS, os.path.abspath(given),
                 "-o", path], folder)
            kinds.append(("stream.c " + " ".join(flags), lambda path=path: copy_rate(run([path], folder))))
    elif given:
        kinds.append((os.path.basename(given), lambda: copy_rate(run([os.path.abspath(given)], folder))))
    elif shutil.which("hpcc") and shutil.which("mpirun"):
        kinds.append(("STREAM in HPC Challenge, as packaged", lambda: run_hpcc(folder)))
    return kinds


def copy_rate(text):
    return float(re.search(r"^Copy:\s+([0-9.]+)", text, re.M).group(1)) / 1e3


def run_hpcc(folder):
    with open(os.path.join(folder, "hpccinf.txt"), "w", encoding="utf-8") as file:
        file.write(HPL_INPUT % HPL_ORDER)
    output = os.path.join(folder, "hpccoutf.txt")
    if os.path.exists(output):
        os.remove(output)
    run(["mpirun", "-np", "1", "--oversubscribe", "hpcc"], folder,
        {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    with open(output, encoding="utf-8") as file:
        return float(re.search(r"^SingleSTREAM_Copy=([0-9.]+)", file.read(), re.M).group(1))


def run_ours(program, folder):
    path = os.path.join(folder, "profile.json")
    run([os.path.abspath(program), "run", "bandwidth", "--quiet", "--force", "-o", path], folder)
    with open(path, encoding="utf-8") as file:
        answers = json.load(file)["characteristics"]
    return {kind: answers["memory.%s_gbs" % kind]["value"] for kind in ("read", "copy")}


def compare(program, given, runs, out):
    with tempfile.TemporaryDirectory() as folder:
        kinds = find_stream(given, folder)
        if not kinds:
            out.append("STREAM: neither --stream nor hpcc (with mpirun) is there; not compared.\n")
            return
        ours, theirs = [], {name: [] for name, _ in kinds}
        for _ in range(runs):
            ours.append(run_ours(program, folder))
            for name, measure in kinds:
                theirs[name].append(measure())
    out.append("One core and memory, %d runs in turns, GB/s; ratios by the best of each (by the medians):\n" % runs)
    out.append("| what | runs | read by it | copy by it |\n|---|---|---|---|")
    best = {kind: max(run_[kind] or 0 for run_ in ours) for kind in ("read", "copy")}
    for kind in ("read", "copy"):
        out.append("| our %s | %s | | |" % (kind, ", ".join("%.1f" % (run_[kind] or 0) for run_ in ours)))
    middle = {kind: statistics.median(run_[kind] or 0 for run_ in ours) for kind in ("read", "copy")}
    for name, rates in theirs.items():
        ratios = ["%.2f (%.2f)" % (best[kind] / max(rates), middle[kind] / statistics.median(rates)) for kind in ("read", "copy")]
        out.append("| copy of %s | %s | %s | %s |" % (name, ", ".join("%.1f" % rate for rate in rates), *ratios))
    out.append("")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--stream", help="stream.c, or a program built from it")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    out = ["# Bandwidth of memory beside STREAM\n"]
    try:
        compare(arguments.program, arguments.stream, arguments.runs, out)
    except (subprocess.SubprocessError, OSError, AttributeError) as trouble:
        print("stream.py: %s" % trouble, file=sys.stderr)
        return 1
    text = "\n".join(out)
    print(text)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
