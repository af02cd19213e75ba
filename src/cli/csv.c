#include "cli/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "data/number.h"

#define MAX_FIELD 64

typedef struct {
    const char *name;
    bool singles;
    bool matrix, matrices;
    size_t matrix_rows; /* so far */
    size_t widest;      /* fields of a row, whatever is in them */
    size_t line;        /* from 1 */
    bool seen_first;
    bj_csv_rows *rows;
    size_t room;
    bj_error *error;
} parser;

typedef struct {
    const char *start;
    size_t length;
} piece;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static piece trim(piece text) {
    while (text.length > 0 && is_blank(text.start[0])) {
        text.start++;
        text.length--;
    }
    while (text.length > 0 && is_blank(text.start[text.length - 1]))
        text.length--;
    return text;
}

/* The first field of *rest, which moves on behind its comma; spreadsheets may put it in quotes. */
static piece take_field(piece *rest) {
    const char *comma = memchr(rest->start, ',', rest->length);
    size_t length = comma != NULL ? (size_t)(comma - rest->start) : rest->length;
    piece field = trim((piece){rest->start, length});
    if (field.length >= 2 && field.start[0] == '"' && field.start[field.length - 1] == '"')
        field = trim((piece){field.start + 1, field.length - 2});
    size_t used = comma != NULL ? length + 1 : length;
    rest->start += used;
    rest->length -= used;
    return field;
}

static bool parse_field(piece field, double *value) {
    char text[MAX_FIELD];
    if (field.length >= sizeof text || memchr(field.start, '\0', field.length) != NULL)
        return false;
    memcpy(text, field.start, field.length);
    text[field.length] = '\0';
    return bj_base_parse_double(text, value);
}

static bool grow(double **values, size_t room) {
    double *grown = realloc(*values, room * sizeof **values);
    if (grown == NULL)
        return false;
    *values = grown;
    return true;
}

static bj_status add_row(parser *parser, double row, double x, double y) {
    bj_csv_rows *rows = parser->rows;
    if (rows->count == BJ_CSV_MAX_ROWS)
        return bj_base_set_error(parser->error, BJ_ERR_INPUT, "%.200s:%zu: expected at most %u rows", parser->name,
                                 parser->line, BJ_CSV_MAX_ROWS);
    if (rows->count == parser->room) {
        size_t room = parser->room == 0 ? 256 : parser->room * 2;
        if (!grow(&rows->x, room) || !grow(&rows->y, room) || (parser->matrix && !grow(&rows->row, room)))
            return bj_base_set_error(parser->error, BJ_ERR_RESOURCE, "no memory for %zu rows", room);
        parser->room = room;
    }
    if (parser->matrix)
        rows->row[rows->count] = row;
    rows->x[rows->count] = x;
    rows->y[rows->count++] = y;
    return BJ_OK;
}

static bool is_usable(double number) {
    return number >= BJ_LEAST_SAMPLE && number <= BJ_MOST_SAMPLE;
}

/* The line may hold anything, and be as long as the file. A tab is what many tools write for a comma: it is shown. */
static bj_status refuse_line(const parser *parser, const char *expected, piece line) {
    char shown[40];
    size_t length = 0;
    for (size_t i = 0; i < line.length && length + 2 < sizeof shown; i++) {
        char letter = line.start[i];
        if (letter == '\t')
            shown[length++] = '\\';
        shown[length++] = letter == '\t' ? 't' : (char)(letter >= ' ' && letter < 0x7f ? letter : '?');
    }
    shown[length] = '\0';
    return bj_base_set_error(parser->error, BJ_ERR_INPUT, "%.200s:%zu: expected %s, found '%s'", parser->name,
                             parser->line, expected, shown);
}

/* One row of a matrix. */
static bj_status take_cells(parser *parser, piece line) {
    piece rest = line;
    size_t column = 0, numbers = 0, others = 0;
    bool first = !parser->seen_first;
    parser->seen_first = true;
    for (bool more = true; more; column++) {
        double y = 0;
        const char *start = rest.start;
        piece field = take_field(&rest);
        more = rest.start > start && rest.start[-1] == ',';
        bool is_number = field.length > 0 && parse_field(field, &y);
        numbers += is_number;
        others += field.length > 0 && !is_number;
        if (is_number && (y < 0 || (y > 0 && !is_usable(y))))
            return refuse_line(parser, "numbers from 1e-30 to 1e30", line);
        if (column >= BJ_CSV_MATRIX_MAX || (parser->matrix_rows >= BJ_CSV_MATRIX_MAX && !parser->matrices))
            return refuse_line(parser, "a matrix of at most 1024 rows", line);
        if (y > 0)
            BJ_TRY(add_row(parser, (double)parser->matrix_rows, (double)column, y));
    }
    if (others > 0 && numbers == 0 && first)
        return BJ_OK; /* the header */
    if (others > 0)
        return refuse_line(parser, "a row of numbers", line);
    parser->matrix_rows++;
    parser->widest = column > parser->widest ? column : parser->widest;
    return BJ_OK;
}

