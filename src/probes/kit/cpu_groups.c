#include "probes/kit/cpu_groups.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Nodes within nodes; a text that goes deeper is none of ours. */
#define DEPTH_MAX 32u
#define NUMBERS_MAX 65536

/* A list of cpus somewhere in a JSON text. */
typedef struct {
    size_t first, count; /* among the numbers */
} cpu_list;

/* The text was written by our own writer or JSON reader, so it is JSON; anything unexpected ends the reading. */
typedef struct {
    const char *at;
    int *numbers;
    size_t number_count, number_room;
    cpu_list *lists; /* outer ones before inner ones or not, as they come */
    size_t list_count, list_room;
    bool failed;
    bool no_memory;
} reader;

static void skip_blanks(reader *text) {
    text->at += strspn(text->at, " \t\r\n");
}

static bool take(reader *text, char expected) {
    skip_blanks(text);
    if (*text->at != expected)
        return false;
    text->at++;
    return true;
}

static bool grow(void **items, size_t *room, size_t count, size_t bytes) {
    if (count < *room)
        return true;
    void *grown = realloc(*items, 2 * (*room + 8) * bytes);
    if (grown == NULL)
        return false;
    *items = grown;
    *room = 2 * (*room + 8);
    return true;
}

static void keep_number(reader *text, long number) {
    if (number < 0 || number >= NUMBERS_MAX) {
        text->failed = true;
    } else if (!grow((void **)&text->numbers, &text->number_room, text->number_count, sizeof *text->numbers)) {
        text->failed = text->no_memory = true;
    } else {
        text->numbers[text->number_count++] = (int)number;
    }
}

static void skip_text(reader *text) {
    while (*text->at != '\0' && *text->at != '"')
        text->at += text->at[0] == '\\' && text->at[1] != '\0' ? 2 : 1;
    text->failed = text->failed || *text->at == '\0';
    text->at += *text->at == '"';
}

static void read_value(reader *text, unsigned depth, bool is_named_cpus);

/* A list that holds whole numbers alone is one of cpus where it is named so, or where no name is (a list of groups). */
static void read_list(reader *text, unsigned depth, bool may_be_cpus) {
    size_t first = text->number_count;
    bool numbers_only = true;
    while (!text->failed && !take(text, ']')) {
        skip_blanks(text);
        if (*text->at >= '0' && *text->at <= '9') {
            char *end;
            long number = strtol(text->at, &end, 10);
            bool whole = *end != '.' && *end != 'e' && *end != 'E';
            if (whole && may_be_cpus)
                keep_number(text, number);
            numbers_only = numbers_only && whole;
            text->at = end + strspn(end, ".0123456789eE+-");
        } else {
            numbers_only = false;
            read_value(text, depth, may_be_cpus);
        }
        if (!take(text, ',')) {
            skip_blanks(text);
            text->failed = text->failed || *text->at != ']';
        }
    }
    if (text->failed || !may_be_cpus || !numbers_only || text->number_count == first)
        return;
    if (!grow((void **)&text->lists, &text->list_room, text->list_count, sizeof *text->lists))
        text->failed = text->no_memory = true;
    else
        text->lists[text->list_count++] = (cpu_list){first, text->number_count - first};
}

static void read_object(reader *text, unsigned depth) {
    while (!text->failed && !take(text, '}')) {
        if (!take(text, '"')) {
            text->failed = true;
            return;
        }
        const char *name = text->at;
        skip_text(text);
        bool is_cpus = strncmp(name, "cpus\"", 5) == 0;
        if (text->failed || !take(text, ':')) {
            text->failed = true;
            return;
        }
        read_value(text, depth, is_cpus);
        if (!take(text, ',')) {
            skip_blanks(text);
            text->failed = text->failed || *text->at != '}';
        }
    }
}

static void read_value(reader *text, unsigned depth, bool is_named_cpus) {
    if (depth == DEPTH_MAX)
        text->failed = true;
    if (text->failed)
        return;
    if (take(text, '{')) {
        read_object(text, depth + 1);
    } else if (take(text, '[')) {
        read_list(text, depth + 1, is_named_cpus);
    } else if (take(text, '"')) {
        skip_text(text);
    } else {
        size_t length = strspn(text->at, "-+.0123456789eEtrufalsn");
        text->failed = length == 0;
        text->at += length;
    }
}

