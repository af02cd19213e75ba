#!/usr/bin/env python3
"""What the papers say of their machines, by their own ways and by our defaults, over simulated walks of these machines.

    papers.py --program build/blackjack [--comm build/blackjack-comm] [--shares [--no-table]] [--seeds N] [--jobs N] [-o FILE.md]

First a table: each statement of the papers (Danalis et al. 2012, González-Domínguez et al. 2010), what `--method paper` or
`--method servet` gives, what the default gives beside it, and whether they agree. Where they do not, one of the papers' slips
must explain it, or the exit status is 1. With --shares also: all paper machines with several seeds, and the share of the
answers that is right, by probe. Truth comes from tests/sim/truth.json, which the program has no part in.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MACHINES = ("core2_duo", "atom", "itanium2", "power7", "nehalem_ep", "omap3", "dempsey", "dunnington", "finis_terrae",
            "athlon_3200", "barcelona")
KIB = 1024
MIB = 1024 * 1024
# The slips of the papers that explain a difference: number and words.
SLIPS = {
    1: "Figure 3 prints P(X > K), the share of page sets that are overfull; the share of accesses that miss is P(1 + B(NP − 1, p) > K). "
       "The printed one makes caches look a tenth too small.",
    2: "The pattern of lines that meet in one set takes the exact size of the cache; one that is an eighth off makes no collisions.",
    3: "The pseudocode of the clustering prints its recursion inside the loop; it belongs after it.",
}


# ---- running

class Asker:
    """Profiles of simulated runs, each made once."""

    def __init__(self, program, jobs):
        self.program, self.known = program, {}
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs)

    def start(self, machine, method, probes, seed=1, change=None):
        key = (machine, method, tuple(probes), seed, json.dumps(change, sort_keys=True))
        if key not in self.known:
            self.known[key] = self.pool.submit(self.run, machine, method, probes, seed, change)
        return self.known[key]

    def ask(self, *arguments, **named):
        return self.start(*arguments, **named).result()

    def run(self, machine, method, probes, seed, change):
        with tempfile.TemporaryDirectory() as folder:
            with open(self.measure(folder, machine, method, probes, seed, change), encoding="utf-8") as file:
                return json.load(file)["characteristics"]

    def tune(self, machine, method, change):
        """The model that `blackjack tune schur` makes of a run: its kernels are built and timed here, its numbers are not."""
        with tempfile.TemporaryDirectory() as folder:
            profile = self.measure(folder, machine, method, ["cache", "line", "op", "live", "vector"], 1, change)
            run = subprocess.run([self.program, "tune", "schur", profile, "-o", os.path.join(folder, "kernels"), "--json", "--quiet",
                                  "--sizes", "8", "--cc", "cc -O2"], capture_output=True, text=True, check=True)
            return json.loads(run.stdout)["model"]

    def measure(self, folder, machine, method, probes, seed, change):
        """A profile's path."""
        path = os.path.join(ROOT, "machines", machine + ".json")
        if change is not None:
            with open(path, encoding="utf-8") as file:
                text = json.load(file)
            for name, value in change.items():
                text[name] = {**text[name], **value} if isinstance(value, dict) and name in text else value
            path = os.path.join(folder, "machine.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(text, file)
        profile = os.path.join(folder, "profile.json")
        command = [self.program, "run", *probes, "--machine", "sim:" + path, "--effort", "quick", "--seed", str(seed),
                   "--quiet", "-o", profile] + (["--method", method] if method else [])
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode not in (0, 1):
            raise RuntimeError("%s: exit status %d\n%s" % (" ".join(command), run.returncode, run.stderr))
        return profile


def value_of(answers, key):
    answer = answers.get(key, {})
    return answer.get("value")


def show_bytes(number):
    if number is None:
        return "–"
    return "%.3g MB" % (number / MIB) if number >= MIB else "%.3g KB" % (number / KIB) if number >= KIB else "%d B" % number


def show_number(number):
    return "–" if number is None else "%.3g" % number


def list_levels(answers, what):
    return [value_of(answers, "cache.L%d.%s" % (i + 1, what)) for i in range(value_of(answers, "cache.levels") or 0)]


def show_sizes(sizes):
    return " / ".join(show_bytes(size) for size in sizes) or "–"


# ---- statements: (where, statement, paper's value, literal text, default text, agrees, slip or None)

def servet_sizes(asker, machine, kib):
    literal = list_levels(asker.ask(machine, "servet", ["cache"]), "capacity_bytes")
    own = list_levels(asker.ask(machine, None, ["cache"]), "capacity_bytes")
    return ("Servet III-A, IV-A", machine + ": cache sizes", show_sizes([size * KIB for size in kib]), show_sizes(literal), show_sizes(own),
            literal == [size * KIB for size in kib], None)


def servet_peak(asker):
    size = value_of(asker.ask("dempsey", "gradient_peaks", ["cache"]), "cache.L2.size_bytes")
    own = value_of(asker.ask("dempsey", None, ["cache"]), "cache.L2.capacity_bytes")
    return ("Servet III-A", "dempsey: second level by the gradient's peak alone", "1 MB, which is wrong", show_bytes(size), show_bytes(own),
            size == MIB, None)


def servet_formula(asker, machine, level, mib):
    size = value_of(asker.ask(machine, "binomial_size_literal", ["cache"]), "cache.L%d.capacity_bytes" % level)
    own = value_of(asker.ask(machine, None, ["cache"]), "cache.L%d.capacity_bytes" % level)
    return ("Servet figure 3", "%s: level %d by the formula as printed" % (machine, level), "%d MB" % mib, show_bytes(size), show_bytes(own),
            size == mib * MIB, 1)


def groups_text(groups):
    return "none" if groups == [] else "–" if groups is None else \
        "; ".join(",".join(map(str, group)) for group in groups[:2]) + ("; …" if len(groups) > 2 else "")


def sharing(asker, machine, level, expected, words):
    key = "cache.L%d.sharing" % level
    literal = value_of(asker.ask(machine, "servet", ["sharing", "contention"]), key)
    own = value_of(asker.ask(machine, None, ["sharing", "contention"]), key)
    agrees = literal == [] if expected == [] else literal is not None and expected in literal
    return ("Servet IV-B", "%s: who shares level %d" % (machine, level), words, groups_text(literal), groups_text(own), agrees, None)


def show_collisions(found):
    if not found:
        return "–"
    return "; ".join("%.2f of one alone in %s" % (level["gbs"] / found["reference_gbs"], groups_text(level["groups"]))
                     for level in found["levels"]) or "nobody collides"


def contention(asker, machine, words, judge):
    literal = value_of(asker.ask(machine, "servet", ["sharing", "contention"]), "memory.contention")
    own = value_of(asker.ask(machine, None, ["sharing", "contention"]), "memory.contention")
    return ("Servet IV-C", machine + ": who collides on the way to memory", words, show_collisions(literal), show_collisions(own),
            bool(literal) and judge(literal), None)


def is_bus_and_cell(found):
    levels = found["levels"]
    shares = [level["gbs"] / found["reference_gbs"] for level in levels]
    return len(levels) == 2 and [0, 1, 2, 3] in levels[0]["groups"] and list(range(8)) in levels[1]["groups"] and \
        shares[0] < shares[1] and abs(shares[1] - 0.75) < 0.03


def is_one_bus(found):
    return len(found["levels"]) == 1 and found["levels"][0]["groups"] == [list(range(24))]


def message_layers(comm, machine, method):
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "profile.json")
        command = [comm, "--machine", "sim:" + os.path.join(ROOT, "machines", machine + ".json"), "--effort", "quick", "--quiet", "-o",
                   profile] + (["--method", method] if method else [])
        subprocess.run(command, check=True, capture_output=True)
        with open(profile, encoding="utf-8") as file:
            return value_of(json.load(file)["characteristics"], "comm.layers") or []


