/* Two strides and two numbers of sets must show the same number of lines that still fit. A stride below the way size
 * would show more at half of it; sets that coincide, a nearer level that hides hits and one that gives its lines on
 * (exclusive) would all show other numbers with twice as many sets. No stride may show fewer: a number of sets with an
 * odd factor shows its multiple at all powers of two. */
#include "probes/associativity/associativity_answer.h"

#include <math.h>
#include <stdio.h>

#include "probes/associativity/associativity_constants.h"
#include "probes/associativity/associativity_paper.h"
#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "stats/monotone.h"
#include "stats/quantile.h"
#include "stats/rise.h"
#include "stats/steps.h"

#define CURVES_MAX 256u
/* More add nothing. */
#define ROUNDS_MAX 64u
#define AGREEING BJ_ASSOCIATIVITY_AGREEING

static size_t read_attribute(const bj_curve *curve, const char *name) {
    double number = 0;
    return bj_data_get_attribute_number(curve, name, &number) && number >= 0 ? (size_t)number : 0;
}

static bj_conflict_walk walk_of(const bj_curve *curve) {
    return (bj_conflict_walk){read_attribute(curve, "level"), read_attribute(curve, "stride_bytes"),
                              read_attribute(curve, "sets"), read_attribute(curve, "set_stride_bytes")};
}

/* What differs most is compared first: this is asked of every curve for every point. */
static bool is_of_walk(const bj_curve *curve, const bj_conflict_walk *walk) {
    return curve->attribute_count > 0 && read_attribute(curve, "stride_bytes") == walk->stride_bytes &&
           read_attribute(curve, "sets") == walk->sets && read_attribute(curve, "level") == walk->level;
}

/* NULL: not measured. */
static const bj_curve *find_curve(const bj_curves *samples, const bj_conflict_walk *walk) {
    for (size_t i = 0; i < samples->count; i++)
        if (is_of_walk(&samples->items[i], walk))
            return &samples->items[i];
    return NULL;
}

bj_status bj_associativity_open_curve(bj_curves *samples, const bj_conflict_walk *walk, bj_curve **curve,
                                      bj_error *error) {
    const struct {
        const char *name;
        size_t number;
    } facts[] = {{"stride_bytes", walk->stride_bytes},
                 {"sets", walk->sets},
                 {"level", walk->level}, /* from here on, a twin has none */
                 {"set_stride_bytes", walk->set_stride_bytes}};
    char id[48], level[24] = "twin";
    *curve = (bj_curve *)find_curve(samples, walk);
    if (*curve != NULL)
        return BJ_OK;
    if (walk->level > 0)
        snprintf(level, sizeof level, "L%zu", walk->level);
    snprintf(id, sizeof id, "associativity.%s.s%zu.m%zu", level, walk->stride_bytes, walk->sets);
    BJ_TRY(bj_data_add_curve(samples, id, "associativity", curve, error));
    bj_data_name_axes(*curve, "lines_of_a_set", "count", "time_per_access", "ns");
    for (size_t i = 0; i < (walk->level > 0 ? 4 : 2); i++)
        BJ_TRY(bj_data_set_attribute_number(*curve, facts[i].name, (double)facts[i].number, error));
    return BJ_OK;
}

/* x_count: the curve lacks it. */
static size_t find_x(const bj_curve *curve, double x) {
    size_t point = 0;
    while (point < curve->x_count && curve->x[point] != x)
        point++;
    return point;
}

static size_t count_rounds(const bj_curve *curve) {
    return curve->round_count < ROUNDS_MAX ? curve->round_count : ROUNDS_MAX;
}

/* What the TLB costs an access to these pages. */
static double find_tlb_cost(const bj_curves *samples, const bj_conflict_walk *walk, double lines, double first_ns) {
    const bj_conflict_walk of_twin = {.stride_bytes = walk->stride_bytes, .sets = walk->sets};
    const bj_curve *twin = find_curve(samples, &of_twin);
    size_t point = twin != NULL ? find_x(twin, lines) : 0;
    double scratch[ROUNDS_MAX];
    if (twin == NULL || point == twin->x_count)
        return 0;
    return fmax(0,
                bj_kit_quantile_of_point(twin, point, NULL, count_rounds(twin), BJ_LOW_QUANTILE, scratch) - first_ns);
}

