/* What the comm probe measures with: experiments in interleaved rounds, and the search for groups of ranks. */
#pragma once

#include "probes/comm/comm_pairs.h"
#include "probes/kit/rounds.h"

typedef enum { BJ_COMM_PAIRS, BJ_COMM_CURVE, BJ_COMM_SCALING } bj_comm_kind;

/* Messages that are sent at once, and where their times go. */
typedef struct {
    bj_comm_kind kind;
    size_t first, count; /* of the list's messages */
    size_t layer, which; /* of curves and scaling; which: the representative or its check */
} bj_comm_job;

typedef struct {
    bj_message *messages;
    size_t message_count, message_room;
    bj_comm_job *jobs;
    size_t job_count, job_room;
    bool failed; /* out of memory */
} bj_comm_jobs;

void bj_comm_free_jobs(bj_comm_jobs *jobs);
/* One more experiment; its messages follow by bj_comm_add_message. */
void bj_comm_add_job(bj_comm_jobs *jobs, bj_comm_kind kind, size_t layer, size_t which);
void bj_comm_add_message(bj_comm_jobs *jobs, size_t a, size_t b, size_t bytes);

typedef struct {
    size_t a, b;
} bj_comm_ranks;

typedef struct {
    bj_rounds rounds;
    const bj_rank *ranks;
    size_t rank_count, host_count;
    size_t bytes[SIZES_MOST], size_count;
    size_t *row_of; /* by rank and size: index of its curve, SIZE_MAX: none yet */
    double progress_from, progress_to;
} bj_comm_run;

/* All jobs once a round, in random order, from round `first` on. Ends early where the deadline has passed. */
bj_status bj_comm_run_jobs(bj_comm_run *run, const bj_comm_jobs *jobs, size_t first, unsigned rounds,
                           bj_error *error) BJ_WARN_UNUSED;
/* Experiments for these pairs: those within different hosts at once, those between hosts one after the other. */
bj_status bj_comm_plan_pairs(const bj_comm_run *run, const bj_comm_ranks *pairs, size_t count, bj_comm_jobs *jobs,
                             bj_error *error) BJ_WARN_UNUSED;
/* Measures the pairs that tell the groups of ranks: all of few ranks, representatives of many. */
bj_status bj_comm_explore(bj_comm_run *run, unsigned rounds, bj_error *error) BJ_WARN_UNUSED;
