/* What matters first about several cpus. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/cpu_text.h"
#include "report/headline.h"
#include "report/terminal_text.h"

/* Lists of cpus are cut to this, so that a line stays one. */
enum { CPUS_ROOM = 48 };

/* Only what is sure is advice here: NULL for all else. */
static const bj_answer *find_sure(const bj_profile *profile, const char *key, bool structured) {
    const bj_answer *answer = bj_data_find_answer(&profile->answers, key);
    bool sure = answer != NULL && answer->status == BJ_ANSWER_OK && answer->confidence != BJ_CONFIDENCE_LOW &&
                (answer->structured != NULL) == structured;
    return sure ? answer : NULL;
}

static void describe_kinds(const bj_profile *profile, char *line) {
    const bj_answer *answer = find_sure(profile, "cpu.kinds", true);
    bj_cpu_kinds kinds;
    if (answer == NULL || bj_profile_read_cpu_kinds(answer->key, answer->structured, &kinds, NULL) != BJ_OK)
        return;
    for (size_t i = 0; i < kinds.cpus.count && kinds.cpus.count > 1 && i < 3; i++) {
        char cpus[CPUS_ROOM], clock[48] = "";
        bj_report_format_cpus(&kinds.cpus.items[i], ",", cpus, sizeof cpus);
        if (!isnan(kinds.clock_ghz[i]))
            bj_report_format_quantity(kinds.clock_ghz[i], "GHz", clock);
        bj_report_append(line, "%s%s%s%s", i == 0 ? "Cpus differ: " : "; ", cpus, clock[0] != '\0' ? " at " : "",
                         clock);
    }
    if (line[0] != '\0')
        bj_report_append(line, ". All else here is of cpu %d.", profile->run.cpu_measured);
    bj_profile_free_cpu_kinds(&kinds);
}

/* The outermost part that the measured cpu is in, since the other answers are of that cpu; else the first. */
static const bj_cpu_node *choose_part(const bj_cpu_node *tree, int cpu) {
    for (size_t i = 0; i < tree->child_count; i++)
        for (size_t j = 0; j < tree->children[i].cpus.count; j++)
            if (tree->children[i].cpus.items[j] == cpu)
                return &tree->children[i];
    return tree->child_count > 0 ? &tree->children[0] : NULL;
}

static void describe_tree(const bj_profile *profile, char *line) {
    const bj_answer *answer = find_sure(profile, "topology.tree", true);
    bj_cpu_node tree;
    if (answer == NULL || bj_profile_read_cpu_tree(answer->key, answer->structured, &tree, NULL) != BJ_OK)
        return;
    const bj_cpu_node *part = choose_part(&tree, profile->run.cpu_measured);
    if (part != NULL) {
        char cpus[CPUS_ROOM], near[48], far[48];
        bj_report_format_cpus(&part->cpus, ",", cpus, sizeof cpus);
        bj_report_append(line, "Threads: put those that talk on cpus %s", cpus);
        if (part->name[0] != '\0')
            bj_report_append(line, " (%s)", part->name);
        if (!isnan(part->latency_ns) && !isnan(tree.latency_ns)) {
            bj_report_format_quantity(part->latency_ns, "ns", near);
            bj_report_format_quantity(tree.latency_ns, "ns", far);
            bj_report_append(line, ": %s, not %s", near, far);
        }
        bj_report_append(line, tree.not_tree ? ". Beyond that: not a tree." : ".");
    }
    bj_profile_free_cpu_tree(&tree);
}

/* Of the first level, which is the narrowest. */
static void describe_contention(const bj_profile *profile, char *line) {
    const bj_answer *answer = find_sure(profile, "memory.contention", true);
    bj_contention contention;
    if (answer == NULL || bj_profile_read_contention(answer->key, answer->structured, &contention, NULL) != BJ_OK)
        return;
    const bj_contention_level *level = contention.level_count > 0 ? &contention.levels[0] : NULL;
    /* Where all of them pay, nobody knows what one more would do. */
    if (level != NULL && level->groups.count > 0 && level->useful_cpus >= 1 &&
        level->useful_cpus < (double)level->groups.items[0].count) {
        char cpus[CPUS_ROOM];
        bj_report_format_cpus(&level->groups.items[0], ",", cpus, sizeof cpus);
        bj_report_append(line, "%s %.0f cpu%s", line[0] != '\0' ? " After" : "Threads: after", level->useful_cpus,
                         level->useful_cpus > 1 ? "s" : "");
        if (level->groups.count > 1)
            bj_report_append(line, " of %s", cpus);
        bj_report_append(line, " memory bandwidth is full.");
    }
    bj_profile_free_contention(&contention);
}

static void append_part(const bj_profile *profile, const char *key, const char *after, char *line) {
    const bj_answer *answer = find_sure(profile, key, false);
    char text[48];
    if (answer == NULL)
        return;
    bj_report_format_quantity(answer->value, answer->unit, text);
    bj_report_append(line, "%s%s%s", line[0] != '\0' ? ", " : "All cpus at once: memory ", text, after);
}

static void describe_full(const bj_profile *profile, char *line) {
    append_part(profile, "memory.full.latency_ns", "", line);
    append_part(profile, "memory.full.read_gbs", " a core", line);
    for (unsigned level = 1; level <= 4 && line[0] != '\0'; level++) {
        char key[64], text[48];
        snprintf(key, sizeof key, "cache.L%u.full.size_bytes", level);
        const bj_answer *size = find_sure(profile, key, false);
        if (size == NULL)
            continue;
        bj_report_format_quantity(size->value, size->unit, text);
        bj_report_append(line, ", L%u %s", level, text);
    }
    if (line[0] != '\0')
        bj_report_append(line, ".");
}

void bj_report_add_crowd_lines(const bj_profile *profile, bj_headline *headline) {
    char line[BJ_HEADLINE_ROOM];
    static void (*const describe[])(const bj_profile *profile, char *line) = {describe_kinds, describe_tree,
                                                                              describe_full};
    for (size_t i = 0; i < sizeof describe / sizeof describe[0]; i++) {
        line[0] = '\0';
        describe[i](profile, line);
        if (describe[i] == describe_tree)
            describe_contention(profile, line);
        if (line[0] != '\0' && headline->count < BJ_HEADLINE_LINES)
            memcpy(headline->lines[headline->count++], line, sizeof line);
    }
}
