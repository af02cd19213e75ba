#!/bin/sh
# Ranks that are lost while they are measured: killed, killed as rank 0, and stopped so that they do not answer. The run
# ends within 30 s with the rank's name and exit status 1, and the profile has what was done.
# usage: test_lost.sh PROGRAM MPIRUN PYTHON
set -eu
program=$1 mpirun=$2 python=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $mpirun in
*openmpi) set -- "$mpirun" --allow-run-as-root --oversubscribe ;;
*) set -- "$mpirun" ;;
esac

lose() { # lose RANK SIGNAL NAME LAUNCHER...: how it goes is in "status", "said" and NAME.json
    rank=$1 signal=$2 profile=$folder/$3.json
    shift 3
    begin=$(date +%s)
    timeout 90 "$@" -n 2 "$program" --effort thorough --quiet -o "$profile" 2>"$folder/said" &
    launcher=$!
    for wait in $(seq 100); do # the journal of the start, then a moment for the first messages
        [ -s "$profile" ] && break
        sleep 0.1
    done
    sleep 1
    victim=
    for process in $(pgrep -f "$profile"); do # a keeper shows no arguments
        if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx -e "OMPI_COMM_WORLD_RANK=$rank" -e "PMI_RANK=$rank"; then
            victim=$process
        fi
    done
    [ -n "$victim" ]
    kill -"$signal" "$victim"
    status=0
    wait $launcher || status=$?
    took=$(($(date +%s) - begin))
    cat "$folder/said"
    echo "status $status after $took s"
    [ $took -le 30 ]
    [ $status = 1 ]
    for wait in $(seq 30); do # nobody is left behind; what waits for its burial is gone
        case $(sed 's/.*) //; s/ .*//' "/proc/$victim/stat" 2>/dev/null) in '' | Z | X) break ;; esac
        sleep 0.1
    done
    case $(sed 's/.*) //; s/ .*//' "/proc/$victim/stat" 2>/dev/null) in '' | Z | X) ;; *) exit 1 ;; esac
}
is_kept() { # is_kept NAME RANK
    "$python" - "$folder/$1.json" "rank $2 " <<'END'
import json
import sys

profile = json.load(open(sys.argv[1]))
layers = profile["characteristics"]["comm.layers"]
assert layers["status"] == "unstable" and layers["confidence"] == "low", layers
assert sys.argv[2] in layers["reason"] and layers["value"][0]["latency_us"] > 0, layers
assert any(sys.argv[2] in warning for warning in profile["environment"]["warnings"])
END
}

lose 1 KILL killed "$@"
grep -q "rank 1 (host $(hostname), process [0-9]*) was ended by a kill" "$folder/said"
grep -q "rank 1 (host $(hostname), process [0-9]*) has died; .*holds what was done" "$folder/said"
is_kept killed 1
lose 1 STOP stopped "$@"
grep -q "rank 1 (host $(hostname), process [0-9]*) did not answer in time" "$folder/said"
is_kept stopped 1
lose 0 KILL first "$@" # who holds the samples: the journal is from before
grep -q "rank 0 (host $(hostname), process [0-9]*) was ended by a kill" "$folder/said"
"$python" -c 'import json, sys; json.load(open(sys.argv[1]))' "$folder/first.json"
echo "lost ranks"
