/* The text around a canvas: title, answers above and to the right, ticks to the left and below. */
#include "report/plot.h"

#include <math.h>
#include <string.h>

#include "report/plot_canvas.h"
#include "report/plot_series.h"
#include "report/terminal_text.h"

/* Columns: Y_WIDTH for the ticks of y, the canvas, and RIGHT_WIDTH for answers that lie on y. */
enum {
    Y_WIDTH = 8,
    RIGHT_WIDTH = 18,
    HEIGHT = 12,
    LABEL_ROWS = 4,
    LINE_ROOM = 256,
    MARKS_MOST = 16,
    Y_ANSWERS_MOST = 6
};
/* From this ratio on an axis is logarithmic; that of x where it is no size. */
#define LOG_RATIO_X 50.0
#define LOG_RATIO_Y 10.0
/* So far beyond the end of y, as a share of it, an answer still counts as being there: it is no median. */
#define NEAR 0.05

typedef struct {
    FILE *out;
    const bj_profile *profile;
    const bj_terminal_style *style;
    bj_plot_choice choice;
    bj_plot_axis x, y;
    bj_plot_canvas canvas;
    const bj_answer *on_x[MARKS_MOST], *on_y[MARKS_MOST]; /* answers that have a place */
    size_t on_x_count, on_y_count;
} plot;

static void find_range(const plot *plot, bool of_y, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t s = 0; s < plot->choice.count; s++)
        for (size_t i = 0; i < plot->choice.items[s].count; i++) {
            double value = of_y ? plot->choice.items[s].y[i] : plot->choice.items[s].x[i];
            *low = fmin(*low, value);
            *high = fmax(*high, value);
        }
}

static bool is_cited(const plot *plot, const bj_answer *answer) {
    for (size_t s = 0; s < plot->choice.count; s++)
        if (bj_report_cites(answer, plot->choice.items[s].curve))
            return true;
    return false;
}

/* The bytes of a key up to its last part. */
static size_t measure_prefix(const char *key) {
    const char *last = strrchr(key, '.');
    return last != NULL ? (size_t)(last - key) : 0;
}

/* One answer a level: a size and a capacity that are close would hide each other. Numbers of levels lie on no axis. */
static bool is_new(const bj_answer *const *marks, size_t count, const bj_answer *answer) {
    size_t prefix = measure_prefix(answer->key);
    for (size_t i = 0; i < count; i++)
        if (strstr(answer->key, ".L") != NULL && measure_prefix(marks[i]->key) == prefix &&
            strncmp(marks[i]->key, answer->key, prefix) == 0)
            return false;
    return strcmp(answer->key + prefix, ".levels") != 0;
}

static bool is_on(const char *unit, const char *axis_unit) {
    bool ways = strcmp(unit, "ways") == 0 && strcmp(axis_unit, "count") == 0; /* the lines of a set */
    return ways || strcmp(unit, axis_unit) == 0;
}

/* Whether the answer is a height of the curve; what a miss costs is a difference of two. */
static bool is_height(const bj_answer *answer, const bj_curve *curve) {
    return strcmp(answer->unit, curve->y_unit) == 0 &&
           strncmp(answer->key + measure_prefix(answer->key), ".miss", 5) != 0;
}

static void find_marks(plot *plot) {
    const bj_curve *curve = plot->choice.items[0].curve;
    bool alone = plot->choice.count == 1;
    for (size_t i = 0; i < plot->profile->answers.count; i++) {
        const bj_answer *answer = &plot->profile->answers.items[i];
        if (!bj_data_has_value(answer) || answer->structured != NULL || !is_cited(plot, answer))
            continue;
        double x = bj_report_place(&plot->x, answer->value), y = bj_report_place(&plot->y, answer->value);
        if (is_on(answer->unit, curve->x_unit) && x >= 0 && x <= 1) {
            if (plot->on_x_count < MARKS_MOST && is_new(plot->on_x, plot->on_x_count, answer))
                plot->on_x[plot->on_x_count++] = answer;
        } else if (alone && is_height(answer, curve) && y >= -NEAR && y <= 1 + NEAR && plot->on_y_count < MARKS_MOST) {
            plot->on_y[plot->on_y_count++] = answer;
        }
    }
    if (plot->on_y_count > Y_ANSWERS_MOST) /* they would only hide each other */
        plot->on_y_count = 0;
}

