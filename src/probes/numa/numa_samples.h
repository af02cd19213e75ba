/* Curves of the numa probe: a row a cpu that asks, with a point for each cpu whose memory it asks for. */
#pragma once

#include "probes/kit/cpu_groups.h"
#include "probes/probe.h"

/* Groups of cpus that are asked through their first: with more, rows would take minutes. */
#define BJ_NUMA_SITES_MAX 16u

/* By cpu, the cpu that asks for it. */
#define BJ_NUMA_SITES "numa.sites"
#define BJ_NUMA_LATENCY "latency"
#define BJ_NUMA_RATE "read"

void bj_numa_name_row(const char *kind, int cpu, char *id, size_t room);

bj_status bj_numa_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error);
