#!/bin/sh
# A signal ends the run with status 130, and the profile holds what was done.
. "$(dirname "$0")/lib.sh"

for signal in INT TERM HUP; do
    rm -f p.json
    "$blackjack" run --machine "sim:$source_dir/machines/zen3.json" --effort thorough -o p.json >out 2>err &
    child=$!
    tries=0
    until grep -q 'cache (2 of 2): begins' err 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -gt 300 ] && break
        sleep 0.1
    done
    kill -$signal $child
    wait $child
    status=$?
    [ $status -eq 130 ] || complain "SIG$signal: exit status $status"
    err_has "interrupted"
    valid p.json
    expect 0 get p.json cpu.clock_ghz
    expect 2 get p.json cache.levels
done
# Ready to go on, from the very file.
expect 0 run clock --machine "sim:$source_dir/machines/zen3.json" --resume -o p.json
grep -q begins err && complain "--resume measured the clock again"
finish
