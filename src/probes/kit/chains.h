/* Chains of operations: measured in rounds, and answered as latency, throughput and operations in flight.
 *
 * Shared by the probes of operations, scalar and vector. Chains of dependent operations, several side by side, in loops
 * that are written out once and twice: the difference is without the loop (blackjackbench-2012, 3.3). One chain alone
 * waits for each result (latency); many side by side show how often an operation can start (throughput). */
#pragma once

#include "probes/kit/rounds.h"
#include "probes/kit/yardstick.h"

/* Right within a twentieth; chains counted as the paper does are the same whole number. */
#define BJ_CHAINS_TOLERANCE 0.05

/* Chains of one operation on one type. */
typedef struct {
    const char *type, *operation;
    const char *then; /* what the chain does after each operation, since it could not go on otherwise; NULL: nothing */
    unsigned abreast; /* chains side by side: 1 to so many are measured */
    bool is_sparse;   /* of those, only the numbers in BJ_CHAIN_SPARSE */
} bj_chain_family;

/* What one probe measures. */
typedef struct {
    const char *probe;
    const bj_chain_family *families;
    size_t count;
    unsigned rounds[BJ_EFFORT_COUNT], repetitions[BJ_EFFORT_COUNT];
    double progress_from, progress_to; /* shares of the probe; both 0: all of it */
} bj_chain_set;

/* "op.int32.add" for the longer loop, "op.int32.add.once" for the shorter; "op.int32.add_mul" for a pair. */
#define BJ_CHAIN_NAME_ROOM 48u
void bj_kit_name_chain(const bj_chain_family *family, bj_unroll unroll, char *id);
const bj_curve *bj_kit_find_chain(const bj_curves *samples, const bj_chain_family *family, bj_unroll unroll);

/* The measure function of such a probe, or a part of it. Every round has all chains in random order and the addition
 * that everything is relative to between them, so that a clock that moves moves both. The first round goes family by
 * family and finds out which ones this machine has. `purpose` as of bj_kit_open_rounds. */
bj_status bj_kit_measure_chains(const bj_chain_set *set, const bj_measure_request *request, bj_curves *samples,
                                uint64_t purpose, bj_error *error) BJ_WARN_UNUSED;

typedef struct bj_chain_analysis bj_chain_analysis;

/* Method NULL or "least_ratio": the least over rounds of ratios to the addition of the same round. "median_ratio":
 * their medians. "second_lowest" (blackjackbench-2012): of all rounds, and in flight by the inflection of the cost of a
 * link, for which all numbers of chains must have been measured. The samples must stay until it is closed. */
bj_status bj_kit_open_chain_analysis(const bj_chain_set *set, const bj_curves *samples,
                                     const bj_analyse_request *request, bj_chain_analysis **analysis,
                                     bj_error *error) BJ_WARN_UNUSED;
void bj_kit_close_chain_analysis(bj_chain_analysis *analysis);
/* op.<type>.<operation>.latency, .throughput and .in_flight. */
bj_status bj_kit_answer_chain(bj_chain_analysis *analysis, const bj_chain_family *family, bj_answers *answers,
                              bj_error *error) BJ_WARN_UNUSED;
/* The throughput alone, under that key: of operations that wait for nothing, as loads do. */
bj_status bj_kit_answer_chain_rate(bj_chain_analysis *analysis, const bj_chain_family *family, const char *key,
                                   bj_answers *answers, bj_error *error) BJ_WARN_UNUSED;
