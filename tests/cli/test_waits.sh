#!/bin/sh
# Every wait ends: clocks that stand still, files that never have anything, runs that are asked to stop.
. "$(dirname "$0")/lib.sh"
has timeout || skip "no timeout"
tests=$(dirname "$blackjack")/tests

# A clock that cannot be measured by is told at once.
if [ -z "${BJ_SANITIZERS:-}" ] && [ -e "$tests/odd_clock.so" ]; then
    for step in 0 10000000; do
        # Into the program alone: tools of another word size would complain.
        timeout -k 1 30 env "CLOCK_STEP_NS=$step" "LD_PRELOAD=$tests/odd_clock.so" "$blackjack" run clock cache -q \
            --budget 5 -o p.json >out 2>err
        status=$?
        [ $status -eq 3 ] || complain "a clock of steps of $step ns: exit status $status"
        one_line_error
        err_has "the clock"
    done
fi

# Files that may block for ever.
for file in /proc/kmsg /dev/kmsg; do
    [ -r $file ] || continue
    timeout -k 1 10 "$blackjack" show $file >out 2>err
    status=$?
    [ $status -le 3 ] || complain "show $file: exit status $status"
done

# Within a second of the signal, wherever the run is.
"$blackjack" run -q --effort thorough -o stop.json >out 2>err &
child=$!
sleep 1
begin=$(date +%s%N)
kill -TERM $child
wait $child
status=$?
took=$(($(date +%s%N) - begin))
[ $status -eq 130 ] || complain "SIGTERM: exit status $status"
[ $took -lt 1900000000 ] || [ -n "${BJ_SANITIZERS:-}" ] || complain "SIGTERM was heeded after $((took / 1000000)) ms"
err_has "interrupted"
finish
