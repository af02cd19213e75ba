/* Runs of one launcher differ (ReproMPI): the spread between launches is only seen in rounds of several. */
#include "comm/comm_merge.h"

#include <math.h>
#include <string.h>

static bool is_place(const bj_curve *curve) {
    return strcmp(curve->id, "comm.hosts") == 0 || strcmp(curve->id, "comm.cpus") == 0;
}

static bool is_same_place(const bj_curve *a, const bj_curve *b) {
    bool same = b != NULL && a->x_count == b->x_count && a->round_count > 0 && b->round_count > 0;
    for (size_t i = 0; same && i < a->x_count; i++)
        same = a->x[i] == b->x[i] && a->rounds[0][i] == b->rounds[0][i];
    return same;
}

static bj_curve *find_curve(bj_profile *profile, const char *id) {
    for (size_t i = 0; i < profile->curves.count; i++)
        if (strcmp(profile->curves.items[i].id, id) == 0)
            return &profile->curves.items[i];
    return NULL;
}

static bj_status append_rounds(const bj_curve *from, bj_curve *into, bj_error *error) {
    size_t first = into->round_count;
    unsigned spell = first > 0 ? bj_data_find_spell(into, first - 1) + 2 : 0;
    spell -= spell % 2;
    for (size_t r = 0; r < from->round_count; r++)
        for (size_t i = 0; i < from->x_count; i++)
            if (isfinite(from->rounds[r][i]))
                BJ_TRY(bj_data_record_sample(into, from->x[i], first + r, from->rounds[r][i], error));
    return into->round_count > first ? bj_data_mark_spell(into, first, spell, error) : BJ_OK;
}

/* Whether `into` has these very rounds already: the same launch twice would count as two that agree. */
static bool has_rounds(const bj_curve *from, const bj_curve *into) {
    bool same = false;
    for (size_t first = 0; first + from->round_count <= into->round_count && !same; first++) {
        same = from->x_count == into->x_count && from->round_count > 1;
        for (size_t r = 0; r < from->round_count && same; r++)
            for (size_t i = 0; i < from->x_count && same; i++)
                same = from->x[i] == into->x[i] &&
                       (from->rounds[r][i] == into->rounds[first + r][i] || !isfinite(from->rounds[r][i]));
    }
    return same;
}

bj_status bj_comm_merge(const bj_profile *from, const char *name, bj_profile *into, bj_error *error) {
    size_t merged = 0;
    for (size_t i = 0; i < from->curves.count; i++) {
        const bj_curve *curve = &from->curves.items[i];
        bj_curve *own = find_curve(into, curve->id);
        if (strcmp(curve->probe, "comm") != 0)
            continue;
        merged++;
        if (is_place(curve) && !is_same_place(curve, own))
            return bj_base_set_error(error, BJ_ERR_INPUT, "%.120s: its ranks were on other hosts or cpus", name);
        if (!is_place(curve) && own != NULL && has_rounds(curve, own))
            return bj_base_set_error(error, BJ_ERR_INPUT, "%.120s: its rounds are there already: the same launch twice",
                                     name);
        /* Another launch may have asked other pairs: what only one of them has is left out. */
        if (!is_place(curve) && own != NULL)
            BJ_TRY(append_rounds(curve, own, error));
    }
    return merged > 0 ? BJ_OK : bj_base_set_error(error, BJ_ERR_INPUT, "%.120s: has no samples of comm", name);
}
