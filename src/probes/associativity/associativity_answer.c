/* Two strides and two numbers of sets must show the same number of lines that still fit. A stride below the way size
 * would show more at half of it; sets that coincide, a nearer level that hides hits and one that gives its lines on
 * (exclusive) would all show other numbers with twice as many sets. No stride may show fewer: a number of sets with an
 * odd factor shows its multiple at all powers of two. */
#include "probes/associativity/associativity_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/known_caches.h"
#include "stats/bootstrap.h"
#include "stats/quantile.h"
#include "stats/rise.h"

/* One line too many under random replacement misses once in ten visits. Latencies are known to some hundredths. */
#define RISE_SHARE 0.05
#define LATENCY_ERROR 0.03
/* Most lines are missing. */
#define MISSES_SHARE 0.5
/* Rounds that may miss clearly where the others fit, and rounds that a point needs. */
#define CLEAR_MISSES 0.2
#define LEAST_ROUNDS 3u
#define ROUNDS_MAX 64u
/* Of the rounds by themselves, those that must say the same, for high confidence and at all. */
#define HIGH_AGREEMENT 0.9
#define AGREEMENT 0.25
/* Ways times stride is the capacity, as far as that is known; beyond the second bound it is another cache. */
#define CAPACITY_CLOSE 1.18
#define CAPACITY_FAR 1.4
/* The shortest stride tried may be several times the way size. */
#define LEAST_STRIDE_BYTES 4096u
/* Others hold part of a level whose capacity moves more than this between rounds. */
#define STEADY_CAPACITY 1.35
#define TABLE_RISE 0.1
#define TABLE_CONTRAST 1.15

static double find_latency(const bj_answers *earlier, size_t level) {
    char key[64];
    double ns = NAN;
    snprintf(key, sizeof key, "cache.L%zu.latency_ns", level);
    return bj_data_get_number(earlier, key, &ns) ? ns : NAN;
}

static size_t find_x(const bj_curve *curve, double x) {
    size_t point = 0;
    while (point < curve->x_count && curve->x[point] != x)
        point++;
    return point;
}

/* Of the rounds that have the point: the low quantile, since disturbance only adds time. */
static double low_at(const bj_curve *curve, size_t point, size_t *rounds) {
    double values[ROUNDS_MAX];
    *rounds = 0;
    for (size_t r = 0; point < curve->x_count && r < curve->round_count && *rounds < ROUNDS_MAX; r++)
        if (!isnan(curve->rounds[r][point]))
            values[(*rounds)++] = curve->rounds[r][point];
    return bj_stats_low_quantile(values, *rounds);
}

static size_t read_attribute(const bj_curve *curve, const char *name) {
    double number = 0;
    return bj_data_get_attribute_number(curve, name, &number) && number >= 0 ? (size_t)number : 0;
}

static bj_conflict_walk walk_of(const bj_curve *curve) {
    return (bj_conflict_walk){read_attribute(curve, "level"), read_attribute(curve, "stride_bytes"),
                              read_attribute(curve, "sets")};
}

const bj_curve *bj_associativity_find_curve(const bj_curves *samples, const bj_conflict_walk *walk) {
    for (size_t i = 0; i < samples->count; i++) {
        bj_conflict_walk has = walk_of(&samples->items[i]);
        if (has.level == walk->level && has.stride_bytes == walk->stride_bytes && has.sets == walk->sets)
            return &samples->items[i];
    }
    return NULL;
}

bj_status bj_associativity_open_curve(bj_curves *samples, const bj_conflict_walk *walk, bj_curve **curve,
                                      bj_error *error) {
    char id[48];
    *curve = (bj_curve *)bj_associativity_find_curve(samples, walk);
    if (*curve != NULL)
        return BJ_OK;
    if (walk->level > 0)
        snprintf(id, sizeof id, "associativity.L%zu.s%zu.m%zu", walk->level, walk->stride_bytes, walk->sets);
    else
        snprintf(id, sizeof id, "associativity.twin.s%zu.m%zu", walk->stride_bytes, walk->sets);
    bj_status status = bj_data_add_curve(samples, id, "associativity", curve, error);
    if (status != BJ_OK)
        return status;
    bj_data_name_axes(*curve, "lines_of_a_set", "count", "time_per_access", "ns");
    if (walk->level > 0)
        status = bj_data_set_attribute_number(*curve, "level", (double)walk->level, error);
    if (status == BJ_OK)
        status = bj_data_set_attribute_number(*curve, "stride_bytes", (double)walk->stride_bytes, error);
    return status == BJ_OK ? bj_data_set_attribute_number(*curve, "sets", (double)walk->sets, error) : status;
}

