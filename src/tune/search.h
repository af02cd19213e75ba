/* Exhaustive search: every block that registers hold, with every unrolling, packed and not, for one size at a time. The
 * model's choice is compared with it; nothing that is handed out comes from here. */
#pragma once

#include "tune/measure.h"

enum { BJ_TUNE_CANDIDATES_MAX = 768 };

typedef struct {
    unsigned rows, columns; /* of the tile at most, rows in vectors */
    unsigned unroll;
    bool packed;
    /* Of the list: the first candidate that is cut into the same tiles for that size. Only that one is built. */
    unsigned same_as;
} bj_tune_candidate;

/* All of them in a fixed order, the same for each size but for `same_as`; returns how many. */
size_t bj_tune_list_candidates(const bj_tune_machine *machine, size_t n,
                               bj_tune_candidate candidates[BJ_TUNE_CANDIDATES_MAX]);

typedef struct {
    unsigned index; /* of the candidate; BJ_TUNE_CANDIDATES_MAX: the model's own choice */
    size_t n;
    double gflops;
    double ratio; /* to the model's choice, timed in the same turns */
} bj_tune_speed;

/* Builds all candidates of all sizes of the job; `first` is the number of the first object in the folder. */
bj_status bj_tune_build_candidates(const bj_tune_measuring *measuring, unsigned first, bj_error *error) BJ_WARN_UNUSED;
/* In a process that may be lost. Verifies and times them, operands warm, in turns with the model's choice, and those
 * that seem fastest once more among themselves: of many that are timed the fastest is fast by luck too. */
bj_status bj_tune_time_candidates(const bj_tune_measuring *measuring, const bj_tune_objects *objects, unsigned first,
                                  void (*take)(void *context, const bj_tune_speed *speed),
                                  bj_error *error) BJ_WARN_UNUSED;
