#include "probes/cache/cache_explore.h"

#include <math.h>

#include "probes/cache/cache_samples.h"

#define MIB 1048576.0
#define FIRST_GRAIN_BYTES 32u
#define LAST_GRAIN_BYTES 256u
#define PAIR_TRIES 5u
/* Missing the first level adds this share of its time at least. */
#define MISS_ADDS 0.5
/* Beyond any line, within any page. */
#define FAR_PAIR_BYTES 1024u
/* Pairs that share a line save 0.29 (of twice the first level, where a line's second visit hits by itself now and then)
 * to 0.5 (far beyond) of the cost of missing the first level, others nothing: halfway. */
#define PAIR_SAVES 0.2
/* Beyond any first level. */
#define LAST_FIRST_BYTES (8 * MIB)
/* The look begins here, and memory is not believed to begin below. */
#define LOOK_FIRST_BYTES (1 * MIB)
#define LOOK_MULTIPLE 4096
#define LOOK_POINTS_MAX 64u
#define LEAST_TOP_BYTES (32 * MIB)
/* Less than this share of the last time is not memory yet. The sweep need not go further than so many times beyond. */
#define BELOW_MEMORY 0.75
#define TOP_OVER_LAST 4

/* What an access takes: in random order; in pairs, side by side; and in pairs on a page that no line holds both of. */
typedef struct {
    double apart_ns, near_ns, far_ns;
} pair_times;

/* On the same frames, since those decide what the next level hits. */
static bj_status time_pairs(bj_rounds *rounds, double bytes, size_t grain_bytes, pair_times *times, bj_error *error) {
    bj_walk_point apart = {.bytes = bytes,
                           .order = BJ_ORDER_RANDOM,
                           .grain_bytes = grain_bytes,
                           .placed = true,
                           .first_byte = bj_kit_choose_first_byte(rounds, bytes)};
    bj_walk_point near = apart, far = apart;
    near.order = far.order = BJ_ORDER_PAIRS;
    near.pair_bytes = grain_bytes;
    far.pair_bytes = FAR_PAIR_BYTES;
    BJ_TRY(bj_kit_walk_point(rounds, &apart, &times->apart_ns, error));
    BJ_TRY(bj_kit_walk_point(rounds, &near, &times->near_ns, error));
    return bj_kit_walk_point(rounds, &far, &times->far_ns, error);
}

/* What missing the first level adds, without the TLB's part: of that, any pair on one page saves half. */
static double cost_of_miss(const pair_times *times, double first_ns) {
    return 2 * times->far_ns - times->apart_ns - first_ns;
}

/* The smallest working set, an octave apart, that the first level clearly misses, and at most half of what there is
 * room for; 0: none. And the time within the first level. */
static bj_status find_beyond_first(bj_rounds *rounds, double *bytes, double *first_ns, bj_error *error) {
    *bytes = *first_ns = 0;
    double most = fmin((double)rounds->arena_bytes / 2, LAST_FIRST_BYTES);
    for (double at = BJ_CACHE_FIRST_BYTES; at <= most; at *= 2) {
        pair_times times;
        BJ_TRY(time_pairs(rounds, at, FIRST_GRAIN_BYTES, &times, error));
        if (*first_ns == 0)
            *first_ns = times.apart_ns;
        if (cost_of_miss(&times, *first_ns) > MISS_ADDS * *first_ns) {
            *bytes = at;
            break;
        }
    }
    return BJ_OK;
}

/* Is a line longer than the grain? Walks beyond the first level, inside the next: what spills over into a third level
 * hides what is saved, so the try counts that took the least, with the luckiest frames and undisturbed. */
static bj_status share_a_line(bj_rounds *rounds, double bytes, size_t grain_bytes, double first_ns, bool *share,
                              bj_error *error) {
    pair_times best = {0};
    double least_ns = INFINITY;
    for (unsigned i = 0; i < PAIR_TRIES; i++) {
        pair_times times;
        BJ_TRY(time_pairs(rounds, bytes, grain_bytes, &times, error));
        double all_ns = times.apart_ns + times.near_ns + times.far_ns;
        if (all_ns < least_ns) {
            least_ns = all_ns;
            best = times;
        }
    }
    double miss_ns = fmax(cost_of_miss(&best, first_ns), MISS_ADDS * first_ns);
    *share = best.far_ns - best.near_ns > PAIR_SAVES * miss_ns;
    return BJ_OK;
}

bj_status bj_cache_find_grain(bj_rounds *rounds, size_t *grain_bytes, bj_error *error) {
    double beyond, first_ns;
    *grain_bytes = FIRST_GRAIN_BYTES;
    bj_status status = find_beyond_first(rounds, &beyond, &first_ns, error);
    bool share = status == BJ_OK && beyond > 0;
    while (share && *grain_bytes < LAST_GRAIN_BYTES && status == BJ_OK) {
        status = share_a_line(rounds, 2 * beyond, *grain_bytes, first_ns, &share, error);
        if (status == BJ_OK && share)
            *grain_bytes *= 2;
    }
    return status;
}

typedef struct {
    bj_rounds *rounds;
    bj_walk_point walk;
    double bytes[LOOK_POINTS_MAX];
} look_run;

static bj_status measure_look(void *context, const uint32_t *points, size_t count, bj_error *error) {
    look_run *run = context;
    double ns = 0;
    (void)count;
    /* From the largest on: those show what could have been seen at all. */
    if (*points > 0 && bj_probe_is_late(run->rounds->request))
        return BJ_OK;
    run->walk.bytes = run->bytes[*points];
    BJ_TRY(bj_kit_walk_point(run->rounds, &run->walk, &ns, error));
    return bj_cache_record(run->rounds, BJ_CACHE_LOOK, BJ_CACHE_X_NAME, run->walk.bytes, ns, error);
}

bj_status bj_cache_find_top(bj_rounds *rounds, bj_walk_order order, size_t grain_bytes, double *top_bytes,
                            bj_error *error) {
    look_run run = {.rounds = rounds, .walk = {.order = order, .grain_bytes = grain_bytes}};
    bj_round_plan plan = {
        .count = 1, .progress_to = BJ_CACHE_EXPLORED, .in_order = true, .context = &run, .measure = measure_look};
    double most = (double)rounds->arena_bytes;
    for (double at = most; at >= LOOK_FIRST_BYTES && plan.point_count < LOOK_POINTS_MAX; at /= 2)
        run.bytes[plan.point_count++] = floor(at / LOOK_MULTIPLE) * LOOK_MULTIPLE;
    bj_status status = bj_kit_run_rounds(rounds, &plan, error);
    const bj_curve *look = bj_data_find_curve(rounds->samples, BJ_CACHE_LOOK);
    *top_bytes = fmin(most, LEAST_TOP_BYTES);
    if (status != BJ_OK || look == NULL)
        return status;
    const double *ns = look->rounds[0];
    size_t i = look->x_count - 1;
    while (i > 0 && ns[i] >= BELOW_MEMORY * ns[look->x_count - 1])
        i--;
    if (ns[i] < BELOW_MEMORY * ns[look->x_count - 1])
        *top_bytes = fmin(most, fmax(LEAST_TOP_BYTES, TOP_OVER_LAST * look->x[i]));
    return BJ_OK;
}
