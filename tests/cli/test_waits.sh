#!/bin/sh
# Every wait ends: clocks that stand still, files that never have anything, runs that are asked to stop.
. "$(dirname "$0")/lib.sh"
has timeout || skip "no timeout"
tests=$(dirname "$blackjack")/tests

# A clock that cannot be measured by is told at once.
refuses_clock() {
    # Into the program alone: tools of another word size would complain.
    timeout -k 1 30 env "CLOCK_STEP_NS=$step" "LD_PRELOAD=$tests/odd_clock.so" "$@" >out 2>err
    status=$?
    [ $status -eq 3 ] || complain "$*: a clock of steps of $step ns: exit status $status"
    err_has "the clock"
}
if [ -z "${BJ_SANITIZERS:-}" ] && [ -e "$tests/odd_clock.so" ]; then
    cp "$here/profile.json" p.json
    comm=$(dirname "$blackjack")/blackjack-comm
    has cc && printf '#include <stddef.h>\ndouble f(size_t n, void *const *operands) { (void)operands; return (double)n; }\n' >f.c &&
        cc -shared -fPIC -o f.so f.c
    for step in 0 10000000; do
        refuses_clock "$blackjack" run clock cache -q --budget 5 -o new.json
        one_line_error
        refuses_clock "$blackjack" diagnose -- true
        one_line_error
        if [ -e f.so ] && [ -z "${BJ_EMULATED:-}" ]; then
            refuses_clock "$blackjack" time ./f.so:f -q --n 10 --profile p.json
            one_line_error
        fi
        if "$comm" --help >/dev/null 2>&1; then
            refuses_clock "$comm" -o new.json --force --effort quick --budget 5
        fi
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
