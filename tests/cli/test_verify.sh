#!/bin/sh
# verify on simulated machines: equals are the same, what was altered is found and named, and trouble is told apart.
. "$(dirname "$0")/lib.sh"
has python3 || skip "no python3"

# A machine with the field of the last words altered: alter FILE FIELD FACTOR [LEVEL].
alter() {
    python3 - "$machine" "$@" <<'END'
import json, sys
source, target, field, factor = sys.argv[1:5]
machine = json.load(open(source))
place = machine["caches"][int(sys.argv[5]) - 1] if len(sys.argv) > 5 else machine["memory"]
place[field] = type(place[field])(place[field] * float(factor))
json.dump(machine, open(target, "w"))
END
}

expect 0 run clock cache bandwidth contexts -q --machine "sim:$machine" -o base.json
for seed in 1 2 3 4 5; do
    expect 0 verify base.json --machine "sim:$machine" --seed $seed
    grep -q '^same: ' out || complain "seed $seed is not said to be the same"
    [ "$(wc -l <out)" -eq 1 ] || complain "more than a line"
done
cp out first
expect 0 verify base.json --machine "sim:$machine" --seed 5
cmp -s out first || complain "the same seed says something else"
expect 0 verify base.json --machine "sim:$machine" --json
python3 "$here/validate_profile.py" "$source_dir/docs/verification.schema.json" out || complain "not valid by the schema"

# found KEY FIELD FACTOR [LEVEL]
found() {
    key=$1
    shift
    alter altered.json "$@"
    for seed in 1 2; do
        expect 1 verify base.json --machine sim:altered.json --seed $seed --quiet
        grep -q "^worse: $key[, ]" out || complain "$*: $key is not named"
        [ -s err ] && complain "--quiet has something on standard error"
    done
}
found cache.L1.latency_ns latency 1.25 1
found cache.L1.size_bytes size 0.5 1
found cache.L2.latency_ns latency 1.25 2
found cache.L2.size_bytes size 0.5 2
found memory.latency_ns latency 1.25
found memory.read_gbs cpu_gbs 0.8
grep -q '% down' out || complain "a lower rate is not said to be down"
expect 1 verify base.json --machine sim:altered.json --json
python3 "$here/validate_profile.py" "$source_dir/docs/verification.schema.json" out || complain "not valid by the schema"
out_has '"key": "memory.read_gbs"'
# However soon the time ends: worse only by a round after it went beyond its limit.
alter small.json size 0.5 1
for budget in 0.1 0.101 0.102 0.105; do
    "$blackjack" verify base.json --machine sim:small.json --budget $budget --json >out 2>err
    grep -q '"verdict": "worse".*"rounds": 3,' out && complain "--budget $budget: worse without a round to confirm it"
done
# What is better is not worse.
alter better.json latency 0.7
expect 0 verify base.json --machine sim:better.json

# The default profile, and a folder: what is of other machines or has no samples is passed over.
BLACKJACK_PROFILE=$PWD/base.json
export BLACKJACK_PROFILE
expect 0 verify --machine "sim:$machine"
err_has "the baseline is $PWD/base.json"
expect 2 verify --machine "sim:$source_dir/machines/atom.json" --quiet
err_has "$PWD/base.json: another machine"
unset BLACKJACK_PROFILE
mkdir fleet nothing
cp base.json fleet/node1.json
expect 0 run clock cache bandwidth contexts -q --machine "sim:$machine" --seed 2 -o fleet/node2.json
expect 0 run clock -q --machine "sim:$source_dir/machines/atom.json" -o fleet/other.json
expect 0 run clock -q --no-curves --machine "sim:$machine" -o fleet/bare.json
echo '{' >fleet/broken.json
expect 0 verify fleet --machine "sim:$machine" --seed 3
err_has broken.json
err_has "left out: 1 of other machines"
err_has "left out: 1 without samples"
expect 1 verify fleet --machine sim:altered.json
expect 0 verify fleet --machine "sim:$machine" --json --quiet
out_has '"profiles": 2'

# What a virtual machine shares is not looked at with a baseline of one run, and with one of three it is.
python3 - <<'END'
import json
profile = json.load(open("base.json"))
profile["environment"]["virtualised"] = True
json.dump(profile, open("shared.json", "w"))
for record in profile["probes"].values():
    record["runs"] = 3
json.dump(profile, open("shared3.json", "w"))
END
expect 0 verify shared.json --machine "sim:$machine" --json
grep -q '"key": "\(memory\|cache.L[3-9]\)' out && complain "something shared is looked at with a baseline of one run"
out_has 'memory: not looked at'
expect 0 verify shared3.json --machine "sim:$machine" --json
out_has '"key": "memory.read_gbs"'

# Trouble.
expect 2 verify missing.json --machine "sim:$machine"
one_line_error
expect 2 verify fleet/broken.json --machine "sim:$machine"
expect 2 verify fleet/bare.json --machine "sim:$machine"
one_line_error
mkdir without
cp fleet/bare.json without/
expect 2 verify without --machine "sim:$machine"
err_has "no samples in the 1 profile of machines like this one"
expect 2 verify nothing --machine "sim:$machine"
expect 2 verify base.json --machine "sim:$source_dir/machines/atom.json"
err_has "another machine"
expect 2 verify base.json --machine "sim:$machine" --budget 0.01
expect 2 verify base.json base.json
# Fewer cpus than the baseline had, and another one: the rest is compared.
expect 0 verify base.json --machine "sim:$machine" --cpus 1-2
err_has "cpu 1"
finish
