#!/usr/bin/env python3
"""Writes docs/man/blackjack*.1.in from what `blackjack help` prints; with --check, says which of them are out of date.

usage: make_manual.py [--check] PROGRAM
The pages are committed, so that neither a build nor a cross-build has to run the program. CMake fills in version and
date. What is not in the help, such as files and environment, is the text of the main page below.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "man"
OTHER = "blackjack-comm.1.in"  # of a program of its own, written by hand after its --help
OPTION = re.compile(r"^  (?:-(\w), |    )--([\w-]+)(?: (\S+))?  +(.*)$")
NAMED = re.compile(r"^  ([a-z][\w-]*)  +(.*)$")

HEAD = """.\\" Made by scripts/make_manual.py.
.TH {upper} 1 "@BJ_DATE@" "blackjackbench @PROJECT_VERSION@" "User Commands"
.SH NAME
{name} \\- {summary}
.SH SYNOPSIS
"""

MAIN = """.B blackjack
\\fICOMMAND\\fP [\\fIARGUMENTS\\fP...]
.br
.B blackjack \\-\\-version
.SH DESCRIPTION
Measures caches, TLBs, memory and the like by timing portable C alone, without root or hardware counters.
Answers are values with an interval and a confidence, or the reason why there is no answer.
The answers of a run are its profile, a file that the other commands read.
.SH COMMANDS
{commands}.SH OPTIONS
.TP
\\fB\\-\\-version\\fP
the version, and exit
.TP
\\fB\\-h\\fP, \\fB\\-\\-help\\fP
the commands, or what a command takes
.SH EXIT STATUS
0 done; 1 an answer is not there, or something differs; 2 wrong usage or bad input; 3 no permission or resource;
130 interrupted.
The pages of the commands say more.
.SH ENVIRONMENT
.TP
.B BLACKJACK_PROFILE
the default profile
.TP
.B NO_COLOR
set and not empty: no colours
.SH FILES
.TP
.I blackjack\\-profile.json
where a run writes its profile, unless another file is named, and where commands look for one;
.BR blackjack\\-profile (5)
says where else
.SH SEE ALSO
{pages}.BR libblackjack (3),
.BR blackjack\\-profile (5)
"""


def ask(program, *words):
    return subprocess.run([program, "help", *words], check=True, capture_output=True, text=True).stdout


def roff(text):
    """Dashes that can be copied, no escapes, no requests at the start of a line."""
    return re.sub(r"^(?=[.'])", r"\\&", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.M)


def head(name, summary):
    return HEAD.format(upper=name.upper(), name=roff(name), summary=roff(summary[0].lower() + summary[1:]))


def synopsis(text):
    """Words in capitals are what the user puts in."""
    return re.sub(r"[A-Z]{2,}|\b[A-Z]\b", r"\\fI\g<0>\\fP", roff(text))


def join(text):
    """Meanings that the help breaks into lines of a terminal, each in one line again."""
    return re.sub(r"\n {8,}", " ", text)


def paragraph(text):
    """A paragraph of a help text: options, a list of names with their meanings, or prose."""
    lines = join(text).splitlines()
    if all(OPTION.match(line) for line in lines):
        parts = [".SH OPTIONS"]
        for letter, name, argument, meaning in (OPTION.match(line).groups() for line in lines):
            parts += [".TP", (f"\\fB\\-{letter}\\fP, " if letter else "") + f"\\fB\\-\\-{roff(name)}\\fP"
                      + (f" \\fI{argument}\\fP" if argument else ""), roff(meaning)]
        return "\n".join(parts) + "\n"
    if all(NAMED.match(line) for line in lines):
        return "".join(f".TP\n.B {roff(name)}\n{roff(meaning)}\n" for name, meaning in
                       (NAMED.match(line).groups() for line in lines))
    return f".PP\n{roff(text)}\n"


def command_page(name, text):
    usage, summary, *rest = text.strip("\n").split("\n\n")
    forms = re.split(rf"^(?:usage:| +) blackjack {name}\b", usage, flags=re.M)[1:]
    forms = [synopsis(re.sub(r"\n +", "\n", form.strip())) for form in forms]
    parts = [paragraph(part) for part in rest]
    parts.sort(key=lambda part: part.startswith(".SH OPTIONS"))
    return (head(f"blackjack-{name}", summary.removesuffix("."))
            + ".br\n".join(f".B blackjack {name}\n{form}\n" for form in forms)
            + f".SH DESCRIPTION\n{roff(summary)}\n" + "".join(parts)
            + ".SH SEE ALSO\n.BR blackjack (1),\n.BR blackjack\\-profile (5)\n")


def main_page(commands):
    names = "".join(f".TP\n.BR blackjack\\-{name} (1)\n{roff(meaning)}\n" for name, meaning in commands)
    return head("blackjack", "Finds out by timing what this machine effectively gives a C program") + MAIN.format(
        commands=names, pages="".join(f".BR blackjack\\-{name} (1),\n" for name, _ in commands))


def main(words):
    check, program = "--check" in words, words[-1]
    commands = [match.groups() for match in map(NAMED.match, join(ask(program)).splitlines()) if match]
    pages = {f"blackjack-{name}.1.in": command_page(name, ask(program, name)) for name, _ in commands}
    pages["blackjack.1.in"] = main_page(commands)
    wrong = 0
    for path in sorted({*(FOLDER / name for name in pages), *FOLDER.glob("blackjack*.1.in")} - {FOLDER / OTHER}):
        page = pages.get(path.name)
        if page == (path.read_text() if path.exists() else None):
            continue
        wrong += 1
        if check:
            print(f"{path}: out of date; 'cmake --build build --target manual' renews it")
        elif page is None:
            path.unlink()
        else:
            path.write_text(page)
    return check and wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
