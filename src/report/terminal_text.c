#include "report/terminal_text.h"

#include <string.h>

#include "base/text.h"
#include "data/number.h"

static const char *const ink_codes[] = {
    [BJ_INK_PLAIN] = "",       [BJ_INK_STRONG] = "\x1b[1m", [BJ_INK_GOOD] = "\x1b[32m", [BJ_INK_DOUBTFUL] = "\x1b[33m",
    [BJ_INK_BAD] = "\x1b[31m", [BJ_INK_FAINT] = "\x1b[2m",
};

/* However narrow the terminal is, so many columns are written to. */
enum { LEAST_TEXT = 16 };

static bool is_continuation(unsigned char byte) {
    return (byte & 0xc0) == 0x80;
}

/* Writes `length` bytes and returns how many columns they take. */
static size_t put_safely(FILE *out, const bj_terminal_style *style, const char *text, size_t length) {
    size_t columns = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        columns += !is_continuation(byte);
        /* 0xc2 0x80–0x9f are control characters too, and what turns the direction is as bad. */
        bool control = byte < ' ' || byte == 0x7f || (byte == 0xc2 && (unsigned char)text[i + 1] < 0xa0) ||
                       bj_base_measure_bidi((const unsigned char *)text + i) > 0;
        if (control || (byte >= 0x80 && !style->utf8)) {
            if (!is_continuation(byte))
                putc('?', out);
            while (control && i + 1 < length && is_continuation((unsigned char)text[i + 1]))
                i++;
        } else {
            putc(byte, out);
        }
    }
    return columns;
}

static void begin_ink(FILE *out, const bj_terminal_style *style, bj_ink ink) {
    if (style->colour)
        fputs(ink_codes[ink], out);
}

static void end_ink(FILE *out, const bj_terminal_style *style, bj_ink ink) {
    if (style->colour && ink != BJ_INK_PLAIN)
        fputs("\x1b[0m", out);
}

void bj_report_print_text(FILE *out, const bj_terminal_style *style, bj_ink ink, const char *text, size_t width) {
    begin_ink(out, style, ink);
    size_t columns = put_safely(out, style, text, strlen(text));
    end_ink(out, style, ink);
    for (; columns < width; columns++)
        putc(' ', out);
}

static size_t count_columns(const char *text, size_t length) {
    size_t columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += !is_continuation((unsigned char)text[i]);
    return columns;
}

size_t bj_report_count_columns(const char *text) {
    return count_columns(text, strlen(text));
}

size_t bj_report_find_width(const bj_terminal_style *style) {
    return style->columns > 0 ? style->columns : BJ_TERMINAL_COLUMNS;
}

void bj_report_print_wrapped(FILE *out, const bj_terminal_style *style, bj_ink ink, const char *text, size_t indent,
                             size_t column) {
    begin_ink(out, style, ink);
    bool fresh = true; /* nothing of ours on this line yet */
    size_t last = bj_report_find_width(style), least = indent + LEAST_TEXT;
    last = last > least ? last : least;
    while (*(text += strspn(text, " ")) != '\0') {
        size_t length = strcspn(text, " ");
        size_t columns = count_columns(text, length);
        if (column + !fresh + columns > last && column > indent) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        /* A word longer than a line is broken. */
        while (column + !fresh + columns > last && length > 1) {
            length--;
            while (length > 1 && is_continuation((unsigned char)text[length]))
                length--;
            columns = count_columns(text, length);
        }
        if (!fresh)
            putc(' ', out);
        column += !fresh + put_safely(out, style, text, length);
        fresh = false;
        text += length;
    }
    end_ink(out, style, ink);
    putc('\n', out);
}

bj_ink bj_report_choose_ink(bj_confidence confidence) {
    return confidence == BJ_CONFIDENCE_HIGH     ? BJ_INK_GOOD
           : confidence == BJ_CONFIDENCE_MEDIUM ? BJ_INK_PLAIN
                                                : BJ_INK_DOUBTFUL;
}

void bj_report_format_quantity(double value, const char *unit, char *text) {
    if (strcmp(unit, "bytes") == 0) {
        bj_base_format_bytes(value, text, 48);
        return;
    }
    char number[BJ_NUMBER_ROOM];
    bj_data_format_number(bj_data_round_number(value, 3), number);
    bool bare = unit[0] == '\0' || strcmp(unit, "count") == 0;
    snprintf(text, 48, "%.30s%s%.15s", number, bare ? "" : " ", bare ? "" : unit);
}

void bj_report_format_range(const double range[2], const char *unit, const char *between, char *text, size_t room) {
    char low[48], high[48];
    bj_report_format_quantity(range[0], unit, low);
    bj_report_format_quantity(range[1], unit, high);
    if (strcmp(low, high) == 0) {
        snprintf(text, room, "%s", low);
        return;
    }
    const char *unit_of_low = strchr(low, ' '), *unit_of_high = strchr(high, ' ');
    bool once = unit_of_low != NULL && unit_of_high != NULL && strcmp(unit_of_low, unit_of_high) == 0;
    int length = once ? (int)(unit_of_low - low) : (int)strlen(low);
    snprintf(text, room, "%.*s%s%s", length, low, between, high);
}

void bj_report_format_interval(const bj_answer *answer, char *text, size_t room) {
    text[0] = '\0';
    if (answer->has_interval)
        bj_report_format_range(answer->interval, strcmp(answer->unit, "bytes") == 0 ? "bytes" : "", "..", text, room);
}
