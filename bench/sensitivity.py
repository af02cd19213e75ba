#!/usr/bin/env python3
"""What happens when a constant of an analysis is 20% off?

    sensitivity.py [--probe NAME]... [--constant NAME]... [--only MACHINE]... [--factors A,B] [--list] [--jobs N]
                   [-o FILE.md]

Constants are the numbers that src/probes/<probe>/*_constants.h define, and those of the kit. The zoo is measured once at effort quick; then
each constant in turn is made a fifth smaller and larger in a copy of the source, the copy is built, and the recorded
samples go through its analysis. Printed is, for either side, how many answers of that probe move (value by more than a
hundredth, or status), how many only change their confidence, and, where tests/sim/truth.json knows the truth, how many
right ones become wrong and wrong ones right. A constant that moves nothing is a candidate to go: --factors 0.01,100
shows whether its rule does anything at all.

Profiles are kept in build/sensitivity and taken up again.
"""
import argparse
import concurrent.futures
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
WORK = os.path.join(ROOT, "build", "sensitivity")
# Names of curves and tables, sizes of arrays and the like are no thresholds: only numbers, also with a unit as factor.
DEFINE = re.compile(r"^#define (\w+) (\(?[-0-9.][-0-9.eu /*()]*(?:\b(?:KIB|MIB|GIB)\b)?\)?) *(?:/\*.*)?$", re.M)
MOVED = 0.01
# Analyses that several probes share, by the one that shows what their constants do.
SHARED = {"chains_constants.h": "op", "live_constants.h": "live"}


def load_accuracy():
    spec = importlib.util.spec_from_file_location("accuracy", os.path.join(HERE, "accuracy.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list_constants(folder):
    """(probe, path below src, name, text of the value)"""
    found = []
    probes = os.path.join(folder, "src", "probes")
    for probe in sorted(os.listdir(probes)):
        path = os.path.join(probes, probe)
        for name in sorted(os.listdir(path)) if os.path.isdir(path) else ():
            if name.endswith("_constants.h"):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    found += [(SHARED.get(name, probe), "src/probes/%s/%s" % (probe, name), constant, value.strip())
                              for constant, value in DEFINE.findall(file.read())]
    return found


def scale(text, factor):
    """Counts (8u) stay whole numbers and move by one at least; of ratios little above 1, what exceeds 1 is scaled."""
    whole = re.fullmatch(r"(\d+)(u?)", text)
    ratio = re.fullmatch(r"1\.\d+", text)
    if ratio:
        return "%.6g" % (1 + (float(text) - 1) * factor)
    if not whole:
        return "(%s * %s)" % (text, factor)
    number = int(whole.group(1))
    moved = round(number * factor)
    return "%d%s" % (moved if moved != number else number + (1 if factor > 1 else -1), whole.group(2))


def run(command, **keywords):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **keywords)
    if result.returncode != 0:
        raise RuntimeError("%s: %s" % (" ".join(command), (result.stderr or result.stdout)[-2000:]))
    return result.stdout


def build(copy, jobs):
    run(["cmake", "--build", os.path.join(copy, "build"), "--parallel", str(jobs), "--target", "blackjack"])
    return os.path.join(copy, "build", "blackjack")


def prepare_copy(jobs):
    """A copy of the source with a build of its own."""
    copy = os.path.join(WORK, "copy")
    shutil.rmtree(os.path.join(copy, "src"), ignore_errors=True)
    for name in ("src", "include", "cmake", "docs", "machines"):
        shutil.copytree(os.path.join(ROOT, name), os.path.join(copy, name), dirs_exist_ok=True)
    for name in ("CMakeLists.txt", "LICENSE", "README.md"):
        shutil.copy(os.path.join(ROOT, name), copy)
    run(["cmake", "-S", copy, "-B", os.path.join(copy, "build"), "-DBUILD_TESTING=OFF"])
    build(copy, jobs)
    return copy


def measure(program, name):
    path = os.path.join(WORK, "profiles", name + ".json")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        run([program, "run", "--machine", "sim:" + os.path.join(ROOT, "machines", name + ".json"), "--effort", "quick",
             "--quiet", "--force", "-o", path + ".part"])
        os.replace(path + ".part", path)
    return path


def cut_down(path, probe):
    """The same profile with the curves of one probe alone: what is analysed again is that probe."""
    cut = path.replace(".json", "." + probe)
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    profile["curves"] = {name: curve for name, curve in profile["curves"].items() if curve["probe"] == probe}
    with open(cut, "w", encoding="utf-8") as file:
        json.dump(profile, file)
    return cut


def reanalyse(program, path, probe):
    answers = json.loads(run([program, "reanalyze", path, "-o", "-"]))["characteristics"]
    return {key: answer for key, answer in answers.items() if answer.get("probe") == probe}


def differs(before, after):
    """"moved", "doubt" (the confidence alone), or None"""
    if before is None or after is None or before["status"] != after["status"]:
        return "moved"
    a, b = before.get("value"), after.get("value")
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) > MOVED * max(abs(a), abs(b)):
        return "moved"
    return "doubt" if before.get("confidence") != after.get("confidence") else None


