#!/bin/sh
# Profiles that earlier versions wrote are still read by every command: people keep theirs, and compare with last month's.
# old_profiles/ has one of a real machine, busy and with answers of all kinds, and one of machines/l1_24k.json.
. "$(dirname "$0")/lib.sh"
native=$here/old_profiles/native-0.1.json
sim=$here/old_profiles/sim-0.1.json

# stored KEY FIELD TEXT FILE: `get` gives what the file says.
stored() {
    expect 0 get "$4" "$1" "$2"
    out_is "$3"
}
stored cache.L1.size_bytes unit bytes "$native"
stored cache.L1.size_bytes claimed 32768 "$native"
stored cache.L2.size_bytes status unstable "$native"
stored cache.line_bytes value 64 "$native"
stored cache.L2.line_bytes status undetermined "$native"
stored cache.levels value 2 "$sim"
stored cache.L1.associativity value 6 "$sim"
stored cache.L1.associativity confidence high "$sim"
stored page.size_bytes evidence '["page.partners"]' "$sim"
stored op.int8.add.latency status unsupported "$sim"

for profile in "$native" "$sim"; do
    valid "$profile"
    expect 0 show "$profile"
    out_has "blackjack 0.1.0"
    out_has "cache.L1.size_bytes"
    expect 0 compare "$profile" "$profile"
    out_has "same: no difference beyond run-to-run noise ("
    expect 0 emit json "$profile"
    out_has '"cache.L1.size_bytes": '
    expect 0 emit c-header "$profile"
    out_has "#define BLACKJACK_CACHE_LINE_BYTES 64"
    expect 0 reanalyze "$profile" -o again.json --force
    valid again.json
    expect 0 get again.json cache.L1.size_bytes
    cp again.json "again-$(basename "$profile")"
done

# A simulated machine's samples give the stored answers again. Where the method's revision is another one now, the answer may
# be, too.
if command -v python3 >/dev/null; then
    python3 - "$sim" again-sim-0.1.json >out 2>err <<'END' || complain "reanalyze gives other answers"
import json, sys
stored, again = (json.load(open(path))["characteristics"] for path in sys.argv[1:])
same_method = [key for key in stored if key in again and stored[key]["method"] == again[key]["method"]]
different = [key for key in same_method if stored[key]["value"] != again[key]["value"] or
             stored[key].get("interval") != again[key].get("interval") or stored[key]["status"] != again[key]["status"]]
assert not different, different
print(len(same_method), "answers are the same")
END
fi
finish
