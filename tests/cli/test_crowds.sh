#!/bin/sh
# Who shares, who collides, and what is left when all work: on a small machine that is known completely.
. "$(dirname "$0")/lib.sh"

# Four cpus, pairs under a second level; two buses, each of them for two cpus that are in different pairs' caches' order.
cat >pairs.json <<'END'
{"name": "pairs", "clock_ghz": 2.0, "cpus": 4, "numbering": [0, 2, 1, 3],
 "caches": [{"size": 16384, "latency": 4, "gbs": 60},
            {"size": 262144, "ways": 16, "latency": 14, "shared_by": 2, "gbs": 30}],
 "memory": {"latency": 200, "cpu_gbs": 8, "domains": [{"shared_by": 2, "gbs": 10}]},
 "page": {"huge": 2097152}, "exchange": {"L2": 20, "socket": 90},
 "noise": {"jitter": 0.01, "spike_rate": 0.01, "spike_factor": 5}}
END
expect 0 run sharing contention --machine sim:pairs.json --effort quick -q -o pairs.profile
valid pairs.profile
expect 0 get pairs.profile cache.L1.sharing
out_is "[]"
expect 0 get pairs.profile cache.L2.sharing
[ "$(tr -d ' ' <out)" = "[[0,2],[1,3]]" ] || complain "0 with 2, and 1 with 3"
expect 0 get pairs.profile memory.contention
tr -d ' ' <out | grep -q '"groups":\[\[0,2\],\[1,3\]\]' || complain "two buses"
[ "$(tr -d ' ' <out | grep -o '"useful_cpus"' | wc -l)" -eq 1 ] || complain "one level"
# Two cpus share 10 GB/s, so each has five of its eight.
expect 0 get pairs.profile memory.full.read_gbs
awk '$1 < 4.5 || $1 > 5.5 { bad = 1 } END { exit bad }' out || complain "five GB/s a cpu when all read"
# Half of the second level is left to each.
expect 0 get pairs.profile cache.L2.full.size_bytes
awk '$1 < 90000 || $1 > 150000 { bad = 1 } END { exit bad }' out || complain "half of the second level"

# Caches of their own and a bus that nobody fills.
sed 's/"shared_by": 2, "gbs": 30/"gbs": 30/; s/{"shared_by": 2, "gbs": 10}/{"shared_by": 4, "gbs": 100}/; s/"L2": 20, //' pairs.json >lone.json
expect 0 run sharing contention --machine sim:lone.json --effort quick -q -o lone.profile
expect 0 get lone.profile cache.L2.sharing
out_is "[]"
expect 0 get lone.profile memory.contention
tr -d ' ' <out | grep -q '"levels":\[\]' || complain "nobody collides"
expect 0 get lone.profile memory.full.read_gbs
awk '$1 < 7.2 || $1 > 8.8 { bad = 1 } END { exit bad }' out || complain "eight GB/s a cpu"

# One cpu has nobody to share with.
expect 0 run sharing contention --machine sim:pairs.json --cpus 1 --effort quick -q -o one.profile
expect 1 get one.profile cache.L2.sharing
expect 1 get one.profile memory.contention
err_has "one cpu"

# Tables of other people. Times of walks beside each other, alone on the diagonal: 0 with 1, and 2 with 3; eight rounds.
table() { # table ROUNDS ALONE NEAR FAR: cells with a little noise
    awk -v rounds="$1" -v alone="$2" -v near="$3" -v far="$4" 'BEGIN { for (r = 0; r < rounds; r++) for (a = 0; a < 4; a++) {
        for (b = 0; b < 4; b++) { y = a == b ? alone : int(a / 2) == int(b / 2) ? near : far
            printf "%s%.3f", b ? "," : "", y * (1 + 0.002 * ((7 * a + 3 * b + 5 * r) % 5)) }
        print "" } }'
}
groups() {
    tr -d ' \n' <out
}
table 8 10 35 10.1 >times.csv
expect 0 analyze sharing times.csv --level 2
groups | grep -qF '"cache.L2.sharing":{"value":[[0,1],[2,3]],"unit":"groups","confidence":"high"' || complain "times.csv"
expect 0 analyze sharing times.csv --method servet --format text
out_has cache.L1.sharing
# A tenth of the way to the next level counts: its latency says how much that is, where the times are ns.
table 8 10 13 10.1 >less.csv
expect 0 analyze sharing less.csv --unit ns --known cache.L2.latency_ns=20
groups | grep -qF '[[0,1],[2,3]]' || complain "three of ten ns are a penalty"
expect 0 analyze sharing less.csv --unit ns --known cache.L2.latency_ns=60
groups | grep -qF '"value":[]' || complain "three of fifty ns are none"
# Ratios, one of them: no diagonal, as a triangle, and nothing to judge the noise by.
printf ',,,\n3,,,\n1,1,,\n1,1.01,2.8,\n' >ratios.csv
expect 0 analyze sharing ratios.csv --level 3
groups | grep -qF '"cache.L3.sharing":{"value":[[0,1],[2,3]],"unit":"groups","confidence":"low"' || complain "ratios.csv"

# Servet III-C: pairs (0,1), (0,2), (3,4), (3,5) get less, so {0,1,2} and {3,4,5} collide.
for round in 1 2 3 4 5 6; do
    printf '4\n2.2,4.01\n2.21,4,3.99\n4,4,4,4.0%s\n4.01,4,4,2.2,4\n4,4,4,2.2,4,4\n' $round
done >rates.csv
expect 0 analyze contention rates.csv
groups | grep -qF '"levels":[{"groups":[[0,1,2],[3,4,5]],' || complain "rates.csv"
groups | grep -qF '"reference_gbs":4,' || complain "the diagonal is the reference"
groups | grep -qF '"confidence":"low"' || complain "1 and 2 are in one group by way of 0 alone"
out_has '"gbs": 2.19'
grep -q 'memory.full' out && complain "a table says nothing of full density"
expect 0 analyze contention rates.csv --method servet
groups | grep -qF '[[0,1,2],[3,4,5]]' || complain "figure 6"
# The same where all of a group collide.
for round in 1 2 3 4 5 6; do
    printf '4\n2.2,4.01\n2.21,2.2,3.99\n4,4,4,4.0%s\n4.01,4,4,2.2,4\n4,4,4,2.2,2.21,4\n' $round
done >clear.csv
expect 0 analyze contention clear.csv
groups | grep -qF '"levels":[{"groups":[[0,1,2],[3,4,5]],' || complain "clear.csv"
groups | grep -qF '"confidence":"high"' || complain "clear.csv is clear"
# Without a diagonal somebody must say what a cpu gets alone.
printf ',,\n2.2,,\n4,4,\n' >pairs_only.csv
expect 0 analyze contention pairs_only.csv
out_has undetermined
out_has "memory.read_gbs"
expect 0 analyze contention pairs_only.csv --known memory.read_gbs=4
groups | grep -qF '"groups":[[0,1]]' || complain "the known rate is the reference"

printf '1,2\n2,1\n1,2\n' >odd.csv
printf '1,2\nx,1\n' >word.csv
for file in odd.csv word.csv; do
    for probe in sharing contention; do
        expect 2 analyze $probe $file
        one_line_error
        err_has "$file"
    done
done

finish