static void close_reader(reader *text) {
    free(text->numbers);
    free(text->lists);
}

/* All lists of cpus in the answer's text; none where there is no such answer. */
static bj_status read_lists(const bj_answers *earlier, const char *key, bool is_groups, reader *text, bj_error *error) {
    const bj_answer *answer = bj_data_find_answer(earlier, key);
    *text = (reader){0};
    if (answer == NULL || !bj_data_has_value(answer) || answer->structured == NULL)
        return BJ_OK;
    text->at = answer->structured;
    read_value(text, 0, is_groups);
    if (text->no_memory) {
        close_reader(text);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to read %s", key);
    }
    if (text->failed)
        text->list_count = 0;
    return BJ_OK;
}

void bj_kit_part_all(size_t *group_of, size_t count) {
    for (size_t i = 0; i < count; i++)
        group_of[i] = i;
}

void bj_kit_join(size_t *group_of, size_t count, size_t a, size_t b) {
    size_t keep = group_of[a] < group_of[b] ? group_of[a] : group_of[b];
    size_t drop = group_of[a] < group_of[b] ? group_of[b] : group_of[a];
    for (size_t i = drop; keep != drop && i < count; i++)
        if (group_of[i] == drop)
            group_of[i] = keep;
}

static size_t find_place(const int *cpus, size_t count, int cpu) {
    size_t place = 0;
    while (place < count && cpus[place] != cpu)
        place++;
    return place;
}

bj_status bj_kit_join_answered(const bj_answers *earlier, const char *key, const int *cpus, size_t count,
                               size_t *group_of, bj_error *error) {
    reader text;
    BJ_TRY(read_lists(earlier, key, true, &text, error));
    for (size_t i = 0; i < text.list_count; i++) {
        size_t first = count;
        for (size_t j = 0; j < text.lists[i].count; j++) {
            size_t place = find_place(cpus, count, text.numbers[text.lists[i].first + j]);
            if (place < count && first < count)
                bj_kit_join(group_of, count, first, place);
            first = first < count ? first : place;
        }
    }
    close_reader(&text);
    return BJ_OK;
}

/* ---- the tree */

/* Sorting cpus by the lists that they are in, outermost first, makes every list a run. */
typedef struct {
    int cpu;
    uint16_t depth;
    uint32_t path[DEPTH_MAX]; /* lists from the outermost; beyond depth: none */
} placed_cpu;

static int compare_placed(const void *a, const void *b) {
    const placed_cpu *left = a, *right = b;
    for (size_t i = 0; i < left->depth && i < right->depth; i++)
        if (left->path[i] != right->path[i])
            return left->path[i] < right->path[i] ? -1 : 1;
    if (left->depth != right->depth)
        return left->depth > right->depth ? -1 : 1;
    return (left->cpu > right->cpu) - (left->cpu < right->cpu);
}

static int compare_lists(const void *a, const void *b) {
    const cpu_list *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return (left->first > right->first) - (left->first < right->first);
}

static void place_cpus(const reader *text, placed_cpu *placed, size_t count) {
    for (size_t l = 0; l < text->list_count; l++)
        for (size_t i = 0; i < text->lists[l].count; i++) {
            int number = text->numbers[text->lists[l].first + i];
            size_t place = 0;
            while (place < count && placed[place].cpu != number)
                place++;
            if (place < count && placed[place].depth < DEPTH_MAX)
                placed[place].path[placed[place].depth++] = (uint32_t)l;
        }
}

/* The runs of sorted cpus that lie in one list: branches where they have several cpus and are not all of what they lie
 * in. False: a list is no run, so that the lists are no tree. */
static bool find_branches(const reader *text, const placed_cpu *placed, bj_near_tree *tree) {
    for (size_t l = 0; l < text->list_count; l++) {
        bj_cpu_run run = {0};
        size_t runs = 0;
        for (size_t i = 0; i < tree->cpu_count; i++) {
            bool inside = false;
            for (size_t d = 0; d < placed[i].depth; d++)
                inside = inside || placed[i].path[d] == l;
            if (!inside)
                continue;
            runs += run.count == 0 || run.first + run.count != i;
            run = run.count == 0 ? (bj_cpu_run){i, 1} : (bj_cpu_run){run.first, run.count + 1};
        }
        if (runs > 1)
            return false;
        bool is_new = run.count > 1;
        for (size_t b = 0; b < tree->branch_count; b++)
            is_new = is_new && (tree->branches[b].first != run.first || tree->branches[b].count != run.count);
        if (is_new)
            tree->branches[tree->branch_count++] = run;
    }
    return true;
}

