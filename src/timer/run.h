/* Runs a plan on this machine: areas mapped and touched, then calls between two readings of the clock. */
#pragma once

#include "kernels/timed_calls.h"
#include "timer/bench.h"

typedef struct {
    bj_timer_bench *bench;
    bj_timer_plan plan;
    char *memory[BJ_TIMER_OPERANDS_MAX + 2];
    bool huge; /* pages that were asked for */
    char *first[BJ_TIMER_OPERANDS_MAX], *at[BJ_TIMER_OPERANDS_MAX];
    ptrdiff_t strides[BJ_TIMER_OPERANDS_MAX];
    uint32_t *order;
    bj_timed_calls calls;
    bool prepared;
} bj_timer_run;

/* Maps the plan's areas and writes all of them once: no page is touched first inside a timed call. */
bj_status bj_timer_open_run(bj_timer_bench *bench, const bj_timer_plan *plan, size_t n, bj_timer_run *run,
                            bj_error *error) BJ_WARN_UNUSED;
void bj_timer_close_run(bj_timer_run *run);
/* Does the touches of the plan: before each call, or once before many. */
void bj_timer_prepare(bj_timer_run *run);
/* ns of so many calls of the kernel together, nothing taken off. */
double bj_timer_take_sample(bj_timer_run *run, bj_kernel_function *kernel, size_t calls);
/* The same of a kernel that does nothing, whose sets do not count as visited. */
double bj_timer_time_nothing(bj_timer_run *run, size_t calls);
/* The witness: latency of a once-through random walk over one operand under the same plan; NaN: it is too small. */
bj_status bj_timer_ask_witness(bj_timer_run *run, size_t operand, double *latency_ns, bj_error *error) BJ_WARN_UNUSED;
