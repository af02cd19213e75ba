#include "report/plot_canvas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A linear axis begins with 0 unless the values are closer together than this, when their differences would drown. */
#define FROM_ZERO 1.5
/* Room around values that do not begin with 0, as a share of their range. */
#define MARGIN 0.1

bj_plot_axis bj_report_make_axis(double low, double high, bool sizes, double log_ratio) {
    bj_plot_axis axis = {low, high, .binary = sizes};
    axis.logarithmic = low > 0 && high > low && (sizes || high / low > log_ratio);
    if (axis.logarithmic)
        return axis;
    axis.binary = false;
    if (low > 0 && high > FROM_ZERO * low)
        axis.low = 0;
    else if (high > low) {
        axis.low -= MARGIN * (high - low);
        axis.high += MARGIN * (high - low);
    }
    if (!(axis.high > axis.low)) { /* one value alone, in the middle */
        double half = fabs(low) > 0 ? fabs(low) / 2 : 1;
        axis.low = low - half;
        axis.high = low + half;
    }
    return axis;
}

double bj_report_place(const bj_plot_axis *axis, double value) {
    if (!axis->logarithmic)
        return (value - axis->low) / (axis->high - axis->low);
    return value > 0 ? (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low)) : -1;
}

/* 1, 2 or 5 times a power of ten, not below `least`. */
static double round_up(double least) {
    double power = pow(10, floor(log10(least)));
    double share = least / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

static size_t make_linear_ticks(const bj_plot_axis *axis, size_t most, double *ticks) {
    double step = round_up((axis->high - axis->low) / (double)most);
    size_t count = 0;
    for (double i = ceil(axis->low / step); i * step <= axis->high && count < most; i++)
        ticks[count++] = i * step;
    return count;
}

/* Powers of a base, every so many of them that there are not too many. */
static size_t make_power_ticks(const bj_plot_axis *axis, size_t most, double base, double *ticks) {
    double first = ceil(log(axis->low) / log(base) - 1e-9), last = floor(log(axis->high) / log(base) + 1e-9);
    double stride = fmax(1, ceil((last - first + 1) / (double)most));
    size_t count = 0;
    for (double e = ceil(first / stride) * stride; e <= last && count < most; e += stride)
        ticks[count++] = pow(base, e);
    return count;
}

/* 1, 2, 5, 10, 20, …: for what spans a few tens only. */
static size_t make_decimal_ticks(const bj_plot_axis *axis, size_t most, double *ticks) {
    size_t count = 0;
    for (double power = fmax(pow(10, floor(log10(axis->low))), 1e-300); power <= axis->high; power *= 10)
        for (int i = 0; i < 3; i++) {
            double tick = power * (i == 0 ? 1 : i == 1 ? 2 : 5);
            if (tick < axis->low * (1 - 1e-9) || tick > axis->high * (1 + 1e-9))
                continue;
            if (count == most)
                return make_power_ticks(axis, most, 10, ticks);
            ticks[count++] = tick;
        }
    return count;
}

size_t bj_report_make_ticks(const bj_plot_axis *axis, size_t most, double *ticks) {
    most = most < 2 ? 2 : most > BJ_PLOT_TICKS ? BJ_PLOT_TICKS : most;
    if (!axis->logarithmic)
        return make_linear_ticks(axis, most, ticks);
    return axis->binary ? make_power_ticks(axis, most, 2, ticks) : make_decimal_ticks(axis, most, ticks);
}

bj_status bj_report_open_canvas(bj_plot_canvas *canvas, size_t width, size_t height, bool fine, bj_error *error) {
    *canvas = (bj_plot_canvas){.width = width,
                               .height = height,
                               .fine = fine,
                               .dots = calloc(width * height, 1),
                               .marks = calloc(width * height, 1),
                               .guides = calloc(width * height, sizeof(bool))};
    if (canvas->dots != NULL && canvas->marks != NULL && canvas->guides != NULL)
        return BJ_OK;
    bj_report_close_canvas(canvas);
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a plot");
}

void bj_report_close_canvas(bj_plot_canvas *canvas) {
    free(canvas->dots);
    free(canvas->marks);
    free(canvas->guides);
    *canvas = (bj_plot_canvas){0};
}

/* `share` from 0 to 1 as one of `count` cells. */
static size_t find_cell(double share, size_t count) {
    double cell = floor(share * (double)count);
    return cell < 0 ? 0 : cell >= (double)count ? count - 1 : (size_t)cell;
}

size_t bj_report_find_column(const bj_plot_canvas *canvas, double x) {
    return find_cell(x, canvas->width);
}

size_t bj_report_find_row(const bj_plot_canvas *canvas, double y) {
    return canvas->height - 1 - find_cell(y, canvas->height);
}

static bool is_inside(double x, double y) {
    return x >= 0 && x <= 1 && y >= 0 && y <= 1;
}

static void draw_dot(bj_plot_canvas *canvas, double x, double y) {
    /* Braille numbers the dots of a cell 1 2 3 7 downwards on the left, 4 5 6 8 on the right. */
    static const unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (!is_inside(x, y))
        return;
    size_t across = canvas->fine ? 2 : 1, down = canvas->fine ? 4 : 1;
    size_t column = find_cell(x, canvas->width * across);
    size_t row = canvas->height * down - 1 - find_cell(y, canvas->height * down);
    canvas->dots[row / down * canvas->width + column / across] |=
        canvas->fine ? bits[row % down][column % across] : bits[0][0];
}

void bj_report_draw_line(bj_plot_canvas *canvas, double x0, double y0, double x1, double y1) {
    size_t across = canvas->fine ? 2 : 1, down = canvas->fine ? 4 : 1;
    double columns = fabs(x1 - x0) * (double)(canvas->width * across);
    double rows = fabs(y1 - y0) * (double)(canvas->height * down);
    double steps = fmin(ceil(fmax(columns, rows)) + 1, 4096);
    for (double i = 0; i <= steps; i++)
        draw_dot(canvas, x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
}

void bj_report_draw_mark(bj_plot_canvas *canvas, double x, double y, unsigned char mark) {
    if (is_inside(x, y))
        canvas->marks[bj_report_find_row(canvas, y) * canvas->width + bj_report_find_column(canvas, x)] = mark;
}

void bj_report_draw_guide(bj_plot_canvas *canvas, double x) {
    for (size_t row = 0; is_inside(x, 0) && row < canvas->height; row++)
        canvas->guides[row * canvas->width + bj_report_find_column(canvas, x)] = true;
}

void bj_report_read_cell(const bj_plot_canvas *canvas, size_t row, size_t column, bool utf8, char text[4]) {
    static const char *const marks[][2] = {{"*", "\xe2\x97\x8f"}, {"o", "\xe2\x97\x8b"}, {"+", "+"}, {"x", "\xc3\x97"}};
    size_t cell = row * canvas->width + column;
    unsigned char dots = canvas->dots[cell];
    if (canvas->marks[cell] > 0)
        snprintf(text, 4, "%s", marks[(canvas->marks[cell] - 1) % 4][utf8]);
    else if (dots != 0 && utf8 && canvas->fine) /* U+2800 and the bits */
        snprintf(text, 4, "\xe2%c%c", (char)(0xa0 | dots >> 6), (char)(0x80 | (dots & 0x3f)));
    else if (dots != 0)
        snprintf(text, 4, "*");
    else if (canvas->guides[cell])
        snprintf(text, 4, "%s", utf8 ? "\xe2\x94\x8a" : ":");
    else
        snprintf(text, 4, " ");
}
