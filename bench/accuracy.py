#!/usr/bin/env python3
"""How often is the program right, and does it know when it is not?

    accuracy.py --program build/blackjack [--data DIR] [--seeds N] [--random N] [--effort E] [--probes LIST]
                [--only NAME]... [--each-prefetcher] [--profiles DIR [--cache-once]] [-o FILE.md]
    accuracy.py --pinned tests/golden/quick [--probes LIST] [--least SHARE]

Three parts: published curves with known truth (--data; left out when the folder is not there), the zoo in machines/ with
several seeds, and machines drawn at random, so that nobody can tune to files. Truth comes from tests/sim/truth.py.

With --profiles, what was measured is kept in that folder. Profiles that lie there already are analysed again instead of
being measured, which takes a tenth of the time: for changes of the analysis alone, and to go on after an interruption.

With --pinned nothing is run: the answers that are filed there (one seed of the zoo) are judged. That the program still
gives them is what tests/golden/golden.py sees to, so both together say as much as a run, and cost nothing twice.
"""
import argparse
import concurrent.futures
import importlib.util
import json
import math
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
# What counts as right, by the kind of a key (kind_of): a share of the truth, and what is right in any case.
TOLERANCE = {"levels": 0.0, "capacity_bytes": 0.125, "size_bytes": 0.15, "latency_cycles": 0.1, "latency_ns": 0.1,
             "line_bytes": 0.0, "associativity": 0.0, "page.size_bytes": 0.0, "tlb.levels": 0.0, "tlb.entries": 0.06,
             "tlb.miss_ns": 0.1, "memory.latency_ns": 0.1, "memory.latency_in_tlb_ns": 0.1, "memory.parallelism": 0.1}
RATES = tuple(kind + best + "_gbs" for kind in ("read", "write", "copy", "write_past", "copy_past") for best in ("", "_best"))
TOLERANCE.update({kind: 0.1 for kind in RATES})
RIGHT_ANYWAY = {"tlb.entries": 2}
# Which kinds of keys are judged when a probe is asked for.
KEYS = {"cache": ("levels", "capacity_bytes", "size_bytes", "latency_cycles", "memory.latency_ns",
                  "memory.latency_in_tlb_ns"), "line": ("line_bytes",),
        "associativity": ("associativity",), "page": ("page.size_bytes",),
        "tlb": ("tlb.levels", "tlb.entries", "tlb.miss_ns"), "bandwidth": RATES,
        "parallelism": ("memory.parallelism",)}


def kind_of(key):
    """The last part of a key, after the first where it is not of a cache."""
    parts = key.split(".")
    return parts[-1] if parts[0] == "cache" or key.endswith("_gbs") else parts[0] + "." + parts[-1]


def may_be_open(key):
    """Whether undetermined is as good as right: hashed levels, base pages, prefetchers before an outer level; rates of
    a level hardly larger than the nearer one."""
    return (key.endswith((".associativity", "_gbs")) or (key.endswith(".line_bytes") and key != "cache.line_bytes"))


