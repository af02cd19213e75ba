#!/bin/sh
# show: one page, within its columns, plain where it has to be.
. "$(dirname "$0")/lib.sh"
profile=$here/profile.json

LC_ALL=C "$blackjack" show "$profile" >out 2>err || complain "show"
for text in "32 KiB" "32..34 KiB" "48 KiB" "101.5" "254 cycles" "unstable: single rounds" "undetermined: no ramp" \
    "unsupported: needs 2 cpus" "failed: implausible" "warning: the machine is busy" "effective size" "capacity" \
    "2026-11-15" "cpu 2 of 0-2, 7" "2 groups of 2 cpus" "    0-1; 2-3" "confidence" "12.5% of a capacity, 15% of a size"; do
    case $text in
    101.5) grep -Eq '10[12] ns' out || complain "latency in ns" ;;
    *) out_has "$text" ;;
    esac
done
# What matters comes first.
out_has "  L1 32 KiB (claimed 48 KiB): count on 0.66 of the claim."
out_has "  L2 2 to 8 MiB, unstable: do not tune for it."
[ "$(sed -n '2p' out)" = "  L1 32 KiB (claimed 48 KiB): count on 0.66 of the claim." ] || complain "not first"
awk 'length($0) > 80 { bad = 1 } END { exit bad }' out || complain "wider than 80 columns"
grep -q ' $' out && complain "blanks at the end of a line"
LC_ALL=C grep -q '[^ -~]' out && complain "not plain ASCII in the C locale"
LC_ALL=C.UTF-8 "$blackjack" show "$profile" >out 2>err
if locale -a 2>/dev/null | grep -qi '^C\.utf-\{0,1\}8$'; then
    out_has "Café"
fi
LC_ALL=C grep -q "$(printf '\033')" out && complain "escape sequences from a file, or colour into a file"

# On a terminal there is colour, unless it is refused.
# A bare chroot has the command but no terminals to give.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    TERM=xterm script -qec "'$blackjack' show '$profile'" /dev/null >out 2>err </dev/null
    LC_ALL=C grep -q "$(printf '\033')" out || complain "no colour on a terminal"
    NO_COLOR=1 TERM=xterm script -qec "'$blackjack' show '$profile'" /dev/null >out 2>err </dev/null
    LC_ALL=C grep -q "$(printf '\033')" out && complain "colour in spite of NO_COLOR"
    # As wide as the terminal: narrow ones hold it too, and wide ones are used.
    for columns in 60 80 120; do
        LC_ALL=C NO_COLOR=1 TERM=xterm script -qec "stty cols $columns; '$blackjack' show '$profile'" /dev/null \
            2>err </dev/null | tr -d '\r' >out
        awk -v most=$columns 'length($0) > most { bad = 1 } END { exit bad }' out || complain "wider than $columns"
        [ $columns -eq 60 ] || grep -q "cache.L1.size_bytes  *32 KiB  *32..34 KiB  *48 KiB  *medium" out ||
            complain "not one line an answer at $columns columns"
    done
    awk 'length($0) > 100 { wide = 1 } END { exit !wide }' out || complain "120 columns not used"
fi

# One section, with and without a file.
expect 0 show "$profile" cache
out_has "cache.L1.size_bytes"
grep -q "clock_ghz" out && complain "another section"
cp "$profile" blackjack-profile.json
expect 0 show
out_has "cpu.clock_ghz"
expect 0 show cache
out_has "cache.L1.size_bytes"
grep -q "clock_ghz" out && complain "another section"
cp "$profile" cache
expect 0 show cache # a file of that name is a file
out_has "clock_ghz"
rm cache
expect 1 show tlb
one_line_error
err_has "blackjack run --resume tlb"
expect 2 show "$profile" cash
one_line_error
err_has "did you mean 'cache'"
expect 2 show nowhere.json
one_line_error
expect 2 show "$profile" cache tlb
one_line_error

