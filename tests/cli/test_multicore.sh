#!/bin/sh
# Structured answers about cpus: show, get, compare and emit make use of them.
. "$(dirname "$0")/lib.sh"
profile=$here/multicore_profile.json
valid "$profile"
# changed FROM TO: the profile with one text changed, as changed.json
changed() {
    sed "s|$1|$2|" "$profile" >changed.json
    cmp -s changed.json "$profile" && complain "nothing to change: $1"
    valid changed.json
}

# show: one page, and each section by itself.
LC_ALL=C "$blackjack" show "$profile" >out 2>err || complain "show"
for text in "Threads: put those that talk on cpus 0-1,4-5 (L3): 42 ns, not 118 ns. After 3" \
    "All cpus at once: memory 160 ns, 5.25 GB/s a core, L3 2 MiB." "8 cpus, 3 levels" \
    "    0-7: 118 ns, 42 ns inside, by blocks of 16 MiB" "        1,5 (Core): 12.5 ns" "4 groups of 2 cpus" \
    "    0-1,4-5; 2-3,6-7" "GB/s by cpus 1: 12.5, 2: 19, 3: 21, 4: 21.2" "5.25 GB/s (alone 12.5)" \
    "    0: 0-1,4-5    90   150" "all cpus are alike"; do
    out_has "$text"
done
awk 'length($0) > 80 { bad = 1 } END { exit bad }' out || complain "wider than 80 columns"
LC_ALL=C grep -q '[^ -~]' out && complain "not plain ASCII in the C locale"
grep -q '[[{]' out && complain "JSON on the page"

# get: one line of JSON, as it was written.
for key in topology.tree topology.pairs cpu.kinds cache.L2.sharing memory.contention numa.latency_ns numa.gbs; do
    expect 0 get "$profile" $key
    [ "$(wc -l <out)" -eq 1 ] || complain "$key is not one line"
    value=$(cat out)
    grep -qF "\"$key\": {\"value\": $value, " "$profile" || complain "$key is not what the profile has"
    expect 0 get "$profile" $key confidence
    out_is high
done
expect 0 get "$profile" cache.L3.sharing
out_is "[[0, 1, 4, 5], [2, 3, 6, 7]]"

# compare: who belongs together counts, in whatever order it is written; the numbers beside it vary.
expect 0 compare "$profile" "$profile"
changed '"latency_ns": 118' '"latency_ns": 125'
expect 0 compare "$profile" changed.json
changed '\[\[0, 1, 4, 5\], \[2, 3, 6, 7\]\], "unit": "groups"' '[[6, 7, 2, 3], [5, 4, 1, 0]], "unit": "groups"'
expect 0 compare "$profile" changed.json
differs() { # differs KEY TEXT: between the profile and changed.json
    expect 1 compare "$profile" changed.json
    out_has "$1"
    out_has "$2"
    awk 'length($0) > 80 { bad = 1 } END { exit bad }' out || complain "wider than 80 columns"
    expect 1 compare "$profile" changed.json --json
    out_has "\"key\": \"$1\""
}
changed '"cache.L2.sharing": {"value": \[\[0, 4\], \[1, 5\]' '"cache.L2.sharing": {"value": [[0, 1], [4, 5]'
differs cache.L2.sharing "(0-1; 4-5; 2,6; 3,7)"
changed '"cpus": \[2, 6\]' '"cpus": [2, 7]'
sed -i 's|"cpus": \[3, 7\]|"cpus": [3, 6]|' changed.json
differs topology.tree "8 cpus, 3 levels"
changed '"groups": \[\[0, 1, 4, 5\], \[2, 3, 6, 7\]\]' '"groups": [[0, 1, 2, 3, 4, 5, 6, 7]]'
differs memory.contention "1 level"
changed '"cpu.kinds": {"value": \[{"cpus": \[0, 1, 2, 3, 4, 5, 6, 7\]' '"cpu.kinds": {"value": [{"cpus": [4, 5, 6, 7], "clock_ghz": 2}, {"cpus": [0, 1, 2, 3]'
differs cpu.kinds "kinds of cpus"
changed '\[\[90, 150.5\], \[152, 91\]\]' '[[90]]'
differs numa.latency_ns "1 node"
# Low confidence is mentioned, and does not count.
changed '"cache.L3.sharing": {"value": \[\[0, 1, 4, 5\], \[2, 3, 6, 7\]\], "unit": "groups", "confidence": "high"' '"cache.L3.sharing": {"value": [[0, 1]], "unit": "groups", "confidence": "low"'
expect 0 compare "$profile" changed.json
out_has cache.L3.sharing

# What makes no sense is an error where it is used, and shown as it is.
changed '"cpus": \[2, 6\]' '"cpus": [2, 2]'
expect 0 show changed.json topology
out_has '"cpus": [2, 2]'
for format in omp-places rankfile hwloc-xml; do
    expect 2 emit $format changed.json
    one_line_error
    err_has "topology.tree: expected"
done
finish
