#!/usr/bin/env python3
"""Terminals and readers that go away or get stuck in the middle of a run.

usage: hang_up.py BLACKJACK SOURCE_DIR, in a folder that may be written. Prints what is wrong; exits with 1 when
anything is.
"""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time

PATIENCE_S = 60
failures = []


def complain(case, text):
    failures.append(case)
    print(f"FAILED: {case}: {text}", file=sys.stderr)


def probes_in(path):
    with open(path, encoding="utf-8") as file:
        return set(json.load(file)["probes"])


def wait_for_clock(path):
    """Until the first probe is in the file; False: it never came."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if os.path.exists(path) and "clock" in probes_in(path):
            return True
        time.sleep(0.01)
    return False


def start(command, path, **streams):
    if os.path.exists(path):
        os.unlink(path)
    return subprocess.Popen([*command, "-o", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            env={**os.environ, "TERM": "xterm"}, **streams)


def take_terminal():
    os.setsid()
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)


def main(blackjack, source):
    command = [blackjack, "run", "cache", "--machine", f"sim:{source}/machines/atom.json", "--effort", "quick"]
    long_run = [*command[:-1], "thorough"]

    case = "the terminal is closed"
    terminal, end = pty.openpty()
    child = start(long_run, "p.json", stderr=end, preexec_fn=take_terminal)
    os.close(end)
    if not wait_for_clock("p.json"):
        complain(case, "no answer came")
    os.close(terminal)
    status = child.wait(PATIENCE_S)
    if status != 130:
        complain(case, f"status {status}")
    if probes_in("p.json") != {"clock"}:
        complain(case, f"kept {probes_in('p.json')}")

    case = "the terminal is closed, started with nohup"
    terminal, end = pty.openpty()
    child = start(command, "p.json", stderr=end,
                  preexec_fn=lambda: (take_terminal(), signal.signal(signal.SIGHUP, signal.SIG_IGN)))
    os.close(end)
    if not wait_for_clock("p.json"):
        complain(case, "no answer came")
    os.close(terminal)
    status = child.wait(PATIENCE_S)
    if status != 0 or probes_in("p.json") != {"clock", "cache"}:
        complain(case, f"status {status}, kept {probes_in('p.json')}")

    case = "the terminal is held with Ctrl-S"
    terminal, end = pty.openpty()
    child = start(command, "p.json", stderr=end)
    termios.tcflow(end, termios.TCOOFF)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if child.returncode != 0:
            complain(case, f"status {child.returncode}: the run stood still")
    finally:
        termios.tcflow(end, termios.TCOON)
        os.close(end)
        os.close(terminal)
    child.wait(PATIENCE_S)

    case = "a full pipe that nobody reads, and an interrupt"
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while os.write(writer, b"x" * 4096):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(writer, True)
    child = subprocess.Popen([blackjack, "run", "clock", *command[3:], "--quiet", "-o", "-"], stdin=subprocess.DEVNULL,
                             stdout=writer)
    os.close(writer)
    time.sleep(1)
    if child.poll() is not None:
        complain(case, "did not wait for its reader")
    child.send_signal(signal.SIGINT)
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        complain(case, "an interrupt did not end it")
        child.kill()
        child.wait()
    os.close(reader)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
