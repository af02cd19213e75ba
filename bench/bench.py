#!/usr/bin/env python3
"""What does the program cost, and do its native answers repeat?

    bench.py --program build/blackjack [--runs N] [-o FILE.md]

Prints a table of time and memory, then the answers of N native runs in a row (default 3) beside what the operating system
claims. Nothing here is asserted: figures are of this machine, now.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time


def run_once(command):
    """(seconds, peak KiB, exit status) of a command; its output is dropped."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - started, usage.ru_maxrss, process.returncode


def least_of(command, times):
    return min(run_once(command)[0] for _ in range(times))


def human(value):
    if value is None:
        return "-"
    for factor, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= factor:
            return "%.4g %s" % (value / factor, unit)
    return "%.4g" % value


def cost_table(program, folder, out):
    profile = os.path.join(folder, "profile.json")
    out.append("| what | time | peak memory | wanted |\n|---|---|---|---|")
    for effort, limit in (("normal", "20 s, 600 MiB"), ("quick", "5 s")):
        seconds, kib, status = run_once([program, "run", "cache", "clock", "--effort", effort, "--quiet", "--force",
                                         "-o", profile])
        out.append("| run cache clock, %s (exit status %d) | %.1f s | %.0f MiB | %s |" % (
            effort, status, seconds, kib / 1024, limit))
    out.append("| starting the program (--version), least of 20 | %.1f ms | | 10 ms |" % (
        1e3 * least_of([program, "--version"], 20)))
    out.append("| get FILE cache.L1.size_bytes, least of 20 | %.1f ms | | 10 ms |" % (
        1e3 * least_of([program, "get", profile, "cache.L1.size_bytes"], 20)))
    out.append("")


def repeat_table(program, folder, runs, out):
    profiles = []
    for i in range(runs):
        path = os.path.join(folder, "run%d.json" % i)
        run_once([program, "run", "cache", "clock", "--quiet", "--force", "--seed", str(i + 1), "-o", path])
        with open(path, encoding="utf-8") as file:
            profiles.append(json.load(file))
    out.append("Native, %d runs in a row (value [interval] status confidence):\n" % runs)
    keys = [key for key in profiles[0]["characteristics"] if key.endswith(("levels", "size_bytes", "capacity_bytes"))]
    for key in keys:
        answers = [profile["characteristics"].get(key) for profile in profiles]
        claimed = next((a.get("claimed") for a in answers if a), None)
        out.append("- `%s`, claimed %s:" % (key, human(claimed)))
        for answer in answers:
            if answer is None:
                out.append("    - absent")
                continue
            low, high = answer.get("interval", (None, None))
            out.append("    - %s [%s, %s] %s %s" % (human(answer["value"]), human(low), human(high), answer["status"],
                                                    answer.get("confidence", "")))
    out.append("")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    out = ["# Cost\n"]
    with tempfile.TemporaryDirectory() as folder:
        cost_table(arguments.program, folder, out)
        if arguments.runs > 0:
            repeat_table(arguments.program, folder, arguments.runs, out)
    text = "\n".join(out)
    print(text)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