static void free_tree(bj_near_tree *tree) {
    free(tree->cpus);
    free(tree->branches);
    *tree = (bj_near_tree){0};
}

/* The tree of `earlier`, over these cpus and no others. */
static bj_status read_tree(const bj_answers *earlier, const int *cpus, size_t cpu_count, bj_near_tree *tree,
                           bj_error *error) {
    reader text;
    BJ_TRY(read_lists(earlier, "topology.tree", false, &text, error));
    placed_cpu *placed = calloc(cpu_count + 1, sizeof *placed);
    *tree = (bj_near_tree){.cpus = malloc((cpu_count + 1) * sizeof *tree->cpus),
                           .cpu_count = cpu_count,
                           .branches = malloc((text.list_count + 1) * sizeof *tree->branches),
                           .branch_count = 1};
    bj_status status = BJ_OK;
    if (placed == NULL || tree->cpus == NULL || tree->branches == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a tree of %zu cpus", cpu_count);
        free_tree(tree);
        goto done;
    }
    tree->branches[0] = (bj_cpu_run){0, cpu_count};
    for (size_t i = 0; i < cpu_count; i++)
        placed[i].cpu = cpus[i];
    if (text.list_count > 0) {
        qsort(text.lists, text.list_count, sizeof *text.lists, compare_lists);
        place_cpus(&text, placed, cpu_count);
    }
    qsort(placed, cpu_count, sizeof *placed, compare_placed);
    for (size_t i = 0; i < cpu_count; i++)
        tree->cpus[i] = placed[i].cpu;
    tree->is_known = text.list_count > 0 && find_branches(&text, placed, tree);
    if (!tree->is_known)
        tree->branch_count = 1;
done:
    free(placed);
    close_reader(&text);
    return status;
}

static bool lies_within(bj_cpu_run inner, bj_cpu_run outer) {
    return inner.first >= outer.first && inner.first + inner.count <= outer.first + outer.count &&
           inner.count < outer.count;
}

size_t bj_kit_list_parts(const bj_near_tree *tree, bj_cpu_run branch, bj_cpu_run *parts) {
    size_t count = 0;
    for (size_t at = branch.first; at < branch.first + branch.count;) {
        bj_cpu_run part = {at, 1};
        for (size_t b = 0; b < tree->branch_count; b++)
            if (tree->branches[b].first == at && lies_within(tree->branches[b], branch) &&
                tree->branches[b].count > part.count)
                part = tree->branches[b];
        parts[count++] = part;
        at += part.count;
    }
    return count;
}

size_t bj_kit_find_cpu(const bj_near_tree *tree, int cpu) {
    return find_place(tree->cpus, tree->cpu_count, cpu);
}

static int compare_ints(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return (left > right) - (left < right);
}

bj_status bj_kit_open_cpus(const int *cpus, size_t count, const bj_answers *earlier, bj_cpus *opened, bj_error *error) {
    *opened = (bj_cpus){.cpus = malloc((count + 1) * sizeof *opened->cpus),
                        .count = count,
                        .index_at = malloc((count + 1) * sizeof *opened->index_at)};
    bj_status status = BJ_OK;
    if (opened->cpus == NULL || opened->index_at == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    } else if (count > 0) {
        memcpy(opened->cpus, cpus, count * sizeof *opened->cpus);
        qsort(opened->cpus, count, sizeof *opened->cpus, compare_ints);
        status = read_tree(earlier, opened->cpus, count, &opened->tree, error);
    }
    for (size_t i = 0; status == BJ_OK && i < count; i++)
        opened->index_at[bj_kit_find_cpu(&opened->tree, opened->cpus[i])] = i;
    if (status != BJ_OK)
        bj_kit_close_cpus(opened);
    return status;
}

void bj_kit_close_cpus(bj_cpus *opened) {
    free(opened->cpus);
    free(opened->index_at);
    free_tree(&opened->tree);
    *opened = (bj_cpus){0};
}