static const char *mark_doubt(const bj_answer *answer) {
    return answer->status == BJ_ANSWER_UNSTABLE ? "!" : answer->confidence == BJ_CONFIDENCE_LOW ? "?" : "";
}

/* The part of a key that tells it from its neighbours, without its unit: "L1", "line", "memory". */
static void name_answer(const char *key, char *name, size_t room) {
    static const char *const units[] = {"_bytes", "_ns", "_ms", "_gbs"};
    const char *level = strstr(key, ".L"), *part = key + measure_prefix(key);
    part += *part == '.';
    if (level != NULL) {
        part = level + 1;
    } else if (strncmp(part, "latency", 7) == 0 && part - key > 1) { /* of what? */
        for (part--; part > key && part[-1] != '.';)
            part--;
    }
    size_t length = strcspn(part, ".");
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t unit = strlen(units[i]);
        if (length > unit && strncmp(part + length - unit, units[i], unit) == 0)
            length -= unit;
    }
    snprintf(name, room, "%.*s", (int)length, part);
}

/* "L1 32 KiB", "line 64 B", "memory 142 ns?". */
static void label_answer(const bj_answer *answer, char *text, size_t room) {
    char quantity[48], name[64];
    name_answer(answer->key, name, sizeof name);
    bj_report_format_quantity(answer->value, answer->unit, quantity);
    snprintf(text, room, "%s %s%s", name, quantity, mark_doubt(answer));
}

static void scatter(plot *plot, const bj_curve *curve) {
    for (size_t r = 0; r < curve->round_count; r++)
        for (size_t i = 0; i < curve->x_count; i++) {
            double x = bj_report_place(&plot->x, curve->x[i]), y = bj_report_place(&plot->y, curve->rounds[r][i]);
            if (isfinite(curve->rounds[r][i]))
                bj_report_draw_line(&plot->canvas, x, y, x, y);
        }
}

static void draw(plot *plot) {
    bool alone = plot->choice.count == 1;
    for (size_t i = 0; i < plot->on_x_count; i++)
        bj_report_draw_guide(&plot->canvas, bj_report_place(&plot->x, plot->on_x[i]->value));
    for (size_t s = plot->choice.count; s-- > 0;) { /* the first one on top */
        const bj_plot_series *series = &plot->choice.items[s];
        if (alone && series->scatters) {
            scatter(plot, series->curve);
            continue;
        }
        for (size_t i = 0; i < series->count; i++) {
            double x = bj_report_place(&plot->x, series->x[i]), y = bj_report_place(&plot->y, series->y[i]);
            if (!alone)
                bj_report_draw_mark(&plot->canvas, x, y, (unsigned char)(s + 1));
            else if (i > 0)
                bj_report_draw_line(&plot->canvas, bj_report_place(&plot->x, series->x[i - 1]),
                                    bj_report_place(&plot->y, series->y[i - 1]), x, y);
        }
    }
}

static void print_title(const plot *plot) {
    const bj_curve *curve = plot->choice.items[0].curve;
    bool alone = plot->choice.count == 1;
    char text[400];
    snprintf(text, sizeof text, "%s: %s (%s) by %s (%s), %s of %zu round%s%s", alone ? curve->id : curve->probe,
             curve->y_name, curve->y_unit, curve->x_name, curve->x_unit,
             alone && plot->choice.items[0].scatters ? "all samples" : "median", curve->round_count,
             curve->round_count == 1 ? "" : "s",
             plot->x.logarithmic && plot->y.logarithmic ? ", logarithmic"
             : plot->x.logarithmic                      ? ", x logarithmic"
             : plot->y.logarithmic                      ? ", y logarithmic"
                                                        : "");
    bj_report_print_wrapped(plot->out, plot->style, BJ_INK_STRONG, text, 2, 0);
    for (size_t s = 0; plot->choice.count > 1 && s < plot->choice.count; s++) {
        bj_plot_canvas one = {
            1, 1, false, (unsigned char[]){0}, (unsigned char[]){(unsigned char)(s + 1)}, (bool[]){false}};
        char mark[4];
        bj_report_read_cell(&one, 0, 0, plot->style->utf8, mark);
        fprintf(plot->out, "%s%s ", s > 0 ? "   " : "  ", mark);
        bj_report_print_text(plot->out, plot->style, BJ_INK_PLAIN, plot->choice.items[s].curve->id, 0);
    }
    if (plot->choice.count > 1)
        putc('\n', plot->out);
}

