#include "report/compare_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/number.h"
#include "profile/json_text.h"
#include "report/cpu_text.h"
#include "report/terminal_text.h"

enum { INDENT = 2, KEY_WIDTH = 26 };

static bool is_same_unit(const char *end, const char *value) {
    const char *unit = strchr(end, ' '), *other = strchr(value, ' ');
    return unit != NULL && other != NULL && strcmp(unit, other) == 0;
}

/* " (505 .. 520)"; with units where they are not all the value's. */
static void format_interval(char *low, char *high, const char *value, char *text, size_t room) {
    if (is_same_unit(low, value) && is_same_unit(high, value))
        *strchr(low, ' ') = *strchr(high, ' ') = '\0';
    snprintf(text, room, " (%s .. %s)", low, high);
}

/* "512 KiB (505 .. 520), medium"; most are high, which is left out. */
static void format_side(const bj_answer *answer, char *text, size_t room) {
    char value[48], low[48], high[48], interval[120] = "";
    if (answer == NULL) {
        snprintf(text, room, "nothing");
        return;
    }
    if (!bj_data_has_value(answer)) {
        snprintf(text, room, "%s (%s)", bj_data_name_status(answer->status), answer->reason);
        return;
    }
    if (answer->structured != NULL) {
        if (!bj_report_describe(answer, text, room))
            snprintf(text, room, "%.200s", answer->structured);
        return;
    }
    bj_report_format_quantity(answer->value, answer->unit, value);
    if (answer->has_interval) {
        bj_report_format_quantity(answer->interval[0], answer->unit, low);
        bj_report_format_quantity(answer->interval[1], answer->unit, high);
        if (strcmp(low, high) != 0)
            format_interval(low, high, value, interval, sizeof interval);
    }
    bool told = answer->confidence == BJ_CONFIDENCE_LOW || answer->confidence == BJ_CONFIDENCE_MEDIUM;
    snprintf(text, room, "%s%s%s%s%s", value, interval, answer->status == BJ_ANSWER_UNSTABLE ? ", unstable" : "",
             told ? ", " : "", told ? bj_data_name_confidence(answer->confidence) : "");
}

static void format_difference(const bj_difference *difference, char *text, size_t room) {
    char a[320], b[320], factor[48];
    format_side(difference->a, a, sizeof a);
    format_side(difference->b, b, sizeof b);
    if (difference->kind == BJ_DIFFERENCE_LEVEL_GONE) {
        snprintf(text, room, "this level is gone; it had %s", a);
    } else if (difference->kind == BJ_DIFFERENCE_LEVEL_NEW) {
        snprintf(text, room, "this level is new; it has %s", b);
    } else {
        bj_data_format_number(bj_data_round_number(difference->ratio, 3), factor);
        bool renamed = difference->b != NULL && strcmp(difference->b->key, difference->key) != 0;
        snprintf(text, room, "%s, then %s%s%s%s%s", a, renamed ? difference->b->key : "", renamed ? " " : "", b,
                 isfinite(difference->ratio) ? ": x " : "", isfinite(difference->ratio) ? factor : "");
    }
}

/* One side answers, and the machine of the other does not support it. */
static bool is_unsupported(const bj_difference *difference) {
    return difference->kind == BJ_DIFFERENCE_STATUS && difference->certain;
}

static bool is_unsupported_by_a(const bj_difference *difference) {
    return is_unsupported(difference) && !bj_data_has_value(difference->a);
}

static bool is_unsupported_by_b(const bj_difference *difference) {
    return is_unsupported(difference) && !bj_data_has_value(difference->b);
}

static bool follows_clock(const bj_difference *difference) {
    return difference->follows_clock;
}

