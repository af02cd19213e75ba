/* From the median cells of some rounds to a verdict. Slowdowns are logarithms, so that causes add up. */
#include "diagnose/reading.h"

#include <math.h>
#include <stdlib.h>

#include "diagnose/diagnose_constants.h"
#include "stats/nnls.h"
#include "stats/quantile.h"

static const bj_subject references[3] = {BJ_SUBJECT_WALK, BJ_SUBJECT_LINES, BJ_SUBJECT_SCATTERED};

double bj_diagnose_cell(const bj_diagnose_round *rounds, const size_t *index, size_t count, bj_subject subject,
                        bj_company company, bool theirs) {
    double values[BJ_DIAGNOSE_ROUNDS];
    for (size_t i = 0; i < count; i++) {
        const bj_diagnose_sample *sample = &rounds[index != NULL ? index[i] : i].cells[subject][company];
        values[i] = theirs ? sample->theirs : sample->own;
    }
    return bj_stats_median(values, count);
}

/* Rounds that are looked at. */
typedef struct {
    const bj_diagnose_round *rounds;
    const size_t *index;
    size_t count;
} view;

static double own(const view *v, bj_subject subject, bj_company company) {
    return bj_diagnose_cell(v->rounds, v->index, v->count, subject, company, false);
}

static double theirs(const view *v, bj_subject subject, bj_company company) {
    return bj_diagnose_cell(v->rounds, v->index, v->count, subject, company, true);
}

static double slowed(const view *v, bj_subject subject, bj_company company) {
    return log(own(v, subject, company) / own(v, subject, BJ_BESIDE_NULL));
}

double bj_diagnose_slowed(const bj_diagnose_round *rounds, const size_t *index, size_t count, bj_subject subject,
                          bj_company company) {
    view v = {rounds, index, count};
    return slowed(&v, subject, company);
}

/* What the program takes of a memory that is full: all there is, less what it leaves to the others; and what that would
 * be at its own pace. All there is shows where lines are on the first cpu, too, which alone need not fill it. */
static double demand_beside(const view *v, bj_company company, bj_subject lines) {
    double beside = theirs(v, BJ_SUBJECT_PROGRAM, company), alone = theirs(v, BJ_SUBJECT_NULL, company);
    double all = theirs(v, lines, company) + 1 / own(v, lines, company);
    bool full_without = alone > all * (1 - FULL_DROP), full_with = beside < alone * (1 - FULL_DROP);
    if (!full_without && !full_with)
        return NAN;
    double taken = (full_without ? alone : all) - beside;
    return fmax(taken, 0) * own(v, BJ_SUBJECT_PROGRAM, company) / own(v, BJ_SUBJECT_PROGRAM, BJ_BESIDE_NULL);
}

double bj_diagnose_find_demand(const bj_diagnose_round *rounds, const size_t *index, size_t count) {
    view v = {rounds, index, count};
    double in_order = demand_beside(&v, BJ_BESIDE_FULL, BJ_SUBJECT_LINES);
    /* Scattered lines fill a memory that lines in order do not. */
    return isnan(in_order) ? demand_beside(&v, BJ_BESIDE_FULL_SCATTERED, BJ_SUBJECT_SCATTERED) : in_order;
}

/* ---- pressures and parts */

/* How a subject is slowed down by what stands for each resource. */
static void read_row(const view *v, bj_subject subject, double *row) {
    row[BJ_RESOURCE_CACHE] = fmax(slowed(v, subject, BJ_BESIDE_TWIN_WALKS), 0);
    row[BJ_RESOURCE_BANDWIDTH] = fmax(slowed(v, subject, BJ_BESIDE_TWINS), 0);
    row[BJ_RESOURCE_ROWS] = fmax(slowed(v, subject, BJ_BESIDE_TWINS_SCATTERED) - row[BJ_RESOURCE_BANDWIDTH], 0);
}

/* What the references feel, for telling pressures from it. Lines do not use the cache: what walks cost them is traffic
 * of the walks' own misses, and traffic of the copies is what the other twins stand for. */
static double felt(const bj_reading *r, size_t reference, size_t resource) {
    return resource == BJ_RESOURCE_CACHE && references[reference] != BJ_SUBJECT_WALK ? 0 : r->talk[reference][resource];
}

