#include "profile/placement.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "profile/cpu_values.h"

/* How many siblings a core may have, and kinds a machine: later ones count as the last. */
enum { SIBLINGS_MOST = 8, KINDS_MOST = 8 };

/* A part of a node: a child, or one cpu that stands alone. Cpus are those of the pass at hand. */
typedef struct {
    const bj_cpu_node *node; /* NULL: one cpu */
    int *cpus;               /* in order, as long as they are joined */
    size_t count;
    int lowest;
} part;

typedef struct {
    const bj_cpu_layout *layout;
    bj_cpu_order order;
    unsigned pass;
    unsigned char *marks; /* a cleared place for every cpu number */
    int *cpus;            /* the result */
    size_t used, wanted;
    bj_error *error;
} placing;

/* Passes go through the kinds, and for spread through the kinds of first siblings, then of second ones. */
static unsigned find_pass(const placing *placing, int cpu) {
    const bj_cpu_layout *layout = placing->layout;
    unsigned kind = layout->kind != NULL ? layout->kind[cpu] : 0;
    unsigned sibling = placing->order == BJ_ORDER_SPREAD && layout->sibling != NULL ? layout->sibling[cpu] : 0;
    kind = kind < KINDS_MOST ? kind : KINDS_MOST - 1;
    sibling = sibling < SIBLINGS_MOST ? sibling : SIBLINGS_MOST - 1;
    return sibling * KINDS_MOST + kind;
}

/* How many cpus of the pass the set has, and the lowest of them. */
static size_t count_cpus(const placing *placing, const bj_cpu_set *set, int *lowest) {
    size_t count = 0;
    *lowest = INT_MAX;
    for (size_t i = 0; i < set->count; i++)
        if (find_pass(placing, set->items[i]) == placing->pass) {
            *lowest = set->items[i] < *lowest ? set->items[i] : *lowest;
            count++;
        }
    return count;
}

static int compare_parts(const void *a, const void *b) {
    const part *left = a, *right = b;
    return left->lowest < right->lowest ? -1 : left->lowest > right->lowest;
}

static void mark_children(const bj_cpu_node *node, unsigned char *marks, unsigned char value) {
    for (size_t c = 0; c < node->child_count; c++)
        for (size_t i = 0; i < node->children[c].cpus.count; i++)
            marks[node->children[c].cpus.items[i]] = value;
}

/* The parts that have cpus in this pass, by their lowest; *parts is the caller's to free. */
static bj_status list_parts(placing *placing, const bj_cpu_node *node, part **parts, size_t *count) {
    *count = 0;
    *parts = calloc(node->cpus.count + node->child_count, sizeof **parts);
    if (*parts == NULL)
        return bj_base_set_error(placing->error, BJ_ERR_RESOURCE, "no memory for %zu cpus", node->cpus.count);
    for (size_t i = 0; i < node->child_count; i++) {
        part found = {.node = &node->children[i]};
        found.count = count_cpus(placing, &found.node->cpus, &found.lowest);
        if (found.count > 0)
            (*parts)[(*count)++] = found;
    }
    mark_children(node, placing->marks, 1);
    for (size_t i = 0; i < node->cpus.count; i++) {
        int cpu = node->cpus.items[i];
        if (placing->marks[cpu] == 0 && find_pass(placing, cpu) == placing->pass)
            (*parts)[(*count)++] = (part){.count = 1, .lowest = cpu};
    }
    mark_children(node, placing->marks, 0);
    qsort(*parts, *count, sizeof **parts, compare_parts);
    return BJ_OK;
}

/* ---- near */

static bj_status pack(placing *placing, const bj_cpu_node *node, size_t wanted);

static bj_status take_part(placing *placing, part *taken, size_t wanted) {
    size_t all = taken->count;
    wanted = wanted < all ? wanted : all;
    taken->count = 0;
    if (taken->node != NULL)
        return pack(placing, taken->node, wanted);
    placing->cpus[placing->used++] = taken->lowest;
    return BJ_OK;
}

