#include "report/terminal_tree.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/cpu_text.h"
#include "report/terminal_text.h"

/* Parts that may have a line each, lines of any tree, and how much of a long list of cpus is told. */
enum { PARTS_SINGLY = 24, LINES_MOST = 30, LIST_ROOM = 140, STEP = 2 };

typedef struct {
    FILE *out;
    const bj_terminal_style *style;
    bool folds;
    size_t lines;
} drawing;

/* A part, as lists of them hold it. */
typedef struct {
    const bj_cpu_node *node; /* NULL: told already */
} entry;

typedef enum { LATENCY, INSIDE, ACROSS, BLOCK } fact;

static double get_fact(const bj_cpu_node *node, fact fact) {
    const double facts[] = {
        [LATENCY] = node->latency_ns,
        [INSIDE] = node->inside_ns,
        [ACROSS] = node->across_ns,
        [BLOCK] = node->block_bytes,
    };
    return facts[fact];
}

static size_t count_nodes(const bj_cpu_node *node) {
    size_t count = 1;
    for (size_t i = 0; i < node->child_count; i++)
        count += count_nodes(&node->children[i]);
    return count;
}

/* Parts with children of the same shapes, one after the other. */
static bool is_alike(const bj_cpu_node *a, const bj_cpu_node *b) {
    bool same = a->cpus.count == b->cpus.count && a->child_count == b->child_count && strcmp(a->name, b->name) == 0;
    for (size_t i = 0; i < a->child_count && same; i++)
        same = is_alike(&a->children[i], &b->children[i]);
    return same;
}

static int find_lowest(const bj_cpu_node *node) {
    int lowest = INT_MAX;
    for (size_t i = 0; i < node->cpus.count; i++)
        lowest = node->cpus.items[i] < lowest ? node->cpus.items[i] : lowest;
    return lowest;
}

static int compare_nodes(const void *a, const void *b) {
    int left = find_lowest(((const entry *)a)->node), right = find_lowest(((const entry *)b)->node);
    return left < right ? -1 : left > right;
}

static void draw_line(drawing *drawing, size_t indent, const char *text) {
    if (drawing->lines++ >= LINES_MOST)
        return;
    fprintf(drawing->out, "%*s", (int)indent, "");
    bj_report_print_wrapped(drawing->out, drawing->style, BJ_INK_PLAIN, text, indent + 2 * STEP, indent);
}

/* Appends "20 ns" or "20 to 25 ns" of one number of each node; false: no node has it. */
static bool append_range(char *text, size_t room, const char *before, const entry *nodes, size_t count, fact fact,
                         const char *unit) {
    double range[2] = {NAN, NAN};
    char quantity[128];
    for (size_t i = 0; i < count; i++) {
        double value = get_fact(nodes[i].node, fact);
        range[0] = fmin(range[0], value); /* which pass over NaN */
        range[1] = fmax(range[1], value);
    }
    if (isnan(range[0]))
        return false;
    bj_report_format_range(range, unit, " to ", quantity, sizeof quantity);
    snprintf(text + strlen(text), room - strlen(text), "%s%s", before, quantity);
    return true;
}

/* ": 80 ns, 30 ns inside, by blocks of 4 MiB" */
static void append_facts(char *text, size_t room, const entry *nodes, size_t count) {
    bool told = append_range(text, room, ": ", nodes, count, LATENCY, "ns") ||
                append_range(text, room, ": ", nodes, count, ACROSS, "ns");
    if (!told)
        return;
    if (append_range(text, room, ", ", nodes, count, INSIDE, "ns"))
        snprintf(text + strlen(text), room - strlen(text), " inside");
    append_range(text, room, ", by blocks of ", nodes, count, BLOCK, "bytes");
}

static void describe(const entry *nodes, size_t count, char *text, size_t room) {
    char cpus[LIST_ROOM];
    const bj_cpu_node *first = nodes[0].node;
    bj_report_format_cpus(&first->cpus, ",", cpus, sizeof cpus);
    if (count == 1) {
        snprintf(text, room, "%s%s%s%s", cpus, first->name[0] != '\0' ? " (" : "", first->name,
                 first->name[0] != '\0' ? ")" : "");
    } else {
        snprintf(text, room, "%zu x %zu cpu%s%s%s%s: %s; ...", count, first->cpus.count,
                 first->cpus.count > 1 ? "s" : "", first->name[0] != '\0' ? " (" : "", first->name,
                 first->name[0] != '\0' ? ")" : "", cpus);
    }
    append_facts(text, room, nodes, count);
}

/* "alone: 8" of cpus that are in no child. */
static void draw_lone(drawing *drawing, const bj_cpu_node *node, size_t indent) {
    bj_cpu_set lone = {calloc(node->cpus.count + 1, sizeof *lone.items), 0};
    unsigned char *marks = calloc(BJ_CPU_NUMBERS, 1);
    for (size_t c = 0; c < node->child_count && marks != NULL; c++)
        for (size_t i = 0; i < node->children[c].cpus.count; i++)
            marks[node->children[c].cpus.items[i]] = 1;
    for (size_t i = 0; i < node->cpus.count && marks != NULL && lone.items != NULL; i++)
        if (marks[node->cpus.items[i]] == 0)
            lone.items[lone.count++] = node->cpus.items[i];
    if (lone.count > 0) {
        char cpus[LIST_ROOM], text[LIST_ROOM + 16];
        bj_report_format_cpus(&lone, ",", cpus, sizeof cpus);
        snprintf(text, sizeof text, "alone: %s", cpus);
        draw_line(drawing, indent, text);
    }
    free(lone.items);
    free(marks);
}