/* Writes `text` into a line of blanks around `column`, if there is room with a blank on either side. */
static bool put_label(char *line, size_t width, size_t column, const char *text) {
    size_t length = strlen(text);
    if (length + 1 > width)
        return false;
    size_t begin = column > length / 2 ? column - length / 2 : 0;
    begin = begin + length > width ? width - length : begin;
    size_t from = begin > 0 ? begin - 1 : 0, to = begin + length < width ? begin + length + 1 : width;
    for (size_t i = from; i < to; i++)
        if (line[i] != ' ')
            return false;
    for (size_t i = 0; i < length; i++) /* the line goes on behind it */
        line[begin + i] = text[i];
    return true;
}

static void print_line(const plot *plot, bj_ink ink, char *line) {
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
    fprintf(plot->out, "%*s", length > 0 ? Y_WIDTH + 1 : 0, "");
    bj_report_print_text(plot->out, plot->style, ink, line, 0);
    putc('\n', plot->out);
}

static void print_labels(const plot *plot) {
    char lines[LABEL_ROWS][LINE_ROOM], text[128];
    size_t width = plot->canvas.width, used = 0;
    for (size_t r = 0; r < LABEL_ROWS; r++) {
        memset(lines[r], ' ', width);
        lines[r][width] = '\0';
    }
    for (size_t i = 0; i < plot->on_x_count; i++) {
        size_t column = bj_report_find_column(&plot->canvas, bj_report_place(&plot->x, plot->on_x[i]->value));
        label_answer(plot->on_x[i], text, sizeof text);
        for (size_t r = 0; r < LABEL_ROWS; r++)
            if (put_label(lines[LABEL_ROWS - 1 - r], width, column, text)) {
                used = r + 1 > used ? r + 1 : used;
                break;
            }
    }
    for (size_t r = LABEL_ROWS - used; r < LABEL_ROWS; r++)
        print_line(plot, BJ_INK_STRONG, lines[r]);
}

/* What stands left of a row: its tick, if it has one; and right of it: the first answer there. */
static void print_row(const plot *plot, size_t row, const double *ticks, size_t tick_count) {
    char tick[48] = "", cell[4], text[128];
    for (size_t i = 0; i < tick_count; i++)
        if (bj_report_find_row(&plot->canvas, bj_report_place(&plot->y, ticks[i])) == row)
            bj_report_format_quantity(ticks[i], "", tick);
    fprintf(plot->out, "%*.*s%s", Y_WIDTH, Y_WIDTH, tick, plot->style->utf8 ? "\xe2\x94\x82" : "|");
    size_t end = plot->canvas.width;
    bool has_answer = false;
    for (size_t i = 0; i < plot->on_y_count && !has_answer; i++)
        if (bj_report_find_row(&plot->canvas, bj_report_place(&plot->y, plot->on_y[i]->value)) == row) {
            label_answer(plot->on_y[i], text, sizeof text);
            has_answer = true;
        }
    for (bool blank = true; blank && end > 0 && !has_answer; end -= blank) {
        bj_report_read_cell(&plot->canvas, row, end - 1, false, cell);
        blank = cell[0] == ' ';
    }
    for (size_t column = 0; column < end; column++) {
        bj_report_read_cell(&plot->canvas, row, column, plot->style->utf8, cell);
        fputs(cell, plot->out);
    }
    if (has_answer) {
        char shown[RIGHT_WIDTH];
        snprintf(shown, sizeof shown, "- %.*s", RIGHT_WIDTH - 3, text);
        bj_report_print_text(plot->out, plot->style, BJ_INK_STRONG, shown, 0);
    }
    putc('\n', plot->out);
}

