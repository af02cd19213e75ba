#!/bin/sh
# hwloc imports the topology that emit writes, and finds the measured numbers.
. "$(dirname "$0")/lib.sh"
profile=$here/emit_profile.json
has lstopo-no-graphics && has hwloc-info || skip "no programs of hwloc"

expect 0 emit hwloc-xml "$profile" -o topology.xml
hwloc-info -i topology.xml >out 2>err || complain "hwloc-info does not take it"
[ -s err ] && complain "hwloc-info complains"
grep -Eq '2 L3Cache' out || complain "two third levels"
grep -Eq '4 L1dCache' out || complain "four first levels"
grep -Eq '8 PU' out || complain "eight cpus"
lstopo-no-graphics -i topology.xml --memattrs >out 2>err || complain "lstopo does not take it"
[ -s err ] && complain "lstopo complains"
grep -A1 "name .Latency'" out | grep -q '= 102 ' || complain "latency"
grep -A1 "name .ReadBandwidth'" out | grep -q '= 11921 ' || complain "bandwidth"
hwloc-info -i topology.xml L3:0 >out 2>err || complain "hwloc-info of a level"
grep -q 'size = 8388608' out || complain "size of the third level"
hwloc-info -i topology.xml L1:0 >out 2>err
grep -q 'BlackjackLatencyNs = 1.25' out || complain "latency of the first level"
# Sharing that is not known: only the measured cpu has caches.
grep -v sharing "$profile" >alone.json
"$blackjack" emit hwloc-xml alone.json -o alone.xml || complain "without sharing"
hwloc-info -i alone.xml >out 2>err || complain "hwloc-info without sharing"
grep -Eq '1 L3Cache' out && grep -Eq '8 PU' out || complain "one cpu has caches, eight are there"
# What is left out is told where hwloc keeps it; both of its parsers take the file, and the other levels are there.
for change in '/"cache.levels"/s/high/low/' '/"cache.L3.size_bytes"/s/"ok"/"unstable"/' \
    '/"cache.L2.size_bytes"/s/medium/low/;/"memory.latency_ns"/s/high/low/;/"cache.L1.associativity"/s/high/low/'; do
    sed "$change" "$profile" >part.json
    "$blackjack" emit hwloc-xml part.json --force -o part.xml || complain "partial: $change"
    levels=$(grep -c 'cache_size' part.xml)
    for libxml in 0 1; do
        HWLOC_LIBXML_IMPORT=$libxml lstopo-no-graphics -i part.xml --of console -v >out 2>err || complain "lstopo: $change"
        [ -s err ] && complain "lstopo complains: $change"
        [ "$(grep -c 'Cache L#' out)" -eq "$levels" ] || complain "levels of $change: $levels"
        grep -q 'BlackjackLeftOut=.*is left out' out || complain "not told: $change"
    done
done
finish
