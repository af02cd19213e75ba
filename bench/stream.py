#!/usr/bin/env python3
"""Is our best bandwidth of memory what McCalpin's STREAM finds? Both in turns, several times.

    stream.py --program build/blackjack [--stream FILE] [--runs N] [-o FILE.md]

FILE is STREAM's source (stream.c) or a program built from it. Without it the source is fetched from Debian's package numactl
(apt-get source, into a temporary folder), if that can be had. Sources are compiled with $CC and -O2, again with -O3
-march=native, and again without making its copy a call of memcpy, which may store past the caches; for vectors of 256 MiB. If
there is no STREAM, the table says so.
"""
import argparse
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
VECTOR_BYTES = 2 ** 28
ORDINARY = "no memcpy"
FLAGS = {"-O2": ["-O2"], "-O3 native": ["-O3", "-march=native"],
         ORDINARY: ["-O3", "-march=native", "-fno-tree-loop-distribute-patterns"]}
OURS = ("read_best", "copy_best", "copy_past_best")


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout


def fetch_source(folder):
    """The folder of numactl's source, which has STREAM in it; None: there is none to be had. The system's own lists of
    packages name no sources as a rule, and stay as they are."""
    apt = ["apt-get", "-o", "Dir::Etc::SourceList=/dev/null", "-o", "Dir::Etc::SourceParts=%s/parts" % folder,
           "-o", "Dir::State::Lists=%s/lists" % folder]
    try:
        for name in ("parts", "lists"):
            os.mkdir(os.path.join(folder, name))
        for path in glob.glob("/etc/apt/sources.list.d/*") + glob.glob("/etc/apt/sources.list"):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"^(deb|Types:\s*deb)(?=\s|$)", r"\1-src", file.read(), flags=re.M)
            with open(os.path.join(folder, "parts", os.path.basename(path)), "w", encoding="utf-8") as file:
                file.write(text)
        run(apt + ["update"], folder)
        run(apt + ["source", "--download-only", "numactl"], folder)
        archive, = (path for path in glob.glob(os.path.join(folder, "numactl_*.orig.tar.*z*")) if not path.endswith(".asc"))
        run(["tar", "xf", archive], folder)
        found, = glob.glob(os.path.join(folder, "*", "stream_lib.c"))
        return os.path.dirname(found)
    except (subprocess.SubprocessError, OSError, ValueError):
        return None


def find_stream(given, folder):
    """[(what it is, function that returns the GB/s of its copy)]; empty: there is none."""
    if given and not given.endswith(".c"):
        return [(os.path.basename(given), lambda: copy_rate(run([os.path.abspath(given)], folder)))]
    if given:
        name, arguments = "stream.c", []
        sources = ["-DSTREAM_ARRAY_SIZE=%d" % (VECTOR_BYTES // 8), os.path.abspath(given)]
    else:
        fetched = fetch_source(folder)
        if fetched is None:
            return []
        name, arguments = "STREAM", ["%d" % VECTOR_BYTES]
        sources = ["-I" + fetched, os.path.join(HERE, "stream_main.c"), os.path.join(fetched, "stream_lib.c"), "-lm"]
    kinds = []
    for what, flags in FLAGS.items():
        path = os.path.join(folder, "stream%d" % len(kinds))
        run([os.environ.get("CC", "cc"), *flags, *sources, "-o", path], folder)
        kinds.append((name + " " + what, lambda path=path: copy_rate(run([path, *arguments], folder))))
    return kinds


def copy_rate(text):
    return float(re.search(r"^Copy:\s+([0-9.]+)", text, re.M).group(1)) / 1e3


def run_ours(program, folder):
    path = os.path.join(folder, "profile.json")
    run([os.path.abspath(program), "run", "bandwidth", "--quiet", "--force", "-o", path], folder)
    with open(path, encoding="utf-8") as file:
        answers = json.load(file)["characteristics"]
    return {kind: answers["memory.%s_gbs" % kind]["value"] or 0 for kind in OURS}


def compare(program, given, runs, out):
    with tempfile.TemporaryDirectory() as folder:
        kinds = find_stream(given, folder)
        if not kinds:
            out.append("STREAM: neither --stream nor the source of Debian's numactl is there; not compared.\n")
            return
        ours, theirs = [], {name: [] for name, _ in kinds}
        for _ in range(runs):
            ours.append(run_ours(program, folder))
            for name, measure in kinds:
                theirs[name].append(measure())
    out.append("One core and memory, %d runs in turns, GB/s, the best passes of each; ratios of medians:\n" % runs)
    out.append("| what | runs | %s |\n|---|---|%s" % (" | ".join(kind + " by it" for kind in OURS), "---|" * len(OURS)))
    middle = {kind: statistics.median(run_[kind] for run_ in ours) for kind in OURS}
    for kind in OURS:
        out.append("| our %s | %s |%s" % (kind, ", ".join("%.1f" % run_[kind] for run_ in ours), " |" * len(OURS)))
    for name, rates in theirs.items():
        ratios = " | ".join("%.2f" % (middle[kind] / statistics.median(rates)) for kind in OURS)
        out.append("| copy of %s | %s | %s |" % (name, ", ".join("%.1f" % rate for rate in rates), ratios))
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
