/* What the sharing probe records of a level, and how its two halves read it alike.
 *
 * Alone: ns of each cpu by itself. Again: how many times longer the same walk took once more. Pairs: of cpu a (an
 * attribute) at x = cpu b: how many times longer the walks took at once, of the two the less: it is high only if both
 * suffer, so that others who walk meanwhile matter only if they disturb both. */
#pragma once

#include "probes/kit/cpu_groups.h"
#include "probes/probe.h"

/* Of somebody's table: its rows. */
#define SHARING_TABLE "sharing.table"
/* Attributes. */
#define SHARING_LEVEL "level"
#define SHARING_CPU "cpu"
#define SHARING_BYTES "working_set_bytes"
#define SHARING_KIND "kind"
#define SHARING_ALONE "alone"
#define SHARING_AGAIN "again"
#define SHARING_PAIR "pair"

/* One recorded pair of a level. */
typedef struct {
    size_t a, b; /* places of the cpus in the list */
    const bj_curve *curve;
    size_t point;
} bj_sharing_pair;

/* All samples of one level. */
typedef struct {
    size_t level;
    double bytes; /* of a walk */
    int *cpus;    /* that walked the first level alone: all there are */
    size_t cpu_count;
    double *alone_ns; /* by cpu; where it was not measured, the median of the others */
    double slower_ns; /* of them the upper quartile: of slow kinds of cpus, and of no single one that was disturbed */
    double spread;    /* robust sigma of logarithms: of walks again, else of times alone about each cpu's median */
    size_t rounds;
    bj_sharing_pair *pairs;
    size_t pair_count;
} bj_sharing_level;

bj_status bj_sharing_read_level(const bj_curves *samples, size_t level, bj_sharing_level *read,
                                bj_error *error) BJ_WARN_UNUSED;
void bj_sharing_free_level(bj_sharing_level *read);
/* The ratio beyond which a pair shares; next_ns is the latency of the next level. Infinite: nothing is known yet. */
double bj_sharing_find_threshold(const bj_sharing_level *read, double next_ns);
/* Whether sharing would stay below the threshold. */
bool bj_sharing_is_blind(const bj_sharing_level *read, double threshold, double next_ns);
/* Groups from the median of each pair's samples in these rounds (NULL: all), joined with those of the nearer level that
 * group_of holds. Returns the share of pairs that contradict the outcome. */
double bj_sharing_find_groups(const bj_sharing_level *read, double threshold, const size_t *rounds, size_t round_count,
                              size_t *group_of, double *scratch);
/* The latency beyond a level (from 1). NaN: not known. */
double bj_sharing_find_next_ns(const bj_answers *earlier, size_t level);

/* The rows of a table as samples of that level (sharing_table.c). */
bj_status bj_sharing_file_table(const bj_curves *rows, unsigned level, bool is_servet, bj_curves *samples,
                                bj_error *error) BJ_WARN_UNUSED;

bj_status bj_sharing_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                             bj_error *error);
