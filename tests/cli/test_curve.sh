#!/bin/sh
# curve: the samples of a profile, for people and for other programs.
. "$(dirname "$0")/lib.sh"
profile=$here/profile.json

expect 0 curve "$profile"
out_is "curve       probe  points  rounds
cache.walk  cache       2       2"
expect 0 curve "$profile" cache.walk
out_has "latency [ns] against working_set [bytes]"
out_has "evidence of  cache.levels, cache.L1.size_bytes"
grep -Eqx ' +4096 +1\.15 +1\.1 +1\.2 +2' out || complain "two rounds of 4096"
grep -Eqx ' +8192 +1\.3 +1\.3 +1\.3 +1' out || complain "one round of 8192"
expect 0 curve "$profile" cache.walk --csv
out_is "working_set_bytes,latency_ns,round
4096,1.1,1
4096,1.2,2
8192,1.3,2"
expect 2 curve "$profile" cache.wlak
one_line_error
err_has "no such curve: 'cache.wlak' (did you mean 'cache.walk'?)"
expect 2 curve "$profile" --csv
one_line_error
expect 2 curve missing.json cache.walk
one_line_error
expect 2 curve cache.walk
one_line_error
err_has "blackjack-profile.json"
printf '{"format": "blackjack-profile/1", "characteristics": {}}' >bare.json
expect 1 curve bare.json
one_line_error
err_has "no curves"
"$blackjack" curve "$profile" cache.walk >/dev/full 2>err
[ $? -eq 3 ] || complain "curve > /dev/full"

# A run into the default profile: what is printed fits a terminal, attributes are there, and analyze reads the samples.
expect 0 run cache slot -q --effort quick --machine "sim:$machine"
expect 0 curve
for id in $(sed '1d; s/ .*//' out); do
    expect 0 curve "$id"
    awk 'length($0) > 80 { bad = 1 } END { exit bad }' out || complain "$id: wider than 80 columns"
    expect 0 curve "$id" --csv
done
expect 0 curve cache.walk
out_has "grain_bytes  64"
"$blackjack" curve cache.walk --csv | "$blackjack" analyze cache - >out 2>err || complain "analyze does not read a curve"
expected=$("$blackjack" get cache.levels)
out_has "\"cache.levels\": {\"value\": $expected,"
"$blackjack" curve slot.gaps --csv | "$blackjack" analyze slot - >out 2>err || complain "analyze does not read gaps"
out_has '"scheduler.slot_ms": {"value": '
[ -s err ] && complain "nothing expected on standard error"
finish
