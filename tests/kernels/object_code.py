#!/usr/bin/env python3
"""Whether kernels became the vector instructions that they are meant to be: counts them in the object code.

usage: object_code.py ARCHITECTURE --objdump COMMAND --objects FOLDER
       object_code.py ARCHITECTURE --objdump COMMAND --compiler COMMAND --flags FLAGS --source FOLDER --generated FOLDER
       object_code.py --self-test

The first looks at a build's own objects, the second compiles some sources with another compiler and the project's flags.
A chain of A streams and S steps must hold exactly A * S instructions of each of its operations, whole vectors and no more;
a block of a stream eight loads or stores of the widest registers; and an architecture, or a compiler, without a width must
have no kernels for it. Ends with 0, with 1 and a line for each breach, or with 77 where compiler or objdump is missing.
"""

import argparse
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Vector types in the generated kernels: name, bytes, "float" or "double".
TYPES = [(f"{element}x{lanes}", lanes * size, element)
         for element, size in (("float", 4), ("double", 8)) for lanes in (16 // size, 32 // size, 64 // size)]

STEP_OPERATIONS = ("add", "sub", "mul", "div", "sqrt", "fma")
STREAM_BLOCK = 8


def x86_patterns(size, element):
    end, register = ("ps" if element == "float" else "pd"), {16: "%xmm", 32: "%ymm", 64: "%zmm"}[size]
    patterns = {name: rf"^v?{name}{end}\s.*{register}" for name in ("add", "sub", "mul", "div", "sqrt")}
    patterns["fma"] = rf"^vfmadd\d+{end}\s.*{register}"
    move = r"^v?mov(?:[au]p[sd]|dq[au]\d*)\s+"
    return {**patterns, "load": rf"{move}[^,]*\([^)]*\),{register}", "store": rf"{move}{register}\d+,.*\("}


def neon_patterns(element):
    lanes = "4s" if element == "float" else "2d"
    patterns = {name: rf"^f{name}\s+v\d+\.{lanes}" for name in ("add", "sub", "mul", "div", "sqrt")}
    return {**patterns, "fma": rf"^fmla\s+v\d+\.{lanes}", "load": r"^ld(?:r|ur|p)\s+q", "store": r"^st(?:r|ur|p)\s+q"}


def sve_patterns(element):
    lane = "s" if element == "float" else "d"
    patterns = {name: rf"^f{name}r?\s+z\d+\.{lane}" for name in ("add", "sub", "mul", "div", "sqrt")}
    return {**patterns, "fma": rf"^fm(?:ad|la)\s+z\d+\.{lane}", "load": r"^ld1[bwd]\s+\{", "store": r"^st1[bwd]\s+\{"}


def vsx_patterns(element):
    end = "sp" if element == "float" else "dp"
    patterns = {name: rf"^xv{name}{end}\s" for name in ("add", "sub", "mul", "div", "sqrt")}
    return {**patterns, "fma": rf"^(?:xvmadd[am]{end}|vmaddfp)\s", "load": r"^(?:lxvd2x|lxvx?|lvx)\s",
            "store": r"^(?:stxvd2x|stxvx?|stvx)\s"}


def z_patterns(element):
    end = "sb" if element == "float" else "db"
    letters = {"add": "a", "sub": "s", "mul": "m", "div": "d", "sqrt": "sq", "fma": "ma"}
    return {**{name: rf"^vf{letter}{end}\s" for name, letter in letters.items()}, "load": r"^vl\s", "store": r"^vst\s"}


def arm_patterns():
    patterns = {name: rf"^v{name}\.f32\s+q" for name in ("add", "sub", "mul", "fma")}
    return {**patterns, "load": r"^vld1\.", "store": r"^vst1\."}


def rvv_patterns():
    patterns = {name: rf"^vf{name}\.vv\s" for name in ("add", "sub", "mul", "div")}
    return {**patterns, "sqrt": r"^vfsqrt\.v\s", "fma": r"^vfm(?:add|acc)\.vv\s", "load": r"^vle64\.v\s",
            "store": r"^vse64\.v\s"}


def patterns_of(architecture, size, element):
    """Regular expressions of a vector type's operations; None: the architecture has no such vectors."""
    if architecture in ("x86_64", "i386"):
        return x86_patterns(size, element)
    if architecture == "aarch64":
        return neon_patterns(element) if size == 16 else sve_patterns(element)
    if architecture == "riscv64+v":
        return rvv_patterns()
    if size != 16:
        return None
    return {"ppc64le": vsx_patterns, "s390x": z_patterns, "arm": lambda _: arm_patterns() if _ == "float" else None,
            "riscv64": lambda _: None}[architecture](element)


X86_STREAM = {"load": r"^v?movdq[au]\d*\s+[^,]*\([^)]*\),{0}|^v?mov[au]p[sd]\s+[^,]*\([^)]*\),{0}",
              "store": r"^v?movdq[au]\d*\s+{0}\d+,|^v?mov[au]p[sd]\s+{0}\d+,", "past": r"^v?movnt(?:dq|p[sd])\s+{0}"}


def x86_streams():
    kinds = (("plain", "%xmm"), ("avx2", "%ymm"), ("avx512", "%zmm"))
    return {name: {kind: text.replace("{0}", register) for kind, text in X86_STREAM.items()} for name, register in kinds}


def with_moves(patterns, past=None):
    return {"load": patterns["load"], "store": patterns["store"], "past": past}


# Of each architecture: kinds of streams; past None: there are no stores past the caches.
STREAMS = {
    "x86_64": x86_streams(),
    "i386": x86_streams(),
    "aarch64": {"plain": with_moves(neon_patterns("double")), "sve": with_moves(sve_patterns("double"), r"^stnt1b\s")},
    "ppc64le": {"plain": with_moves(vsx_patterns("double"))},
    "s390x": {"vx": with_moves(z_patterns("double"))},
    "arm": {"neon": with_moves(arm_patterns())},
    # Eight registers by one instruction.
    "riscv64+v": {"rvv": with_moves(rvv_patterns())},
    # Two registers of numbers for sixteen bytes.
    "riscv64": {"plain": {"load": r"^ld\s", "store": r"^sd\s", "past": None}},
}
BLOCK = {"riscv64+v": 1, "riscv64": 2 * STREAM_BLOCK}
DROP_LINE = {"x86_64": r"^clflush\s", "i386": r"^clflush\s", "ppc64le": r"^dcbf\s"}
NAMES = {"amd64": "x86_64", "i486": "i386", "i586": "i386", "i686": "i386", "arm64": "aarch64", "armv7": "arm",
         "armv7l": "arm", "armhf": "arm", "ppc64el": "ppc64le"}


def read_functions(text):
    """{name: instructions} of what `objdump -dr` prints; relocations stand among the instructions as they come."""
    functions, current = {}, []
    for line in text.split("\n"):
        head = re.match(r"^[0-9a-f]+ <([^>]+)>:$", line)
        if head:
            # Labels inside a function, which RISC-V has, begin no other.
            if not head.group(1).startswith(".L"):
                current = functions.setdefault(head.group(1), [])
            continue
        words = line.split("\t", 1)
        if len(words) == 2:
            current.append(re.sub(r"\s+", " ", words[1].strip()))
    return functions


def count(pattern, instructions):
    """Of a pair of registers, which AArch64 moves by one instruction, each counts."""
    return sum(2 if line[:5] in ("ldp q", "stp q") else 1 for line in instructions if re.search(pattern, line))


def check_chains(architecture, functions, expected):
    """Breaches among the vector chains of `functions`, and (chains, instructions) that were counted."""
    wrong, chains, counted, seen = [], 0, 0, set()
    for name, instructions in functions.items():
        match = re.fullmatch(r"op_((?:float|double)x\d+)_([a-z_]+)_(\d+)_(\d+)", name)
        if not match:
            continue
        _, size, element = next(known for known in TYPES if known[0] == match.group(1))
        patterns = patterns_of(architecture, size, element)
        if patterns is None:
            wrong.append(f"{name}: this architecture has no such vectors, so what is it?")
            continue
        steps = int(match.group(3)) * int(match.group(4))
        for operation in match.group(2).split("_"):
            found = count(patterns[operation], instructions)
            is_right = found == steps if operation in STEP_OPERATIONS else found >= steps
            if not is_right:
                wrong.append(f"{name}: {found} vector instructions of {operation} where {steps} belong")
            counted += found
        seen.add(match.group(1))
        chains += 1
    for name, size, element in TYPES:
        if name in expected and name not in seen and patterns_of(architecture, size, element) is not None:
            wrong.append(f"{name}: no chains of such vectors")
    return wrong, chains, counted


def check_live(architecture, functions):
    """Every one of K live vectors is added to equally often."""
    wrong = []
    for name, instructions in functions.items():
        match = re.fullmatch(r"live_((?:float|double)x\d+)(?:_vl)?_(\d+)", name)
        if not match:
            continue
        _, size, element = next(known for known in TYPES if known[0] == match.group(1))
        patterns, variables = patterns_of(architecture, size, element), int(match.group(2))
        found = count(patterns["add"], instructions) if patterns else 0
        if found == 0 or found % variables != 0:
            wrong.append(f"{name}: {found} vector additions, which is no multiple of {variables}")
    return wrong


def check_streams(architecture, functions):
    wrong, checked = [], 0
    least = BLOCK.get(architecture, STREAM_BLOCK)
    for name, moves in STREAMS[architecture].items():
        wanted = {f"{name}_read": ["load"], f"{name}_write": ["store"], f"{name}_copy": ["load", "store"]}
        if moves["past"]:
            wanted.update({f"{name}_write_past": ["past"], f"{name}_copy_past": ["load", "past"]})
        for function, kinds in wanted.items():
            instructions = functions.get(function)
            if instructions is None:
                wrong.append(f"{function}: is not there")
                continue
            for kind in kinds:
                found = count(moves[kind], instructions)
                if found < least:
                    wrong.append(f"{function}: {found} of the widest {kind}s where a block has {least}")
            if count(r"\bmem(?:cpy|set|move)\b", instructions):
                wrong.append(f"{function}: calls the C library")
            checked += 1
    drops = count(DROP_LINE.get(architecture, r"^$"), functions.get("bj_kernel_drop_lines", []))
    if architecture in DROP_LINE and drops == 0:
        wrong.append("bj_kernel_drop_lines: drops no lines")
    return wrong, checked


def check(architecture, functions, expected):
    wrong, chains, counted = check_chains(architecture, functions, expected)
    more, streams = check_streams(architecture, functions)
    wrong += more + check_live(architecture, functions)
    for line in wrong[:20]:
        print(f"{architecture}: {line}")
    if len(wrong) > 20:
        print(f"{architecture}: and {len(wrong) - 20} more")
    print(f"{architecture}: {streams} streams and {chains} chains of vectors with {counted} vector instructions, "
          f"{len(wrong)} breaches")
    return 1 if wrong else 0


def disassemble(objdump, objects):
    functions = {}
    for path in objects:
        done = subprocess.run([*shlex.split(objdump), "-dr", "--no-show-raw-insn", str(path)], check=True,
                              capture_output=True, text=True)
        functions.update(read_functions(done.stdout))
    return functions


# What is compiled for another architecture: one of each kind of registers, since all of them take a minute.
SAMPLES = {"aarch64": ["floatx4", "doublex4"], "ppc64le": ["doublex2"], "s390x": ["floatx4", "doublex2"],
           "arm": ["floatx4", "doublex2"], "i386": ["doublex4"], "x86_64": ["doublex4"], "riscv64": ["doublex2"],
           "riscv64+v": ["floatx4"]}


def compile_samples(arguments, folder):
    source, generated = Path(arguments.source), Path(arguments.generated)
    files = [source / "src/kernels" / name for name in ("stream.c", "stream_long.c", "drop_lines.c")]
    files += [generated / f"op_{name}.c" for name in SAMPLES[arguments.architecture]]
    objects = []
    for path in files:
        objects.append(Path(folder) / f"{path.stem}.o")
        words = [*shlex.split(arguments.compiler), "-std=c11", "-D_GNU_SOURCE", f"-I{source}/src", "-Wall", "-Wextra",
                 "-Werror", *shlex.split(arguments.flags), "-c", str(path), "-o", str(objects[-1])]
        subprocess.run(words, check=True)
    return objects


def has_headers(arguments):
    """Whether the compiler finds the C library's headers: Debian packs those of another architecture apart."""
    words = [*shlex.split(arguments.compiler), *shlex.split(arguments.flags), "-fsyntax-only", "-xc", "-"]
    return subprocess.run(words, input="#include <stdint.h>\n#include <string.h>\n", text=True, check=False,
                          capture_output=True).returncode == 0


def self_test():
    """What is scalar, halved, doubled or left out is a breach."""
    good = {"op_doublex2_add_2_4": ["fadd v0.2d, v0.2d, v2.2d"] * 8, "op_doublex2_load_1_2": ["ldp q0, q1, [x0]"]}
    bad = [{"op_doublex2_add_2_4": ["fadd d0, d0, d2"] * 16}, {"op_doublex2_add_2_4": ["fadd v0.2d, v0.2d, v2.2d"] * 7},
           {"op_doublex2_add_2_4": ["fadd v0.2d, v0.2d, v2.2d"] * 16}, {"op_doublex2_load_1_2": ["ldr q0, [x0]"]}, {}]
    wrong = [f"{case}: passes" for case in bad if not check_chains("aarch64", case, ["doublex2"])[0]]
    wrong += check_chains("aarch64", good, ["doublex2"])[0]
    if not check_chains("riscv64", good, [])[0]:
        wrong.append("vectors of an architecture without any: pass")
    text = "0000000000000000 <f>:\n   0:\tld\ta0,0(a1)\n\n0000000000000004 <.L2>:\n   4:\tret\n"
    if read_functions(text) != {"f": ["ld a0,0(a1)", "ret"]}:
        wrong.append(f"{read_functions(text)}: is not what was disassembled")
    streams = {f"vx_{name}": ["vl %v0,0(%r1),3", "vst %v0,0(%r1),3"] * 8 for name in ("read", "write", "copy")}
    if check_streams("s390x", streams)[0]:
        wrong.append("good streams do not pass")
    if not check_streams("s390x", {**streams, "vx_copy": ["mvc 0(256,%r1),0(%r2)"]})[0]:
        wrong.append("a stream without vectors passes")
    for line in wrong:
        print(f"self-test: {line}")
    print(f"object_code: self-test, {len(wrong)} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("architecture", nargs="?")
    for name in ("objdump", "objects", "compiler", "flags", "source", "generated"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    arguments.architecture = NAMES.get(arguments.architecture, arguments.architecture)
    if arguments.architecture not in STREAMS:
        print(f"skipped: nothing is known of {arguments.architecture}'s instructions")
        return 77
    for command in (arguments.objdump, arguments.compiler):
        if command and not shutil.which(shlex.split(command)[0]):
            print(f"skipped: {shlex.split(command)[0].removesuffix('-NOTFOUND')} is not here")
            return 77
    if arguments.objects:
        objects = sorted(Path(arguments.objects).rglob("*.o"))
        return check(arguments.architecture, disassemble(arguments.objdump, objects), [name for name, _, _ in TYPES])
    if not has_headers(arguments):
        print(f"skipped: {shlex.split(arguments.compiler)[0]} has no headers of a C library")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        functions = disassemble(arguments.objdump, compile_samples(arguments, folder))
        return check(arguments.architecture, functions, SAMPLES[arguments.architecture])


if __name__ == "__main__":
    sys.exit(main())
