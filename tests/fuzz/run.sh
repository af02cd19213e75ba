#!/bin/sh
# Runs the fuzzers one after the other: run.sh BUILD_DIR MINUTES [FORMAT...]
#
# MINUTES are shared out among them. What each learns is kept in BUILD_DIR/fuzz/<format>, so the next run goes on from
# there; an input that breaks something is left beside it, and the exit status is 1.
set -eu
here=$(dirname "$0")
build=$1
minutes=$2
shift 2
[ $# -gt 0 ] || set -- $(cd "$here/corpus" && ls)
seconds=$((minutes * 60 / $#))
failed=0
for format in "$@"; do
    work=$build/fuzz/$format
    mkdir -p "$work"
    echo "== $format: $seconds s"
    log=$build/fuzz/$format.log
    # What has no words of its own needs no dictionary.
    words=
    [ ! -e "$here/$format.dict" ] || words=-dict=$here/$format.dict
    # Time is that of the clock: niced on a busy machine, a tenth of a second may take half a minute.
    # A small quarantine: the simulator's address space is freed and taken anew for every input.
    if ! ASAN_OPTIONS=quarantine_size_mb=8 nice -n 19 "$build/tests/fuzz/fuzz_$format" -max_total_time="$seconds" \
        -max_len=16384 -timeout=120 -rss_limit_mb=2048 -print_final_stats=1 ${words:+"$words"} \
        -artifact_prefix="$build/fuzz/$format-" "$work" "$here/corpus/$format" >"$log" 2>&1; then
        failed=1
        echo "$format: a finding; see $log"
        grep -E 'ERROR|broken promise|runtime error|SUMMARY|Test unit written' "$log" || true
    fi
    grep -E '^stat::(number_of_executed_units|average_exec_per_sec|new_units_added|peak_rss_mb)' "$log" || true
done
exit $failed
