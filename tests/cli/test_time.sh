#!/bin/sh
# time: kernels in C and in shared objects, contexts, sweeps, pairs; what a kernel does wrong is named and the command lives.
. "$(dirname "$0")/lib.sh"
skip_cross_built "the compilers here build for this one"
has cc || skip "no cc"
mkdir tmp
TMPDIR=$scratch/tmp
BLACKJACK_PROFILE=$here/emit_profile.json
export TMPDIR BLACKJACK_PROFILE
cc="cc -O2 -I$source_dir/include"

nothing_left() {
    [ -z "$(ls -A tmp)" ] || complain "left in TMPDIR: $(ls -A tmp)"
}

cat >k.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
double sum(size_t n, void *const *o) {
    const double *x = o[0];
    double s = 0;
    for (size_t i = 0; i < n; i++) s += x[i];
    return s;
}
double shout(size_t n, void *const *o) { printf("not for the output\n"); fflush(stdout); return sum(n, o); }
double crash(size_t n, void *const *o) { return *(volatile double *)(n * 0) + (o == 0); }
double deaf(size_t n, void *const *o) { for (int i = 3; i < 64; i++) close(i); for (volatile size_t i = n; o != 0;) i++; return 0; }
double hang(size_t n, void *const *o) { for (volatile size_t i = n; o != 0;) i++; return 0; }
double leave(size_t n, void *const *o) { exit(3 + (int)(n * 0) + (o == 0)); }
double stop(size_t n, void *const *o) { if (n > 0 || o) abort(); return 0; }
double past(size_t n, void *const *o) { ((double *)o[0])[n] = 1; return 0; }
double gap(size_t n, void *const *o) { ((char *)o[1])[n] = 1; return 0; }
double before(size_t n, void *const *o) { ((double *)o[0])[-1] = n; return 0; }
double grow(size_t n, void *const *o) {
    double *x = o[0];
    for (size_t i = 0; i < n; i++) x[i] *= 1e10;
    return x[0];
}
int wrong(int n) { return n; }
double number = 3;
END
printf 'double broken(size_t n { return 0; }\n' >broken.c

# What is wrong before anything is timed: one line, status 2.
wrong() {
    text=$1
    shift
    expect 2 time "$@"
    one_line_error
    err_has "$text"
    nothing_left
}
wrong "expected FILE.c:SYMBOL" k.c
wrong "gone.c: no such file" gone.c:sum
wrong "broken.c:1" broken.c:broken
wrong "has no function 'none'" k.c:none
wrong "'wrong' has another signature than double wrong(size_t n" k.c:wrong
wrong "'number' has another signature" k.c:number
wrong "no-such-cc cannot be started" k.c:sum --cc no-such-cc
wrong "invalid ELF header" "$here/emit_profile.json:sum"
wrong "expected NAME:BYTES" k.c:sum --operand x
wrong "expected a size such as 8*n" k.c:sum --operand 'x:8*m' --n 1
wrong "expected a size such as 8*n" k.c:sum --operand 'x:8*(n' --n 1
wrong "not below zero" k.c:sum --operand 'x:8-n' --n 10
wrong "expected in, out" k.c:sum --operand x:8:tepid
wrong "more than align" k.c:sum --operand x:8:align=32:misalign=16
wrong "--n or --sweep says" k.c:sum --operand 'x:8*n'
wrong "not both" k.c:sum --n 1 --sweep N=1..2
wrong "N=A..B" k.c:sum --sweep N=9..2
wrong "a list of cold" k.c:sum --context tepid
wrong "not both" k.c:sum --wall --cpu-time
wrong "not both" k.c:sum --json --csv
wrong "wait for one another" k.c:sum --cpu-time --threads 2
wrong "from 3 to" k.c:sum --samples 2

cc -O2 -fPIC -shared k.c -o k.so || skip "cc builds no shared object"
wrong "has no symbol 'none'" k.so:none
wrong "is data, not a function" k.so:number

# What a kernel does: named, status 1, and nothing is left.
fails() {
    text=$1
    kernel=$2
    shift 2
    expect 1 time "k.so:$kernel" --operand 'x:8*n:align=8' --operand 'y:n' --n 99 -q "$@"
    err_has "k.so:$kernel: $text"
    [ "$(wc -l <err)" -eq 1 ] || complain "$kernel: one line expected on standard error"
    out_has failed
    nothing_left
}
fails "was ended by a segmentation fault" crash
fails "did not end within" hang --limit 0.5
fails "did not end within" deaf --limit 0.5
fails "exited with status 3" leave
fails "was ended by abort" stop
fails "touches memory past the end of operand 'x'" past
fails "writes past the end of operand 'y'" gap
fails "writes before the start of operand 'x'" before