bj_associativity_limits bj_associativity_find_limits(const bj_curves *samples, const bj_answers *earlier,
                                                     const bj_conflict_walk *walk, double lines) {
    double here = bj_known_caches_find_latency(earlier, walk->level);
    double miss = bj_known_caches_find_latency(earlier, walk->level + 1) - here;
    if (!(miss > 0))
        return (bj_associativity_limits){NAN, NAN};
    double tlb = find_tlb_cost(samples, walk, lines, bj_known_caches_find_latency(earlier, 1));
    return (bj_associativity_limits){here * (1 + LATENCY_ERROR) + RISE_SHARE * miss + tlb,
                                     here + MISSES_SHARE * miss + tlb};
}

typedef enum { FITS, MISSES, UNCLEAR } outcome;

/* Whether so many lines fit, by these rounds (NULL: the first `count`): few of them may miss clearly, for a hashed
 * index or a neighbour's ways make them differ, and the low ones must fit. */
static outcome judge_point(const bj_curve *curve, size_t point, const bj_associativity_limits *limits,
                           const size_t *index, size_t count) {
    double times[ROUNDS_MAX];
    size_t rounds = 0, clear = 0;
    for (size_t i = 0; i < count; i++) {
        size_t round = index != NULL ? index[i] : i;
        double ns = round < curve->round_count ? curve->rounds[round][point] : NAN;
        if (isnan(ns))
            continue;
        times[rounds++] = ns;
        clear += ns > limits->misses;
    }
    if (rounds < LEAST_ROUNDS || isnan(limits->fits))
        return UNCLEAR;
    /* Low, since disturbance only adds time. */
    if (bj_stats_low_quantile(times, rounds) > limits->fits)
        return MISSES;
    return (double)clear <= CLEAR_MISSES * (double)rounds ? FITS : UNCLEAR;
}

typedef struct {
    const bj_curves *samples;
    const bj_answers *earlier;
} sources;

static outcome judge_all(const sources *from, const bj_curve *curve, const bj_conflict_walk *walk, size_t point) {
    bj_associativity_limits limits = bj_associativity_find_limits(from->samples, from->earlier, walk, curve->x[point]);
    return judge_point(curve, point, &limits, NULL, count_rounds(curve));
}

typedef struct {
    const bj_curve *curve;
    bj_conflict_walk walk;
    double fits;   /* the last number of lines that fits, where one more misses; 0: the rounds do not tell */
    size_t rounds; /* that have both */
} seen_curve;

static void look_at(const sources *from, seen_curve *seen) {
    const bj_curve *curve = seen->curve;
    for (size_t i = 0; i + 1 < curve->x_count; i++) {
        if (curve->x[i + 1] != curve->x[i] + 1 || judge_all(from, curve, &seen->walk, i) != FITS ||
            judge_all(from, curve, &seen->walk, i + 1) != MISSES)
            continue;
        seen->fits = curve->x[i];
        seen->rounds = 0;
        for (size_t r = 0; r < curve->round_count; r++)
            seen->rounds += !isnan(curve->rounds[r][i]) && !isnan(curve->rounds[r][i + 1]);
    }
}

/* Whether fewer lines than that miss already. */
static bool shows_fewer(const sources *from, const seen_curve *seen, double ways) {
    for (size_t i = 0; i < seen->curve->x_count && seen->curve->x[i] <= ways; i++)
        if (judge_all(from, seen->curve, &seen->walk, i) == MISSES)
            return true;
    return false;
}

/* One of the four that must agree. */
static bj_conflict_walk vary_walk(bj_conflict_walk walk, unsigned i) {
    walk.stride_bytes <<= i & 1;
    walk.sets <<= i >> 1;
    return walk;
}

/* ways 0: they do not. */
static bj_associativity_found find_agreement(const seen_curve *seen, size_t count, const seen_curve *first) {
    bj_associativity_found found = {true, first->fits, false, {first->curve}, first->walk, first->rounds};
    for (unsigned i = 1; i < AGREEING; i++) {
        bj_conflict_walk walk = vary_walk(first->walk, i);
        size_t k = 0;
        while (k < count && (seen[k].walk.stride_bytes != walk.stride_bytes || seen[k].walk.sets != walk.sets))
            k++;
        if (k == count || seen[k].fits != first->fits)
            return (bj_associativity_found){.tested = true};
        found.curves[i] = seen[k].curve;
        found.rounds = seen[k].rounds < found.rounds ? seen[k].rounds : found.rounds;
    }
    return found;
}

