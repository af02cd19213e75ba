/* Axes with their ticks, and a canvas of cells to draw on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { BJ_PLOT_TICKS = 32 };

typedef struct {
    double low, high; /* low < high */
    bool logarithmic; /* then low > 0 */
    bool binary;      /* ticks are powers of two */
} bj_plot_axis;

/* An axis that holds the values from low to high. Sizes, and what spans more than `log_ratio`, are logarithmic. */
bj_plot_axis bj_report_make_axis(double low, double high, bool sizes, double log_ratio);
/* Where a value lies: 0 at the low end, 1 at the high one; outside of both where it is beyond them. */
double bj_report_place(const bj_plot_axis *axis, double value);
/* Round values from low to high, at most `most` (and BJ_PLOT_TICKS) of them; returns how many. */
size_t bj_report_make_ticks(const bj_plot_axis *axis, size_t most, double *ticks);

typedef struct {
    size_t width, height; /* in cells */
    bool fine;            /* cells have 2 by 4 dots, drawn in braille; else one */
    unsigned char *dots;  /* a bit for each dot of the cell, as braille counts them */
    unsigned char *marks; /* number of the series from 1; 0: none */
    bool *guides;         /* part of a vertical line, behind all else */
} bj_plot_canvas;

bj_status bj_report_open_canvas(bj_plot_canvas *canvas, size_t width, size_t height, bool fine,
                                bj_error *error) BJ_WARN_UNUSED;
void bj_report_close_canvas(bj_plot_canvas *canvas);
/* Coordinates from 0 to 1, y upwards; what lies outside is not drawn. */
void bj_report_draw_line(bj_plot_canvas *canvas, double x0, double y0, double x1, double y1);
void bj_report_draw_mark(bj_plot_canvas *canvas, double x, double y, unsigned char mark);
void bj_report_draw_guide(bj_plot_canvas *canvas, double x);
/* The column of x and the row of y, from the left and the top. */
size_t bj_report_find_column(const bj_plot_canvas *canvas, double x);
size_t bj_report_find_row(const bj_plot_canvas *canvas, double y);
/* The text of one cell: at most three bytes and a zero. */
void bj_report_read_cell(const bj_plot_canvas *canvas, size_t row, size_t column, bool utf8, char text[4]);
