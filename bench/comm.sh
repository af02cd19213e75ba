#!/bin/sh
# Half round trips of blackjack-comm beside a plain ping-pong in the same launch, and beside NetPIPE where Debian's package
# is there. On a quiet machine: nothing else may run. usage: comm.sh BUILD_FOLDER [openmpi|mpich]
set -eu
build=$1
sizes="0 1024 32768 262144 1048576"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for flavour in ${2:-openmpi mpich}; do
    [ -x "$build/pingpong-$flavour" ] || continue
    case $flavour in
    openmpi) launch="mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to core" netpipe=NPopenmpi ;;
    *) launch="mpirun.mpich -bind-to core" netpipe=NPmpich2 ;;
    esac
    # Turn by turn, and the least of all: a neighbour's minute should not fall on one program alone.
    for turn in 1 2 3; do
        # shellcheck disable=SC2086
        $launch -n 2 "$build/pingpong-$flavour" $sizes >"$folder/plain.$turn"
        # shellcheck disable=SC2086
        $launch -n 2 "$build/blackjack-comm-$flavour" --effort quick --longest 1048576 --quiet -o "$folder/ours.$turn" \
            --force
        command -v $netpipe >/dev/null || continue
        # shellcheck disable=SC2086
        (cd "$folder" && $launch -n 2 $netpipe -u 1048576 -p 0 -o netpipe.$turn >/dev/null 2>&1) || true
    done
    python3 - "$flavour" "$folder" <<'END'
import json
import sys
from pathlib import Path

flavour, folder = sys.argv[1], Path(sys.argv[2])


def least(table, size, *times):
    table[size] = tuple(map(min, table.get(size, times), times))


plain, curve, pipe = {}, {}, {}
for path in sorted(folder.glob("plain.*")):
    for line in path.read_text().splitlines():
        size, *times = line.split()
        least(plain, int(size), *map(float, times))
for path in sorted(folder.glob("ours.*")):
    answer = json.loads(path.read_text())["characteristics"]["comm.layers"]
    print(f"{flavour}: {len(answer['value'])} layer(s), {answer['status']}, {answer['confidence']}")
    for point in answer["value"][0]["curve"]:
        least(curve, int(point[0]), point[1])
for path in sorted(folder.glob("netpipe.*")):
    for line in path.read_text().splitlines():
        least(pipe, int(line.split()[0]), 1e6 * float(line.split()[-1]))
print("     bytes  plain us  ours us  ratio  curve us  ratio  NetPIPE us  ratio")
for size, (one, ours) in plain.items():
    ((whole,), other) = (curve[size], pipe.get(max(size, 1)))
    print(f"{size:10} {one:9.3f} {ours:8.3f} {ours / one:6.2f} {whole:9.3f} {whole / one:6.2f}", end="")
    print(f" {other[0]:11.3f} {whole / other[0]:6.2f}" if other else "")
END
    rm -f "$folder"/plain.* "$folder"/ours.* "$folder"/netpipe.*
done