/* Differences of one cause: by name alone, since the cause says the rest. */
static void print_list(FILE *out, const bj_comparison *comparison, const char *cause,
                       bool (*belongs)(const bj_difference *), const bj_terminal_style *style) {
    size_t count = 0, length;
    for (size_t i = 0; i < comparison->count; i++)
        count += belongs(&comparison->items[i]);
    char *text = count > 0 ? malloc(count * (sizeof comparison->items->key + 2) + strlen(cause) + 32) : NULL;
    if (text == NULL) {
        if (count > 0)
            bj_base_note_no_memory();
        return;
    }
    length = (size_t)sprintf(text, "%s, %zu values:", cause, count);
    for (size_t i = 0; i < comparison->count; i++)
        if (belongs(&comparison->items[i]))
            length += (size_t)sprintf(text + length, " %s%s", comparison->items[i].key, --count > 0 ? "," : "");
    fprintf(out, "%*s", INDENT, "");
    bj_report_print_wrapped(out, style, BJ_INK_PLAIN, text, (size_t)2 * INDENT, INDENT);
    free(text);
}

static void print_part(FILE *out, const bj_comparison *comparison, bool certain, bj_ink ink,
                       const bj_terminal_style *style) {
    for (size_t i = 0; i < comparison->count; i++) {
        const bj_difference *difference = &comparison->items[i];
        char text[800];
        if (difference->certain != certain || difference->follows_clock || is_unsupported(difference))
            continue;
        format_difference(difference, text, sizeof text);
        fprintf(out, "%*s", INDENT, "");
        size_t width = strlen(difference->key) + 2 > KEY_WIDTH ? strlen(difference->key) + 2 : KEY_WIDTH;
        bj_report_print_text(out, style, ink, difference->key, width);
        bj_report_print_wrapped(out, style, BJ_INK_PLAIN, text, INDENT + KEY_WIDTH, INDENT + width);
    }
}

/* "different: 13 of 20 values; 1 level; 27 unsupported by one" */
static void format_verdict(const bj_comparison *comparison, char *line, size_t room) {
    size_t values = 0, statuses = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        values += comparison->items[i].certain && comparison->items[i].kind == BJ_DIFFERENCE_VALUE;
        statuses += is_unsupported(&comparison->items[i]);
    }
    size_t levels = comparison->certain_count - values - statuses;
    int length = snprintf(line, room, "different: %zu of %zu values", values, comparison->compared);
    if (levels > 0)
        length += snprintf(line + length, room - (size_t)length, "; %zu level%s", levels, levels > 1 ? "s" : "");
    if (statuses > 0)
        snprintf(line + length, room - (size_t)length, "; %zu unsupported by one", statuses);
}

static void print_verdict(FILE *out, const bj_comparison *comparison, const bj_terminal_style *style) {
    char line[240];
    if (comparison->other_machine) {
        snprintf(line, sizeof line, "these are different machines: %s", comparison->summary);
        bj_report_print_wrapped(out, style, BJ_INK_STRONG, line, INDENT, 0);
    }
    if (comparison->certain_count == 0)
        snprintf(line, sizeof line, "same: no difference beyond run-to-run noise (%zu values)", comparison->compared);
    else
        format_verdict(comparison, line, sizeof line);
    bj_report_print_wrapped(out, style, BJ_INK_STRONG, line, INDENT, 0);
    if (comparison->a.profile_count > 1 || comparison->b.profile_count > 1)
        fprintf(out, "medians of %zu and %zu profiles\n", comparison->a.profile_count, comparison->b.profile_count);
}

void bj_report_print_comparison(FILE *out, const bj_comparison *comparison, const bj_terminal_style *style) {
    print_verdict(out, comparison, style);
    print_part(out, comparison, true, BJ_INK_BAD, style);
    print_list(out, comparison, "as the clock", follows_clock, style);
    print_list(out, comparison, "unsupported by the first alone", is_unsupported_by_a, style);
    print_list(out, comparison, "unsupported by the second alone", is_unsupported_by_b, style);
    if (comparison->count > comparison->certain_count) {
        fputs("\nperhaps different, but not sure enough to count:\n", out);
        print_part(out, comparison, false, BJ_INK_DOUBTFUL, style);
    }
    if (comparison->notes.count > 0)
        fputs("\nnotes, first and second profile:\n", out);
    for (size_t i = 0; i < comparison->notes.count; i++) {
        fprintf(out, "%*s", INDENT, "");
        bj_report_print_wrapped(out, style, BJ_INK_PLAIN, comparison->notes.items[i], INDENT + 2, INDENT);
    }
}

