/* For hwloc: a topology to import, with measured caches and memory attributes in place of what the system claims.
 *
 * Caches stand over the cpus that `cache.L<n>.sharing` puts together; without it only over the cpu that was measured,
 * since nothing is known of the others. Sizes are capacities where the ramp gave one, since that is what hwloc means.
 * Latencies and bandwidths of caches are <info>, those of memory are hwloc's own memory attributes: ns and MiB/s, as
 * seen from the measured cpu. There is one NUMA node: nodes are not measured yet. What is left out is told in <info>,
 * too, since hwloc's own parser takes no comments. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"
#include "emit/emit.h"
#include "profile/cpu_tree.h"

/* hwloc knows no more levels; more cpus than any machine has, since the sets of all of them are written out. */
enum { MAX_LEVELS = 5, MAX_CPUS = 4096, CPU_NUMBERS = 8192 };
/* Of a level, and of memory as hwloc's own attributes. */
enum { INFO_COUNT = 5, ATTRIBUTE_COUNT = 4 };
enum { MACHINE_INDEX = 1, NODE_INDEX = 2, FIRST_FREE_INDEX = 3 };

static const struct {
    const char *quantity, *name;
} level_infos[INFO_COUNT] = {
    {"size_bytes", "BlackjackEffectiveBytes"}, {"latency_ns", "BlackjackLatencyNs"}, {"read_gbs", "BlackjackReadGBs"},
    {"write_gbs", "BlackjackWriteGBs"},        {"copy_gbs", "BlackjackCopyGBs"},
};

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
};

typedef struct {
    double size_bytes, line_bytes, ways; /* 0: not known */
    double infos[INFO_COUNT];            /* 0: not measured */
    /* Which instance of the level a cpu is below, by cpu number: 0 none, else from 1. NULL: the level is left out. */
    unsigned *instance;
} xml_level;

