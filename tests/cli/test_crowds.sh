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

finish
