/* Live variables: measured in rounds, and answered as how many fit into registers.
 *
 * Shared by the probes of live scalars and vectors. Loops over 3 and more variables, each added to another one half of
 * them away and all needed in the next turn (blackjackbench-2012, 3.5). Variables that find no register are kept in
 * memory, and the time per addition rises. What is measured is the compiler with the machine: it may keep a register
 * for itself. Times are relative to an addition. */
#pragma once

#include "probes/kit/rounds.h"

/* What one probe measures. */
typedef struct {
    const char *probe;
    const char *const *types; /* "double", … */
    size_t count;
    unsigned most; /* variables: BJ_LIVE_MOST, or BJ_LIVE_VECTORS_MOST */
    unsigned rounds[BJ_EFFORT_COUNT];
    unsigned visits;                   /* of every point in one round */
    double low_of_visits;              /* quantile of them that is kept */
    double progress_from, progress_to; /* shares of the probe; both 0: all of it */
} bj_live_set;

/* "live.double": the key, and the id of its curve. */
#define BJ_LIVE_KEY_ROOM 48u
void bj_kit_name_live(const bj_live_set *set, size_t type, char *key);

/* The measure function of such a probe, or a part of it. The first visit goes type by type and finds out which ones
 * this machine has. `purpose` as of bj_kit_open_rounds. */
bj_status bj_kit_measure_live(const bj_live_set *set, const bj_measure_request *request, bj_curves *samples,
                              uint64_t purpose, bj_error *error) BJ_WARN_UNUSED;
/* From the curve of that name to the answer under the same name; pure. Method NULL or "spill_onset": where the monotone
 * curve has risen by a third of what one variable in memory must cost. "biggest_step" (blackjackbench-2012, 3.5): its
 * biggest relative step. "spill_hinge": for loops that also store each sum, the bend of the curve of the least times.
 */
bj_status bj_kit_answer_live(const bj_curves *samples, const char *key, const bj_analyse_request *request,
                             bj_answers *answers, bj_error *error) BJ_WARN_UNUSED;

/* Index of the last x before variables are spilled, from a curve that was made monotone; count: nothing rises.
 * `unspilled`: the time without a spill. `part`: of what one spilled variable costs, how much is taken for one. */
size_t bj_kit_find_spill_onset(const double *x, const double *y, size_t count, double unspilled, double part);
/* The number of variables from which on each further one costs a spill, by a hinge through all points; NaN: the curve
 * has none. `part`: of what one spilled variable costs, how much is still none. */
double bj_kit_find_spill_hinge(const double *x, const double *y, size_t count, double part);
