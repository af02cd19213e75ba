"""The self-test of the scripts that check a tree: one that keeps the rules passes, and each breach put into it is found."""

import tempfile
from pathlib import Path


def write_tree(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def self_test(script, good_tree, breaches, check, alone=True):
    """Each breach is (file, its text, how the complaint begins, what it says). `alone`: nothing else may be complained of.
    Returns the exit status."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_tree(root, good_tree)
        for line in check(root):
            print(f"self-test: the good tree gave: {line}")
            wrong += 1
        for name, text, start, reason in breaches:
            write_tree(root, {name: text})
            found = check(root)
            (root / name).unlink()
            write_tree(root, good_tree)
            if not any(line.startswith(start) and reason in line for line in found) or (alone and len(found) != 1):
                print(f"self-test: {name} {text!r}: expected {start!r} {reason!r}; found {found}")
                wrong += 1
    print(f"{script}: self-test, {len(breaches)} breaches, {wrong} wrong")
    return 1 if wrong else 0
