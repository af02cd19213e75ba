#!/usr/bin/env python3
"""Runs under each limit that this machine lets us set up, and prints what came of it.

usage: limits.py [--program build/blackjack] [--effort quick] [--only NAME]...

A row a limit: exit status, time, peak memory and the quarter of what the process might use, levels, L1 and L2 with
their statuses, and the warning if one was due. Control groups need root and a writable /sys/fs/cgroup, and are made
below the group that this script is in, so that its own limits go on to hold. They and every other change are undone.
Exits with 1 when a run fails, holds more than its quarter or does not warn; limits that could not be set up are named.
"""

import argparse
import ctypes
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MIB = 1 << 20
PATIENCE_S = 300
PR_SET_THP_DISABLE = 41


class CannotSetUp(Exception):
    """This machine does not let us."""


def find_cgroup(controller):
    """The folder of our group in the hierarchy of that controller, and its version."""
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        groups = [line.rstrip("\n").split(":", 2) for line in file]
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    for version in (1, 2):
        for fields in mounts:
            kind, options = fields[fields.index("-") + 1], fields[-1].split(",")
            for _, names, path in groups:
                if version == 1 and kind == "cgroup" and controller in options and controller in names.split(","):
                    return fields[4] + ("" if path == "/" else path), 1
                if version == 2 and kind == "cgroup2" and names == "":
                    folder = fields[4] + ("" if path == "/" else path)
                    if has_controller(folder, controller):
                        return folder, 2
    raise CannotSetUp(f"no control group with {controller} is mounted")


def has_controller(folder, controller):
    try:
        with open(os.path.join(folder, "cgroup.controllers"), encoding="utf-8") as file:
            return controller in file.read().split()
    except OSError:
        return False


class Group:
    """A control group below ours for the time of one run."""

    def __init__(self, controller, settings):
        self.controller = controller
        self.settings = settings

    def __enter__(self):
        parent, version = find_cgroup(self.controller)
        self.folder = os.path.join(parent, f"blackjack-limits-{os.getpid()}")
        try:
            os.mkdir(self.folder)
        except OSError as error:
            raise CannotSetUp(f"{self.controller} group: {error.strerror}") from error
        try:
            for name, value in self.settings[version].items():
                self.write(name, value)
        except OSError as error:
            self.__exit__()
            raise CannotSetUp(f"{self.controller} group: {error.filename}: {error.strerror}") from error
        return self

    def write(self, name, value):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(value)

    def enter(self):
        """In the child."""
        self.write("cgroup.procs", str(os.getpid()))

    def __exit__(self, *_):
        for _ in range(50):  # the last process may still be on its way out
            try:
                os.rmdir(self.folder)
                return
            except OSError:
                time.sleep(0.1)
        print(f"could not remove {self.folder}", file=sys.stderr)


class Plain:
    """A limit that the child sets for itself."""

    def __init__(self, enter):
        self.enter = enter

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def limit_address_space(program, kib):
    limit = Plain(lambda: resource.setrlimit(resource.RLIMIT_AS, (kib * 1024, kib * 1024)))
    # Sanitizers reserve terabytes of addresses.
    started = subprocess.run([program, "--version"], preexec_fn=limit.enter, capture_output=True, check=False)
    if started.returncode != 0:
        raise CannotSetUp("this build does not even say its version with so little address space")
    return limit


def pin(cpu):
    if cpu not in os.sched_getaffinity(0):
        raise CannotSetUp(f"cpu {cpu} is not ours")
    return Plain(lambda: os.sched_setaffinity(0, {cpu}))


def no_huge_pages(_program):
    def enter():
        if ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0:
            raise OSError("prctl")
    return Plain(enter)


def memory_group(mib):
    return Group("memory", {1: {"memory.limit_in_bytes": str(mib * MIB)}, 2: {"memory.max": str(mib * MIB)}})


