#include "report/terminal_cpus.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/cpu_text.h"
#include "report/terminal_comm.h"
#include "report/terminal_text.h"
#include "report/terminal_tree.h"

/* Three lines or so of a list of groups, and as many of a curve. */
enum { LIST_ROOM = 230, SCALING_ROOM = 240 };
/* Of the table of streams. */
enum { ARRAYS = 6, FIRST_COLUMN = 8, COLUMN = 12 };

typedef struct {
    FILE *out;
    const bj_profile *profile;
    const bj_terminal_style *style;
    const bj_answer *answer;
    size_t indent;
} details;

static void print_line(const details *details, size_t deeper, const char *format, ...) BJ_PRINTF(3, 4);

static void print_line(const details *details, size_t deeper, const char *format, ...) {
    char text[700];
    size_t indent = details->indent + deeper;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(details->out, "%*s", (int)indent, "");
    bj_report_print_wrapped(details->out, details->style, BJ_INK_PLAIN, text, indent + 2, indent);
}

/* Names for the rows of distances: the root's children, or its cpus. */
static bj_cpu_groups label_distances(const bj_cpu_node *tree) {
    size_t count = tree->distances_ns.count;
    bool by_child = count == tree->child_count, by_cpu = count == tree->cpus.count;
    bj_cpu_groups labels = {by_child || by_cpu ? calloc(count, sizeof *labels.items) : NULL, 0};
    for (size_t i = 0; i < count && labels.items != NULL; i++)
        labels.items[labels.count++] =
            by_child ? tree->children[i].cpus : (bj_cpu_set){&tree->cpus.items[i], 1}; /* borrowed */
    return labels;
}

static void print_tree(const details *details) {
    bj_cpu_node tree;
    if (bj_profile_read_cpu_tree(details->answer->key, details->answer->structured, &tree, NULL) != BJ_OK)
        return;
    if (tree.child_count > 0)
        bj_report_print_tree(details->out, details->style, &tree, details->indent);
    if (tree.distances_ns.count > 0) {
        bj_cpu_groups labels = label_distances(&tree);
        print_line(details, 0, "distances between %s:", tree.child_count == tree.distances_ns.count ? "parts" : "cpus");
        bj_report_print_matrix(details->out, details->style, &tree.distances_ns, &labels, "ns", details->indent + 2);
        free(labels.items);
    }
    bj_profile_free_cpu_tree(&tree);
}

static void print_groups(const details *details) {
    bj_cpu_groups groups;
    char text[LIST_ROOM];
    if (bj_profile_read_cpu_groups(details->answer->key, details->answer->structured, &groups, NULL) != BJ_OK)
        return;
    bj_report_format_groups(&groups, text, sizeof text);
    if (groups.count > 0)
        print_line(details, 0, "%s", text);
    bj_profile_free_cpu_groups(&groups);
}

static void print_kinds(const details *details) {
    bj_cpu_kinds kinds;
    if (bj_profile_read_cpu_kinds(details->answer->key, details->answer->structured, &kinds, NULL) != BJ_OK)
        return;
    for (size_t i = 0; i < kinds.cpus.count; i++) {
        char kind[LIST_ROOM];
        bj_report_format_kind(&kinds, i, kind, sizeof kind);
        print_line(details, 0, "%s", kind);
    }
    bj_profile_free_cpu_kinds(&kinds);
}

/* "1: 12.5, 2: 20, ..., 64: 31": with many cpus the steps thin out. */
static void format_scaling(const bj_contention_level *level, char *text, size_t room) {
    size_t used = 0, most = 16, stride = (level->scaling_count + most - 1) / most;
    text[0] = '\0';
    for (size_t i = 0; i < level->scaling_count && used + 40 < room; i++) {
        bool last = i + 1 == level->scaling_count, useful = level->scaling_cpus[i] == level->useful_cpus;
        char gbs[48];
        if (i % stride != 0 && !last && !useful)
            continue;
        bj_report_format_quantity(level->scaling_gbs[i], "", gbs);
        used +=
            (size_t)snprintf(text + used, room - used, "%s%.0f: %s", used > 0 ? ", " : "", level->scaling_cpus[i], gbs);
    }
}

