#!/usr/bin/env python3
"""Checks that the documents name only what exists: paths, links, make targets, commands of the program, probes.

usage: check_docs.py [ROOT] [--program BLACKJACK] | --self-test
Prints "file:line: reason" for each breach and exits with 1 when there is any. Looks at `code in backticks`, at code
blocks (fenced or indented) and at links; prose is free. A path with <placeholder> or … in it is not looked up; one
with * or {a,b} must match something. Commands of the program are looked up in what `BLACKJACK help` prints.
"""

import re
import subprocess
import sys
from pathlib import Path

import tree_self_test

DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/**/*.md", "profiles/*.md"]
FOLDERS = ("src", "docs", "tests", "machines", "bench", "examples", "include", "web", "scripts", "profiles", "packaging", "debian")

PATH = re.compile(
    r"(?<![\w./<>-])(?:\./)?((?:" + "|".join(FOLDERS) + r")/(?:\{[^}\s]*\}|[^\s`'\"|;:()\[\],{}])*)")
INLINE = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
FENCE = re.compile(r"^\s*(```+|~~~+)")
TARGET = re.compile(r"^([A-Za-z][\w.-]*(?:\s+[A-Za-z][\w.-]*)*)\s*:(?!=)", re.M)
PROBE = re.compile(r"^\s*BJ_PROBE\((\w+)\)", re.M)
WORD = re.compile(r"^[a-z][a-z-]*$")
PREFIX_WORDS = ("sudo", "time", "env", "$")


def code_in(text):
    """(line number, code) of every code span and every line of a code block."""
    fence = None
    blank_before = True
    indented = False
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = None if fence else mark.group(1)
            continue
        if fence:
            yield number, line
            continue
        is_indented = line.startswith(("    ", "\t")) and not re.match(r"\s*(?:[-*+]|\d+\.)\s", line)
        indented = is_indented and (indented or blank_before)
        blank_before = not line.strip() or (indented and blank_before)
        if indented:
            yield number, line
        else:
            for span in INLINE.finditer(line):
                yield number, span.group(2)


def expand_braces(path):
    """src/{a,b}/x as src/a/x and src/b/x."""
    group = re.search(r"\{([^}]*)\}", path)
    if not group:
        return [path]
    return [whole for part in group.group(1).split(",")
            for whole in expand_braces(path[:group.start()] + part.strip() + path[group.end():])]


def missing_paths(root, code):
    """The paths named in the code that are not there."""
    for match in PATH.finditer(code):
        path = match.group(1).rstrip(".,")
        if "<" in path or "…" in path or "..." in path:
            continue
        for whole in expand_braces(path):
            if "*" in whole:
                if not any(root.glob(whole)):
                    yield whole
            elif not (root / whole).exists():
                yield whole


def commands_in(code):
    """The words of each shell command in a piece of code; what follows two blanks explains it."""
    for part in re.split(r"&&|\|\||[;|]", re.split(r" #|  |\t", code.strip())[0]):
        words = part.split()
        while words and (words[0] in PREFIX_WORDS or re.match(r"^\w+=", words[0])):
            words.pop(0)
        if words:
            yield words


def unknown_words(code, targets, known_commands):
    """Reasons for make targets and commands of the program that do not exist."""
    for words in commands_in(code):
        if words[0] == "make":
            for word in words[1:]:
                if WORD.match(word) and word not in targets:
                    yield f"make {word}: the Makefile has no such target"
        elif words[0].rpartition("/")[2] == "blackjack" and known_commands is not None and len(words) > 1:
            if WORD.match(words[1]) and words[1] not in known_commands:
                yield f"blackjack {words[1]}: not in what blackjack help prints"


def check_document(root, path, targets, known_commands):
    """(line, reason) for each breach in one document."""
    text = path.read_text(encoding="utf-8")
    for number, code in code_in(text):
        for missing in missing_paths(root, code):
            yield number, f"{missing} is not there"
        for reason in unknown_words(code, targets, known_commands):
            yield number, reason
    for number, line in enumerate(text.split("\n"), 1):
        for link in LINK.finditer(INLINE.sub("", line)):
            target = link.group(1)
            if not re.match(r"^[a-z]+:", target) and not (path.parent / target).exists():
                yield number, f"link to {target}, which is not there"


def read_commands(program):
    """First words of the indented lines that `program help` prints."""
    done = subprocess.run([program, "help"], stdout=subprocess.PIPE, timeout=30, check=True, text=True)
    return {line.split()[0] for line in done.stdout.split("\n") if line.startswith(" ") and line.strip()}


def check_probes(root):
    """Every probe has its page, every page its probe."""
    probe_list = root / "src/probes/probe_list.h"
    if not probe_list.is_file():
        return
    names = PROBE.findall(probe_list.read_text(encoding="utf-8"))
    for name in names:
        if not (root / f"docs/probes/{name}.md").is_file():
            yield f"src/probes/probe_list.h:1: probe {name} has no page docs/probes/{name}.md"
    for page in sorted((root / "docs/probes").glob("*.md")):
        if page.stem not in names:
            yield f"docs/probes/{page.name}:1: there is no probe {page.stem}"


def check_tree(root, known_commands):
    """All breaches below root as lines of text."""
    makefile = root / "Makefile"
    targets = set()
    if makefile.is_file():
        for names in TARGET.findall(makefile.read_text(encoding="utf-8")):
            targets.update(names.split())
    found = []
    for pattern in DOCUMENTS:
        for path in sorted(root.glob(pattern)):
            found += [f"{path.relative_to(root)}:{line}: {reason}"
                      for line, reason in check_document(root, path, targets, known_commands)]
    return found + list(check_probes(root))


GOOD_TREE = {
    "Makefile": "JOBS := 2\nall: build\naccuracy bench: build\nbuild:\n\ttrue\n",
    "src/probes/probe_list.h": "/* One line a probe. */\nBJ_PROBE(clock)\n",
    "docs/probes/clock.md": "The clock.\n",
    "tests/unit/test_a.c": "",
    "README.md": "Use `make build`, or `make bench JOBS=2`; make sure that prose is free, even src/nothing.c.\n"
                 "`src/probes/probe_<name>.c`, `src/probes/`, `tests/unit/test_*.c`, `src/{probes}/probe_list.h:2`,\n"
                 "`blackjack run`, `build/blackjack --version`, `blackjack`, [clock](docs/probes/clock.md#x).\n\n"
                 "    sudo make build && ./build/blackjack run -o FILE   # make nothing\n\n"
                 "```sh\nblackjack get FILE KEY | head\nmake build    the whole of it\n```\n",
}
COMMANDS = {"run", "get", "help"}

