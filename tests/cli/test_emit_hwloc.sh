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

# Nodes with their distances and attributes, latency between cpus, and what is left when all work; both parsers.
multicore=$here/multicore_profile.json
expect 0 emit hwloc-xml "$multicore" -o nodes.xml
[ -s err ] && complain "something of the multicore profile is left out"
for libxml in 0 1; do
    export HWLOC_LIBXML_IMPORT=$libxml
    hwloc-info -i nodes.xml >out 2>err || complain "hwloc-info with nodes"
    for objects in "2 NUMANode" "2 L3Cache" "4 L2Cache" "4 L1dCache" "8 PU"; do
        out_has "$objects"
    done
    lstopo-no-graphics -i nodes.xml --memattrs >out 2>err || complain "memattrs"
    out_has "NUMANode L#1 = 151 from cpuset 0x00000033 (L3 L#0)"
    out_has "NUMANode L#0 = 152 from cpuset 0x000000cc (L3 L#1)"
    out_has "NUMANode L#1 = 6676 from cpuset 0x00000033"
    out_has "NUMANode L#0 = 5007 from cpuset 0x00000001"
    lstopo-no-graphics -i nodes.xml --distances >out 2>err || complain "distances"
    [ -s err ] && complain "lstopo complains of distances"
    grep -A2 'latency matrix' out | grep -Eq '^ +0 +90 +151$' || complain "latency from node to node"
    hwloc-info -i nodes.xml L3:1 >out 2>err
    out_has "BlackjackPairLatencyNs = 42"
    out_has "BlackjackFullEffectiveBytes = 2097152"
done
unset HWLOC_LIBXML_IMPORT
# Without sharing the parts of the tree are groups, which hold the nodes.
grep -v '"cache.L..sharing"' "$multicore" >groups.json
expect 0 emit hwloc-xml groups.json -o groups.xml
lstopo-no-graphics -i groups.xml --of console -v >out 2>err || complain "groups"
[ -s err ] && complain "lstopo complains of groups"
[ "$(grep -c 'Group[0-9]*(Blackjack)\|Blackjack L#\|Group' out)" -ge 2 ] || complain "no groups"
hwloc-info -i groups.xml >out 2>err
out_has "2 NUMANode"
# Kinds, the fastest with the highest efficiency.
sed 's|"cpu.kinds": {"value": .{"cpus": .0, 1, 2, 3, 4, 5, 6, 7., "clock_ghz": 3|"cpu.kinds": {"value": [{"cpus": [0, 1, 4, 5], "clock_ghz": 4}, {"cpus": [3, 2, 6, 7], "clock_ghz": 3|' \
    "$multicore" >kinds.json
expect 0 emit hwloc-xml kinds.json -o kinds.xml
lstopo-no-graphics -i kinds.xml --cpukinds >out 2>err || complain "kinds"
out_has "CPU kind #0 efficiency 0 cpuset 0x000000cc"
out_has "CPU kind #1 efficiency 1 cpuset 0x00000033"
out_has "BlackjackClockGHz = 4"
# Nodes that cross the caches, and nodes of which the cpus are not known: left out, and told.
sed 's|"numa.gbs": {"value": \(.*\), "unit": "GB/s"|"numa.gbs": {"value": {"nodes": [[0, 2, 4, 6], [1, 3, 5, 7]], "gbs": \1}, "unit": "GB/s"|' \
    "$multicore" >two.json
expect 0 emit hwloc-xml two.json -o two.xml
grep -q 'numa.latency_ns is left out: it has other nodes than the bandwidth' two.xml || complain "two answers disagree"
grep -v '"numa.latency_ns"' two.json >crossed.json
expect 0 emit hwloc-xml crossed.json -o crossed.xml
hwloc-info -i crossed.xml >out 2>err || complain "crossed nodes"
out_has "1 NUMANode"
grep -q 'BlackjackLeftOut" value="nodes of memory is left out: they cross the caches' crossed.xml || complain "not told"
grep -v '"topology.tree"' "$multicore" >unknown.json
expect 0 emit hwloc-xml unknown.json -o unknown.xml
hwloc-info -i unknown.xml >out 2>err || complain "unknown nodes"
out_has "1 NUMANode"
grep -q 'numa.gbs is left out: the cpus of its nodes are not known' unknown.xml || complain "not told"
finish
