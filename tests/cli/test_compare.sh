#!/bin/sh
# compare: the same machine with other seeds is the same, one with a level halved is not, and the level is named.
. "$(dirname "$0")/lib.sh"
profile=$here/profile.json

sed 's/"level": 2, "size": 1048576/"level": 2, "size": 524288/' "$machine" >halved.json
cmp -s halved.json "$machine" && complain "no second level of 1 MiB to halve in $machine"
for seed in 1 2; do
    expect 0 run cache line --machine "sim:$machine" --seed $seed -o same$seed.json --quiet
done
expect 0 run cache line --machine sim:halved.json --seed 3 -o halved.profile --quiet

expect 0 compare same1.json same2.json
out_has "same: no difference beyond run-to-run noise ("
grep -q "^  cache" out && complain "a level is said to differ"
expect 0 compare same1.json same1.json
expect 1 compare same1.json halved.profile
out_has "different: "
out_has "cache.L2.size_bytes"
out_has "cache.L2.capacity_bytes"
grep -q "^  cache.L1" out && complain "the first level is said to differ"
expect 1 compare halved.profile same2.json
out_has "cache.L2.size_bytes"

expect 1 compare same1.json halved.profile --json
out_has '"verdict": "different"'
if has python3; then
    python3 - out <<'END' || complain "JSON of a comparison"
import json, sys
found = json.load(open(sys.argv[1]))
keys = {entry["key"] for entry in found["differences"]}
assert found["verdict"] == "different" and "cache.L2.size_bytes" in keys, keys
assert not any(key.startswith("cache.L1") for key in keys), keys
size = next(entry for entry in found["differences"] if entry["key"] == "cache.L2.size_bytes")
assert 0.4 < size["ratio"] < 0.6 and size["a"]["unit"] == "bytes" and size["kind"] == "value", size
END
else
    left_out "the JSON of a comparison: no python3"
fi
expect 0 compare same1.json same2.json --json
out_has '"verdict": "same"'
out_has '"differences": []'

# Sets: medians, and how many of each.
expect 0 compare same1.json same2.json -- same2.json
out_has "medians of 2 and 1 profiles"
expect 1 compare same1.json same2.json -- halved.profile halved.profile
out_has "cache.L2.capacity_bytes"
out_has "medians of 2 and 2 profiles"
expect 1 compare same1.json same2.json --json -- halved.profile
out_has '"profiles": [2, 1]'
expect 0 compare -- same1.json same2.json
expect 2 compare same1.json same2.json halved.profile
one_line_error
err_has "A... -- B..."
expect 2 compare same1.json same2.json -- missing.json
one_line_error

# Another machine: said at the top, and what its processor cannot do in one place.
for name in atom:1 zen3:2; do
    expect 0 run clock op timer --machine "sim:$source_dir/machines/${name%:*}.json" --effort quick --seed "${name#*:}" \
        -o "${name%:*}.json" --quiet
done
expect 1 compare zen3.json atom.json
head -n 1 out | grep -q "^these are different machines: [0-9]* of [0-9]* numbers differ" || complain "no word of another machine"
grep -q "^  unsupported by the second alone, [0-9]* values: " out || complain "what atom does not support"
grep -q "^  as the clock, [0-9]* values: " out || complain "what follows from the clock"
expect 1 compare zen3.json atom.json --json
out_has '"other_machine": true'
out_has '"follows": "cpu.clock_ghz"'

# Notes and doubts are no differences; control characters of a file stay out of the page.
sed 's/Linux 6.1/Linux 6.2/; s/"status": "failed", "reason"/"status": "undetermined", "reason"/' "$profile" >other.json
expect 0 compare "$profile" other.json
out_has "system: Linux 6.1, then Linux 6.2"
LC_ALL=C grep -q "$(printf '\033')" out && complain "escape sequence on the page"

# Nothing to compare is not "same", and neither are two failures.
printf '{"format": "blackjack-profile/1", "characteristics": {}}' >empty.json
printf '{"format": "blackjack-profile/1", "characteristics": {"a.b": {"value": null, "unit": "", "status": "failed", "reason": "so"}}}' >failed.json
for pair in "same1.json empty.json" "empty.json same1.json" "failed.json failed.json" "empty.json empty.json --json"; do
    # shellcheck disable=SC2086
    expect 2 compare $pair
    one_line_error
    err_has "nothing to compare"
done

# Trouble is 2, whatever it is.
for other in same2.json halved.profile; do
    "$blackjack" compare same1.json $other >/dev/full 2>err
    status=$?
    [ $status -eq 2 ] || complain "full standard output: exit status $status"
done
expect 2 compare same1.json
one_line_error
expect 2 compare same1.json missing.json
one_line_error
expect 2 compare . same1.json
one_line_error
expect 2 compare same1.json same2.json --jsn
one_line_error
err_has "did you mean '--json'?"
finish
