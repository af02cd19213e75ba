#!/usr/bin/env python3
"""Keeps profiles/ in step: the simulated machines' profiles, and the tables of its page.

usage: make_collection.py --program BLACKJACK [--check | --simulate]
Without an option the tables of profiles/README.md are written anew: each stands below the command that prints it. --simulate
also measures the simulated machines anew, after a change of what is answered. --check changes nothing: tables must be what
their commands print, every profile stands in one and names no path of its host, and two of the simulated ones must be what is
answered today.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "profiles/README.md"
# What compares cpus takes a simulator minutes, and operations only echo the machine's file.
PROBES = "clock cache line associativity page tlb bandwidth parallelism contexts timer".split()
CHECKED = ("atom", "omap3") # the quickest to simulate
ABSOLUTE = re.compile(r'"(?:\w+:)?/[^"]*"')
TABLE = re.compile(r"^    (blackjack compare --table .+)\n\n((?:\|.*\n)+)", re.M)


def call(program, words, cwd=ROOT):
    done = subprocess.run([program] + words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, timeout=600)
    if done.returncode != 0:
        sys.exit(f"blackjack {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def simulate(program, name, path):
    # Profiles keep their arguments: a path from here, which is the same for everybody.
    call(program, ["run", *PROBES, "--machine", f"sim:machines/{name}.json", "--effort", "quick", "--no-curves", "-q", "--force", "-o",
                   str(path)])


def write_tables(program, page):
    def renew(match):
        return f"    {match.group(1)}\n\n{call(program, match.group(1).split()[1:])}"
    return TABLE.sub(renew, page)


def answers_of(path):
    """And what was asked; not what the run was like: the program that measured differs from build to build."""
    profile = json.loads(path.read_text(encoding="utf-8"))
    return profile["characteristics"], profile["run"]["arguments"]


def check(program, page):
    found = []
    if write_tables(program, page) != page:
        found.append("profiles/README.md: a table is not what its command prints; scripts/make_collection.py writes it anew")
    shown = " ".join(match.group(1) for match in TABLE.finditer(page)).split()
    for path in sorted((ROOT / "profiles").glob("**/*.json")):
        if str(path.relative_to(ROOT)) not in shown:
            found.append(f"{path.relative_to(ROOT)}: stands in no table of profiles/README.md")
        named = ABSOLUTE.search(path.read_text(encoding="utf-8"))
        if named:
            found.append(f"{path.relative_to(ROOT)}: names a place of the system that it is from: {named.group(0)}")
    with tempfile.TemporaryDirectory() as folder:
        for name in CHECKED:
            today = Path(folder) / f"{name}.json"
            simulate(program, name, today)
            if answers_of(today) != answers_of(ROOT / f"profiles/simulated/{name}.json"):
                found.append(f"profiles/simulated/{name}.json: today's answers differ; scripts/make_collection.py --simulate renews them")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--simulate", action="store_true")
    options = parser.parse_args()
    program = str(Path(options.program).resolve())
    page = PAGE.read_text(encoding="utf-8")
    if options.check:
        found = check(program, page)
        print("\n".join(found))
        return 1 if found else 0
    if options.simulate:
        for path in sorted((ROOT / "profiles/simulated").glob("*.json")):
            simulate(program, path.stem, path)
    PAGE.write_text(write_tables(program, page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
