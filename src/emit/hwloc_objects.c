#include "emit/hwloc_objects.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"

const struct bj_hwloc_info bj_hwloc_level_infos[BJ_HWLOC_INFOS] = {
    {"size_bytes", "BlackjackEffectiveBytes"},
    {"latency_ns", "BlackjackLatencyNs"},
    {"read_gbs", "BlackjackReadGBs"},
    {"write_gbs", "BlackjackWriteGBs"},
    {"copy_gbs", "BlackjackCopyGBs"},
    {"full.size_bytes", "BlackjackFullEffectiveBytes"},
    {"full.latency_ns", "BlackjackFullLatencyNs"},
};

/* ---- writing */

void bj_hwloc_print_cpuset(FILE *out, const char *attribute, const int *cpus, size_t count) {
    size_t words = count > 0 ? (size_t)cpus[count - 1] / 32 + 1 : 1, next = count;
    fprintf(out, " %s=\"", attribute);
    for (size_t w = words; w > 0; w--) {
        unsigned long word = 0;
        for (; next > 0 && (size_t)cpus[next - 1] / 32 == w - 1; next--)
            word |= 1ul << (cpus[next - 1] % 32);
        fprintf(out, "0x%08lx%s", word, w > 1 ? "," : "");
    }
    putc('"', out);
}

static bool has_any(const bj_cpu_set *set, const int *cpus, size_t count) {
    for (size_t i = 0; i < set->count; i++)
        if (bsearch(&set->items[i], cpus, count, sizeof *cpus, bj_hwloc_compare_cpus) != NULL)
            return true;
    return false;
}

/* Nodes that have some of the cpus. */
static void print_nodeset(const bj_hwloc_objects *objects, const char *attribute, const int *cpus, size_t count) {
    int nodes[BJ_HWLOC_NODES_MOST] = {0};
    size_t found = objects->nodes->count == 0; /* there is one, which is 0 */
    for (size_t n = 0; n < objects->nodes->count; n++)
        if (has_any(&objects->nodes->items[n], cpus, count))
            nodes[found++] = (int)n;
    bj_hwloc_print_cpuset(objects->out, attribute, nodes, found);
}

void bj_hwloc_print_all_nodes(const bj_hwloc_objects *objects, const char *attribute) {
    print_nodeset(objects, attribute, objects->cpus, objects->cpu_count);
}

void bj_hwloc_print_sets(const bj_hwloc_objects *objects, const int *cpus, size_t count) {
    bj_hwloc_print_cpuset(objects->out, "cpuset", cpus, count);
    bj_hwloc_print_cpuset(objects->out, "complete_cpuset", cpus, count);
    print_nodeset(objects, "nodeset", cpus, count);
    print_nodeset(objects, "complete_nodeset", cpus, count);
}

void bj_hwloc_print_info(FILE *out, unsigned depth, const char *name, const char *text) {
    if (text[0] == '\0')
        return;
    fprintf(out, "%*s<info name=\"%s\" value=\"", (int)(2 * depth), "", name);
    bj_emit_print_safely(out, text, "<>&\"");
    fputs("\"/>\n", out);
}

void bj_hwloc_print_number_info(FILE *out, unsigned depth, const char *name, double number) {
    char text[BJ_NUMBER_ROOM];
    if (!(number > 0))
        return;
    bj_data_format_number(number, text);
    bj_hwloc_print_info(out, depth, name, text);
}

static void print_node(const bj_hwloc_objects *objects, size_t node, const int *cpus, size_t count) {
    fprintf(objects->out, "%*s<object type=\"NUMANode\" os_index=\"%zu\"", (int)(2 * objects->depth), "", node);
    bj_hwloc_print_cpuset(objects->out, "cpuset", cpus, count);
    bj_hwloc_print_cpuset(objects->out, "complete_cpuset", cpus, count);
    bj_hwloc_print_cpuset(objects->out, "nodeset", (const int[]){(int)node}, 1);
    bj_hwloc_print_cpuset(objects->out, "complete_nodeset", (const int[]){(int)node}, 1);
    fprintf(objects->out, " gp_index=\"%zu\" local_memory=\"%llu\"/>\n", BJ_HWLOC_NODE_INDEX + node,
            (unsigned long long)(objects->nodes->count > 0 ? 0 : objects->memory_bytes));
}

