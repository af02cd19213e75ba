#include "probes/cache/occupancy.h"

#include <math.h>

/* From direct-mapped to what no longer differs from a fully associative cache. Over random frames the largest also
 * stands for huge pages: so few of them fill a last level that their luck is less than that of as many ways of small
 * ones. */
static const unsigned ways_tried[] = {1, 2, 4, 8, 12, 16, 24, 64};
#define WAYS_COUNT (sizeof ways_tried / sizeof ways_tried[0])
/* What sets of up to so many lines do is looked up. */
#define LINES_MAX 512u

/* How much a shape must explain better than LRU before it is believed, in log likelihood. A ramp over random frames
 * looks much the same for a small cache that replaces badly late and a larger one with LRU, and real caches are LRU or
 * close to it; the others stand for what prefetches and odd replacements make of a ramp. */
static const double doubt[BJ_REPLACE_COUNT] = {
    [BJ_REPLACE_LRU] = 0,    [BJ_REPLACE_PLRU] = 1.5, [BJ_REPLACE_RANDOM] = 1.5,
    [BJ_REPLACE_PAIRED] = 5, [BJ_REPLACE_HALF] = 5,   [BJ_REPLACE_BEST] = 5,
};
/* Over random frames, replacements differ by little more than the capacity that they want: a cache of 8 ways under LRU
 * and one two thirds as large with 24 ways that replaces at random make the same ramp. There the replacement of the
 * first level, which is told precisely, is believed of the others as well. */
#define DOUBT_OTHER_THAN_FIRST 4.0
/* Where frames do not matter the best is what random replacement does on the first lap after the chain was written, and
 * that is all that long walks see. */
#define OPEN_DOUBT 3.0
#define DOUBT_BEST_CONTIGUOUS 1.5
/* Few ways: hardly any cache of the last decades is direct-mapped, few have two ways. What looks like it is mostly a
 * ramp that was measured too coarsely, or one that moved between rounds. */
static double doubt_of_ways(unsigned ways) {
    return ways == 1 ? 4 : ways == 2 ? 2 : 0;
}
/* However many points a ramp has, their errors go together (what is left of a TLB, a model that is not quite right):
 * more than this many say nothing more. */
#define INDEPENDENT_POINTS 12.0

#define CAPACITY_STEPS_PER_OCTAVE 48
#define CAPACITY_STEPS_MAX 240
/* What counts as nothing: a share of the point itself (clocks, noise that the rounds did not show) and one of the whole
 * rise (the model, and what is left of a TLB's cost). */
#define ERROR_OF_POINT 0.01
#define ERROR_OF_RISE 0.015
/* With several visits a line the model hardly depends on what is not known. */
#define REVISIT_ERRORS 0.3
#define GAP_STEPS 32
#define LEAST_POINTS 3u
#define POINTS_MAX 256u
#define RATIOS_MAX 1024

/* m = 1 - (1 - 1/K)^(m (n - 1)), the root above 0, by iteration from above. */
static double survive_random(double ways, double lines) {
    double misses = 1, before = 2;
    for (int i = 0; i < 60 && before - misses > 1e-9; i++) {
        before = misses;
        misses = 1 - pow(1 - 1 / ways, misses * (lines - 1));
    }
    return misses;
}

/* Mean of exp(-rate g) over the gap g between two visits to a line, as a share of the lap, when `visits` of them fall
 * at random: g has the density (v - 1) (1 - g)^(v - 2). */
static double mean_over_gaps(double visits, double rate) {
    double sum = 0;
    for (int i = 0; i < GAP_STEPS; i++) {
        /* Equal shares of the gaps, each by its middle. */
        double gap = 1 - pow((i + 0.5) / GAP_STEPS, 1 / (visits - 1));
        sum += exp(-rate * gap);
    }
    return sum / GAP_STEPS;
}

/* Random replacement with several visits a lap: a line survives the misses of its set until the next visit. */
static double survive_random_gaps(double visits, double ways, double lines) {
    double misses = 1, before = 2;
    for (int i = 0; i < 60 && before - misses > 1e-6; i++) {
        before = misses;
        misses = 1 - mean_over_gaps(visits, visits * misses * lines / ways);
    }
    return misses;
}

