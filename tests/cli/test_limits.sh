#!/bin/sh
# Little address space, one cpu, no huge pages: still answers, within a quarter of the memory, and warns. Control groups
# need root: bench/limits.py tries them too.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
[ -z "${BJ_EMULATED:-}" ] || { echo "skipped: an emulator needs more address space itself"; exit 77; }
exec python3 "$2/bench/limits.py" --program "$1" --only "ulimit -v 400000" --only "ulimit -v 150000" \
    --only "taskset -c 0" --only "no huge pages"