static bool is_better(const bj_associativity_found *one, const bj_associativity_found *other) {
    if (one->ways == 0 || other->ways == 0)
        return one->ways > 0;
    if (one->ways != other->ways)
        return one->ways < other->ways;
    if (one->rounds != other->rounds)
        return one->rounds > other->rounds;
    if (one->walk.stride_bytes != other->walk.stride_bytes)
        return one->walk.stride_bytes < other->walk.stride_bytes;
    return one->walk.sets < other->walk.sets;
}

void bj_associativity_find(const bj_curves *samples, const bj_answers *earlier, size_t level,
                           bj_associativity_found *found) {
    const sources from = {samples, earlier};
    seen_curve seen[CURVES_MAX];
    size_t count = 0;
    *found = (bj_associativity_found){0};
    for (size_t i = 0; i < samples->count && count < CURVES_MAX; i++) {
        seen[count] = (seen_curve){.curve = &samples->items[i], .walk = walk_of(&samples->items[i])};
        if (seen[count].walk.level == level)
            look_at(&from, &seen[count++]);
    }
    found->tested = count > 0;
    for (size_t i = 0; i < count; i++) {
        bj_associativity_found other = find_agreement(seen, count, &seen[i]);
        if (is_better(&other, found))
            *found = other;
    }
    for (size_t i = 0; i < count && found->ways > 0; i++)
        if (seen[i].walk.sets >= found->walk.sets && seen[i].walk.sets <= 2 * found->walk.sets)
            found->contradicted = found->contradicted || shows_fewer(&from, &seen[i], found->ways);
}

/* The four curves at the ways that they agree on and at one line more. */
typedef struct {
    const bj_associativity_found *found;
    size_t points[AGREEING]; /* the next is that of one more */
    bj_associativity_limits limits[AGREEING][2];
} agreement;

static double confirm_ways(void *context, const size_t *index, size_t count) {
    const agreement *agreed = context;
    size_t rounds = count < ROUNDS_MAX ? count : ROUNDS_MAX;
    for (unsigned i = 0; i < AGREEING; i++) {
        const bj_associativity_limits *limits = agreed->limits[i];
        if (judge_point(agreed->found->curves[i], agreed->points[i], &limits[0], index, rounds) != FITS ||
            judge_point(agreed->found->curves[i], agreed->points[i] + 1, &limits[1], index, rounds) != MISSES)
            return NAN;
    }
    return agreed->found->ways;
}

/* How often other rounds would have shown the same ways. What the TLB costs is taken from all rounds. */
static bj_status estimate_ways(const bj_curves *samples, const bj_analyse_request *request,
                               const bj_associativity_found *found, bj_estimate *ways, bj_error *error) {
    agreement agreed = {.found = found};
    bj_estimate_request resampling = {.seed = request->seed, .statistic = confirm_ways, .context = &agreed};
    for (unsigned i = 0; i < AGREEING; i++) {
        bj_conflict_walk walk = vary_walk(found->walk, i);
        const bj_curve *curve = found->curves[i];
        agreed.points[i] = find_x(curve, found->ways);
        for (unsigned k = 0; k < 2; k++)
            agreed.limits[i][k] = bj_associativity_find_limits(samples, request->earlier, &walk, found->ways + k);
        if (count_rounds(curve) > resampling.rounds)
            resampling.rounds = count_rounds(curve);
    }
    BJ_TRY(bj_kit_estimate(&resampling, ways, error));
    /* Exploring, which is the first round, need not have met all of these points. */
    ways->rounds = found->rounds;
    return BJ_OK;
}

static double find_capacity(const bj_answers *earlier, size_t level, bool *steady) {
    char key[64];
    snprintf(key, sizeof key, "cache.L%zu.capacity_bytes", level);
    const bj_answer *answer = bj_data_find_answer(earlier, key);
    *steady = answer != NULL && answer->status == BJ_ANSWER_OK &&
              (!answer->has_interval || answer->interval[1] <= STEADY_CAPACITY * answer->interval[0]);
    return bj_kit_find_number(earlier, "%s", key);
}

