#!/usr/bin/env python3
"""Execution contexts and scheduler slot against what the system itself counts, and under limits.

usage: sched.py [--program build/blackjack] [--runs 3] [--effort normal] [--only slot|NAME]...

The slot: while the probe runs, /proc/<pid>/task/<tid>/schedstat of its threads is read a few times a second; the time
that they ran by the number of slices that they ran for is the witness, and the answer must be within 10% of it. A
machine on which others work has shorter slices than slots: wait until it is quiet. The contexts: on all cpus, on one,
and under quotas and a limit of threads that control groups set (which needs root; they are undone). Exits with 1 when
something is not as it should be; what could not be set up is named.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from limits import CannotSetUp, Group, Plain, ROOT, pin, quota_group  # noqa: E402

PATIENCE_S = 120
READ_EVERY_S = 0.1
TOLERANCE = 0.1
KINDS = ("int", "fp", "memory")


def few_threads(count):
    return Group("pids", {1: {"pids.max": str(count)}, 2: {"pids.max": str(count)}})


def read_slices(pid, seen):
    """Keeps the last that each thread's schedstat said: ns run, slices. The first thread only waits."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        if int(thread) == pid:
            continue
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as file:
                ran, _, slices = map(int, file.read().split())
        except (OSError, ValueError):
            continue
        seen[thread] = ran, slices


def run(program, arguments, limit, watch=False):
    """Exit status, last line said, seconds, and the slices of the threads if they are watched."""
    start = time.monotonic()
    seen = {}
    child = subprocess.Popen([program, "run", *arguments], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                             preexec_fn=limit.enter)
    while watch and child.poll() is None and time.monotonic() - start < PATIENCE_S:
        time.sleep(READ_EVERY_S)
        read_slices(child.pid, seen)
    try:
        _, said = child.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        _, said = child.communicate()
    return child.returncode, said.strip().split("\n")[-1], time.monotonic() - start, seen


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["characteristics"]
    except (OSError, ValueError):
        return {}


def show(answer):
    if answer.get("value") is None:
        return f"{answer.get('status', 'absent')}: {answer.get('reason', '')}"
    span = " to ".join(f"{end:g}" for end in answer.get("interval", []))
    return f"{answer['value']:.4g} ({span}) {answer['confidence']}" + \
        ("" if answer["status"] == "ok" else f", {answer['status']}: {answer['reason']}")


def check_slot(program, effort, folder):
    path = os.path.join(folder, "slot.json")
    free = Plain(lambda: None)
    run(program, ["contexts", "--effort", effort, "--force", "-o", path, "-q"], free)
    status, said, seconds, seen = run(program, ["slot", "--effort", effort, "--resume", "-o", path, "-q"], free, True)
    answer = load(path).get("scheduler.slot_ms", {})
    slices = sum(count for _, count in seen.values())
    if status != 0 or not answer.get("value") or not slices:
        print(f"slot: exit status {status}, {said}, {show(answer)}")
        return False
    witness = sum(ran for ran, _ in seen.values()) / slices * 1e-6
    off = answer["value"] / witness - 1
    print(f"slot: {show(answer)} ms in {seconds:.1f} s; {slices} slices of {len(seen)} threads last {witness:.3f} ms: "
          f"{100 * off:+.1f}%", flush=True)
    return abs(off) <= TOLERANCE


# Name, how it is set up, contexts that may be answered (None: a reason instead of an answer is expected).
def cases():
    cpus = len(os.sched_getaffinity(0))
    return [
        ("all cpus", lambda: Plain(lambda: None), {cpus}),
        ("taskset -c 0", lambda: pin(0), {1}),
        ("quota of 1 cpu", lambda: quota_group(1), {1}),
        ("quota of 1.5 cpus", lambda: quota_group(1.5), {1}),
        ("quota of half a cpu", lambda: quota_group(0.5), {1}),
        ("two threads at most", lambda: few_threads(2), None),
    ]


def is_right(answer, expected):
    if expected is None:
        return answer.get("value") is None and bool(answer.get("reason"))
    said_why = answer.get("status") == "unstable" and answer.get("reason", "").startswith("throttled")
    return answer.get("value") in expected or said_why


def check_contexts(program, effort, folder, name, set_up, expected):
    path = os.path.join(folder, "contexts.json")
    try:
        with set_up() as limit:
            status, said, seconds, _ = run(program, ["contexts", "--effort", effort, "--force", "-o", path, "-q"], limit)
    except (CannotSetUp, subprocess.SubprocessError) as error:
        print(f"{name}: could not be set up: {error}")
        return True
    answers = load(path)
    right = True
    for kind in KINDS:
        answer = answers.get("contexts." + kind, {})
        good = is_right(answer, expected)
        right = right and good
        print(f"{name}: {kind:6} {show(answer)}{'' if good else '   WRONG'}")
    print(f"{name}: {seconds:.1f} s, exit status {status}" + (f": {said}" if status else ""), flush=True)
    return right and status in ((0,) if expected is not None else (0, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "blackjack"))
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--runs", type=int, default=3, help="of the slot")
    parser.add_argument("--only", action="append", help="slot, or a limit; may be repeated")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="bj-sched-") as folder:
        if not options.only or "slot" in options.only:
            bad += sum(not check_slot(program, options.effort, folder) for _ in range(options.runs))
        for name, set_up, expected in cases():
            if not options.only or name in options.only:
                bad += not check_contexts(program, options.effort, folder, name, set_up, expected)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