/* The smallest part that holds what is left; where none does, the largest one whole. The lowest of equals. */
static part *choose_by_size(part *parts, size_t count, size_t wanted) {
    part *smallest = NULL, *largest = NULL;
    for (size_t i = 0; i < count; i++) {
        part *at = &parts[i];
        if (at->count >= wanted && (smallest == NULL || at->count < smallest->count))
            smallest = at;
        if (at->count > 0 && (largest == NULL || at->count > largest->count))
            largest = at;
    }
    return smallest != NULL ? smallest : largest;
}

/* Where distances between the children are told, since these are no tree: the part that is nearest to those taken.
 * NULL: none was taken yet, or there are no distances. */
static part *choose_by_distance(const bj_cpu_node *node, part *parts, size_t count) {
    const bj_cpu_matrix *distances = &node->distances_ns;
    part *nearest = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < count && distances->count == node->child_count; i++) {
        double sum = 0;
        size_t taken = 0;
        for (size_t j = 0; j < count && parts[i].node != NULL && parts[i].count > 0; j++)
            if (parts[j].node != NULL && parts[j].count == 0) {
                size_t row = (size_t)(parts[i].node - node->children),
                       column = (size_t)(parts[j].node - node->children);
                sum += distances->cells[row * distances->count + column];
                taken++;
            }
        if (taken > 0 && sum < least) {
            least = sum;
            nearest = &parts[i];
        }
    }
    return nearest;
}

/* Takes so many cpus of the node, which has them. */
static bj_status pack(placing *placing, const bj_cpu_node *node, size_t wanted) {
    part *parts;
    size_t count, end = placing->used + wanted, all = 0;
    bj_status status = list_parts(placing, node, &parts, &count);
    for (size_t i = 0; i < count; i++)
        all += parts[i].count;
    while (placing->used < end && status == BJ_OK) {
        size_t left = end - placing->used;
        part *next = choose_by_distance(node, parts, count);
        for (size_t i = 0; i < count && next == NULL && wanted == all; i++) /* all of it: in order */
            next = parts[i].count > 0 ? &parts[i] : NULL;
        if (next == NULL)
            next = choose_by_size(parts, count, left);
        status = take_part(placing, next, left);
    }
    free(parts);
    return status;
}

/* ---- spread */

/* Fills cpus, which has room for those of the pass: one of each part in turn, for as long as there are parts that have
 * some left. */
static bj_status deal(placing *placing, const bj_cpu_node *node, int *cpus) {
    part *parts;
    size_t count, used = 0, taken = 1, at = 0;
    BJ_TRY(list_parts(placing, node, &parts, &count));
    int *inner = calloc(node->cpus.count, sizeof *inner);
    bj_status status = BJ_OK;
    if (inner == NULL)
        status = bj_base_set_error(placing->error, BJ_ERR_RESOURCE, "no memory for %zu cpus", node->cpus.count);
    for (size_t p = 0; p < count && status == BJ_OK; p++) {
        parts[p].cpus = &inner[at];
        inner[at] = parts[p].lowest;
        if (parts[p].node != NULL)
            status = deal(placing, parts[p].node, &inner[at]);
        at += parts[p].count;
    }
    for (size_t i = 0; taken > 0 && status == BJ_OK; i++) {
        taken = 0;
        for (size_t p = 0; p < count; p++)
            if (i < parts[p].count) {
                cpus[used++] = parts[p].cpus[i];
                taken++;
            }
    }
    free(inner);
    free(parts);
    return status;
}

/* ---- both */

static bj_status place_pass(placing *placing, int *scratch) {
    int lowest;
    size_t here = count_cpus(placing, &placing->layout->tree->cpus, &lowest), left = placing->wanted - placing->used;
    size_t taken = here < left ? here : left;
    if (taken == 0)
        return BJ_OK;
    if (placing->order == BJ_ORDER_NEAR)
        return pack(placing, placing->layout->tree, taken);
    BJ_TRY(deal(placing, placing->layout->tree, scratch));
    for (size_t i = 0; i < taken; i++)
        placing->cpus[placing->used++] = scratch[i];
    return BJ_OK;
}

