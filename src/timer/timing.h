/* From calls to an answer: how many calls a timing has, how many samples, what they say, and whether to believe it. */
#pragma once

#include "kernels/timed_calls.h"
#include "timer/bench.h"

typedef struct {
    bj_answer time_ns; /* of one call */
    size_t calls_per_timing, samples;
    double least_ns, quartiles_ns[2]; /* of the samples, calls taken apart */
    bool cpu_time;                    /* not wall time */
    bool has_lines;                   /* cold operands were flushed line by line as well: */
    double lines_ratio;               /* that time by the one after the flush area */
    bool has_residency;               /* an operand in a level and no nearer: */
    char asked[8];
    double seen_ns, expected_ns; /* the witness, and the level's latency in the profile; NaN: unknown */
    char remark[200];            /* what a reader should know besides; "": nothing */
} bj_timing;

enum { BJ_TIMING_KERNELS_MAX = 16 };

typedef struct {
    bj_kernel_function *kernels[BJ_TIMING_KERNELS_MAX];
    size_t kernel_count; /* several are timed in turns */
    size_t n;
    const bj_timer_operand *operands;
    size_t operand_count;
    int context;      /* residency of the operands that say none */
    unsigned samples; /* exactly so many; 0: as many as it takes */
    double budget_s;  /* 0: a second beyond the usual samples */
    /* Called before each sample with the kernel that comes next; true: stop. NULL: none. */
    bool (*report)(void *context, size_t kernel);
    void *report_context;
} bj_timing_request;

/* timings[] receives one a kernel; *ratio, second by first of two that are timed in turns, may be NULL. */
bj_status bj_timer_time_kernels(bj_timer_bench *bench, const bj_timing_request *request, bj_timing *timings,
                                bj_answer *ratio, bj_error *error) BJ_WARN_UNUSED;
/* Whether an interval of a ratio says that the two differ. */
bool bj_timer_is_different(const bj_answer *ratio);

/* A timing without a value, and why. */
void bj_timer_refuse(bj_timing *timing, bj_answer_status status, const char *reason);

/* Samples to answers, pure. Raw times are of whole timings; empty ones of as many calls of a kernel that does nothing.
 */
typedef struct {
    const double *raw_ns, *empty_ns;
    size_t count, calls;
    bool cpu_time;
    double step_ns; /* of the clock */
    uint64_t seed;
} bj_timing_samples;
bj_status bj_timer_answer_time(const bj_timing_samples *samples, bj_timing *timing, bj_error *error) BJ_WARN_UNUSED;
/* The ratio of pairs b / a. */
bj_status bj_timer_answer_ratio(const bj_timing_samples *a, const bj_timing_samples *b, bj_answer *ratio,
                                bj_error *error) BJ_WARN_UNUSED;
/* Whether the interval is narrow enough to stop. */
bool bj_timer_is_narrow(const bj_timing *timing, const bj_timing_samples *samples);
