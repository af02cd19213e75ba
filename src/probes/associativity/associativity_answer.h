/* The analysis of the associativity probe, and its curves. */
#pragma once

#include "probes/probe.h"

#define BJ_ASSOCIATIVITY_REVISION 5u
/* Somebody's curve. */
#define BJ_ASSOCIATIVITY_TABLE "associativity.table"

/* What a curve was measured with: lines at that stride, in so many sets at once; its x is the number of lines that a
 * set gets. Of a level: lines that meet in its sets. A twin: the same pages, but lines that do not meet in any set,
 * which is what the TLB costs. */
typedef struct {
    size_t level; /* from 1; 0: the twin of all levels */
    size_t stride_bytes, sets;
    size_t set_stride_bytes; /* distance of these sets */
} bj_conflict_walk;

/* The curve of that level, stride and number of sets, made where it is not there yet. */
bj_status bj_associativity_open_curve(bj_curves *samples, const bj_conflict_walk *walk, bj_curve **curve,
                                      bj_error *error) BJ_WARN_UNUSED;

/* Times (ns per access) up to `fits` mean that all lines of a walk are within the level; beyond `misses` most are not;
 * between them a few are missing, as under random replacement, or because something else uses the cache. NaN: latencies
 * are not known. */
typedef struct {
    double fits, misses;
} bj_associativity_limits;

bj_associativity_limits bj_associativity_find_limits(const bj_curves *samples, const bj_answers *earlier,
                                                     const bj_conflict_walk *walk, double lines);

/* What the curves of a level agree on: four of them, at the stride and its double, in so many sets and twice as many.
 */
#define BJ_ASSOCIATIVITY_AGREEING 4u
typedef struct {
    bool tested;       /* the level has curves */
    double ways;       /* 0: they agree on nothing, and there are no such curves */
    bool contradicted; /* some other stride shows fewer */
    const bj_curve *curves[BJ_ASSOCIATIVITY_AGREEING];
    bj_conflict_walk walk; /* of the first of them: the shortest stride and the fewest sets */
    size_t rounds;         /* that have these ways and one more, in each of the four */
} bj_associativity_found;

void bj_associativity_find(const bj_curves *samples, const bj_answers *earlier, size_t level,
                           bj_associativity_found *found);

bj_status bj_associativity_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                   bj_error *error);
