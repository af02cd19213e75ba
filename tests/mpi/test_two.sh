#!/bin/sh
# Two ranks: one layer with its curve. A rank that is killed: its name, a profile, no hang.
# usage: test_two.sh PROGRAM MPIRUN PYTHON
set -eu
program=$1 mpirun=$2 python=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $mpirun in
*openmpi) set -- "$mpirun" --allow-run-as-root --oversubscribe ;;
*) set -- "$mpirun" ;;
esac
timeout 100 "$@" -n 2 "$program" --effort quick --quiet -o "$folder/two.json"
"$python" - "$folder/two.json" <<'END'
import json
import sys

profile = json.load(open(sys.argv[1]))
layers = profile["characteristics"]["comm.layers"]["value"]
assert len(layers) == 1 and layers[0]["groups"] == [[0, 1]] and layers[0]["name"] == "host", layers
sizes = [point[0] for point in layers[0]["curve"]]
assert sizes[0] == 0 and sizes[-1] >= 1 << 20 and layers[0]["hockney"]["error"] >= layers[0]["error"], layers
assert profile["characteristics"]["comm.ranks"]["value"]["hosts"] == [0, 0]
END

# The second rank dies while it is measured.
begin=$(date +%s)
timeout 60 "$@" -n 2 "$program" --effort thorough --quiet -o "$folder/killed.json" 2>"$folder/said" &
launcher=$!
for wait in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
    [ -s "$folder/killed.json" ] && break
    sleep 0.1
done
victim=
for process in $(pgrep -f "$folder/killed.json"); do
    if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx -e OMPI_COMM_WORLD_RANK=1 -e PMI_RANK=1; then
        victim=$process
    fi
done
[ -n "$victim" ]
kill -9 "$victim"
status=0
wait $launcher || status=$?
[ $(($(date +%s) - begin)) -le 35 ]
cat "$folder/said"
[ "$status" != 0 ]
"$python" -c 'import json, sys; json.load(open(sys.argv[1]))' "$folder/killed.json"
case $mpirun in *openmpi) grep -q "rank 1 (host .*) has died" "$folder/said" ;; esac
echo "two ranks, and one that was killed (status $status)"
