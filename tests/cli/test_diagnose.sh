#!/bin/sh
# Diagnosing simulated loads, the fission example on the paper's Ranger, and what is said of commands that cannot be timed.
. "$(dirname "$0")/lib.sh"

ranger="--machine sim:$source_dir/machines/barcelona.json --profile $here/diagnose_profile.json"

# load NAME TEXT: a load file.
load() {
    printf '{"format": "blackjack-load/1", "name": "%s", %s}\n' "$1" "$2" >"$1.json"
}
load none '"compute_ns": 5000'
load cache '"compute_ns": 5000, "reuse": {"bytes": 2000000, "accesses": 1000}'
load bandwidth '"compute_ns": 1000, "stream": {"arrays": 1, "bytes": 65536}'
load dram_rows '"compute_ns": 15000, "stream": {"arrays": 32, "bytes": 65536}'
for kind in none cache bandwidth dram_rows; do
    # shellcheck disable=SC2086 # words
    expect 0 diagnose $ranger --load $kind.json --json
    out_has "\"resource\": \"$kind\""
    grep -q '"confidence": "low"' out && grep -A1 '"resource"' out | grep -q '"confidence": "low"' && complain "$kind: low"
    has python3 && { python3 "$here/validate_profile.py" "$source_dir/docs/diagnosis.schema.json" out || complain "$kind: not by the schema"; }
    cp out $kind.out
    expect 0 diagnose $ranger --load $kind.json --json
    cmp -s out $kind.out || complain "$kind: not the same twice"
done
expect 0 diagnose $ranger --load dram_rows.json --flops 1e9 --bytes 1e9 --loads 1e8 --density 1,4
out_has "dram_rows, confidence"
out_has "flops a cycle"
out_has "loads a cycle"
[ "$(awk '{ if (length($0) > 80) n++ } END { print n + 0 }' out)" -eq 0 ] || complain "lines beyond 80 columns"
sed '/op.load.throughput/d' "$here/diagnose_profile.json" >no_loads.json
expect 0 diagnose --machine "sim:$source_dir/machines/barcelona.json" --profile no_loads.json --load dram_rows.json --density 1,4 --effort quick
out_has " 2.00 flops (double), - loads"
# One copy over several chips: at a density of 4 all its cpus are on one.
expect 0 diagnose $ranger --load bandwidth.json --strong --effort quick --json
out_has '"scaling": "strong"'

# A load with threads is one copy, on no more cores than it has threads; --weak gives each core a copy all the same.
load threads '"threads": 2, "compute_ns": 1000, "stream": {"arrays": 1, "bytes": 65536}'
expect 0 diagnose $ranger --load threads.json --effort quick
out_has ": 2 cores of one chip of 4"
out_has "one copy on as many cpus at every density"
out_has "No second witness: no hardware counters, a simulated machine has none"
expect 0 diagnose $ranger --load threads.json --effort quick --weak
out_has ": 4 cores of one chip of 4"
out_has "a copy on each"
# Microfission: at one core nothing is gained, with all four time falls by a quarter and more, and rows are hit.
if has python3; then
    for form in fused fissioned; do
        expect 0 diagnose $ranger --load "$source_dir/examples/microfission/$form.json" --json
        cp out $form.out
    done
    python3 - <<'PY' || complain "fission moves otherwise than in the paper"
import json
a, b = ({d["cpus"]: d for d in json.load(open(f"{form}.out"))["densities"]} for form in ("fused", "fissioned"))
ratio = {n: b[n]["seconds"]["value"] / a[n]["seconds"]["value"] for n in a}
assert 0.95 < ratio[1] < 1.1, ratio
assert ratio[4] < 0.75, ratio
assert a[4]["row_hits"] < 0.2 and b[4]["row_hits"] > 0.5, (a, b)
PY
fi

# What is asked for wrongly.
expect 2 diagnose
one_line_error
expect 2 diagnose $ranger
one_line_error
err_has "--load FILE is needed"
expect 2 diagnose $ranger --load none.json -- true
one_line_error
expect 2 diagnose --load none.json -- true
one_line_error
expect 2 diagnose $ranger --load none.json --density 4,2
one_line_error
err_has "numbers of cores that rise"
expect 2 diagnose $ranger --load none.json --density 5
one_line_error
expect 2 diagnose $ranger --load none.json --weak --strong
one_line_error
printf '{"format": "blackjack-load/1", "name": "x"}' >empty.json
expect 2 diagnose $ranger --load empty.json
one_line_error
err_has "a load that does something"
printf '{"format": "blackjack-load/1", "name": "x", "compute_ns": 1, "speed": 3}' >odd.json
expect 2 diagnose $ranger --load odd.json
one_line_error
expect 2 diagnose $ranger --load nowhere.json
one_line_error

# Commands on this machine. A profile by hand, so that nothing is measured first.
printf '%s' '{"format": "blackjack-profile/1", "characteristics": {"cache.L2.size_bytes": {"value": 1048576, "unit": "bytes",
    "status": "ok"}}}' >here.json
