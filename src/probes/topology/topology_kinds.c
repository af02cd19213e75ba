#include "probes/topology/topology_kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/topology/topology_constants.h"
#include "stats/quantile.h"

const double bj_topology_walk_shares[BJ_TOPOLOGY_WALKS] = {2.0 / 3, 0.9, 1.25};
const char *const bj_topology_walk_ids[BJ_TOPOLOGY_WALKS] = {"topology.walk_fits", "topology.walk_nearly_fits",
                                                             "topology.walk_exceeds"};

enum { MOST_ROUNDS = 1024 };

typedef struct {
    double log_ns;
    size_t cpu;
} timing;

static int compare_timings(const void *a, const void *b) {
    const timing *left = a, *right = b;
    return (left->log_ns > right->log_ns) - (left->log_ns < right->log_ns);
}

static double sum_up(const bj_curve *curve, size_t point, const size_t *index, size_t count, double quantile) {
    double values[MOST_ROUNDS];
    size_t rounds = index != NULL ? count : curve->round_count;
    rounds = rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS;
    for (size_t r = 0; r < rounds; r++)
        values[r] = curve->rounds[index != NULL ? index[r] : r][point];
    return bj_stats_quantile(values, rounds, quantile);
}

/* Splits every kind where this curve's times have a gap. A cpu is slower only if most of its rounds are: what the
 * fastest few of them show is what it can do, and that must be beyond what the others mostly do. */
static void split_kinds(const bj_curve *curve, const size_t *index, size_t count, timing *timings, size_t *kind_of,
                        size_t *kind_count) {
    size_t kinds = *kind_count;
    for (size_t kind = 0; kind < kinds; kind++) {
        size_t members = 0;
        for (size_t i = 0; i < curve->x_count; i++)
            if (kind_of[i] == kind)
                timings[members++] = (timing){log(sum_up(curve, i, index, count, BJ_LOW_QUANTILE)), i};
        qsort(timings, members, sizeof *timings, compare_timings);
        size_t now = kind;
        for (size_t i = 1; i < members; i++) {
            double typical = log(sum_up(curve, timings[i - 1].cpu, index, count, 0.5));
            if (timings[i].log_ns - timings[i - 1].log_ns > log1p(SAME_KIND) && timings[i].log_ns > typical)
                now = (*kind_count)++;
            kind_of[timings[i].cpu] = now;
        }
    }
}

/* As they first come. */
static void renumber(size_t *kind_of, size_t cpu_count, size_t kind_count, size_t *number) {
    size_t next = 0;
    for (size_t k = 0; k < kind_count; k++)
        number[k] = kind_count;
    for (size_t i = 0; i < cpu_count; i++) {
        if (number[kind_of[i]] == kind_count)
            number[kind_of[i]] = next++;
        kind_of[i] = number[kind_of[i]];
    }
}

bj_status bj_topology_group_kinds(const bj_curves *samples, const size_t *index, size_t index_count, size_t *kind_of,
                                  size_t *kind_count, bj_error *error) {
    const bj_curve *yardstick = bj_data_find_curve(samples, BJ_TOPOLOGY_YARDSTICK);
    *kind_count = 0;
    if (yardstick == NULL || yardstick->x_count == 0)
        return BJ_OK;
    size_t cpus = yardstick->x_count;
    timing *timings = malloc(cpus * sizeof *timings);
    size_t *number = malloc(cpus * sizeof *number);
    bj_status status = BJ_OK;
    if (timings == NULL || number == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", cpus);
    } else {
        for (size_t i = 0; i < cpus; i++)
            kind_of[i] = 0;
        *kind_count = 1;
        split_kinds(yardstick, index, index_count, timings, kind_of, kind_count);
        for (unsigned w = 0; w < BJ_TOPOLOGY_WALKS; w++) {
            const bj_curve *walk = bj_data_find_curve(samples, bj_topology_walk_ids[w]);
            if (walk != NULL && walk->x_count == cpus && walk->round_count >= yardstick->round_count)
                split_kinds(walk, index, index_count, timings, kind_of, kind_count);
        }
        renumber(kind_of, cpus, *kind_count, number);
    }
    free(number);
    free(timings);
    return status;
}

void bj_topology_name_sizes(int cpu, char *id, size_t room) {
    snprintf(id, room, "topology.sizes.%d", cpu);
}

double bj_topology_find_l1_bytes(const bj_curves *samples, int cpu) {
    char id[48];
    bj_topology_name_sizes(cpu, id, sizeof id);
    const bj_curve *curve = bj_data_find_curve(samples, id);
    if (curve == NULL || curve->x_count < 2)
        return NAN;
    double first = sum_up(curve, 0, NULL, 0, BJ_LOW_QUANTILE);
    double last = sum_up(curve, curve->x_count - 1, NULL, 0, BJ_LOW_QUANTILE), fits = NAN;
    if (!(last > first * (1 + SAME_KIND)))
        return NAN;
    for (size_t i = 0; i < curve->x_count; i++) {
        double ns = sum_up(curve, i, NULL, 0, BJ_LOW_QUANTILE);
        if (ns > first + FITS_RISE * (last - first))
            break;
        fits = curve->x[i];
    }
    return fits;
}
