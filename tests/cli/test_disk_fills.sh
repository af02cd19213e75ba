#!/bin/sh
# A disk that becomes full while a run goes on: the journal of what was done before stays. A limit on the size of files
# stands for the disk.
. "$(dirname "$0")/lib.sh"
has prlimit || skip "no prlimit to change a limit of a running process"

sim="--machine sim:$source_dir/machines/atom.json --effort quick"
"$blackjack" run cache $sim -o p.json >out 2>err &
child=$!
tries=0
until grep -q 'clock (1 of 2): done' err || [ $tries -gt 300 ]; do
    tries=$((tries + 1))
    sleep 0.02
done
prlimit --pid $child --fsize=4096 2>/dev/null
wait $child
status=$?
if [ $status -eq 0 ]; then
    left_out "it was done before the limit came"
else
    [ $status -eq 3 ] || complain "full in the middle: exit status $status"
    err_has "p.json: cannot write: "
    err_has "cache was measured and is lost; the file holds what was done before, --resume goes on"
    valid p.json
    expect 0 get p.json cpu.clock_ghz
    expect 2 get p.json cache.levels
    expect 0 run cache -q $sim --resume -o p.json
fi
expect 0 get p.json cache.levels
finish
