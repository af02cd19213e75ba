#!/bin/sh
# analyze: CSV as other people write it.
. "$(dirname "$0")/lib.sh"

# A cache of 32 KiB at 4 cycles in front of memory at 100: two rounds, plain to see.
awk 'BEGIN {
    for (round = 0; round < 2; round++)
        for (k = 0; k <= 40; k++) {
            x = int(4096 * 2 ^ (k / 4) + 0.5)
            y = x <= 32768 ? 4 : 4 + 96 * (1 - 32768 / x) ^ 0.3
            printf "%d,%.4f\n", x, y * (1 + 0.001 * ((k * 7 + round * 3) % 5))
        }
}' >plain.csv
expect 0 analyze cache plain.csv
[ -s err ] && complain "nothing expected on standard error"
cp out plain.out
out_has '"cache.levels": {"value": 1'
out_has '"cache.L1.size_bytes": {"value": 32768'
grep -q latency out && complain "latencies without --unit"

# The same rows in other clothes give the same answer.
same() {
    expect 0 analyze cache "$1"
    cmp -s out plain.out || complain "$1: another answer"
}
sed 's/$/\r/' plain.csv >crlf.csv && same crlf.csv
{ printf '# measured yesterday\n\nsize,cycles\n'; cat plain.csv; printf '\n# end\n'; } >comments.csv && same comments.csv
{ printf '\357\273\277"Working set","Time, more or less"\r\n'; cat plain.csv; } >bom.csv && same bom.csv
sed 's/$/,17,extra/' plain.csv >columns.csv && same columns.csv
sed 's/,/ ,\t/' plain.csv >blanks.csv && same blanks.csv
sed 's/^/"/; s/,/","/; s/$/"/' plain.csv >quotes.csv && same quotes.csv
printf %s "$(cat plain.csv)" >noend.csv && same noend.csv
# Rounds are counted by repetition, so the order of different x does not matter.
sort -s -t, -k1,1n plain.csv >sorted.csv && same sorted.csv
"$blackjack" analyze cache - <plain.csv >out 2>err
cmp -s out plain.out || complain "standard input: another answer"
cat plain.csv | "$blackjack" analyze cache - >out 2>err
cmp -s out plain.out || complain "a pipe: another answer"

expect 0 analyze cache plain.csv --unit cycles
out_has '"cache.L1.latency_cycles"'
expect 0 analyze cache plain.csv --unit ns --known op.int32.add.latency_ns=0.5
out_has '"cache.L1.latency_ns"'
out_has '"cache.L1.latency_cycles"'
expect 0 analyze cache plain.csv --method gradient_peaks --seed 7
out_has '"method": "gradient_peaks/'
expect 0 analyze cache plain.csv --known no.such.key=3
err_has "no.such.key"

# The same answers as tables.
expect 0 analyze cache plain.csv --format json
cmp -s out plain.out || complain "--format json: another answer"
expect 0 analyze cache plain.csv --format text
head -n 1 out | grep -Eqx 'key +value +95% interval +confidence' || complain "head of the table"
grep -Eqx 'cache\.L1\.size_bytes +32 KiB +32 KiB +(high|medium|low)' out || complain "a row of the table"
awk 'length($0) > 80 { bad = 1 } END { exit bad }' out || complain "wider than 80 columns"
expect 0 analyze cache plain.csv --format markdown
out_has "| key | value | 95% interval | confidence | remark |"
out_has "| cache.L1.size_bytes | 32 KiB | 32 KiB | "
expect 0 analyze cache plain.csv --format csv
out_has "key,value,unit,low,high,confidence,status,claimed,method,reason"
grep -Eqx 'cache\.L1\.size_bytes,32768,bytes,32768,32768,(high|medium|low),ok,,levels/[0-9]+,' out || complain "a row of the CSV"
expect 2 analyze cache plain.csv --format html
one_line_error

# Two reads at a growing distance: dear from 64 bytes on.
printf 'distance,cycles\n8,7\n16,7\n32,7\n48,7\n64,20\n96,20\n128,20\n' >line.csv
expect 0 analyze line line.csv
out_has '"cache.line_bytes": {"value": 64'
# What it names as its method is one that --method takes.
method=$(sed -n 's|.*"method": "\([a-z_]*\)/.*|\1|p' out)
expect 0 analyze line line.csv --method "$method"
expect 0 analyze line line.csv --level 2
out_has '"cache.L2.line_bytes": {"value": 64'
for level in 0 99 x; do
    expect 2 analyze line line.csv --level $level
    one_line_error