static double miss_overfull(const bj_occupancy_shape *shape, double lines) {
    double ways = shape->ways, visits = shape->visits;
    if (visits > 1)
        return shape->replacement == BJ_REPLACE_LRU ? pow(1 - ways / lines, (visits - 1) / visits)
                                                    : survive_random_gaps(visits, ways, lines);
    switch (shape->replacement) {
    case BJ_REPLACE_PLRU:
        return fmin(1, 1.5 * (lines / ways - 1));
    case BJ_REPLACE_RANDOM:
        return ways > 1 ? survive_random(ways, lines) : 1;
    case BJ_REPLACE_PAIRED:
        return sqrt(1 - ways / lines);
    case BJ_REPLACE_HALF:
        return 1 - ways / (2 * lines);
    case BJ_REPLACE_BEST:
        return 1 - ways / lines;
    case BJ_REPLACE_LRU:
    case BJ_REPLACE_COUNT:
        break;
    }
    return 1;
}

typedef struct {
    const bj_occupancy_shape *shape;
    double miss_of[LINES_MAX + 1]; /* of a set with that many lines */
} miss_table;

static void fill_table(const bj_occupancy_shape *shape, miss_table *table) {
    table->shape = shape;
    for (unsigned lines = 0; lines <= LINES_MAX; lines++)
        table->miss_of[lines] = lines <= shape->ways ? 0 : miss_overfull(shape, lines);
}

static double miss_of(const miss_table *table, double lines) {
    if (lines > LINES_MAX)
        return miss_overfull(table->shape, lines);
    return table->miss_of[(size_t)lines];
}

/* Poisson: lines that share a set with the one looked at. */
static double predict_random(const miss_table *table, double ratio) {
    double mean = table->shape->ways * ratio;
    double probability = exp(-mean), missing = 0, seen = 0;
    /* Many ways and a large ratio underflow: every set is overfull then, and as full as the mean. */
    if (probability == 0)
        return miss_of(table, mean);
    /* Far enough into the tail for what is left to be below a thousandth. */
    unsigned last = (unsigned)(mean + 5 * sqrt(mean) + 5);
    for (unsigned others = 0; others <= last; others++) {
        seen += probability;
        missing += probability * miss_of(table, others + 1.0);
        probability *= mean / (others + 1.0);
    }
    return missing / seen;
}

static double predict_contiguous(const miss_table *table, double ratio) {
    double lines = table->shape->ways * ratio; /* mean of a set */
    double fewer = floor(lines), share_more = lines - fewer;
    double few = (1 - share_more) * fewer, many = share_more * (fewer + 1); /* by lines, not by sets */
    return (few * miss_of(table, fewer) + many * miss_of(table, fewer + 1)) / (few + many);
}

static double predict(const miss_table *table, double ratio) {
    return table->shape->random_frames ? predict_random(table, ratio) : predict_contiguous(table, ratio);
}

double bj_cache_predict_occupancy_misses(const bj_occupancy_shape *shape, double ratio) {
    miss_table table;
    fill_table(shape, &table);
    return predict(&table, ratio);
}

typedef struct {
    double low, high, error_square; /* of one fit: mean square of errors in units of what is allowed */
} line_fit;

/* y = low + (high - low) misses, by weighted least squares. */
static bool fit_line(const double *misses, const double *y, const double *weight, size_t count, line_fit *fit) {
    double sw = 0, sm = 0, sy = 0, smm = 0, smy = 0;
    for (size_t i = 0; i < count; i++) {
        double w = weight[i];
        sw += w;
        sm += w * misses[i];
        sy += w * y[i];
        smm += w * misses[i] * misses[i];
        smy += w * misses[i] * y[i];
    }
    double spread = smm - sm * sm / sw;
    if (spread < 1e-9 * sw)
        return false;
    double slope = (smy - sm * sy / sw) / spread;
    double low = (sy - slope * sm) / sw;
    /* What rounding leaves of a flat curve is no rise. */
    if (low <= 0 || slope <= 1e-6 * low)
        return false;
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        double error = y[i] - low - slope * misses[i];
        square += weight[i] * error * error;
    }
    *fit = (line_fit){.low = low, .high = low + slope, .error_square = square / (double)count};
    return true;
}

typedef struct {
    const double *x, *y;
    double log_x[POINTS_MAX], weight[POINTS_MAX];
    size_t count;
    double first, step; /* log2 of the smallest capacity, and of the ratio of neighbours */
    size_t steps;
    double error_square[CAPACITY_STEPS_MAX]; /* best over the shapes; INFINITY: none */
    double best_square;
    double visits;
    bj_replacement expected;
    bj_occupancy *fit;
} search;

static double doubt_of(const search *s, const bj_occupancy_shape *shape) {
    double of_ways = doubt_of_ways(shape->ways);
    if (shape->visits > 1)
        return of_ways;
    if (!shape->random_frames)
        return of_ways + (shape->replacement == BJ_REPLACE_BEST ? DOUBT_BEST_CONTIGUOUS : doubt[shape->replacement]);
    bool expected = shape->replacement == s->expected ||
                    (s->expected == BJ_REPLACE_RANDOM && shape->replacement == BJ_REPLACE_BEST);
    return of_ways + (expected ? 0 : fmax(doubt[shape->replacement], DOUBT_OTHER_THAN_FIRST));
}