bj_associativity_limits bj_associativity_find_limits(const bj_curves *samples, const bj_answers *earlier,
                                                     const bj_conflict_walk *walk, double lines) {
    size_t rounds;
    double first = find_latency(earlier, 1), here = find_latency(earlier, walk->level);
    double next = find_latency(earlier, walk->level + 1), memory = NAN;
    if (isnan(next) && bj_data_get_number(earlier, "memory.latency_ns", &memory))
        next = memory;
    if (!(next > here))
        return (bj_associativity_limits){NAN, NAN};
    const bj_curve *twin = bj_associativity_find_curve(samples, &(bj_conflict_walk){0, walk->stride_bytes, walk->sets});
    size_t point = twin != NULL ? find_x(twin, lines) : 0;
    double tlb = twin != NULL && point < twin->x_count ? fmax(0, low_at(twin, point, &rounds) - first) : 0;
    return (bj_associativity_limits){here * (1 + LATENCY_ERROR) + RISE_SHARE * (next - here) + tlb,
                                     here + MISSES_SHARE * (next - here) + tlb};
}

typedef struct {
    const bj_curve *curve;
    bj_conflict_walk walk;
    double fits; /* lines; NaN: the rounds do not tell */
    size_t told, same;
} seen_curve;

typedef enum { FITS, MISSES, UNCLEAR } outcome;

/* Whether so many lines fit, by all rounds: few of them may miss clearly, for a hashed index or a neighbour's ways make
 * them differ, and the low ones must fit. */
static outcome judge_point(const bj_curves *samples, const bj_answers *earlier, const seen_curve *seen, size_t point) {
    size_t rounds, clear = 0;
    const bj_curve *curve = seen->curve;
    bj_associativity_limits limits = bj_associativity_find_limits(samples, earlier, &seen->walk, curve->x[point]);
    double low = low_at(curve, point, &rounds);
    for (size_t r = 0; r < curve->round_count; r++)
        clear += curve->rounds[r][point] > limits.misses;
    if (rounds < LEAST_ROUNDS || isnan(limits.fits))
        return UNCLEAR;
    if (low > limits.fits)
        return MISSES;
    return (double)clear <= CLEAR_MISSES * (double)rounds ? FITS : UNCLEAR;
}

/* The last number of lines that fits, where one more misses. */
static void sum_up(const bj_curves *samples, const bj_answers *earlier, seen_curve *seen) {
    const bj_curve *curve = seen->curve;
    size_t last = curve->x_count;
    seen->fits = NAN;
    for (size_t i = 0; i + 1 < curve->x_count; i++)
        if (judge_point(samples, earlier, seen, i) == FITS && curve->x[i + 1] == curve->x[i] + 1 &&
            judge_point(samples, earlier, seen, i + 1) == MISSES)
            last = i;
    if (last == curve->x_count)
        return;
    seen->fits = curve->x[last];
    for (size_t r = 0; r < curve->round_count; r++) {
        double inside = curve->rounds[r][last], outside = curve->rounds[r][last + 1];
        if (isnan(inside) || isnan(outside))
            continue;
        seen->told++;
        double at = curve->x[last];
        seen->same += inside <= bj_associativity_find_limits(samples, earlier, &seen->walk, at).fits &&
                      outside > bj_associativity_find_limits(samples, earlier, &seen->walk, at + 1).fits;
    }
}

/* Whether fewer lines than that miss already. */
static bool shows_fewer(const bj_curves *samples, const bj_answers *earlier, const seen_curve *seen, double ways) {
    for (size_t i = 0; i < seen->curve->x_count && seen->curve->x[i] <= ways; i++)
        if (judge_point(samples, earlier, seen, i) == MISSES)
            return true;
    return false;
}

static const seen_curve *find_seen(const seen_curve *seen, size_t count, size_t stride, size_t sets) {
    for (size_t i = 0; i < count; i++)
        if (seen[i].walk.stride_bytes == stride && seen[i].walk.sets == sets)
            return &seen[i];
    return NULL;
}