def layers(comm):
    def show(found):
        return " < ".join("%.3g µs (%d pairs)" % (layer["latency_us"], layer["pairs"]) for layer in found)
    literal, own = message_layers(comm, "dunnington", "servet"), message_layers(comm, "dunnington", None)
    agrees = [layer["pairs"] for layer in literal] == [12, 48, 216]
    return ("Servet IV-D", "dunnington: layers of messages", "L2 pair < same processor < across", show(literal), show(own), agrees, None)


def qt_levels(asker, machine, caches):
    literal, own = asker.ask(machine, "paper", ["cache"]), asker.ask(machine, None, ["cache"])
    found = value_of(literal, "cache.levels")
    return ("2012 3.1.2, 4.2.3", machine + ": a cluster for each cache, and one for memory", "%d + 1 clusters" % caches,
            "%s + 1" % show_number(found), "%s levels" % show_number(value_of(own, "cache.levels")), found == caches, None)


def power7(asker, change, words):
    literal = list_levels(asker.ask("power7", "paper", ["cache"], change=change), "size_bytes")
    own = list_levels(asker.ask("power7", None, ["cache"], change=change), "size_bytes")
    agrees = len(literal) == 4 and 2 * MIB < literal[2] <= 4 * MIB and 16 * MIB < literal[3] <= 32 * MIB
    return ("2012 5", "power7%s: third and fourth level" % words, "just under 4 MB, just under 32 MB", show_sizes(literal[2:]),
            show_sizes(own[2:]), agrees, 3)


