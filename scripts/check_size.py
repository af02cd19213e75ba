#!/usr/bin/env python3
"""Counts the lines of each room, and names the files and functions that are too long.

usage: check_size.py [ROOT] [--max-file N] [--max-function N] [--max-total N] [--max-probes N] | --self-test
Prints a table of the rooms of src/ and of include/, then "file:line: reason" for each file and function over its limit,
and exits with 1 when there is any. Lines are what wc -l counts, comments and blank ones among them; a function is
counted from its first line to its closing brace. Relies on clang-format's layout: what stands outside of any function
begins in column 0, and so does the brace that ends one.
"""

import argparse
import re
import sys
from pathlib import Path

import tree_self_test
from check_includes import room_of, strip_comments_and_texts

PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)


def count_lines(text):
    return text.count("\n")


def functions_in(source):
    """(first line, lines, name) of each function."""
    text = strip_comments_and_texts(source)
    text = PREPROCESSOR.sub(lambda match: "\n" * match.group(0).count("\n"), text)
    head = None  # first line of what begins outside of any function, and its text so far
    inside = None  # the same of the function whose end is awaited
    for number, line in enumerate(text.split("\n"), 1):
        if inside:
            if line.startswith("}"):
                yield inside[0], number - inside[0] + 1, name_of(inside[1])
                inside = None
            continue
        if re.match(r"\w", line):
            head = (number, "")
        if head:
            head = (head[0], head[1] + line + " ")
            if line.rstrip().endswith("{"):
                inside = head if is_function(head[1]) else None
                head = None
            elif not line.strip() or line.rstrip().endswith((";", "}")):
                head = None


def is_function(head):
    return "(" in head and "=" not in head and not re.match(r"(?:typedef|struct|enum|union)\b[^(]*\{", head)


def name_of(head):
    return re.search(r"(\w+)\s*\(", head).group(1)


def label_of(path):
    """The room of a path relative to the root: a row of the table."""
    if path.parts[0] != "src":
        return path.parts[0]
    return "src/" + (room_of("/".join(path.parts[1:])) or "")


def check_tree(root, limits):
    """Lines and longest file of each room, in order; all breaches as lines of text."""
    rooms, found = {}, []
    for path in sorted([*root.glob("src/**/*"), *root.glob("include/**/*")]):
        if not path.is_file():
            continue
        source = path.read_text(encoding="utf-8")
        relative = path.relative_to(root)
        lines = count_lines(source)
        row = rooms.setdefault(label_of(relative), {"files": 0, "lines": 0, "longest": 0})
        row["files"] += 1
        row["lines"] += lines
        row["longest"] = max(row["longest"], lines)
        if lines > limits.max_file:
            found.append(f"{relative}:{limits.max_file + 1}: {lines} lines, at most {limits.max_file}")
        if path.suffix in (".c", ".h"):
            for first, length, name in functions_in(source):
                if length > limits.max_function:
                    found.append(f"{relative}:{first}: {name} has {length} lines, at most {limits.max_function}")
    for what, prefix, limit in (("all rooms", "", limits.max_total), ("src/probes", "src/probes", limits.max_probes)):
        lines = sum_lines(rooms, prefix)
        if limit is not None and lines > limit:
            found.append(f"{what}: {lines} lines, at most {limit}")
    return rooms, found


def sum_lines(rooms, prefix):
    return sum(row["lines"] for name, row in rooms.items() if name.startswith(prefix))


def print_table(rooms):
    print(f"{'room':<28} {'files':>6} {'lines':>7} {'longest':>8}")
    for name, row in sorted(rooms.items()):
        print(f"{name:<28} {row['files']:>6} {row['lines']:>7} {row['longest']:>8}")
    print(f"{'all of src/probes':<28} {'':>6} {sum_lines(rooms, 'src/probes'):>7}")
    print(f"{'all':<28} {sum(row['files'] for row in rooms.values()):>6} {sum_lines(rooms, ''):>7}")


GOOD_TREE = {
    "src/base/a.h": "/* one\n two */\nint f(int a);\n",
    "src/base/a.c": "static const int table[] = {\n    1,\n    2,\n    3,\n    4,\n    5,\n    6,\n};\n",
    "src/base/b.c": "typedef struct {\n    int a;\n    int b;\n    int c;\n    int d;\n    int e;\n} many;\n",
    "src/base/c.c": "#define G(x) \\\nint g_##x(void) { \\\n    return 1; \\\n} \\\nstruct s\nG(one);\n",
    "src/probes/cache/d.c": "int f(int a,\n      int b) {\n    if (a) {\n        b++;\n    }\n}\n",
    "src/probes/cache/e.c": "\nint h(void) {\n    return '{';\n}\n",
    "include/blackjack/e.h": "int f(int a);\n",
}
GOOD_ROOMS = {"src/base": 24, "src/probes/cache": 10, "include": 1}

# file, its text, how the complaint begins, a part of it
BAD_FILES = [
    ("src/base/z.c", "\n" * 9, "src/base/z.c:9: ", "9 lines, at most 8"),
    ("include/z.h", "\n" * 9, "include/z.h:9: ", "9 lines, at most 8"),
    ("src/base/z.c", "\nint f(int a) {\n\n\n\n\n\n}\n", "src/base/z.c:2: ", "f has 7 lines, at most 6"),
    ("src/base/z.c", "int *const\ng(int a, /* { */\n  int b) {\n    x = (y){\n        1};\n\n\n}\n", "src/base/z.c:2: ",
     "g has 7 lines"),
    ("src/base/z.h", "static inline struct s *g(void) {\n    a;\n    b;\n    {\n    }\n    c;\n}\n", "src/base/z.h:1: ",
     "g has 7 lines"),
    ("src/probes/kit/z.c", "\n\n\n", "src/probes: ", "13 lines, at most 12"),
    ("src/base/z.c", "\n" * 8, "all rooms: ", "43 lines, at most 42"),
]


def self_test():
    limits = argparse.Namespace(max_file=8, max_function=6, max_total=42, max_probes=12)

    def check(root):
        rooms, found = check_tree(root, limits)
        lines = {name: row["lines"] for name, row in rooms.items()}
        # A breach has more lines than the good tree.
        return found if found or lines == GOOD_ROOMS else [f"the rooms are {lines}"]

    return tree_self_test.self_test("check_size", GOOD_TREE, BAD_FILES, check, alone=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--max-file", type=int, default=450, help="lines of a file (%(default)s)")
    parser.add_argument("--max-function", type=int, default=60, help="lines of a function (%(default)s)")
    parser.add_argument("--max-total", type=int, help="lines of src/ and include/ (any)")
    parser.add_argument("--max-probes", type=int, help="lines of src/probes/ (any)")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if not (arguments.root / "src").is_dir():
        print(f"check_size: {arguments.root}/src is not there", file=sys.stderr)
        return 2
    rooms, found = check_tree(arguments.root, arguments)
    print_table(rooms)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
