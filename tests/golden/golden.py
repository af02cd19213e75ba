#!/usr/bin/env python3
"""Pinned answers: what the program says of the simulated machines and the published curves, compared line by line.

    golden.py --program build/blackjack [--renew] [--effort quick|normal] [--only NAME]... [--other-libm]
              [--jobs N] zoo|methods|curves

`zoo` runs every machine of machines/ with all probes (those that compare cpus on some) and one seed; `methods` runs a few of them with every method that is
not the default; `curves` takes every table of tests/replay/ through `blackjack analyze` with each method of its probe. What
comes out is compared with the files beside this script, or written there (--renew). A golden says what the program answers,
not what is right: that is the business of tests/sim/truth.py.

Exit status: 0 the same; 1 something differs, with a diff; 2 the program or the command line failed; 77 not to be had here.
"""
import argparse
import concurrent.futures
import difflib
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SEED = "1"
# Probes that compare cpus, and the machines on which they are pinned too.
CPU_PROBES = ("topology", "sharing", "contention", "numa")
CPU_MACHINES = ("atom", "core2_duo", "nehalem_ep", "finis_terrae", "opteron_square")
# For `methods`: caches and pages of three kinds, one of them shared with others.
METHOD_MACHINES = ("a64fx", "atom", "noisy_neighbour")
# A diff is for reading; whoever wants all of it renews and asks git.
DIFF_LINES = 80
# glibc chooses its functions by what the processor has. Without these it takes the ones for old processors, whose last
# bits differ: as near to another machine as one machine gets.
OTHER_LIBM = "glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4"


class Number(str):
    """A number as the program wrote it: reading and writing it again must not hide a change."""


def read_json(text):
    return json.loads(text, parse_float=Number, parse_int=Number)


def show(value):
    """A JSON value on one line, numbers as they were."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list):
        return "[" + ", ".join(show(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(json.dumps(key) + ": " + show(item) for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


# ---- lines

def describe_answer(key, answer):
    """key = value unit  interval [a, b]  confidence  p  status  method  evidence  claimed  reason; what is absent is
    left out, and so are fields that are not known here, since later versions may add some."""
    words = ["%s = %s %s" % (key, show(answer["value"]), answer["unit"])]
    if "interval" in answer:
        words.append("interval " + show(answer["interval"]))
    if "confidence" in answer:
        words.append(answer["confidence"])
    if "p" in answer:
        words.append("p " + answer["p"])
    words.append(answer["status"])
    if "method" in answer:
        words.append(answer["method"])
    if "evidence" in answer:
        words.append("from " + (", ".join(answer["evidence"]) or "nothing"))
    if "claimed" in answer:
        words.append("claimed " + show(answer["claimed"]))
    if "reason" in answer:
        words.append("reason: " + answer["reason"])
    return "  ".join(words)


def describe_probe(name, record):
    """Without the seconds: they are those of the virtual clock, and the curves show what was measured anyway."""
    words = ["probe %s  revision %s  %s" % (name, record["revision"], record["status"])]
    if "reason" in record:
        words.append("reason: " + record["reason"])
    return "  ".join(words)


def describe_curve(curve_id, curve):
    """The samples themselves would be megabytes; the checksum tells whether they are the same."""
    x, y = curve["x"], curve["y"]
    samples = show(x["values"]) + "\n" + "".join(show(values) + "\n" for values in y["rounds"])
    return "curve %s  %d x of %s (%s)  %d rounds of %s (%s)  %s" % (
        curve_id, len(x["values"]), x["name"], x["unit"], len(y["rounds"]), y["name"], y["unit"],
        hashlib.sha256(samples.encode()).hexdigest()[:12])


def describe_answers(answers):
    """Sorted, since the order in which answers are found is nobody's business."""
    return [describe_answer(key, answers[key]) for key in sorted(answers)]


def describe_profile(profile):
    lines = [describe_probe(name, record) for name, record in profile["probes"].items()]
    lines += ["", *describe_answers(profile["characteristics"]), ""]
    return lines + [describe_curve(curve_id, profile["curves"][curve_id]) for curve_id in sorted(profile["curves"])]


# ---- runs

def run_program(options, *arguments, accept=(0,)):
    """Standard output. Any other exit status ends the script: there is nothing to compare then."""
    environment = dict(os.environ, LC_ALL="C")
    if options.other_libm:
        environment["GLIBC_TUNABLES"] = OTHER_LIBM
    run = subprocess.run([options.program, *arguments], capture_output=True, text=True, env=environment, check=False)
    if run.returncode not in accept:
        raise RuntimeError("blackjack %s: exit status %d\n%s" % (" ".join(arguments), run.returncode, run.stderr))
    return run.stdout


