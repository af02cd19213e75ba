#include "report/headline.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/number.h"
#include "report/terminal_text.h"

/* A level that has this share of its claim is as claimed: the tolerance of a size is 15%. */
#define AS_CLAIMED 0.85

/* Of one cpu: memory keeps its line, the TLB gets one that is left. */
enum { SINGLE_LINES = 5, LEVELS_MOST = SINGLE_LINES - 1, PHRASE_ROOM = 120 };

typedef enum { ABSENT, UNSTABLE, DOUBTFUL, FIRM } trust;

static const bj_answer *find(const bj_profile *profile, const char *format, ...) BJ_PRINTF(2, 3);

static const bj_answer *find(const bj_profile *profile, const char *format, ...) {
    char key[64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(key, sizeof key, format, arguments);
    va_end(arguments);
    return bj_data_find_answer(&profile->answers, key);
}

static char *add_line(bj_headline *headline) {
    return headline->lines[headline->count++];
}

void bj_report_append(char line[BJ_HEADLINE_ROOM], const char *format, ...) {
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, BJ_HEADLINE_ROOM - used, format, arguments);
    va_end(arguments);
}

/* Numbers without a confidence are a person's: taken as they are. */
static trust judge(const bj_answer *answer) {
    if (answer == NULL || !bj_data_has_value(answer) || answer->structured != NULL)
        return ABSENT;
    if (answer->status == BJ_ANSWER_UNSTABLE)
        return UNSTABLE;
    return answer->confidence == BJ_CONFIDENCE_LOW ? DOUBTFUL : FIRM;
}

/* "142 ns" of a firm answer, "124 to 147 ns" of another. */
static void phrase(const bj_answer *answer, char text[PHRASE_ROOM]) {
    char quantity[48];
    if (judge(answer) != FIRM && answer->has_interval) {
        bj_report_format_range(answer->interval, answer->unit, " to ", text, PHRASE_ROOM);
        return;
    }
    bj_report_format_quantity(answer->value, answer->unit, quantity);
    snprintf(text, PHRASE_ROOM, "%s%s", judge(answer) == FIRM ? "" : "about ", quantity);
}

static void advise(const bj_answer *size, char *line) {
    char least[48];
    switch (judge(size)) {
    case UNSTABLE:
        bj_report_append(line, ", unstable: do not tune for it.");
        break;
    case DOUBTFUL:
        bj_report_format_quantity(size->has_interval ? size->interval[0] : size->value, size->unit, least);
        bj_report_append(line, ", low confidence: count on %s at most.", least);
        break;
    case FIRM:
        if (size->has_claimed && size->value < AS_CLAIMED * size->claimed) {
            bj_report_format_quantity(floor(size->value / size->claimed * 100) / 100, "", least);
            bj_report_append(line, ": count on %s of the claim.", least);
        } else {
            bj_report_append(line, ": block below it.");
        }
        break;
    case ABSENT:
        break;
    }
}

static void describe_level(const bj_profile *profile, unsigned level, bj_headline *headline) {
    const bj_answer *size = find(profile, "cache.L%u.size_bytes", level);
    const bj_answer *latency = find(profile, "cache.L%u.latency_cycles", level);
    char text[PHRASE_ROOM], *line = add_line(headline);
    bj_report_append(line, "L%u", level);
    if (judge(size) == ABSENT) {
        bj_report_append(line, ": size %s.", bj_data_name_status(size->status));
        return;
    }
    phrase(size, text);
    bj_report_append(line, " %s", text);
    if (size->has_claimed) {
        bj_report_format_quantity(size->claimed, size->unit, text);
        bj_report_append(line, " (claimed %s)", text);
    }
    if (judge(latency) != FIRM)
        latency = find(profile, "cache.L%u.latency_ns", level);
    if (judge(latency) == FIRM) {
        bj_report_format_quantity(bj_data_round_number(latency->value, 2), latency->unit, text);
        bj_report_append(line, ", %s", text);
    }
    advise(size, line);
}

static void describe_caches(const bj_profile *profile, bj_headline *headline) {
    unsigned level = 1;
    for (; level <= LEVELS_MOST && find(profile, "cache.L%u.size_bytes", level) != NULL; level++)
        describe_level(profile, level, headline);
    const bj_answer *levels = find(profile, "cache.levels");
    if (level > 1)
        return;
    if (levels != NULL && !bj_data_has_value(levels))
        bj_report_append(add_line(headline), "Caches: %s: %.120s.", bj_data_name_status(levels->status),
                         levels->reason);
    else
        bj_report_append(add_line(headline), "Caches: not measured.");
}

static void append_part(char *line, const bj_answer *answer, const char *after) {
    char text[PHRASE_ROOM];
    phrase(answer, text);
    bj_report_append(line, "%s %s%s", strchr(line, ' ') != NULL ? "," : "", text, after);
    if (judge(answer) == UNSTABLE)
        bj_report_append(line, " (unstable)");
    else if (judge(answer) == DOUBTFUL)
        bj_report_append(line, " (low confidence)");
}

static void describe_memory(const bj_profile *profile, bj_headline *headline) {
    const bj_answer *latency = find(profile, "memory.latency_ns"), *inside = find(profile, "memory.latency_in_tlb_ns");
    const bj_answer *rate = find(profile, "memory.read_gbs");
    char *line = add_line(headline);
    bj_report_append(line, "Memory");
    if (judge(latency) != ABSENT)
        append_part(line, latency, "");
    if (judge(inside) != ABSENT)
        append_part(line, inside, " within the TLB's reach");
    if (judge(rate) != ABSENT)
        append_part(line, rate, " a core");
    if (strchr(line, ' ') == NULL && latency != NULL)
        bj_report_append(line, ": latency %s", bj_data_name_status(latency->status));
    else if (strchr(line, ' ') == NULL)
        bj_report_append(line, ": not measured");
    bj_report_append(line, ".");
}

/* The farthest level is what a loop over much memory runs out of. */
static void describe_tlb(const bj_profile *profile, bj_headline *headline) {
    unsigned level = 1;
    while (find(profile, "tlb.L%u.entries", level + 1) != NULL)
        level++;
    const bj_answer *entries = find(profile, "tlb.L%u.entries", level), *miss = find(profile, "tlb.L%u.miss_ns", level);
    const bj_answer *page = find(profile, "page.size_bytes");
    if (headline->count >= SINGLE_LINES || judge(entries) != FIRM || judge(page) != FIRM)
        return;
    char reach[48], number[48], size[48], cost[PHRASE_ROOM], *line = add_line(headline);
    bj_report_format_quantity(entries->value * page->value, "bytes", reach);
    bj_report_format_quantity(entries->value, "", number);
    bj_report_format_quantity(page->value, "bytes", size);
    bj_report_append(line, "TLB reach %s (%s x %s)", reach, number, size);
    if (judge(miss) == FIRM) {
        phrase(miss, cost);
        bj_report_append(line, ": beyond it up to %s more an access", cost);
    }
    bj_report_append(line, ".");
}

void bj_report_make_headline(const bj_profile *profile, bj_headline *headline) {
    *headline = (bj_headline){.count = 0};
    if (find(profile, "cache.levels") == NULL && find(profile, "cache.L1.size_bytes") == NULL &&
        find(profile, "memory.latency_ns") == NULL && find(profile, "memory.read_gbs") == NULL) {
        bj_report_append(add_line(headline), "Caches and memory: not measured.");
    } else {
        describe_caches(profile, headline);
        describe_memory(profile, headline);
        describe_tlb(profile, headline);
    }
    bj_report_add_crowd_lines(profile, headline);
}
