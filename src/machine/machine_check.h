/* What both machines refuse before they run an experiment. */
#pragma once

#include "machine/machine.h"

/* The first thing that a verb does: samples that it does not come to measure are NaN. */
void bj_machine_clear_samples(double *samples, size_t count);

/* Chains of a walk, 0 read as 1. */
unsigned bj_machine_count_chains(const bj_walk *walk);
bj_status bj_machine_check_chains(const bj_walk *walk, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_machine_check_stream(const bj_stream *stream, uint64_t arena_bytes, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_machine_check_bounce(const bj_bounce *bounce, uint64_t arena_bytes, bj_error *error) BJ_WARN_UNUSED;
/* More threads than any scheduler is asked to juggle here. */
#define BJ_CROWD_THREADS_MAX 16384u
bj_status bj_machine_check_crowd(size_t threads, size_t cpu_count, bj_error *error) BJ_WARN_UNUSED;
