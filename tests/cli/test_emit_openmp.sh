#!/bin/sh
# OpenMP puts its threads where the emitted places say, in their order.
. "$(dirname "$0")/lib.sh"
cc=gcc
cat >places.c <<'END'
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

int main(int count, char **words) {
    (void)words;
    cpu_set_t mine;
    if (count > 1) { /* the cpus that there are */
        sched_getaffinity(0, sizeof mine, &mine);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &mine))
                printf("%d ", cpu);
        return 0;
    }
    int seen[1024];
#pragma omp parallel
    seen[omp_get_thread_num() % 1024] = sched_getcpu();
    for (int i = 0; i < omp_get_max_threads() && i < 1024; i++)
        printf("thread %d ran on %d\n", i, seen[i]);
    return 0;
}
END
has $cc && $cc -fopenmp places.c -o places 2>err || skip "no gcc with libgomp"
cpus=$(./places list)
# The highest cpu is called the fastest, so that an order that is only the system's would be noticed.
last=${cpus% }
last=${last##* }
others=
for cpu in $cpus; do
    [ "$cpu" = "$last" ] || others="$others${others:+, }$cpu"
done
all="$others${others:+, }$last"
kinds="{\"cpus\": [$last], \"clock_ghz\": 4}"
[ -n "$others" ] && kinds="$kinds, {\"cpus\": [$others], \"clock_ghz\": 3}"
cat >here.json <<END
{"format": "blackjack-profile/1", "characteristics": {
"topology.tree": {"value": {"cpus": [$all], "latency_ns": 50, "children": []}, "unit": "", "status": "ok", "confidence": "high"},
"cpu.kinds": {"value": [$kinds], "unit": "", "status": "ok", "confidence": "high"}}}
END
cpus_wanted="$last $(echo "$others" | tr -d ',')"
for order in near spread; do
    expect 0 emit omp-places here.json --order $order
    places=$(cat out)
    threads=$(echo "$places" | tr ',' '\n' | wc -l)
    OMP_PLACES=$places OMP_PROC_BIND=close OMP_NUM_THREADS=$threads OMP_DISPLAY_AFFINITY=true \
        OMP_AFFINITY_FORMAT='thread %n bound to %A' ./places >out 2>err || complain "OpenMP with OMP_PLACES=$places"
    grep -qi 'libgomp' err && complain "libgomp does not take OMP_PLACES=$places"
    thread=0
    for cpu in $cpus_wanted; do
        grep -qx "thread $thread bound to $cpu" err || complain "$order: thread $thread is not bound to cpu $cpu"
        out_has "thread $thread ran on $cpu"
        thread=$((thread + 1))
    done
    [ $thread -eq "$threads" ] || complain "$order: $threads places, $thread cpus"
done

# Places of another machine: whether libgomp takes them is told by its list, without running there.
expect 0 emit omp-places "$here/multicore_profile.json"
out_is "{0},{4},{1},{5},{2},{6},{3},{7}"
expect 0 emit omp-places "$here/multicore_profile.json" --order spread
out_is "{0},{2},{1},{3},{4},{6},{5},{7}"
finish
