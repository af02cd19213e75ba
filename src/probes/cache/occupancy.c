#include "probes/cache/occupancy.h"

#include <math.h>

#include "probes/cache/cache_constants.h"

static const unsigned ways_tried[] = {BJ_WAYS_TRIED};
#define WAYS_COUNT (sizeof ways_tried / sizeof ways_tried[0])
static const double doubt_of_replacement[BJ_REPLACE_COUNT] = {BJ_DOUBT_OF_REPLACEMENT};
/* What sets of up to so many lines do is looked up. */
#define LINES_MAX 512u
#define CAPACITIES_MAX 240
#define RATIOS_MAX 1024
#define POINTS_MAX 256u
/* Parts of the integral over pauses. */
#define PAUSE_PARTS 32
/* Iterations end where a miss share is known to this; more would be out of proportion to a model. */
#define ITERATIONS_MAX 60
#define PRECISION 1e-9
#define LEAST_SLOPE 1e-6
#define PRECISION_OF_REVISITS 1e-6
/* A capacity by one point: within a factor of 64, to a ten thousandth. */
#define SOLVED_OCTAVES 6
#define SOLVED_STEPS 17

/* m = 1 - (1 - 1/K)^(m (n - 1)), the root above 0, by iteration from above. */
static double survive_random(double ways, double lines) {
    double misses = 1, before = 2;
    for (int i = 0; i < ITERATIONS_MAX && before - misses > PRECISION; i++) {
        before = misses;
        misses = 1 - pow(1 - 1 / ways, misses * (lines - 1));
    }
    return misses;
}

/* Mean of exp(-rate p) over the pause p between two visits to a line, as a share of the lap, when `visits` of them fall
 * at random: p has the density (v - 1) (1 - p)^(v - 2). */
static double average_over_pauses(double visits, double rate) {
    double sum = 0;
    for (int i = 0; i < PAUSE_PARTS; i++) {
        /* Equal shares of the pauses, each by its middle. */
        double pause = 1 - pow((i + 0.5) / PAUSE_PARTS, 1 / (visits - 1));
        sum += exp(-rate * pause);
    }
    return sum / PAUSE_PARTS;
}

/* Random replacement with several visits a lap: a line survives the misses of its set until the next visit. */
static double survive_random_pauses(double visits, double ways, double lines) {
    double misses = 1, before = 2;
    for (int i = 0; i < ITERATIONS_MAX && before - misses > PRECISION_OF_REVISITS; i++) {
        before = misses;
        misses = 1 - average_over_pauses(visits, visits * misses * lines / ways);
    }
    return misses;
}

