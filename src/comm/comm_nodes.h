/* --profiles: the first rank of each host measures its node, all hosts at once, and each profile is kept. */
#pragma once

#include "runner/runner.h"

typedef struct {
    const char *folder;
    const bj_run_plan *plan; /* effort, budget, seed, method */
    bool force, resume;      /* an existing profile is replaced; what it holds is not measured again */
    bool tells;              /* progress on standard error */
} bj_comm_node_request;

/* In a process of its own, so that a node that cannot be measured (out of memory, a crash) is told by name and holds up
 * nobody; on all cpus that this host lets us use, whatever the rank is bound to. Returns when that is over. */
bj_status bj_comm_measure_node(const bj_comm_node_request *request, const char *host, bj_error *error) BJ_WARN_UNUSED;
