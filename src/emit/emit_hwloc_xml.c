/* For hwloc: a topology to import, with measured caches and memory attributes in place of what the system claims.
 *
 * Caches stand over the cpus that `cache.L<n>.sharing` puts together; without it only over the cpu that was measured,
 * since nothing is known of the others. Sizes are capacities where the ramp gave one, since that is what hwloc means.
 * Parts of `topology.tree` are groups, with the latency between their cpus as <info>, or the <info> of the cache that
 * has the same cpus. Latencies and bandwidths of caches are <info>, those of memory are hwloc's own memory attributes:
 * ns and MiB/s, as seen from the measured cpu, or from each node where `numa.…` tells; distances are told, too. Nodes
 * are those that were measured, numbered from 0. What is left out is told in <info>, too, since hwloc's own parser
 * takes no comments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "emit/emit.h"
#include "emit/hwloc_objects.h"

/* Of memory as hwloc's own attributes, or one of ours; the first two may come from each node to each. */
enum { ATTRIBUTE_COUNT = 6, MATRIX_COUNT = 2 };

/* hwloc's flags: 1 higher is better, 2 lower is better, 4 depends on who asks. Its rates are MiB/s. */
static const struct {
    const char *key, *name;
    unsigned flags;
    double unit;
} memory_attributes[ATTRIBUTE_COUNT] = {
    {"memory.copy_gbs", "Bandwidth", 5, 1e9 / 1048576},
    {"memory.latency_ns", "Latency", 6, 1},
    {"memory.read_gbs", "ReadBandwidth", 5, 1e9 / 1048576},
    {"memory.write_gbs", "WriteBandwidth", 5, 1e9 / 1048576},
    {"memory.full.read_gbs", "BlackjackFullReadBandwidth", 5, 1e9 / 1048576},
    {"memory.full.latency_ns", "BlackjackFullLatency", 6, 1},
};

/* In the order of the attributes that they stand in for. Kinds of distances: 2 by the user, 4 latency, 8 bandwidth. */
static const struct {
    const char *key, *name;
    unsigned kind;
} node_matrices[MATRIX_COUNT] = {
    {"numa.gbs", "BlackjackBandwidth", 10},
    {"numa.latency_ns", "BlackjackLatency", 6},
};

typedef struct {
    const bj_emit_request *request;
    FILE *out;
    bj_hwloc_level levels[BJ_HWLOC_LEVELS + 1]; /* from 1 */
    unsigned level_count;
    double line_bytes; /* of all levels; 0: not known */
    double attributes[ATTRIBUTE_COUNT];
    bj_node_matrix matrices[MATRIX_COUNT];
    const bj_cpu_groups *nodes; /* of one of them, or none */
    bj_cpu_node tree;           /* no cpus: not known */
    bj_cpu_kinds kinds;         /* none: not known, or all alike */
    int *cpus;                  /* ascending */
    size_t cpu_count;
} xml_page;

static double take_optional(const bj_emit_request *request, const char *key) {
    bj_emit_value value;
    return bj_emit_use(request, key, &value) ? value.value : 0;
}

static double take_optional_cache(const bj_emit_request *request, unsigned level, const char *what) {
    bj_emit_value value;
    return bj_emit_use_cache(request, level, what, &value) ? value.value : 0;
}

