#!/usr/bin/env python3
"""Kills runs at random moments and checks that nothing is lost.

usage: kill.py [--program build/blackjack] [--runs 200] [--machine NAME]... [--probe NAME]... [--seeds 3] [--seed N]

Each run measures a simulated machine at quick effort and gets SIGKILL: three in four at a moment drawn evenly from
the time that a whole run takes (one that ends before it is not counted, but checked as well), the others while a journal is being written (as soon as its temporary file is seen,
or some tenths of a millisecond later). Then
- the file on disk, if there is one, must be a valid profile that holds every probe that was reported as done,
- `--resume` must end with status 0 and a profile that holds all probes,
- its answers must be those of a run that was stopped between the same probes without being killed,
- no temporary file may be left in the folder.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "cli"))
import validate_profile  # noqa: E402

PATIENCE_S = 120


class Breach(Exception):
    """Something was lost."""


def list_probes(program):
    text = subprocess.run([program, "list"], check=True, capture_output=True, text=True).stdout
    # comm is for those who ask for it: a whole run goes without.
    return [name for name in re.findall(r"^(\S+) ", text, re.MULTILINE) if name != "comm"]


def load_profile(schema, path):
    try:
        profile = validate_profile.load(path)
    except ValueError as error:
        raise Breach(f"not JSON: {error}") from error
    for place, reason in validate_profile.check_profile(schema, profile):
        raise Breach(f"not valid: {place}: {reason}")
    return profile


def answers_of(profile):
    """What must not depend on how often the run was stopped."""
    for record in profile["probes"].values():
        del record["seconds"]
    return {part: profile[part] for part in ("characteristics", "curves", "probes")}


def cut_late_rounds(curve):
    """As the curve was before late rounds, and the points that only they have, were added."""
    y = curve["y"]
    late = y.pop("spells", [0] * len(y["rounds"]))
    rounds = [row for row, spell in zip(y["rounds"], late) if spell == 0]
    kept = [i for i in range(len(curve["x"]["values"])) if any(row[i] is not None for row in rounds)]
    curve["x"]["values"] = [curve["x"]["values"][i] for i in kept]
    y["rounds"] = [[row[i] for i in kept] for row in rounds]


def cut_profile(profile, probes):
    """As the profile was when only these probes had run."""
    profile["run"]["interrupted"] = True
    for part in ("characteristics", "curves"):
        profile[part] = {key: value for key, value in profile[part].items() if value["probe"] in probes}
    profile["probes"] = {name: profile["probes"][name] for name in profile["probes"] if name in probes}
    for record in profile["probes"].values():
        record.pop("late_rounds", None)
    for curve in profile["curves"].values():
        cut_late_rounds(curve)


class Bench:
    def __init__(self, program, folder, asked):
        self.program = program
        self.folder = folder
        self.asked = asked
        self.schema = validate_profile.load(os.path.join(ROOT, "docs", "profile.schema.json"))
        self.probes = asked or list_probes(program)
        self.references = {}
        self.seconds = {}

    def command(self, machine, path, *more):
        return [self.program, "run", *self.asked, "--machine", f"sim:{ROOT}/machines/{machine}.json", "-o", path, *more]

    def finish(self, machine, path, *more):
        done = subprocess.run(self.command(machine, path, *more), capture_output=True, text=True, timeout=PATIENCE_S,
                              check=False)
        if done.returncode != 0:
            raise Breach(f"status {done.returncode}: {done.stderr.strip()}")
        return done.stderr

    def measure_whole(self, machine, seed):
        """Takes the time of a whole run, and finds the order of the probes."""
        path = os.path.join(self.folder, "whole.json")
        start = time.monotonic()
        said = self.finish(machine, path, "--effort", "quick", "--seed", str(seed))
        self.seconds[machine] = time.monotonic() - start
        order = re.findall(r"^blackjack: (\S+) \(\d+ of \d+\): done", said, re.MULTILINE)
        if set(order) != set(self.probes):
            raise Breach(f"a whole run reported {order} as done, there are {self.probes}")
        self.probes = order
        os.replace(path, self.whole_path(machine, seed))

    def whole_path(self, machine, seed):
        return os.path.join(self.folder, f"{machine}-{seed}.json")

    def reference(self, machine, seed, done):
        """The answers of a run that ended after so many probes and went on, unkilled; None: of a run in one go, which are
        others, since the noise of a simulated machine starts anew with each process. The file of the first part is made
        from that of the whole run."""
        whole = self.whole_path(machine, seed)
        if not os.path.exists(whole):
            self.finish(machine, whole, "--effort", "quick", "--seed", str(seed))
        key = machine, seed, done
        if key not in self.references and not done:
            self.references[key] = answers_of(load_profile(self.schema, whole))
        elif key not in self.references:
            part, path = (os.path.join(self.folder, name) for name in ("part.json", "reference.json"))
            profile = load_profile(self.schema, whole)
            cut_profile(profile, self.probes[:done])
            with open(part, "w", encoding="utf-8") as file:
                json.dump(profile, file)
            subprocess.run([self.program, "reanalyze", part, "-o", path], check=True)
            self.finish(machine, path, "--resume")
            self.references[key] = answers_of(load_profile(self.schema, path))
            os.unlink(path)
        return self.references[key]

    def wait_for_journal(self, child, folder, number):
        """Until the temporary file of the journal of that number is seen, or the run ends."""
        seen, before = 0, False
        while child.poll() is None:
            now = any(name.endswith(".tmp") for name in os.listdir(folder))
            seen += now and not before
            if seen >= number:
                return
            before = now

    def wait_for_moment(self, child, machine, draw):
        """Until a moment of a whole run, or until the run ends: then it is known again how long one takes."""
        start = time.monotonic()
        try:
            child.wait(draw.uniform(0, 1.1 * self.seconds[machine]))
            self.seconds[machine] = time.monotonic() - start
        except subprocess.TimeoutExpired:
            pass

    def kill_one(self, machine, seed, draw):
        """One run, killed and resumed; what it was like."""
        folder = tempfile.mkdtemp(dir=self.folder)
        path = os.path.join(folder, "p.json")
        said_path = os.path.join(folder, "said")
        with open(said_path, "wb") as said:
            child = subprocess.Popen(self.command(machine, path, "--effort", "quick", "--seed", str(seed)), stderr=said)
            in_journal = draw.random() < 0.25
            if in_journal:
                # The first temporary file is the trial of the place, the second the journal without answers.
                self.wait_for_journal(child, folder, draw.randint(1, len(self.probes) + 2))
                time.sleep(draw.choice([0, 1e-4, 3e-4, 1e-3]))
            else:
                self.wait_for_moment(child, machine, draw)
            child.send_signal(signal.SIGKILL)
            status = child.wait(PATIENCE_S)
        with open(said_path, encoding="utf-8") as said:
            reported = set(re.findall(r"^blackjack: (\S+) \(\d+ of \d+\): done", said.read(), re.MULTILINE))
        os.unlink(said_path)
        result = {"killed": status == -signal.SIGKILL, "in_journal": in_journal,
                  "left": sum(name.endswith(".tmp") for name in os.listdir(folder)),
                  "file": os.path.exists(path), "done": 0}
        ended = False
        if result["file"]:
            profile = load_profile(self.schema, path)
            kept, ended = set(profile["probes"]), "interrupted" not in profile["run"]
            if not reported <= kept:
                raise Breach(f"reported as done and not in the file: {sorted(reported - kept)}")
            result["done"] = len(kept)
        elif reported:
            raise Breach(f"reported as done and no file: {sorted(reported)}")
        if result["file"]:
            self.finish(machine, path, "--resume")
        else:
            self.finish(machine, path, "--resume", "--effort", "quick", "--seed", str(seed))
        whole = load_profile(self.schema, path)
        if set(whole["probes"]) != set(self.probes):
            raise Breach(f"--resume ended with {sorted(whole['probes'])}")
        if answers_of(whole) != self.reference(machine, seed, 0 if ended else result["done"]):
            raise Breach("--resume gave other answers than going on without a kill")
        stray = sorted(set(os.listdir(folder)) - {"p.json"})
        if stray:
            raise Breach(f"left in the folder: {stray}")
        shutil.rmtree(folder)
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "blackjack"))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--machine", action="append", help="of machines/, quick ones by default")
    parser.add_argument("--probe", action="append", default=[], help="with all that it needs; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds a machine is run with")
    parser.add_argument("--seed", type=int, default=None, help="of the moments; drawn and printed by default")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    draw = random.Random(seed)
    machines = options.machine or ["no_l3", "atom"]
    breaches, results = [], []
    with tempfile.TemporaryDirectory(prefix="bj-kill-") as folder:
        bench = Bench(os.path.abspath(options.program), folder, options.probe)
        for machine in machines:
            bench.measure_whole(machine, 1)
        while sum(r["killed"] for r in results) + len(breaches) < options.runs and len(results) < 4 * options.runs:
            machine, run_seed = draw.choice(machines), draw.randint(1, options.seeds)
            try:
                results.append(bench.kill_one(machine, run_seed, draw))
            except (Breach, subprocess.TimeoutExpired) as breach:
                breaches.append(f"run {len(results) + len(breaches)}, {machine}, seed {run_seed}: {breach}")
    print(f"moments drawn with --seed {seed}; machines {', '.join(machines)}; probes {', '.join(bench.probes)}")
    killed = [r for r in results if r["killed"]]
    print(f"{len(killed)} runs killed, {len(results) - len(killed)} more had ended by then")
    print(f"  during a journal: {sum(r['in_journal'] for r in killed)}, "
          f"temporary file left by the kill: {sum(r['left'] > 0 for r in killed)}")
    print(f"  no file yet: {sum(not r['file'] for r in killed)}; probes in the file: "
          + ", ".join(f"{done}: {sum(r['file'] and r['done'] == done for r in killed)}"
                      for done in range(len(bench.probes) + 1)))
    print(f"kept, valid, resumed to the same answers, nothing left behind: {len(killed)} of "
          f"{len(killed) + len(breaches)}")
    for breach in breaches:
        print(f"LOST: {breach}")
    return 1 if breaches or len(killed) < options.runs else 0


if __name__ == "__main__":
    sys.exit(main())
