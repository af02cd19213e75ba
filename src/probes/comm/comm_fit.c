#include "probes/comm/comm_fit.h"

#include <math.h>

/* Sizes of a curve: far more than any has. */
enum { POINTS_MOST = 128 };

double bj_comm_predict(const bj_comm_segment *segment, double bytes) {
    return segment->us + bytes * segment->us_per_byte;
}

/* The sum of squared relative errors. */
static double fit_segment(const double *bytes, const double *us, size_t first, size_t count, bj_comm_segment *segment) {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    for (size_t i = first; i < first + count; i++) {
        double weight = 1 / (us[i] * us[i]);
        w += weight;
        wx += weight * bytes[i];
        wy += weight * us[i];
        wxx += weight * bytes[i] * bytes[i];
        wxy += weight * bytes[i] * us[i];
    }
    double spread = w * wxx - wx * wx;
    double slope = spread > 0 ? (w * wxy - wx * wy) / spread : 0;
    double start = (wy - slope * wx) / w;
    if (slope < 0) {
        slope = 0;
        start = wy / w;
    } else if (start < 0) {
        start = 0;
        slope = wxx > 0 ? wxy / wxx : 0;
    }
    *segment = (bj_comm_segment){first, count, start, slope};
    double sum = 0;
    for (size_t i = first; i < first + count; i++) {
        double off = bj_comm_predict(segment, bytes[i]) / us[i] - 1;
        sum += off * off;
    }
    return sum;
}

static void find_error(const double *bytes, const double *us, bj_comm_fit *fit) {
    fit->error = 0;
    for (size_t s = 0; s < fit->count; s++)
        for (size_t i = fit->segments[s].first; i < fit->segments[s].first + fit->segments[s].count; i++)
            fit->error = fmax(fit->error, fabs(bj_comm_predict(&fit->segments[s], bytes[i]) / us[i] - 1));
}

void bj_comm_fit_line(const double *bytes, const double *us, size_t count, bj_comm_fit *fit) {
    fit->count = 1;
    (void)fit_segment(bytes, us, 0, count, &fit->segments[0]);
    find_error(bytes, us, fit);
}

/* cost[k][n]: of the first n points in k + 1 lines; from[k][n]: where the last of them begins. */
typedef struct {
    double cost[SEGMENTS_MOST][POINTS_MOST + 1];
    size_t from[SEGMENTS_MOST][POINTS_MOST + 1];
} fit_table;

static void fill_table(const double *bytes, const double *us, size_t count, fit_table *table) {
    bj_comm_segment ignored;
    for (size_t k = 0; k < SEGMENTS_MOST; k++)
        for (size_t n = 0; n <= count; n++) {
            table->cost[k][n] = INFINITY;
            table->from[k][n] = 0;
            if (k == 0 && n >= SEGMENT_POINTS)
                table->cost[k][n] = fit_segment(bytes, us, 0, n, &ignored);
            for (size_t j = SEGMENT_POINTS; k > 0 && j + SEGMENT_POINTS <= n; j++) {
                double cost = table->cost[k - 1][j] + fit_segment(bytes, us, j, n - j, &ignored);
                if (cost < table->cost[k][n]) {
                    table->cost[k][n] = cost;
                    table->from[k][n] = j;
                }
            }
        }
}

void bj_comm_fit_segments(const double *bytes, const double *us, size_t count, double scatter, bj_comm_fit *fit) {
    fit_table table;
    bj_comm_fit_line(bytes, us, count, fit);
    if (count > POINTS_MOST || count < 2 * SEGMENT_POINTS)
        return;
    fill_table(bytes, us, count, &table);
    double variance = fmax(scatter, LEAST_SCATTER) * fmax(scatter, LEAST_SCATTER), best = INFINITY;
    size_t lines = 1;
    for (size_t k = 0; k < SEGMENTS_MOST; k++) {
        /* A line more is three numbers more: where it begins, its start and its slope. */
        double cost = table.cost[k][count] / variance + 3 * (double)(k + 1) * log((double)count);
        if (cost < best) {
            best = cost;
            lines = k + 1;
        }
    }
    fit->count = lines;
    for (size_t k = lines, end = count; k > 0; k--) {
        size_t begin = table.from[k - 1][end];
        (void)fit_segment(bytes, us, begin, end - begin, &fit->segments[k - 1]);
        end = begin;
    }
    find_error(bytes, us, fit);
}
