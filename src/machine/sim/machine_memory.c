/* The sections of a machine file that make the memory model: cpus, caches, memory, pages, TLBs, prefetchers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "machine/sim/machine_sections.h"

#define FIELD_COUNT(fields) (sizeof(fields) / sizeof(fields)[0])

static const double MOST_CYCLES = 1e6;
/* A gigabyte of 64-byte lines: far above any cache, and what the tags of one instance may cost us. Sets are padded to
 * four ways, so a cache of fewer may have fewer lines. */
static const uint64_t MOST_LINES = 16u << 20;
static const uint64_t LEAST_WAYS_STORED = 4;

static bool is_power_of_two(uint64_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

static int compare_ints(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return (left > right) - (left < right);
}

static bj_status read_numbers(const bj_json_place *at, json_t *list, bj_sim_spec *spec) {
    if (json_array_size(list) != spec->cpus)
        return bj_json_expected(at, NULL, "%" PRIu64 " OS numbers, one a cpu in tree order", spec->cpus);
    for (size_t i = 0; i < spec->cpus; i++) {
        uint64_t number = 0;
        bj_json_place inner = bj_json_enter_item(at, i);
        bj_json_field field = {"", BJ_JSON_COUNT, &number, 0, 65535, NULL, 0, false};
        BJ_TRY(bj_json_read_value(&inner, json_array_get(list, i), &field));
        spec->os_number[i] = (int)number;
    }
    int sorted[BJ_SIM_MAX_CPUS];
    memcpy(sorted, spec->os_number, spec->cpus * sizeof sorted[0]);
    qsort(sorted, spec->cpus, sizeof sorted[0], compare_ints);
    for (size_t i = 1; i < spec->cpus; i++) {
        if (sorted[i] == sorted[i - 1])
            return bj_json_expected(at, NULL, "each OS number once, not %d again", sorted[i]);
    }
    return BJ_OK;
}

bj_status bj_sim_read_numbering(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    static const char *const choices[] = {"compact", "scatter", NULL};
    if (json_is_array(value)) {
        spec->numbering = BJ_SIM_EXPLICIT;
        return read_numbers(at, value, spec);
    }
    bj_json_field field = {.kind = BJ_JSON_CHOICE, .target = &spec->numbering, .choices = choices};
    if (value != NULL) {
        bj_status status = bj_json_read_value(at, value, &field);
        if (status != BJ_OK)
            return bj_json_expected(at, NULL, "\"compact\", \"scatter\" or a list of OS numbers");
    }
    uint64_t cores = spec->cpus / spec->smt;
    uint64_t cores_in_socket = cores / spec->sockets;
    for (uint64_t i = 0; i < spec->cpus; i++) {
        uint64_t thread = i % spec->smt, core = i / spec->smt;
        uint64_t socket = core / cores_in_socket, core_in_socket = core % cores_in_socket;
        uint64_t scattered = thread * cores + core_in_socket * spec->sockets + socket;
        spec->os_number[i] = (int)(spec->numbering == BJ_SIM_SCATTER ? scattered : i);
    }
    return BJ_OK;
}

/* What one cache must be by itself. */
static bj_status check_cache(const bj_json_place *at, bj_sim_cache_spec *cache) {
    if (!is_power_of_two(cache->line_bytes))
        return bj_json_expected(at, NULL, "line to be a power of two");
    if (cache->size_bytes % (cache->ways * cache->line_bytes) != 0)
        return bj_json_expected(at, NULL, "size to be a multiple of ways * line");
    uint64_t most_sets = MOST_LINES / (cache->ways > LEAST_WAYS_STORED ? cache->ways : LEAST_WAYS_STORED);
    if (cache->size_bytes / (cache->ways * cache->line_bytes) > most_sets)
        return bj_json_expected(at, NULL, "at most %" PRIu64 " lines", most_sets * cache->ways);
    if (cache->replacement == BJ_SIM_PLRU && cache->ways > 64)
        return bj_json_expected(at, NULL, "at most 64 ways for plru");
    /* As of domains: a slower one would take longer than numbers go. */
    if (cache->gbs > 0 && cache->gbs < 0.001)
        return bj_json_expected(at, NULL, "gbs of 0.001 and more, or none");
    cache->sets = cache->size_bytes / (cache->ways * cache->line_bytes);
    return BJ_OK;
}

/* What a cache must be beside the nearer one. */
static bj_status check_beside(const bj_json_place *at, const bj_sim_cache_spec *cache,
                              const bj_sim_cache_spec *nearer) {
    if (nearer == NULL)
        return cache->policy == BJ_SIM_NEITHER ? BJ_OK
                                               : bj_json_expected(at, NULL, "policy \"neither\" at the first level");
    if (cache->latency_cycles <= nearer->latency_cycles)
        return bj_json_expected(at, NULL, "more latency than the nearer level's %g", nearer->latency_cycles);
    if (cache->line_bytes < nearer->line_bytes)
        return bj_json_expected(at, NULL, "a line no shorter than the nearer level's %" PRIu64, nearer->line_bytes);
    if (cache->policy == BJ_SIM_EXCLUSIVE && cache->line_bytes != nearer->line_bytes)
        return bj_json_expected(at, NULL, "the nearer level's line %" PRIu64 " in an exclusive cache",
                                nearer->line_bytes);
    if (cache->policy == BJ_SIM_INCLUSIVE && cache->size_bytes < nearer->size_bytes)
        return bj_json_expected(at, NULL, "an inclusive cache no smaller than the nearer level");
    if (cache->shared_by % nearer->shared_by != 0)
        return bj_json_expected(at, NULL, "shared_by to be a multiple of the nearer level's %" PRIu64,
                                nearer->shared_by);
    return BJ_OK;
}

/* Where a list of caches goes: the machine's, or those of one kind of cpus. */
typedef struct {
    const bj_sim_spec *spec;
    uint64_t cpus; /* that have such caches */
    bj_sim_cache_spec *caches;
    size_t count;
} cache_list;

static bj_status read_cache(const bj_json_place *at, json_t *value, size_t index, void *target) {
    static const char *const indexes[] = {"plain", "hashed", NULL};
    static const char *const mappings[] = {"virtual", "physical", NULL};
    static const char *const replacements[] = {"lru", "plru", "random", NULL};
    static const char *const policies[] = {"neither", "inclusive", "exclusive", NULL};
    cache_list *list = target;
    bj_sim_cache_spec *cache = &list->caches[index];
    const double level = (double)index + 1;
    list->count = index + 1;
    *cache = (bj_sim_cache_spec){.level = index + 1, .line_bytes = 64, .ways = 8, .shared_by = list->spec->smt};
    const bj_json_field fields[] = {
        {"level", BJ_JSON_COUNT, &cache->level, level, level, NULL, 0, false},
        {"size", BJ_JSON_COUNT, &cache->size_bytes, 64, 0x1p36, NULL, 0, true},
        {"line", BJ_JSON_COUNT, &cache->line_bytes, 16, 4096, NULL, 0, false},
        {"ways", BJ_JSON_COUNT, &cache->ways, 1, BJ_SIM_MAX_WAYS, NULL, 0, false},
        {"latency", BJ_JSON_NUMBER, &cache->latency_cycles, 0.1, MOST_CYCLES, NULL, 0, true},
        {"shared_by", BJ_JSON_COUNT, &cache->shared_by, 1, (double)list->cpus, NULL, 0, false},
        {"index", BJ_JSON_CHOICE, &cache->index, 0, 0, indexes, 0, false},
        {"mapped", BJ_JSON_CHOICE, &cache->mapped, 0, 0, mappings, 0, false},
        {"replacement", BJ_JSON_CHOICE, &cache->replacement, 0, 0, replacements, 0, false},
        {"policy", BJ_JSON_CHOICE, &cache->policy, 0, 0, policies, 0, false},
        {"gbs", BJ_JSON_NUMBER, &cache->gbs, 0, 1e6, NULL, 0, false},
    };
    bj_status status = bj_json_read_fields(at, value, fields, FIELD_COUNT(fields));
    if (status == BJ_OK)
        status = check_cache(at, cache);
    if (status == BJ_OK)
        status = check_beside(at, cache, index > 0 ? cache - 1 : NULL);
    if (status == BJ_OK && list->cpus % cache->shared_by != 0)
        status = bj_json_expected(at, NULL, "shared_by to divide cpus (%" PRIu64 ")", list->cpus);
    if (status == BJ_OK && cache->line_bytes > list->spec->page_bytes)
        status = bj_json_expected(at, NULL, "a line no longer than a page");
    return status;
}

bj_status bj_sim_read_caches(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    cache_list list = {.spec = spec, .cpus = spec->cpus, .caches = spec->caches};
    bj_status status = bj_json_read_items(at, value, 1, BJ_SIM_MAX_CACHES, read_cache, &list);
    spec->cache_count = list.count;
    return status;
}

/* What the near levels of a kind must be beside the machine's. */
static bj_status check_kind(const bj_json_place *at, const bj_sim_spec *spec, const bj_sim_kind_spec *kind,
                            size_t near_count) {
    for (size_t i = 0; i < near_count; i++) {
        if (kind->caches[i].line_bytes != spec->caches[i].line_bytes)
            return bj_json_expected(at, NULL, "lines of %" PRIu64 " bytes, as all cpus have",
                                    spec->caches[i].line_bytes);
        if (kind->first % kind->caches[i].shared_by != 0)
            return bj_json_expected(at, NULL, "cpus of the kinds before to be a multiple of shared_by");
    }
    if (near_count > 0 && near_count < spec->cache_count)
        return check_beside(at, &kind->caches[near_count], &kind->caches[near_count - 1]);
    return BJ_OK;
}

static bj_status read_kind(const bj_json_place *at, json_t *value, size_t index, void *target) {
    bj_sim_spec *spec = target;
    bj_sim_kind_spec *kind = &spec->kinds[index];
    json_t *caches = NULL;
    kind->first = index > 0 ? kind[-1].first + kind[-1].cpus : 0;
    kind->clock_ghz = spec->clock_ghz;
    memcpy(kind->caches, spec->caches, sizeof kind->caches);
    const bj_json_field fields[] = {
        {"cpus", BJ_JSON_COUNT, &kind->cpus, 1, (double)spec->cpus, NULL, 0, true},
        {"clock_ghz", BJ_JSON_NUMBER, &kind->clock_ghz, 0.001, 100, NULL, 0, false},
        {"caches", BJ_JSON_ANY, &caches, 0, 0, NULL, 0, false},
    };
    spec->kind_count = index + 1;
    BJ_TRY(bj_json_read_fields(at, value, fields, FIELD_COUNT(fields)));
    /* A level that cpus of other kinds share as well takes as long for all of them; others keep pace with the core. */
    for (size_t i = 0; i < spec->cache_count; i++)
        if (kind->first % kind->caches[i].shared_by != 0 || kind->cpus % kind->caches[i].shared_by != 0)
            kind->caches[i].latency_cycles *= kind->clock_ghz / spec->clock_ghz;
    cache_list list = {.spec = spec, .cpus = kind->cpus, .caches = kind->caches};
    bj_json_place inner = bj_json_enter(at, "caches");
    BJ_TRY(bj_json_read_items(&inner, caches, 0, spec->cache_count, read_cache, &list));
    return check_kind(at, spec, kind, list.count);
}

bj_status bj_sim_read_kinds(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    BJ_TRY(bj_json_read_items(at, value, 0, BJ_SIM_MAX_KINDS, read_kind, spec));
    const bj_sim_kind_spec *last = &spec->kinds[spec->kind_count > 0 ? spec->kind_count - 1 : 0];
    if (spec->kind_count > 0 && last->first + last->cpus != spec->cpus)
        return bj_json_expected(at, NULL, "the cpus of all kinds to be %" PRIu64 " in all", spec->cpus);
    return BJ_OK;
}

static bj_status read_domain(const bj_json_place *at, json_t *value, size_t index, void *target) {
    bj_sim_spec *spec = target;
    bj_sim_domain_spec *domain = &spec->domains[index];
    const bj_json_field fields[] = {
        {"shared_by", BJ_JSON_COUNT, &domain->shared_by, 1, (double)spec->cpus, NULL, 0, true},
        {"gbs", BJ_JSON_NUMBER, &domain->gbs, 0.001, 1e6, NULL, 0, true},
    };
    spec->domain_count = index + 1;
    bj_status status = bj_json_read_fields(at, value, fields, FIELD_COUNT(fields));
    if (status == BJ_OK &&
        (spec->cpus % domain->shared_by != 0 || (index > 0 && domain->shared_by % domain[-1].shared_by != 0)))
        return bj_json_expected(at, NULL, "shared_by to divide cpus and be a multiple of the nearer one's");
    return status;
}

bj_status bj_sim_read_memory(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    double last = spec->caches[spec->cache_count - 1].latency_cycles;
    spec->memory_latency_cycles = 4 * last > 200 ? 4 * last : 200;
    json_t *domains = NULL;
    const bj_json_field fields[] = {
        {"latency", BJ_JSON_NUMBER, &spec->memory_latency_cycles, 0.1, MOST_CYCLES, NULL, 0, false},
        {"remote_latency", BJ_JSON_NUMBER, &spec->memory_remote_latency_cycles, 0.1, MOST_CYCLES, NULL, 0, false},
        {"cpu_gbs", BJ_JSON_NUMBER, &spec->memory_cpu_gbs, 0.001, 1e6, NULL, 0, false},
        {"domains", BJ_JSON_ANY, &domains, 0, 0, NULL, 0, false},
    };
    BJ_TRY(bj_json_read_fields(at, value, fields, FIELD_COUNT(fields)));
    if (spec->memory_latency_cycles <= last)
        return bj_json_expected(at, NULL, "more latency than the last cache's %g", last);
    if (spec->memory_remote_latency_cycles == 0)
        spec->memory_remote_latency_cycles = spec->memory_latency_cycles;
    if (spec->memory_remote_latency_cycles < spec->memory_latency_cycles)
        return bj_json_expected(at, NULL, "remote_latency no less than latency");
    bj_json_place inner = bj_json_enter(at, "domains");
    return bj_json_read_items(&inner, domains, 0, BJ_SIM_MAX_DOMAINS, read_domain, spec);
}

bj_status bj_sim_read_page(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    static const char *const frames[] = {"random", "contiguous", "coloured", NULL};
    const bj_json_field fields[] = {
        {"base", BJ_JSON_COUNT, &spec->page_bytes, 4096, 0x1p24, NULL, 0, false},
        {"huge", BJ_JSON_COUNT, &spec->huge_bytes, 0, 0x1p30, NULL, 0, false},
        {"frames", BJ_JSON_CHOICE, &spec->frames, 0, 0, frames, 0, false},
    };
    BJ_TRY(bj_json_read_fields(at, value, fields, FIELD_COUNT(fields)));
    if (!is_power_of_two(spec->page_bytes))
        return bj_json_expected(at, NULL, "base to be a power of two");
    if (spec->huge_bytes != 0 && (!is_power_of_two(spec->huge_bytes) || spec->huge_bytes <= spec->page_bytes))
        return bj_json_expected(at, NULL, "huge to be 0 or a power of two above base");
    return BJ_OK;
}

static bj_status read_tlb(const bj_json_place *at, json_t *value, size_t index, void *target) {
    bj_sim_spec *spec = target;
    bj_sim_tlb_spec *tlb = &spec->tlbs[index];
    const bj_json_field fields[] = {
        {"entries", BJ_JSON_COUNT, &tlb->entries, 1, BJ_SIM_MAX_TLB_ENTRIES, NULL, 0, true},
        {"ways", BJ_JSON_COUNT, &tlb->ways, 0, BJ_SIM_MAX_TLB_ENTRIES, NULL, 0, false},
        {"latency", BJ_JSON_NUMBER, &tlb->latency_cycles, 0, 1e4, NULL, 0, false},
    };
    spec->tlb_count = index + 1;
    BJ_TRY(bj_json_read_fields(at, value, fields, FIELD_COUNT(fields)));
    if (tlb->ways == 0)
        tlb->ways = tlb->entries;
    if (tlb->entries % tlb->ways != 0)
        return bj_json_expected(at, NULL, "entries to be a multiple of ways");
    if (tlb->ways != tlb->entries && tlb->ways > BJ_SIM_MAX_WAYS)
        return bj_json_expected(at, NULL, "at most %d ways, or 0 for full", BJ_SIM_MAX_WAYS);
    return BJ_OK;
}

bj_status bj_sim_read_tlbs(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    return bj_json_read_items(at, value, 0, BJ_SIM_MAX_TLBS, read_tlb, spec);
}

static bj_status read_prefetcher(const bj_json_place *at, json_t *value, size_t index, void *target) {
    static const char *const names[] = {"next_line", "adjacent", "stride", "region", NULL};
    bj_sim_spec *spec = target;
    int which = 0;
    const bj_json_field choice = {.kind = BJ_JSON_CHOICE, .target = &which, .choices = names};
    (void)index;
    BJ_TRY(bj_json_read_value(at, value, &choice));
    spec->prefetchers |= 1u << which;
    return BJ_OK;
}

bj_status bj_sim_read_prefetchers(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    return bj_json_read_items(at, value, 0, 4, read_prefetcher, spec);
}
