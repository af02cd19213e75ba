/* Which pairs to ask.
 *
 * A pivot's row sorts all others by their distance. Cpus of one group are alike in every row, so that groups can only
 * be found within a class of equal distances: the nearest class and the pivot are a group, and every other class has a
 * pivot of its own. Holds for trees and for rings or meshes alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/topology/topology_constants.h"
#include "probes/topology/topology_run.h"

/* A part of the list of cpus, and what is known of it. */
typedef struct {
    size_t first, count;
    double nearest_ns; /* of a group that was found: from its pivot to the others */
} range;

typedef struct {
    double ns;
    uint32_t cpu;
} neighbour;

typedef struct {
    bj_topology_run *run;
    bj_topology_part part;
    uint32_t *cpus;
    neighbour *row;
    range *open;   /* to be explored */
    range *groups; /* found, without their pivots */
    size_t open_count, group_count;
} search;

bj_status bj_topology_ask_everyone(bj_topology_run *run, const uint32_t *cpus, size_t count, bj_topology_part part,
                                   bj_error *error) {
    double ns;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            BJ_TRY(bj_topology_ask(run, cpus[i], cpus[j], part, &ns, error));
            BJ_TRY(bj_probe_report(run->request, 0.2 + 0.3 * (double)i / (double)count, error));
        }
    return BJ_OK;
}

static int compare_neighbours(const void *a, const void *b) {
    const neighbour *left = a, *right = b;
    return (left->ns > right->ns) - (left->ns < right->ns);
}

/* The end of the class that begins at `first`: up to the next gap. */
static size_t end_class(const neighbour *row, size_t first, size_t count) {
    size_t end = first + 1;
    while (end < count && row[end].ns <= row[end - 1].ns * (1 + SAME_LATENCY))
        end++;
    return end;
}

/* A pivot's distances, sorted. Who is alone in a class may have been disturbed, and is asked again. */
static bj_status ask_row(search *all, uint32_t pivot, const uint32_t *others, size_t count, bj_error *error) {
    neighbour *row = all->row;
    for (size_t i = 0; i < count; i++) {
        row[i].cpu = others[i];
        BJ_TRY(bj_topology_ask(all->run, pivot, others[i], all->part, &row[i].ns, error));
        BJ_TRY(bj_probe_report(all->run->request, 0.3, error));
    }
    qsort(row, count, sizeof *row, compare_neighbours);
    for (size_t i = 0, end; i < count; i = end) {
        end = end_class(row, i, count);
        if (end == i + 1 && count > 2)
            BJ_TRY(bj_topology_ask_again(all->run, pivot, row[i].cpu, all->part, &row[i].ns, error));
    }
    qsort(row, count, sizeof *row, compare_neighbours);
    return BJ_OK;
}

static void add_pivot(const search *all, uint32_t cpu) {
    bj_topology_run *run = all->run;
    for (size_t i = 0; i < run->pivot_count; i++)
        if (run->pivots[i] == cpu)
            return;
    if (all->part == BJ_TOPOLOGY_PAIRS)
        run->pivots[run->pivot_count++] = cpu;
}

static bj_status explore_range(search *all, range part, bj_error *error) {
    uint32_t *cpus = all->cpus + part.first;
    size_t chosen = bj_random_below(&all->run->rounds.random, part.count), count = part.count - 1;
    uint32_t pivot = cpus[chosen];
    cpus[chosen] = cpus[0];
    cpus[0] = pivot;
    add_pivot(all, pivot);
    BJ_TRY(ask_row(all, pivot, cpus + 1, count, error));
    for (size_t i = 0; i < count; i++)
        cpus[1 + i] = all->row[i].cpu;
    for (size_t i = 0, end; i < count; i = end) {
        end = end_class(all->row, i, count);
        range found = {part.first + 1 + i, end - i, all->row[i].ns};
        if (i == 0) {
            all->groups[all->group_count++] = found;
            for (size_t j = 0; j < end && all->part == BJ_TOPOLOGY_PAIRS; j++)
                all->run->pivot_of[all->row[j].cpu] = pivot;
        }
        if (i > 0 && found.count > 1)
            all->open[all->open_count++] = found;
        else if (i > 0)
            add_pivot(all, all->row[i].cpu); /* a group of its own */
    }
    return BJ_OK;
}

static int compare_ranges(const void *a, const void *b) {
    const range *left = a, *right = b;
    return (left->nearest_ns > right->nearest_ns) - (left->nearest_ns < right->nearest_ns);
}

/* A pivot that stands alone takes the nearest of another group for its own: where its nearest are farther than usual,
 * they are asked by themselves. */
static void open_far_groups(search *all) {
    if (all->group_count == 0)
        return;
    qsort(all->groups, all->group_count, sizeof *all->groups, compare_ranges);
    double usual = all->groups[all->group_count / 2].nearest_ns;
    while (all->group_count > 0 && all->groups[all->group_count - 1].nearest_ns > usual * (1 + SAME_LATENCY)) {
        const range *last = &all->groups[--all->group_count];
        if (last->count > 1)
            all->open[all->open_count++] = *last;
    }
}

bj_status bj_topology_explore(bj_topology_run *run, const uint32_t *cpus, size_t count, bj_topology_part part,
                              bj_error *error) {
    if (count < 2)
        return BJ_OK;
    search all = {.run = run,
                  .part = part,
                  .cpus = malloc(count * sizeof *all.cpus),
                  .row = malloc(count * sizeof *all.row),
                  .open = malloc(count * sizeof *all.open),
                  .groups = malloc(count * sizeof *all.groups)};
    bj_status status = BJ_OK;
    if (!all.cpus || !all.row || !all.open || !all.groups) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    } else {
        memcpy(all.cpus, cpus, count * sizeof *cpus);
        all.open[all.open_count++] = (range){0, count, NAN};
    }
    while (status == BJ_OK && all.open_count > 0) {
        range next = all.open[--all.open_count];
        status = explore_range(&all, next, error);
        if (all.open_count == 0)
            open_far_groups(&all);
    }
    free(all.cpus);
    free(all.row);
    free(all.open);
    free(all.groups);
    return status;
}

/* Asks for one random pair of these that was not asked yet; *found: there was one, as far as a few tries tell. */
static bj_status ask_random(bj_topology_run *run, const uint32_t *cpus, size_t count, bool *found, bj_error *error) {
    enum { TRIES = 20 };
    *found = false;
    for (unsigned tries = 0; tries < TRIES && !*found && count > 1; tries++) {
        size_t i = bj_random_below(&run->rounds.random, count), j = bj_random_below(&run->rounds.random, count);
        size_t a = cpus != NULL ? cpus[i] : i, b = cpus != NULL ? cpus[j] : j;
        double ns;
        *found = a != b && isnan(run->known_ns[a * run->cpu_count + b]);
        if (*found)
            BJ_TRY(bj_topology_ask(run, a, b, BJ_TOPOLOGY_CONFIRM, &ns, error));
    }
    return bj_probe_report(run->request, 0.45, error);
}

bj_status bj_topology_confirm(bj_topology_run *run, size_t count, bj_error *error) {
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        if (i % 2 == 0)
            BJ_TRY(ask_random(run, run->pivots, run->pivot_count, &found, error));
        if (!found)
            BJ_TRY(ask_random(run, NULL, run->cpu_count, &found, error));
    }
    return BJ_OK;
}
