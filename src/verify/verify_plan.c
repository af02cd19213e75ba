/* Which points of the baseline's curves tell most about a change of the machine.
 *
 * For each level two points of the walk: one well inside it, which half of the level would still hold, tells its
 * latency; one nearer to its end, which half would not hold, tells its size. Of the points that qualify the one is
 * taken where the change would stand out most from what the rounds scatter, an octave of working set (of time, that is)
 * being worth WORTH_OF_OCTAVE of it. Then the walk in memory, one rate of each level and of memory, the clock, and all
 * cpus at work at once, which is where quotas and neighbours show. A point whose scatter hides the change is left out,
 * and that is said. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/probe.h"
#include "runner/keys.h"
#include "stats/quantile.h"
#include "verify/verify_parts.h"

/* Points of other profiles that are the same point. Buffers of streams follow from sizes, which move; a rate hardly
 * depends on them. */
#define SAME_WALK 1.01
#define SAME_BUFFER 1.5
/* Inside a level: beyond what the nearer one may still hold, and within what half of it would. */
#define BEYOND_NEARER 1.5
#define INSIDE_HALF 0.45
#define HALF 0.5
#define WORTH_OF_OCTAVE 0.01
/* Half of a level does not just move the ramp: with half of its colours it is a longer one. So a point far up on it is
 * worth more than one that has just left the plateau, up to a latency of seven times. */
#define CONTRAST_MOST 2.0
/* A crowd works through two periods of a quota at least: shorter work may fall between its stops. */
#define CROWD_MS 200.0
enum { LEVELS_MOST = 8 };
/* What a virtual machine shares with others on its host, the levels beyond the second and memory, moves as they come
 * and go: twenty runs an hour after a baseline of one run met another last level. From so many runs on, the spread
 * between them is in the allowance. */
#define RUNS_OF_SHARED 3u
#define PRIVATE_LEVELS 2u

const char *const bj_verify_probes[BJ_VERIFY_PARTS] = {"clock", "contexts", "cache", "bandwidth", "cache"};

typedef struct {
    const bj_verify_request *request;
    bj_verification *verification;
    const bj_profile *lead;
    double *values; /* scratch: of all rounds of a point */
    unsigned *spells;
    size_t room;
    size_t level_count;
    double sizes[LEVELS_MOST + 1]; /* of level n; NaN: unknown */
    bool leaves_shared;            /* leaves out what is shared with others */
    bj_error *error;
} planning;

/* Index of the point nearest to x; x_count: none is near. */
static size_t find_point(const bj_curve *curve, double x, double nearest) {
    size_t found = curve->x_count;
    double distance = log(nearest) + 1e-12;
    for (size_t i = 0; i < curve->x_count; i++) {
        double away = fabs(log(curve->x[i] / x));
        if (away > distance)
            continue;
        distance = away;
        found = i;
    }
    return found;
}

static double read_row(const bj_curve *curve, size_t round, double x, size_t point) {
    double found = x > 0 && point < curve->x_count ? curve->rounds[round][point] : NAN;
    for (size_t i = 0; x == 0 && i < curve->x_count; i++)
        found = fmin(found, curve->rounds[round][i]); /* fmin passes over NaN */
    return found;
}

double bj_verify_read_point(const bj_curve *curve, size_t round, double x, double nearest) {
    return read_row(curve, round, x, find_point(curve, x, nearest));
}

/* All rounds of the point in all profiles; how many. */
static size_t gather(planning *planning, const bj_verify_check *check) {
    size_t count = 0;
    for (size_t p = 0; p < planning->request->profile_count; p++) {
        const bj_curve *curve = bj_data_find_curve(&planning->request->profiles[p].curves, check->curve);
        size_t point = curve != NULL ? find_point(curve, check->x, check->x_nearest) : 0;
        for (size_t round = 0; curve != NULL && round < curve->round_count && count < planning->room; round++) {
            double value = read_row(curve, round, check->x, point);
            if (!(value > 0) || !isfinite(value))
                continue;
            /* Spells of different profiles are different ones. */
            planning->spells[count] = (unsigned)p << 16 | (bj_data_find_spell(curve, round) & 0xffff);
            planning->values[count++] = check->is_rate ? -log(value) : log(value);
        }
    }
    return count;
}

/* What the key promises, and what nobody looks for. */
static double find_allowance(const char *key) {
    double share = BJ_VERIFY_ALLOWANCE;
    for (size_t i = 0; i < bj_probe_count; i++) {
        const bj_probe_key *described = bj_runner_find_key(bj_probes[i], key);
        if (described != NULL)
            share = fmax(share, described->tolerance);
    }
    return share;
}