/* Misses of every point for every capacity. Over random frames they are a smooth function of x / C that is dear to
 * compute: there it is tabulated in the steps of the capacities, and read off in between. */
typedef struct {
    miss_table table;
    double at[RATIOS_MAX]; /* misses at the ratio 2^(step × (first_ratio + index)) */
    long first_ratio;
    bool tabulated;
} predictor;

static void make_predictor(const search *s, const bj_occupancy_shape *shape, predictor *p) {
    fill_table(shape, &p->table);
    double least = (s->log_x[0] - s->first) / s->step - (double)(s->steps - 1);
    double most = (s->log_x[s->count - 1] - s->first) / s->step;
    p->first_ratio = (long)floor(least);
    p->tabulated = shape->random_frames && most - least < RATIOS_MAX - 3;
    if (!p->tabulated)
        return;
    size_t count = (size_t)(ceil(most) - floor(least)) + 2;
    for (size_t i = 0; i < count; i++)
        p->at[i] = predict(&p->table, exp2(s->step * (double)(p->first_ratio + (long)i)));
}

static void predict_points(const search *s, const predictor *p, size_t capacity_step, double *misses) {
    double capacity = s->first + (double)capacity_step * s->step;
    for (size_t i = 0; i < s->count; i++) {
        if (!p->tabulated) {
            misses[i] = predict(&p->table, s->x[i] / exp2(capacity));
            continue;
        }
        double place = (s->log_x[i] - capacity) / s->step - (double)p->first_ratio;
        size_t below = (size_t)place;
        misses[i] = p->at[below] + (place - (double)below) * (p->at[below + 1] - p->at[below]);
    }
}

static void try_shape(search *s, const bj_occupancy_shape *shape) {
    double misses[POINTS_MAX];
    predictor predicted;
    make_predictor(s, shape, &predicted);
    for (size_t k = 0; k < s->steps; k++) {
        predict_points(s, &predicted, k, misses);
        line_fit fit;
        if (!fit_line(misses, s->y, s->weight, s->count, &fit))
            continue;
        double per_doubt = 2 / fmin((double)s->count, INDEPENDENT_POINTS), doubted = doubt_of(s, shape);
        double square = fit.error_square + per_doubt * doubted;
        /* What may be is judged more openly than what is most likely. */
        double open_square = fit.error_square + per_doubt * fmin(doubted, OPEN_DOUBT);
        s->error_square[k] = fmin(s->error_square[k], open_square);
        if (square < s->best_square) {
            s->best_square = square;
            s->fit->shape = *shape;
            s->fit->fitted = exp2(s->first + (double)k * s->step);
            s->fit->low = fit.low;
            s->fit->high = fit.high;
            s->fit->error = sqrt(fit.error_square);
        }
    }
}

static void try_all_shapes(search *s, bj_frames frames) {
    int first = frames == BJ_FRAMES_RANDOM ? 1 : 0, last = frames == BJ_FRAMES_CONTIGUOUS ? 0 : 1;
    for (size_t w = 0; w < WAYS_COUNT; w++)
        for (int random_frames = first; random_frames <= last; random_frames++)
            for (int r = 0; r < BJ_REPLACE_COUNT; r++) {
                bj_occupancy_shape shape = {ways_tried[w], random_frames != 0, (bj_replacement)r, s->visits};
                if (s->visits > 1 && r != BJ_REPLACE_LRU && r != BJ_REPLACE_RANDOM)
                    continue;
                /* The best does not depend on the ways where all sets are alike. */
                if (shape.random_frames || r != BJ_REPLACE_BEST || w + 1 == WAYS_COUNT)
                    try_shape(s, &shape);
            }
}

static double rise_of(const double *y, size_t count) {
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, y[i]);
        most = fmax(most, y[i]);
    }
    return most - least;
}

/* What a point may be off without saying anything. */
static double allowed_at(double y, double rise, double visits, double error) {
    return (ERROR_OF_POINT * y + ERROR_OF_RISE * rise) * (visits > 1 ? REVISIT_ERRORS : 1) + error;
}

static void weigh_points(search *s, const double *error) {
    double rise = rise_of(s->y, s->count);
    for (size_t i = 0; i < s->count; i++) {
        double allowed = allowed_at(s->y[i], rise, s->visits, error != NULL ? error[i] : 0);
        s->weight[i] = 1 / (allowed * allowed);
    }
}

