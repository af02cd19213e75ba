#!/bin/sh
# A signal ends the run with status 130, and the profile holds what was done.
. "$(dirname "$0")/lib.sh"

for signal in INT TERM HUP XCPU; do
    rm -f p.json
    begin run cache --machine "sim:$source_dir/machines/zen3.json" --effort thorough -o p.json
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
    grep -q '"interrupted": true' p.json || complain "the profile does not say that it was interrupted"
    expect 0 get p.json cpu.clock_ghz
    expect 2 get p.json cache.levels
done
# Ready to go on, from the very file.
expect 0 run clock --machine "sim:$source_dir/machines/zen3.json" --resume -o p.json
grep -q 'clock (1 of 1): begins' err && complain "--resume measured the clock again"
err_has "late rounds (3 of 3)"
grep -q '"interrupted"' p.json && complain "all that was asked for is there"

# What --force was to replace is not gone on with: from its first moment on the file is the new run's.
expect 0 run cache -q --machine "sim:$machine" --effort quick -o old.json
"$blackjack" run cache --machine "sim:$machine" --effort thorough --force -o old.json >out 2>err &
child=$!
tries=0
until grep -q 'begins' err 2>/dev/null || [ $tries -gt 300 ]; do
    tries=$((tries + 1))
    sleep 0.02
done
kill -KILL $child
wait $child 2>/dev/null
valid old.json
[ "$("$blackjack" get old.json cache.levels 2>/dev/null)" = "" ] || complain "the answers before --force are still there"
grep -qF '"effort": "thorough"' old.json || complain "the file is not the new run's"
finish