def run_machine(options, path, *more):
    """The profile's text."""
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile.json")
        # Status 1: some probe failed, which its record says.
        run_program(options, "run", *more, "--machine", "sim:" + path, "--effort", options.effort, "--seed", SEED, "--quiet",
                    "-o", profile, accept=(0, 1))
        with open(profile, encoding="utf-8") as file:
            return file.read()


def list_probes(options, path):
    """Those to run; none named: all. Crowds of cpus are slow to simulate, so that few machines pin what compares cpus: the
    others have sim.topology and bench/multicore.py."""
    if os.path.basename(path).removesuffix(".json") in CPU_MACHINES:
        return []
    return [probe for probe in run_program(options, "list", "--words", "probes").split() if probe not in CPU_PROBES]


def answer_machine(options, path):
    """The golden's lines of one machine."""
    text = run_machine(options, path, *list_probes(options, path))
    if options.keep:
        with open(os.path.join(options.keep, os.path.basename(path)), "w", encoding="utf-8") as file:
            file.write(text)
    return describe_profile(read_json(text))


def answer_methods(options, path):
    """The same with every method that is not the default: a chapter a command."""
    lines = []
    for probe, methods in list_methods(options).items():
        if probe in CPU_PROBES and os.path.basename(path).removesuffix(".json") not in CPU_MACHINES:
            continue
        for method in methods[1:]:
            lines += ["", "blackjack run %s --method %s" % (probe, method), ""]
            lines += describe_profile(read_json(run_machine(options, path, probe, "--method", method)))
    return lines[1:]


def list_methods(options):
    """By probe, the default first; from `blackjack list`, so that a new one is seen here without a word."""
    probes = run_program(options, "list", "--words", "probes").split()
    return {probe: run_program(options, "list", "--words", "methods", probe).split() for probe in probes}


def load_expected(name):
    """What the replay tests know of a table, by its path below tests/replay/."""
    with open(os.path.join(ROOT, "tests", "replay", name), encoding="utf-8") as file:
        return {case["file"]: case for case in json.load(file)}


# By folder of tests/replay/: the probe, what is known of the files, and the options that each file is analysed with.
KINDS = {
    "curves": ("cache", "expected.json", lambda case: ([], ["--unit", case["unit"]])),
    "lines": ("line", "expected_lines.json", lambda case: ([], ["--level", "2"])),
    # The files are in cycles and the answers in ns, so a clock has to be handed over: any will do.
    "tlb": ("tlb", "expected_tlb.json", lambda case: ([], list_known(case), [
        *list_known(case), "--unit", "cycles", "--known", "op.int32.add.latency_ns=0.5"])),
}


def list_known(case):
    return [word for key, value in case["known"].items() for word in ("--known", "%s=%d" % (key, value))]


def answer_table(options, probe, file, sets_of_options):
    """The golden's lines of one table: a paragraph a command."""
    lines = []
    for words in sets_of_options:
        plain = None
        for method in [[]] + [["--method", method] for method in list_methods(options)[probe]]:
            text = run_program(options, "analyze", probe, os.path.join(ROOT, "tests", "replay", file), *words, *method)
            lines += ["", " ".join(["blackjack analyze", probe, file, *words, *method])]
            # One of them is the default, and need not be read twice.
            lines += ["as without --method"] if text == plain else describe_answers(read_json(text))
            plain = plain or text
    return lines[1:]


# ---- work: (file of the golden, its title, a function that gives its lines)

def list_machines(options):
    """Name and path."""
    for path in sorted(glob.glob(os.path.join(ROOT, "machines", "*.json"))):
        name = os.path.basename(path).removesuffix(".json")
        if not options.only or name in options.only:
            yield name, path


def list_zoo(options):
    for name, path in list_machines(options):
        title = "machines/%s.json, effort %s, seed %s" % (name, options.effort, SEED)
        yield os.path.join(options.effort, name + ".txt"), title, lambda path=path: answer_machine(options, path)


def list_method_runs(options):
    for name, path in list_machines(options):
        if name in METHOD_MACHINES:
            title = "machines/%s.json, the other methods, effort %s, seed %s" % (name, options.effort, SEED)
            yield os.path.join("methods", name + ".txt"), title, lambda path=path: answer_methods(options, path)


