/* The page: what was measured where, then the answers of each probe in columns, then what the words mean. */
#include "report/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/cpu_text.h"
#include "report/headline.h"
#include "report/terminal_comm.h"
#include "report/terminal_cpus.h"
#include "report/terminal_ops.h"
#include "report/terminal_text.h"

enum { INDENT = 2, REASON_INDENT = 6 };

/* Where the cells of an answer begin. A cell that is too long moves the next ones, and what does not fit at all goes to
 * the next line. */
typedef struct {
    size_t value, interval, claimed, confidence;
    bool splits; /* the key has a line of its own */
} layout;

typedef struct {
    FILE *out;
    const bj_profile *profile;
    const bj_terminal_style *style;
    layout layout;
} page;

typedef struct {
    size_t column;
    const char *text;
    bj_ink ink;
} cell;

static layout choose_layout(size_t columns) {
    if (columns >= 100)
        return (layout){.value = 34, .interval = 58, .claimed = 78, .confidence = 89};
    if (columns >= 80)
        return (layout){.value = 26, .interval = 46, .claimed = 61, .confidence = 70};
    return (layout){.value = 4, .interval = 24, .claimed = 39, .confidence = 48, .splits = true};
}

/* The cursor stands at `position`. */
static void print_cells(const page *page, const cell *cells, size_t count, size_t position) {
    size_t width = bj_report_find_width(page->style);
    for (size_t i = 0; i < count; i++) {
        size_t columns = bj_report_count_columns(cells[i].text);
        size_t begin = position > 0 && position >= cells[i].column ? position + 1 : cells[i].column;
        if (columns == 0)
            continue;
        if (begin + columns > width && position > page->layout.value) {
            putc('\n', page->out);
            position = 0;
            begin = page->layout.value;
        }
        fprintf(page->out, "%*s", (int)(begin - position), "");
        bj_report_print_text(page->out, page->style, cells[i].ink, cells[i].text, 0);
        position = begin + columns;
    }
    putc('\n', page->out);
}

static bool is_simulated(const bj_profile *profile) {
    return strncmp(profile->run.machine, "sim:", 4) == 0;
}

/* A simulated run has no date: its clock begins with the epoch. */
static void format_measured(const bj_profile *profile, char *text, size_t room) {
    char cpus[120], when[120];
    bj_cpu_set allowed = {profile->environment.cpus_allowed, profile->environment.cpus_allowed_count};
    bj_report_format_cpus(&allowed, ", ", cpus, sizeof cpus);
    if (is_simulated(profile))
        snprintf(when, sizeof when, "simulated (%.100s)", profile->run.machine + 4);
    else
        snprintf(when, sizeof when, "measured %s", profile->created);
    snprintf(text, room, "%s by blackjack %s on cpu %d of %s, effort %s, seed %llu%s%s", when,
             profile->tool.version[0] != '\0' ? profile->tool.version : "of an unknown version",
             profile->run.cpu_measured, allowed.count > 0 ? cpus : "unknown ones",
             profile->run.effort[0] != '\0' ? profile->run.effort : "unknown", (unsigned long long)profile->run.seed,
             profile->run.method[0] != '\0' ? ", method " : "", profile->run.method);
}

static void format_conditions(const bj_profile *profile, char *text, size_t room) {
    char memory[32], limit[32], steal[64], load[64], quota[64];
    int virtualised = profile->environment.virtualised;
    bj_base_format_bytes((double)profile->environment.memory_bytes, memory, sizeof memory);
    bj_base_format_bytes((double)profile->run.memory_limit_bytes, limit, sizeof limit);
    bj_report_format_quantity(profile->run.steal * 100, "", steal);
    bj_report_format_quantity(profile->environment.load_before, "", load);
    bj_report_format_quantity(profile->run.cpu_quota, "cpus", quota);
    snprintf(text, room, "memory %s (usable %s), huge pages %s, %s, stolen time %s%s, load before %s, cpu quota %s",
             memory, limit, profile->environment.huge_pages[0] != '\0' ? profile->environment.huge_pages : "unknown",
             virtualised < 0    ? "virtualised or not: unknown"
             : virtualised != 0 ? "virtualised"
                                : "not virtualised",
             isnan(profile->run.steal) ? "unknown" : steal, isnan(profile->run.steal) ? "" : "%",
             isnan(profile->environment.load_before) ? "unknown" : load,
             isnan(profile->run.cpu_quota) ? "none" : quota);
}