done
printf '8,7\n16,7\n32,7\n64,7\n' >flat.csv
expect 0 analyze line flat.csv
out_has '"status": "undetermined"'
expect 0 analyze line flat.csv --format text
out_has "    undetermined: "
grep -q ' $' out && complain "blanks at the end of a line"

# What --method takes is what the answers name, where there is a choice.
for probe in cache page live contexts slot; do
    for method in $("$blackjack" list --words methods $probe); do
        expect 0 analyze $probe plain.csv --method $method
        for named in $(grep -o '"method": "[a-z_]*' out | sed 's/.*"//' | sort -u); do
            "$blackjack" list --words methods $probe | grep -qx "$named" || complain "$probe --method $method answers by '$named'"
        done
    done
done

# Variables in registers: a ramp that begins after 15, and the paper's rule, which takes the steepest place.
{
    echo "variables,ns"
    for k in 3 4 6 8 10 11 12 13 14 15; do echo "$k,0.126"; done
    printf '16,0.141\n17,0.161\n18,0.172\n19,0.18\n20,0.19\n24,0.21\n25,0.3\n40,0.32\n80,0.33\n132,0.34\n'
} >live.csv
expect 0 analyze live live.csv
out_has '"live.table": {"value": 15,'
expect 0 analyze live live.csv --method biggest_step
out_has '"live.table": {"value": 24,'
expect 2 analyze op live.csv
err_has "does not take the probe op"

# Lines of one set: eight fit.
printf 'lines,ns\n1,1.2\n2,1.2\n4,1.2\n6,1.2\n8,1.2\n9,4.4\n10,4.5\n' >ways.csv
expect 0 analyze associativity ways.csv
out_has '"cache.L1.associativity": {"value": 8'
expect 0 analyze associativity ways.csv --level 2
out_has '"cache.L2.associativity": {"value": 8'

# bad LINE TEXT FILE: refused with the line.
bad() {
    printf "$2" >bad.csv
    expect 2 analyze cache bad.csv
    one_line_error
    err_has "bad.csv:$1: expected"
}
bad 3 'x,y\n1,2\n3\n'
bad 2 '1,2\n3,four\n'
bad 1 '1,two\n3,4\n'
bad 2 'x,y\nx,y\n1,2\n'
bad 2 '1,2\n3,nan\n'
bad 2 '1,2\ninf,4\n'
bad 2 '1,2\n0,4\n'
bad 2 '1,2\n-3,4\n'
bad 2 '1,2\n3,0\n'
bad 2 '1,2\n3,-4\n'
bad 2 '1,2\n3,1e999\n'
bad 2 '1,2\n0x10,4\n'
bad 2 '1,2\n1;2\n'
bad 2 '1,2\n3,,4\n'
bad 1 ''
bad 2 '1,2\n3\t4\n'
err_has "two numbers with a comma between, found '3\\t4'"
bad 2 '# nothing\nx,y\n'
bad 1 'a\000b,1\n'
expect 2 analyze cache bad.csv

expect 2 analyze cache missing.csv
one_line_error
expect 2 analyze clcok plain.csv
one_line_error
err_has "did you mean 'clock'?"
expect 2 analyze clock plain.csv
one_line_error
expect 2 analyze cache plain.csv --level 2
one_line_error
err_has "not about one level"
for words in "--method nonsense" "--unit seconds" "--known" "--known a" "--known a=" \
    "--known =1" "--known a.b=x" "--known a.b=-1" "--known a.b=nan" "--seed x"; do
    expect 2 analyze cache plain.csv $words
    one_line_error
done

# A TLB of 64 entries behind an L2 of 256 pages, and pages of 4 KiB as strides show them.
awk 'BEGIN {
    for (k = 4; k <= 44; k++) {
        x = int(2 ^ (k / 4) + 0.5)
        printf "%d,%.2f\n", x, 4.3 + (x > 64 ? 7 : 0) + (x > 256 ? 30 : 0)
    }
}' >tlb.csv
expect 0 analyze tlb tlb.csv --known cache.L2.size_bytes=1048576 --unit ns
out_has '"tlb.levels": {"value": 1'
out_has '"tlb.L1.entries": {"value": 64'
out_has '"tlb.L1.miss_ns": {"value": 7'
expect 0 analyze tlb tlb.csv --known cache.L2.size_bytes=1048576
out_has 'the unit of the times is not known'
expect 0 analyze tlb tlb.csv
out_has '"tlb.levels": {"value": 2'
awk 'BEGIN { for (x = 256; x <= 65536; x *= 2) printf "%d,%.2f\n", x, 10 + 20 * (x < 4096 ? x / 4096 : 1) }' >page.csv
expect 0 analyze page page.csv
out_has '"page.size_bytes": {"value": 4096'
awk 'BEGIN { for (x = 256; x <= 65536; x *= 2) printf "%d,%.2f\n", x, 10 }' >flat.csv
for probe in page tlb; do
    expect 0 analyze $probe flat.csv
    out_has '"status": "undetermined"'
