#!/bin/sh
# Nothing in a file or its name moves a terminal's cursor or turns the direction of text, whatever command prints it.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
[ -z "${BJ_SANITIZERS:-}" ] || { echo "skipped: a sanitizer sees no more of what is printed"; exit 77; }
exec python3 -B "$2/tests/cli/escapes.py" "$1" "$2"
