/* The page: what was measured where, then the answers of each probe in columns, then what the words mean. */
#include "report/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/terminal_ops.h"
#include "report/terminal_text.h"

/* Columns of the table; they add up to BJ_TERMINAL_COLUMNS. */
enum { INDENT = 2, KEY_WIDTH = 34, VALUE_WIDTH = 22, INTERVAL_WIDTH = 23, CONFIDENCE_WIDTH = 9, CLAIMED_WIDTH = 10 };

typedef struct {
    FILE *out;
    const bj_profile *profile;
    const bj_terminal_style *style;
} page;

/* "0-3, 8" */
static void format_cpus(const int *cpus, size_t count, char *text, size_t room) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used + 32 < room;) {
        size_t last = i;
        while (last + 1 < count && cpus[last + 1] == cpus[last] + 1)
            last++;
        used += (size_t)snprintf(text + used, room - used, last > i ? "%s%d-%d" : "%s%d", i > 0 ? ", " : "", cpus[i],
                                 cpus[last]);
        i = last + 1;
    }
}

static void format_measured(const bj_profile *profile, char *text, size_t room) {
    char cpus[120];
    format_cpus(profile->environment.cpus_allowed, profile->environment.cpus_allowed_count, cpus, sizeof cpus);
    snprintf(text, room, "measured %s on cpu %d (may use %s), machine %s, effort %s, seed %llu, blackjack %s",
             profile->created, profile->run.cpu_measured, cpus[0] != '\0' ? cpus : "unknown", profile->run.machine,
             profile->run.effort, (unsigned long long)profile->run.seed, profile->tool.version);
}

static void format_conditions(const bj_profile *profile, char *text, size_t room) {
    char memory[32], limit[32], steal[64], load[64], quota[64];
    int virtualised = profile->environment.virtualised;
    bj_base_format_bytes((double)profile->environment.memory_bytes, memory, sizeof memory);
    bj_base_format_bytes((double)profile->run.memory_limit_bytes, limit, sizeof limit);
    bj_report_format_quantity(profile->run.steal * 100, "%", steal);
    bj_report_format_quantity(profile->environment.load_before, "", load);
    bj_report_format_quantity(profile->run.cpu_quota, "cpus", quota);
    snprintf(text, room, "memory %s (usable %s), huge pages %s, %s, stolen time %s, load before %s, cpu quota %s",
             memory, limit, profile->environment.huge_pages[0] != '\0' ? profile->environment.huge_pages : "unknown",
             virtualised < 0    ? "virtualised or not: unknown"
             : virtualised != 0 ? "virtualised"
                                : "not virtualised",
             isnan(profile->run.steal) ? "unknown" : steal, isnan(profile->environment.load_before) ? "unknown" : load,
             isnan(profile->run.cpu_quota) ? "none" : quota);
}

static void print_indented(const page *page, const char *text) {
    fprintf(page->out, "%*s", INDENT, "");
    bj_report_print_wrapped(page->out, page->style, BJ_INK_PLAIN, text, INDENT, INDENT);
}

static void print_header(const page *page) {
    const bj_profile *profile = page->profile;
    char text[640];
    snprintf(text, sizeof text, "%s, %s",
             profile->environment.cpu[0] != '\0' ? profile->environment.cpu : "unknown cpu",
             profile->environment.os[0] != '\0' ? profile->environment.os : "unknown system");
    bj_report_print_wrapped(page->out, page->style, BJ_INK_STRONG, text, INDENT, 0);
    format_measured(profile, text, sizeof text);
    print_indented(page, text);
    format_conditions(profile, text, sizeof text);
    print_indented(page, text);
    for (size_t i = 0; i < profile->environment.warnings.count; i++) {
        fprintf(page->out, "%*s", INDENT, "");
        bj_report_print_text(page->out, page->style, BJ_INK_DOUBTFUL, "warning: ", 0);
        bj_report_print_wrapped(page->out, page->style, BJ_INK_DOUBTFUL, profile->environment.warnings.items[i],
                                INDENT + 9, INDENT + 9);
    }
}

/* Whether the profile says the same in cycles by itself. */
static bool has_counterpart_in_cycles(const bj_answers *answers, const char *key) {
    char counterpart[sizeof answers->items->key + 8];
    size_t length = strlen(key);
    if (length < 3 || strcmp(key + length - 3, "_ns") != 0)
        return false;
    snprintf(counterpart, sizeof counterpart, "%.*s_cycles", (int)(length - 3), key);
    return bj_data_find_answer(answers, counterpart) != NULL;
}

/* Times also in cycles of the measured clock: that is the number to compare between machines. */
static void format_value(const page *page, const bj_answer *answer, char *text, size_t room) {
    char quantity[48], cycles[48];
    double clock_ghz;
    const bj_answers *answers = &page->profile->answers;
    bj_report_format_quantity(answer->value, answer->unit, quantity);
    bool converts = strcmp(answer->unit, "ns") == 0 && !has_counterpart_in_cycles(answers, answer->key) &&
                    bj_data_get_number(answers, "cpu.clock_ghz", &clock_ghz);
    if (!converts) {
        snprintf(text, room, "%s", quantity);
        return;
    }
    bj_report_format_quantity(answer->value * clock_ghz, "cycles", cycles);
    snprintf(text, room, "%s = %s", quantity, cycles);
}