def single(asker, where, words, paper, machine, key, probes, accept, show=show_number, change=None, slip=None):
    literal = value_of(asker.ask(machine, "paper", probes, change=change), key)
    own = value_of(asker.ask(machine, None, probes, change=change), key)
    return (where, words, paper, show(literal), show(own), accept(literal), slip)


# The processor of section 6 is one of nehalem_ep's generation; of its cpus only one is asked.
CORE_I7 = {"clock_ghz": 2.66, "registers": {"double": 16}}


def show_block(block):
    return ",".join(map(str, block))


def guided_tuning(asker, words, paper, show, expected):
    literal, own = asker.tune("nehalem_ep", "paper", CORE_I7), asker.tune("nehalem_ep", None, CORE_I7)
    return ("2012 6", "a Core i7, 16 registers and 32 KiB: " + words, paper, show(literal), show(own), show(literal) == expected, None)


def tree(asker):
    def show(root):
        return "–" if not root else "%d cpus in %s, split at %s" % (len(root["cpus"]), " and ".join(
            str(len(child["cpus"])) for child in root.get("children", [])), show_bytes(root.get("block_bytes")))
    literal = value_of(asker.ask("nehalem_ep", "paper", ["topology"]), "topology.tree")
    own = value_of(asker.ask("nehalem_ep", None, ["topology"]), "topology.tree")
    agrees = bool(literal) and [len(child["cpus"]) for child in literal["children"]] == [4, 4] and \
        not any(child.get("children") for child in literal["children"]) and literal["block_bytes"] > 8 * MIB
    return ("2012 3.1.4", "nehalem_ep: locality tree", "8 in two cliques of 4 at the largest block, nothing below", show(literal), show(own), agrees, None)