static void print_indented(const page *page, bj_ink ink, const char *text, size_t hang) {
    fprintf(page->out, "%*s", INDENT, "");
    bj_report_print_wrapped(page->out, page->style, ink, text, INDENT + hang, INDENT);
}

static void print_title(const page *page) {
    const bj_profile *profile = page->profile;
    char text[300];
    snprintf(text, sizeof text, "%s, %s",
             profile->environment.cpu[0] != '\0' ? profile->environment.cpu : "unknown cpu",
             profile->environment.os[0] != '\0' ? profile->environment.os : "unknown system");
    bj_report_print_wrapped(page->out, page->style, BJ_INK_STRONG, text, INDENT, 0);
}

static void print_notice(const page *page, const char *notice) {
    if (notice != NULL && notice[0] != '\0')
        print_indented(page, BJ_INK_DOUBTFUL, notice, INDENT);
}

/* What matters first, and then under which conditions it was found. */
static void print_header(const page *page) {
    const bj_profile *profile = page->profile;
    char text[640];
    bj_headline headline;
    bj_report_make_headline(profile, &headline);
    for (size_t i = 0; i < headline.count; i++)
        print_indented(page, BJ_INK_PLAIN, headline.lines[i], INDENT);
    putc('\n', page->out);
    if (profile->created[0] != '\0') { /* else it was written by hand, and there was no run */
        format_measured(profile, text, sizeof text);
        print_indented(page, BJ_INK_FAINT, text, 0);
        format_conditions(profile, text, sizeof text);
        print_indented(page, BJ_INK_FAINT, text, 0);
    }
    for (size_t i = 0; i < profile->environment.warnings.count; i++) {
        snprintf(text, sizeof text, "warning: %s", profile->environment.warnings.items[i]);
        print_indented(page, BJ_INK_DOUBTFUL, text, INDENT);
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

/* Of what holds while all cpus work ("memory.full.read_gbs"): the same of one cpu, as text of room for 48. */
static bool find_alone(const bj_answers *answers, const bj_answer *answer, char *text) {
    char key[sizeof answer->key];
    const char *full = strstr(answer->key, ".full.");
    if (full == NULL)
        return false;
    snprintf(key, sizeof key, "%.*s%s", (int)(full - answer->key), answer->key, full + strlen(".full"));
    const bj_answer *alone = bj_data_find_answer(answers, key);
    if (alone == NULL || !bj_data_has_value(alone) || alone->structured != NULL)
        return false;
    bj_report_format_quantity(alone->value, strcmp(alone->unit, "bytes") == 0 ? "bytes" : "", text);
    return true;
}

/* Times also in cycles of the measured clock: that is the number to compare between machines. Not of clocks that are
 * read, since those do not go by it. */
static void format_value(const page *page, const bj_answer *answer, char *text, size_t room) {
    char quantity[48], cycles[48];
    double clock_ghz;
    const bj_answers *answers = &page->profile->answers;
    bj_report_format_quantity(answer->value, answer->unit, quantity);
    if (find_alone(answers, answer, cycles)) {
        snprintf(text, room, "%s (alone %s)", quantity, cycles);
        return;
    }
    bool converts = strcmp(answer->unit, "ns") == 0 && strcmp(answer->probe, "timer") != 0 &&
                    !has_counterpart_in_cycles(answers, answer->key) &&
                    bj_data_get_number(answers, "cpu.clock_ghz", &clock_ghz);
    if (!converts) {
        snprintf(text, room, "%s", quantity);
        return;
    }
    /* Whole ones from ten on: the clock is no surer than that. */
    double in_cycles = answer->value * clock_ghz;
    in_cycles = in_cycles < 10 ? floor(in_cycles * 10 + 0.5) / 10 : floor(in_cycles + 0.5);
    bj_report_format_quantity(in_cycles, in_cycles == 1 ? "cycle" : "cycles", cycles);
    snprintf(text, room, "%s = %s", quantity, cycles);
}

static void print_scalar(const page *page, const bj_answer *answer, size_t position) {
    char value[128], interval[128], claimed[48] = "";
    const layout *at = &page->layout;
    format_value(page, answer, value, sizeof value);
    bj_report_format_interval(answer, interval, sizeof interval);
    if (answer->has_claimed)
        bj_report_format_quantity(answer->claimed, strcmp(answer->unit, "bytes") == 0 ? "bytes" : "", claimed);
    const char *confidence =
        answer->confidence != BJ_CONFIDENCE_NONE ? bj_data_name_confidence(answer->confidence) : "";
    const cell cells[] = {{at->value, value, BJ_INK_STRONG},
                          {at->interval, interval, BJ_INK_PLAIN},
                          {at->claimed, claimed, BJ_INK_PLAIN},
                          {at->confidence, confidence, bj_report_choose_ink(answer->confidence)}};
    print_cells(page, cells, sizeof cells / sizeof cells[0], position);
}

/* In a line, with what it has to say below. False: it is of a kind that we do not know. */
static bool print_structure(const page *page, const bj_answer *answer, size_t position) {
    char summary[120];
    const layout *at = &page->layout;
    if (!bj_report_sum_up(answer, summary, sizeof summary))
        return false;
    const char *confidence =
        answer->confidence != BJ_CONFIDENCE_NONE ? bj_data_name_confidence(answer->confidence) : "";
    const cell cells[] = {{at->value, summary, BJ_INK_STRONG},
                          {at->confidence, confidence, bj_report_choose_ink(answer->confidence)}};
    print_cells(page, cells, sizeof cells / sizeof cells[0], position);
    bj_report_print_cpu_details(page->out, page->profile, page->style, answer, (size_t)2 * INDENT);
    return true;
}

/* A reason that was just said is not repeated. */
static void print_reason(const page *page, const bj_answer *answer, const bj_answer *before, size_t column) {
    char text[300];
    bool again = before != NULL && before->status == answer->status && strcmp(before->reason, answer->reason) == 0;
    snprintf(text, sizeof text, "%s: %s", bj_data_name_status(answer->status), again ? "as above" : answer->reason);
    bj_report_print_wrapped(page->out, page->style, answer->status == BJ_ANSWER_FAILED ? BJ_INK_BAD : BJ_INK_DOUBTFUL,
                            text, column, column);
}

/* `before`: the answer that was printed last in this section; NULL: none. */
static void print_answer(const page *page, const bj_answer *answer, const bj_answer *before) {
    size_t value_column = page->layout.value, position = INDENT + bj_report_count_columns(answer->key);
    fprintf(page->out, "%*s", INDENT, "");
    bj_report_print_text(page->out, page->style, BJ_INK_PLAIN, answer->key, 0);
    if (page->layout.splits) {
        putc('\n', page->out);
        position = 0;
    }
    bool scalar = bj_data_has_value(answer) && answer->structured == NULL;
    if (scalar) {
        print_scalar(page, answer, position);
    } else if (!print_structure(page, answer,
                                position)) { /* it begins where the value would, or one blank after the key */
        size_t begin = position >= value_column ? position + 1 : value_column;
        fprintf(page->out, "%*s", (int)(begin - position), "");
        if (bj_data_has_value(answer))
            bj_report_print_wrapped(page->out, page->style, BJ_INK_PLAIN, answer->structured, value_column, begin);
        else
            print_reason(page, answer, before, begin);
    }
    if (answer->status != BJ_ANSWER_OK && bj_data_has_value(answer)) {
        fprintf(page->out, "%*s", REASON_INDENT, "");
        print_reason(page, answer, before, REASON_INDENT);
    }
}

/* Operations have a head of their own. */
static bool has_table(const page *page, const char *section) {
    for (size_t i = 0; i < page->profile->answers.count; i++) {
        const bj_answer *answer = &page->profile->answers.items[i];
        bool listed = section == NULL || strcmp(answer->probe, section) == 0;
        if (listed && (answer->structured != NULL || !bj_report_is_operation(answer->key)))
            return true;
    }
    return false;
}

static void print_table_head(const page *page) {
    const layout *at = &page->layout;
    const cell cells[] = {{INDENT, "what", BJ_INK_FAINT},
                          {at->value, "value", BJ_INK_FAINT},
                          {at->interval, "95% interval", BJ_INK_FAINT},
                          {at->claimed, "claimed", BJ_INK_FAINT},
                          {at->confidence, "confidence", BJ_INK_FAINT}};
    print_cells(page, cells + at->splits, sizeof cells / sizeof cells[0] - at->splits, 0);
}

/* By which ways the answers of a probe were got, without their revisions: "levels", "pairs, sharing". */
static void list_methods(const bj_answers *answers, const char *probe, char *text, size_t room) {
    text[0] = '\0';
    for (size_t i = 0; i < answers->count; i++) {
        const bj_answer *answer = &answers->items[i];
        size_t length = strcspn(answer->method, "/"), used = strlen(text);
        bool listed = length == 0 || strcmp(answer->probe, probe) != 0 || used + length + 3 > room;
        for (const char *at = text; !listed && *at != '\0'; at += strspn(at, ", ")) {
            size_t other = strcspn(at, ",");
            listed = other == length && strncmp(at, answer->method, length) == 0;
            at += other;
        }
        if (!listed)
            snprintf(text + used, room - used, "%s%.*s", used > 0 ? ", " : "", (int)length, answer->method);
    }
}

/* Why answers of the probe (NULL: of any) cannot be surer; NULL: they could. */
static const char *find_caveat(const page *page, const char *probe) {
    for (size_t i = 0; i < page->profile->answers.count; i++) {
        const bj_answer *answer = &page->profile->answers.items[i];
        if (answer->caveat[0] != '\0' && (probe == NULL || strcmp(answer->probe, probe) == 0))
            return answer->caveat;
    }
    return NULL;
}

static void print_caveat(const page *page, const char *probe) {
    char text[sizeof((bj_answer *)NULL)->caveat + 80];
    const char *caveat = find_caveat(page, probe);
    if (caveat == NULL)
        return;
    snprintf(text, sizeof text, "Low at most, %s. What other probes say of such a level is no surer.", caveat);
    bj_report_print_wrapped(page->out, page->style, BJ_INK_FAINT, text, 0, 0);
}

static void print_group_head(const page *page, const char *name) {
    const bj_probe_record *record = bj_profile_find_probe(page->profile, name);
    char text[320] = "", methods[160];
    if (record != NULL && record->status != BJ_ANSWER_OK)
        snprintf(text, sizeof text, "%s: %s", bj_data_name_status(record->status), record->reason);
    list_methods(&page->profile->answers, name, methods, sizeof methods);
    if (find_caveat(page, name) != NULL)
        snprintf(methods + strlen(methods), sizeof methods - strlen(methods), " (low at most: see below)");
    bj_report_print_text(page->out, page->style, BJ_INK_STRONG, name[0] != '\0' ? name : "others", 0);
    if (text[0] != '\0') {
        putc(' ', page->out);
        bj_report_print_wrapped(page->out, page->style, BJ_INK_DOUBTFUL, text, INDENT, strlen(name) + 1);
    } else if (methods[0] != '\0') {
        fputs(" by ", page->out);
        bj_report_print_wrapped(page->out, page->style, BJ_INK_FAINT, methods, INDENT, strlen(name) + 4);
    } else {
        putc('\n', page->out);
    }
}

static void print_group(const page *page, const char *name) {
    const bj_answer *before = NULL;
    print_group_head(page, name);
    bool operations = false;
    for (size_t i = 0; i < page->profile->answers.count; i++) {
        const bj_answer *answer = &page->profile->answers.items[i];
        if (strcmp(answer->probe, name) != 0)
            continue;
        if (answer->structured == NULL && bj_report_is_operation(answer->key)) {
            operations = true;
            continue;
        }
        print_answer(page, answer, before);
        before = answer;
    }
    if (operations)
        bj_report_print_operations(page->out, page->profile, page->style, name);
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
        "size_bytes is the effective size: the largest working set that, walked in random order, adds at most 10% of "
        "the latency gap to the next level. capacity_bytes is the cache that best explains the whole ramp, as data "
        "sheets give it. Rates are of one core; a copy counts read plus written bytes.",
        "Confidence: high is right 99 times in 100, medium 90, low less. Right is within 12.5% of a capacity, 15% of a "
        "size, 10% of a latency. Claimed is what the operating system says; it is never used for an answer.",
    };
    putc('\n', page->out);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        bj_report_print_wrapped(page->out, page->style, BJ_INK_FAINT, lines[i], 0, 0);
}

void bj_report_print_page(FILE *out, const bj_profile *profile, const bj_terminal_style *style,
                          const bj_page_request *request) {
    page page = {out, profile, style, choose_layout(bj_report_find_width(style))};
    print_title(&page);
    print_notice(&page, request->notice);
    if (request->section == NULL)
        print_header(&page);
    if (profile->answers.count == 0) {
        fputs("\nno answers in this profile\n", out);
        return;
    }
    putc('\n', out);
    if (has_table(&page, request->section))
        print_table_head(&page);
    if (request->section != NULL) {
        print_group(&page, request->section);
        print_caveat(&page, request->section);
        return;
    }
    print_groups(&page);
    bj_report_print_advice(out, profile, style);
    print_legend(&page);
    print_caveat(&page, NULL);
}
