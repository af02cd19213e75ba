#include "machine/sim/domains.h"

#include <math.h>
#include <stdlib.h>

/* What is full by less than this share of its rate is full: rounding. */
static const double FULL = 1e-9;

/* One instance of a domain while shares grow. */
typedef struct {
    double used_gbs;
    size_t growing; /* of those that draw through it */
} instance;

typedef struct {
    const bj_sim_spec *spec;
    bj_sim_demand *demands;
    size_t count;
    instance *instances[BJ_SIM_MAX_DOMAINS];
    bool *grows;
} division;

static instance *instance_of(const division *all, size_t domain, size_t demand) {
    return &all->instances[domain][all->demands[demand].position / all->spec->domains[domain].shared_by];
}

static double room_in(const division *all, size_t domain, size_t demand) {
    const instance *in = instance_of(all, domain, demand);
    return (all->spec->domains[domain].gbs - in->used_gbs) / (double)in->growing;
}

/* How much further all can grow; INFINITY: none grows. */
static double find_step(const division *all) {
    double step = INFINITY;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->grows[i])
            continue;
        step = fmin(step, all->demands[i].wanted_gbs - all->demands[i].gbs);
        for (size_t d = 0; d < all->spec->domain_count; d++)
            step = fmin(step, room_in(all, d, i));
    }
    return fmax(step, 0);
}

static void grow(division *all, double step) {
    for (size_t i = 0; i < all->count; i++) {
        if (!all->grows[i])
            continue;
        all->demands[i].gbs += step;
        for (size_t d = 0; d < all->spec->domain_count; d++)
            instance_of(all, d, i)->used_gbs += step;
    }
}

static bool may_grow(const division *all, size_t i) {
    bool may = all->demands[i].wanted_gbs - all->demands[i].gbs > FULL * all->demands[i].wanted_gbs;
    for (size_t d = 0; may && d < all->spec->domain_count; d++)
        may = room_in(all, d, i) > FULL * all->spec->domains[d].gbs;
    return may;
}

/* Who has come to an end grows no more, all at once: each sees the same instances. */
static void stop_full(division *all) {
    for (size_t i = 0; i < all->count; i++)
        all->grows[i] = all->grows[i] && may_grow(all, i);
    for (size_t d = 0; d < all->spec->domain_count; d++) {
        for (size_t i = 0; i < all->count; i++)
            instance_of(all, d, i)->growing = 0;
        for (size_t i = 0; i < all->count; i++)
            instance_of(all, d, i)->growing += all->grows[i];
    }
}

bj_status bj_sim_share_domains(const bj_sim_spec *spec, bj_sim_demand *demands, size_t count, bj_error *error) {
    division all = {.spec = spec, .demands = demands, .count = count, .grows = malloc(count * sizeof(bool))};
    bool have_memory = all.grows != NULL;
    for (size_t d = 0; d < spec->domain_count; d++) {
        all.instances[d] = calloc(spec->cpus / spec->domains[d].shared_by, sizeof(instance));
        have_memory = have_memory && all.instances[d] != NULL;
    }
    for (size_t i = 0; have_memory && i < count; i++) {
        demands[i].gbs = 0;
        all.grows[i] = demands[i].wanted_gbs > 0;
        for (size_t d = 0; d < spec->domain_count; d++)
            instance_of(&all, d, i)->growing += all.grows[i];
    }
    for (double step = 0; have_memory && !isinf(step = find_step(&all));) {
        grow(&all, step);
        stop_full(&all);
    }
    for (size_t d = 0; d < spec->domain_count; d++)
        free(all.instances[d]);
    free(all.grows);
    return have_memory ? BJ_OK : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to share domains");
}