/* Those columns that any reference feels, but for the ones given. */
static size_t gather_columns(const bj_reading *r, unsigned given, size_t *columns, double *matrix) {
    size_t count = 0;
    for (size_t c = 0; c < BJ_RESOURCES; c++)
        if (!(given >> c & 1) && fmax(felt(r, 0, c), fmax(felt(r, 1, c), felt(r, 2, c))) > GAUGE_LEAST)
            columns[count++] = c;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < count; j++)
            matrix[i * count + j] = felt(r, i, columns[j]);
    return count;
}

/* Pressures by least squares. A column that no reference feels is as calibrated: twins draw the program's own rate, and
 * walks press like the copies; of rows there is then none to be seen. */
static void solve_pressures(const bj_reading *r, unsigned given, double *pressure) {
    double matrix[3 * BJ_RESOURCES] = {0}, seen[3], solution[BJ_RESOURCES];
    size_t columns[BJ_RESOURCES], count = gather_columns(r, given, columns, matrix);
    for (size_t c = 0; c < BJ_RESOURCES; c++)
        pressure[c] = c == BJ_RESOURCE_ROWS ? 0 : 1;
    for (size_t i = 0; i < 3; i++) {
        seen[i] = r->seen[i];
        for (size_t c = 0; c < BJ_RESOURCES; c++)
            seen[i] -= given >> c & 1 ? felt(r, i, c) : 0;
    }
    bj_stats_solve_nonnegative(matrix, seen, 3, count, solution);
    for (size_t j = 0; j < count; j++)
        pressure[columns[j]] = solution[j];
}

static double find_condition(const bj_reading *r) {
    double matrix[3 * BJ_RESOURCES] = {0};
    size_t columns[BJ_RESOURCES], count = gather_columns(r, 0, columns, matrix);
    return count > 0 ? bj_stats_find_condition(matrix, 3, count) : 1;
}

static void fill_closure(const double *sensitivity, const double *pressure, bj_diagnose_closure *closure) {
    double told = 0;
    for (size_t c = 0; c < BJ_RESOURCES; c++)
        told += closure->parts[c] = sensitivity[c] * pressure[c];
    closure->residual = closure->loss - told;
}

static bj_verdict judge(const bj_diagnose_closure *closure) {
    /* Nothing can account for more than was lost. */
    const double parts[4] = {fmin(closure->parts[BJ_RESOURCE_CACHE], closure->loss),
                             fmin(closure->parts[BJ_RESOURCE_BANDWIDTH], closure->loss),
                             fmin(closure->parts[BJ_RESOURCE_ROWS], closure->loss),
                             fmin(closure->other, closure->loss + closure->other)};
    size_t leads = 0;
    double second = fabs(closure->residual);
    /* Measured, not predicted: nothing needs to explain it. */
    if (closure->loss + closure->other < LEAD)
        return BJ_VERDICT_NONE;
    for (size_t i = 1; i < 4; i++)
        leads = parts[i] > parts[leads] ? i : leads;
    for (size_t i = 0; i < 4; i++)
        second = i != leads ? fmax(second, i < BJ_RESOURCES ? closure->parts[i] : parts[i]) : second;
    return parts[leads] - second > LEAD ? (bj_verdict)leads : BJ_VERDICT_UNDETERMINED;
}

/* How much of what traffic does to a program that does nothing but fetch lines it does to this one: by the company that
 * moves as many lines as it can. */
static double find_exposure(const view *v) {
    static const struct {
        bj_subject reference;
        bj_company company;
    } full[] = {{BJ_SUBJECT_LINES, BJ_BESIDE_FULL}, {BJ_SUBJECT_SCATTERED, BJ_BESIDE_FULL_SCATTERED}};
    double exposure = 0;
    for (size_t i = 0; i < 2; i++) {
        double reference = slowed(v, full[i].reference, full[i].company);
        if (reference > GAUGE_LEAST)
            exposure = fmax(exposure, slowed(v, BJ_SUBJECT_PROGRAM, full[i].company) / reference);
    }
    return fmin(exposure, 1);
}

/* Antagonists that walk miss, and what they miss is traffic: what that does to a program is no matter of the cache. It
 * is the larger of two guesses: what lines lose by it, told in terms of twins, and what the lines that lose most do,
 * as far as the program is exposed to traffic. Where walks are many, twins may be unlike them. */
