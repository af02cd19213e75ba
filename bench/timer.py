#!/usr/bin/env python3
"""Is the kernel timer right on this machine, and what does it cost?

    timer.py --program build/blackjack [--profile FILE] [--cc COMMAND] [-o FILE.md]

Dot product cold and warm, operands in a level with their witness, kernels whose time is known, aligned and split copies, and
what bench/timer_main.c and the blocked product of examples/timer print. Nothing is asserted: figures are of this machine, now.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
EXAMPLES = os.path.join(ROOT, "examples", "timer")


class Bench:
    def __init__(self, arguments, folder):
        self.program = os.path.abspath(arguments.program)
        self.cc = "%s -I%s" % (arguments.cc, os.path.join(ROOT, "include"))
        self.folder = folder
        self.profile = arguments.profile
        if self.profile is None:
            self.profile = os.path.join(folder, "profile.json")
            self.call("run", "clock", "cache", "line", "associativity", "--quiet", "-o", self.profile)
        self.profile = os.path.abspath(self.profile)
        with open(self.profile, encoding="utf-8") as file:
            self.answers = json.load(file)["characteristics"]
        os.environ["BLACKJACK_PROFILE"] = self.profile

    def call(self, *words):
        done = subprocess.run([self.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode > 1:
            sys.exit("timer.py: %s: %s" % (" ".join(words), done.stderr.strip()))
        return done.stdout

    def time(self, *words):
        return json.loads(self.call("time", *words, "--profile", self.profile, "--cc", self.cc, "--json", "-q"))

    def value(self, key):
        return (self.answers.get(key) or {}).get("value")


def show(out, what, seen, wanted=""):
    out.append("| %s | %s | %s |" % (what, seen, wanted))


def dot_curve(bench, out):
    levels = int(bench.value("cache.levels") or 1)
    last = bench.value("cache.L%d.size_bytes" % levels) or 8 << 20
    most = int(4 * last / 16)
    read = bench.time(os.path.join(EXAMPLES, "dot.c:dot"), "--operand", "x:8*n", "--operand", "y:8*n", "--sweep",
                      "N=500..%d" % most, "--context", "cold,warm")
    of = {(timing["n"], timing["context"]): timing["time_ns"]["value"] for timing in read["timings"]}
    sizes = sorted({n for n, _ in of})
    out.append("\n%s; flush area %.0f MiB; levels hold %s bytes.\n" % (
        read["clock"], read["flush_bytes"] / 2 ** 20,
        ", ".join(str(bench.value("cache.L%d.size_bytes" % level)) for level in range(1, levels + 1))))
    out.append("| n | bytes | cold ns an element | warm ns an element | cold / warm |\n|---|---|---|---|---|")
    for n in sizes:
        cold, warm = of.get((n, "cold")), of.get((n, "warm"))
        if cold and warm:
            out.append("| %d | %d | %.3f | %.3f | %.2f |" % (n, 16 * n, cold / n, warm / n, cold / warm))
    out.append("\n| what | seen | wanted |\n|---|---|---|")
    show(out, "cold / warm at n = 1000", "%.2f" % (of[(1000, "cold")] / of[(1000, "warm")]), "2 or more")
    end = sizes[-1]
    show(out, "cold / warm at the end", "%.2f" % (of[(end, "cold")] / of[(end, "warm")]), "1, within 15%")
    late = [of[(n, "cold")] / n for n in sizes if n >= 20000]
    show(out, "cold time an element varies from n = 20000 on by", "%.0f%%" % (100 * (max(late) / min(late) - 1)), "25%")


def residency(bench, out):
    for level in range(2, int(bench.value("cache.levels") or 1) + 1):
        size = bench.value("cache.L%d.size_bytes" % level)
        for share in (0.1, 0.25, 0.5):
            if not size:
                continue
            n = int(share * size / 16)
            read = bench.time(os.path.join(EXAMPLES, "dot.c:dot"), "--operand", "x:8*n", "--operand", "y:8*n", "--n",
                              str(n), "--context", "L%d" % level)["timings"][0]
            seen = read.get("residency")
            text = read["time_ns"].get("reason", "") if seen is None else "%.2f of %.2f ns, %s" % (
                seen["seen_ns"] or 0, seen["expected_ns"] or 0, read["time_ns"]["status"])
            show(out, "two operands, together %.2f of L%d: witness" % (share, level), text, "within 20%")


def known_kernels(bench, out):
    kernels = os.path.join(HERE, "timer_kernels.c")
    read = bench.time(kernels + ":empty", "--operand", "x:4096", "--context", "cold,warm")
    for timing in read["timings"]:
        low, high = timing["time_ns"]["interval"]
        show(out, "empty kernel, %s" % timing["context"], "%.3f to %.3f ns" % (low, high), "holds 0")
    ratios = []
    for turn in range(5):
        path = os.path.join(bench.folder, "clock.json")
        bench.call("run", "clock", "--quiet", "--force", "--effort", "quick", "--seed", str(turn + 1), "-o", path)
        with open(path, encoding="utf-8") as file:
            add = json.load(file)["characteristics"]["op.int32.add.latency_ns"]["value"]
        n = int(1000 / add) // 64 * 64
        read = bench.time(kernels + ":add_chain", "--n", str(n), "--context", "warm")
        ratios.append(read["timings"][0]["time_ns"]["value"] / (n * add))
    show(out, "1 us of additions by the yardstick, five in turns: time by what it should be",
         "%.3f (%.3f to %.3f)" % (statistics.median(ratios), min(ratios), max(ratios)), "1, within 2%")


def copies(bench, out):
    for context in ("warm", "cold"):
        times = []
        for align in ("align=64", "align=8:misalign=16"):
            read = bench.time(os.path.join(EXAMPLES, "copy.c:copy"), "--operand", "from:8*n:in:" + align, "--operand",
                              "to:8*n:out:" + align, "--n", "1000", "--context", context)
            times.append(read["timings"][0]["time_ns"]["value"])
        show(out, "copy of 8 kB, %s: split lines by aligned" % context, "%.2f" % (times[1] / times[0]),
             "up to 2, by the processor")


def programs(bench, out):
    build = os.path.dirname(bench.program)
    for name, source, flags, words in (
            ("timer_main", os.path.join(HERE, "timer_main.c"), ["-O3"], []),
            ("matmul", os.path.join(EXAMPLES, "matmul.c"), ["-O3", "-march=native"], ["2048"])):
        path = os.path.join(bench.folder, name)
        subprocess.run([*bench.cc.split(), *flags, source, "-L" + build, "-lblackjack", "-lm", "-Wl,-rpath," + build, "-o",
                        path], check=True)
        text = subprocess.run([path, *words], stdout=subprocess.PIPE, text=True, check=True).stdout
        out.append(text.rstrip() if name == "timer_main" else "\nBlocked product, GFLOP/s:\n\n```\n%s\n```" % text.rstrip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "blackjack"))
    parser.add_argument("--profile")
    parser.add_argument("--cc", default="cc -O3")
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    out = ["# The kernel timer on this machine"]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, folder)
        for part in (dot_curve, residency, known_kernels, copies, programs):
            part(bench, out)
    text = "\n".join(out) + "\n"
    sys.stdout.write(text)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