static bool describe(planning *planning, bj_verify_check *check, double allowance) {
    size_t count = gather(planning, check);
    return bj_verify_describe(planning->values, planning->spells, count, allowance, &check->norm);
}

static double find_least_change(const bj_verify_norm *norm, size_t numbers) {
    return bj_verify_find_limit(norm, BJ_VERIFY_ROUNDS_LEAST, numbers) - norm->centre;
}

double bj_verify_find_least_change(const bj_verification *verification, const bj_verify_check *check) {
    return exp(find_least_change(&check->norm, verification->count));
}

/* Takes it, unless what it is for would not show. */
static bj_status add(planning *planning, const bj_verify_check *check, const char *change) {
    bj_verification *verification = planning->verification;
    double least_change = find_least_change(&check->norm, BJ_VERIFY_NUMBERS_EXPECTED);
    /* Quotas and neighbours are seldom small, and nothing else tells of them. */
    double worth = check->part == BJ_VERIFY_CROWD ? fmax(check->contrast, M_LN2) : check->contrast;
    verification->untold += !(least_change < worth);
    if (!(least_change < check->contrast))
        BJ_TRY(bj_strings_add_note(&verification->notes, planning->error,
                                   "%s: %s cannot be told: the baseline's own rounds scatter too much, nothing below a "
                                   "factor of %.3g would be found; a baseline of several runs (--repeat) may tell more",
                                   check->key, change, exp(least_change)));
    if (least_change < worth && verification->count < BJ_VERIFY_CHECKS_MOST)
        verification->checks[verification->count++] = *check;
    return BJ_OK;
}

static bj_verify_check begin_check(bj_verify_part part, const char *curve, double x, const char *key) {
    bj_verify_check check = {
        .x = x, .x_nearest = SAME_WALK, .part = part, .times_longer = 1, .contrast = BJ_VERIFY_QUARTER};
    snprintf(check.key, sizeof check.key, "%s", key);
    snprintf(check.curve, sizeof check.curve, "%s", curve);
    snprintf(check.unit, sizeof check.unit, "ns");
    return check;
}

/* A walk and its logarithms in the middle of all rounds; NaN: none. */
typedef struct {
    const bj_curve *curve;
    double *medians;
} walk_curve;

static bj_status find_medians(planning *planning, walk_curve *walk) {
    walk->medians = calloc(walk->curve->x_count + 1, sizeof *walk->medians);
    if (walk->medians == NULL)
        return bj_base_set_error(planning->error, BJ_ERR_RESOURCE, "no memory for %zu points", walk->curve->x_count);
    for (size_t i = 0; i < walk->curve->x_count; i++) {
        bj_verify_check point = begin_check(BJ_VERIFY_WALKS, walk->curve->id, walk->curve->x[i], "");
        size_t count = gather(planning, &point);
        walk->medians[i] = bj_stats_median(planning->values, count);
    }
    return BJ_OK;
}

/* At an x that the curve may not have, on straight lines of logarithms; beyond its end what is there. */
static double interpolate(const walk_curve *walk, double x) {
    double before_x = NAN, before = NAN;
    for (size_t i = 0; i < walk->curve->x_count; i++) {
        double here = walk->curve->x[i], value = walk->medians[i];
        if (isnan(value))
            continue;
        if (here >= x)
            return isnan(before) || here == x ? value
                                              : before + (value - before) * log(x / before_x) / log(here / before_x);
        before_x = here;
        before = value;
    }
    return before;
}

/* The best point of the walk between two sizes; false: none. `halved`: what half of the level would do is looked for,
 * and what a size within its tolerance does is allowed. */
static bool find_walk(planning *planning, const walk_curve *walk, double from, double to, const char *key, bool halved,
                      bj_verify_check *best) {
    const bj_curve *curve = walk->curve;
    double best_score = -INFINITY;
    for (size_t i = 0; i < curve->x_count; i++) {
        double x = curve->x[i], allowance = log1p(BJ_VERIFY_ALLOWANCE);
        if (x < from || x > to)
            continue;
        bj_verify_check check = begin_check(BJ_VERIFY_WALKS, curve->id, x, key);
        if (halved) {
            double here = interpolate(walk, x);
            check.contrast = interpolate(walk, x / HALF) - here;
            allowance = fmax(allowance, interpolate(walk, x * (1 + find_allowance(key))) - here);
        }
        if (!describe(planning, &check, allowance))
            continue;
        double score = fmin(check.contrast, CONTRAST_MOST) -
                       find_least_change(&check.norm, BJ_VERIFY_NUMBERS_EXPECTED) - WORTH_OF_OCTAVE * log2(x);
        if (score > best_score) {
            best_score = score;
            *best = check;
        }
    }
    return best_score > -INFINITY;
}

