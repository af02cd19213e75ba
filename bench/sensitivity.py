#!/usr/bin/env python3
"""What happens when a constant of an analysis is 20% off?

    sensitivity.py [--probe NAME]... [--constant NAME]... [--only MACHINE]... [--run PROBE]...
                   [--factors A,B] [--goldens WHAT] [--list] [--jobs N] [-o FILE.md [--continue]]

Constants are the numbers that src/probes/<probe>/*_constants.h define, and those of the kit. The zoo is measured once at effort quick; then
each constant in turn is made a fifth smaller and larger, and the recorded samples go through the analysis. That needs one build: in a
copy of the source the constants ask the environment for their values. Those that the compiler wants to know (sizes of
arrays, assertions) are changed in the copy, which is built again for each. Printed is, for either side, how many answers of that probe move (value by more than a
hundredth, or status), how many only change their confidence or are told otherwise (interval, reason), and, where tests/sim/truth.json knows the truth, how many
right ones become wrong and wrong ones right. A constant that moves nothing is a candidate to go: --factors 0.01,100
shows whether its rule does anything at all.

Profiles are kept in build/sensitivity and taken up again; with --continue so are the rows of FILE.md.
"""
import argparse
import concurrent.futures
import hashlib
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
# What the copy is built of.
SOURCE = ("src", "include", "cmake", "docs", "machines")
# Names of curves and tables, sizes of arrays and the like are no thresholds: only numbers, also with a unit as factor.
DEFINE = re.compile(r"^#define (\w+) (\(?[-0-9.][-0-9.eu /*()]*(?:\b(?:KIB|MIB|GIB)\b)?\)?) *(?:/\*.*)?$", re.M)
MOVED = 0.01
# What a constant becomes in the copy: its value, unless BJ_TRIED names it with another ("file.h:NAME=0.3"), or with a factor ("…=*0.8").
# Asked for once at each place where it stands.
TRIED = r"""#pragma once
#include <stdlib.h>
#include <string.h>
static inline double bj_tried(const char *name, double value)
{
    const char *text = getenv("BJ_TRIED");
    size_t length = strlen(name);
    if (text == NULL || strncmp(text, name, length) != 0 || text[length] != '=')
        return value;
    text += length + 1;
    return *text == '*' ? value * strtod(text + 1, NULL) : strtod(text, NULL);
}
#define BJ_TRIED(name, value) (__extension__({ static int known; static __typeof__(value) tried; \
    if (!known) { tried = (__typeof__(value))bj_tried(name, value); known = 1; } tried; }))
"""
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
    """Counts (8u) stay whole numbers and move by one at least; of ratios little above 1, what exceeds 1 is scaled. None: a
    factor is all that can be said."""
    whole = re.fullmatch(r"(\d+)(u?)", text)
    ratio = re.fullmatch(r"1\.\d+", text)
    if ratio:
        return "%.6g" % (1 + (float(text) - 1) * factor)
    if not whole:
        return None
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


def name_of(constant):
    return "%s:%s" % (os.path.basename(constant[1]), constant[2])


def define(copy, constant, text):
    """Gives a constant of the copy this text."""
    path = os.path.join(copy, constant[1])
    with open(path, encoding="utf-8") as file:
        source = file.read()
    changed = re.sub(r"^(#define %s ).*?( */\*.*)?$" % constant[2], lambda match: match[1] + text + (match[2] or ""),
                     source, count=1, flags=re.M)
    if changed != source:
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)


def digest_source():
    """Of what the program is made of."""
    digest = hashlib.sha256(TRIED.encode())
    for name in ("src", "include"):
        for folder, folders, files in os.walk(os.path.join(ROOT, name)):
            folders.sort()
            for file in sorted(files):
                with open(os.path.join(folder, file), "rb") as source:
                    digest.update(source.read())
    return digest.hexdigest()


def prepare_copy(jobs):
    """A copy of the source with a build of its own, in which constants ask the environment; and those that cannot. One
    of the same source is taken up again."""
    copy = os.path.join(WORK, "copy")
    stamp = os.path.join(copy, "stamp.json")
    digest = digest_source()
    try:
        with open(stamp, encoding="utf-8") as file:
            made_of, fixed = json.load(file)
    except FileNotFoundError:
        made_of, fixed = None, []
    if made_of == digest:
        fixed = {tuple(constant) for constant in fixed}
        for constant in fixed:
            define(copy, constant, constant[3])
        build(copy, jobs)
    else:
        fixed = make_copy(copy, jobs)
        with open(stamp, "w", encoding="utf-8") as file:
            json.dump([digest, sorted(fixed)], file)
    return copy, fixed


