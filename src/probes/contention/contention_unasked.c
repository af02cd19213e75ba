/* Who was asked too little. */
#include <math.h>

#include "probes/contention/contention_levels.h"

/* Whom the group was compared with, itself included; whether those are all. One cpu of a group tells of all of it, one
 * of a part of the tree does not. */
static bool find_reached(const bj_contention_samples *read, const size_t *group_of, size_t group, bool *reached) {
    bool all = true;
    for (size_t i = 0; i < read->all.count; i++)
        reached[i] = i == group;
    for (size_t p = 0; p < read->pair_count; p++) {
        size_t a = group_of[read->pairs[p].a], b = group_of[read->pairs[p].b];
        if (a == group || b == group)
            reached[a] = reached[b] = true;
    }
    for (size_t i = 0; i < read->all.count; i++) { /* a group's lowest cpu comes before the others */
        reached[i] = reached[group_of[i]];
        all = all && reached[i];
    }
    return all;
}

size_t bj_contention_find_unasked(const bj_contention_samples *read, const bj_contention *found, bool *reached) {
    size_t count = read->all.count;
    for (size_t l = 0; l < found->count && !isnan(found->levels[l].gbs); l++) {
        const bj_contention_level *level = &found->levels[l];
        for (size_t group = 0; group < count; group++) {
            size_t size = 0;
            for (size_t i = group; i < count; i++)
                size += level->group_of[i] == group;
            if (size > 0 && size < level->size && !find_reached(read, level->group_of, group, reached))
                return group;
        }
    }
    return count;
}