def quota_group(cpus):
    return Group("cpu", {1: {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": str(int(cpus * 100000))},
                         2: {"cpu.max": f"{int(cpus * 100000)} 100000"}})


# Name, how it is set up, what the process may use in bytes (None: what the system has), the warning that is due.
CASES = [
    ("none", lambda _: Plain(lambda: None), None, None),
    ("memory group 256 MiB", lambda _: memory_group(256), 256 * MIB, None),
    ("memory group 64 MiB", lambda _: memory_group(64), 64 * MIB, None),
    # The program by itself is more than a quarter of this.
    ("memory group 16 MiB", lambda _: memory_group(16), None, None),
    ("ulimit -v 400000", lambda program: limit_address_space(program, 400000), 400000 * 1024, None),
    ("ulimit -v 150000", lambda program: limit_address_space(program, 150000), 150000 * 1024, None),
    ("taskset -c 0", lambda _: pin(0), None, "only one cpu"),
    ("taskset -c 1", lambda _: pin(1), None, "only one cpu"),
    ("quota of half a cpu", lambda _: quota_group(0.5), None, "a quota of 0.50 cpus"),
    ("no huge pages", no_huge_pages, None, None),
]


def read_peak(pid):
    """Peak resident bytes of the program; 0 before it is running. Not what wait4 says: that counts this script's
    process before it becomes the program."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            status = file.read()
    except OSError:
        return 0
    peak = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    return int(peak[1]) * 1024 if peak and status.startswith("Name:\tblackjack") else 0


def run_under(limit, program, effort):
    """Exit status, what was said, seconds, peak bytes, the profile."""
    with tempfile.TemporaryDirectory(prefix="bj-limits-") as folder:
        path, said_path = os.path.join(folder, "p.json"), os.path.join(folder, "said")
        start = time.monotonic()
        with open(said_path, "wb") as said:
            child = subprocess.Popen([program, "run", "cache", "--effort", effort, "-o", path], stderr=said,
                                     stdin=subprocess.DEVNULL, preexec_fn=limit.enter)
            deadline = start + PATIENCE_S
            peak = 0
            while child.poll() is None:
                peak = max(peak, read_peak(child.pid))
                if time.monotonic() > deadline:
                    child.kill()
                time.sleep(0.005)
        with open(said_path, encoding="utf-8") as said:
            text = said.read()
        profile = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                profile = json.load(file)
        return child.returncode, text, time.monotonic() - start, peak, profile


def show_answer(profile, key):
    answer = profile.get("characteristics", {}).get(key)
    if answer is None:
        return "-"
    if "value" not in answer:
        return answer["status"]
    value = answer["value"] / 1024 if key.endswith("_bytes") else answer["value"]
    return f"{value:.4g}" + ("" if answer["status"] == "ok" else f" {answer['status']}")


def judge(name, status, peak, may_use, warning, said, profile):
    """What is wrong with a run."""
    if name == "no huge pages" and profile.get("environment", {}).get("huge_pages") not in ("never", "none"):
        yield "the profile speaks of huge pages"
    if status != 0:
        yield f"exit status {status}: {said.strip().splitlines()[-1:]}"
    if may_use is not None and peak > may_use / 4:
        yield "more than a quarter"
    if warning is not None and warning not in said:
        yield "no warning in the terminal"
    if warning is not None and not any(warning in text for text in profile["environment"]["warnings"]):
        yield "no warning in the profile"
    levels = profile.get("characteristics", {}).get("cache.levels", {})
    if "value" not in levels and not re.search(r"\S", levels.get("reason", "")):
        yield "neither levels nor a reason"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "blackjack"))
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--only", action="append", help="a limit of the table; may be repeated")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    print(f"{'limit':22} {'exit':>4} {'s':>5} {'MiB':>6} {'of':>6} {'levels':>7} {'L1 KiB':>8} {'L2 KiB':>14}  remarks")
    bad = 0
    for name, set_up, may_use, warning in CASES:
        if options.only and name not in options.only:
            continue
        try:
            with set_up(program) as limit:
                status, said, seconds, peak, profile = run_under(limit, program, options.effort)
        except (CannotSetUp, subprocess.SubprocessError) as error:
            print(f"{name:22} could not be set up: {error}")
            continue
        wrong = list(judge(name, status, peak, may_use, warning, said, profile))
        bad += bool(wrong)
        quarter = f"{may_use / 4 / MIB:.1f}" if may_use else "-"
        remarks = "; ".join(wrong) or ("warned" if warning else "")
        print(f"{name:22} {status:4} {seconds:5.1f} {peak / MIB:6.1f} {quarter:>6} "
              f"{show_answer(profile, 'cache.levels'):>7} {show_answer(profile, 'cache.L1.size_bytes'):>8} "
              f"{show_answer(profile, 'cache.L2.size_bytes'):>14}  {remarks}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
