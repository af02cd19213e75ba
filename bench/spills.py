#!/usr/bin/env python3
"""Counts the spills in the loops of the live variables' kernels, and says from how many variables on there are any.

    spills.py [--cc "gcc -O2"] [--profile FILE.json] --writer build/write_kernels [--table]

The generated kernels are compiled by the given compiler with the flags that `run --cc` adds, and disassembled by objdump
(x86-64 only). A spill is an instruction inside a loop that touches the stack. One or two a pass are the loop's counter,
which the compiler may keep in memory too: they do not grow with the additions of a pass, and are counted apart.
With a profile the numbers are compared with its live.<type>; exit status 1 unless they agree.
"""
import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

TYPES = ("int32", "int64", "float", "double")
LEAST, MOST = 3, 132
FLAGS = ("-fno-lto -fno-fast-math -fno-tree-vectorize -fno-tree-slp-vectorize -fno-builtin -fno-strict-aliasing "
         "-ffp-contract=off -fno-math-errno").split()
FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+)>:$")
LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
STACK = re.compile(r"\(%r[sb]p\b")


def sweeps(variables):
    """As in src/codegen/codegen.c."""
    return max(2, 128 // variables)


def disassemble(path):
    """name -> [(address, mnemonic, operands)]"""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(path)], capture_output=True, text=True, check=True)
    functions, name = {}, None
    for line in text.stdout.splitlines():
        found = FUNCTION.match(line)
        if found:
            name = found.group(1)
            functions[name] = []
            continue
        found = LINE.match(line)
        if found and name:
            functions[name].append((int(found.group(1), 16), found.group(2), found.group(3)))
    return functions


def loop_of(instructions):
    """The instructions from the target of the last backward jump to that jump."""
    for address, mnemonic, operands in reversed(instructions):
        target = re.match(r"([0-9a-f]+) <", operands)
        if mnemonic.startswith("j") and target and int(target.group(1), 16) <= address:
            start = int(target.group(1), 16)
            return [i for i in instructions if start <= i[0] <= address]
    return []


def is_counter(mnemonic, operands):
    """subq $1,mem or decq mem, also with the counter loaded for it and written back; never an addition of two variables."""
    return mnemonic.startswith(("dec", "sub")) and STACK.search(operands)


def count_spills(instructions):
    touching = [(m, o) for _, m, o in loop_of(instructions) if STACK.search(o)]
    counters = sum(1 for m, o in touching if is_counter(m, o))
    return len(touching) - counters, counters


def compile_types(command, writer, folder):
    subprocess.run([writer, folder], check=True)
    jobs = [(t, subprocess.Popen(shlex.split(command) + FLAGS + ["-w", "-c", f"{folder}/live_{t}.c", "-o",
                                                                  f"{folder}/live_{t}.o"])) for t in TYPES]
    for kind, job in jobs:
        if job.wait() != 0:
            sys.exit(f"spills.py: {command} failed on live_{kind}.c")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cc", default="gcc -O2")
    parser.add_argument("--writer", required=True, help="the build's write_kernels")
    parser.add_argument("--profile", help="to compare with")
    parser.add_argument("--table", action="store_true", help="the counts around the first spill")
    options = parser.parse_args()
    profile = json.loads(Path(options.profile).read_text(encoding="utf-8")) if options.profile else None
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        compile_types(options.cc, options.writer, folder)
        for kind in TYPES:
            functions = disassemble(f"{folder}/live_{kind}.o")
            counts = {k: count_spills(functions[f"live_{kind}_{k}"]) for k in range(LEAST, MOST + 1)}
            # A variable that lives in memory is touched at least once a sweep.
            first = next(k for k in counts if counts[k][0] >= sweeps(k))
            line = f"live.{kind}: {first - 1} without a spill"
            if profile:
                answer = profile["characteristics"][f"live.{kind}"]
                agrees = answer["value"] == first - 1
                wrong += not agrees
                line += f", the profile says {answer['value']} ({answer.get('confidence')}): " + (
                    "the same" if agrees else "DIFFERENT")
            print(line)
            if options.table:
                for k in range(max(LEAST, first - 4), min(MOST, first + 4) + 1):
                    print(f"    {k:3} variables: {counts[k][0]:4} spills and {counts[k][1]} of the counter in "
                          f"{sweeps(k)} sweeps")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