def list_curves(options):
    for folder, (probe, expected, sets_of_options) in KINDS.items():
        cases = load_expected(expected)
        for path in sorted(glob.glob(os.path.join(ROOT, "tests", "replay", folder, "*.csv"))):
            name = os.path.basename(path).removesuffix(".csv")
            file = "%s/%s.csv" % (folder, name)
            if not options.only or name in options.only:
                yield (os.path.join("curves", folder, name + ".txt"), "tests/replay/" + file,
                       lambda probe=probe, file=file, sets=sets_of_options(cases[file]):
                       answer_table(options, probe, file, sets))


WORK = {"zoo": list_zoo, "methods": list_method_runs, "curves": list_curves}


def answer_all(options, work):
    """(golden's path below the folder, text) in order."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = [(name, title, pool.submit(answer)) for name, title, answer in work]
        for name, title, result in results:
            yield name, "\n".join(["# %s; `make goldens` renews." % title, "", *result.result()]) + "\n"


# ---- comparing and renewing

def read_golden(name):
    try:
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def write_golden(name, text):
    path = os.path.join(HERE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def list_left_over(options, names):
    """Goldens of machines or tables that are gone. Not looked for when only some were asked for."""
    folder = options.effort if options.what == "zoo" else options.what
    found = glob.glob(os.path.join(HERE, folder, "**", "*.txt"), recursive=True)
    return [] if options.only else sorted({os.path.relpath(path, HERE) for path in found} - set(names))


def diff_golden(name, wanted, found):
    return list(difflib.unified_diff(wanted.splitlines(), found.splitlines(), "tests/golden/" + name,
                                     "now", lineterm="", n=0))


def compare_all(options, work):
    names, different, diff = [], [], []
    for name, text in answer_all(options, work):
        names.append(name)
        if text != read_golden(name):
            different.append(name)
            diff += diff_golden(name, read_golden(name), text)
    left_over = list_left_over(options, names)
    for line in diff[:DIFF_LINES]:
        print(line)
    if len(diff) > DIFF_LINES:
        print("... and %d lines more" % (len(diff) - DIFF_LINES))
    for name in left_over:
        print("tests/golden/%s: nothing answers to it any more" % name)
    print("%d of %d goldens differ" % (len(different), len(names)))
    if different or left_over:
        print("If this is meant, renew with `make goldens` and let the diff be reviewed with the change.")
    return 1 if different or left_over else 0


def renew_all(options, work):
    names, changed = [], 0
    for name, text in answer_all(options, work):
        names.append(name)
        changed += text != read_golden(name)
        write_golden(name, text)
    for name in list_left_over(options, names):
        os.remove(os.path.join(HERE, name))
        changed += 1
    print("%s: %d goldens, %d changed" % (options.what, len(names), changed))
    return 0


def has_other_libm():
    """Whether the C library computes otherwise when told so: a few thousand logarithms and powers tell. It does not
    where it is not glibc, or the processor has nothing to leave out."""
    program = "import math; print(sum(hash((math.log(i * 0.37), math.exp(i * 1e-3), (i * 0.37) ** 1.7)) for i in range(1, 9999)))"
    results = {subprocess.run([sys.executable, "-c", program], env=dict(os.environ, **more), capture_output=True,
                              check=True).stdout for more in ({}, {"GLIBC_TUNABLES": OTHER_LIBM})}
    return len(results) > 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=WORK)
    parser.add_argument("--program", required=True)
    parser.add_argument("--renew", action="store_true", help="write the goldens instead of comparing")
    parser.add_argument("--effort", default="quick", choices=("quick", "normal"), help="of the zoo's runs")
    parser.add_argument("--only", action="append", metavar="NAME", help="this machine or table; may be repeated")
    parser.add_argument("--other-libm", action="store_true",
                        help="with the mathematical functions that glibc has for processors without FMA")
    parser.add_argument("--keep", metavar="DIR", help="the profiles of the zoo, whole, for a look at what differs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.what != "zoo" and options.effort != "quick":
        parser.error("--effort is for zoo")
    if options.other_libm and not has_other_libm():
        print("this C library computes alike whatever it is told: skipped")
        return 77
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    work = list(WORK[options.what](options))
    unknown = set(options.only or ()) - {os.path.basename(name).removesuffix(".txt") for name, _, _ in work}
    if unknown:
        parser.error("--only: no such %s: %s" % (options.what, ", ".join(sorted(unknown))))
    try:
        return (renew_all if options.renew else compare_all)(options, work)
    except RuntimeError as trouble:
        print(trouble, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