static bj_status plan_level(planning *planning, const walk_curve *walk, unsigned level, double nearer) {
    double size = planning->sizes[level];
    char key[64];
    bj_verify_check check;
    snprintf(key, sizeof key, "cache.L%u.latency_ns", level);
    if (find_walk(planning, walk, BEYOND_NEARER * nearer, INSIDE_HALF * size, key, false, &check) ||
        find_walk(planning, walk, BEYOND_NEARER * nearer, size, key, false, &check))
        BJ_TRY(add(planning, &check, "a quarter longer"));
    snprintf(key, sizeof key, "cache.L%u.size_bytes", level);
    return find_walk(planning, walk, fmax(nearer, HALF * size), size, key, true, &check)
               ? add(planning, &check, "half of it")
               : BJ_OK;
}

static bj_status plan_walks(planning *planning) {
    walk_curve walk = {.curve = bj_data_find_curve(&planning->lead->curves, "cache.walk")};
    if (walk.curve == NULL)
        return BJ_OK;
    bj_status status = find_medians(planning, &walk);
    double nearer = 0;
    for (unsigned level = 1; status == BJ_OK && level <= planning->level_count; level++) {
        if (isnan(planning->sizes[level]) || (level > PRIVATE_LEVELS && planning->leaves_shared))
            continue;
        status = plan_level(planning, &walk, level, nearer);
        nearer = planning->sizes[level];
    }
    free(walk.medians);
    return status;
}

/* The last point is the walk over the whole buffer. */
static bj_status plan_memory(planning *planning) {
    const bj_curve *curve = bj_data_find_curve(&planning->lead->curves, "memory.walk");
    if (curve == NULL || curve->x_count == 0 || planning->leaves_shared)
        return BJ_OK;
    bj_verify_check check = begin_check(BJ_VERIFY_MEMORY, curve->id, curve->x[curve->x_count - 1], "memory.latency_ns");
    return describe(planning, &check, log1p(find_allowance(check.key))) ? add(planning, &check, "a quarter longer")
                                                                        : BJ_OK;
}

static bool describe_stream(planning *planning, const char *kind, double x, const char *place, bj_verify_check *check) {
    char key[64], id[48];
    snprintf(key, sizeof key, "%s.%s_gbs", place, kind);
    snprintf(id, sizeof id, "bandwidth.%s", kind);
    *check = begin_check(BJ_VERIFY_STREAMS, id, x, key);
    check->is_rate = true;
    check->x_nearest = SAME_BUFFER;
    snprintf(check->unit, sizeof check->unit, "GB/s");
    return describe(planning, check, log1p(find_allowance(key)));
}

/* Reading, unless its rounds scatter too much: then what scatters least. */
static bj_status plan_buffer(planning *planning, double x, const char *place, bool is_memory) {
    static const char *const kinds[] = {"read", "copy", "write", "copy_past", "write_past"};
    size_t count = is_memory ? 5 : 3;
    double least = INFINITY;
    bj_verify_check best = {0}, check;
    for (size_t i = 0; i < count && !(least < BJ_VERIFY_QUARTER); i++) {
        if (!describe_stream(planning, kinds[i], x, place, &check))
            continue;
        double least_change = find_least_change(&check.norm, BJ_VERIFY_NUMBERS_EXPECTED);
        if (least_change < least) {
            least = least_change;
            best = check;
        }
    }
    return isfinite(least) ? add(planning, &best, "a fifth less") : BJ_OK;
}

/* A buffer lies in the first level that is as large; the last one is memory's, which is shared as well. */
static bj_status plan_streams(planning *planning) {
    const bj_curve *curve = bj_data_find_curve(&planning->lead->curves, "bandwidth.read");
    unsigned level = 1;
    for (size_t i = 0; curve != NULL && i + 1 < curve->x_count; i++) {
        char place[32];
        while (level <= planning->level_count && !(curve->x[i] <= planning->sizes[level]))
            level++;
        if (level > planning->level_count || (level > PRIVATE_LEVELS && planning->leaves_shared))
            break;
        snprintf(place, sizeof place, "cache.L%u", level);
        BJ_TRY(plan_buffer(planning, curve->x[i], place, false));
    }
    if (curve == NULL || curve->x_count == 0 || planning->leaves_shared)
        return BJ_OK;
    return plan_buffer(planning, curve->x[curve->x_count - 1], "memory", true);
}

