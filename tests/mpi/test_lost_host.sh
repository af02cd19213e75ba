#!/bin/sh
# A host that vanishes while messages are measured, its link taken away: a rank of it is named, what was measured is kept,
# and the launcher ends. usage: test_lost_host.sh PROGRAM MPIRUN PYTHON
set -eu
program=$1 mpirun=$2 python=$3
folder=$(mktemp -d)
. "$(dirname "$0")/hosts.sh"
cleanup() {
    end_hosts
    rm -rf "$folder"
}
trap cleanup EXIT
make_hosts 3

launch bjhost1:2,bjhost2:2,bjhost3:2 "$program" --effort thorough --quiet -o "$folder/profile.json" 2>"$folder/said" &
launcher=$!
for wait in $(seq 300); do # the journal of the start, then a moment for the first messages
    [ -s "$folder/profile.json" ] && break
    sleep 0.1
done
sleep 2
begin=$(date +%s)
inside 1 ip link del to3
status=0
wait $launcher || status=$?
took=$(($(date +%s) - begin))
cat "$folder/said"
echo "status $status after $took s"
[ $took -le 30 ]
grep -q "rank [45] (host bjhost3, process [0-9]*) did not answer in time; .*holds what was done" "$folder/said"
# Open MPI's launcher waits for the lost host until it is interrupted; 4.1.4 then crashes at its own end.
case $mpirun in *openmpi) [ $status != 0 ] ;; *) [ $status = 1 ] ;; esac
"$python" - "$folder/profile.json" <<'END'
import json
import sys

profile = json.load(open(sys.argv[1]))
layers = profile["characteristics"]["comm.layers"]
assert layers["status"] == "unstable" and layers["confidence"] == "low" and " was lost" in layers["reason"], layers
assert layers["value"][0]["latency_us"] > 0
assert any("host bjhost3" in warning for warning in profile["environment"]["warnings"])
END
echo "lost host"
