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

# Several keys and patterns: lines of key and value, in the order of the profile; a pattern alone gives the key, too.
field "cache.L1.size_bytes 32768
memory.latency_ns 101.5" cache.L1.size_bytes memory.latency_ns
field "cache.L1.size_bytes 32768
cache.L1.sharing [[0, 1], [2, 3]]
cpu.clock_ghz 2.5" 'cache.L1.*' cpu.clock_ghz
field "cache.levels 2" 'cache.levels*'
field "cache.L1.size_bytes medium
cache.L2.size_bytes low" 'cache.L[12].size_*' confidence
field "cache.levels high
memory.latency_ns high" cache.levels memory.latency_ns --field confidence
field bytes cache.L1.size_bytes --field unit
# What is not ok is left out, and told.
expect 1 get "$profile" 'cache.L?.size_bytes' contexts.int
out_is "cache.L1.size_bytes 32768"
err_has "cache.L2.size_bytes: unstable"
err_has "contexts.int: unsupported"
expect 2 get "$profile" cache.levels cache.L1.size_byte
one_line_error
err_has "did you mean 'cache.L1.size_bytes'?"
expect 2 get "$profile" 'cache.L7.*'
one_line_error
err_has "no key matches"
expect 2 get "$profile" cache.levels memory.latency_ns unit
one_line_error
err_has "--field"
expect 2 get "$profile" 'cache.*' --field weight
one_line_error
err_has "expected one of value"
expect 2 get "$profile"
one_line_error

# A default for what is not there: not ok, without that field, a level that this machine has not. Not for slips.
field 7 contexts.int --default 7
field 32768 cache.L1.size_bytes --default 7
field none memory.latency_ns claimed --default none
field 0 cache.L3.size_bytes --default 0
field "cache.L2.size_bytes 0
cache.L1.size_bytes 32768" cache.L2.size_bytes cache.L1.size_bytes --default 0
expect 2 get "$profile" cache.L3.size_byte --default 0
one_line_error
expect 2 get "$profile" cache.L3.size_bytes
one_line_error

field 32768 cache.L1.size_bytes --min-confidence medium
expect 1 get "$profile" cache.L1.size_bytes --min-confidence high
one_line_error
err_has "cache.L1.size_bytes: confidence is medium, asked for is high"
field 4096 cache.L1.size_bytes --min-confidence high --default 4096
field "[[0, 1], [2, 3]]" cache.L1.sharing --min-confidence low
expect 1 get "$profile" cache.L1.sharing --min-confidence medium
expect 2 get "$profile" cache.L1.size_bytes --min-confidence certain
one_line_error

# Without a file: the default profile. A word that could be a file is one.
expect 2 get cache.levels
one_line_error
err_has "blackjack-profile.json"
cp "$profile" blackjack-profile.json
expect 0 get cache.levels
out_is 2
expect 0 get cache.levels confidence
out_is high
expect 0 get cache.levels memory.latency_ns
out_is "cache.levels 2
memory.latency_ns 101.5"
expect 2 get other.json cache.levels
err_has "other.json: no such file"
cp "$profile" cache.levels
expect 0 get cache.levels memory.latency_ns
out_is 101.5
rm blackjack-profile.json cache.levels

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
