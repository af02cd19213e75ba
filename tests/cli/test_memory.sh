#!/bin/sh
# Out of memory at every place where memory is asked for: the right output, or exit status 3 and a line that says so.
# tests/memory/fail.c does it; a further command is a line below.
. "$(dirname "$0")/lib.sh"
[ -z "${BJ_SANITIZERS:-}" ] || skip "a sanitizer brings its own malloc"
fail=$(dirname "$blackjack")/tests/fail_allocations.so
[ -e "$fail" ] || skip "what makes allocations fail was not built"

LC_ALL=C
export LC_ALL
tried=0
# On one cpu commands start no threads: what is forked from one of several lacks the others, and would wait for them.
first=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
taskset -pc "$first" $$ >/dev/null 2>&1 || skip "this process cannot be bound to one cpu"

# sweep FIRST FILE ARGUMENT...: the first FIRST allocations and one of each further place. FILE is what the command
# writes; "-": nothing.
program=$blackjack
sweep() {
    first=$1
    file=$2
    shift 2
    rm -f reference.* report
    [ "$file" = - ] || rm -f "$file"
    "$program" "$@" >reference.out 2>reference.err </dev/null
    wanted=$?
    if [ "$file" != - ]; then
        [ ! -e "$file" ] || mv "$file" reference.file
        FAIL_FILE=$file
        export FAIL_FILE
    fi
    FAIL_REPORT=report FAIL_REFERENCE=$scratch/reference FAIL_FIRST=$first FAIL_STATUS=$wanted LD_PRELOAD=$fail \
        "$program" "$@" >out 2>err </dev/null
    status=$?
    unset FAIL_FILE
    [ $status -eq $wanted ] || complain "$*: exit status $status without a failure, expected $wanted"
    grep -q '^tried [1-9]' report || complain "$*: nothing was tried"
    if ! grep -q ' 0 wrong$' report; then
        failures=$((failures + 1))
        grep WRONG report | head -${SHOWN:-3} >&2
    fi
    echo "$*: $(tail -n 1 report)"
    tried=$((tried + $(sed -n 's/^tried \([0-9]*\) .*/\1/p' report)))
}

# The smallest machine, all probes of it.
"$blackjack" run -q --machine "sim:$machine" --effort quick -o whole.json || complain "run"
"$blackjack" run clock line -q --machine "sim:$machine" --effort quick -o small.json || complain "run clock line"
gzip -kn small.json 2>/dev/null || cp small.json small.json.gz
records='"records": [{"region": 0, "process": 1, "thread": 0, "first": 0, "series": ['
regions() {
    printf '{"format": "blackjack-regions/1", "counter": {"name": "made up", "ticks": 1000000, "ns": 1000000}, "period_ticks": 500000,\n'
    printf '"costs": {"reads": 10, "read_ticks": 200, "pairs": 10, "pair_ticks": 500, "empty_ticks": 0}, "threads": 1, "refused": 0,\n'
    printf '"regions": [{"name": "solve", "flops": 2000, "bytes": 0}], %s' "$records"
    printf '[1000000, 100, %d, 1, %d.000, %d.000], [2000000, 100, %d, 1, %d.000, %d.000]' \
        $((100 * $1)) "$1" "$1" $((100 * $1)) "$1" "$1"
    printf '], "lengths": [[12, 200, %d]]}]}\n' $((200 * $1))
}
regions 5000 >least.json
regions 6500 >full.json
cp "$here/profile.json" p.json
cp "$here/multicore_profile.json" m.json
"$blackjack" curve whole.json cache.walk --csv >walk.csv 2>err

mkdir fleet
for host in 1 2 3 4 5 6 7 8; do
    cp p.json fleet/$host.json
done
cp small.json fleet/9.json

# FIRST is less where what follows a failure takes longer.
sweep 2000 - list --keys
sweep 2000 - help run
sweep 2000 - show small.json
sweep 0 - show whole.json
sweep 2000 - show m.json
sweep 50 - show small.json.gz
sweep 0 - show whole.json --plot cache
sweep 2000 - show small.json --format markdown
sweep 2000 - show whole.json cache --format csv
sweep 2000 - get small.json 'cache.*'
sweep 2000 - get p.json cache.L1.size_bytes
sweep 0 - curve whole.json cache.walk --csv
sweep 0 - curve whole.json cache.walk
sweep 2000 - compare small.json p.json
sweep 0 - compare whole.json m.json
sweep 2000 - compare m.json p.json --json
sweep 2000 - compare --table small.json p.json m.json
sweep 300 - compare --table small.json p.json --keys 'cache.*' --format csv
sweep 1000 out.json contribute p.json -o out.json
sweep 0 - contribute m.json
# What messages cost: its layers are read by several commands.
comm=$(dirname "$blackjack")/blackjack-comm
ranks="--machine sim:$source_dir/machines/dunnington.json --effort quick --quiet"
# shellcheck disable=SC2086 # words
"$comm" $ranks -o layers.json || complain "comm"
sweep 0 - show layers.json
sweep 0 - compare layers.json layers.json
sweep 0 out.txt emit rankfile layers.json -o out.txt
sweep 1000 - fleet fleet
sweep 0 - fleet fleet --json
sweep 2000 - regions least.json
sweep 0 - regions least.json full.json
sweep 500 - regions least.json full.json --json
sweep 500 - analyze cache walk.csv
sweep 2000 page.html report small.json -o page.html -q
sweep 0 page.html report whole.json m.json -o page.html -q
sweep 300 again.json reanalyze small.json -o again.json
sweep 0 again.json reanalyze whole.json -o again.json
for format in c-header cmake sh json gcc-params blis hwloc-xml omp-places rankfile openmetrics; do
    sweep 300 out.txt emit $format m.json -o out.txt
done
sweep 0 out.txt emit hwloc-xml whole.json -o out.txt
sweep 300 run.json run clock -q --machine "sim:$machine" --effort quick -o run.json
sweep 0 run.json run cache line -q --machine "sim:$machine" --effort quick -o run.json
sweep 0 run.json.gz run clock -q --machine "sim:$machine" --effort quick -o run.json.gz

# On a simulated machine, since what this one answers is never the same twice.
sweep 0 - verify whole.json --machine "sim:$machine" --budget 0.01
sweep 0 - verify whole.json --machine "sim:$machine" --budget 0.01 --json
printf '{"format": "blackjack-load/1", "name": "x", "compute_ns": 5000, "stream": {"arrays": 1, "bytes": 65536}}\n' >load.json
sweep 0 - diagnose --machine "sim:$machine" --profile whole.json --load load.json --density 1,2 --effort quick
sweep 0 - diagnose --machine "sim:$machine" --profile whole.json --load load.json --density 1,2 --effort quick --json
# What it times is never the same, but what is asked for and read can be refused twice. tune makes a folder at once, which
# the copies of the process would share.
sweep 2000 - time none.so:none --operand x:8*n:in:L1 --sweep N=1..100 --context cold,L2 --profile m.json
program=$comm
# shellcheck disable=SC2086
sweep 0 ranks.json $ranks -o ranks.json
sweep 0 ranks.json --merge layers.json layers.json -o ranks.json

[ "$tried" -gt 20000 ] || complain "only $tried failures were tried"
echo "$tried failures in all"
finish