def list_rows(options, asker):
    def same(expected):
        return lambda found: found == expected
    scheduler = {"slot_ms": 4.0, "interrupt_us": 30, "interrupts_per_slot": 1.0}
    rows = [
        lambda: servet_sizes(asker, "dempsey", (16, 2048)),
        lambda: servet_peak(asker),
        lambda: servet_formula(asker, "dempsey", 2, 2),
        lambda: servet_sizes(asker, "dunnington", (32, 3072, 12288)),
        lambda: servet_formula(asker, "dunnington", 3, 12),
        lambda: servet_sizes(asker, "athlon_3200", (64, 512)),
        lambda: servet_sizes(asker, "finis_terrae", (16, 256, 9216)),
        lambda: sharing(asker, "dunnington", 2, [0, 12], "0 with 12"),
        lambda: sharing(asker, "dunnington", 3, [0, 1, 2, 12, 13, 14], "0,1,2,12,13,14"),
        lambda: sharing(asker, "finis_terrae", 3, [], "all private"),
        lambda: contention(asker, "finis_terrae", "bus {0–3} lowest; cell 25% less; other cell none", is_bus_and_cell),
        lambda: contention(asker, "dunnington", "all pairs alike", is_one_bus),
        lambda: single(asker, "2012 3.1.1", "core2_duo: line", "64 (figure 1)", "core2_duo", "cache.line_bytes", ["line"], same(64)),
        lambda: single(asker, "2012 3.1.1", "adjacent_line: two lines come on a miss", "twice the documented 64", "adjacent_line",
                       "cache.line_bytes", ["line"], same(128)),
        lambda: qt_levels(asker, "core2_duo", 2), lambda: qt_levels(asker, "atom", 2), lambda: qt_levels(asker, "itanium2", 3),
        lambda: power7(asker, None, " on random frames"),
        lambda: power7(asker, {"page": {"frames": "coloured"}}, " where pages are coloured"),
        lambda: single(asker, "2012 3.1.3", "itanium2: ways of the first level (figure 3)", "4", "itanium2", "cache.L1.associativity",
                       ["associativity"], same(4)),
        lambda: single(asker, "2012 3.1.3", "atom: ways of the first level, by the size that the clusters gave", "6", "atom",
                       "cache.L1.associativity", ["associativity"], same(6), slip=2),
    ]
    for machine, kib in (("omap3", 4), ("nehalem_ep", 4), ("itanium2", 16)):
        rows.append(lambda machine=machine, kib=kib: single(asker, "2012 3.2", machine + ": page", "%d KB" % kib, machine, "page.size_bytes",
                                                            ["page"], same(kib * KIB), show_bytes))
    rows += [
        lambda: single(asker, "2012 3.2", "a TLB of 512 entries, two of them the program's own", "510", "core2_duo", "tlb.L1.entries", ["tlb"],
                       same(510), change={"tlbs": [{"entries": 512, "ways": 0}], "own_pages": 2}),
        lambda: single(asker, "2012 3.5", "power7: live ranges of integers (the machine file's)", "27", "power7", "live.int32", ["live"], same(27)),
        lambda: tree(asker),
    ]
    for balance in ("balanced", "sticky"):
        rows.append(lambda balance=balance: single(
            asker, "2012 3.4", "power7, %s scheduler: memory contexts" % balance, "32", "power7", "contexts.memory", ["contexts"], same(32),
            change={"scheduler": {**scheduler, "balance": balance}}))
    rows.append(lambda: single(asker, "2012 3.6", "a slot of 4 ms", "the mode of the gaps over 20 µs", "core2_duo", "scheduler.slot_ms",
                               ["slot"], lambda found: found is not None and abs(found - 4) < 0.3,
                               change={"scheduler": scheduler}))
    rows += [
        lambda: guided_tuning(asker, "register block, and a practical one", "3,3,1; 4,2,1", lambda model: "%s; %s" % (
            show_block(model["registers_2012"]), show_block(model["practical_2012"])), "3,3,1; 4,2,1"),
        lambda: guided_tuning(asker, "cache block, and a practical size", "63,63,1; 56", lambda model: "%s; %d" % (
            show_block(model["cache_2012"]), model["block_2012"]), "63,63,1; 56"),
    ]
    if options.comm:
        rows.append(lambda: layers(options.comm))
    return rows


