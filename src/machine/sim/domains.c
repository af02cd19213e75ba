#include "machine/sim/domains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    /* Of each domain, and at the end the controllers where rows cost something. */
    instance *instances[BJ_SIM_MAX_DOMAINS + 1];
    size_t kinds;
    uint64_t per_controller;
    double *controller_gbs; /* what each can give with the rows that it has to open */
    bool *grows;
} division;

/* Rates and rows depend on each other: so often they are worked out in turn. Places count by traffic, which changes
 * little once everybody has a share. */
enum { ROUNDS = 6 };

/* Cpus of one memory controller. */
static uint64_t cpus_of_controller(const bj_sim_spec *spec) {
    uint64_t controllers = spec->numa_nodes > 1 ? spec->numa_nodes : spec->sockets;
    return controllers > 0 && spec->cpus / controllers > 0 ? spec->cpus / controllers : spec->cpus;
}

/* What a controller gives while all rows are open: the outermost domain that lies within it, as often as it does, or a
 * bus that leads to it and to others; what its cpus can take together where the file has no domain. */
static double open_gbs(const bj_sim_spec *spec) {
    uint64_t cpus = cpus_of_controller(spec);
    double gbs = (double)cpus * spec->memory_cpu_gbs;
    for (size_t d = 0; d < spec->domain_count; d++) {
        double instances = fmax((double)cpus / (double)spec->domains[d].shared_by, 1);
        gbs = fmin(gbs, spec->domains[d].gbs * instances);
    }
    return gbs;
}

double bj_sim_open_share(const bj_sim_spec *spec, const bj_sim_demand *demands, size_t count, size_t position) {
    uint64_t cpus = cpus_of_controller(spec);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        if (demands[i].position / cpus == position / cpus) {
            sum += demands[i].gbs;
            squares += demands[i].gbs * demands[i].gbs / fmax(demands[i].places, 1);
        }
    double places = squares > 0 ? sum * sum / squares : 0;
    return spec->dram.open_rows > 0 && places > (double)spec->dram.open_rows ? (double)spec->dram.open_rows / places
                                                                             : 1;
}

static uint64_t sharers_of(const division *all, size_t kind) {
    return kind < all->spec->domain_count ? all->spec->domains[kind].shared_by : all->per_controller;
}

static double rate_of(const division *all, size_t kind, size_t demand) {
    return kind < all->spec->domain_count ? all->spec->domains[kind].gbs
                                          : all->controller_gbs[all->demands[demand].position / all->per_controller];
}

static instance *instance_of(const division *all, size_t domain, size_t demand) {
    return &all->instances[domain][all->demands[demand].position / sharers_of(all, domain)];
}

static double room_in(const division *all, size_t domain, size_t demand) {
    const instance *in = instance_of(all, domain, demand);
    return (rate_of(all, domain, demand) - in->used_gbs) / (double)in->growing;
}

/* How much further all can grow; INFINITY: none grows. */
static double find_step(const division *all) {
    double step = INFINITY;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->grows[i])
            continue;
        step = fmin(step, all->demands[i].wanted_gbs - all->demands[i].gbs);
        for (size_t d = 0; d < all->kinds; d++)
            step = fmin(step, room_in(all, d, i));
    }
    return fmax(step, 0);
}

static void grow(division *all, double step) {
    for (size_t i = 0; i < all->count; i++) {
        if (!all->grows[i])
            continue;
        all->demands[i].gbs += step;
        for (size_t d = 0; d < all->kinds; d++)
            instance_of(all, d, i)->used_gbs += step;
    }
}

static bool may_grow(const division *all, size_t i) {
    bool may = all->demands[i].wanted_gbs - all->demands[i].gbs > FULL * all->demands[i].wanted_gbs;
    for (size_t d = 0; may && d < all->kinds; d++)
        may = room_in(all, d, i) > FULL * rate_of(all, d, i);
    return may;
}

/* Who has come to an end grows no more, all at once: each sees the same instances. */
static void stop_full(division *all) {
    for (size_t i = 0; i < all->count; i++)
        all->grows[i] = all->grows[i] && may_grow(all, i);
    for (size_t d = 0; d < all->kinds; d++) {
        for (size_t i = 0; i < all->count; i++)
            instance_of(all, d, i)->growing = 0;
        for (size_t i = 0; i < all->count; i++)
            instance_of(all, d, i)->growing += all->grows[i];
    }
}

static void share_once(division *all) {
    for (size_t d = 0; d < all->kinds; d++)
        memset(all->instances[d], 0, (all->spec->cpus / sharers_of(all, d) + 1) * sizeof(instance));
    for (size_t i = 0; i < all->count; i++) {
        all->demands[i].gbs = 0;
        all->grows[i] = all->demands[i].wanted_gbs > 0;
        for (size_t d = 0; d < all->kinds; d++)
            instance_of(all, d, i)->growing += all->grows[i];
    }
    for (double step; !isinf(step = find_step(all));) {
        grow(all, step);
        stop_full(all);
    }
}

/* From the shares of the last round, what each controller gives in the next. */
static void find_controllers(division *all) {
    const bj_sim_dram_spec *dram = &all->spec->dram;
    double line = (double)all->spec->caches[all->spec->cache_count - 1].line_bytes, open = open_gbs(all->spec);
    for (size_t i = 0; i < all->count; i++) {
        size_t position = all->demands[i].position;
        double closed = 1 - bj_sim_open_share(all->spec, all->demands, all->count, position);
        double ns = line / open + closed * dram->conflict_ns / (double)dram->banks;
        all->controller_gbs[position / all->per_controller] = line / ns;
    }
}

bj_status bj_sim_share_domains(const bj_sim_spec *spec, bj_sim_demand *demands, size_t count, bj_error *error) {
    bool rows_cost = spec->dram.open_rows > 0 && spec->dram.conflict_ns > 0;
    division all = {.spec = spec,
                    .demands = demands,
                    .count = count,
                    .kinds = spec->domain_count,
                    .per_controller = cpus_of_controller(spec),
                    .controller_gbs = calloc(spec->cpus + 1, sizeof(double)),
                    .grows = malloc(count * sizeof(bool))};
    bool have_memory = all.grows != NULL && all.controller_gbs != NULL;
    for (size_t d = 0; d < spec->domain_count + rows_cost; d++) {
        all.instances[d] = calloc(spec->cpus / sharers_of(&all, d) + 1, sizeof(instance));
        have_memory = have_memory && all.instances[d] != NULL;
    }
    if (have_memory)
        share_once(&all);
    all.kinds += rows_cost;
    for (unsigned round = 0; have_memory && rows_cost && round < ROUNDS; round++) {
        find_controllers(&all);
        share_once(&all);
    }
    for (size_t d = 0; d < spec->domain_count + rows_cost; d++)
        free(all.instances[d]);
    free(all.controller_gbs);
    free(all.grows);
    return have_memory ? BJ_OK : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to share domains");
}