static void print_contention(const details *details) {
    bj_contention contention;
    if (bj_profile_read_contention(details->answer->key, details->answer->structured, &contention, NULL) != BJ_OK)
        return;
    for (size_t i = 0; i < contention.level_count; i++) {
        const bj_contention_level *level = &contention.levels[i];
        char groups[LIST_ROOM], gbs[48], scaling[SCALING_ROOM];
        bj_report_format_groups(&level->groups, groups, sizeof groups);
        bj_report_format_quantity(level->gbs, "GB/s", gbs);
        format_scaling(level, scaling, sizeof scaling);
        print_line(details, 0, "%s beside another of %s", isnan(level->gbs) ? "slower" : gbs, groups);
        if (scaling[0] != '\0')
            print_line(details, 2, "GB/s by cpus %s", scaling);
        if (!isnan(level->useful_cpus) && level->groups.count > 0 &&
            level->useful_cpus < (double)level->groups.items[0].count)
            print_line(details, 2, "after %.0f one more cpu brings nothing", level->useful_cpus);
    }
    bj_profile_free_contention(&contention);
}

static double find_rate(const bj_stream_series *series, double arrays) {
    for (size_t i = 0; i < series->count; i++)
        if (series->arrays[i] == arrays)
            return series->gbs[i];
    return NAN;
}

/* A row for each number of arrays, a column for each number of cpus, as many as fit. */
static void print_streams(const details *details) {
    bj_stream_table table;
    if (bj_profile_read_streams(details->answer->key, details->answer->structured, &table, NULL) != BJ_OK)
        return;
    size_t width = bj_report_find_width(details->style),
           room = width > details->indent + FIRST_COLUMN ? (width - details->indent - FIRST_COLUMN) / COLUMN : 0;
    size_t columns = table.count < room ? table.count : room;
    fprintf(details->out, "%*s%-*s", (int)details->indent, "", FIRST_COLUMN, "arrays");
    for (size_t c = 0; c < columns; c++)
        fprintf(details->out, "%*.0f cpu%s", COLUMN - 5, table.items[c].cpus,
                table.items[c].cpus != 1 ? "s"
                : c + 1 < columns        ? " "
                                         : "");
    fputs(columns > 0 ? "\n" : "no column fits\n", details->out);
    for (size_t row = 0; columns > 0 && row < table.items[0].count; row++) {
        double arrays = table.items[0].arrays[row];
        fprintf(details->out, "%*s%*.0f%*s", (int)details->indent, "", ARRAYS, arrays, FIRST_COLUMN - ARRAYS, "");
        for (size_t c = 0; c < columns; c++) {
            double gbs = find_rate(&table.items[c], arrays);
            char text[48] = "-";
            if (!isnan(gbs))
                bj_report_format_quantity(gbs, "", text);
            bool is_last = table.items[c].limited && arrays == table.items[c].useful;
            fprintf(details->out, "%*s%s", COLUMN - 1, text, is_last ? "*" : c + 1 < columns ? " " : "");
        }
        putc('\n', details->out);
    }
    print_line(details, 0, "GB/s that each cpu gets; * as many arrays as are of use, where more get less");
    bj_profile_free_streams(&table);
}

static void print_matrix(const details *details) {
    bj_cpu_node tree;
    bj_node_matrix matrix;
    const bj_answer *answer = bj_data_find_answer(&details->profile->answers, "topology.tree");
    bool has_tree = answer != NULL && bj_data_has_value(answer) && answer->structured != NULL &&
                    bj_profile_read_cpu_tree(answer->key, answer->structured, &tree, NULL) == BJ_OK;
    if (bj_profile_read_node_matrix(details->answer->key, details->answer->structured, has_tree ? &tree : NULL, &matrix,
                                    NULL) == BJ_OK) {
        const char *unit = strcmp(details->answer->key, "numa.gbs") == 0 ? "GB/s" : "ns";
        bj_report_print_matrix(details->out, details->style, &matrix.values, &matrix.nodes, unit, details->indent);
        bj_profile_free_node_matrix(&matrix);
    }
    if (has_tree)
        bj_profile_free_cpu_tree(&tree);
}

void bj_report_print_cpu_details(FILE *out, const bj_profile *profile, const bj_terminal_style *style,
                                 const bj_answer *answer, size_t indent) {
    details details = {out, profile, style, answer, indent};
    if (strcmp(answer->key, "topology.tree") == 0)
        print_tree(&details);
    else if (strcmp(answer->key, "cpu.kinds") == 0)
        print_kinds(&details);
    else if (strcmp(answer->key, "memory.contention") == 0)
        print_contention(&details);
    else if (strcmp(answer->key, "memory.streams") == 0)
        print_streams(&details);
    else if (strcmp(answer->key, "comm.layers") == 0)
        bj_report_print_layers(out, style, answer->structured, indent);
    else if (bj_report_is_sharing(answer->key))
        print_groups(&details);
    else if (bj_report_is_matrix(answer->key))
        print_matrix(&details);
}
