/* The kernels in a child process, and what it sent of them. */
#pragma once

#include <signal.h>

#include "cli/time_request.h"

/* Of one n in one calling context. */
typedef struct {
    uint64_t n;
    int context;
    bool is_done[2], has_ratio;
    bj_timing timings[2]; /* one a kernel */
    bj_answer ratio;
} bj_time_job;

typedef struct {
    const bj_time_request *request;
    bj_timer_caches caches;
    const volatile sig_atomic_t *stop;
    bj_time_job *jobs; /* owned */
    size_t job_count;
    char clock_reason[120];
    size_t flush_bytes;
} bj_time_results;

/* Times everything. BJ_ERR_FAILED: a kernel crashed, hung, exited or wrote outside; the error names it, and what was
 * done before is in the results. */
bj_status bj_cli_time_in_child(bj_time_results *results, bj_error *error) BJ_WARN_UNUSED;
void bj_cli_free_time_results(bj_time_results *results);