# file, its text, the line of the breach, a part of the reason
BAD_FILES = [
    ("ARCHITECTURE.md", "x\n`src/gone.c`\n", 2, "src/gone.c is not there"),
    ("ARCHITECTURE.md", "`./scripts/gone.sh --now`\n", 1, "scripts/gone.sh is not there"),
    ("ARCHITECTURE.md", "`tests/sim/test_*.c`\n", 1, "tests/sim/test_*.c is not there"),
    ("ARCHITECTURE.md", "`src/{probes,gone}/probe_list.h`\n", 1, "src/gone/probe_list.h"),
    ("ARCHITECTURE.md", "```\nblackjack run --machine sim:machines/gone.json\n```\n", 2, "machines/gone.json"),
    ("ARCHITECTURE.md", "x\n\n    cat docs/gone.md\n", 3, "docs/gone.md"),
    ("CONTRIBUTING.md", "`make everything`\n", 1, "make everything"),
    ("CONTRIBUTING.md", "```\nmake build && make nothing\n```\n", 2, "make nothing"),
    ("docs/deep/page.md", "`blackjack dance FILE`\n", 1, "blackjack dance"),
    ("docs/deep/page.md", "[page](../gone.md)\n", 1, "link to ../gone.md"),
    ("docs/probes/gone.md", "x\n", 1, "no probe gone"),
    ("src/probes/probe_list.h", "BJ_PROBE(clock)\nBJ_PROBE(cache)\n", 1, "probe cache has no page"),
]


def self_test():
    breaches = [(name, text, f"{name}:{line}: ", reason) for name, text, line, reason in BAD_FILES]
    return tree_self_test.self_test("check_docs", GOOD_TREE, breaches, lambda root: check_tree(root, COMMANDS))


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    program = None
    if len(arguments) >= 2 and arguments[-2] == "--program":
        program = arguments[-1]
        arguments = arguments[:-2]
    if len(arguments) > 1 or (arguments and arguments[0].startswith("-")):
        print("usage: check_docs.py [ROOT] [--program BLACKJACK] | --self-test", file=sys.stderr)
        return 2
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    found = check_tree(root, read_commands(program) if program else None)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
