#include "probes/kit/paper_pairs.h"

#include <math.h>

#include "probes/kit/walks.h"
#include "stats/monotone.h"
#include "stats/quantile.h"
#include "stats/steps.h"

static bj_status time_pairs(bj_rounds *rounds, size_t extent, double *ns, bj_error *error) {
    size_t apart = extent > BJ_PAPER_SEGMENT_BYTES ? extent : BJ_PAPER_SEGMENT_BYTES;
    size_t pairs = rounds->arena_bytes / apart;
    BJ_TRY(bj_kit_reserve_places(rounds, 2 * pairs, error));
    uint32_t *places = rounds->places, *segment = places + pairs;
    for (size_t i = 0; i < pairs; i++)
        segment[i] = (uint32_t)i;
    bj_random_shuffle_u32(&rounds->random, segment, pairs);
    /* From the front, which never overtakes what is still to be read. */
    for (size_t i = 0; i < pairs; i++) {
        uint32_t first = (uint32_t)(segment[i] * apart / BJ_WALK_WORD_BYTES);
        places[2 * i] = first;
        places[2 * i + 1] = first + (uint32_t)(extent / BJ_WALK_WORD_BYTES) - 1;
    }
    return bj_kit_walk_chains(rounds, places, 2 * pairs, 1, rounds->repetitions, ns, error);
}

bj_status bj_kit_measure_paper_pairs(bj_rounds *rounds, const bj_curve_axes *axes, uint32_t point, bj_error *error) {
    size_t extent = (size_t)BJ_PAPER_FIRST_EXTENT << point;
    double ns = 0;
    BJ_TRY(time_pairs(rounds, extent, &ns, error));
    return bj_kit_record(rounds, axes, (double)extent, ns, error);
}

double bj_kit_find_paper_line(bj_point_summary *summary, const size_t *index, size_t count) {
    bj_step step;
    bj_kit_summarise(summary, index, count, BJ_LOW_QUANTILE);
    bj_stats_enforce_monotone(summary->of_point, summary->curve->x_count);
    return bj_stats_find_biggest_step(summary->of_point, summary->curve->x_count, &step)
               ? summary->curve->x[step.before]
               : NAN;
}