/* The four that must agree, from this one on. */
static bool agree(const seen_curve *seen, size_t count, const seen_curve *from, bj_associativity_found *found) {
    if (!(from->fits > 0))
        return false;
    bj_associativity_found sum = {
        .ways = from->fits, .stride = from->walk.stride_bytes, .sets = from->walk.sets, .rounds = SIZE_MAX};
    for (unsigned i = 0; i < 4; i++) {
        const seen_curve *other =
            find_seen(seen, count, from->walk.stride_bytes << (i & 1), from->walk.sets << (i >> 1));
        if (other == NULL || other->fits != from->fits)
            return false;
        sum.outcomes += other->told;
        sum.same += other->same;
        sum.rounds = other->told < sum.rounds ? other->told : sum.rounds;
    }
    *found = sum;
    return true;
}

#define CURVES_MAX 256u

void bj_associativity_find(const bj_curves *samples, const bj_answers *earlier, size_t level,
                           bj_associativity_found *found) {
    seen_curve seen[CURVES_MAX];
    size_t count = 0;
    *found = (bj_associativity_found){0};
    for (size_t i = 0; i < samples->count && count < CURVES_MAX; i++) {
        seen_curve *one = &seen[count];
        *one = (seen_curve){.curve = &samples->items[i], .walk = walk_of(&samples->items[i])};
        if (one->walk.level != level)
            continue;
        sum_up(samples, earlier, one);
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        bj_associativity_found this_one;
        if (!agree(seen, count, &seen[i], &this_one))
            continue;
        bool fewer = found->ways == 0 || this_one.ways < found->ways;
        bool shorter = this_one.ways == found->ways && this_one.rounds >= found->rounds &&
                       (this_one.rounds > found->rounds || this_one.stride < found->stride ||
                        (this_one.stride == found->stride && this_one.sets < found->sets));
        if (fewer || shorter)
            *found = this_one;
    }
    for (size_t i = 0; i < count && found->ways > 0; i++)
        if (seen[i].walk.sets >= found->sets && seen[i].walk.sets <= 2 * found->sets &&
            shows_fewer(samples, earlier, &seen[i], found->ways))
            found->contradicted = true;
}

static double find_capacity(const bj_answers *earlier, size_t level, bool *steady) {
    char key[64];
    snprintf(key, sizeof key, "cache.L%zu.capacity_bytes", level);
    const bj_answer *answer = bj_data_find_answer(earlier, key);
    *steady = answer != NULL && answer->status == BJ_ANSWER_OK &&
              (!answer->has_interval || answer->interval[1] <= STEADY_CAPACITY * answer->interval[0]);
    double bytes = NAN;
    if (answer != NULL)
        (void)bj_data_get_number(earlier, key, &bytes);
    return bytes;
}

static void refuse(bj_answer *answer, const char *reason) {
    answer->status = BJ_ANSWER_UNDETERMINED;
    snprintf(answer->reason, sizeof answer->reason, "%s", reason);
}

/* Whether the system grants pages that a physically indexed level needs: those curves were not measured without. */
static bool has_curves(const bj_curves *samples, size_t level) {
    for (size_t i = 0; i < samples->count; i++)
        if (walk_of(&samples->items[i]).level == level)
            return true;
    return false;
}

