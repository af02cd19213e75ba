#include "probes/cache/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/monotone.h"

#define GRID_MAX 512
#define PLATEAU_MAX 128
/* Slopes of one straight piece, but for rounding. */
#define SAME_SLOPE 1e-12

typedef struct {
    double first, last; /* log2 x of the plateau (after merges: from the first to the last valley) */
    double end_at;      /* log2 x of the end of the last valley merged into it */
    double latency_at;  /* log2 x where its latency is read */
    double slope;
    bool lone;
    bool hides_edge; /* an edge was merged into it that would be a cache's, were the TLB's cost known exactly */
} plateau;

typedef struct {
    const double *x, *y;         /* y monotone */
    const double *seen;          /* y as it was */
    const double *log_x, *log_y; /* log2 of both */
    size_t count;
    const bj_level_hints *hints;
    double grid[GRID_MAX], slope[GRID_MAX];
    size_t grid_count;
    plateau plateaus[PLATEAU_MAX];
    size_t plateau_count;
} scene;

static double interpolate(const double *x, const double *y, size_t count, double at) {
    if (at <= x[0])
        return y[0];
    if (at >= x[count - 1])
        return y[count - 1];
    size_t low = 0, high = count - 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (x[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return y[low] + (at - x[low]) / (x[high] - x[low]) * (y[high] - y[low]);
}

static double log_y_at(const scene *s, double log_x) {
    return interpolate(s->log_x, s->log_y, s->count, log_x);
}

static double y_at(const scene *s, double log_x) {
    return exp2(log_y_at(s, log_x));
}

/* Was the TLB's cost taken off? */
static bool is_without_tlb(const scene *s) {
    return s->hints->removed != NULL;
}

static void sample_slopes(scene *s) {
    double span = s->log_x[s->count - 1] - s->log_x[0];
    size_t steps = (size_t)(span / BJ_GRID_OCTAVES + 0.5);
    if (steps > GRID_MAX - 1)
        steps = GRID_MAX - 1;
    s->grid_count = steps + 1;
    for (size_t i = 0; i <= steps; i++) {
        double at = s->log_x[0] + (double)i * BJ_GRID_OCTAVES;
        double half = BJ_SLOPE_OCTAVES / 2;
        s->grid[i] = at;
        s->slope[i] = (log_y_at(s, at + half) - log_y_at(s, at - half)) / BJ_SLOPE_OCTAVES;
    }
}

/* Every run of equal slopes that is lower than what is left and right of it. */
static void find_valleys(scene *s) {
    s->plateau_count = 0;
    for (size_t first = 0; first < s->grid_count && s->plateau_count < PLATEAU_MAX;) {
        size_t last = first;
        while (last + 1 < s->grid_count && fabs(s->slope[last + 1] - s->slope[first]) < SAME_SLOPE)
            last++;
        bool falls = first == 0 || s->slope[first - 1] > s->slope[first];
        bool rises = last + 1 == s->grid_count || s->slope[last + 1] > s->slope[first];
        if (falls && rises)
            s->plateaus[s->plateau_count++] = (plateau){.first = s->grid[first],
                                                        .last = s->grid[last],
                                                        .end_at = s->grid[last],
                                                        .latency_at = s->grid[first],
                                                        .slope = s->slope[first]};
        first = last + 1;
    }
}

static void remove_plateau(scene *s, size_t index) {
    memmove(&s->plateaus[index], &s->plateaus[index + 1], (s->plateau_count - index - 1) * sizeof(plateau));
    s->plateau_count--;
}

/* Where the slope between two plateaus is largest; at the left one: nowhere. */
static size_t find_peak(const scene *s, const plateau *left, const plateau *right) {
    size_t peak = s->grid_count;
    for (size_t i = 0; i < s->grid_count; i++)
        if (s->grid[i] >= left->last && s->grid[i] <= right->first && s->slope[i] > 0 &&
            (peak == s->grid_count || s->slope[i] > s->slope[peak]))
            peak = i;
    return peak;
}

static double peak_between(const scene *s, const plateau *left, const plateau *right) {
    size_t peak = find_peak(s, left, right);
    return peak < s->grid_count ? s->slope[peak] : 0;
}

static void drop_shallow_valleys(scene *s) {
    for (;;) {
        size_t worst = 0;
        double worst_ratio = BJ_VALLEY_TO_PEAK;
        for (size_t i = 1; i + 1 < s->plateau_count; i++) {
            double left = peak_between(s, &s->plateaus[i - 1], &s->plateaus[i]);
            double right = peak_between(s, &s->plateaus[i], &s->plateaus[i + 1]);
            double ratio = s->plateaus[i].slope / fmin(left, right);
            if (ratio > worst_ratio) {
                worst_ratio = ratio;
                worst = i;
            }
        }
        if (worst == 0)
            return;
        /* Before the main rise it is still the end of the level below, which something else has raised a little. */
        plateau *below = &s->plateaus[worst - 1], *shallow = &s->plateaus[worst];
        if (peak_between(s, shallow, &s->plateaus[worst + 1]) > peak_between(s, below, shallow))
            below->end_at = shallow->end_at;
        remove_plateau(s, worst);
    }
}

/* Is a sample between two plateaus a level of its own? See BJ_LONE_CHANCE. */
static bool is_lone_level(const scene *s, size_t sample, const plateau *below, const plateau *above) {
    double low = y_at(s, below->last);
    double high = y_at(s, above->first);
    double y = exp2(s->log_y[sample]);
    if (y < BJ_LONE_RISE * low || high < BJ_LONE_RISE * y)
        return false;
    if (exp2(s->log_y[sample - 1]) > low + BJ_LONE_BEFORE * (y - low))
        return false;
    double misses = (y - low) / (high - low);
    double chance = -log2(1 - misses) / (s->log_x[sample] - s->log_x[sample - 1]);
    return chance <= BJ_LONE_CHANCE;
}

static void add_lone_levels(scene *s) {
    for (size_t sample = 1; sample + 1 < s->count; sample++) {
        size_t above = 0;
        while (above < s->plateau_count && s->plateaus[above].last < s->log_x[sample])
            above++;
        if (above == 0 || above == s->plateau_count || s->plateaus[above].first <= s->log_x[sample] ||
            s->plateau_count == PLATEAU_MAX)
            continue;
        if (!is_lone_level(s, sample, &s->plateaus[above - 1], &s->plateaus[above]))
            continue;
        memmove(&s->plateaus[above + 1], &s->plateaus[above], (s->plateau_count - above) * sizeof(plateau));
        double at = s->log_x[sample];
        s->plateaus[above] = (plateau){.first = at, .last = at, .end_at = at, .latency_at = at, .lone = true};
        s->plateau_count++;
    }
}

/* Largest growth (log2) within one octave between two plateaus. */
static double find_steepest_octave(const scene *s, const plateau *below, const plateau *above) {
    double top = log_y_at(s, above->first);
    double steepest = 0;
    for (double at = below->first; at <= above->first; at += BJ_GRID_OCTAVES / 2) {
        double rise = fmin(log_y_at(s, at + 1), top) - log_y_at(s, at);
        if (rise > steepest)
            steepest = rise;
    }
    return steepest;
}

/* Is it a cache's edge, if the estimate of the TLB's cost is right? */
static bool is_plain_edge(const scene *s, size_t index) {
    const plateau *below = &s->plateaus[index], *above = &s->plateaus[index + 1];
    double rise = exp2(log_y_at(s, above->first) - log_y_at(s, below->first));
    /* One sample at the left border is start-up (an empty loop, a coarse clock), not a cache. */
    if (index == 0 && below->last <= s->log_x[0] + BJ_START_UP_OCTAVES)
        return false;
    if (rise < 1 + BJ_RISE_SIGMAS * s->hints->noise)
        return false;
    if (is_without_tlb(s))
        return rise >= BJ_RISE_WITHOUT_TLB;
    if (rise >= BJ_RISE_OF_CACHE)
        return true;
    return rise >= BJ_RISE_OF_STEEP_CACHE && exp2(find_steepest_octave(s, below, above)) >= BJ_STEEP_OCTAVE;
}

/* How much of the rise from one plateau to the next may come from a wrong estimate of the TLB's cost. Not the sum of
 * both ends: a wrong model errs the same way on both. */
static double doubt_of_rise(const scene *s, size_t index) {
    const double *doubt = s->hints->removed_error != NULL ? s->hints->removed_error : s->hints->removed;
    return fmax(interpolate(s->log_x, doubt, s->count, s->plateaus[index + 1].first),
                interpolate(s->log_x, doubt, s->count, s->plateaus[index].end_at));
}

/* Were times as high as the upper plateau seen before the lower one ended? Then the lower one is a dip (prefetchers
 * that learn small regions make them), and climbing out of it is no level. A single high sample may be a disturbance.
 */
static bool leaves_a_dip(const scene *s, size_t index) {
    double low = y_at(s, s->plateaus[index].first), high = y_at(s, s->plateaus[index + 1].first);
    size_t reached = 0;
    for (size_t i = 0; i < s->count && s->log_x[i] <= s->plateaus[index].end_at; i++)
        reached += s->seen[i] >= low + BJ_DIP_SHARE * (high - low);
    return reached >= BJ_DIP_SAMPLES;
}

static bool is_cache_edge(const scene *s, size_t index) {
    if (!is_without_tlb(s) || !is_plain_edge(s, index))
        return is_plain_edge(s, index);
    if (leaves_a_dip(s, index))
        return false;
    double low = y_at(s, s->plateaus[index].first), high = y_at(s, s->plateaus[index + 1].first);
    return high / low >= BJ_RISE_WITHOUT_TLB + doubt_of_rise(s, index) / low;
}

static double edge_at(const scene *s, size_t index) {
    size_t peak = find_peak(s, &s->plateaus[index], &s->plateaus[index + 1]);
    return peak < s->grid_count ? s->grid[peak] : s->plateaus[index + 1].first;
}

/* Two plateaus that become one: is the upper one longer, and more than what the TLB left? Pseudo-LRU makes such stairs
 * where a level begins. */
static bool is_upper_stair_longer(const scene *s, size_t index) {
    double rise = y_at(s, s->plateaus[index + 1].first) - y_at(s, s->plateaus[index].first);
    if (!is_without_tlb(s) || rise <= doubt_of_rise(s, index))
        return false;
    double from = index > 0 ? edge_at(s, index - 1) : s->grid[0], edge = edge_at(s, index);
    double to = index + 2 < s->plateau_count ? edge_at(s, index + 1) : s->grid[s->grid_count - 1];
    return to - edge > edge - from;
}

/* Edges that are no cache's are removed, the smallest first; the merged plateau begins where the lower one did. */
static void merge_false_edges(scene *s) {
    for (;;) {
        size_t worst = s->plateau_count;
        double worst_rise = INFINITY;
        for (size_t i = 0; i + 1 < s->plateau_count; i++) {
            double rise = log_y_at(s, s->plateaus[i + 1].first) - log_y_at(s, s->plateaus[i].first);
            if (rise < worst_rise && !is_cache_edge(s, i)) {
                worst_rise = rise;
                worst = i;
            }
        }
        if (worst == s->plateau_count)
            return;
        plateau *merged = &s->plateaus[worst];
        merged->hides_edge = merged->hides_edge || s->plateaus[worst + 1].hides_edge || is_plain_edge(s, worst);
        if (is_upper_stair_longer(s, worst))
            merged->latency_at = s->plateaus[worst + 1].latency_at;
        merged->last = s->plateaus[worst + 1].last;
        merged->end_at = s->plateaus[worst + 1].end_at;
        merged->slope = fmin(merged->slope, s->plateaus[worst + 1].slope);
        remove_plateau(s, worst + 1);
    }
}

static void cross_threshold(const double *x, const double *y, size_t count, double threshold, double last_x,
                            bj_level *level) {
    size_t last = 0;
    for (size_t i = 0; i < count && x[i] <= last_x * (1 + BJ_ROUNDING); i++)
        if (y[i] <= threshold * (1 + BJ_ROUNDING))
            last = i;
    level->size_sample_x = level->size_x = x[last];
    if (last + 1 >= count)
        return;
    double share = y[last + 1] > y[last] ? (threshold - y[last]) / (y[last + 1] - y[last]) : 0;
    if (share > 0 && share < 1)
        level->size_x = x[last] * pow(x[last + 1] / x[last], share);
}

void bj_cache_measure_level_size(const double *x, const double *y, size_t count, double last_x, bj_level *level) {
    double threshold = level->latency + BJ_SIZE_SHARE * (level->next_latency - level->latency);
    cross_threshold(x, y, count, threshold, last_x, level);
}

/* The size and the ramp, once the latencies of a level and of the next are known. */
static void measure_edge(const double *x, const double *y, size_t count, double last_x, bj_level *level) {
    double rise = level->next_latency - level->end_latency;
    cross_threshold(x, y, count, level->end_latency + BJ_SIZE_SHARE * rise, last_x, level);
    level->ramp_first_x = level->size_x;
    size_t i = 0;
    while (i + 1 < count && y[i] < level->end_latency + (1 - BJ_SIZE_SHARE) * rise)
        i++;
    level->ramp_octaves = fmax(0, log2(x[i] / level->ramp_first_x));
}

void bj_cache_merge_levels(const double *x, const double *y, size_t count, size_t index, bj_level_set *set) {
    bj_level *level = &set->level[index];
    const bj_level *next = level + 1;
    level->next_latency = next->next_latency;
    level->next_first_x = next->next_first_x;
    level->ramp_last_x = next->ramp_last_x;
    level->steepest_octave = fmax(level->steepest_octave, next->steepest_octave);
    set->count--;
    memmove(&set->level[index + 1], &set->level[index + 2], (set->count - index - 1) * sizeof *level);
    measure_edge(x, y, count, index + 1 < set->count ? set->level[index + 1].plateau_last_x : x[count - 1], level);
}

static void write_levels(const scene *s, bj_level_set *found) {
    for (size_t i = 0; i + 1 < s->plateau_count && found->count < BJ_LEVELS_MAX; i++) {
        const plateau *below = &s->plateaus[i], *above = &s->plateaus[i + 1];
        bj_level *level = &found->level[found->count++];
        level->latency = y_at(s, below->latency_at);
        level->end_latency = y_at(s, below->end_at);
        level->next_latency = y_at(s, above->latency_at);
        level->plateau_first_x = exp2(below->first);
        level->plateau_last_x = exp2(below->end_at);
        level->next_first_x = exp2(above->first);
        level->steepest_octave = exp2(find_steepest_octave(s, below, above));
        level->single_sample = below->lone;
        level->hides_edge = below->hides_edge;
        level->rises = is_without_tlb(s) && level->end_latency >= BJ_RISE_WITHOUT_TLB * level->latency;
        measure_edge(s->x, s->y, s->count, exp2(above->last), level);
    }
    for (size_t i = 0; i < found->count; i++) {
        bj_level *level = &found->level[i];
        double end = i + 1 < found->count ? found->level[i + 1].ramp_first_x : s->x[s->count - 1];
        level->ramp_last_x = fmax(level->next_first_x, fmin(2 * level->next_first_x, end));
    }
    if (s->plateau_count > 0)
        found->last_latency = y_at(s, s->plateaus[s->plateau_count - 1].latency_at);
}

bj_status bj_cache_find_levels(const double *x, const double *y, size_t count, const bj_level_hints *hints,
                               bj_level_set *found, bj_error *error) {
    static const bj_level_hints nothing;
    memset(found, 0, sizeof *found);
    if (count < BJ_LEVEL_POINTS_LEAST)
        return BJ_OK;
    double *log_x = malloc(3 * count * sizeof *log_x);
    scene *s = malloc(sizeof *s);
    if (log_x == NULL || s == NULL) {
        free(log_x);
        free(s);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to analyse %zu points", count);
    }
    double *log_y = log_x + count, *monotone = log_y + count;
    memcpy(monotone, y, count * sizeof *monotone);
    bj_stats_enforce_monotone(monotone, count);
    for (size_t i = 0; i < count; i++) {
        log_x[i] = log2(x[i]);
        log_y[i] = log2(monotone[i]);
    }
    *s = (scene){.x = x,
                 .y = monotone,
                 .seen = y,
                 .log_x = log_x,
                 .log_y = log_y,
                 .count = count,
                 .hints = hints != NULL ? hints : &nothing};
    sample_slopes(s);
    find_valleys(s);
    drop_shallow_valleys(s);
    add_lone_levels(s);
    merge_false_edges(s);
    write_levels(s, found);
    free(s);
    free(log_x);
    return BJ_OK;
}