bj_status bj_profile_place_threads(const bj_cpu_layout *layout, bj_cpu_order order, size_t count, int *cpus,
                                   bj_error *error) {
    size_t all = layout->tree->cpus.count;
    placing placing = {.layout = layout, .order = order, .cpus = cpus, .error = error};
    placing.wanted = count < all ? count : all;
    placing.marks = calloc(BJ_CPU_NUMBERS, 1);
    int *scratch = calloc(all, sizeof *scratch);
    bj_status status = BJ_OK;
    if (placing.marks == NULL || scratch == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", all);
    for (; placing.pass < SIBLINGS_MOST * KINDS_MOST && placing.used < placing.wanted && status == BJ_OK;
         placing.pass++)
        status = place_pass(&placing, scratch);
    free(placing.marks);
    free(scratch);
    for (size_t i = placing.wanted; i < count && status == BJ_OK; i++)
        cpus[i] = cpus[i - all];
    return status;
}

/* ---- from answers */

static const bj_answer *find_structured(const bj_profile *profile, const char *key, bj_accept_answer *accepts,
                                        const void *context) {
    const bj_answer *answer = bj_data_find_answer(&profile->answers, key);
    bool usable = answer != NULL && answer->structured != NULL && accepts(context, answer);
    return usable ? answer : NULL;
}

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

/* Cpus of one first level are of one core: by number, the first, the second. */
static bj_status read_siblings(const bj_answer *sharing, unsigned char *sibling, bj_error *error) {
    bj_cpu_groups groups;
    BJ_TRY(bj_profile_read_cpu_groups(sharing->key, sharing->structured, &groups, error));
    for (size_t g = 0; g < groups.count; g++) {
        bj_cpu_set *core = &groups.items[g];
        qsort(core->items, core->count, sizeof *core->items, compare_cpus);
        for (size_t i = 0; i < core->count; i++)
            sibling[core->items[i]] = (unsigned char)(i < SIBLINGS_MOST ? i : SIBLINGS_MOST);
    }
    bj_profile_free_cpu_groups(&groups);
    return BJ_OK;
}

static bj_status read_kinds(const bj_answer *answer, unsigned char *kind, bj_error *error) {
    bj_cpu_kinds kinds;
    BJ_TRY(bj_profile_read_cpu_kinds(answer->key, answer->structured, &kinds, error));
    for (size_t k = 0; k < kinds.cpus.count; k++) {
        unsigned faster = 0;
        for (size_t other = 0; other < kinds.cpus.count && faster < KINDS_MOST; other++)
            faster += kinds.clock_ghz[other] > kinds.clock_ghz[k];
        for (size_t i = 0; i < kinds.cpus.items[k].count; i++)
            kind[kinds.cpus.items[k].items[i]] = (unsigned char)faster;
    }
    bj_profile_free_cpu_kinds(&kinds);
    return BJ_OK;
}

bj_status bj_profile_place_by_answers(const bj_profile *profile, const bj_answer *tree, bj_cpu_order order,
                                      size_t count, bj_accept_answer *accepts, const void *context, int **cpus,
                                      size_t *placed, bj_error *error) {
    bj_cpu_node root;
    *cpus = NULL;
    *placed = 0;
    BJ_TRY(bj_profile_read_cpu_tree(tree->key, tree->structured, &root, error));
    size_t wanted = count > 0 ? count : root.cpus.count;
    const bj_answer *sharing = find_structured(profile, "cache.L1.sharing", accepts, context);
    const bj_answer *kinds = find_structured(profile, "cpu.kinds", accepts, context);
    unsigned char *facts = calloc(2, BJ_CPU_NUMBERS); /* siblings, then kinds */
    int *list = wanted < SIZE_MAX / sizeof **cpus ? malloc(wanted * sizeof *list) : NULL;
    bj_status status = BJ_OK;
    if (facts == NULL || list == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu threads", wanted);
    if (status == BJ_OK && sharing != NULL)
        status = read_siblings(sharing, facts, error);
    if (status == BJ_OK && kinds != NULL)
        status = read_kinds(kinds, facts + BJ_CPU_NUMBERS, error);
    bj_cpu_layout layout = {&root, facts, facts != NULL ? facts + BJ_CPU_NUMBERS : NULL};
    if (status == BJ_OK)
        status = bj_profile_place_threads(&layout, order, wanted, list, error);
    free(facts);
    bj_profile_free_cpu_tree(&root);
    if (status != BJ_OK) {
        free(list);
        return status;
    }
    *cpus = list;
    *placed = wanted;
    return BJ_OK;
}