static void fill_answer(bj_answer *answer, const bj_associativity_found *found, const bj_estimate *ways,
                        const bj_answers *earlier, bool shared) {
    bool steady, shortest = found->walk.stride_bytes <= LEAST_STRIDE_BYTES;
    double held = found->ways * (double)found->walk.stride_bytes / find_capacity(earlier, found->walk.level, &steady);
    bool close = held > 1 / CAPACITY_CLOSE && (held < CAPACITY_CLOSE || shortest);
    if (ways->support < SUPPORT_LEAST)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "rounds disagree: shared with other tenants, or a hashed index");
    else if (!(held >= 1 / CAPACITY_FAR) || (held > CAPACITY_FAR && !shortest))
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "%.0f lines fit at strides of %zu bytes, which is not the capacity of this level", found->ways,
                      found->walk.stride_bytes);
    else if (shared && !steady)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED,
                      "the level's capacity moves: other tenants hold part of its ways");
    else /* Others may hold the same ways of a shared level all the while. */
        bj_kit_fill_answer(answer, ways, close && steady && !shared ? BJ_CONFIDENCE_HIGH : BJ_CONFIDENCE_MEDIUM);
}

static const char *say_why_untested(size_t level, bool nearer_known) {
    if (!nearer_known)
        return "could not build addresses of one set: that needs the ways of the level before";
    return level > 1
               ? "could not build addresses of one set: that needs huge pages and a buffer of several times the level"
               : "could not build addresses of one set: that needs a buffer of several times the level";
}

/* `known` says whether the nearer level's ways were found, and then whether this one's were. */
static bj_status answer_level(const bj_curves *samples, const bj_analyse_request *request, size_t level, bool shared,
                              bool *known, bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    bj_associativity_found found;
    bj_estimate ways;
    bool nearer_known = *known;
    BJ_TRY(bj_kit_put_answer(answers, "ways", &answer, error, "cache.L%zu.associativity", level));
    bj_associativity_find(samples, request->earlier, level, &found);
    *known = found.curves[0] != NULL && !found.contradicted;
    if (!*known) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s",
                      found.tested ? "conflict tests disagree: probably a hashed index"
                                   : say_why_untested(level, nearer_known));
        return BJ_OK;
    }
    bj_data_cite_curve(answer, found.curves[0]->id);
    BJ_TRY(estimate_ways(samples, request, &found, &ways, error));
    fill_answer(answer, &found, &ways, request->earlier, shared);
    return BJ_OK;
}

/* The first point after it; the number of points: none. The paper's way is the biggest step. */
static size_t find_table_rise(bj_point_summary *summary, const char *method) {
    size_t count = summary->curve->x_count;
    bj_step step;
    if (!bj_probe_is_method(method, BJ_ASSOCIATIVITY_BIGGEST_STEP))
        return bj_stats_find_rise(summary->of_point, count, TABLE_RISE * (summary->most - summary->least));
    bj_stats_enforce_monotone(summary->of_point, count);
    return bj_stats_find_biggest_step(summary->of_point, count, &step) ? step.after : count;
}

/* Somebody's curve: the last number of lines before the times begin to rise. */
static bj_status analyse_table(const bj_curve *curve, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    bj_answer *answer;
    bj_point_summary summary;
    BJ_TRY(bj_kit_put_answer(answers, "ways", &answer, error, "cache.L%u.associativity",
                             request->level > 0 ? request->level : 1));
    BJ_TRY(bj_kit_open_summary(&summary, curve, error));
    bj_kit_summarise(&summary, NULL, curve->round_count, BJ_LOW_QUANTILE);
    size_t rise = find_table_rise(&summary, request->method);
    if (!(summary.most > TABLE_CONTRAST * summary.least) || rise == 0 || rise == curve->x_count) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no step: as many lines as were tried fit");
    } else {
        answer->value = answer->interval[0] = curve->x[rise - 1];
        answer->interval[1] = fmax(curve->x[rise - 1], curve->x[rise] - 1);
        answer->has_interval = true;
        /* One stride alone cannot tell a way from two, nor one level's lines from two levels'. */
        answer->confidence = BJ_CONFIDENCE_LOW;
    }
    bj_kit_close_summary(&summary);
    return BJ_OK;
}

bj_status bj_associativity_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                   bj_error *error) {
    if (request->from_table)
        return analyse_table(bj_data_find_curve(samples, BJ_ASSOCIATIVITY_TABLE), request, answers, error);
    if (bj_probe_is_method(request->method, BJ_ASSOCIATIVITY_BIGGEST_STEP))
        return bj_associativity_analyse_paper(samples, request, answers, error);
    bj_known_caches caches;
    bj_known_caches_read(request->earlier, &caches);
    bool known = true;
    /* The last of several levels is where others may be. */
    for (size_t level = 1; level <= caches.count; level++)
        BJ_TRY(answer_level(samples, request, level, level == caches.count && level > 1, &known, answers, error));
    return BJ_OK;
}