def make_copy(copy, jobs):
    """The constants that the compiler wants to know."""
    shutil.rmtree(os.path.join(copy, "src"), ignore_errors=True)
    for name in SOURCE:
        shutil.copytree(os.path.join(ROOT, name), os.path.join(copy, name), dirs_exist_ok=True)
    for name in ("CMakeLists.txt", "LICENSE", "README.md"):
        shutil.copy(os.path.join(ROOT, name), copy)
    with open(os.path.join(copy, "src", "tried.h"), "w", encoding="utf-8") as file:
        file.write(TRIED)
    constants = list_constants(ROOT)
    for path in {constant[1] for constant in constants}:
        with open(os.path.join(copy, path), "r+", encoding="utf-8") as file:
            source = file.read()
            file.seek(0)
            file.write(source.replace("#pragma once", '#pragma once\n#include "tried.h"', 1))
    for constant in constants:
        define(copy, constant, 'BJ_TRIED("%s", %s)' % (name_of(constant), constant[3]))
    run(["cmake", "-S", copy, "-B", os.path.join(copy, "build"), "-DBUILD_TESTING=OFF", "-DCMAKE_C_FLAGS=-w"])
    fixed = set()
    while True:
        made = subprocess.run(["cmake", "--build", os.path.join(copy, "build"), "--parallel", str(jobs), "--target", "blackjack", "--", "-k"],
                              capture_output=True, text=True, check=False, env=dict(os.environ, LC_ALL="C.UTF-8"))
        if made.returncode == 0:
            return fixed
        # The compiler names the constant in the notes that follow an error: "in expansion of macro".
        named = set(re.findall(r"in expansion of macro .(\w+).", made.stderr))
        more = {constant for constant in constants if constant[2] in named} - fixed
        if not more:
            raise RuntimeError(made.stderr[-2000:])
        for constant in more:
            define(copy, constant, constant[3])
        fixed |= more


def measure(program, name, probes):
    """`probes`: no others; none: what a run measures that names none."""
    path = os.path.join(WORK, "profiles", "-".join([name, *probes]) + ".json")
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        run([program, "run", *probes, "--machine", "sim:" + os.path.join(ROOT, "machines", name + ".json"), "--effort", "quick",
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


def reanalyse(program, path, probe, tried=""):
    text = run([program, "reanalyze", path, "-o", "-"], env=dict(os.environ, BJ_TRIED=tried))
    return {key: answer for key, answer in json.loads(text)["characteristics"].items() if answer.get("probe") == probe}


def differs(before, after):
    """"moved", "doubt" (the confidence), "told" (interval, reason and the like alone), or None"""
    if before is None or after is None or before["status"] != after["status"]:
        return "moved"
    a, b = before.get("value"), after.get("value")
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and abs(a - b) > MOVED * max(abs(a), abs(b)):
        return "moved"
    if before.get("confidence") != after.get("confidence"):
        return "doubt"
    return "told" if before != after else None


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


def count_goldens(program, what, jobs, tried):
    """How many of the pinned answers differ: what the zoo's samples do not show (tables, methods, what is measured)."""
    found = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "golden", "golden.py"), "--program", program,
                            "--jobs", str(jobs), *what.split()], capture_output=True, text=True, check=False,
                           env=dict(os.environ, BJ_TRIED=tried))
    counts = re.findall(r"^(\d+ of \d+) goldens differ", found.stdout, re.M)
    return counts[-1] if counts else "the program breaks off"


