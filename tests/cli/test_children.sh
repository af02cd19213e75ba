#!/bin/sh
# What we start does not outlive us, however we end, and is given names that are names.
. "$(dirname "$0")/lib.sh"

# A compiler that takes its time.
cat >slow <<'END'
#!/bin/sh
echo $$ >>"$SLOW_PIDS"
sleep 60
END
chmod +x slow
SLOW_PIDS=$scratch/pids
TMPDIR=$scratch/temporary
export SLOW_PIDS TMPDIR
mkdir temporary
"$blackjack" run op -q --cc "$scratch/slow" -o p.json >out 2>err &
child=$!
tries=0
until [ -s pids ] || [ $tries -gt 200 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
[ -s pids ] || complain "the compiler was not started"
kill -KILL $child
wait $child 2>/dev/null
tries=0
while { [ -n "$(ls temporary)" ] || kill -0 $(head -n 1 pids); } 2>/dev/null && [ $tries -lt 100 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
[ -z "$(ls temporary)" ] || complain "SIGKILL left the folder: $(ls temporary)"
kill -0 $(head -n 1 pids) 2>/dev/null && complain "SIGKILL left the compiler"

# SIGINT that was ignored when we began stays ignored.
sh -c 'trap "" INT; exec "$0" run clock cache -q --machine "sim:$1" --effort normal -o ignored.json' "$blackjack" "$machine" \
    >out 2>err &
child=$!
sleep 0.3
kill -INT $child 2>/dev/null
wait $child
status=$?
[ $status -eq 0 ] || complain "SIGINT that was ignored: exit status $status"

# A folder whose name looks like an option.
if has cc && [ -z "${BJ_SANITIZERS:-}${BJ_CROSS_BUILT:-}" ]; then
    mkdir -- -dash
    printf '#include <stddef.h>\ndouble f(size_t n, void *const *operands) { (void)operands; return (double)n; }\n' >f.c
    TMPDIR=-dash "$blackjack" time f.c:f -q --n 10 --profile "$here/profile.json" >out 2>err
    status=$?
    grep -q 'unrecognized\|unknown' err && complain "TMPDIR=-dash was taken for an option"
    [ $status -le 1 ] || complain "TMPDIR=-dash: exit status $status"
    [ -z "$(ls -- -dash)" ] || complain "something was left in -dash"
    cp f.c ./-f.c
    "$blackjack" time -q --n 10 --profile "$here/profile.json" -- -f.c:f >out 2>err
    status=$?
    [ $status -le 1 ] || complain "a source whose name begins like an option: exit status $status"
fi

# Text that turns its direction is shown as what it is, and CMake gets no variables to fill in.
printf '{"format": "blackjack-profile/1", "environment": {"cpu": "abc\342\200\256def"}, "characteristics": {"x.y": ' >odd.json
printf '{"value": 5, "unit": "ns", "status": "ok", "confidence": "high", "method": "@HOME@"}, "x.z": ' >>odd.json
printf '{"value": ["@HOME@ ${HOME} \302\23331m"], "unit": "", "status": "ok"}}}\n' >>odd.json
"$blackjack" show odd.json >out 2>err
grep -q "$(printf '\342\200\256')" out && complain "a control of direction was printed"
for format in sh cmake; do
    "$blackjack" emit $format odd.json >out 2>err || complain "emit $format"
    grep -q "$(printf '\302\233')" out && complain "emit $format: a control of two bytes"
    grep -q 'u009b31m' out || complain "emit $format: the text is not there"
done
grep -v '^#' out | grep '@HOME@' | grep -qv '\\@HOME\\@' && complain "a variable for CMake to fill in"
finish
