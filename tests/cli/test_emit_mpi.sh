#!/bin/sh
# Open MPI takes the emitted rankfile and binds its ranks by it.
. "$(dirname "$0")/lib.sh"
has mpirun || skip "no mpirun"
mpirun --version 2>/dev/null | grep -q 'Open MPI' || skip "mpirun is not Open MPI's"
# The slots of a rankfile are physical in version 4 alone.
mpirun --version | grep -q 'Open MPI) 4\.' || skip "$(mpirun --version | head -n 1) takes logical slots only"
if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
list=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
cpus=$(echo "$list" | tr ',' '\n' | while IFS=- read -r first last; do
    seq "$first" "${last:-$first}"
done | head -n 16)
[ -n "$cpus" ] || skip "no list of cpus"
last=$(echo "$cpus" | tail -n 1)
all=$(echo "$cpus" | paste -s -d ,)
others=$(echo "$cpus" | sed '$d' | paste -s -d ,)
# The highest cpu is called the fastest, so that an order that is only the system's would be noticed.
kinds="{\"cpus\": [$last], \"clock_ghz\": 4}"
[ -n "$others" ] && kinds="$kinds, {\"cpus\": [$others], \"clock_ghz\": 3}"
cat >here.json <<END
{"format": "blackjack-profile/1", "characteristics": {
"topology.tree": {"value": {"cpus": [$all], "latency_ns": 50}, "unit": "", "status": "ok", "confidence": "high"},
"cpu.kinds": {"value": [$kinds], "unit": "", "status": "ok", "confidence": "high"}}}
END
expect 0 emit rankfile here.json -o ranks
ranks=$(grep -c '^rank ' ranks)
cat >where.sh <<'END'
echo "rank $OMPI_COMM_WORLD_RANK on $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"
END
if ! mpirun --mca rmaps_rank_file_physical 1 --rankfile ranks -np "$ranks" --oversubscribe sh where.sh >out 2>err </dev/null; then
    # A container may forbid what mpirun does besides; its own plain run tells.
    mpirun -np 1 true >/dev/null 2>&1 </dev/null || skip "mpirun starts nothing here"
    complain "mpirun does not take the rankfile"
fi
# It binds to the whole core of the slot: where cores have siblings, these are in the list as well.
rank=0
for cpu in $(sed -n 's/^rank .* slot=//p' ranks); do
    grep "^rank $rank on " out | tr ' ,' '\n\n' | sed '1,3d' | while IFS=- read -r first end; do
        seq "$first" "${end:-$first}"
    done | grep -qx "$cpu" || complain "rank $rank does not run on cpu $cpu"
    rank=$((rank + 1))
done
[ "$rank" -eq "$ranks" ] || complain "$ranks ranks, $rank seen"
finish
