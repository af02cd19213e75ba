#!/bin/sh
# Every wait ends: clocks that stand still, files that never have anything, runs that are asked to stop.
. "$(dirname "$0")/lib.sh"
has timeout || skip "no timeout"
tests=$(dirname "$blackjack")/tests

# A clock that cannot be measured by is told at once.
if [ -z "${BJ_SANITIZERS:-}" ] && [ -e "$tests/odd_clock.so" ]; then
    for step in 0 10000000; do
        CLOCK_STEP_NS=$step LD_PRELOAD=$tests/odd_clock.so timeout -k 1 30 "$blackjack" run clock cache -q --budget 5 \
            -o p.json >out 2>err
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

# Named pipes that nobody feeds, also where others than we would open them: the loader, a compiler, make.
mkfifo pipe.so pipe.c
cp "$here/profile.json" p.json
for command in "time ./pipe.so:f --profile p.json" "time pipe.c:f --profile p.json" "tune gemm pipe.c --cc false" \
    "diagnose --machine sim:$machine --profile p.json --load pipe.c" "verify pipe.c" "regions pipe.c" "contribute pipe.c" \
    "compare --table pipe.c p.json" "report pipe.c -o page.html"; do
    # shellcheck disable=SC2086 # words
    timeout -k 1 5 "$blackjack" $command >out 2>err
    status=$?
    [ $status -eq 2 ] || complain "$command: exit status $status"
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