typedef struct {
    const bj_emit_request *request;
    FILE *out;
    xml_level levels[MAX_LEVELS + 1]; /* from 1 */
    unsigned level_count;
    double line_bytes; /* of all levels; 0: not known */
    double attributes[ATTRIBUTE_COUNT];
    int *cpus; /* ascending */
    size_t cpu_count;
    unsigned next_index;
    unsigned depth;
} xml_page;

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

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
    qsort(page->cpus, count, sizeof *page->cpus, compare_cpus);
    for (size_t i = 0; i < count; i++)
        if (count > MAX_CPUS || page->cpus[i] >= CPU_NUMBERS || (i > 0 && page->cpus[i] == page->cpus[i - 1]))
            return bj_base_set_error(error, BJ_ERR_FAILED, "%s takes at most %d cpus, distinct and below %d",
                                     page->request->emitter->name, MAX_CPUS, CPU_NUMBERS);
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
    xml_level *about = &page->levels[level];
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
    for (size_t i = 0; i < INFO_COUNT; i++) {
        bj_emit_value value;
        bool known = bj_emit_use_cache(page->request, level, level_infos[i].quantity, &value);
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
    page->level_count = count == 0 || count > MAX_LEVELS ? MAX_LEVELS : count;
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

/* hwloc's form: words of 32 bits, the highest first. */
static void print_cpuset(const xml_page *page, const char *attribute, const int *cpus, size_t count) {
    size_t words = (size_t)cpus[count - 1] / 32 + 1;
    fprintf(page->out, " %s=\"", attribute);
    for (size_t w = words; w > 0; w--) {
        unsigned long word = 0;
        for (size_t i = 0; i < count; i++)
            if ((size_t)cpus[i] / 32 == w - 1)
                word |= 1ul << (cpus[i] % 32);
        fprintf(page->out, "0x%08lx%s", word, w > 1 ? "," : "");
    }
    putc('"', page->out);
}

static void indent(const xml_page *page) {
    fprintf(page->out, "%*s", (int)(2 * page->depth), "");
}

static void print_sets(const xml_page *page, const int *cpus, size_t count) {
    print_cpuset(page, "cpuset", cpus, count);
    print_cpuset(page, "complete_cpuset", cpus, count);
    fputs(" nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\"", page->out);
}

static void print_info(const xml_page *page, const char *name, const char *text) {
    if (text[0] == '\0')
        return;
    indent(page);
    fprintf(page->out, "<info name=\"%s\" value=\"", name);
    bj_emit_print_safely(page->out, text, "<>&\"");
    fputs("\"/>\n", page->out);
}

static void open_cache(xml_page *page, unsigned level, const int *cpus, size_t count) {
    const xml_level *about = &page->levels[level];
    indent(page);
    fprintf(page->out, "<object type=\"L%uCache\"", level);
    print_sets(page, cpus, count);
    fprintf(page->out,
            " gp_index=\"%u\" cache_size=\"%.0f\" depth=\"%u\" cache_linesize=\"%.0f\" cache_associativity=\"%.0f\" "
            "cache_type=\"%d\">\n",
            page->next_index++, about->size_bytes, level, about->line_bytes, about->ways, level == 1);
    page->depth++;
    for (size_t i = 0; i < INFO_COUNT; i++) {
        char number[BJ_NUMBER_ROOM];
        bj_data_format_number(about->infos[i], number);
        if (about->infos[i] > 0)
            print_info(page, level_infos[i].name, number);
    }
}

static void print_cpu(xml_page *page, const int *cpu) {
    indent(page);
    fprintf(page->out, "<object type=\"PU\" os_index=\"%d\"", *cpu);
    print_sets(page, cpu, 1);
    fprintf(page->out, " gp_index=\"%u\"/>\n", page->next_index++);
}

/* `scratch` has room for as many cpus and one level more; cpus are ascending. */
static void print_below(xml_page *page, unsigned level, const int *cpus, size_t count, int *scratch) {
    if (level == 0) {
        for (size_t i = 0; i < count; i++)
            print_cpu(page, &cpus[i]);
        return;
    }
    const unsigned *instance = page->levels[level].instance;
    if (instance == NULL) {
        print_below(page, level - 1, cpus, count, scratch);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        unsigned here = instance[cpus[i]];
        bool begun = false;
        for (size_t j = 0; j < i && here != 0 && !begun; j++)
            begun = instance[cpus[j]] == here;
        if (begun)
            continue;
        size_t members = 0;
        for (size_t j = i; j < count; j++)
            if (j == i || (here != 0 && instance[cpus[j]] == here))
                scratch[members++] = cpus[j];
        if (here != 0)
            open_cache(page, level, scratch, members);
        print_below(page, level - 1, scratch, members, scratch + members);
        if (here == 0)
            continue;
        page->depth--;
        indent(page);
        fputs("</object>\n", page->out);
    }
}

static void print_attribute(const xml_page *page, const char *name, unsigned flags, double value) {
    if (!(value > 0))
        return;
    fprintf(page->out,
            "  <memattr name=\"%s\" flags=\"%u\">\n"
            "    <memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"%d\" value=\"%.0f\"",
            name, flags, NODE_INDEX, fmax(1, floor(value + 0.5)));
    print_cpuset(page, "initiator_cpuset", &page->request->profile->run.cpu_measured, 1);
    fputs("/>\n  </memattr>\n", page->out);
}

static void print_infos(const xml_page *page, const char *name, const bj_strings *texts) {
    for (size_t i = 0; i < texts->count; i++)
        print_info(page, name, texts->items[i]);
}

static void print_page(xml_page *page, int *scratch) {
    const bj_profile *profile = page->request->profile;
    FILE *out = page->out;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n  <object type=\"Machine\" os_index=\"0\"",
          out);
    print_sets(page, page->cpus, page->cpu_count);
    print_cpuset(page, "allowed_cpuset", page->cpus, page->cpu_count);
    fprintf(out, " allowed_nodeset=\"0x00000001\" gp_index=\"%d\">\n", MACHINE_INDEX);
    page->depth = 2;
    print_info(page, "Backend", "Blackjack");
    print_info(page, "CPUModel", profile->environment.cpu);
    print_info(page, "BlackjackMeasured", profile->created);
    print_infos(page, "BlackjackClaimed", &page->request->notes->claimed);
    print_infos(page, "BlackjackLeftOut", &page->request->notes->left_out);
    print_infos(page, "BlackjackLeftOut", &page->request->notes->unsure);
    indent(page);
    fputs("<object type=\"NUMANode\" os_index=\"0\"", out);
    print_sets(page, page->cpus, page->cpu_count);
    fprintf(out, " gp_index=\"%d\" local_memory=\"%llu\"/>\n", NODE_INDEX,
            (unsigned long long)profile->environment.memory_bytes);
    print_below(page, page->level_count, page->cpus, page->cpu_count, scratch);
    fputs("  </object>\n", out);
    for (size_t i = 0; i < ATTRIBUTE_COUNT; i++)
        print_attribute(page, memory_attributes[i].name, memory_attributes[i].flags, page->attributes[i]);
    fputs("</topology>\n", out);
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    xml_page page = {.request = request, .out = out, .next_index = FIRST_FREE_INDEX};
    int *scratch = NULL;
    bj_status status = list_cpus(&page, error);
    if (status == BJ_OK)
        status = read_levels(&page, error);
    read_memory(&page);
    if (status == BJ_OK)
        status = check_nesting(&page, error);
    if (status == BJ_OK) {
        scratch = calloc((MAX_LEVELS + 1) * page.cpu_count, sizeof *scratch);
        if (scratch == NULL)
            status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", page.cpu_count);
        else
            print_page(&page, scratch);
    }
    free(scratch);
    free(page.cpus);
    for (unsigned level = 1; level <= MAX_LEVELS; level++)
        free(page.levels[level].instance);
    return status;
}

const bj_emitter bj_emitter_hwloc_xml = {
    .name = "hwloc-xml",
    .summary = "a topology for hwloc to import: measured caches, latency and bandwidth of memory",
    .has_comments = true,
    .emit = emit,
};