static void open_object(bj_hwloc_objects *objects, const bj_hwloc_object *object) {
    FILE *out = objects->out;
    fprintf(out, "%*s", (int)(2 * objects->depth), "");
    if (object->level > 0)
        fprintf(out, "<object type=\"L%uCache\"", object->level);
    else
        fputs("<object type=\"Group\" subtype=\"Blackjack\"", out);
    bj_hwloc_print_sets(objects, object->cpus, object->count);
    fprintf(out, " gp_index=\"%u\"", objects->next_index++);
    if (object->level > 0) {
        const bj_hwloc_level *about = &objects->levels[object->level];
        fprintf(out,
                " cache_size=\"%.0f\" depth=\"%u\" cache_linesize=\"%.0f\" cache_associativity=\"%.0f\" "
                "cache_type=\"%d\"",
                about->size_bytes, object->level, about->line_bytes, about->ways, object->level == 1);
    } else {
        fputs(" kind=\"0\" subkind=\"0\"", out);
    }
    fputs(">\n", out);
    objects->depth++;
    for (size_t i = 0; i < BJ_HWLOC_INFOS && object->level > 0; i++)
        bj_hwloc_print_number_info(out, objects->depth, bj_hwloc_level_infos[i].name,
                                   objects->levels[object->level].infos[i]);
    bj_hwloc_print_number_info(out, objects->depth, "BlackjackPairLatencyNs", object->latency_ns);
    if (object->node != SIZE_MAX)
        print_node(objects, object->node, object->cpus, object->count);
}

/* The child of `parent` that the cpu is below; SIZE_MAX: it stands there itself. */
static size_t find_child(const bj_hwloc_objects *objects, size_t parent, int cpu) {
    size_t at = objects->innermost[cpu];
    while (at != parent && at != SIZE_MAX && objects->objects[at].parent != parent)
        at = objects->objects[at].parent;
    return at == parent ? SIZE_MAX : at;
}

static void print_below(bj_hwloc_objects *objects, size_t parent, const int *cpus, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t child = find_child(objects, parent, cpus[i]);
        if (child == SIZE_MAX) {
            fprintf(objects->out, "%*s<object type=\"PU\" os_index=\"%d\"", (int)(2 * objects->depth), "", cpus[i]);
            bj_hwloc_print_sets(objects, &cpus[i], 1);
            fprintf(objects->out, " gp_index=\"%u\"/>\n", objects->next_index++);
            continue;
        }
        const bj_hwloc_object *object = &objects->objects[child];
        if (object->cpus[0] != cpus[i])
            continue; /* it was written with its first cpu */
        open_object(objects, object);
        print_below(objects, child, object->cpus, object->count);
        objects->depth--;
        fprintf(objects->out, "%*s</object>\n", (int)(2 * objects->depth), "");
    }
}

/* ---- nesting */

int bj_hwloc_compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

/* Takes `cpus` over, also on failure. */
static bj_status add_object(bj_hwloc_objects *objects, unsigned level, int *cpus, size_t count,
                            bj_hwloc_object **added) {
    if (objects->count == objects->room) {
        size_t room = objects->room == 0 ? 64 : 2 * objects->room;
        bj_hwloc_object *grown = realloc(objects->objects, room * sizeof *grown);
        if (grown == NULL) {
            free(cpus);
            return bj_base_set_error(objects->error, BJ_ERR_RESOURCE, "no memory for %zu objects", room);
        }
        objects->objects = grown;
        objects->room = room;
    }
    *added = &objects->objects[objects->count++];
    **added = (bj_hwloc_object){level, cpus, count, SIZE_MAX, NAN, SIZE_MAX};
    return BJ_OK;
}

