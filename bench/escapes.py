#!/usr/bin/env python3
"""Texts that move a terminal's cursor or turn the direction of what follows, in every place where a file has a text.

usage: bench/escapes.py BLACKJACK SOURCE_DIR [--all]

Half a minute of cpu time, --all several minutes.

One text after the other of a profile, of recorded regions, of a load and of a machine, and the names of files, get such
characters; commands that read them must print none, on standard output or standard error. --all: each text with every
command, not in turns.
"""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
COMM = os.path.join(os.path.dirname(PROGRAM), "blackjack-comm")
MACHINE = f"sim:{SOURCE}/machines/no_l3.json"
ODD = "\x1b[31m\x9b31m\u202e\u2066\r\x07"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TAKES_S, TURNS = 300, 13

failures = []


def run(arguments, program=PROGRAM):
    done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=TAKES_S, check=False)
    words = " ".join(arguments)
    if done.returncode < 0:
        failures.append(f"{words}: ended by signal {-done.returncode}")
    for name, text in (("output", done.stdout), ("error", done.stderr)):
        found = FORBIDDEN.search(text.decode("utf-8", "replace"))
        if found:
            at = found.start()
            line = text.decode("utf-8", "replace")[max(0, at - 60):at + 20]
            failures.append(f"{ascii(words)}: {found.group()!a} on standard {name}: {line!a}")