static bj_status list_cpus(xml_page *page, bj_error *error) {
    const bj_profile *profile = page->request->profile;
    size_t count = profile->environment.cpus_allowed_count;
    page->cpus = calloc(count + 1, sizeof *page->cpus);
    if (page->cpus == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    bool measured_there = false;
    for (size_t i = 0; i < count; i++) {
        page->cpus[i] = profile->environment.cpus_allowed[i];
        measured_there = measured_there || page->cpus[i] == profile->run.cpu_measured;
    }
    if (!measured_there)
        page->cpus[count++] = profile->run.cpu_measured;
    qsort(page->cpus, count, sizeof *page->cpus, bj_hwloc_compare_cpus);
    for (size_t i = 0; i < count; i++)
        if (count > BJ_HWLOC_CPUS || page->cpus[i] >= BJ_HWLOC_CPU_NUMBERS ||
            (i > 0 && page->cpus[i] == page->cpus[i - 1]))
            return bj_base_set_error(error, BJ_ERR_FAILED, "%s takes at most %d cpus, distinct and below %d",
                                     page->request->emitter->name, BJ_HWLOC_CPUS, BJ_HWLOC_CPU_NUMBERS);
    page->cpu_count = count;
    return BJ_OK;
}

/* With a known sharing every cpu has an instance, alone or in a group. */
static bj_status read_sharing(xml_page *page, unsigned level, bj_error *error) {
    char key[64];
    bj_emit_value value;
    unsigned *instance = calloc(BJ_CPU_NUMBERS, sizeof *instance);
    page->levels[level].instance = instance;
    if (instance == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the cpus of level %u", level);
    snprintf(key, sizeof key, "cache.L%u.sharing", level);
    const bj_answer *answer = bj_data_find_answer(&page->request->profile->answers, key);
    if (answer == NULL || answer->structured == NULL || !bj_emit_accepts(page->request, answer, &value) ||
        value.claimed) {
        instance[page->request->profile->run.cpu_measured] = 1;
        return BJ_OK;
    }
    bj_cpu_groups groups;
    BJ_TRY(bj_profile_read_cpu_groups(key, answer->structured, &groups, error));
    for (size_t g = 0; g < groups.count; g++)
        for (size_t i = 0; i < groups.items[g].count; i++)
            instance[groups.items[g].items[i]] = (unsigned)g + 1;
    for (size_t i = 0; i < page->cpu_count; i++)
        if (instance[page->cpus[i]] == 0)
            instance[page->cpus[i]] = (unsigned)(groups.count + i) + 1;
    bj_profile_free_cpu_groups(&groups);
    return BJ_OK;
}

static bj_status read_level(xml_page *page, unsigned level, bj_error *error) {
    bj_hwloc_level *about = &page->levels[level];
    bj_emit_value size;
    char what[40];
    snprintf(what, sizeof what, "the cache of level %u", level);
    if (!bj_emit_want_cache(page->request, what, level, "size_bytes", &size))
        return BJ_OK;
    double capacity = take_optional_cache(page->request, level, "capacity_bytes");
    double line = take_optional_cache(page->request, level, "line_bytes");
    about->size_bytes = capacity > 0 ? capacity : size.value;
    about->line_bytes = line > 0 ? line : page->line_bytes;
    about->ways = take_optional_cache(page->request, level, "associativity");
    /* What goes under our name was measured, not only claimed. */
    for (size_t i = 0; i < BJ_HWLOC_INFOS; i++) {
        bj_emit_value value;
        bool known = bj_emit_use_cache(page->request, level, bj_hwloc_level_infos[i].quantity, &value);
        about->infos[i] = known && !value.claimed ? value.value : 0;
    }
    return read_sharing(page, level, error);
}

/* Each level stands for itself: where their number is not sure, those that are in the profile. */
static bj_status read_levels(xml_page *page, bj_error *error) {
    const bj_emit_request *request = page->request;
    char why[BJ_EMIT_REASON_ROOM], key[64];
    bj_emit_value levels;
    bool any = false;
    unsigned count = bj_emit_count_levels(request, &levels, why);
    if (count > 0)
        bj_emit_note_claim(request, &levels);
    else
        bj_emit_note_left_out(request, "the number of cache levels", why);
    page->level_count = count == 0 || count > BJ_HWLOC_LEVELS ? BJ_HWLOC_LEVELS : count;
    page->line_bytes = take_optional(request, "cache.line_bytes");
    for (unsigned level = 1; level <= page->level_count; level++) {
        snprintf(key, sizeof key, "cache.L%u.size_bytes", level);
        if (count == 0 && bj_data_find_answer(&request->profile->answers, key) == NULL)
            continue;
        BJ_TRY(read_level(page, level, error));
        any = any || page->levels[level].instance != NULL;
    }
    return any ? BJ_OK : bj_emit_refuse(request, error);
}

static void read_memory(xml_page *page) {
    static const char latency[] = "memory.latency_ns";
    bj_emit_value value;
    for (size_t i = 0; i < ATTRIBUTE_COUNT; i++) {
        const char *key = memory_attributes[i].key;
        bool known = strcmp(key, latency) == 0 ? bj_emit_want(page->request, "the latency of memory", key, &value)
                                               : bj_emit_use(page->request, key, &value);
        page->attributes[i] = known ? value.value * memory_attributes[i].unit : 0;
    }
}

/* Cpus below one instance of a level must be below one of each outer level, or there is no tree. */
static bj_status check_nesting(const xml_page *page, bj_error *error) {
    for (unsigned level = 1; level < page->level_count; level++) {
        unsigned next = level + 1;
        while (next < page->level_count && page->levels[next].instance == NULL)
            next++;
        const unsigned *inner = page->levels[level].instance, *outer = page->levels[next].instance;
        for (size_t i = 0; i < page->cpu_count && inner != NULL && outer != NULL; i++)
            for (size_t j = i + 1; j < page->cpu_count; j++) {
                int a = page->cpus[i], b = page->cpus[j];
                if (inner[a] != 0 && inner[a] == inner[b] && outer[a] != outer[b])
                    return bj_base_set_error(error, BJ_ERR_FAILED,
                                             "%s needs levels that nest: cpus %d and %d share L%u but not L%u",
                                             page->request->emitter->name, a, b, level, next);
            }
    }
    return BJ_OK;
}

/* ---- trees, nodes and kinds */

/* A structured answer that is taken; one that is there but not taken is noted. */
static const bj_answer *take_structured(const xml_page *page, const char *what, const char *key) {
    const bj_answer *answer = bj_data_find_answer(&page->request->profile->answers, key);
    bj_emit_value value;
    char why[BJ_EMIT_REASON_ROOM];
    if (answer == NULL)
        return NULL;
    if (bj_emit_accepts(page->request, answer, &value) && !value.claimed && answer->structured != NULL)
        return answer;
    bj_emit_describe_refusal(page->request, answer, why);
    bj_emit_note_unsure(page->request, what, why);
    return NULL;
}

/* Whether the topology has all cpus of the nodes, which are sorted. */
static bool has_nodes(const xml_page *page, const bj_cpu_groups *nodes) {
    for (size_t n = 0; n < nodes->count; n++) {
        bj_cpu_set *node = &nodes->items[n];
        qsort(node->items, node->count, sizeof *node->items, bj_hwloc_compare_cpus);
        for (size_t i = 0; i < node->count; i++)
            if (bsearch(&node->items[i], page->cpus, page->cpu_count, sizeof *page->cpus, bj_hwloc_compare_cpus) ==
                NULL)
                return false;
    }
    return nodes->count > 0;
}

/* Sorted both. */
static bool has_same_nodes(const bj_cpu_groups *a, const bj_cpu_groups *b) {
    bool same = a->count == b->count;
    for (size_t n = 0; n < a->count && same; n++)
        same = a->items[n].count == b->items[n].count &&
               memcmp(a->items[n].items, b->items[n].items, a->items[n].count * sizeof *a->items[n].items) == 0;
    return same;
}

static bj_status read_structures(xml_page *page, bj_error *error) {
    static const bj_cpu_groups none = {0};
    const bj_answer *answer = take_structured(page, "the tree of cpus", "topology.tree");
    page->nodes = &none;
    if (answer != NULL)
        BJ_TRY(bj_profile_read_cpu_tree(answer->key, answer->structured, &page->tree, error));
    answer = take_structured(page, "kinds of cpus", "cpu.kinds");
    if (answer != NULL)
        BJ_TRY(bj_profile_read_cpu_kinds(answer->key, answer->structured, &page->kinds, error));
    for (size_t i = 0; i < MATRIX_COUNT; i++) {
        bj_node_matrix *matrix = &page->matrices[i];
        answer = take_structured(page, "nodes of memory", node_matrices[i].key);
        if (answer == NULL)
            continue;
        BJ_TRY(bj_profile_read_node_matrix(answer->key, answer->structured,
                                           page->tree.cpus.count > 0 ? &page->tree : NULL, matrix, error));
        if (!has_nodes(page, &matrix->nodes))
            bj_emit_note_unsure(page->request, node_matrices[i].key, "the cpus of its nodes are not known");
        else if (page->nodes->count > 1 && !has_same_nodes(page->nodes, &matrix->nodes))
            bj_emit_note_unsure(page->request, node_matrices[i].key, "it has other nodes than the bandwidth");
        else if (matrix->nodes.count > 1)
            page->nodes = &matrix->nodes;
    }
    return BJ_OK;
}

static bool has_matrix(const xml_page *page, size_t index) {
    return page->nodes->count > 1 && has_same_nodes(page->nodes, &page->matrices[index].nodes);
}

/* Nodes that cross caches are none that hwloc can hold: then there is one for all. */
static bj_status add_nodes(xml_page *page, bj_hwloc_objects *objects) {
    static const bj_cpu_groups none = {0};
    for (size_t i = 0; i < page->nodes->count; i++) {
        bool crosses;
        BJ_TRY(bj_hwloc_add_set(objects, &page->nodes->items[i], NAN, i, &crosses));
        if (!crosses)
            continue;
        bj_emit_note_unsure(page->request, "nodes of memory", "they cross the caches");
        for (size_t j = 0; j < objects->count; j++)
            objects->objects[j].node = SIZE_MAX;
        page->nodes = objects->nodes = &none;
    }
    return BJ_OK;
}

static bj_status add_tree(const xml_page *page, bj_hwloc_objects *objects, const bj_cpu_node *node) {
    bool crosses;
    BJ_TRY(bj_hwloc_add_set(objects, &node->cpus, node->latency_ns, SIZE_MAX, &crosses));
    if (crosses)
        bj_emit_note_unsure(page->request, "a part of the tree", "it crosses caches or nodes");
    for (size_t i = 0; i < node->child_count; i++)
        BJ_TRY(add_tree(page, objects, &node->children[i]));
    return BJ_OK;
}

/* ---- writing */

static void print_value(const xml_page *page, size_t node, double value, const int *cpus, size_t count) {
    if (!(value > 0))
        return;
    fprintf(page->out, "    <memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"%zu\" value=\"%.0f\"",
            BJ_HWLOC_NODE_INDEX + node, fmax(1, floor(value + 0.5)));
    bj_hwloc_print_cpuset(page->out, "initiator_cpuset", cpus, count);
    fputs("/>\n", page->out);
}

/* The node that the cpu is of. */
static size_t find_node(const xml_page *page, int cpu) {
    for (size_t n = 0; n < page->nodes->count; n++)
        for (size_t i = 0; i < page->nodes->items[n].count; i++)
            if (page->nodes->items[n].items[i] == cpu)
                return n;
    return 0;
}

static void print_attribute(const xml_page *page, size_t index) {
    const int *measured = &page->request->profile->run.cpu_measured;
    bool from_nodes = index < MATRIX_COUNT && has_matrix(page, index);
    if (!from_nodes && !(page->attributes[index] > 0))
        return;
    fprintf(page->out, "  <memattr name=\"%s\" flags=\"%u\">\n", memory_attributes[index].name,
            memory_attributes[index].flags);
    for (size_t from = 0; from < page->nodes->count && from_nodes; from++)
        for (size_t to = 0; to < page->nodes->count; to++) {
            const bj_cpu_set *cpus = &page->nodes->items[from];
            double value = page->matrices[index].values.cells[from * page->nodes->count + to];
            print_value(page, to, value * memory_attributes[index].unit, cpus->items, cpus->count);
        }
    if (!from_nodes)
        print_value(page, find_node(page, *measured), page->attributes[index], measured, 1);
    fputs("  </memattr>\n", page->out);
}

/* Texts whose length hwloc wants to know beforehand. */
static void print_distances(const xml_page *page, size_t index) {
    size_t count = page->nodes->count, room = count * count * 24 + 1, used = 0;
    char *text = has_matrix(page, index) ? malloc(room) : NULL;
    if (text == NULL) {
        if (has_matrix(page, index))
            bj_base_note_no_memory();
        return;
    }
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, room - used, "%zu ", i);
    fprintf(page->out,
            "  <distances2 type=\"NUMANode\" nbobjs=\"%zu\" kind=\"%u\" name=\"%s\" indexing=\"os\">\n"
            "    <indexes length=\"%zu\">%s</indexes>\n",
            count, node_matrices[index].kind, node_matrices[index].name, used, text);
    used = 0;
    for (size_t i = 0; i < count * count; i++) {
        double value = page->matrices[index].values.cells[i] * memory_attributes[index].unit;
        used += (size_t)snprintf(text + used, room - used, "%.0f ", value > 0 && value < 1e18 ? floor(value + 0.5) : 0);
    }
    fprintf(page->out, "    <u64values length=\"%zu\">%s</u64values>\n  </distances2>\n", used, text);
    free(text);
}

/* hwloc ranks by efficiency, where more is faster. */
static void print_kinds(xml_page *page) {
    for (size_t k = 0; k < page->kinds.cpus.count && page->kinds.cpus.count > 1; k++) {
        bj_cpu_set *cpus = &page->kinds.cpus.items[k];
        size_t slower = 0;
        for (size_t other = 0; other < page->kinds.cpus.count; other++)
            slower += page->kinds.clock_ghz[other] < page->kinds.clock_ghz[k];
        qsort(cpus->items, cpus->count, sizeof *cpus->items, bj_hwloc_compare_cpus);
        fputs("  <cpukind", page->out);
        bj_hwloc_print_cpuset(page->out, "cpuset", cpus->items, cpus->count);
        fprintf(page->out, " forced_efficiency=\"%zu\">\n", slower);
        bj_hwloc_print_number_info(page->out, 2, "BlackjackClockGHz", page->kinds.clock_ghz[k]);
        bj_hwloc_print_number_info(page->out, 2, "BlackjackL1Bytes", page->kinds.l1_bytes[k]);
        fputs("  </cpukind>\n", page->out);
    }
}

static void print_infos(const xml_page *page, const char *name, const bj_strings *texts) {
    for (size_t i = 0; i < texts->count; i++)
        bj_hwloc_print_info(page->out, 2, name, texts->items[i]);
}

static bj_status print_page(xml_page *page, bj_hwloc_objects *objects) {
    const bj_profile *profile = page->request->profile;
    FILE *out = page->out;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n  <object type=\"Machine\" os_index=\"0\"",
          out);
    bj_hwloc_print_sets(objects, page->cpus, page->cpu_count);
    bj_hwloc_print_cpuset(out, "allowed_cpuset", page->cpus, page->cpu_count);
    bj_hwloc_print_all_nodes(objects, "allowed_nodeset");
    fprintf(out, " gp_index=\"%d\">\n", BJ_HWLOC_MACHINE_INDEX);
    objects->depth = 2;
    bj_hwloc_print_info(out, 2, "Backend", "Blackjack");
    bj_hwloc_print_info(out, 2, "CPUModel", profile->environment.cpu);
    bj_hwloc_print_info(out, 2, "BlackjackMeasured", profile->created);
    print_infos(page, "BlackjackClaimed", &page->request->notes->claimed);
    print_infos(page, "BlackjackLeftOut", &page->request->notes->left_out);
    print_infos(page, "BlackjackLeftOut", &page->request->notes->unsure);
    BJ_TRY(bj_hwloc_print_objects(objects));
    fputs("  </object>\n", out);
    for (size_t i = 0; i < MATRIX_COUNT; i++)
        print_distances(page, i);
    for (size_t i = 0; i < ATTRIBUTE_COUNT; i++)
        print_attribute(page, i);
    print_kinds(page);
    fputs("</topology>\n", out);
    return BJ_OK;
}

