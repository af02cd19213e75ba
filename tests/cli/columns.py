#!/usr/bin/env python3
"""Commands in a terminal of 80 columns: no line of them may be wider.

usage: columns.py BLACKJACK SOURCE_DIR
"""

import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

COLUMNS = 80
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def run(words, folder):
    """Status, and the lines that stood in the terminal at some time."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    environment = {**os.environ, "HOME": str(folder), "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    for name in ("BLACKJACK_PROFILE", "XDG_DATA_HOME", "COLUMNS"):
        environment.pop(name, None)
    child = subprocess.Popen(words, stdin=end, stdout=end, stderr=end, cwd=folder, env=environment)
    os.close(end)
    output = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # nobody has the other end any more
            break
        if not part:
            break
        output += part
    os.close(terminal)
    return child.wait(), re.split(r"[\r\n]+", ESCAPE.sub("", output.decode("utf-8", "replace")))


def main(blackjack, source):
    here = pathlib.Path(source) / "tests" / "cli"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bj-columns-"))
    names = ("profile", "multicore_profile", "emit_profile", "diagnose_profile")
    for name in names:
        (folder / f"{name}.json").write_bytes((here / f"{name}.json").read_bytes())
    load = pathlib.Path(source) / "examples" / "microfission" / "fused.json"
    machine = f"sim:{source}/machines/core2_duo.json"
    cases = [(["show", f"{name}.json"], 0) for name in names]
    cases += [(["compare", "profile.json", "multicore_profile.json"], 1), (["compare", "profile.json", "profile.json"], 0)]
    cases += [(["compare", "--table", *(f"{name}.json" for name in names), "--keys", keys], 0)
              for keys in ("topology.*,memory.*,cache.*.sharing", "cache.*")]
    cases += [(["emit", word, "profile.json", "-o", "/dev/null"], None) for word in
              ("c-header", "json", "openmetrics", "gcc-params", "blis", "hwloc-xml", "omp-places", "rankfile")]
    cases += [(["contribute", "profile.json", "-o", "/dev/null"], 0), (["get", "cache.levels"], 2),
              (["get", "profile.json", "no.such.key"], 2), (["get", "profile.json", "cache.levels", "no-such-field"], 2),
              (["analyze", "op", "nothing.csv"], 2), (["diagnose"], 2), (["list", "--keys"], 0), (["help", "compare"], 0),
              (["run", "clock", "--machine", machine, "--effort", "quick", "-o", "fresh.json"], 0),
              (["verify", "fresh.json", "--machine", machine], None),
              (["diagnose", "--machine", machine, "--load", str(load), "--profile", "diagnose_profile.json"], None)]
    failures = 0
    for words, wanted in cases:
        status, lines = run([blackjack, *words], folder)
        # A word that is longer than a line, such as a path, stays whole.
        wide = [line for line in lines if len(line) > COLUMNS and max(map(len, line.split())) <= COLUMNS - 2]
        if status < 0 or wanted not in (None, status) or wide:
            print(f"FAILED: {' '.join(words)}: status {status}, wider than {COLUMNS} columns: {wide[:3]}")
            failures += 1
    plain = subprocess.run([blackjack, "get", "cache.levels"], cwd=folder, env={"HOME": str(folder)}, capture_output=True,
                           text=True, check=False)
    if plain.stderr.count("\n") != 1:
        print(f"FAILED: a message to no terminal has several lines: {plain.stderr}")
        failures += 1
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
