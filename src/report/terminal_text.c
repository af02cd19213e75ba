#include "report/terminal_text.h"

#include <string.h>

#include "base/text.h"
#include "data/number.h"

static const char *const ink_codes[] = {
    [BJ_INK_PLAIN] = "",       [BJ_INK_STRONG] = "\x1b[1m", [BJ_INK_GOOD] = "\x1b[32m", [BJ_INK_DOUBTFUL] = "\x1b[33m",
    [BJ_INK_BAD] = "\x1b[31m", [BJ_INK_FAINT] = "\x1b[2m",
};

static bool is_continuation(unsigned char byte) {
    return (byte & 0xc0) == 0x80;
}

/* Writes `length` bytes and returns how many columns they take. */
static size_t put_safely(FILE *out, const bj_terminal_style *style, const char *text, size_t length) {
    size_t columns = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        columns += !is_continuation(byte);
        /* 0xc2 0x80–0x9f are control characters too. */
        bool control = byte < ' ' || byte == 0x7f || (byte == 0xc2 && (unsigned char)text[i + 1] < 0xa0);
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

void bj_report_print_wrapped(FILE *out, const bj_terminal_style *style, bj_ink ink, const char *text, size_t indent,
                             size_t column) {
    begin_ink(out, style, ink);
    bool fresh = true; /* nothing of ours on this line yet */
    while (*(text += strspn(text, " ")) != '\0') {
        size_t length = strcspn(text, " ");
        size_t columns = count_columns(text, length);
        if (column + !fresh + columns > BJ_TERMINAL_COLUMNS && column > indent) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        /* A word longer than a line is broken. */
        while (columns > BJ_TERMINAL_COLUMNS - column - !fresh && length > 1) {
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

void bj_report_print_reason(FILE *out, const bj_terminal_style *style, const bj_answer *answer, size_t column) {
    char text[300];
    snprintf(text, sizeof text, "%s: %s", bj_data_name_status(answer->status), answer->reason);
    bj_report_print_wrapped(out, style, answer->status == BJ_ANSWER_FAILED ? BJ_INK_BAD : BJ_INK_DOUBTFUL, text, column,
                            column);
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

void bj_report_format_interval(const bj_answer *answer, char *text, size_t room) {
    char low[48], high[48];
    text[0] = '\0';
    if (!answer->has_interval)
        return;
    bool bytes = strcmp(answer->unit, "bytes") == 0;
    bj_report_format_quantity(answer->interval[0], bytes ? "bytes" : "", low);
    bj_report_format_quantity(answer->interval[1], bytes ? "bytes" : "", high);
    if (strcmp(low, high) == 0)
        snprintf(text, room, "%s", low);
    else
        snprintf(text, room, "%s .. %s", low, high);
}
