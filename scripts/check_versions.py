#!/usr/bin/env python3
"""Checks that version, soname and the names of exported functions are the same wherever they stand.

usage: check_versions.py [ROOT] | --self-test
Prints "file: reason" for each breach and exits with 1 when there is any. CMakeLists.txt has the version, cmake/library.cmake
the number of the interface, cmake/libblackjack.map the functions; CHANGELOG.md, debian/ and packaging/ follow.
"""
import re
import shutil
import sys
import tempfile
from pathlib import Path


def find(root, path, pattern, flags=re.M):
    match = re.search(pattern, (root / path).read_text(encoding="utf-8"), flags)
    return match.group(1) if match else None


def read_map(root):
    """(function, node) as the linker's map has them, with the nodes themselves."""
    found, node = set(), None
    for line in (root / "cmake/libblackjack.map").read_text(encoding="utf-8").split("\n"):
        begin = re.match(r"(BLACKJACK_[0-9.]+) \{", line)
        if begin:
            node = begin.group(1)
            found.add((node, node))
        name = re.match(r"\s+(bj_lib_\w+);", line)
        if name:
            found.add((name.group(1), node))
    return found


def check_versions(root):
    version = find(root, "CMakeLists.txt", r"^project\(blackjackbench VERSION ([0-9.]+)")
    places = {
        "CHANGELOG.md": r"^## \[([0-9.]+)\]",
        "debian/changelog": r"\Ablackjackbench \(([0-9.]+)\)",
        "packaging/rpm/blackjackbench.spec": r"^Version:\s+([0-9.]+)$",
        "packaging/spack/package.py": r'^    version\("([0-9.]+)"\)$',
    }
    for path, pattern in places.items():
        found = find(root, path, pattern)
        if found != version:
            yield f"{path}: version {found}, CMakeLists.txt has {version}"
    logged = find(root, "packaging/rpm/blackjackbench.spec", r"^%changelog\n\* .* - ([0-9.]+)-\d+$")
    if logged != version:
        yield f"packaging/rpm/blackjackbench.spec: newest of its changelog is {logged}, CMakeLists.txt has {version}"
    day = find(root, "CHANGELOG.md", r"^## \[[0-9.]+\] - ([0-9-]+)")
    told = find(root, "CMakeLists.txt", r'^set\(BJ_DATE "([0-9-]+)"')
    if day != told:
        yield f"CMakeLists.txt: BJ_DATE {told}, CHANGELOG.md has {day}"


def check_soname(root):
    number = find(root, "cmake/library.cmake", r"^set\(BJ_ABI (\d+)\)")
    name = f"libblackjack{number}"
    if not re.search(rf"^Package: {name}$", (root / "debian/control").read_text(encoding="utf-8"), re.M):
        yield f"debian/control: no package {name}, which is the soname's"
    if not re.search(rf"^%package -n {name}$", (root / "packaging/rpm/blackjackbench.spec").read_text(encoding="utf-8"), re.M):
        yield f"packaging/rpm/blackjackbench.spec: no package {name}, which is the soname's"
    symbols = root / f"debian/{name}.symbols"
    if not symbols.is_file():
        yield f"debian/{name}.symbols: is not there"
        return
    lines = symbols.read_text(encoding="utf-8").split("\n")
    if not lines[0].startswith(f"libblackjack.so.{number} {name} "):
        yield f"debian/{name}.symbols: begins with another library"
    listed = {tuple(line.split()[0].split("@")) for line in lines[1:] if line.startswith(" ")}
    wanted = read_map(root)
    for symbol, node in sorted(wanted - listed):
        yield f"debian/{name}.symbols: {symbol}@{node} of the map is not there"
    for symbol, node in sorted(listed - wanted):
        yield f"debian/{name}.symbols: {symbol}@{node} is not in the map"


def check_tree(root):
    return list(check_versions(root)) + list(check_soname(root))


# Each is one slip, and what must be said of it.
SLIPS = (
    ("CMakeLists.txt", r"(VERSION )[0-9.]+( LANGUAGES)", r"\g<1>9.8.7\2", "CHANGELOG.md: version"),
    ("debian/changelog", r"\(0[0-9.]+\)", "(9.8.7)", "debian/changelog: version 9.8.7"),
    ("packaging/rpm/blackjackbench.spec", r"^(Version:\s+)[0-9.]+", r"\g<1>9.8.7", "spec: version 9.8.7"),
    ("packaging/spack/package.py", r'version\("[0-9.]+"\)', 'version("9.8.7")', "package.py: version 9.8.7"),
    ("CMakeLists.txt", r'BJ_DATE "[0-9-]+"', 'BJ_DATE "2001-01-01"', "BJ_DATE 2001-01-01"),
    ("cmake/library.cmake", r"BJ_ABI \d+", "BJ_ABI 99", "no package libblackjack99"),
    ("cmake/libblackjack.map", r"bj_lib_version;", "bj_lib_version; \n        bj_lib_fresh;", "bj_lib_fresh@BLACKJACK_1 of the map"),
    ("cmake/libblackjack.map", r"        bj_lib_version;\n", "", "bj_lib_version@BLACKJACK_1 is not in the map"),
)
FILES = ("CMakeLists.txt", "CHANGELOG.md", "cmake/library.cmake", "cmake/libblackjack.map", "debian", "packaging")


def self_test(root):
    failures = check_tree(root)
    for path, pattern, slip, expected in SLIPS:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            for name in FILES:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (root / name).is_dir() else shutil.copy)(root / name, copy / name)
            text = (copy / path).read_text(encoding="utf-8")
            broken = re.sub(pattern, slip, text, count=1, flags=re.M)
            (copy / path).write_text(broken, encoding="utf-8")
            said = check_tree(copy)
            if broken == text or not any(expected in line for line in said):
                failures.append(f"not noticed: {expected}; said {said}")
    return failures


def main():
    words = sys.argv[1:]
    here = Path(__file__).resolve().parent.parent
    found = self_test(here) if words == ["--self-test"] else check_tree(Path(words[0]) if words else here)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