# What the child says is looked at: a kernel may write anywhere in there, also what is to be sent.
cat >forge.c <<'END'
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
double forge(size_t n, void *const *o) {
    static char wire[4097];
    (void)o;
    for (int socket = 3; socket < 40; socket++)
        for (int kind = 0; kind < 18 && send(socket, "x", 1, MSG_NOSIGNAL) == 1; kind++)
            for (size_t count = 8; count <= 4096; count += 8) {
                memset(wire + 1, kind < 9 ? 0xff : 'A', count);
                wire[0] = 'm';
                if (kind % 9 < 8) { /* of a kind that there is, status, job and kernel, and then anything */
                    memset(wire + 1, 0, count < 24 ? count : 24);
                    wire[1] = (char)(kind % 9);
                }
                send(socket, wire, 1 + count, MSG_NOSIGNAL);
            }
    return (double)n;
}
END
cc -O2 -fPIC -shared forge.c -o forge.so || complain "forge.c"
for format in "" --json --csv; do
    expect 1 time forge.so:forge -q $format
    err_has "sent nonsense"
    [ "$(wc -l <err)" -eq 1 ] || complain "a forging kernel: one line expected on standard error"
done

# Timings.
expect 0 time k.c:sum --operand 'x:8*n' --n 1000 --cc "$cc"
out_has "kernel"
err_has "flush area"
nothing_left
expect 0 time k.so:shout --operand 'x:8*n' --n 10 --context warm --samples 3 -q --csv
grep -q "not for the output" out && complain "what a kernel prints is among the answers"
[ "$(wc -l <out)" -eq 2 ] || complain "a head and a row expected"
grep -q '^k.so:shout,10,warm,[0-9.]*,[-0-9.]*,[0-9.]*,[a-z]*,[a-z]*,[a-z]*,[0-9]*,3,' out || complain "CSV: $(tail -1 out)"
expect 0 time k.so:sum --operand 'x:8*n' --sweep N=100..350 --context cold,warm --samples 3 -q
out_has "cold/warm"
[ "$(wc -l <out)" -ge 4 ] || complain "100, 200 and 350 expected"
awk 'length > 80' out >long
[ -s long ] && complain "more than 80 columns: $(cat long)"
expect 0 time k.so:sum --operand 'x:8*n' --sweep N=100..300+100 --context warm --samples 3 -q --csv
[ "$(wc -l <out)" -eq 4 ] || complain "100, 200 and 300 expected"
expect 0 time k.so:sum k.so:sum --operand 'x:8*n' --n 1000 --context warm -q
out_has "n = 1000, warm: "
# In a level: a witness. Where the operands do not fit: why.
expect 0 time k.so:sum --operand 'x:8*n:L2' --n 8000 --samples 3 -q --json
out_has '"residency": {"asked": "L2", "seen_ns": '
expect 0 time k.so:sum --operand 'x:8*n:L2' --n 800000 --samples 3 -q
out_has "unsupported"
out_has "no nearer"
expect 0 time k.so:sum --operand 'x:8*n' --n 20000 --threads 2 --samples 3 -q

# Numbers that overflow are slow on some machines.
expect 0 time k.so:grow --operand 'x:8*n:inout' --n 10 --context warm --samples 3 -q
out_has "results overflowed"

if has python3; then
    expect 0 time k.so:sum k.so:shout --operand 'x:8*n' --n 1000 --context cold,warm --samples 3 -q --json
    python3 - <<'END' || complain "JSON"
import json
read = json.load(open("out"))
assert read["format"] == "blackjack-timings/1"
assert len(read["timings"]) == 4 and len(read["pairs"]) == 2
for timing in read["timings"]:
    assert timing["n"] == 1000 and timing["context"] in ("cold", "warm") and timing["calls_per_timing"] >= 1
    time = timing["time_ns"]
    assert time["status"] in ("ok", "unstable") and time["interval"][0] <= time["value"] <= time["interval"][1]
for pair in read["pairs"]:
    assert pair["a"] == "k.so:sum" and pair["b"] == "k.so:shout" and pair["ratio"]["value"] > 0
END
else
    left_out "the JSON: no python3"
fi

# A profile without cache sizes says what to do.
printf '{"format": "blackjack-profile/1", "characteristics": {}}' >bare.json
expect 1 time k.so:sum --profile bare.json -q
one_line_error
err_has "blackjack run cache line"

# Interrupted: 130, and the kernel is gone with its folder.
"$blackjack" time k.so:hang --operand x:8 -q >out 2>err &
pid=$!
i=0
while [ -z "$(ls -A tmp)" ] && [ $i -lt 100 ]; do
    sleep 0.1
    i=$((i + 1))
done
sleep 0.3
kill -TERM $pid
wait $pid
[ $? -eq 130 ] || complain "interrupted: not 130"
nothing_left
finish
