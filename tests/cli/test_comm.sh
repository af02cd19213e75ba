#!/bin/sh
# Layers of messages as their reader meets them: the schema, show with advice, compare, the rankfile, several launches.
. "$(dirname "$0")/lib.sh"
comm=$(dirname "$blackjack")/blackjack-comm
[ -x "$comm" ] || skip "no blackjack-comm"
for seed in 1 2; do
    "$comm" --machine sim:"$source_dir/machines/dunnington.json" --seed $seed --quiet -o $seed.json >out 2>err </dev/null ||
        complain "blackjack-comm"
done
valid 1.json
has python3 && {
    sed 's/"scaling": \[\[1, 1\]/"scaling": [[1, 1, 1]/; s/"scaling":\[\[1,1\]/"scaling":[[1,1,1]/' 1.json >broken.json
    cmp -s 1.json broken.json && complain "no scaling to break"
    python3 "$here/validate_profile.py" "$source_dir/docs/profile.schema.json" broken.json >out 2>err &&
        complain "a broken layer is valid"
}
expect 0 show 1.json
out_has "host 1 9.88 us, host 2 14.5 us, host 3 24.7 us"
out_has "24 ranks on 1 host, 24 bound"
out_has "Hockney's one line"
out_has "times as long by pairs at once 1: 1, 2: 1.11"
out_has "placement: 12 ranks that talk to their neighbours: near each other"
out_has "join those below"
out_has "12 pairs at once take 2.11"
expect 0 compare 1.json 2.json
sed 's/"latency_us": 24/"latency_us": 64/; s/\[24\.\([0-9]*\), 24\./[64.\1, 64./' 1.json >slow.json
expect 1 compare 1.json slow.json --json
out_has "comm.layers"
# Who is near: 0 to 5 share what lies between, 6 to 11 the next; spread takes one of each socket in turn.
expect 0 emit rankfile 1.json
[ "$(sed -n 's/^rank [0-5]=localhost slot=//p' out | sort -n | paste -s -d ' ')" = "0 1 2 3 4 5" ] || complain "not near"
expect 0 emit rankfile 1.json --order spread --host node7
[ "$(sed -n 's/^rank [0-3]=node7 slot=//p' out | paste -s -d ' ')" = "0 6 12 18" ] || complain "not spread"
# Hosts by name, all of them or none.
cat >hosts.json <<'END'
{"format": "blackjack-profile/1", "characteristics": {
"comm.ranks": {"value": {"hosts": [0, 1, 2], "cpus": [0, 0, 0]}, "unit": "", "status": "ok", "confidence": "high"},
"comm.layers": {"value": [{"name": "network", "latency_us": 10, "bytes": 1000, "groups": [[0, 1, 2]],
"curve": [[0, 9], [1000, 10]]}], "unit": "", "status": "ok", "confidence": "high"}}}
END
expect 0 emit rankfile hosts.json --host a,b,c
out_has "rank 2=c slot=0"
expect 0 emit rankfile hosts.json
out_has "rank 2=+n2 slot=0"
expect 2 emit rankfile hosts.json --host a,b
err_has "names 2 hosts, and comm.ranks has 3"
# Other groups count, but not where a hypervisor may have moved the cpus of the ranks.
sed 's/\[\[0, 1, 2\]\]/[[0, 1]]/' hosts.json >apart.json
sed 's/"characteristics"/"environment": {"virtualised": true}, &/' apart.json >virtual.json
expect 1 compare hosts.json apart.json
expect 0 compare hosts.json virtual.json
out_has "comm.layers"
"$comm" --merge 1.json 2.json -o both.json >out 2>err || complain "merge"
valid both.json
"$comm" --merge both.json 2.json -o twice.json >out 2>err && complain "a launch was merged twice"
err_has "2.json: its rounds are there already"
finish