done

# Threads that share two contexts, and threads that stay where they are.
awk 'BEGIN { for (r = 0; r < 6; r++) for (m = 1; m <= 6; m++) print m "," 10 * (m > 2 ? m / 2 : 1) + r / 50 }' >shared.csv
awk 'BEGIN { for (m = 1; m <= 6; m++) print m "," 10 * int((m + 1) / 2) }' >sticky.csv
for file in shared.csv sticky.csv; do
    for method in first_delay first_step; do
        expect 0 analyze contexts $file --method $method
        out_has '"contexts.int": {"value": 2,'
        out_has '"contexts.memory": {"value": 2,'
        out_has "\"method\": \"$method/"
    done
done
# Between sixteen and thirty-two nothing was measured: no answer there is sure.
for i in 1 2 3 4 5 6; do printf '1,1\n2,1\n4,1\n8,1\n16,1\n32,2\n'; done >coarse.csv
expect 0 analyze contexts coarse.csv
out_has '"contexts.int": {"value": 16, "unit": "count", "interval": [16, 31], "confidence": "low",'
expect 0 analyze contexts flat.csv
out_has '"status": "undetermined"'

# One column of gaps: interrupts, slots of 4 ms, some of two in a row.
awk 'BEGIN {
    print "gap_ms"
    for (i = 0; i < 633; i++) print 0.02 + i * 0.0001
    for (i = 0; i < 555; i++) print 4 + i * 0.0001
    for (i = 0; i < 72; i++) print 8.0 ", and more"
}' >gaps.csv
expect 0 analyze slot gaps.csv
out_has '"scheduler.slot_ms": {"value": 4.02'
cp out gaps.out
tail -n +2 gaps.csv | sed 's/,.*//; s/$/\r/' >plain_gaps.csv
expect 0 analyze slot plain_gaps.csv
cmp -s out gaps.out || complain "gaps without a header: another answer"
expect 0 analyze slot gaps.csv --method mode
out_has '"scheduler.slot_ms": {"value": 0.05'
printf '4\n4\n4\n' >few.csv
expect 0 analyze slot few.csv
out_has '"status": "undetermined"'
bad_gaps() {
    printf "$2" >bad.csv
    expect 2 analyze slot bad.csv
    one_line_error
    err_has "bad.csv:$1: expected"
}
bad_gaps 2 'gap\nlong\n'
bad_gaps 2 '4\n-4\n'
bad_gaps 2 '4\n0\n'
bad_gaps 2 '4\nnan\n'
bad_gaps 2 '4\n1e999\n'
bad_gaps 2 '4\n,4\n'
bad_gaps 1 ''
bad_gaps 1 'gap\n'

awk 'BEGIN { for (i = 0; i <= 100000; i++) print i + 1 ",1" }' >many.csv
for probe in cache slot; do
    expect 2 analyze $probe many.csv
    one_line_error
    err_has "many.csv:100001: expected at most 100000 rows"
done

# As many rows as are taken cost seconds, whatever they say; more where each instruction costs ten, and on i386, whose C
# library has logarithms of another kind: 10 s where x86-64 took 2.7.
most=5
[ -z "${BJ_SANITIZERS:-}${BJ_CROSS_BUILT:-}" ] || most=65
awk 'BEGIN { for (i = 0; i < 100000; i++) print 1024 + 64 * i "," (1 + i % 97 / 9700) * 1.5 ^ int(i / 5000) }' >steps.csv
awk 'BEGIN { srand(2); for (i = 0; i < 100000; i++) print 1 + int(rand() * 1e9) "," 100 * rand() }' >random.csv
for table in steps random; do
    for probe in cache page; do
        (ulimit -t $most && exec "$blackjack" analyze $probe $table.csv) >out 2>err
        status=$?
        [ $status -le 2 ] || complain "analyze $probe $table.csv: exit status $status within $most s"
    done
done

"$blackjack" analyze cache plain.csv >/dev/full 2>err
[ $? -eq 3 ] || complain "analyze > /dev/full"
finish
