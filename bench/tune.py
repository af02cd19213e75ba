#!/usr/bin/env python3
"""How fast are tuned kernels on this machine, beside other libraries, other compilers and the same code on OpenBLAS?

    tune.py --program build/blackjack [--profile FILE] [--openblas CORE] [--search] [-o FILE.md]

One table a question; targets stand beside the figures, and nothing is asserted. OpenBLAS takes old kernels on a processor
that is newer than itself: --openblas sets OPENBLAS_CORETYPE for all (as SkylakeX), "" leaves it to the library. --search
takes minutes, most of them the compiler's. Keep the machine quiet meanwhile.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZES = "8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128"
FEW = "8,24,64,128"
# Compilers and flags that must do as well; plain loops are compiled by the same.
OTHERS = [("cc -O3 -march=native", "float"), ("clang -O3 -march=native", "double"), ("clang -O3 -march=native", "float"),
          ("cc -O2", "double"), ("cc -O2", "float"), ("clang -O2", "double"), ("clang -O2", "float")]


def fail(what):
    sys.exit("tune.py: " + what)


class Bench:
    def __init__(self, arguments, folder):
        self.program = os.path.abspath(arguments.program)
        self.folder = folder
        self.out = []
        if arguments.openblas:
            os.environ["OPENBLAS_CORETYPE"] = arguments.openblas
        self.core = arguments.openblas or "its own choice"
        self.profile = arguments.profile
        if self.profile is None:
            self.profile = os.path.join(folder, "profile.json")
            self.call("run", "clock", "cache", "line", "op", "live", "vector", "--quiet", "-o", self.profile)

    def call(self, *words):
        done = subprocess.run([self.program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            fail("%s: %s" % (" ".join(words), done.stderr.strip()))
        return done.stdout

    def tune(self, operation, sizes, *words):
        return json.loads(self.call("tune", operation, self.profile, "--sizes", sizes, "--json", "--quiet", *words))

    def say(self, line=""):
        self.out.append(line)
        print(line, flush=True)


def mean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def ratio(a, b):
    return a / b if a and b else None


def show(value, digits=2):
    return "-" if value is None else "%.*f" % (digits, value)


def tell(bench, what, values, sizes, wanted):
    """One line of a summary: geometric mean, the least and where."""
    known = [(v, n) for v, n in zip(values, sizes) if v]
    if known:
        least, at = min(known)
        bench.say("| %s | %.3f | %.3f at %d | %s |" % (what, mean(values), least, at, wanted))


def libraries(bench):
    """All of them in one run, each size in turns."""
    read = bench.tune("gemm", SIZES)
    names = list(read["results"][0]["against"])
    sizes = [r["n"] for r in read["results"]]
    bench.say("## Warm, double, one core, Gflop/s (OpenBLAS: %s)\n" % bench.core)
    bench.say("| n | general | fixed | %s | fixed / LIBXSMM | general / best of OpenBLAS, BLIS | general / ATLAS |"
              % " | ".join(names))
    bench.say("|--" * (len(names) + 6) + "|")
    fixed, general, atlas = [], [], []
    for r in read["results"]:
        own, others = r["own"], r["against"]
        best = max((others.get(name) or 0) for name in ("OpenBLAS", "BLIS"))
        fixed.append(ratio(own["fixed"], others.get("LIBXSMM")))
        general.append(ratio(own["general"], best))
        atlas.append(ratio(own["general"], others.get("ATLAS")))
        bench.say("| %d | %s | %s | %s | %s | %s | %s |" % (
            r["n"], show(own["general"], 1), show(own["fixed"], 1), " | ".join(show(others[n], 1) for n in names),
            show(fixed[-1]), show(general[-1]), show(atlas[-1], 1)))
    bench.say("\n| ratio | geometric mean | least | wanted |\n|--|--|--|--|")
    tell(bench, "fixed / LIBXSMM", fixed, sizes, "0.98, 0.93 at each n")
    tell(bench, "general / best of OpenBLAS, BLIS", general, sizes, "1.1; 1.0 to n = 64, 0.95 beyond")
    for n, wanted in ((8, "2"), (16, "1.5")):
        at = sizes.index(n)
        tell(bench, "the same at n = %d" % n, general[at:at + 1], [n], wanted)
    tell(bench, "general / ATLAS", atlas, sizes, "2 at each n")
    bench.say("\n## Figure 12: the kernel of 2012, unpacked and blocked for registers alone, Gflop/s over n\n")
    figure = read["figure_12"]
    bench.say(", ".join("%d: %s" % (p["n"], show(p["gflops"], 1)) for p in figure["points"]))
    bench.say("\nThe model's size is %d; the knee is at %s." % (figure["model_size"], figure["knee"] or "no size: none is seen"))


def compilers(bench):
    bench.say("\n## Other compilers, flags and types: times as fast as a plain triple loop by the same (wanted: 2)\n")
    bench.say("| compiler | type | tile | general: mean, least | fixed: mean, least |\n|--|--|--|--|--|")
    for command, kind in OTHERS:
        if subprocess.run(["sh", "-c", "command -v " + command.split()[0]], stdout=subprocess.DEVNULL).returncode != 0:
            bench.say("| %s | %s | not installed | | |" % (command, kind))
            continue
        read = bench.tune("gemm", FEW, "--cc", command, "--type", kind)
        cells = []
        for which in ("general", "fixed"):
            values = [ratio(r["own"][which], r["own"]["plain"]) for r in read["results"]]
            cells.append("%.1f, %.1f" % (mean(values), min(v for v in values if v)))
        bench.say("| %s | %s | %d x %d | %s |" % (command, kind, read["model"]["mr"], read["model"]["nr"],
                                                  " | ".join(cells)))


def factorisation(bench):
    """examples/lu: the same code on generated kernels and on OpenBLAS, in turns."""
    folder = os.path.join(bench.folder, "schur")
    bench.tune("schur", "64", "-o", folder)
    program = os.path.join(bench.folder, "lu")
    done = subprocess.run(["cc", "-O3", "-march=native", "-I" + folder, os.path.join(ROOT, "examples", "lu", "lu.c"),
                           os.path.join(folder, "schur.c"), os.path.join(folder, "schur_fixed.c"), "-o", program, "-ldl",
                           "-lm"], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        fail("examples/lu: " + done.stderr.strip())
    bench.say("\n## LU factorisation in tiles of 64 (examples/lu; OpenBLAS: %s)\n" % bench.core)
    for n in ("512", "1024", "2048"):
        done = subprocess.run([program, n, "7"], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            fail("examples/lu: " + done.stdout.strip())
        bench.say(done.stdout.strip().replace("\n", "; ") + "\n")


def search(bench):
    read = bench.tune("gemm", "8,16,24,32,48,64,96,128", "--search")["search"]
    bench.say("\n## The model's choice beside exhaustive search over %d combinations (wanted: 0.95)\n"
              % read["combinations"])
    bench.say("| n | chosen | best | chosen / best | its block | steps of k | packed |\n|--|--|--|--|--|--|--|")
    for s in read["sizes"]:
        best = s["best"]
        bench.say("| %d | %.1f | %.1f | %.3f | %d x %d | %d | %s |" % (
            s["n"], s["chosen_gflops"], best["gflops"], s["chosen_by_best"], best["mr"], best["nr"], best["kr"],
            "yes" if best["packed"] else "no"))
    bench.say("\nGeometric mean %.3f." % read["chosen_by_best"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--profile")
    parser.add_argument("--openblas", default="")
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--only", choices=["libraries", "compilers", "lu", "search"])
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    parts = {"libraries": libraries, "compilers": compilers, "lu": factorisation, "search": search}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, folder)
        for name, part in parts.items():
            if arguments.only in (None, name) and (name != "search" or arguments.search or arguments.only == name):
                part(bench)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write("\n".join(bench.out) + "\n")


if __name__ == "__main__":
    main()
