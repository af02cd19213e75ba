#!/bin/sh
# Two ranks: one layer with its curve, what --resume, --bytes, --all-pairs and --profiles write, and warnings by name.
# usage: test_two.sh PROGRAM MPIRUN PYTHON
set -eu
program=$1 mpirun=$2 python=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $mpirun in
*openmpi) set -- "$mpirun" --allow-run-as-root --oversubscribe ;;
*) set -- "$mpirun" -bind-to core ;;
esac

# Each host's node first, then the messages: into one folder and one file.
timeout 100 "$@" -n 2 "$program" --effort quick --budget 2 --quiet --profiles "$folder/nodes"
[ "$(ls "$folder/nodes")" = "$(hostname).json" ]
if timeout 100 "$@" -n 2 "$program" --effort quick --budget 2 --quiet --profiles "$folder/nodes" 2>"$folder/said"; then
    echo "a node's profile was replaced"
    exit 1
fi
grep -q "host $(hostname): .*exists already" "$folder/said"
cp "$folder/nodes/$(hostname).json" "$folder/two.json"
timeout 100 "$@" -n 2 "$program" --effort quick --longest 1048576 --bytes 1024,32768 --all-pairs --resume \
    -o "$folder/two.json" 2>"$folder/said"
"$python" - "$folder/two.json" <<'END'
import json
import sys

profile = json.load(open(sys.argv[1]))
layers = profile["characteristics"]["comm.layers"]["value"]
assert len(layers) == 1 and layers[0]["groups"] == [[0, 1]] and layers[0]["name"] == "host", layers
sizes = [point[0] for point in layers[0]["curve"]]
# On a busy machine long messages take longer than a curve waits for.
assert sizes[0] == 0 and 1 << 14 <= sizes[-1] <= 1 << 20 and layers[0]["hockney"]["error"] >= layers[0]["error"], layers
assert layers[0]["bytes"] == 1024 and {"comm.pairs.0.1024", "comm.pairs.0.32768"} <= set(profile["curves"])
assert profile["characteristics"]["comm.ranks"]["value"]["hosts"] == [0, 0]
assert profile["characteristics"]["cache.L1.size_bytes"]["status"] == "ok"
END

# More ranks than cpus, none of them bound.
count=$(($(nproc) + 1))
case $mpirun in *openmpi) set -- "$@" --bind-to none ;; *) set -- "$mpirun" ;; esac
timeout 100 "$@" -n $count "$program" --effort quick --longest 64 --budget 3 -o "$folder/more.json" 2>"$folder/said"
grep -q "$count of $count ranks are not bound to one cpu (rank 0, 1, .*on $(hostname))" "$folder/said"
grep -q "more ranks on a host than they have cpus: $(hostname) ($count ranks" "$folder/said"
grep -q "not bound to one cpu" "$folder/more.json"
echo "two ranks"
