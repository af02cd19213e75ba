/* Runs probes in the order of what they need, within a budget, and journals the profile after each. */
#pragma once

#include <stdbool.h>

#include "machine/machine.h"
#include "probes/probe.h"
#include "profile/profile.h"

typedef struct {
    const char *probe;             /* being measured */
    size_t index, count;           /* of the probes to run, from 0; each counts once for each run of `repeats` */
    double fraction;               /* of this probe */
    double elapsed_s, remaining_s; /* of the whole run; remaining is an estimate */
    bool probe_done;               /* sent once when a probe's answers are in the profile and the journal is written */
    bj_answer_status outcome;      /* of a probe that is done, and why where that is not ok */
    const char *reason;
    unsigned late_round, late_rounds; /* from 1: all probes are being continued by a late round; 0: none is */
} bj_progress;

/* The late rounds of a run: enough that, wholly apart from six others, they are no chance. */
#define BJ_LATE_ROUNDS 3u
/* By effort. Quick has none: it is over within the minute that they would have to leave, and they would cost it half as
 * much again. */
unsigned bj_runner_count_late_rounds(bj_effort effort);
/* The most runs that are merged. */
#define BJ_REPEATS_MAX 20u

typedef struct {
    const char *const *probes; /* names; count 0: all */
    size_t probe_count;
    bj_effort effort;
    double budget_s; /* INFINITY: none */
    uint64_t seed;
    const char *method;          /* NULL: defaults */
    bool all_pairs;              /* probes that compare cpus or ranks compare each with each */
    const size_t *message_bytes; /* as of bj_measure_request */
    size_t message_count;
    size_t message_most;
    bool on_request;   /* count 0: those that run only where they are named, too */
    int cpu;           /* OS number, one of the machine's */
    bool *lacked;      /* set where a probe failed for want of memory or threads; may be NULL */
    bj_output *output; /* the profile is journalled there, at first without answers; NULL: it is not */
    /* So many times every probe measures one round more after all have run, then all is analysed again; 0: none. */
    unsigned late_rounds;
    unsigned repeats; /* whole runs, late rounds and all, whose rounds are merged; 0: one */
    /* --resume: what the profile holds of probes with status ok at today's revision is not measured again. */
    bool keep_done;
    /* True: stop. Called outside timed regions. */
    bool (*report)(void *context, const bj_progress *progress);
    void *context;
} bj_run_plan;

/* Names resolved, what they need added, in an order that satisfies the needs. *order is the caller's to free. */
bj_status bj_runner_order_probes(const bj_run_plan *plan, const bj_probe ***order, size_t *count,
                                 bj_error *error) BJ_WARN_UNUSED;
/* Rough seconds that one probe takes with so many cpus. */
double bj_runner_estimate_probe(const bj_probe *probe, const bj_run_plan *plan, size_t cpu_count);
/* Bytes that a probe may map and allocate now. */
uint64_t bj_runner_limit_memory(const bj_machine_facts *facts);
/* Rough seconds and peak bytes of what the plan would do. */
void bj_runner_estimate_cost(const bj_probe *const *order, size_t count, const bj_run_plan *plan, size_t cpu_count,
                             uint64_t memory_bytes, double *seconds, uint64_t *bytes);
/* The profile comes with run and environment filled in by the caller and goes with characteristics, curves and
 * probes. BJ_ERR_INTERRUPTED: stopped; what was done is in the profile, which says so. A probe that fails does not end
 * the run: its record says so. */
bj_status bj_runner_run(bj_machine *machine, const bj_run_plan *plan, bj_profile *profile,
                        bj_error *error) BJ_WARN_UNUSED;
/* The recorded samples through today's analysis: every probe that has curves in the profile. */
bj_status bj_runner_reanalyse(bj_profile *profile, bj_error *error) BJ_WARN_UNUSED;
/* Calls a probe's analyse and turns implausible values (outside the descriptor's range) into `failed`. */
bj_status bj_runner_analyse_probe(const bj_probe *probe, const bj_curves *samples, const bj_analyse_request *request,
                                  bj_answers *answers, bj_error *error) BJ_WARN_UNUSED;