def try_constant(context, constant, factor):
    """How many answers differ with it so far off."""
    probe, _, _, value = constant
    accuracy, copy, fixed, profiles, base, truths, jobs, goldens = context
    program = os.path.join(copy, "build", "blackjack")
    scaled = scale(value, factor)
    row = {"moved": 0, "doubt": 0, "told": 0, "lost": 0, "won": 0}
    try:
        if constant in fixed:
            define(copy, constant, scaled or "(%s * %s)" % (value, factor))
            try:
                build(copy, jobs)
            except RuntimeError as error:
                # Some constants are bound to others by assertions: that is an answer, too.
                return "does not build: %s" % next((line for line in str(error).split("\n") if "error:" in line), "")[-60:]
        tried = "%s=%s" % (name_of(constant), (scaled or "*%s" % factor).rstrip("u"))
        if goldens:
            return count_goldens(program, goldens, jobs, tried)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            answers = pool.map(lambda machine: reanalyse(program, profiles[probe][machine], probe, tried), profiles[probe])
            for machine, after in zip(profiles[probe], answers):
                compare(accuracy, base[probe][machine], after, truths.get(machine, {}).get("characteristics", {}), row)
    except RuntimeError:
        # Some are sizes of arrays and lists that go with them.
        return "the program breaks off"
    finally:
        if constant in fixed:
            define(copy, constant, value)
            build(copy, jobs)
    return row


def describe(row):
    if isinstance(row, str):
        return row
    parts = ["%d %s" % (row[key], word) for key, word in (
        ("moved", "moved"), ("doubt", "confidence"), ("told", "told otherwise"), ("lost", "right lost"), ("won", "right won")) if row[key]]
    return ", ".join(parts) or "nothing"


def read_rows(path, factors):
    """The rows of an earlier table with the same factors, by their first three columns."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return {}
    return {tuple(line.split(" | ")[:3]): line for line in lines[2:]} if lines and lines[0] == head(factors) else {}


def head(factors):
    return "| probe | constant | value | %s |" % " | ".join("times %g" % factor for factor in factors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", action="append", help="constants of this probe; may be repeated")
    parser.add_argument("--constant", action="append", help="this constant; may be repeated")
    parser.add_argument("--only", action="append", help="this machine of the zoo; may be repeated")
    parser.add_argument("--run", action="append", default=[], metavar="PROBE", help="measure these probes alone, such as "
                        "comm, which runs on request")
    parser.add_argument("--factors", default="0.8,1.2", help="what a constant is multiplied by (%(default)s)")
    parser.add_argument("--goldens", metavar="WHAT", help="instead of the zoo's samples, how many pinned answers of "
                        "tests/golden/golden.py differ: curves, methods, zoo, or 'curves --only NAME'")
    parser.add_argument("--list", action="store_true", help="name the constants and end")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("-o", "--output", help="the table as a file, too, written row by row")
    parser.add_argument("--continue", dest="go_on", action="store_true", help="rows that are in the file already stay")
    options = parser.parse_args()
    constants = [constant for constant in list_constants(ROOT)
                 if (not options.probe or constant[0] in options.probe)
                 and (not options.constant or constant[2] in options.constant)]
    if options.list or not constants:
        for constant in constants:
            print("%s\t%s\t%s" % (constant[0], constant[2], constant[3]))
        return 0 if constants else 2
    machines = [] if options.goldens else options.only or sorted(name[:-5] for name in os.listdir(os.path.join(ROOT, "machines")))
    os.makedirs(WORK, exist_ok=True)
    factors = [float(factor) for factor in options.factors.split(",")]
    rows = read_rows(options.output, factors) if options.go_on else {}
    copy, fixed = prepare_copy(options.jobs)
    program = os.path.join(copy, "build", "blackjack")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        paths = dict(zip(machines, pool.map(lambda name: measure(program, name, options.run), machines)))
    probes = {constant[0] for constant in constants}
    profiles = {probe: {name: cut_down(paths[name], probe) for name in machines} for probe in probes}
    base = {probe: {name: reanalyse(program, profiles[probe][name], probe) for name in machines} for probe in probes}
    with open(os.path.join(ROOT, "tests", "sim", "truth.json"), encoding="utf-8") as file:
        truths = json.load(file)
    context = (load_accuracy(), copy, fixed, profiles, base, truths, options.jobs, options.goldens)
    lines = [head(factors), "|---|---|---|" + "---|" * len(factors)]
    print("\n".join(lines))
    for constant in constants:
        key = ("| " + constant[0], constant[2], constant[3])
        row = rows.get(key) or " | ".join([*key, *(describe(try_constant(context, constant, factor)) for factor in factors)]) + " |"
        lines.append(row)
        print(row, flush=True)
        if options.output:
            with open(options.output, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