def make_table(options, asker):
    lines = ["| where | statement | paper | literally | our default | |", "|---|---|---|---|---|---|"]
    used, differs = set(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for where, statement, paper, literal, own, agrees, slip in pool.map(lambda row: row(), list_rows(options, asker)):
            if agrees:
                verdict = "agrees"
            elif slip is not None:
                verdict = "slip %d" % slip
                used.add(slip)
            else:
                verdict = "**differs**"
                differs += 1
            lines.append("| %s | %s | %s | %s | %s | %s |" % (where, statement, paper, literal, own, verdict))
    lines += [""] + ["Slip %d: %s" % (number, SLIPS[number]) for number in sorted(used)]
    return lines, differs


# ---- shares

KINDS = {"cache.levels": "levels", "size_bytes": "sizes (15%)", "capacity_bytes": "capacities (12.5%)", "latency_ns": "latencies (10%)",
         "cache.line_bytes": "line", "L1.associativity": "ways of the first level", "associativity": "ways of further levels",
         "page.size_bytes": "page", "tlb.levels": "TLB levels", "entries": "TLB entries (6% or 2)", "contexts": "contexts",
         "scheduler.slot_ms": "slot (10%)", "live": "live variables (2)"}
PROBES = ("cache", "line", "associativity", "page", "tlb", "contexts", "slot", "live")


def kind_of(key):
    """None: not judged."""
    if key in KINDS:
        return key
    if ".full." in key or key.startswith("live.") and "x" in key:  # of other probes
        return None
    if key.startswith("contexts.") or key.startswith("live."):
        return key.split(".")[0]
    if key.startswith("cache.L") and key.endswith("associativity"):
        return "L1.associativity" if key.startswith("cache.L1.") else "associativity"
    end = key.split(".")[-1]
    judged = key.startswith("cache.L") and end in ("size_bytes", "capacity_bytes", "latency_ns") or key == "memory.latency_ns" or \
        key.startswith("tlb.L") and end == "entries"
    return end if judged else None


def is_right(kind, found, true):
    if found is None:
        return False
    share = {"size_bytes": 0.15, "capacity_bytes": 0.125, "latency_ns": 0.1, "scheduler.slot_ms": 0.1}.get(kind, 0)
    if kind == "entries":
        return abs(found - true) <= max(2, 0.06 * true)
    if kind == "live":
        return abs(found - true) <= 2
    return abs(found - true) <= share * true + 1e-9


def make_shares(options, asker):
    with open(os.path.join(ROOT, "tests", "sim", "truth.json"), encoding="utf-8") as file:
        truths = json.load(file)
    ways = (("paper", PROBES), ("servet", ("cache",)), (None, PROBES))
    runs = [(machine, way, seed, asker.start(machine, way, list(probes), seed=seed))
            for machine in MACHINES for way, probes in ways for seed in range(1, options.seeds + 1)]
    tally = {}
    for machine, way, _seed, run in runs:
        answers = run.result()
        for key, true in truths[machine]["characteristics"].items():
            kind = kind_of(key)
            asked = way != "servet" or kind in ("cache.levels", "capacity_bytes")
            # The paper gives sizes, the default and Servet capacities as well.
            if kind is None or not asked or (way == "paper" and kind == "capacity_bytes"):
                continue
            right, count = tally.get((kind, way), (0, 0))
            tally[kind, way] = right + is_right(kind, value_of(answers, key), true), count + 1
    lines = ["%d machines, %d seeds, effort quick: answers that are right" % (len(MACHINES), options.seeds), "",
             "| what | `--method paper` | `--method servet` | default |", "|---|---|---|---|"]
    for kind, words in KINDS.items():
        cells = []
        for way in ("paper", "servet", None):
            right, count = tally.get((kind, way), (0, 0))
            cells.append("%d of %d" % (right, count) if count else "")
        if any(cells):
            lines.append("| %s | %s |" % (words, " | ".join(cells)))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--comm", help="blackjack-comm, for the layers of messages; left out without it")
    parser.add_argument("--shares", action="store_true", help="also how often each probe is right, by each way")
    parser.add_argument("--no-table", action="store_true", help="only the shares")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("-o", "--output", metavar="FILE.md")
    options = parser.parse_args()
    asker = Asker(options.program, options.jobs)
    try:
        lines, differs = ([], 0) if options.no_table else make_table(options, asker)
        if options.shares:
            lines += [*([""] if lines else []), *make_shares(options, asker)]
    except (RuntimeError, subprocess.CalledProcessError) as trouble:
        print(trouble, file=sys.stderr)
        return 2
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