static double miss_overfull(const bj_occupancy_model *model, double lines) {
    double ways = model->ways, visits = model->visits;
    if (visits > 1)
        return model->replacement == BJ_REPLACE_LRU ? pow(1 - ways / lines, (visits - 1) / visits)
                                                    : survive_random_pauses(visits, ways, lines);
    switch (model->replacement) {
    case BJ_REPLACE_PLRU:
        return fmin(1, BJ_PLRU_SLOPE * (lines / ways - 1));
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
    const bj_occupancy_model *model;
    double miss_of[LINES_MAX + 1]; /* of a set with that many lines */
} miss_table;

static void fill_table(const bj_occupancy_model *model, miss_table *table) {
    table->model = model;
    for (unsigned lines = 0; lines <= LINES_MAX; lines++)
        table->miss_of[lines] = lines <= model->ways ? 0 : miss_overfull(model, lines);
}

static double miss_of(const miss_table *table, double lines) {
    if (lines > LINES_MAX)
        return miss_overfull(table->model, lines);
    return table->miss_of[(size_t)lines];
}

/* Poisson: lines that share a set with the one looked at. */
static double predict_random(const miss_table *table, double ratio) {
    double mean = table->model->ways * ratio;
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
    double lines = table->model->ways * ratio; /* mean of a set */
    double fewer = floor(lines), share_more = lines - fewer;
    double few = (1 - share_more) * fewer, many = share_more * (fewer + 1); /* by lines, not by sets */
    return (few * miss_of(table, fewer) + many * miss_of(table, fewer + 1)) / (few + many);
}

static double predict(const miss_table *table, double ratio) {
    return table->model->random_frames ? predict_random(table, ratio) : predict_contiguous(table, ratio);
}

double bj_cache_predict_occupancy_misses(const bj_occupancy_model *model, double ratio) {
    miss_table table;
    fill_table(model, &table);
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
    double variation = smm - sm * sm / sw;
    if (variation < BJ_ROUNDING * sw)
        return false;
    double slope = (smy - sm * sy / sw) / variation;
    double low = (sy - slope * sm) / sw;
    /* What rounding leaves of a flat curve is no rise. */
    if (low <= 0 || slope <= LEAST_SLOPE * low)
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
    double first, spacing; /* log2 of the smallest capacity, and of the ratio of neighbours */
    size_t capacity_count;
    double error_square[CAPACITIES_MAX]; /* best over the models; INFINITY: none */
    double best_square;
    double visits;
    bj_replacement expected;
    bj_occupancy *fit;
} search;

/* log2 of the k-th capacity. */
static double log_capacity(const search *s, size_t k) {
    return s->first + (double)k * s->spacing;
}

/* How much better than others a model must explain the ramp, in log likelihood. */
static double doubt_of(const search *s, const bj_occupancy_model *model) {
    bj_replacement replacement = model->replacement;
    double doubt = model->ways == 1 ? BJ_DOUBT_ONE_WAY : model->ways == 2 ? BJ_DOUBT_TWO_WAYS : 0;
    if (model->visits > 1)
        return doubt;
    if (!model->random_frames)
        return doubt + (replacement == BJ_REPLACE_BEST ? BJ_DOUBT_BEST_CONTIGUOUS : doubt_of_replacement[replacement]);
    bool expected = replacement == s->expected || (s->expected == BJ_REPLACE_RANDOM && replacement == BJ_REPLACE_BEST);
    return doubt + (expected ? 0 : fmax(doubt_of_replacement[replacement], BJ_DOUBT_OTHER_THAN_FIRST));
}

/* Misses of every point for every capacity. Over random frames they are a smooth function of x / C that is dear to
 * compute: there it is tabulated at the spacing of the capacities, and interpolated. */
typedef struct {
    miss_table table;
    double at[RATIOS_MAX]; /* misses at the ratio 2^(spacing × (first_ratio + index)) */
    long first_ratio;
    bool tabulated;
} predictor;

static void make_predictor(const search *s, const bj_occupancy_model *model, predictor *p) {
    fill_table(model, &p->table);
    double least = (s->log_x[0] - s->first) / s->spacing - (double)(s->capacity_count - 1);
    double most = (s->log_x[s->count - 1] - s->first) / s->spacing;
    p->first_ratio = (long)floor(least);
    p->tabulated = model->random_frames && most - least < RATIOS_MAX - 3;
    if (!p->tabulated)
        return;
    size_t count = (size_t)(ceil(most) - floor(least)) + 2;
    for (size_t i = 0; i < count; i++)
        p->at[i] = predict(&p->table, exp2(s->spacing * (double)(p->first_ratio + (long)i)));
}

static void predict_points(const search *s, const predictor *p, double log_capacity, double *misses) {
    for (size_t i = 0; i < s->count; i++) {
        if (!p->tabulated) {
            misses[i] = predict(&p->table, s->x[i] / exp2(log_capacity));
            continue;
        }
        double position = (s->log_x[i] - log_capacity) / s->spacing - (double)p->first_ratio;
        size_t below = (size_t)position;
        misses[i] = p->at[below] + (position - (double)below) * (p->at[below + 1] - p->at[below]);
    }
}

static void try_model(search *s, const bj_occupancy_model *model) {
    double misses[POINTS_MAX];
    predictor predicted;
    make_predictor(s, model, &predicted);
    for (size_t k = 0; k < s->capacity_count; k++) {
        predict_points(s, &predicted, log_capacity(s, k), misses);
        line_fit fit;
        if (!fit_line(misses, s->y, s->weight, s->count, &fit))
            continue;
        double per_doubt = 2 / fmin((double)s->count, BJ_INDEPENDENT_POINTS), doubt = doubt_of(s, model);
        double square = fit.error_square + per_doubt * doubt;
        double possible_square = fit.error_square + per_doubt * fmin(doubt, BJ_DOUBT_IN_INTERVAL);
        s->error_square[k] = fmin(s->error_square[k], possible_square);
        if (square < s->best_square) {
            s->best_square = square;
            s->fit->model = *model;
            s->fit->fitted = exp2(log_capacity(s, k));
            s->fit->low = fit.low;
            s->fit->high = fit.high;
            s->fit->error = sqrt(fit.error_square);
        }
    }
}

static void try_all_models(search *s, bj_frames frames) {
    int first = frames == BJ_FRAMES_RANDOM ? 1 : 0, last = frames == BJ_FRAMES_CONTIGUOUS ? 0 : 1;
    for (size_t w = 0; w < WAYS_COUNT; w++)
        for (int random_frames = first; random_frames <= last; random_frames++)
            for (int r = 0; r < BJ_REPLACE_COUNT; r++) {
                bj_occupancy_model model = {ways_tried[w], random_frames != 0, (bj_replacement)r, s->visits};
                if (s->visits > 1 && r != BJ_REPLACE_LRU && r != BJ_REPLACE_RANDOM)
                    continue;
                /* The best does not depend on the ways where all sets are alike. */
                if (model.random_frames || r != BJ_REPLACE_BEST || w + 1 == WAYS_COUNT)
                    try_model(s, &model);
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
    return (BJ_ERROR_OF_POINT * y + BJ_ERROR_OF_RISE * rise) * (visits > 1 ? BJ_ERROR_OF_REVISITS : 1) + error;
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
           independent = fmin((double)s->count, BJ_INDEPENDENT_POINTS);
    double total = 0, mean = 0;
    for (size_t k = 0; k < s->capacity_count; k++) {
        weight[k] = exp(-0.5 * independent * (s->error_square[k] - s->best_square) / sigma_square);
        total += weight[k];
        mean += weight[k] * log_capacity(s, k);
    }
    for (size_t k = 0; k < s->capacity_count; k++)
        weight[k] /= total;
    return exp2(mean / total);
}

static void set_interval(const search *s, const double *weight) {
    double below = 0;
    bool low_found = false;
    for (size_t k = 0; k < s->capacity_count; k++) {
        below += weight[k];
        if (!low_found && below >= BJ_TAIL) {
            s->fit->interval[0] = exp2(log_capacity(s, k) - s->spacing / 2);
            low_found = true;
        }
        s->fit->interval[1] = exp2(log_capacity(s, k) + s->spacing / 2);
        if (below >= 1 - BJ_TAIL)
            break;
    }
}

/* The capacity by which the model takes a share of misses at x: by bisection of its logarithm, since a smaller cache
 * misses more. */
static double solve_capacity(const miss_table *table, double x, double misses) {
    double low = log2(x) - SOLVED_OCTAVES, high = log2(x) + SOLVED_OCTAVES;
    for (int i = 0; i < SOLVED_STEPS; i++) {
        double middle = (low + high) / 2;
        if (predict(table, x / exp2(middle)) > misses)
            low = middle;
        else
            high = middle;
    }
    return exp2((low + high) / 2);
}

/* What is left between ramp and model, told as capacities: each point on the ramp by itself wants one, and they differ
 * where the model is not the cache's. More points do not make a model right, so all of them are in the interval. */
static void widen_by_points(const search *s) {
    bj_occupancy *fit = s->fit;
    miss_table table;
    fill_table(&fit->model, &table);
    for (size_t i = 0; i < s->count; i++) {
        double misses = (s->y[i] - fit->low) / (fit->high - fit->low);
        if (misses < BJ_RAMP_END || misses > 1 - BJ_RAMP_END)
            continue;
        double capacity = solve_capacity(&table, s->x[i], misses);
        fit->interval[0] = fmin(fit->interval[0], capacity);
        fit->interval[1] = fmax(fit->interval[1], capacity);
    }
}

/* Between two points of the grid an edge is interpolated, by a model that trades ways for capacity: half of their
 * distance to either side. */
static void widen_by_grid(const search *s) {
    bj_occupancy *fit = s->fit;
    size_t next = 1;
    while (next + 1 < s->count && s->x[next] <= fit->capacity)
        next++;
    double half = sqrt(s->x[next] / s->x[next - 1]);
    fit->interval[0] /= half;
    fit->interval[1] *= half;
}

static void forget_errors(search *s) {
    s->best_square = INFINITY;
    for (size_t k = 0; k < s->capacity_count; k++)
        s->error_square[k] = INFINITY;
}

/* The interval is what any of the models allows. The value is the best model's alone: the others err to one side of it.
 * With several visits to a line all are much the same, and their mean is the value. */
static void conclude(search *s) {
    double weight[CAPACITIES_MAX];
    s->fit->capacity = weigh_capacities(s, weight);
    set_interval(s, weight);
    if (s->visits > 1) {
        widen_by_points(s);
        return;
    }
    bj_occupancy_model best = s->fit->model;
    forget_errors(s);
    try_model(s, &best);
    s->fit->capacity = weigh_capacities(s, weight);
    s->fit->interval[0] = fmin(s->fit->interval[0], s->fit->capacity);
    s->fit->interval[1] = fmax(s->fit->interval[1], s->fit->capacity);
    widen_by_points(s);
    widen_by_grid(s);
}

static bool fit_points(const bj_occupancy_request *request, bj_occupancy *fit) {
    if (request->count < BJ_RAMP_POINTS_LEAST || !(request->last > request->first))
        return false;
    double octaves = log2(request->last / request->first);
    size_t capacities = (size_t)(octaves * BJ_CAPACITIES_PER_OCTAVE) + 2;
    if (capacities > CAPACITIES_MAX)
        capacities = CAPACITIES_MAX;
    search s = {.x = request->x,
                .y = request->y,
                .count = request->count,
                .first = log2(request->first),
                .spacing = octaves / (double)(capacities - 1),
                .capacity_count = capacities,
                .visits = request->visits,
                .expected = request->expected,
                .fit = fit};
    forget_errors(&s);
    for (size_t i = 0; i < s.count; i++)
        s.log_x[i] = log2(s.x[i]);
    weigh_points(&s, request->error);
    if (request->only != NULL)
        try_model(&s, request->only);
    else
        try_all_models(&s, request->frames);
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
    fill_table(&fit->model, &table);
    double rise = rise_of(y, count), square = 0;
    for (size_t i = 0; i < count; i++) {
        double misses = predict(&table, x[i] / fit->fitted);
        double off = y[i] - fit->low - (fit->high - fit->low) * misses;
        double allowed = allowed_at(y[i], rise, fit->model.visits, error != NULL ? error[i] : 0);
        square += off * off / (allowed * allowed);
    }
    return count > 0 ? sqrt(square / (double)count) : 0;
}
