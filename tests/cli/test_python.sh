#!/bin/sh
# examples/read_profile.py takes from a profile what get does, with nothing but Python's own library.
. "$(dirname "$0")/lib.sh"
has python3 || skip "no python3"
profile=$here/profile.json
example=$source_dir/examples/read_profile.py

# reads TEXT KEY...
reads() {
    text=$1
    shift
    python3 -S "$example" "$profile" "$@" >out 2>err || complain "read_profile.py $*"
    out_is "$text"
}
reads "cache.L1.size_bytes 32768
memory.latency_ns 101.5" cache.L1.size_bytes memory.latency_ns
# Unstable, undetermined, without a confidence, not there.
for key in cache.L2.size_bytes cache.L2.capacity_bytes cache.L1.sharing cache.L3.size_bytes; do
    reads "$key null" $key
done
python3 -S "$example" "$profile" >all 2>err || complain "all keys"
grep -v null all >out
"$blackjack" get "$profile" '*' --min-confidence medium 2>/dev/null | sort >expected
cmp -s out expected || complain "read_profile.py and get differ"
finish
