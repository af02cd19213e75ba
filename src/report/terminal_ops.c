#include "report/terminal_ops.h"

#include <string.h>

#include "report/terminal_text.h"

enum { INDENT = 2, NAME_WIDTH = 34, NUMBER_WIDTH = 15, REASON_INDENT = 36 };

static const struct {
    const char *ending, *title;
} columns[] = {{"latency", "latency"}, {"throughput", "throughput"}, {"in_flight", "in flight"}};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

/* Bytes of "op.int32.add."; 0: no operation. */
static size_t measure_prefix(const char *key) {
    const char *last = strrchr(key, '.');
    unsigned points = 0;
    for (const char *p = key; *p != '\0'; p++)
        points += *p == '.';
    if (strncmp(key, "op.", 3) != 0 || points != 3 || last == NULL)
        return 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if (strcmp(last + 1, columns[i].ending) == 0)
            return (size_t)(last + 1 - key);
    return 0;
}

bool bj_report_is_operation(const char *key) {
    return measure_prefix(key) > 0;
}

static bool has_value(const bj_answer *answer) {
    return answer != NULL && bj_data_has_value(answer) && answer->structured == NULL;
}

static void print_head(FILE *out, const bj_terminal_style *style) {
    fprintf(out, "%*s", INDENT, "");
    bj_report_print_text(out, style, BJ_INK_FAINT, "relative to a 32-bit addition", NAME_WIDTH);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        bj_report_print_text(out, style, BJ_INK_FAINT, columns[i].title, NUMBER_WIDTH);
    bj_report_print_text(out, style, BJ_INK_FAINT, "certain", 0);
    putc('\n', out);
}

static void print_line(FILE *out, const bj_profile *profile, const bj_terminal_style *style, const char *key,
                       size_t prefix) {
    const bj_answer *row[COLUMN_COUNT], *trouble = NULL;
    bj_confidence least = BJ_CONFIDENCE_HIGH;
    bool any = false;
    char name[64], text[48];
    snprintf(name, sizeof name, "%.*s", (int)(prefix - 1), key);
    fprintf(out, "%*s", INDENT, "");
    bj_report_print_text(out, style, BJ_INK_PLAIN, name, NAME_WIDTH);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        snprintf(name, sizeof name, "%.*s%s", (int)prefix, key, columns[i].ending);
        row[i] = bj_data_find_answer(&profile->answers, name);
        if (has_value(row[i])) {
            any = true;
            least = row[i]->confidence < least ? row[i]->confidence : least;
            bj_report_format_quantity(row[i]->value, "", text);
        }
        bj_report_print_text(out, style, BJ_INK_STRONG, has_value(row[i]) ? text : "-", NUMBER_WIDTH);
        if (trouble == NULL && row[i] != NULL && row[i]->status != BJ_ANSWER_OK)
            trouble = row[i];
    }
    bj_report_print_text(out, style, bj_report_choose_ink(least),
                         any && least != BJ_CONFIDENCE_NONE ? bj_data_name_confidence(least) : "", 0);
    putc('\n', out);
    if (trouble != NULL) {
        fprintf(out, "%*s", REASON_INDENT, "");
        bj_report_print_reason(out, style, trouble, REASON_INDENT);
    }
}

void bj_report_print_operation(FILE *out, const bj_profile *profile, const bj_terminal_style *style, size_t answer) {
    const char *key = profile->answers.items[answer].key;
    size_t prefix = measure_prefix(key);
    bool is_first = true;
    for (size_t i = 0; i < answer; i++) {
        const char *other = profile->answers.items[i].key;
        size_t length = measure_prefix(other);
        if (length == prefix && strncmp(key, other, prefix) == 0)
            return;
        is_first = is_first && length == 0;
    }
    if (is_first)
        print_head(out, style);
    print_line(out, profile, style, key, prefix);
}