static void take_off_cross_talk(const view *v, const bj_reading *r, double *sensitivity) {
    const bj_resource twins[] = {BJ_RESOURCE_BANDWIDTH, BJ_RESOURCE_ROWS};
    double matrix[4] = {0}, seen[2], traffic[2] = {0};
    for (size_t i = 0; i < 2; i++) {
        seen[i] = r->talk[i + 1][BJ_RESOURCE_CACHE];
        for (size_t j = 0; j < 2; j++)
            matrix[2 * i + j] = r->talk[i + 1][twins[j]] > GAUGE_LEAST ? r->talk[i + 1][twins[j]] : 0;
    }
    bj_stats_solve_nonnegative(matrix, seen, 2, 2, traffic);
    double by_twins = traffic[0] * sensitivity[twins[0]] + traffic[1] * sensitivity[twins[1]];
    double by_lines = find_exposure(v) * fmax(r->talk[1][BJ_RESOURCE_CACHE], r->talk[2][BJ_RESOURCE_CACHE]);
    sensitivity[BJ_RESOURCE_CACHE] = fmax(sensitivity[BJ_RESOURCE_CACHE] - fmax(by_twins, by_lines), 0);
}

/* The loss at full density against null actors. Where the work is one copy's, that is what the copy should have gained
 * by more cpus and did not. */
static double find_loss(const bj_diagnose_request *request, const view *v, double other) {
    if (!request->strong)
        return slowed(v, BJ_SUBJECT_PROGRAM, BJ_BESIDE_COPIES);
    double least[BJ_DIAGNOSE_ROUNDS], full[BJ_DIAGNOSE_ROUNDS];
    size_t last = request->density_count - 1;
    for (size_t i = 0; i < v->count; i++) {
        const bj_diagnose_round *round = &v->rounds[v->index != NULL ? v->index[i] : i];
        least[i] = round->densities[0];
        full[i] = round->densities[last];
    }
    double ideal = request->total_cpus > 0 ? 1 : (double)request->densities[0] / (double)request->densities[last];
    return log(bj_stats_median(full, v->count) / (bj_stats_median(least, v->count) * ideal)) - other;
}

static double share_memory(const bj_diagnose_closure *closure) {
    return fmax(closure->parts[BJ_RESOURCE_BANDWIDTH], closure->parts[BJ_RESOURCE_ROWS]);
}

bj_reading bj_diagnose_read(const bj_diagnose_request *request, const bj_diagnose_samples *samples, const size_t *index,
                            size_t count) {
    view v = {samples->rounds, index, count};
    bj_reading r = {.verdict = BJ_VERDICT_UNDETERMINED};
    double sensitivity[BJ_RESOURCES], as_calibrated[BJ_RESOURCES];
    for (size_t i = 0; i < 3; i++)
        r.seen[i] = slowed(&v, references[i], BJ_BESIDE_COPIES);
    for (size_t i = 0; i < 3; i++)
        read_row(&v, references[i], r.talk[i]);
    read_row(&v, BJ_SUBJECT_PROGRAM, sensitivity);
    /* What slows a program down beside twins that hardly move a line is somebody else's doing, and remains unexplained.
     */
    if (samples->twins_rest)
        sensitivity[BJ_RESOURCE_BANDWIDTH] = sensitivity[BJ_RESOURCE_ROWS] = 0;
    take_off_cross_talk(&v, &r, sensitivity);
    r.condition = find_condition(&r);
    r.closure.other =
        fmax(log(own(&v, BJ_SUBJECT_PROGRAM, BJ_BESIDE_NULL) / own(&v, BJ_SUBJECT_PROGRAM, BJ_BESIDE_IDLE)), 0);
    r.closure.loss = find_loss(request, &v, r.closure.other);
    /* Twice: with all pressures as the references say, and with the program's rate as it was found beforehand. Where
     * bandwidth and rows look alike to the references, these differ, and nothing may depend on which is right. */
    bj_diagnose_closure given = r.closure;
    solve_pressures(&r, 0, r.pressure);
    fill_closure(sensitivity, r.pressure, &r.closure);
    solve_pressures(&r, 1u << BJ_RESOURCE_BANDWIDTH, as_calibrated);
    fill_closure(sensitivity, as_calibrated, &given);
    r.verdict = judge(&r.closure);
    bj_verdict again = judge(&given);
    if (again != r.verdict) {
        r.rivals = share_memory(&r.closure) > LEAD || share_memory(&given) > LEAD;
        r.verdict = BJ_VERDICT_UNDETERMINED;
    }
    return r;
}
