#!/bin/sh
# srun over two hosts (namespaces) with a Slurm of our own: hosts and binding as Slurm has them, a killed rank, tasks that
# MPI does not join. Skipped without Slurm. usage: test_slurm.sh PROGRAM FLAVOUR PYTHON
set -eu
program=$1 flavour=$2 python=$3
folder=$(mktemp -d)
PATH=$PATH:/usr/sbin:/sbin
. "$(dirname "$0")/hosts.sh"
cleanup() {
    end_hosts
    rm -rf "$folder"
}
trap cleanup EXIT
for tool in slurmctld slurmd srun; do
    command -v $tool >/dev/null || skip "no $tool"
done
case $flavour in openmpi) kind=pmix ;; *) kind=pmi2 ;; esac
cpus=$(nproc)
[ "$cpus" -ge 2 ] || skip "one cpu only"
make_hosts 2

SLURM_CONF=$folder/slurm.conf
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_tcp_if_include=10.77.0.0/24
export SLURM_CONF OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_btl_tcp_if_include
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=bjhost1(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n.spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=bjhost1 NodeAddr=10.77.0.1 CPUs=$cpus State=UNKNOWN
NodeName=bjhost2 NodeAddr=10.77.0.2 CPUs=$cpus State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
# Of both hosts it would be the same folder otherwise.
echo "PMIxCliTmpDirBase=$folder/pmix" >"$folder/mpi.conf"
mkdir "$folder/state" "$folder/pmix"
for number in 1 2; do
    inside $number mount -t tmpfs none "$folder/pmix"
done
inside 1 slurmctld -i
sleep 1
for number in 1 2; do
    inside $number slurmd
done
for wait in $(seq 100); do
    [ "$(inside 1 sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && break
    sleep 0.2
done
if [ "$(inside 1 sinfo -h -t idle -o %D)" != 2 ]; then
    tail -n 20 "$folder"/*.log
    skip "Slurm does not come up here"
fi
inside 1 srun --mpi=list 2>&1 | grep -qw $kind || skip "this Slurm has no $kind"
run() { # run OPTIONS-OF-SRUN -- OPTIONS-OF-THE-PROGRAM
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    inside 1 timeout 200 srun --mpi=$kind $options "$program" "$@"
}

# Two ranks on each host, each bound to a cpu of its own by Slurm.
run -N 2 -n 4 --distribution=block --cpu-bind=threads -- --effort quick --longest 65536 -o "$folder/four.json" 2>"$folder/said"
cat "$folder/said"
if grep -q "not bound" "$folder/said"; then
    echo "bound ranks were warned of"
    exit 1
fi
"$python" - "$folder/four.json" <<'END'
import json
import sys

answers = json.load(open(sys.argv[1]))["characteristics"]
ranks = answers["comm.ranks"]["value"]
assert ranks["hosts"] == [0, 0, 1, 1], ranks
assert min(ranks["cpus"]) >= 0 and ranks["cpus"][0] != ranks["cpus"][1] and ranks["cpus"][2] != ranks["cpus"][3], ranks
layers = answers["comm.layers"]["value"]
inside = [layer for layer in layers if layer["name"].startswith("host")]
assert {tuple(group) for layer in inside for group in layer["groups"]} == {(0, 1), (2, 3)}, layers
network = [layer for layer in layers if layer["name"].startswith("network")]
assert [group for layer in network for group in layer["groups"]] == [[0, 1, 2, 3]], layers
END
echo "hosts and binding as srun has them"

run -N 1 -n 2 --cpu-bind=none -- --effort quick --longest 64 -o "$folder/free.json" 2>"$folder/said"
grep -q "2 of 2 ranks are not bound to one cpu (rank 0, 1 on bjhost" "$folder/said"
echo "unbound ranks are named"

if [ "$flavour" != openmpi ]; then # which says so itself
    status=0
    inside 1 timeout 200 srun --mpi=none -N 1 -n 2 "$program" -o "$folder/alone.json" 2>"$folder/said" || status=$?
    [ $status = 2 ]
    [ "$(grep -c "the launcher started 2 ranks, but each is alone for MPI" "$folder/said")" = 1 ]
    echo "ranks that MPI does not join are told so"
fi

begin=$(date +%s)
run -N 2 -n 2 -- --effort thorough --quiet -o "$folder/killed.json" 2>"$folder/said" &
launcher=$!
for wait in $(seq 300); do # the journal of the start, then a moment for the first messages
    [ -s "$folder/killed.json" ] && break
    sleep 0.1
done
sleep 1
victim=
for process in $(pgrep -f "$folder/killed.json"); do
    if [ "$(cat "/proc/$process/comm")" != srun ] && tr '\0' '\n' <"/proc/$process/environ" | grep -qx SLURM_PROCID=1; then
        victim=$process
    fi
done
[ -n "$victim" ]
kill -KILL "$victim"
status=0
wait $launcher || status=$?
took=$(($(date +%s) - begin))
cat "$folder/said"
echo "status $status after $took s"
# Slurm kills all tasks, by PMIx as soon as it misses one: srun's status is theirs, unless rank 0 was sooner.
[ $status = 1 ] || [ $status = 137 ]
[ $took -le 45 ] # from before the start
grep -q "rank 1 (host bjhost2, process $victim) was ended by a kill" "$folder/said"
"$python" - "$folder/killed.json" <<'END'
import json
import sys

layers = json.load(open(sys.argv[1]))["characteristics"].get("comm.layers")
assert layers is None or (layers["status"] == "unstable" and layers["value"][0]["latency_us"] > 0), layers
END
echo "a killed rank under srun"