def places(value, path=()):
    """Paths to all texts, and to all members, whose names are texts too."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield (*path, name), True
            yield from places(member, (*path, name))
    elif isinstance(value, list):
        for i, member in enumerate(value[:3]):
            yield from places(member, (*path, i))
    elif isinstance(value, str):
        yield path, False


def altered(value, path, is_name):
    """A copy with odd characters there."""
    fresh = copy.deepcopy(value)
    at = fresh
    for step in path[:-1]:
        at = at[step]
    if is_name:
        at[path[-1] + ODD] = at[path[-1]]
    else:
        at[path[-1]] += ODD
    return fresh


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def kinds_of(value):
    """One place of each kind: levels, curves and probes are read by the same code, structured answers each by their own."""
    seen = set()
    for path, is_name in places(value):
        steps = [re.sub(r"\d+", "0", str(step)) for step in path]
        plain = steps[0] == "characteristics" and len(path) > 1 and not isinstance(value[path[0]][path[1]].get("value"), (dict, list))
        if len(path) > 1 and (plain or steps[0] in ("curves", "probes")):
            steps[1] = "one of them"
        kind = "/".join(steps), is_name
        if kind not in seen:
            seen.add(kind)
            yield path, is_name


def try_all(value, name, commands, every):
    for turn, (path, is_name) in enumerate(kinds_of(value)):
        write(name, altered(value, path, is_name))
        for command in commands if every else commands[turn % TURNS::TURNS]:
            run(*command if isinstance(command, tuple) else (command,))


def profile_commands(every):
    yield ["show", "odd.json"]
    yield ["show", "odd.json", "--format", "markdown"]
    yield ["show", "odd.json", "--format", "csv"]
    for field in ("value", "unit", "reason", "evidence"):
        yield ["get", "odd.json", "*", field]
    yield ["curve", "odd.json"]
    yield ["curve", "odd.json", "cache.walk"]
    yield ["show", "odd.json", "--plot", "cache"]
    yield ["compare", "odd.json", "good.json"]
    yield ["compare", "good.json", "odd.json"]
    for form in ("text", "markdown", "csv"):
        yield ["compare", "--table", "odd.json", "--keys", "*", "--format", form]
    yield ["contribute", "odd.json"]
    yield ["fleet", "fleet"]
    yield ["verify", "odd.json", "--machine", MACHINE, "--budget", "0.2"]
    if every:  # a second each
        yield ["diagnose", "--machine", MACHINE, "--profile", "odd.json", "--load", "load.json", "--density", "1,2", "--effort",
               "quick"]
    yield ["tune", "gemm", "odd.json", "--cc", "false", "--sizes", "8"]
    yield ["time", "none.so:none", "--profile", "odd.json"]
    yield ["report", "odd.json", "-o", "page.html", "--force"]
    yield ["run", "clock", "--machine", MACHINE, "--resume", "-o", "odd.json"]
    yield ["reanalyze", "odd.json", "-o", "again.json", "--force"]
    yield ["emit", "rankfile", "odd.json"]
    for name in ("c-header", "cmake", "sh", "gcc-params", "blis", "omp-places", "openmetrics"):
        yield ["emit", name, "odd.json"]
    yield ["--merge", "good.json", "odd.json", "-o", "merged.json", "--force"], COMM


def main():
    every = "--all" in sys.argv[3:]
    with tempfile.TemporaryDirectory(prefix="bj-escapes-") as folder:
        os.chdir(folder)
        os.environ["HOME"] = folder
        for name in ("BLACKJACK_PROFILE", "XDG_DATA_HOME"):
            os.environ.pop(name, None)
        run(["run", "clock", "cache", "-q", "--machine", MACHINE, "--effort", "quick", "-o", "measured.json"])
        with open("measured.json", encoding="utf-8") as file:
            good = json.load(file)
        # What repeats in kind makes files long and every command slow.
        good["curves"] = {name: curve for name, curve in good["curves"].items() if name == "cache.walk" or curve["probe"] == "clock"}
        with open(f"{SOURCE}/tests/cli/multicore_profile.json", encoding="utf-8") as file:
            cpus = json.load(file)
        good["characteristics"].update(cpus["characteristics"])
        write("good.json", good)
        load = {"format": "blackjack-load/1", "name": "x", "compute_ns": 5000, "stream": {"arrays": 1, "bytes": 65536}}
        write("load.json", load)
        os.mkdir("fleet")
        for i in range(5):
            write(f"fleet/{i}.json", good)
        os.symlink("../odd.json", "fleet/odd.json")
        try_all(good, "odd.json", list(profile_commands(every)), every)
        region = {"format": "blackjack-regions/1", "counter": {"name": "made up", "ticks": 1000000, "ns": 1000000},
                  "period_ticks": 500000, "threads": 1, "refused": 0, "regions": [{"name": "solve", "flops": 1, "bytes": 0}],
                  "costs": {"reads": 10, "read_ticks": 200, "pairs": 10, "pair_ticks": 500, "empty_ticks": 0},
                  "records": [{"region": 0, "process": 1, "thread": 0, "first": 0,
                               "series": [[1000000 * i, 100, 500000, 1, 5000, 5000] for i in range(1, 9)],
                               "lengths": [[12, 800, 4000000]]}]}
        write("good_regions.json", region)
        try_all(region, "regions.json", [["regions", "regions.json"], ["regions", "good_regions.json", "regions.json"],
                                         ["regions", "regions.json", "--series", "solve"]], True)
        write("odd_load.json", altered(load, ("name",), False))
        run(["diagnose", "--machine", MACHINE, "--profile", "good.json", "--load", "odd_load.json", "--density", "1,2", "--effort",
             "quick"])
        for path, is_name in places(load):
            write("odd_load.json", altered(load, path, is_name))
            run(["diagnose", "--machine", MACHINE, "--profile", "good.json", "--load", "odd_load.json", "--density", "9"])
        with open(f"{SOURCE}/machines/dunnington.json", encoding="utf-8") as file:
            machine = json.load(file)
        try_all(machine, "machine.json", [["run", "clock", "--effort", "quick", "--machine", "sim:machine.json", "-o", "m.json",
                                           "--force"],
                                          (["--effort", "quick", "--machine", "sim:machine.json", "-o", "c.json", "--force",
                                            "--bytes", "64"], COMM)], every)
        name = f"x{ODD}.json"
        for command in ["show", "get", "curve", "compare", "fleet", "verify", "tune gemm", "diagnose", "regions", "emit sh",
                        "analyze cache", "compare --table", "contribute", "reanalyze", "report", "run --resume clock -o", "run clock --machine", "time",
                        "list", "help", "run"]:
            for content in (None, "{}", "1,2\n"):
                if content is not None:
                    with open(name, "w", encoding="utf-8") as file:
                        file.write(content)
                run([*command.split(), f"sim:{name}" if command.endswith("--machine") else name])
                run([*command.split(), f"--{ODD}"])
                if content is not None:
                    os.unlink(name)
        run(["--merge", name], COMM)
        run([name], COMM)
    for failure in failures[:20]:
        print(f"FAILED: {failure}", file=sys.stderr)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
