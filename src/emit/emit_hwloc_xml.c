/* For hwloc: a topology to import, with measured caches and memory attributes in place of what the system claims.
 *
 * Caches stand over the cpus that `cache.L<n>.sharing` puts together; without it only over the cpu that was measured,
 * since nothing is known of the others. Sizes are capacities where the ramp gave one, since that is what hwloc means.
 * Latencies and bandwidths of caches are <info>, those of memory are hwloc's own memory attributes: ns and MiB/s, as
 * seen from the measured cpu. There is one NUMA node: nodes are not measured yet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"
#include "emit/emit.h"
#include "profile/cpu_tree.h"

/* hwloc knows no more levels; more cpus than any machine has, since the sets of all of them are written out. */
enum { MAX_LEVELS = 5, MAX_CPUS = 4096, CPU_NUMBERS = 8192 };
enum { MACHINE_INDEX = 1, NODE_INDEX = 2, FIRST_FREE_INDEX = 3 };

typedef struct {
    double size_bytes, line_bytes, ways; /* 0: not known */
    /* Which instance of the level a cpu is below, by cpu number: 0 none, else from 1. */
    unsigned *instance;
} xml_level;

typedef struct {
    const bj_emit_request *request;
    FILE *out;
    xml_level levels[MAX_LEVELS + 1]; /* from 1 */
    unsigned level_count;
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
    return bj_emit_take(request, key, &value, NULL) == BJ_OK && value.value > 0 ? value.value : 0;
}

static double take_optional_cache(const bj_emit_request *request, unsigned level, const char *what) {
    bj_emit_value value;
    return bj_emit_take_cache(request, level, what, &value, NULL) == BJ_OK ? value.value : 0;
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
    BJ_TRY(bj_emit_take_cache(page->request, level, "size_bytes", &size, error));
    double capacity = take_optional_cache(page->request, level, "capacity_bytes");
    double line = take_optional_cache(page->request, level, "line_bytes");
    about->size_bytes = capacity > 0 ? capacity : size.value;
    about->line_bytes = line > 0 ? line : take_optional(page->request, "cache.line_bytes");
    about->ways = take_optional_cache(page->request, level, "associativity");
    return read_sharing(page, level, error);
}

/* Cpus below one instance of a level must be below one of each outer level, or there is no tree. */
static bj_status check_nesting(const xml_page *page, bj_error *error) {
    for (unsigned level = 1; level < page->level_count; level++) {
        const unsigned *inner = page->levels[level].instance, *outer = page->levels[level + 1].instance;
        for (size_t i = 0; i < page->cpu_count; i++)
            for (size_t j = i + 1; j < page->cpu_count; j++) {
                int a = page->cpus[i], b = page->cpus[j];
                if (inner[a] != 0 && inner[a] == inner[b] && outer[a] != outer[b])
                    return bj_base_set_error(error, BJ_ERR_FAILED,
                                             "%s needs levels that nest: cpus %d and %d share L%u but not L%u",
                                             page->request->emitter->name, a, b, level, level + 1);
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

/* What goes under our name was measured, not only claimed. */
static void print_measured(const xml_page *page, unsigned level, const char *what, const char *name) {
    char number[BJ_NUMBER_ROOM];
    bj_emit_value value;
    if (bj_emit_take_cache(page->request, level, what, &value, NULL) != BJ_OK || value.claimed)
        return;
    bj_data_format_number(value.value, number);
    indent(page);
    fprintf(page->out, "<info name=\"%s\" value=\"%s\"/>\n", name, number);
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
    print_measured(page, level, "size_bytes", "BlackjackEffectiveBytes");
    print_measured(page, level, "latency_ns", "BlackjackLatencyNs");
    print_measured(page, level, "read_gbs", "BlackjackReadGBs");
    print_measured(page, level, "write_gbs", "BlackjackWriteGBs");
    print_measured(page, level, "copy_gbs", "BlackjackCopyGBs");
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

/* hwloc's flags: 1 higher is better, 2 lower is better, 4 depends on who asks. */
static void print_memory(const xml_page *page) {
    const bj_emit_request *request = page->request;
    const double mib_per_gb = 1e9 / 1048576;
    print_attribute(page, "Bandwidth", 5, take_optional(request, "memory.copy_gbs") * mib_per_gb);
    print_attribute(page, "Latency", 6, take_optional(request, "memory.latency_ns"));
    print_attribute(page, "ReadBandwidth", 5, take_optional(request, "memory.read_gbs") * mib_per_gb);
    print_attribute(page, "WriteBandwidth", 5, take_optional(request, "memory.write_gbs") * mib_per_gb);
}

static void print_text_info(const xml_page *page, const char *name, const char *text) {
    if (text[0] == '\0')
        return;
    indent(page);
    fprintf(page->out, "<info name=\"%s\" value=\"", name);
    bj_emit_print_safely(page->out, text, "<>&\"'");
    fputs("\"/>\n", page->out);
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
    print_text_info(page, "Backend", "Blackjack");
    print_text_info(page, "CPUModel", profile->environment.cpu);
    print_text_info(page, "BlackjackMeasured", profile->created);
    indent(page);
    fputs("<object type=\"NUMANode\" os_index=\"0\"", out);
    print_sets(page, page->cpus, page->cpu_count);
    fprintf(out, " gp_index=\"%d\" local_memory=\"%llu\"/>\n", NODE_INDEX,
            (unsigned long long)profile->environment.memory_bytes);
    print_below(page, page->level_count, page->cpus, page->cpu_count, scratch);
    fputs("  </object>\n", out);
    print_memory(page);
    fputs("</topology>\n", out);
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    xml_page page = {.request = request, .out = out, .next_index = FIRST_FREE_INDEX};
    bj_emit_value latency, levels;
    int *scratch = NULL;
    bj_status status = bj_emit_take_levels(request, 1, &levels, error);
    if (status == BJ_OK) {
        page.level_count = levels.value < MAX_LEVELS ? (unsigned)levels.value : MAX_LEVELS;
        status = bj_emit_take(request, "memory.latency_ns", &latency, error);
    }
    if (status == BJ_OK)
        status = list_cpus(&page, error);
    for (unsigned level = 1; level <= page.level_count && status == BJ_OK; level++)
        status = read_level(&page, level, error);
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
    .emit = emit,
};
