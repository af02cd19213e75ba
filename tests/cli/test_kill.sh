#!/bin/sh
# Some runs killed at random moments lose nothing; bench/kill.py does it by the hundred, with all probes. Here with those that
# are quick to simulate: what is killed is the journal and the run, whatever is measured.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
# A sanitized or emulated run is six times slower and more.
runs=15
[ -z "${BJ_SANITIZERS:-}${BJ_EMULATED:-}" ] || runs=4
exec python3 "$2/bench/kill.py" --program "$1" --runs "$runs" --machine no_l3 --seeds 1 \
    --probe clock --probe page --probe op --probe live --probe vector --probe contexts --probe slot --probe timer
