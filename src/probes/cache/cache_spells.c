#include "probes/cache/cache_spells.h"

#include <math.h>
#include <stdlib.h>

#include "probes/kit/spells.h"

typedef struct {
    bj_round_summary *s;
    const bj_hierarchy *found;
    size_t index; /* of the level */
    bj_status status;
    bj_error *error;
} level_latency;

/* The latency of the level in what these rounds gave; NaN: they do not have it. */
static double pick_latency(const bj_hierarchy *found, size_t index, const bj_level_set *set) {
    double size = found->level[index].size.value, factor = index > 0 ? found->edge[index - 1].next_factor : 1;
    for (size_t k = 0; k < set->count; k++) {
        double other = set->level[k].size_x;
        if (other < size * BJ_SAME_LEVEL && size < other * BJ_SAME_LEVEL)
            return set->level[k].latency * factor;
    }
    return NAN;
}

static double find_latency(void *context, const size_t *index, size_t count) {
    level_latency *c = context;
    bj_level_set set;
    if (c->status == BJ_OK)
        c->status = bj_cache_find_in_rounds(c->s, index, count, c->s->request->walk->x_count, &set, c->error);
    return c->status == BJ_OK ? pick_latency(c->found, c->index, &set) : NAN;
}

/* Single rounds are asked once for all levels: `of_round` has a row of rounds a level. */
static bj_status ask_rounds(bj_round_summary *s, const bj_hierarchy *found, double *of_round, bj_error *error) {
    size_t rounds = s->request->walk->round_count;
    for (size_t r = 0; r < rounds; r++) {
        bj_level_set set;
        BJ_TRY(bj_cache_find_in_rounds(s, &r, 1, s->request->walk->x_count, &set, error));
        for (size_t i = 0; i < found->count; i++)
            of_round[i * rounds + r] = pick_latency(found, i, &set);
    }
    return BJ_OK;
}

bj_status bj_cache_heed_spells(bj_round_summary *s, uint64_t seed, bj_hierarchy *found, bj_error *error) {
    const bj_curve *walk = s->request->walk;
    if (walk->spell_count == 0 || found->count == 0)
        return BJ_OK;
    double *of_round = malloc(walk->round_count * found->count * sizeof *of_round);
    if (of_round == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the latencies of %zu rounds",
                                 walk->round_count);
    bj_status status = ask_rounds(s, found, of_round, error);
    for (size_t i = 0; i < found->count && status == BJ_OK; i++) {
        level_latency context = {.s = s, .found = found, .index = i, .error = error};
        bj_estimate_request request = {
            .rounds = walk->round_count, .seed = seed, .statistic = find_latency, .context = &context, .curve = walk};
        status = bj_kit_heed_spells(&request, of_round + i * walk->round_count, &found->level[i].latency, error);
        if (status == BJ_OK)
            status = context.status;
    }
    free(of_round);
    return status;
}