static void print_scalar(const page *page, const bj_answer *answer) {
    char value[128], interval[128], claimed[48] = "";
    format_value(page, answer, value, sizeof value);
    bj_report_format_interval(answer, interval, sizeof interval);
    if (answer->has_claimed)
        bj_report_format_quantity(answer->claimed, strcmp(answer->unit, "bytes") == 0 ? "bytes" : "", claimed);
    const char *confidence =
        answer->confidence != BJ_CONFIDENCE_NONE ? bj_data_name_confidence(answer->confidence) : "";
    bj_report_print_text(page->out, page->style, BJ_INK_STRONG, value, VALUE_WIDTH - 1);
    putc(' ', page->out);
    bj_report_print_text(page->out, page->style, BJ_INK_PLAIN, interval, INTERVAL_WIDTH - 1);
    putc(' ', page->out);
    bj_report_print_text(page->out, page->style, bj_report_choose_ink(answer->confidence), confidence,
                         claimed[0] != '\0' ? CONFIDENCE_WIDTH : 0);
    bj_report_print_text(page->out, page->style, BJ_INK_PLAIN, claimed, 0);
    putc('\n', page->out);
}

static void print_answer(const page *page, const bj_answer *answer) {
    size_t value_column = INDENT + KEY_WIDTH;
    fprintf(page->out, "%*s", INDENT, "");
    bj_report_print_text(page->out, page->style, BJ_INK_PLAIN, answer->key, KEY_WIDTH - 1);
    if (strlen(answer->key) >= KEY_WIDTH)
        fprintf(page->out, "\n%*s", (int)value_column, "");
    else
        putc(' ', page->out);
    if (bj_data_has_value(answer) && answer->structured != NULL)
        bj_report_print_wrapped(page->out, page->style, BJ_INK_PLAIN, answer->structured, value_column, value_column);
    else if (bj_data_has_value(answer))
        print_scalar(page, answer);
    if (answer->status == BJ_ANSWER_OK)
        return;
    if (bj_data_has_value(answer)) /* which took the line */
        fprintf(page->out, "%*s", (int)value_column, "");
    bj_report_print_reason(page->out, page->style, answer, value_column);
}

static void print_table_head(const page *page) {
    fprintf(page->out, "\n%*s", INDENT, "");
    bj_report_print_text(page->out, page->style, BJ_INK_FAINT, "what", KEY_WIDTH);
    bj_report_print_text(page->out, page->style, BJ_INK_FAINT, "value", VALUE_WIDTH);
    bj_report_print_text(page->out, page->style, BJ_INK_FAINT, "95% interval", INTERVAL_WIDTH);
    bj_report_print_text(page->out, page->style, BJ_INK_FAINT, "certain", CONFIDENCE_WIDTH);
    bj_report_print_text(page->out, page->style, BJ_INK_FAINT, "claimed", 0);
    putc('\n', page->out);
}

static void print_group(const page *page, const char *name) {
    const bj_probe_record *record = bj_profile_find_probe(page->profile, name);
    char text[320] = "";
    if (record != NULL && record->status != BJ_ANSWER_OK)
        snprintf(text, sizeof text, "%s: %s", bj_data_name_status(record->status), record->reason);
    bj_report_print_text(page->out, page->style, BJ_INK_STRONG, name[0] != '\0' ? name : "others", 0);
    if (text[0] != '\0') {
        putc(' ', page->out);
        bj_report_print_wrapped(page->out, page->style, BJ_INK_DOUBTFUL, text, INDENT, strlen(name) + 1);
    } else {
        putc('\n', page->out);
    }
    for (size_t i = 0; i < page->profile->answers.count; i++) {
        const bj_answer *answer = &page->profile->answers.items[i];
        if (strcmp(answer->probe, name) != 0)
            continue;
        if (answer->structured == NULL && bj_report_is_operation(answer->key))
            bj_report_print_operation(page->out, page->profile, page->style, i);
        else
            print_answer(page, answer);
    }
}

/* Groups in the order in which their first answers come, which is the order in which the probes ran. */
static void print_groups(const page *page) {
    const bj_answers *answers = &page->profile->answers;
    for (size_t i = 0; i < answers->count; i++) {
        bool printed = false;
        for (size_t j = 0; j < i && !printed; j++)
            printed = strcmp(answers->items[i].probe, answers->items[j].probe) == 0;
        if (!printed)
            print_group(page, answers->items[i].probe);
    }
}

static void print_legend(const page *page) {
    static const char *const lines[] = {
        "size_bytes is the effective size: the largest working set that, walked in random order, costs at most a tenth "
        "of the way to the next level. capacity_bytes is the cache that best explains the whole ramp; it is what data "
        "sheets give.",
        "certain: high means right 99 times in 100, medium 90, low less. claimed is what the operating system says; "
        "it is never used for an answer.",
    };
    putc('\n', page->out);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        bj_report_print_wrapped(page->out, page->style, BJ_INK_FAINT, lines[i], 0, 0);
}

void bj_report_print_page(FILE *out, const bj_profile *profile, const bj_terminal_style *style) {
    page page = {out, profile, style};
    print_header(&page);
    if (profile->answers.count == 0) {
        fputs("\nno answers in this profile\n", out);
        return;
    }
    print_table_head(&page);
    print_groups(&page);
    print_legend(&page);
}
