#!/bin/sh
# A fleet of equals has no outlier; one host with less bandwidth is named, in text and JSON, compressed or not.
# usage: test_fleet.sh BLACKJACK SOURCE_DIR
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

expect 0 run clock cache bandwidth -q --no-curves --effort quick --machine "sim:$machine" -o one.json
grep -q '"rounds"' one.json && complain "--no-curves left samples"
mkdir equals
# The spread between equals is 1%, drawn anew for each host and key, always the same.
python3 - <<'PYTHON'
import copy, json, random
random.seed(5)
one = json.load(open("one.json"))
for host in range(40):
    profile = copy.deepcopy(one)
    for key, answer in profile["characteristics"].items():
        if key.endswith(("_ns", "_gbs", "_ghz")) and isinstance(answer["value"], float):
            factor = random.gauss(1, 0.01)
            answer["value"] *= factor
            answer["interval"] = [bound * factor for bound in answer["interval"]]
    json.dump(profile, open(f"equals/node{host:02}.json", "w"))
PYTHON
expect 0 fleet equals
expect 0 fleet equals --json
out_has '"format": "blackjack-fleet/1"'

cp -r equals one_slow
python3 - <<'PYTHON'
import json
profile = json.load(open("one_slow/node17.json"))
answer = profile["characteristics"]["memory.read_gbs"]
answer["value"] *= 0.6
answer["interval"] = [bound * 0.6 for bound in answer["interval"]]
json.dump(profile, open("one_slow/node17.json", "w"))
PYTHON
expect 1 fleet one_slow
out_has node17
out_has memory.read_gbs
grep -q 'node0' out && complain "another host is named"
expect 1 fleet one_slow --json
python3 - <<'PYTHON' || complain "what --json says of node17"
import json
found = json.load(open("out"))
assert found["hosts"] == 40
names = {(row["file"], row["key"]) for row in found["outliers"]}
assert ("node17.json", "memory.read_gbs") in names, names
assert all(file == "node17.json" for file, _ in names), names
assert all(0.5 < row["ratio"] < 0.7 for row in found["outliers"] if row["key"] == "memory.read_gbs")
PYTHON

# What is no profile is left out, by name; a folder of nothing else is an error.
echo '{' >one_slow/broken.json
expect 1 fleet one_slow
err_has broken.json
mkdir nothing
expect 2 fleet nothing
expect 2 fleet not_there
expect 2 fleet

if "$blackjack" run clock -q --no-curves --effort quick --machine "sim:$machine" -o small.json.gz >out 2>err; then
    [ "$(head -c 2 small.json.gz | od -An -tx1 | tr -d ' ')" = 1f8b ] || complain "small.json.gz is not compressed"
    expect 0 get small.json.gz cpu.clock_ghz
    head -c 100 small.json.gz >cut.json.gz
    expect 2 get cut.json.gz cpu.clock_ghz
fi
finish