def is_right(accuracy, key, answer, truth):
    if truth.get(key) is None or accuracy.kind_of(key) not in accuracy.TOLERANCE:
        return None
    return accuracy.judge_answer(key, answer, (truth[key], truth[key]))[0] == "right"


def compare(accuracy, before, after, truth, row):
    for key in before.keys() | after.keys():
        kind = differs(before.get(key), after.get(key))
        if kind is None:
            continue
        row[kind] += 1
        was, now = (is_right(accuracy, key, side.get(key), truth) for side in (before, after))
        row["lost"] += was is True and now is False
        row["won"] += was is False and now is True


def try_constant(context, constant, factor):
    """How many answers differ with it so far off."""
    probe, path, name, value = constant
    accuracy, copy, profiles, base, truths, jobs = context
    header = os.path.join(copy, path)
    with open(header, encoding="utf-8") as file:
        original = file.read()
    row = {"moved": 0, "doubt": 0, "lost": 0, "won": 0}
    try:
        with open(header, "w", encoding="utf-8") as file:
            file.write(original.replace("#define %s %s" % (name, value), "#define %s %s" % (name, scale(value, factor)), 1))
        try:
            program = build(copy, jobs)
        except RuntimeError as error:
            # Some constants are bound to others by assertions: that is an answer, too.
            return "does not build: %s" % next((line for line in str(error).split("\n") if "error:" in line), "")[-60:]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            answers = pool.map(lambda machine: reanalyse(program, profiles[probe][machine], probe), profiles[probe])
            for machine, after in zip(profiles[probe], answers):
                compare(accuracy, base[probe][machine], after, truths.get(machine, {}).get("characteristics", {}), row)
    except RuntimeError:
        # Some are sizes of arrays and lists that go with them.
        return "the program breaks off"
    finally:
        with open(header, "w", encoding="utf-8") as file:
            file.write(original)
    return row


def describe(row):
    if isinstance(row, str):
        return row
    parts = ["%d %s" % (row[key], word) for key, word in (
        ("moved", "moved"), ("doubt", "confidence"), ("lost", "right lost"), ("won", "right won")) if row[key]]
    return ", ".join(parts) or "nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", action="append", help="constants of this probe; may be repeated")
    parser.add_argument("--constant", action="append", help="this constant; may be repeated")
    parser.add_argument("--only", action="append", help="this machine of the zoo; may be repeated")
    parser.add_argument("--factors", default="0.8,1.2", help="what a constant is multiplied by (%(default)s)")
    parser.add_argument("--list", action="store_true", help="name the constants and end")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    constants = [constant for constant in list_constants(ROOT)
                 if (not options.probe or constant[0] in options.probe)
                 and (not options.constant or constant[2] in options.constant)]
    if options.list or not constants:
        for constant in constants:
            print("%s\t%s\t%s" % (constant[0], constant[2], constant[3]))
        return 0 if constants else 2
    machines = options.only or sorted(name[:-5] for name in os.listdir(os.path.join(ROOT, "machines")))
    os.makedirs(WORK, exist_ok=True)
    copy = prepare_copy(options.jobs)
    program = os.path.join(copy, "build", "blackjack")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        paths = dict(zip(machines, pool.map(lambda name: measure(program, name), machines)))
    probes = {constant[0] for constant in constants}
    profiles = {probe: {name: cut_down(paths[name], probe) for name in machines} for probe in probes}
    base = {probe: {name: reanalyse(program, profiles[probe][name], probe) for name in machines} for probe in probes}
    with open(os.path.join(ROOT, "tests", "sim", "truth.json"), encoding="utf-8") as file:
        truths = json.load(file)
    context = (load_accuracy(), copy, profiles, base, truths, options.jobs)
    factors = [float(factor) for factor in options.factors.split(",")]
    lines = ["| probe | constant | value | %s |" % " | ".join("times %g" % factor for factor in factors),
             "|---|---|---|" + "---|" * len(factors)]
    print("\n".join(lines))
    for constant in constants:
        rows = [describe(try_constant(context, constant, factor)) for factor in factors]
        lines.append("| %s | %s | %s | %s |" % (constant[0], constant[2], constant[3], " | ".join(rows)))
        print(lines[-1], flush=True)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
