#include "report/plot_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Random points turn at two of three. */
#define SCATTER_TURNS 0.4
#define SCATTER_LEAST 24

bool bj_report_cites(const bj_answer *answer, const bj_curve *curve) {
    for (size_t i = 0; i < answer->evidence_count; i++)
        if (strcmp(answer->evidence[i], curve->id) == 0)
            return true;
    return false;
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* NaN: no round has this point. */
static double find_median(const bj_curve *curve, size_t point, double *scratch) {
    size_t count = 0;
    for (size_t r = 0; r < curve->round_count; r++)
        if (isfinite(curve->rounds[r][point]))
            scratch[count++] = curve->rounds[r][point];
    if (count == 0)
        return NAN;
    qsort(scratch, count, sizeof *scratch, compare_numbers);
    return (scratch[(count - 1) / 2] + scratch[count / 2]) / 2;
}

/* The points jump up and down: x only numbers them, and a line through them would be a block. */
static bool is_scatter(const bj_plot_series *series) {
    size_t turns = 0;
    for (size_t i = 2; i < series->count; i++)
        turns += (series->y[i] - series->y[i - 1]) * (series->y[i - 1] - series->y[i - 2]) < 0;
    return series->count >= SCATTER_LEAST && (double)turns > SCATTER_TURNS * (double)series->count;
}

static bj_status fill_series(const bj_curve *curve, bj_plot_series *series, bj_error *error) {
    double *scratch = calloc(curve->round_count + 1, sizeof *scratch);
    *series = (bj_plot_series){.curve = curve,
                               .x = calloc(curve->x_count + 1, sizeof *series->x),
                               .y = calloc(curve->x_count + 1, sizeof *series->y)};
    if (scratch == NULL || series->x == NULL || series->y == NULL) {
        free(scratch);
        free(series->x);
        free(series->y);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu points", curve->x_count);
    }
    for (size_t i = 0; i < curve->x_count; i++) {
        double median = find_median(curve, i, scratch);
        if (!isfinite(median) || !isfinite(curve->x[i]))
            continue;
        series->x[series->count] = curve->x[i];
        series->y[series->count++] = median;
    }
    free(scratch);
    series->scatters = is_scatter(series);
    return BJ_OK;
}

void bj_report_free_series(bj_plot_choice *choice) {
    for (size_t i = 0; i < choice->count; i++) {
        free(choice->items[i].x);
        free(choice->items[i].y);
    }
    choice->count = 0;
}

static bool can_be_drawn(const bj_curve *curve) {
    return curve->x_count >= 2 && curve->round_count > 0;
}

/* Only of those that name it first or second: what comes later is what all of them are compared with. */
static size_t count_citations(const bj_profile *profile, const bj_curve *curve) {
    size_t count = 0;
    for (size_t i = 0; i < profile->answers.count; i++) {
        const bj_answer *answer = &profile->answers.items[i];
        for (size_t e = 0; e < answer->evidence_count && e < 2; e++)
            count += strcmp(answer->evidence[e], curve->id) == 0;
    }
    return count;
}

static bool have_same_axes(const bj_curve *a, const bj_curve *b) {
    return strcmp(a->x_name, b->x_name) == 0 && strcmp(a->x_unit, b->x_unit) == 0 &&
           strcmp(a->y_name, b->y_name) == 0 && strcmp(a->y_unit, b->y_unit) == 0;
}

/* The ratio of the highest to the lowest sample: how much there is to see. */
static double measure_contrast(const bj_curve *curve) {
    double least = INFINITY, most = 0;
    for (size_t r = 0; r < curve->round_count; r++)
        for (size_t i = 0; i < curve->x_count; i++)
            if (curve->rounds[r][i] > 0) {
                least = fmin(least, curve->rounds[r][i]);
                most = fmax(most, curve->rounds[r][i]);
            }
    return most > 0 ? most / least : 0;
}

/* The better one to draw of two curves of a probe; `best` may be NULL. */
static const bj_curve *choose_better(const bj_profile *profile, const bj_curve *best, const bj_curve *other) {
    if (best == NULL)
        return other;
    size_t cited = count_citations(profile, best), cited_other = count_citations(profile, other);
    if (cited != cited_other)
        return cited > cited_other ? best : other;
    return cited > 0 || best->x_count >= other->x_count ? best : other;
}

static bj_status add_series(const bj_curve *curve, bj_plot_choice *choice, bj_error *error) {
    BJ_TRY(fill_series(curve, &choice->items[choice->count], error));
    choice->count++;
    return BJ_OK;
}

static bj_status choose_of_probe(const bj_profile *profile, const char *probe, bj_plot_choice *choice,
                                 bj_error *error) {
    const bj_curve *best = NULL, *alone = NULL;
    size_t drawable = 0, alike = 0;
    for (size_t i = 0; i < profile->curves.count; i++) {
        const bj_curve *curve = &profile->curves.items[i];
        if (strcmp(curve->probe, probe) != 0 || !can_be_drawn(curve))
            continue;
        best = choose_better(profile, best, curve);
        drawable++;
    }
    if (best == NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no curve of '%.40s' in this profile can be drawn", probe);
    bool cited = count_citations(profile, best) > 0;
    const bj_curve *found[BJ_PLOT_SERIES];
    for (size_t i = 0; i < profile->curves.count; i++) {
        const bj_curve *curve = &profile->curves.items[i];
        bool fits = strcmp(curve->probe, probe) == 0 && can_be_drawn(curve) && have_same_axes(curve, best);
        if (curve != best && (!fits || !cited || count_citations(profile, curve) == 0))
            continue;
        if (alone == NULL || measure_contrast(curve) > measure_contrast(alone))
            alone = curve;
        if (alike < BJ_PLOT_SERIES)
            found[alike] = curve;
        alike++;
    }
    if (alike > BJ_PLOT_SERIES) {
        found[0] = alone;
        alike = 1;
    }
    choice->left_out = drawable - alike;
    for (size_t i = 0; i < alike; i++)
        BJ_TRY(add_series(found[i], choice, error));
    return BJ_OK;
}

bj_status bj_report_choose_series(const bj_profile *profile, const char *what, bj_plot_choice *choice,
                                  bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(&profile->curves, what);
    *choice = (bj_plot_choice){.count = 0};
    bj_status status = curve != NULL ? add_series(curve, choice, error) : choose_of_probe(profile, what, choice, error);
    size_t most = 0;
    for (size_t i = 0; i < choice->count; i++)
        most = choice->items[i].count > most ? choice->items[i].count : most;
    if (status == BJ_OK && most < 2)
        status = bj_base_set_error(error, BJ_ERR_FAILED, "'%.48s' has fewer than two points: nothing to draw", what);
    if (status != BJ_OK)
        bj_report_free_series(choice);
    return status;
}
