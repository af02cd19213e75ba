#!/bin/sh
# get: fields, exit statuses, and files that are no profiles.
. "$(dirname "$0")/lib.sh"
profile=$here/profile.json
valid "$profile"

# field TEXT KEY [FIELD]
field() {
    text=$1
    shift
    expect 0 get "$profile" "$@"
    out_is "$text"
    [ -s err ] && complain "nothing expected on standard error"
}
field 32768 cache.L1.size_bytes
field 32768 cache.L1.size_bytes value
field "[32768, 34816]" cache.L1.size_bytes interval
field bytes cache.L1.size_bytes unit
field medium cache.L1.size_bytes confidence
field ok cache.L1.size_bytes status
field 49152 cache.L1.size_bytes claimed
field levels/1 cache.L1.size_bytes method
field '["cache.walk"]' cache.L1.size_bytes evidence
field 0.001 cache.levels p
field 101.5 memory.latency_ns
field "[[0, 1], [2, 3]]" cache.L1.sharing
field unstable cache.L2.size_bytes status
expect 1 get "$profile" cache.L2.size_bytes value
out_is ""
field undetermined cache.L2.capacity_bytes status
field "needs 2 cpus, may use 1" contexts.int reason

for key in cache.L2.size_bytes cache.L2.capacity_bytes contexts.int scheduler.slot_ms; do
    expect 1 get "$profile" $key
    one_line_error
    err_has "$("$blackjack" get "$profile" $key reason)"
done
expect 1 get "$profile" contexts.int value
one_line_error
expect 1 get "$profile" contexts.int interval
one_line_error
expect 1 get "$profile" memory.latency_ns claimed
one_line_error

expect 2 get "$profile" cache.L1.size_byte
one_line_error
err_has "no such key"
err_has "did you mean 'cache.L1.size_bytes'?"
expect 2 get "$profile" nonsense
one_line_error
expect 2 get "$profile" cache.levels weight
one_line_error
err_has "expected one of value"

"$blackjack" get - cache.levels <"$profile" >out 2>err
out_is 2

# Files that are no profiles: one line with file, place, what was expected.
: >empty.json
printf '{"format": "blackjack-profile/9"}' >later.json
printf '{"format": "blackjack-profile/1", "characteristics": {"a.b": {"value": "x", "unit": "ns", "status": "ok"}}}' >text.json
printf '{"format": "blackjack-profile/1",\n "characteristics": {"a.b": ' >half.json
head -c 40000000 /dev/zero >large.json
for file in empty later text half large; do
    expect 2 get $file.json cache.levels
    one_line_error
    err_has "$file.json: "
    expect 2 show $file.json
    expect 2 reanalyze $file.json
done
expect 2 get half.json a.b
err_has "line 2"
expect 2 get text.json a.b
err_has "characteristics.a.b.value: expected a number"
expect 2 get missing.json a.b
one_line_error
expect 2 get . a.b
one_line_error

"$blackjack" get "$profile" cache.levels >/dev/full 2>err
[ $? -eq 3 ] || complain "get > /dev/full"
finish