/* Capacities weighted by likelihood: normal errors of the size of the best fit, so that equally good fits share. */
static double weigh_capacities(const search *s, double *weight) {
    double sigma_square = fmax(s->fit->error * s->fit->error, 1),
           independent = fmin((double)s->count, INDEPENDENT_POINTS);
    double total = 0, mean = 0;
    for (size_t k = 0; k < s->steps; k++) {
        weight[k] = exp(-0.5 * independent * (s->error_square[k] - s->best_square) / sigma_square);
        total += weight[k];
        mean += weight[k] * (s->first + (double)k * s->step);
    }
    for (size_t k = 0; k < s->steps; k++)
        weight[k] /= total;
    return exp2(mean / total);
}

static void set_interval(const search *s, const double *weight) {
    double below = 0;
    bool low_found = false;
    for (size_t k = 0; k < s->steps; k++) {
        below += weight[k];
        double at = s->first + (double)k * s->step;
        if (!low_found && below >= 0.025) {
            s->fit->interval[0] = exp2(at - s->step / 2);
            low_found = true;
        }
        s->fit->interval[1] = exp2(at + s->step / 2);
        if (below >= 0.975)
            break;
    }
}

static void forget_errors(search *s) {
    s->best_square = INFINITY;
    for (size_t k = 0; k < s->steps; k++)
        s->error_square[k] = INFINITY;
}

/* The interval is what all shapes leave open. The value is the best shape's alone: the others err to one side of it.
 * With several visits to a line all are much the same, and their mean is the value. */
static void conclude(search *s) {
    double weight[CAPACITY_STEPS_MAX];
    s->fit->capacity = weigh_capacities(s, weight);
    set_interval(s, weight);
    if (s->visits > 1)
        return;
    bj_occupancy_shape best = s->fit->shape;
    forget_errors(s);
    try_shape(s, &best);
    s->fit->capacity = weigh_capacities(s, weight);
    s->fit->interval[0] = fmin(s->fit->interval[0], s->fit->capacity);
    s->fit->interval[1] = fmax(s->fit->interval[1], s->fit->capacity);
}

static bool fit_points(const bj_occupancy_request *request, bj_occupancy *fit) {
    if (request->count < LEAST_POINTS || !(request->last > request->first))
        return false;
    double octaves = log2(request->last / request->first);
    size_t steps = (size_t)(octaves * CAPACITY_STEPS_PER_OCTAVE) + 2;
    if (steps > CAPACITY_STEPS_MAX)
        steps = CAPACITY_STEPS_MAX;
    search s = {.x = request->x,
                .y = request->y,
                .count = request->count,
                .first = log2(request->first),
                .step = octaves / (double)(steps - 1),
                .steps = steps,
                .visits = request->visits,
                .expected = request->expected,
                .fit = fit};
    forget_errors(&s);
    for (size_t i = 0; i < s.count; i++)
        s.log_x[i] = log2(s.x[i]);
    weigh_points(&s, request->error);
    if (request->only != NULL)
        try_shape(&s, request->only);
    else
        try_all_shapes(&s, request->frames);
    if (isinf(s.best_square))
        return false;
    conclude(&s);
    return true;
}

bool bj_cache_fit_occupancy(const bj_occupancy_request *request, bj_occupancy *fit) {
    if (request->count <= POINTS_MAX)
        return fit_points(request, fit);
    /* A dense curve is thinned out evenly: the ramp may be anywhere in it. */
    double x[POINTS_MAX], y[POINTS_MAX], error[POINTS_MAX];
    for (size_t i = 0; i < POINTS_MAX; i++) {
        size_t from = i * (request->count - 1) / (POINTS_MAX - 1);
        x[i] = request->x[from];
        y[i] = request->y[from];
        error[i] = request->error != NULL ? request->error[from] : 0;
    }
    bj_occupancy_request thin = *request;
    thin.x = x;
    thin.y = y;
    thin.error = error;
    thin.count = POINTS_MAX;
    return fit_points(&thin, fit);
}

double bj_cache_misfit_occupancy(const bj_occupancy *fit, const double *x, const double *y, const double *error,
                                 size_t count) {
    miss_table table;
    fill_table(&fit->shape, &table);
    double rise = rise_of(y, count), square = 0;
    for (size_t i = 0; i < count; i++) {
        double misses = predict(&table, x[i] / fit->fitted);
        double off = y[i] - fit->low - (fit->high - fit->low) * misses;
        double allowed = allowed_at(y[i], rise, fit->shape.visits, error != NULL ? error[i] : 0);
        square += off * off / (allowed * allowed);
    }
    return count > 0 ? sqrt(square / (double)count) : 0;
}