# As a table: one row an answer, numbers whole in CSV.
expect 0 show "$profile" --format csv
[ "$(head -n 1 out)" = "key,value,unit,low,high,confidence,status,claimed,method,reason" ] || complain "head of the CSV"
out_has "cache.L1.size_bytes,32768,bytes,32768,34816,medium,ok,49152,levels/1,"
out_has "cache.L2.capacity_bytes,,bytes,,,,undetermined,,levels/1,no ramp that the occupancy model could follow"
out_has 'cache.L1.sharing,"[[0, 1], [2, 3]]",groups'
[ "$(wc -l <out)" -eq 10 ] || complain "not one row an answer"
expect 0 show "$profile" cache --format markdown
out_has "| cache.L1.size_bytes | 32 KiB |"
grep -q "clock_ghz" out && complain "another section"
expect 2 show "$profile" --format html
one_line_error

# Operations are a grid of types by operations.
"$blackjack" run op --machine "sim:$source_dir/machines/zen3.json" --effort quick --quiet -o ops.json
expect 0 show ops.json
grep -Eq '^ +add +sub +mul +div' out || complain "no grid"
grep -Eq '^  int32 +(1|0.99)' out || complain "no row of int32"
out_has "- unsupported"
[ "$(wc -l <out)" -lt 45 ] || complain "more than a page"
# A simulated run has no date.
out_has "simulated (zen3)"
grep -q 1970 out && complain "a simulated run is measured at no time"

# A plot: in the C locale plain, with UTF-8 finer; no wider or longer than a terminal.
"$blackjack" run cache --machine "sim:$machine" --effort quick --quiet -o walk.json
LC_ALL=C "$blackjack" show walk.json --plot cache >out 2>err || complain "plot"
out_has "cache.walk: latency"
grep -Eq '^ +L1 [0-9.]+ KiB' out || complain "no answer in the plot"
grep -Eq -- '- L1 [0-9.]+ ns' out || complain "no latency in the plot"
awk 'length($0) > 80 { bad = 1 } END { exit bad || NR > 24 }' out || complain "a plot of more than 80 by 24"
LC_ALL=C grep -q '[^ -~]' out && complain "a plot that is not plain ASCII in the C locale"
expect 0 show walk.json --plot cache.spread
out_has "cache.spread: latency"
expect 1 show walk.json --plot tlb
one_line_error
expect 2 show walk.json --plot cahce
one_line_error
err_has "did you mean 'cache'"

# What an interrupted run left out.
sed 's/"machine": "sim:zen3"/"machine": "sim:zen3", "interrupted": true/; s/"arguments": \["op"/"arguments": ["op", "tlb"/' \
    ops.json >cut.json
expect 0 show cut.json
tr -s ' \n' ' ' <out >whole && mv whole out
out_has "interrupted: page, tlb not measured (blackjack run --resume --machine sim:zen3 -o cut.json goes on)"

printf '{"format": "blackjack-profile/1", "characteristics": {}}' >bare.json
expect 0 show bare.json
out_has "no answers"
if [ -e /dev/full ]; then
    "$blackjack" show "$profile" >/dev/full 2>err
    [ $? -eq 3 ] || complain "show > /dev/full"
fi
# Streams: a table, and advice where more arrays than are useful cost a quarter; not where they cost less, or nobody is sure.
# streams RATE CONFIDENCE: what each of 16 cpus gets through 64 arrays, of 2.4 GB/s through one.
streams() {
    printf '{"format": "blackjack-profile/1", "characteristics": {"memory.streams": {"value": [{"cpus": 16, "gbs": [[1, 2.4], [2, 2.4],
        [64, %s]], "useful_streams": 2, "limited": true}], "unit": "GB/s", "status": "ok", "confidence": "%s"}}}' "$1" "$2" >streams.json
    expect 0 show streams.json
}
streams 1.5 high
out_has "arrays of use: 2 with 16 cpus"
out_has "arrays: with 16 cpus at work let a loop go through 2 at most: each cpu gets"
streams 2.2 high
grep -q "let a loop" out && complain "advice for 8%"
streams 1.5 low
grep -q "let a loop" out && complain "advice that nobody is sure of"

finish