def load_truth_module():
    spec = importlib.util.spec_from_file_location("truth", os.path.join(ROOT, "tests", "sim", "truth.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- published curves

def judge_curve(case, sizes):
    """(levels right, levels that count, wrong sizes) by the rules of the data's README."""
    accept, used, right, counted = case["accept"], set(), 0, 0
    for interval in accept:
        if interval is None:
            continue
        counted += 1
        hit = [k for k, size in enumerate(sizes) if interval[0] <= size <= interval[1] and k not in used]
        if hit:
            right += 1
            used.add(hit[0])
    invented = []
    for k, size in enumerate(sizes):
        between = any(
            interval is None
            and max([a[1] for a in accept[:j] if a] or [0]) <= size <= min([a[0] for a in accept[j + 1:] if a] or [size])
            for j, interval in enumerate(accept))
        if k not in used and not between:
            invented.append(k)
    return right, counted, invented


def known_of(case):
    """What the analysis of a TLB's curve is told of the caches."""
    for cache in case["context"]["caches"]:
        for key, field in (("size_bytes", "bytes"), ("associativity", "ways")):
            yield from ("--known", "cache.%s.%s=%d" % (cache["level"], key, cache[field]))


def check_tlb_curves(program, folder, out):
    path = os.path.join(folder, "truth.json")
    if not os.path.exists(path):
        out.append("Published TLB curves: %s is not there, left out." % path)
        return True
    with open(path, encoding="utf-8") as file:
        cases = [case for case in json.load(file) if case["kind"] == "tlb"]
    remarks = []
    for case in cases:
        text = subprocess.run([program, "analyze", "tlb", os.path.join(folder, case["file"]), *known_of(case)],
                              capture_output=True, text=True, check=True).stdout
        answers = json.loads(text)
        levels = answers["tlb.levels"]["value"] or 0
        entries = [answers["tlb.L%d.entries" % (i + 1)]["value"] for i in range(levels)]
        right, counted, invented = judge_curve(case, entries)
        if right != counted or invented:
            remarks.append("    - %s (%s): %s, accepted %s\n" % (case["file"], case["class"], entries, case["accept"]))
    out.append("## Published TLB curves (%d files)\n\n- wholly right: %d\n%s" % (
        len(cases), len(cases) - len(remarks), "".join(remarks)))
    return len(remarks) <= 0.1 * len(cases)


def check_curves(program, folder, out):
    path = os.path.join(folder, "truth.json")
    if not os.path.exists(path):
        out.append("Published curves: %s is not there, left out." % path)
        return True
    with open(path, encoding="utf-8") as file:
        cases = [case for case in json.load(file) if case["kind"] == "cache_size"]
    right = counted = whole = plain = 0
    tally, remarks, confident_wrong = {}, [], 0
    for case in cases:
        text = subprocess.run([program, "analyze", "cache", os.path.join(folder, case["file"])],
                              capture_output=True, text=True, check=True).stdout
        answers = json.loads(text)
        levels = answers["cache.levels"]["value"] or 0
        found = [answers["cache.L%d.size_bytes" % (i + 1)] for i in range(levels)]
        r, c, invented = judge_curve(case, [answer["value"] or 0 for answer in found])
        right += r
        counted += c
        if case["class"] != "ambiguous":
            plain += 1
            whole += r == c and not invented
        for k, answer in enumerate(found):
            kind = "wrong" if k in invented else "right"
            tally[(answer["confidence"], kind)] = tally.get((answer["confidence"], kind), 0) + 1
            confident_wrong += k in invented and answer["confidence"] == "high"
        if r != c or invented:
            remarks.append("%s (%s): %s, accepted %s" % (
                case["file"], case["class"], [answer["value"] for answer in found], case["accept"]))
    out.append("## Published curves (%d files)\n" % len(cases))
    out.append("- levels inside their accepted interval: %d of %d (%.1f%%)" % (right, counted, 100 * right / counted))
    out.append("- machines not marked ambiguous wholly right: %d of %d (%.1f%%)" % (whole, plain, 100 * whole / plain))
    out.append("- reported sizes by confidence: " + ", ".join(
        "%s %s %d" % (c, k, tally.get((c, k), 0)) for c in ("high", "medium", "low") for k in ("right", "wrong")))
    out.append("- not wholly right:\n" + "\n".join("    - " + remark for remark in remarks) + "\n")
    return right >= 0.95 * counted and whole >= 0.88 * plain and confident_wrong == 0


# ---- simulated machines

def run_program(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError("%s: %s" % (" ".join(command), result.stderr.strip()))
    return result.stdout


PINNED = re.compile(r"(?P<key>\S+) = (?P<value>\S+) .*?(?:  interval (?P<interval>\[.*?\]))?(?:  (?P<confidence>high|medium|low))?(?:  |$)")


def read_pinned(path):
    """The numbers among the answers of a file of tests/golden/."""
    answers = {}
    with open(path, encoding="utf-8") as file:
        for found in filter(None, map(PINNED.match, file)):
            try:
                value = json.loads(found["value"])
            except ValueError:
                continue  # a list goes on behind the first space: groups, trees and tables are not judged here
            answers[found["key"]] = {"value": value, "confidence": found["confidence"]}
            if found["interval"]:
                answers[found["key"]]["interval"] = json.loads(found["interval"])
    return answers


def run_machine(options, path, seed, probes):
    """The answers; from a profile of an earlier time, if there is one."""
    if options.pinned:
        return read_pinned(os.path.join(options.pinned, os.path.basename(path).removesuffix(".json") + ".txt"))
    program, kept = options.program, None
    if options.profiles:
        kept = os.path.join(options.profiles, "%s-%d.json" % (os.path.basename(path).removesuffix(".json"), seed))
    if kept and os.path.exists(kept):
        return json.loads(run_program([program, "reanalyze", kept, "-o", "-"]))["characteristics"]
    begun = find_begun(options, path, seed)
    run = [program, "run", *probes, "--machine", "sim:" + path, "--seed", str(seed), "--effort", options.effort, "--quiet"]
    if begun is None:
        profile = run_program([*run, "-o", "-"])
    else:
        with tempfile.TemporaryDirectory() as folder:
            start = os.path.join(folder, "begun.json")
            write_text(start, begun)
            run_program([*run, "--resume", "-o", start])
            with open(start, encoding="utf-8") as file:
                profile = file.read()
    if kept:
        write_text(kept, profile)
    return json.loads(profile)["characteristics"]


def find_begun(options, path, seed):
    """With --cache-once: the first seed's profile, cut down to what the cache probe found, as if it had this seed."""
    if not options.cache_once or not options.profiles or seed == 1:
        return None
    first = os.path.join(options.profiles, "%s-1.json" % os.path.basename(path).removesuffix(".json"))
    if not os.path.exists(first):
        return None
    with open(first, encoding="utf-8") as file:
        profile = json.load(file)
    kept = ("clock", "cache")
    profile["probes"] = {name: probe for name, probe in profile["probes"].items() if name in kept}
    profile["curves"] = {name: curve for name, curve in profile["curves"].items() if curve["probe"] in kept}
    profile["characteristics"] = {name: answer for name, answer in profile["characteristics"].items()
                                  if set(answer.get("evidence", ())) & set(profile["curves"])}
    profile["run"]["seed"] = seed
    return json.dumps(profile)


def write_text(path, text):
    """Whole or not at all."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)


def judge_answer(key, answer, truth):
    """One of right, wrong, undetermined; and whether the interval covers the truth. The truth is a pair: what others leave of
    a level that they share moves between the two."""
    if answer is None or answer.get("value") is None:
        return "undetermined", None
    tolerance, anyway = TOLERANCE[kind_of(key)], RIGHT_ANYWAY.get(kind_of(key), 1e-9)
    low, high = truth
    right = low - max(anyway, low * tolerance) <= answer["value"] <= high + max(anyway, high * tolerance)
    interval = answer.get("interval")
    # Of a size the truth itself is known to a hundredth or two (frames are drawn). Any of what a moving level was like counts.
    slack = 0.02 if kind_of(key) == "size_bytes" else 0
    covers = interval is not None and interval[0] * (1 - slack) <= high and low <= interval[1] * (1 + slack)
    return ("right" if right else "wrong"), covers


class Tally:
    def __init__(self):
        self.rows = {}

    def add(self, kind, verdict, covers, confidence, quiet, rightly=False):
        row = self.rows.setdefault(kind, dict.fromkeys(
            ("right", "wrong", "undetermined", "rightly undetermined", "confident wrong", "timid right", "covered",
             "intervals", "quiet right", "quiet high"), 0))
        row[verdict] += 1
        row["rightly undetermined"] += verdict == "undetermined" and rightly
        row["confident wrong"] += verdict == "wrong" and confidence == "high"
        row["timid right"] += verdict == "right" and confidence == "low"
        if covers is not None:
            row["intervals"] += 1
            row["covered"] += covers
        if quiet and verdict == "right":
            row["quiet right"] += 1
            row["quiet high"] += confidence == "high"

    def table(self):
        lines = ["| key | right | wrong | undetermined | confident wrong | timid right | interval covers | high when quiet |",
                 "|---|---|---|---|---|---|---|---|"]
        for kind, row in self.rows.items():
            total = row["right"] + row["wrong"] + row["undetermined"]
            lines.append("| %s | %d of %d (%.1f%%) | %d | %d | %d | %d | %.1f%% | %.1f%% |" % (
                kind, row["right"], total, 100 * row["right"] / total, row["wrong"], row["undetermined"],
                row["confident wrong"], row["timid right"], 100 * row["covered"] / max(1, row["intervals"]),
                100 * row["quiet high"] / max(1, row["quiet right"])))
        return "\n".join(lines)


def count_sets(cache):
    lines = cache["size"] // cache["line"]
    return lines // (cache["ways"] or lines)


def why_ways_are_hidden(key, machine):
    """Why nobody can tell the ways of this level by lines that meet in a set, or None."""
    level = int(key.split(".")[1].removeprefix("L"))
    caches, this = machine["caches"][:level], machine["caches"][level - 1]
    behind = machine["caches"][level] if level < len(machine["caches"]) else {}
    sets_plain = [cache.get("index", "plain") == "plain" and count_sets(cache).bit_count() == 1 for cache in caches]
    if this.get("index", "plain") != "plain":
        return "hashed index"
    if not sets_plain[-1]:
        return "number of sets is no power of two"
    if level > 1 and not machine["page"].get("huge"):
        return "base pages"
    if not all(sets_plain):
        return "sets of a nearer level"
    if this.get("policy") == "exclusive" or behind.get("policy") == "exclusive":
        return "two levels hold lines between them"
    if level == len(machine["caches"]) and machine.get("noise", {}).get("neighbour", 0):
        return "a neighbour takes ways"
    return None


def taken_by_others(key, machine):
    """The largest share of what the key speaks of that a neighbour takes: of the last level alone."""
    last = "cache.L%d." % len(machine["caches"])
    shrinks = key in (last + "size_bytes", last + "capacity_bytes")
    return machine.get("noise", {}).get("neighbour", 0) if shrinks else 0


# What counts as good enough for levels, capacities, sizes and entries, in percent.
LEAST_RIGHT, MOST_CONFIDENT_WRONG, LEAST_HIGH_WHEN_QUIET, LEAST_COVERED, LEAST_SEEDS = 97, 0.5, 80, 90, 80
WAYS, LEAST_WAYS = "L<n>.associativity", 96
JUDGED = ("levels", "capacity_bytes", "size_bytes", "line_bytes", "page.size_bytes", "tlb.levels", "tlb.entries",
          "memory.parallelism")


def judge_tally(tally):
    """Lines that say whether the aims are met."""
    lines = []
    if WAYS in tally.rows:
        row = tally.rows[WAYS]
        total = row["right"] + row["wrong"] + row["undetermined"]
        good = row["right"] + row["rightly undetermined"]
        lines.append("- %s: right or rightly undetermined %d of %d (%.1f%%; %s)" % (
            WAYS, good, total, 100 * good / total, "meets the aim" if good >= LEAST_WAYS / 100 * total else "misses the aim"))
    missed = []
    for kind in [kind for kind in JUDGED if kind in tally.rows]:
        row = tally.rows[kind]
        total = row["right"] + row["wrong"] + row["undetermined"]
        for what, value, good in (
                ("right", 100 * row["right"] / total, lambda v: v >= LEAST_RIGHT),
                ("confident wrong", 100 * row["confident wrong"] / total, lambda v: v <= MOST_CONFIDENT_WRONG),
                ("high when quiet and right", 100 * row["quiet high"] / max(1, row["quiet right"]),
                 lambda v: v >= LEAST_HIGH_WHEN_QUIET),
                ("interval covers", 100 * row["covered"] / max(1, row["intervals"]), lambda v: v >= LEAST_COVERED)):
            if not good(value):
                missed.append("- misses the aim: %s, %s %.1f%%" % (kind, what, value))
    met = "- all aims met: right at least %g%%, confident wrong at most %g%%, high when quiet at least %g%%, interval covers at least %g%%" % (
        LEAST_RIGHT, MOST_CONFIDENT_WRONG, LEAST_HIGH_WHEN_QUIET, LEAST_COVERED)
    return lines + (missed or [met])


def judge_run(answers, truth, machine, probes, tally):
    """Adds to the tally; returns what was wrong."""
    noise = machine.get("noise", {})
    quiet = noise.get("jitter", 0) <= 0.02 and noise.get("neighbour", 0) == 0
    wrong = []
    for key, value in truth.items():
        kind = kind_of(key)
        if ".full." in key:
            continue  # of all cpus: bench/multicore.py
        if not any(kind in KEYS[probe] for probe in probes):
            continue
        answer = answers.get(key)
        verdict, covers = judge_answer(key, answer, (value * (1 - taken_by_others(key, machine)), value))
        confidence = answer.get("confidence") if answer else None
        hidden = kind == "associativity" and why_ways_are_hidden(key, machine) is not None
        tally.add("L<n>." + kind if may_be_open(key) else kind, verdict, covers, confidence, quiet, hidden)
        open_instead = verdict == "undetermined" and (hidden if kind == "associativity" else may_be_open(key))
        if verdict != "right" and not kind.endswith(("_cycles", "_ns")) and not open_instead:
            wrong.append("%s %s (%s) for %s" % (key.removeprefix("cache."), answer.get("value") if answer else None, confidence, value))
    return wrong


def run_all(options, probes, work):
    """work: (name, path, seed); yields (name, seed, answers) in order."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        yield from zip(work, pool.map(lambda item: run_machine(options, item[1], item[2], probes), work))


def check_machines(title, options, machines, seeds, probes, out):
    """machines: name -> (path, machine, truth)."""
    started, tally, failures = time.time(), Tally(), {}
    work = [(name, machines[name][0], seed) for seed in range(1, seeds + 1) for name in machines]
    wholly = dict.fromkeys(machines, 0)
    for (name, _, seed), answers in run_all(options, probes, work):
        wrong = judge_run(answers, machines[name][2], machines[name][1], probes, tally)
        wholly[name] += not wrong
        if wrong:
            failures.setdefault(name, []).append("seed %d: %s" % (seed, "; ".join(wrong)))
    out.append("## %s (%d machines, %d seeds, effort %s, %.0f s)\n" % (
        title, len(machines), seeds, options.effort, time.time() - started))
    out.append(tally.table() + "\n")
    out.extend(judge_tally(tally))
    out.append("\nAll right (latencies apart) in %d of %d runs.\n" % (sum(wholly.values()), len(work)))
    for name, remarks in sorted(failures.items(), key=lambda item: wholly[item[0]]):
        out.append("- %s, right in %d of %d: %s" % (name, wholly[name], seeds, remarks[0]))
    out.append("")
    return wholly


# One core meets hardly more than this of a last level.
LARGEST_BYTES = 64 * 2 ** 20


def draw_caches(rng, line):
    """Near to far: each level at least four times as large and about twice as slow as the one before."""
    caches, size, latency, far_line = [], 0, 0, line
    count = rng.choices([2, 3, 4], [25, 60, 15])[0]
    for level in range(1, count + 1):
        last = level == count
        if level == 1:
            ways = rng.choice([2, 3, 4, 6, 8, 8, 12, 16] if line < 256 else [2, 4])
            # 8 to 128 KiB.
            sets = rng.choice([sets for sets in (32, 64, 64, 128, 256) if 8192 <= ways * sets * line <= 131072])
            latency = rng.choice([1, 2, 3, 4, 4, 5])
        else:
            ways = rng.choice([4, 6, 8, 10, 12, 16, 16, 20])
            far_line = 2 * line if level == 2 and line == 64 and rng.random() < 0.06 else far_line
            wanted = min(size * 2 ** rng.uniform(2.2, 5), LARGEST_BYTES)
            if wanted < 4 * size:
                break
            sets = round(wanted / (ways * far_line))
            if rng.random() < 0.7:
                sets = 2 ** round(math.log2(sets))
            latency = round(max(latency * rng.uniform(2.2, 4.5), latency + 5))
        size = ways * sets * far_line
        policy = "neither" if level == 1 else rng.choices(["neither", "inclusive", "exclusive"], [55, 25, 20])[0]
        # One level takes what another evicts: whole lines, and not in a chain.
        if policy == "exclusive" and (caches[-1]["policy"] == "exclusive" or caches[-1]["line"] != far_line):
            policy = "neither"
        caches.append({"level": level, "size": size, "line": far_line, "ways": ways, "latency": latency,
                       "shared_by": 4 if last and level > 2 else 1, "mapped": "virtual" if level == 1 else "physical",
                       "index": "hashed" if level > 1 and rng.random() < (0.5 if last else 0.15) else "plain",
                       "replacement": rng.choices(["lru", "plru", "random"], [60, 25, 15])[0], "policy": policy})
    return caches


def draw_rates(rng, caches):
    """Bandwidths of the levels, each less than of the one before; returns that of memory."""
    gbs = rng.uniform(10, 300)
    for cache in caches:
        cache["gbs"] = round(gbs, 1)
        gbs *= rng.uniform(0.3, 0.9)
    return round(gbs, 1)


def draw_machine(rng, index):
    """A machine that nobody has seen: sizes, ways, latencies, TLBs, pages, prefetchers and noise at random."""
    caches = draw_caches(rng, rng.choices([32, 64, 128, 256], [8, 74, 15, 3])[0])
    memory = round(max(caches[-1]["latency"] * rng.uniform(2.5, 6), 60))
    tlbs = [{"entries": rng.choice([16, 32, 48, 64, 64, 96, 128]), "ways": rng.choice([0, 0, 4]), "latency": 0}]
    if rng.random() < 0.85:
        tlbs.append({"entries": rng.choice([256, 512, 1024, 1536, 2048]), "ways": rng.choice([4, 8]),
                     "latency": rng.choice([5, 7, 9])})
    page = {"base": rng.choices([4096, 16384, 65536], [80, 12, 8])[0], "huge": rng.choice([0, 2097152]),
            "frames": rng.choices(["random", "contiguous", "coloured"], [70, 15, 15])[0]}
    return {"format": "blackjack-machine/1", "name": "random_%d" % index, "clock_ghz": round(rng.uniform(0.8, 4.5), 2),
            "cpus": 4, "caches": caches, "memory": {"latency": memory, "cpu_gbs": draw_rates(rng, caches)}, "page": page,
            "tlbs": tlbs, "misses_in_flight": rng.choice([1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 48]),
            # A walk finds its tables in the caches, mostly.
            "walk": round(min(rng.uniform(15, 45), memory / 4)),
            "prefetchers": rng.sample(["adjacent", "stride", "region", "next_line"], rng.choice([0, 0, 1, 2])),
            "noise": {"jitter": round(2 ** rng.uniform(-8, -4.6), 4), "spike_rate": rng.choice([0, 0.01, 0.03]),
                      "spike_factor": rng.choice([3, 5, 10]), "drift": rng.choice([0, 0, 0, 0.02]),
                      "neighbour": rng.choice([0, 0, 0, 0, 0.3, 0.6])}}


def find_truth_of(path):
    """None where the script cannot tell: levels so close that one shadows the other. Kept beside the machine's file."""
    kept = path.removesuffix(".json") + ".truth"
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as file:
            return json.load(file)
    try:
        truth = load_truth_module().find_truth(path, full=False)["characteristics"]
    except SystemExit:
        truth = None
    write_text(kept, json.dumps(truth))
    return truth


def draw_machines(count, seed, folder):
    """`count` machines of which the truth is known, by name."""
    rng, drawn, index = random.Random(seed), {}, 0
    with concurrent.futures.ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork")) as pool:
        while len(drawn) < count:
            paths, machines = [], []
            for _ in range(count - len(drawn)):
                machines.append(draw_machine(rng, index))
                paths.append(os.path.join(folder, machines[-1]["name"] + ".json"))
                index += 1
                with open(paths[-1], "w", encoding="utf-8") as file:
                    json.dump(machines[-1], file)
            for path, machine, truth in zip(paths, machines, pool.map(find_truth_of, paths)):
                if truth is not None:
                    drawn[machine["name"]] = (path, machine, truth)
    return drawn


def load_zoo(folder, only):
    with open(os.path.join(ROOT, "tests", "sim", "truth.json"), encoding="utf-8") as file:
        truths = json.load(file)
    machines = {}
    for name in sorted(truths):
        if only and name not in only:
            continue
        path = os.path.join(folder, name + ".json")
        with open(path, encoding="utf-8") as file:
            machines[name] = (path, json.load(file), truths[name]["characteristics"])
    return machines


PREFETCHERS = ("adjacent", "next_line", "region", "stride")


def add_prefetchers(zoo, folder):
    """Every machine once with each prefetcher besides its own: what they bring must not move the lines."""
    machines = {}
    for name, (_, machine, truth) in zoo.items():
        for added in PREFETCHERS:
            changed = dict(machine, name="%s_%s" % (name, added))
            changed["prefetchers"] = sorted({added, *machine.get("prefetchers", [])})
            path = os.path.join(folder, changed["name"] + ".json")
            write_text(path, json.dumps(changed))
            machines[changed["name"]] = (path, changed, {key: truth[key] for key in truth if key.endswith("line_bytes")})
    return machines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program")
    parser.add_argument("--pinned", metavar="DIR", help="judge the answers that are filed there")
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--random-seed", type=int, default=1, help="what is drawn")
    parser.add_argument("--random-seeds", type=int, default=1, help="how many runs on each")
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--probes", default="cache", help="whose keys are judged: " + ",".join(KEYS))
    parser.add_argument("--only", action="append")
    parser.add_argument("--least", type=float, default=0, help="exit status 1 unless this share of the zoo's runs is all right")
    parser.add_argument("--each-prefetcher", action="store_true",
                        help="also the lines of the zoo with every prefetcher switched on in turn")
    parser.add_argument("--no-curves", action="store_true")
    parser.add_argument("--profiles", help="a folder that keeps what was measured")
    parser.add_argument("--cache-once", action="store_true",
                        help="further seeds take the caches from the first one's kept profile: for the other probes, which are quick")
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()

    probes = arguments.probes.split(",")
    if (arguments.program is None) == (arguments.pinned is None):
        parser.error("one of --program and --pinned is needed")
    if arguments.pinned:
        arguments.seeds, arguments.random, arguments.each_prefetcher, arguments.no_curves = 1, 0, False, True
        arguments.effort = "as filed"
    unknown = [probe for probe in probes if probe not in KEYS]
    if unknown:
        parser.error("--probes: %s is not judged" % unknown[0])
    if arguments.profiles:
        os.makedirs(arguments.profiles, exist_ok=True)
    out, good = ["# Accuracy\n"], True
    if not arguments.no_curves and "tlb" in probes:
        good = check_tlb_curves(arguments.program, arguments.data, out) and good
    if not arguments.no_curves and "cache" in probes:
        good = check_curves(arguments.program, arguments.data, out) and good
    if arguments.seeds > 0:
        zoo = load_zoo(os.path.join(ROOT, "machines"), arguments.only)
        wholly = check_machines("The zoo", arguments, zoo, arguments.seeds, probes, out)
        good = good and sum(wholly.values()) >= arguments.least * arguments.seeds * len(zoo)
    if arguments.each_prefetcher:
        with tempfile.TemporaryDirectory() as folder:
            machines = add_prefetchers(load_zoo(os.path.join(ROOT, "machines"), arguments.only), folder)
            check_machines("The zoo with each prefetcher", arguments, machines, 1, ["line"], out)
    if arguments.random > 0:
        with tempfile.TemporaryDirectory() as folder:
            if arguments.profiles:
                folder = os.path.join(arguments.profiles, "drawn_%d" % arguments.random_seed)
                os.makedirs(folder, exist_ok=True)
                arguments.profiles = folder
            machines = draw_machines(arguments.random, arguments.random_seed, folder)
            check_machines("Random machines", arguments, machines, arguments.random_seeds, probes, out)
    text = "\n".join(out)
    print(text)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