/* Nodes of one shape in one line, then all of their children. */
static void draw_alike(drawing *drawing, const entry *nodes, size_t count, size_t indent) {
    char text[2 * LIST_ROOM + 200];
    describe(nodes, count, text, sizeof text);
    draw_line(drawing, indent, text);
    size_t all = count * nodes[0].node->child_count, used = 0;
    entry *children = all > 0 ? calloc(all, sizeof *children) : NULL;
    entry *alike = all > 0 ? calloc(all, sizeof *alike) : NULL;
    if (all > 0 && (children == NULL || alike == NULL))
        bj_base_note_no_memory();
    for (size_t i = 0; i < count && children != NULL; i++)
        for (size_t c = 0; c < nodes[i].node->child_count; c++)
            children[used++].node = &nodes[i].node->children[c];
    if (used > 0)
        qsort(children, used, sizeof *children, compare_nodes);
    for (size_t i = 0; i < used && alike != NULL; i++) {
        size_t found = 0;
        const bj_cpu_node *first = children[i].node;
        for (size_t j = i; j < used && first != NULL; j++)
            if (j == i || (drawing->folds && children[j].node != NULL && is_alike(first, children[j].node))) {
                alike[found++] = children[j];
                children[j].node = NULL;
            }
        if (found > 0)
            draw_alike(drawing, alike, found, indent + STEP);
    }
    if (count == 1 && all > 0)
        draw_lone(drawing, nodes[0].node, indent + STEP);
    free(children);
    free(alike);
}

void bj_report_print_tree(FILE *out, const bj_terminal_style *style, const bj_cpu_node *tree, size_t indent) {
    drawing drawing = {out, style, count_nodes(tree) > PARTS_SINGLY, 0};
    draw_alike(&drawing, &(entry){tree}, 1, indent);
    if (drawing.lines > LINES_MOST)
        fprintf(out, "%*s... %zu lines more\n", (int)indent, "", drawing.lines - LINES_MOST);
}

/* ---- matrices */

enum { CELL = 6, CPUS_ROOM = 24, LABEL_ROOM = CPUS_ROOM + 24 };

static void name_row(const bj_cpu_groups *labels, size_t row, char *text, size_t room) {
    char cpus[CPUS_ROOM];
    snprintf(text, room, "%zu", row);
    if (row >= labels->count)
        return;
    bj_report_format_cpus(&labels->items[row], ",", cpus, sizeof cpus);
    snprintf(text, room, "%zu: %s", row, cpus);
}

static void print_range(FILE *out, const bj_terminal_style *style, const bj_cpu_matrix *matrix, const char *unit,
                        size_t indent) {
    double range[2] = {NAN, NAN};
    char text[200], quantity[128];
    for (size_t i = 0; i < matrix->count * matrix->count; i++) {
        range[0] = fmin(range[0], matrix->cells[i]);
        range[1] = fmax(range[1], matrix->cells[i]);
    }
    bj_report_format_range(range, unit, " to ", quantity, sizeof quantity);
    snprintf(text, sizeof text, "%zu x %zu: %s", matrix->count, matrix->count, quantity);
    fprintf(out, "%*s", (int)indent, "");
    bj_report_print_wrapped(out, style, BJ_INK_PLAIN, text, indent, indent);
}

void bj_report_print_matrix(FILE *out, const bj_terminal_style *style, const bj_cpu_matrix *matrix,
                            const bj_cpu_groups *labels, const char *unit, size_t indent) {
    size_t widest = 4, width = bj_report_find_width(style);
    bj_cpu_groups none = {0};
    char text[LABEL_ROOM];
    if (labels == NULL || labels->count != matrix->count)
        labels = &none;
    for (size_t row = 0; row < matrix->count; row++) {
        name_row(labels, row, text, sizeof text);
        widest = strlen(text) > widest ? strlen(text) : widest;
    }
    if (indent + widest + CELL * matrix->count > width) {
        print_range(out, style, matrix, unit, indent);
        return;
    }
    fprintf(out, "%*s", (int)indent, "");
    bj_report_print_text(out, style, BJ_INK_FAINT, unit, widest);
    for (size_t column = 0; column < matrix->count; column++)
        fprintf(out, "%*zu", CELL, column);
    putc('\n', out);
    for (size_t row = 0; row < matrix->count; row++) {
        name_row(labels, row, text, sizeof text);
        fprintf(out, "%*s%-*s", (int)indent, "", (int)widest, text);
        for (size_t column = 0; column < matrix->count; column++) {
            char number[48];
            bj_report_format_quantity(matrix->cells[row * matrix->count + column], "", number);
            fprintf(out, "%*s", CELL, isnan(matrix->cells[row * matrix->count + column]) ? "-" : number);
        }
        putc('\n', out);
    }
}