static void print_x_axis(const plot *plot) {
    double ticks[BJ_PLOT_TICKS];
    char line[LINE_ROOM], text[48];
    size_t width = plot->canvas.width, count = bj_report_make_ticks(&plot->x, width / 9, ticks);
    bool taken[LINE_ROOM] = {false}, whole = strcmp(plot->choice.items[0].curve->x_unit, "count") == 0;
    memset(line, ' ', width);
    line[width] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t column = bj_report_find_column(&plot->canvas, bj_report_place(&plot->x, ticks[i]));
        if (whole && ticks[i] != floor(ticks[i]))
            continue;
        bj_report_format_quantity(ticks[i], plot->x.binary ? "bytes" : "", text);
        taken[column] = put_label(line, width, column, text);
    }
    fprintf(plot->out, "%*s%s", Y_WIDTH, "", plot->style->utf8 ? "\xe2\x94\x94" : "+");
    for (size_t column = 0; column < width; column++)
        fputs(plot->style->utf8 ? (taken[column] ? "\xe2\x94\xb4" : "\xe2\x94\x80")
              : taken[column]   ? "+"
                                : "-",
              plot->out);
    putc('\n', plot->out);
    print_line(plot, BJ_INK_FAINT, line);
}

static bool is_drawn(const plot *plot, const bj_answer *answer) {
    for (size_t i = 0; i < MARKS_MOST; i++)
        if ((i < plot->on_x_count && plot->on_x[i] == answer) || (i < plot->on_y_count && plot->on_y[i] == answer))
            return true;
    return false;
}

/* What was found in these curves beside what is drawn, and what the marks mean. */
static void print_answers(const plot *plot) {
    char text[1200] = "", quantity[48];
    size_t used = 0;
    bool doubts = false;
    for (size_t i = 0; i < plot->profile->answers.count && used + 160 < sizeof text; i++) {
        const bj_answer *answer = &plot->profile->answers.items[i];
        if (!bj_data_has_value(answer) || answer->structured != NULL || !is_cited(plot, answer))
            continue;
        doubts = doubts || mark_doubt(answer)[0] != '\0';
        if (is_drawn(plot, answer))
            continue;
        bj_report_format_quantity(answer->value, answer->unit, quantity);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s%s", used > 0 ? ", " : "", answer->key,
                                 quantity, mark_doubt(answer));
    }
    if (used > 0)
        bj_report_print_wrapped(plot->out, plot->style, BJ_INK_PLAIN, text, 0, 0);
    if (doubts)
        bj_report_print_wrapped(plot->out, plot->style, BJ_INK_FAINT, "? low confidence, ! unstable", 0, 0);
    if (plot->choice.left_out == 0)
        return;
    snprintf(text, sizeof text, "%zu more curve%s of %s: --plot takes the id of one, too", plot->choice.left_out,
             plot->choice.left_out == 1 ? "" : "s", plot->choice.items[0].curve->probe);
    bj_report_print_wrapped(plot->out, plot->style, BJ_INK_FAINT, text, 0, 0);
}

static void print(const plot *plot) {
    double ticks[BJ_PLOT_TICKS];
    size_t count = bj_report_make_ticks(&plot->y, HEIGHT / 2, ticks);
    print_title(plot);
    print_labels(plot);
    for (size_t row = 0; row < HEIGHT; row++)
        print_row(plot, row, ticks, count);
    print_x_axis(plot);
    print_answers(plot);
}

bj_status bj_report_plot(FILE *out, const bj_profile *profile, const char *what, const bj_terminal_style *style,
                         bj_error *error) {
    plot plot = {.out = out, .profile = profile, .style = style};
    double low, high;
    BJ_TRY(bj_report_choose_series(profile, what, &plot.choice, error));
    find_range(&plot, false, &low, &high);
    plot.x = bj_report_make_axis(low, high, strcmp(plot.choice.items[0].curve->x_unit, "bytes") == 0, LOG_RATIO_X);
    if (!plot.x.logarithmic) { /* x are where something was measured: no room beyond them */
        plot.x.low = low;
        plot.x.high = high > low ? high : low + 1;
    }
    find_range(&plot, true, &low, &high);
    plot.y = bj_report_make_axis(low, high, false, LOG_RATIO_Y);
    find_marks(&plot);
    size_t width = bj_report_find_width(style), around = Y_WIDTH + 1 + (plot.on_y_count > 0 ? RIGHT_WIDTH : 1);
    width = width > around + 16 ? width - around : 16;
    width = width < LINE_ROOM ? width : LINE_ROOM - 1;
    bj_status status = bj_report_open_canvas(&plot.canvas, width, HEIGHT, style->utf8 && plot.choice.count == 1, error);
    if (status == BJ_OK) {
        draw(&plot);
        print(&plot);
        bj_report_close_canvas(&plot.canvas);
    }
    bj_report_free_series(&plot.choice);
    return status;
}
