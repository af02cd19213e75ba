/* The order in which threads or ranks fill the cpus of `topology.tree`: for OpenMP the value of OMP_PLACES, one place a
 * cpu, and for Open MPI a rankfile, one rank a cpu. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"
#include "profile/cpu_tree.h"

/* A part of a node: a child's cpus in order, or one cpu that stands alone. */
typedef struct {
    int *cpus; /* into the node's own array */
    size_t count;
    int lowest;
} part;

static int compare_parts(const void *a, const void *b) {
    const part *left = a, *right = b;
    return left->lowest < right->lowest ? -1 : left->lowest > right->lowest;
}

static int lowest_of(const bj_cpu_set *set) {
    int lowest = INT_MAX;
    for (size_t i = 0; i < set->count; i++)
        lowest = set->items[i] < lowest ? set->items[i] : lowest;
    return lowest;
}

/* Sets the marks of all cpus in children of the node. */
static void mark_children(const bj_cpu_node *node, unsigned char *marks, unsigned char value) {
    for (size_t c = 0; c < node->child_count; c++)
        for (size_t i = 0; i < node->children[c].cpus.count; i++)
            marks[node->children[c].cpus.items[i]] = value;
}

/* One after the other keeps siblings together; one from each in turn keeps them apart for as long as there are parts
 * that have cpus left. */
static void join_parts(const part *parts, size_t part_count, bj_cpu_order order, int *cpus) {
    size_t used = 0, taken = 1;
    if (order == BJ_ORDER_NEAR) {
        for (size_t p = 0; p < part_count; p++)
            for (size_t i = 0; i < parts[p].count; i++)
                cpus[used++] = parts[p].cpus[i];
        return;
    }
    for (size_t i = 0; taken > 0; i++) {
        taken = 0;
        for (size_t p = 0; p < part_count; p++)
            if (i < parts[p].count) {
                cpus[used++] = parts[p].cpus[i];
                taken++;
            }
    }
}

/* Fills cpus, which has room for the node's; `marks` has a cleared place for every cpu number, and gets it back so. */
static bj_status order_node(const bj_cpu_node *node, bj_cpu_order order, unsigned char *marks, int *cpus,
                            bj_error *error) {
    int *inner = calloc(node->cpus.count, sizeof *inner);
    part *parts = calloc(node->cpus.count + node->child_count, sizeof *parts);
    bj_status status = BJ_OK;
    size_t used = 0, part_count = 0;
    if (inner == NULL || parts == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", node->cpus.count);
    for (size_t i = 0; i < node->child_count && status == BJ_OK; i++) {
        const bj_cpu_node *child = &node->children[i];
        status = order_node(child, order, marks, &inner[used], error);
        parts[part_count++] = (part){&inner[used], child->cpus.count, lowest_of(&child->cpus)};
        used += child->cpus.count;
    }
    mark_children(node, marks, 1);
    for (size_t i = 0; i < node->cpus.count && status == BJ_OK; i++) {
        int cpu = node->cpus.items[i];
        if (marks[cpu] != 0)
            continue;
        inner[used] = cpu;
        parts[part_count++] = (part){&inner[used++], 1, cpu};
    }
    mark_children(node, marks, 0);
    if (status == BJ_OK) {
        qsort(parts, part_count, sizeof *parts, compare_parts);
        join_parts(parts, part_count, order, cpus);
    }
    free(inner);
    free(parts);
    return status;
}

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

/* Where nothing is known of who is close to whom: the cpus that the run was allowed, in the system's order. That is no
 * answer to who wants them far apart. */
static bj_status list_cpus(const bj_emit_request *request, const bj_error *why, int **cpus, size_t *count,
                           bj_error *error) {
    const bj_profile *profile = request->profile;
    size_t allowed = profile->environment.cpus_allowed_count;
    if (request->options.order == BJ_ORDER_SPREAD || allowed == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s", why->text);
    *cpus = calloc(allowed, sizeof **cpus);
    if (*cpus == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", allowed);
    memcpy(*cpus, profile->environment.cpus_allowed, allowed * sizeof **cpus);
    qsort(*cpus, allowed, sizeof **cpus, compare_cpus);
    *count = allowed;
    bj_emit_note_left_out(request, "the order by closeness", why->text);
    return BJ_OK;
}

static bj_status order_by_tree(const bj_emit_request *request, const char *key, const char *text, int **cpus,
                               size_t *count, bj_error *error) {
    bj_cpu_node tree;
    BJ_TRY(bj_profile_read_cpu_tree(key, text, &tree, error));
    unsigned char *marks = calloc(BJ_CPU_NUMBERS, 1);
    bj_status status;
    *cpus = calloc(tree.cpus.count, sizeof **cpus);
    if (*cpus == NULL || marks == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", tree.cpus.count);
    else
        status = order_node(&tree, request->options.order, marks, *cpus, error);
    free(marks);
    *count = tree.cpus.count;
    bj_profile_free_cpu_tree(&tree);
    if (status != BJ_OK) {
        free(*cpus);
        *cpus = NULL;
    }
    return status;
}

/* near: each next cpu is as close as can be to those before; spread: as far. *cpus is the caller's to free. */
static bj_status order_cpus(const bj_emit_request *request, int **cpus, size_t *count, bj_error *error) {
    static const char key[] = "topology.tree";
    bj_emit_value value;
    bj_error why;
    bj_status status = bj_emit_take_answer(request, key, &value, &why);
    if (status == BJ_OK && !value.claimed && value.answer->structured != NULL)
        return order_by_tree(request, key, value.answer->structured, cpus, count, error);
    if (status == BJ_OK)
        bj_base_set_error(&why, BJ_ERR_FAILED, "%s needs %s as a tree, which it is not", request->emitter->name, key);
    return list_cpus(request, &why, cpus, count, error);
}

static bj_status emit_places(const bj_emit_request *request, FILE *out, bj_error *error) {
    int *cpus = NULL;
    size_t count = 0;
    bj_status status = order_cpus(request, &cpus, &count, error);
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        fprintf(out, "%s{%d}", i > 0 ? "," : "", cpus[i]);
    if (status == BJ_OK)
        putc('\n', out);
    free(cpus);
    return status;
}

const bj_emitter bj_emitter_omp_places = {
    .name = "omp-places",
    .summary = "a value for OMP_PLACES, cpus in the order of --order, which takes topology.tree",
    .emit = emit_places,
};

static bj_status emit_ranks(const bj_emit_request *request, FILE *out, bj_error *error) {
    int *cpus = NULL;
    size_t count = 0;
    bj_status status = order_cpus(request, &cpus, &count, error);
    if (status == BJ_OK)
        fputs("# Slots are the operating system's cpu numbers, for Open MPI 4: --mca rmaps_rank_file_physical 1.\n"
              "# Open MPI 5 takes logical indexes only: there this holds only where hwloc numbers the cpus alike.\n",
              out);
    for (size_t i = 0; i < request->notes->left_out.count && status == BJ_OK; i++) {
        fputs("# ", out);
        bj_emit_print_safely(out, request->notes->left_out.items[i], "");
        putc('\n', out);
    }
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        fprintf(out, "rank %zu=%s slot=%d\n", i, request->options.host, cpus[i]);
    free(cpus);
    return status;
}

const bj_emitter bj_emitter_rankfile = {
    .name = "rankfile",
    .summary = "a rankfile for Open MPI, cpus in the order of --order, which takes topology.tree",
    .has_comments = true,
    .emit = emit_ranks,
};
