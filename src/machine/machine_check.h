/* What both machines refuse before they run an experiment. */
#pragma once

#include "machine/machine.h"

/* The first thing that a verb does: samples that it does not come to measure are NaN. */
void bj_machine_clear_samples(double *samples, size_t count);
/* NULL: nothing happens. */
void bj_machine_clear_notes(bj_trial_notes *notes);

void bj_machine_clear_mix(const bj_mix *mix, double *ns_per_access, double *gbs);
/* That there is something to run, and repetitions agree. */
bj_status bj_machine_check_mix(const bj_mix *mix, bj_error *error) BJ_WARN_UNUSED;
/* That no cpu has two things to do: a real one would share its time, a simulated one knows no such thing. */
bj_status bj_machine_check_cpus(const bj_mix *mix, bj_error *error) BJ_WARN_UNUSED;

/* Chains of a walk, 0 read as 1. */
unsigned bj_machine_count_chains(const bj_walk *walk);
bj_status bj_machine_check_chains(const bj_walk *walk, bj_error *error) BJ_WARN_UNUSED;
/* Arrays of a stream, 0 read as 1. */
unsigned bj_machine_count_arrays(const bj_stream *stream);
bj_status bj_machine_check_stream(const bj_stream *stream, uint64_t arena_bytes, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_machine_check_bounce(const bj_bounce *bounce, uint64_t arena_bytes, bj_error *error) BJ_WARN_UNUSED;
/* Every pair by itself, and no cpu in two of them. */
bj_status bj_machine_check_exchanges(const bj_exchange *exchanges, size_t count, bj_error *error) BJ_WARN_UNUSED;
/* Ranks that are there, sizes that can be sent, and no rank in two pairs. */
bj_status bj_machine_check_messages(const bj_machine *machine, const bj_message *messages, size_t count,
                                    bj_error *error) BJ_WARN_UNUSED;
/* More threads than any scheduler is asked to juggle here. */
#define BJ_CROWD_THREADS_MAX 16384u
bj_status bj_machine_check_crowd(size_t threads, size_t cpu_count, bj_error *error) BJ_WARN_UNUSED;
/* Copies and actors that can be run, and no cpu in two of them. */
bj_status bj_machine_check_trial(const bj_trial *trial, bj_error *error) BJ_WARN_UNUSED;