static bj_status emit_objects(xml_page *page, bj_error *error) {
    bj_hwloc_objects objects = {
        .out = page->out,
        .levels = page->levels,
        .nodes = page->nodes,
        .memory_bytes = page->request->profile->environment.memory_bytes,
        .cpus = page->cpus,
        .cpu_count = page->cpu_count,
        .latency_ns = NAN,
        .next_index = BJ_HWLOC_NODE_INDEX + (unsigned)page->nodes->count + 1,
        .error = error,
    };
    bj_status status = bj_hwloc_add_caches(&objects, page->level_count);
    if (status == BJ_OK)
        status = add_nodes(page, &objects);
    if (status == BJ_OK && page->tree.cpus.count > 0)
        status = add_tree(page, &objects, &page->tree);
    if (status == BJ_OK)
        status = print_page(page, &objects);
    bj_hwloc_free_objects(&objects);
    return status;
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    xml_page page = {.request = request, .out = out};
    bj_status status = list_cpus(&page, error);
    if (status == BJ_OK)
        status = read_levels(&page, error);
    read_memory(&page);
    if (status == BJ_OK)
        status = check_nesting(&page, error);
    if (status == BJ_OK)
        status = read_structures(&page, error);
    if (status == BJ_OK)
        status = emit_objects(&page, error);
    free(page.cpus);
    for (unsigned level = 1; level <= BJ_HWLOC_LEVELS; level++)
        free(page.levels[level].instance);
    for (size_t i = 0; i < MATRIX_COUNT; i++)
        bj_profile_free_node_matrix(&page.matrices[i]);
    bj_profile_free_cpu_tree(&page.tree);
    bj_profile_free_cpu_kinds(&page.kinds);
    return status;
}

const bj_emitter bj_emitter_hwloc_xml = {
    .name = "hwloc-xml",
    .summary = "a topology for hwloc to import: measured caches, latency and bandwidth of memory",
    .has_comments = true,
    .emit = emit,
};