[ "$(nproc)" -ge 2 ] || finish "one cpu: nothing to diagnose here"
quick="--profile here.json --effort quick"
# shellcheck disable=SC2086
{
    expect 1 diagnose $quick -- false
    one_line_error
    err_has "false failed with status 1"
    expect 1 diagnose $quick -- sh -c 'echo no such input >&2; exit 3'
    one_line_error
    err_has "sh failed with status 3: no such input"
    expect 1 diagnose $quick -- sh -c 'kill -SEGV $$'
    one_line_error
    err_has "a segmentation fault"
    expect 1 diagnose $quick -- ./none
    one_line_error
    err_has "could not be started: No such file or directory"
    expect 1 diagnose $quick -- true
    one_line_error
    err_has "too short to be timed"
    expect 1 diagnose $quick --limit 0.3 -- sleep 77.$$
    one_line_error
    err_has "was not done within 0.3 s"
    expect 1 diagnose $quick -- sh -c "sleep 77.$$ & sleep 0.1"
    one_line_error
    err_has "left processes running"
    # One that leaves its group is seen only where it becomes a child of ours.
    if [ -n "${BJ_EMULATED:-}" ]; then
        left_out "a process that leaves its group: qemu-user has no PR_SET_CHILD_SUBREAPER"
    elif has setsid; then
        expect 1 diagnose $quick -- setsid --fork sleep 77.$$
        one_line_error
        err_has "left processes running"
    fi
}
# running WORD: how many processes have it among their words; others than ours may be called sleep.
running() {
    count=0
    for folder in /proc/[0-9]*; do
        { tr '\0' ' ' <"$folder/cmdline"; } 2>/dev/null | grep -qF -e "$1" && count=$((count + 1))
    done
    echo $count
}
[ "$(running "sleep 77.$$")" -eq 0 ] || complain "a process was left running"

# A profile of another machine: refused, or left aside where nobody named it.
printf '%s' '{"format": "blackjack-profile/1", "environment": {"cpu": "another cpu"}, "characteristics": {
    "cache.L2.size_bytes": {"value": 1048576, "unit": "bytes", "status": "ok"}}}' >other.json
expect 2 diagnose --profile other.json -- false
one_line_error
err_has "is of another machine"
BLACKJACK_PROFILE=$PWD/other.json
export BLACKJACK_PROFILE
begin diagnose --effort quick -- sleep 0.1
tries=0
until grep -q "measuring its caches" err || [ $tries -ge 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
kill -INT $child
wait $child
[ $? -eq 130 ] || complain "interrupted: exit status $?"
unset BLACKJACK_PROFILE
err_has "warning: $PWD/other.json: is of another machine"

# What a shell put into the background before it became us is none of ours.
# shellcheck disable=SC2016,SC2086 # of the shell inside; words
sh -c 'sleep "$1" & echo $! >former; shift; exec "$@"' sh 79.$$ "$blackjack" diagnose $quick -- \
    sh -c "sleep 77.$$ & sleep 0.1" >out 2>err </dev/null
one_line_error
err_has "left processes running"
[ "$(running "sleep 77.$$")" -eq 0 ] || complain "a process was left running"
kill "$(cat former)" || complain "a process of somebody else was ended"

# Started by somebody who waits for no child: we do.
if env --ignore-signal=CHLD true 2>/dev/null; then
    # shellcheck disable=SC2086
    env --ignore-signal=CHLD "$blackjack" diagnose $quick --limit 3 -- sh -c 'sleep 0.1; exit 5' >out 2>err </dev/null
    one_line_error
    err_has "sh failed with status 5"
fi

# Interrupted, and killed: neither the command nor an antagonist goes on.
for signal in INT KILL; do
    # shellcheck disable=SC2086
    begin diagnose $quick -- sh -c "sleep 78.$$; :"
    tries=0
    while [ "$(running "sleep 78.$$")" -eq 0 ] && [ $tries -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -$signal $child
    wait $child
    status=$?
    [ $signal = KILL ] || [ $status -eq 130 ] || complain "interrupted: exit status $status"
    tries=0
    while [ "$(running "78.$$")" -gt 0 ] && [ $tries -lt 30 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    [ "$(running "78.$$")" -eq 0 ] || complain "something goes on after SIG$signal"
done

# Variants: each is built and timed, and the best at full density is there in the end.
printf '#!/bin/sh\nsleep 0.05\n' >fast.sh
printf '#!/bin/sh\nsleep 0.12\n' >slow.sh
# shellcheck disable=SC2086
expect 0 diagnose $quick --budget 3 --json --make 'cp slow.sh it.sh' --make 'cp fast.sh it.sh' -- sh ./it.sh
out_has '"make": "cp slow.sh it.sh"'
err_has "the budget ended after"
cmp -s it.sh fast.sh || complain "not the fastest was built last"
[ "$(grep -c '"make"' out)" -eq 2 ] || complain "two variants expected"
# Bytes that are not UTF-8 become one letter each.
odd=$(printf 'odd\377.sh')
cp fast.sh "$odd"
# shellcheck disable=SC2086
expect 0 diagnose $quick --budget 1 --json --make "cp $odd it.sh" -- sh ./it.sh
out_has "\"make\": \"cp odd$(printf '\357\277\275').sh it.sh\""
expect 1 diagnose $quick --make false -- sh ./it.sh
one_line_error
finish
