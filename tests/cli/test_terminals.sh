#!/bin/sh
# Terminals that hang up or are held while a run goes on.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$2/tests/cli/hang_up.py" "$1" "$2"