static bj_status copy_cpus(bj_hwloc_objects *objects, size_t count, int **copy) {
    *copy = calloc(count + 1, sizeof **copy);
    return *copy != NULL ? BJ_OK : bj_base_set_error(objects->error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
}

static bj_status add_level(bj_hwloc_objects *objects, unsigned level) {
    const unsigned *instance = objects->levels[level].instance;
    for (size_t i = 0; i < objects->cpu_count; i++) {
        unsigned here = instance[objects->cpus[i]];
        bool begun = false;
        for (size_t j = 0; j < i && here != 0 && !begun; j++)
            begun = instance[objects->cpus[j]] == here;
        if (here == 0 || begun)
            continue;
        size_t members = 0;
        int *cpus;
        bj_hwloc_object *added;
        BJ_TRY(copy_cpus(objects, objects->cpu_count - i, &cpus));
        for (size_t j = i; j < objects->cpu_count; j++)
            if (instance[objects->cpus[j]] == here)
                cpus[members++] = objects->cpus[j];
        BJ_TRY(add_object(objects, level, cpus, members, &added));
    }
    return BJ_OK;
}

bj_status bj_hwloc_add_caches(bj_hwloc_objects *objects, unsigned level_count) {
    for (unsigned level = level_count; level > 0; level--)
        if (objects->levels[level].instance != NULL)
            BJ_TRY(add_level(objects, level));
    return BJ_OK;
}

/* How many cpus of the object are in the list, ascending both. */
static size_t count_common(const bj_hwloc_object *object, const int *cpus, size_t count) {
    size_t common = 0, i = 0, j = 0;
    while (i < object->count && j < count) {
        int left = object->cpus[i], right = cpus[j];
        common += left == right;
        i += left <= right;
        j += right <= left;
    }
    return common;
}

bj_status bj_hwloc_add_set(bj_hwloc_objects *objects, const bj_cpu_set *set, double latency_ns, size_t node,
                           bool *crosses) {
    int *cpus;
    size_t count = 0;
    bj_hwloc_object *same = NULL;
    *crosses = false;
    BJ_TRY(copy_cpus(objects, set->count, &cpus));
    for (size_t i = 0; i < set->count; i++)
        if (bsearch(&set->items[i], objects->cpus, objects->cpu_count, sizeof *cpus, bj_hwloc_compare_cpus) != NULL)
            cpus[count++] = set->items[i];
    qsort(cpus, count, sizeof *cpus, bj_hwloc_compare_cpus);
    for (size_t i = 0; i < objects->count && !*crosses; i++) {
        bj_hwloc_object *other = &objects->objects[i];
        size_t common = count_common(other, cpus, count);
        *crosses = common != 0 && common != other->count && common != count;
        if (same == NULL && common == count && common == other->count)
            same = other; /* the outermost of them */
    }
    bool needless = count == 0 || *crosses || (node == SIZE_MAX && (count == 1 || count == objects->cpu_count));
    if (same != NULL || needless) {
        free(cpus);
        if (same == NULL && count == objects->cpu_count)
            objects->latency_ns = latency_ns;
    } else {
        BJ_TRY(add_object(objects, 0, cpus, count, &same));
    }
    if (same != NULL && !*crosses) {
        same->latency_ns = isnan(latency_ns) ? same->latency_ns : latency_ns;
        same->node = node != SIZE_MAX ? node : same->node;
    }
    return BJ_OK;
}

/* Large ones first, and of equal ones the outer level. */
static int compare_objects(const void *a, const void *b) {
    const bj_hwloc_object *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    if (left->level != right->level)
        return left->level > right->level ? -1 : 1;
    return bj_hwloc_compare_cpus(left->cpus, right->cpus);
}

bj_status bj_hwloc_print_objects(bj_hwloc_objects *objects) {
    objects->innermost = malloc(BJ_CPU_NUMBERS * sizeof *objects->innermost);
    if (objects->innermost == NULL)
        return bj_base_set_error(objects->error, BJ_ERR_RESOURCE, "no memory for the cpus");
    for (size_t i = 0; i < BJ_CPU_NUMBERS; i++)
        objects->innermost[i] = SIZE_MAX;
    if (objects->count > 0)
        qsort(objects->objects, objects->count, sizeof *objects->objects, compare_objects);
    for (size_t i = 0; i < objects->count; i++) {
        bj_hwloc_object *object = &objects->objects[i];
        object->parent = objects->innermost[object->cpus[0]];
        for (size_t j = 0; j < object->count; j++)
            objects->innermost[object->cpus[j]] = i;
    }
    bj_hwloc_print_number_info(objects->out, objects->depth, "BlackjackPairLatencyNs", objects->latency_ns);
    if (objects->nodes->count == 0)
        print_node(objects, 0, objects->cpus, objects->cpu_count);
    print_below(objects, SIZE_MAX, objects->cpus, objects->cpu_count);
    return BJ_OK;
}

void bj_hwloc_free_objects(bj_hwloc_objects *objects) {
    for (size_t i = 0; i < objects->count; i++)
        free(objects->objects[i].cpus);
    free(objects->objects);
    free(objects->innermost);
    objects->objects = NULL;
    objects->innermost = NULL;
    objects->count = objects->room = 0;
}