static bj_status take_line(parser *parser, piece line) {
    const char *comment = memchr(line.start, '#', line.length);
    if (comment != NULL)
        line.length = (size_t)(comment - line.start);
    line = trim(line);
    if (line.length == 0)
        return BJ_OK;
    if (parser->matrix)
        return take_cells(parser, line);
    piece rest = line;
    double x = (double)parser->rows->count + 1, y = 0;
    bool x_here = parser->singles || parse_field(take_field(&rest), &x);
    bool y_here = parse_field(take_field(&rest), &y);
    bool is_header = !y_here && (parser->singles || !x_here);
    bool first = !parser->seen_first;
    parser->seen_first = true;
    if (is_header && first)
        return BJ_OK; /* the header */
    if (!x_here || !y_here)
        return refuse_line(parser, parser->singles ? "a number" : "two numbers with a comma between", line);
    if (!(x > 0) || !(y > 0))
        return refuse_line(parser, parser->singles ? "a positive number" : "two positive numbers", line);
    if (!is_usable(x) || !is_usable(y))
        return refuse_line(parser, "numbers from 1e-30 to 1e30", line);
    return add_row(parser, 0, x, y);
}

/* A lower triangle whose first row, which has nothing, was left out: all rows are one further down. */
static bj_status finish_matrix(const parser *parser) {
    bj_csv_rows *rows = parser->rows;
    size_t size = parser->matrix_rows;
    bool below = true, diagonal = false;
    for (size_t i = 0; i < rows->count; i++) {
        below = below && rows->x[i] <= rows->row[i];
        diagonal = diagonal || rows->x[i] == rows->row[i];
    }
    size += below && diagonal;
    for (size_t i = 0; i < rows->count; i++) {
        rows->row[i] += below && diagonal ? 1 : 0;
        if (rows->x[i] >= (double)size)
            return bj_base_set_error(parser->error, BJ_ERR_INPUT,
                                     "%.200s: expected a square matrix, found column %.0f of %zu rows", parser->name,
                                     rows->x[i] + 1, size);
    }
    return BJ_OK;
}

/* As many columns as rows, or a part of them. A row may end in a comma that stands for nothing. */
static bj_status finish_matrices(const parser *parser) {
    bj_csv_rows *rows = parser->rows;
    rows->columns = parser->widest;
    if (parser->matrix_rows % rows->columns != 0)
        rows->columns = 0;
    for (size_t i = 0; i < rows->count; i++)
        rows->columns = rows->x[i] + 1 > (double)rows->columns ? (size_t)rows->x[i] + 1 : rows->columns;
    if (parser->matrix_rows % rows->columns == 0)
        return BJ_OK;
    return bj_base_set_error(parser->error, BJ_ERR_INPUT,
                             "%.200s: expected square matrices below each other, found %zu rows of %zu columns",
                             parser->name, parser->matrix_rows, rows->columns);
}

bj_status bj_cli_parse_csv(const char *name, const char *text, size_t length, bj_csv_kind kind, bj_csv_rows *rows,
                           bj_error *error) {
    *rows = (bj_csv_rows){0};
    parser parser = {.name = name,
                     .singles = kind == BJ_CSV_SINGLES,
                     .matrix = kind == BJ_CSV_MATRIX || kind == BJ_CSV_MATRICES,
                     .matrices = kind == BJ_CSV_MATRICES,
                     .rows = rows,
                     .error = error};
    const char *end = text + length;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    bj_status status = BJ_OK;
    while (text < end && status == BJ_OK) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t line_length = (size_t)((newline != NULL ? newline : end) - text);
        parser.line++;
        status = take_line(&parser, (piece){text, line_length});
        text += line_length + 1;
    }
    if (status == BJ_OK && rows->count == 0)
        status = bj_base_set_error(error, BJ_ERR_INPUT, "%.200s:%zu: expected rows of %s, found none", name,
                                   parser.line > 0 ? parser.line : 1,
                                   parser.singles  ? "one number"
                                   : parser.matrix ? "a matrix"
                                                   : "two numbers");
    if (status == BJ_OK && parser.matrix)
        status = parser.matrices ? finish_matrices(&parser) : finish_matrix(&parser);
    if (status != BJ_OK)
        bj_cli_free_csv(rows);
    return status;
}

bj_status bj_cli_read_csv(const char *path, bj_csv_kind kind, bj_csv_rows *rows, bj_error *error) {
    char *text = NULL;
    size_t length = 0;
    bool standard_input = strcmp(path, "-") == 0;
    *rows = (bj_csv_rows){0};
    bj_status status = bj_base_read_file(standard_input ? "/dev/stdin" : path, BJ_CSV_MAX_BYTES, &text, &length, error);
    if (status == BJ_OK)
        status = bj_cli_parse_csv(standard_input ? "standard input" : path, text, length, kind, rows, error);
    free(text);
    return status;
}

void bj_cli_free_csv(bj_csv_rows *rows) {
    free(rows->x);
    free(rows->y);
    free(rows->row);
    *rows = (bj_csv_rows){0};
}