static bj_status answer_level(const bj_curves *samples, const bj_analyse_request *request, size_t level, bool last,
                              bj_answers *answers, bj_error *error) {
    char key[64];
    bj_answer *answer;
    snprintf(key, sizeof key, "cache.L%zu.associativity", level);
    bj_status status = bj_data_put_answer(answers, key, "ways", &answer, error);
    if (status != BJ_OK)
        return status;
    snprintf(answer->method, sizeof answer->method, "conflicts/%u", BJ_ASSOCIATIVITY_REVISION);
    bj_associativity_found found;
    bool steady;
    double capacity = find_capacity(request->earlier, level, &steady);
    if (!has_curves(samples, level)) {
        refuse(answer, level == 1 ? "the caches are not known"
                                  : "lines that meet in a set could not be chosen: no huge pages, no buffer large "
                                    "enough, or the nearer level's sets are not known");
        return BJ_OK;
    }
    bj_associativity_find(samples, request->earlier, level, &found);
    if (found.ways == 0 || found.contradicted) {
        refuse(answer, found.contradicted ? "strides disagree: a hashed index, or a level behind that takes lines along"
                                          : "no step that strides and numbers of sets agree on: a hashed index, an "
                                            "odd number of sets, or lines that two levels hold between them");
        return BJ_OK;
    }
    const bj_conflict_walk agreed = {level, found.stride, found.sets};
    bj_data_cite_curve(answer, bj_associativity_find_curve(samples, &agreed)->id);
    double held = found.ways * (double)found.stride / capacity;
    bool far = held < 1 / CAPACITY_FAR || (held > CAPACITY_FAR && found.stride > LEAST_STRIDE_BYTES);
    bool close = held > 1 / CAPACITY_CLOSE && (held < CAPACITY_CLOSE || found.stride <= LEAST_STRIDE_BYTES);
    if (!(found.same >= AGREEMENT * (double)found.outcomes)) {
        refuse(answer, "rounds disagree: others hold part of the level, or its index is hashed");
    } else if (isnan(capacity) || far) {
        snprintf(answer->reason, sizeof answer->reason,
                 "%.0f lines fit at strides of %zu bytes, which is not the capacity of this level", found.ways,
                 found.stride);
        answer->status = BJ_ANSWER_UNDETERMINED;
    } else if (last && level > 1 && !steady) {
        refuse(answer, "the level's capacity moves: others hold part of its ways");
    } else {
        answer->value = found.ways;
        answer->has_interval = true;
        answer->interval[0] = answer->interval[1] = found.ways;
        answer->confidence = found.rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED ? BJ_CONFIDENCE_LOW
                             : found.same >= HIGH_AGREEMENT * (double)found.outcomes && close && steady
                                 ? BJ_CONFIDENCE_HIGH
                                 : BJ_CONFIDENCE_MEDIUM;
        /* Others may hold the same ways of a shared level all the while. */
        if (last && level > 1 && answer->confidence == BJ_CONFIDENCE_HIGH)
            answer->confidence = BJ_CONFIDENCE_MEDIUM;
    }
    return BJ_OK;
}

/* Somebody's curve: the last number of lines before the times begin to rise. */
static bj_status analyse_table(const bj_curve *curve, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    char key[64];
    bj_answer *answer;
    snprintf(key, sizeof key, "cache.L%u.associativity", request->level > 0 ? request->level : 1);
    bj_status status = bj_data_put_answer(answers, key, "ways", &answer, error);
    if (status != BJ_OK)
        return status;
    double *low = malloc((curve->x_count + curve->round_count) * sizeof *low), least = INFINITY, most = 0;
    if (low == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a curve of %zu points", curve->x_count);
    double *scratch = low + curve->x_count;
    for (size_t i = 0; i < curve->x_count; i++) {
        for (size_t r = 0; r < curve->round_count; r++)
            scratch[r] = curve->rounds[r][i];
        low[i] = bj_stats_low_quantile(scratch, curve->round_count);
        least = fmin(least, low[i]);
        most = fmax(most, low[i]);
    }
    size_t rise = bj_stats_find_rise(low, curve->x_count, TABLE_RISE * (most - least));
    snprintf(answer->method, sizeof answer->method, "first_rise/%u", BJ_ASSOCIATIVITY_REVISION);
    if (!(most > TABLE_CONTRAST * least) || rise == 0 || rise == curve->x_count) {
        refuse(answer, "no step: as many lines as were tried fit");
    } else {
        answer->value = curve->x[rise - 1];
        answer->has_interval = true;
        answer->interval[0] = curve->x[rise - 1];
        answer->interval[1] = fmax(curve->x[rise - 1], curve->x[rise] - 1);
        /* One stride alone cannot tell a way from two, nor one level's lines from two levels'. */
        answer->confidence = BJ_CONFIDENCE_LOW;
    }
    free(low);
    return BJ_OK;
}

bj_status bj_associativity_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                   bj_error *error) {
    if (request->from_table)
        return analyse_table(bj_data_find_curve(samples, BJ_ASSOCIATIVITY_TABLE), request, answers, error);
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    bj_status status = BJ_OK;
    for (size_t level = 1; status == BJ_OK && level <= caches.count; level++)
        status = answer_level(samples, request, level, level == caches.count, answers, error);
    return status;
}