static void append_side(bj_json_text *json, const char *name, const bj_answer *answer) {
    bj_json_append_key(json, name);
    if (answer == NULL) {
        bj_json_append(json, "null");
        return;
    }
    bj_json_append(json, "{");
    bj_json_append_text_member(json, "key", answer->key);
    bj_json_append_key(json, "value");
    if (!bj_data_has_value(answer))
        bj_json_append(json, "null");
    else if (answer->structured != NULL)
        bj_json_append(json, answer->structured);
    else
        bj_json_append_number(json, answer->value);
    bj_json_append_text_member(json, "unit", answer->unit);
    if (answer->has_interval && bj_data_has_value(answer) && answer->structured == NULL) {
        bj_json_append_key(json, "interval");
        bj_json_append_numbers(json, answer->interval, 2);
    }
    bj_json_append_text_member(json, "status", bj_data_name_status(answer->status));
    if (answer->confidence != BJ_CONFIDENCE_NONE)
        bj_json_append_text_member(json, "confidence", bj_data_name_confidence(answer->confidence));
    bj_json_append(json, "}");
}

static void append_part(bj_json_text *json, const char *name, const bj_comparison *comparison, bool certain) {
    static const char *const kinds[] = {
        [BJ_DIFFERENCE_VALUE] = "value",
        [BJ_DIFFERENCE_STATUS] = "status",
        [BJ_DIFFERENCE_LEVEL_GONE] = "level_gone",
        [BJ_DIFFERENCE_LEVEL_NEW] = "level_new",
    };
    bool first = true;
    bj_json_append(json, ",\n  ");
    bj_json_append_string(json, name);
    bj_json_append(json, ": [");
    for (size_t i = 0; i < comparison->count; i++) {
        const bj_difference *difference = &comparison->items[i];
        if (difference->certain != certain)
            continue;
        bj_json_append(json, first ? "\n    {" : ",\n    {");
        first = false;
        bj_json_append_text_member(json, "key", difference->key);
        bj_json_append_text_member(json, "kind", kinds[difference->kind]);
        if (isfinite(difference->ratio))
            bj_json_append_number_member(json, "ratio", bj_data_round_number(difference->ratio, BJ_ANSWER_DIGITS));
        if (isfinite(difference->p))
            bj_json_append_number_member(json, "p", bj_data_round_number(difference->p, 3));
        if (difference->follows_clock)
            bj_json_append_text_member(json, "follows", "cpu.clock_ghz");
        append_side(json, "a", difference->a);
        append_side(json, "b", difference->b);
        bj_json_append(json, "}");
    }
    bj_json_append(json, first ? "]" : "\n  ]");
}

bj_status bj_report_comparison_to_json(const bj_comparison *comparison, char **text, bj_error *error) {
    bj_json_text json = {0};
    bj_json_append(&json, "{\n  \"verdict\": ");
    bj_json_append_string(&json, comparison->certain_count == 0 ? "same" : "different");
    bj_json_append(&json, ",\n  \"compared\": ");
    bj_json_append_u64(&json, comparison->compared);
    bj_json_append(&json, ",\n  \"profiles\": [");
    bj_json_append_u64(&json, comparison->a.profile_count);
    bj_json_append(&json, ", ");
    bj_json_append_u64(&json, comparison->b.profile_count);
    bj_json_append(&json,
                   comparison->other_machine ? "],\n  \"other_machine\": true" : "],\n  \"other_machine\": false");
    append_part(&json, "differences", comparison, true);
    append_part(&json, "doubtful", comparison, false);
    bj_json_append(&json, ",\n  \"notes\": [");
    for (size_t i = 0; i < comparison->notes.count; i++) {
        bj_json_append(&json, i == 0 ? "\n    " : ",\n    ");
        bj_json_append_string(&json, comparison->notes.items[i]);
    }
    bj_json_append(&json, comparison->notes.count > 0 ? "\n  ]\n}\n" : "]\n}\n");
    return bj_json_finish(&json, text, NULL, error);
}