static bj_status plan_clock(planning *planning) {
    bj_verify_check check = begin_check(BJ_VERIFY_CLOCK, "clock.yardstick", 0, "cpu.clock_ghz");
    snprintf(check.meaning, sizeof check.meaning, "time of an addition");
    return describe(planning, &check, log1p(find_allowance(check.key))) ? add(planning, &check, "a fifth less") : BJ_OK;
}

/* As many threads as there are cpus, which must be as many as they were. */
static bj_status plan_crowd(planning *planning) {
    const bj_curve *curve = bj_data_find_curve(&planning->lead->curves, "contexts.int.time");
    size_t cpus = planning->request->machine->facts.cpu_count, before = planning->lead->environment.cpus_allowed_count;
    double operations;
    if (curve == NULL || !bj_data_get_attribute_number(curve, "operations", &operations))
        return BJ_OK;
    if (before != cpus)
        return bj_strings_add_note(&planning->verification->notes, planning->error,
                                   "contexts.int: not compared, the baseline had %zu cpus and here are %zu", before,
                                   cpus);
    bj_verify_check check = begin_check(BJ_VERIFY_CROWD, curve->id, 0, "contexts.int");
    for (size_t i = 0; i < curve->x_count && curve->x[i] <= (double)cpus; i++)
        check.x = curve->x[i];
    if (!(check.x >= 1) || !describe(planning, &check, log1p(find_allowance(check.key))))
        return BJ_OK;
    snprintf(check.meaning, sizeof check.meaning, "time of %.0f threads at once", check.x);
    snprintf(check.unit, sizeof check.unit, "ms");
    check.times_longer = fmax(1, ceil(CROWD_MS / exp(check.norm.centre)));
    return add(planning, &check, "a fifth less");
}

static void read_levels(planning *planning) {
    double levels = 0;
    if (!bj_data_get_number(&planning->lead->answers, "cache.levels", &levels) || !(levels >= 1))
        return;
    planning->level_count = levels < LEVELS_MOST ? (size_t)levels : LEVELS_MOST;
    for (size_t level = 1; level <= planning->level_count; level++) {
        char key[64];
        snprintf(key, sizeof key, "cache.L%zu.size_bytes", level);
        if (!bj_data_get_number(&planning->lead->answers, key, &planning->sizes[level]))
            planning->sizes[level] = NAN;
    }
}

static bj_status judge_baseline(planning *planning) {
    unsigned runs = 0;
    for (size_t i = 0; i < planning->request->profile_count; i++) {
        const bj_probe_record *record = bj_profile_find_probe(&planning->request->profiles[i], "cache");
        runs += record != NULL && record->runs > 1 ? record->runs : 1;
    }
    planning->leaves_shared = planning->lead->environment.virtualised == 1 && runs < RUNS_OF_SHARED;
    return planning->leaves_shared
               ? bj_strings_add_note(
                     &planning->verification->notes, planning->error,
                     "levels beyond the second and memory: not looked at: a virtual machine shares them, and "
                     "what others do is not in a baseline of %u run%s (run --repeat %u)",
                     runs, runs == 1 ? "" : "s", RUNS_OF_SHARED)
               : BJ_OK;
}

static size_t count_rounds(const bj_verify_request *request) {
    size_t sum = 1;
    for (size_t p = 0; p < request->profile_count; p++) {
        size_t most = 0;
        for (size_t i = 0; i < request->profiles[p].curves.count; i++)
            if (request->profiles[p].curves.items[i].round_count > most)
                most = request->profiles[p].curves.items[i].round_count;
        sum += most;
    }
    return sum;
}

bj_status bj_verify_plan(const bj_verify_request *request, bj_verification *verification, bj_error *error) {
    static bj_status (*const plans[])(planning *) = {judge_baseline, plan_clock,   plan_crowd,
                                                     plan_walks,     plan_streams, plan_memory};
    planning planning = {.request = request,
                         .verification = verification,
                         .lead = &request->profiles[0],
                         .room = count_rounds(request),
                         .error = error};
    planning.values = calloc(planning.room, sizeof *planning.values);
    planning.spells = calloc(planning.room, sizeof *planning.spells);
    bj_status status = BJ_OK;
    if (planning.values == NULL || planning.spells == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", planning.room);
    read_levels(&planning);
    for (size_t i = 0; i < sizeof plans / sizeof plans[0] && status == BJ_OK; i++)
        status = plans[i](&planning);
    free(planning.values);
    free(planning.spells);
    return status;
}
