#!/bin/sh
# Regions that a program recorded: the report, two files, what is refused.
. "$(dirname "$0")/lib.sh"

# made FILE TICKS: one thread, forty bins of a hundred calls of so many ticks; a tick is 1 ns.
made() {
    {
        printf '{"format": "blackjack-regions/1", "counter": {"name": "made up", "ticks": 1000000, "ns": 1000000}, "period_ticks": 500000,\n'
        printf '"costs": {"reads": 10, "read_ticks": 200, "pairs": 10, "pair_ticks": 500, "empty_ticks": 0}, "threads": 1, "refused": 0,\n'
        printf '"regions": [{"name": "solve", "flops": 2000, "bytes": 0}], "records": [{"region": 0, "process": 1, "thread": 0, "first": 0, "series": ['
        i=1
        while [ $i -le 40 ]; do
            [ $i -gt 1 ] && printf ', '
            printf '[%d, 100, %d, 1, %d.000, %d.000]' $((i * 1000000)) $((100 * $2)) "$2" "$2"
            i=$((i + 1))
        done
        printf '], "lengths": [[12, 4000, %d]]}]}\n' $((4000 * $2))
    } >"$1"
}

made least.json 5000
made full.json 6500
made short.json 300
expect 0 regions least.json
out_has "Begin and end take 50 ns together"
out_has "solve                          1         4000     20 ms      5 us        1%"
out_has "skip 0 ns at the start; then 5 us a call"
out_has "0.4 Gflop/s a thread"
out_has "2000 to 10000 ticks                 4000  100.0%"
expect 0 regions short.json
awk '{ if (length($0) > 80) print }' out | grep -q . && complain "a line is wider than 80 columns"
tr -s ' \n' ' ' <out >whole && mv whole out
out_has "refused: a call takes 300 ns, and begin and end add 50 ns: more than 10% of it"
expect 0 regions least.json full.json
out_has "1.300      6 ms  slower"
expect 0 regions least.json short.json
out_has "solve                    not ranked: a call takes 300 ns"
expect 0 regions least.json full.json --json
if has python3; then
    python3 - <<'END' || complain "the report is not what it should be"
import json
report = json.load(open("out"))
assert report["format"] == "blackjack-region-report/1"
assert report["first"]["regions"][0]["mean_ns"] == 5000 and len(report["first"]["regions"][0]["series"]) == 40
assert abs(report["losses"][0]["ratio"] - 1.3) < 1e-9 and report["losses"][0]["lost_ns"] == 6e6
END
    python3 "$here/validate_profile.py" "$source_dir/docs/regions.schema.json" least.json || complain "not valid by the schema"
else
    left_out "JSON: no python3"
fi
# Against what a core attains: by a profile that is named, or the default one, which is told.
sed 's/"bytes": 0/"bytes": 9000, "loads": 4000/' least.json >declared.json
expect 0 regions declared.json --profile "$here/diagnose_profile.json"
out_has "0.4 Gflop/s a thread, 0.174 flops a cycle, 9% of what a core attains"
out_has "0.8 loads a ns and thread, 0.348 a cycle, 17% of what a core attains"
out_has "1.8 GB/s a thread, 40% of memory for one"
out_has "40% of what its flops a byte allow (memory)"
expect 0 regions declared.json --profile "$here/diagnose_profile.json" --json
out_has '"loads_share": 0.17391304'
cp "$here/diagnose_profile.json" blackjack-profile.json
expect 0 regions declared.json
out_has "What a core attains: blackjack-profile.json"
out_has "40% of memory for one"
echo '{' >blackjack-profile.json
expect 0 regions declared.json
err_has "blackjack-profile.json"
out_has "0.4 Gflop/s a thread"
rm blackjack-profile.json
expect 2 regions declared.json --profile nowhere.json
one_line_error
expect 0 regions least.json --series
[ "$(wc -l <out)" -eq 41 ] || complain "a line a cell expected"
odd=$(printf 'odd\033[31m.json')
cp least.json "$odd"
expect 0 regions "$odd" full.json
out_has "odd?[31m.json"
grep -q "$(printf '\033')" out && complain "a file's name moves the cursor"
expect 2 regions least.json full.json --by guess
one_line_error
err_has "--by: expected call or total"
expect 2 regions "$here/profile.json"
one_line_error
err_has "format: expected 'blackjack-regions/1'"
expect 2 regions least.json full.json --series
one_line_error
sed 's/"lengths": \[\[12, [0-9]*, [0-9]*\]\]/"lengths": []/' least.json >empty.json
expect 1 regions empty.json
one_line_error
err_has "no region was called"
# More records than any program has, in few bytes.
sed 's/"records": .*//' least.json >many.json
awk 'BEGIN { printf "\"records\": ["; for (i = 0; i < 200001; i++) printf "%s{}", i ? "," : ""; print "]}" }' >>many.json
expect 2 regions many.json
one_line_error
err_has "at most 200000"
finish
