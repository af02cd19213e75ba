#!/bin/sh
# run --cc: another compiler builds the kernels in a folder that is gone afterwards, and trouble is one line.
. "$(dirname "$0")/lib.sh"
mkdir tmp 'with blank'
TMPDIR=$scratch/tmp
export TMPDIR

nothing_left() {
    [ -z "$(ls -A tmp)" ] || complain "left in TMPDIR: $(ls -A tmp)"
}

# refused TEXT COMMAND...: one line with the text, status 2, no profile.
refused() {
    text=$1
    shift
    expect 2 run live -q -o p.json --cc "$@"
    one_line_error
    err_has "$text"
    [ -e p.json ] && complain "a profile in spite of --cc $1"
    nothing_left
}

printf '#!/bin/sh\necho "some words" >&2\necho "k.c:1:2: error: it is broken" >&2\nexit 1\n' >'with blank/bad cc'
printf '#!/bin/sh\nsleep 60\n' >slow
# Takes an empty file, but nothing of ours.
printf '#!/bin/sh\ncase "$*" in *empty.c*) exit 0 ;; esac\necho "error: not these" >&2\nexit 1\n' >picky
printf '#!/bin/sh\nexit 0\n' >lazy
chmod +x 'with blank/bad cc' slow picky lazy

refused "no-such-compiler cannot be started" "no-such-compiler -O2"
refused "false failed" false
refused "k.c:1:2: error: it is broken" "'$scratch/with blank/bad cc' -O2"
refused "k.c:1:2: error: it is broken" "\"$scratch/with blank/bad cc\" -O2"
refused "k.c:1:2: error: it is broken" "$scratch/with\\ blank/bad\\ cc -DX='a b'"
refused "cannot be started" "$scratch/with blank/bad cc"
refused "error: not these" "$scratch/picky"
refused "cannot be loaded" "$scratch/lazy"
refused "k.c:1:2: error: it is broken" '"$TMPDIR/../with blank/bad cc"'
refused "quote is not closed" "gcc '-O2"
refused "outside quotes" "gcc -O2 | tee log"
refused "a variable is not set" 'gcc $NO_SUCH_VARIABLE'
refused "expected a compiler" " "
refused "simulated" gcc --machine "sim:$machine"
expect 2 run cache --cc gcc -q -o p.json
one_line_error
err_has "op, live and vector"
TMPDIR=$scratch/nowhere "$blackjack" run live --cc gcc -q -o p.json >out 2>err
[ $? -ge 2 ] || complain "no folder to work in"
one_line_error

# Interrupted while it waits for the compiler.
"$blackjack" run live --cc "$scratch/slow" -q -o p.json >out 2>err &
pid=$!
i=0
while [ -z "$(ls -A tmp)" ] && [ $i -lt 100 ]; do
    sleep 0.1
    i=$((i + 1))
done
kill -TERM $pid
wait $pid
[ $? -eq 130 ] || complain "interrupted: not 130"
nothing_left
finish
