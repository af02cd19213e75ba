#!/bin/sh
# Some runs killed at random moments lose nothing; bench/kill.py does it by the hundred.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$2/bench/kill.py" --program "$1" --runs 15 --machine no_l3 --seeds 1
