/* The top level of a machine file: defaults, then the sections in the order in which they need each other. */
#include "machine/sim/machine_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "machine/sim/machine_sections.h"

/* The largest file of the zoo is a few KiB; this only keeps a wrong file from costing memory. */
enum { MAX_FILE_BYTES = 1 << 20 };
static const bj_json_size most = {16, MAX_FILE_BYTES, MAX_FILE_BYTES, MAX_FILE_BYTES};

static void set_defaults(bj_sim_spec *spec) {
    spec->clock_ghz = 1.0;
    spec->cpus = spec->smt = spec->numa_nodes = spec->sockets = 1;
    spec->misses_in_flight = 10;
    spec->page_bytes = 4096;
    spec->page_walk_cycles = 30;
    spec->memory_cpu_gbs = 10;
    spec->spill_cycles = 4;
    spec->slot_ms = 4.0;
    spec->interrupt_us = 30;
    spec->interrupts_per_slot = 1.0;
    spec->exchange_overlap = 4;
    spec->spike_factor = 10;
}

size_t bj_sim_find_kind(const bj_sim_spec *spec, size_t position) {
    size_t kind = 0;
    while (kind + 1 < spec->kind_count && position >= spec->kinds[kind + 1].first)
        kind++;
    return kind;
}

void bj_sim_see_as_kind(const bj_sim_spec *spec, size_t kind, bj_sim_spec *seen) {
    *seen = *spec;
    if (spec->kind_count == 0)
        return;
    const bj_sim_kind_spec *own = &spec->kinds[kind];
    seen->clock_ghz = own->clock_ghz;
    memcpy(seen->caches, own->caches, sizeof seen->caches);
    seen->memory_latency_cycles *= own->clock_ghz / spec->clock_ghz;
    seen->memory_remote_latency_cycles *= own->clock_ghz / spec->clock_ghz;
}

static bj_status check_cpus(const bj_json_place *at, const bj_sim_spec *spec) {
    const struct {
        const char *name;
        uint64_t value;
    } divisors[] = {{"smt", spec->smt}, {"numa_nodes", spec->numa_nodes}, {"sockets", spec->sockets}};
    for (size_t i = 0; i < sizeof divisors / sizeof divisors[0]; i++)
        if (spec->cpus % divisors[i].value != 0)
            return bj_json_expected(at, divisors[i].name, "a divisor of cpus (%d)", (int)spec->cpus);
    if (spec->cpus % (spec->sockets * spec->smt) != 0)
        return bj_json_expected(at, "sockets", "whole cores in each socket");
    return BJ_OK;
}

static const struct {
    const char *name;
    bj_sim_read_section *read;
} sections[] = {
#define SECTION(name) {#name, bj_sim_read_##name},
    BJ_SIM_SECTIONS(SECTION)
#undef SECTION
};
enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

static bj_status read_top(const bj_json_place *at, json_t *root, bj_sim_spec *spec) {
    json_t *values[SECTION_COUNT] = {NULL};
    static const char *const formats[] = {"blackjack-machine/1", NULL};
    int format = 0;
    const bj_json_field plain[] = {
        {.name = "format", .kind = BJ_JSON_CHOICE, .target = &format, .choices = formats},
        {.name = "name", .kind = BJ_JSON_TEXT, .target = spec->name, .room = sizeof spec->name, .required = true},
        {.name = "summary", .kind = BJ_JSON_TEXT, .target = spec->summary, .room = sizeof spec->summary},
        {"clock_ghz", BJ_JSON_NUMBER, &spec->clock_ghz, 0.001, 100, NULL, 0, false},
        {"cpus", BJ_JSON_COUNT, &spec->cpus, 1, BJ_SIM_MAX_CPUS, NULL, 0, false},
        {"smt", BJ_JSON_COUNT, &spec->smt, 1, 16, NULL, 0, false},
        {"numa_nodes", BJ_JSON_COUNT, &spec->numa_nodes, 1, 256, NULL, 0, false},
        {"sockets", BJ_JSON_COUNT, &spec->sockets, 1, 256, NULL, 0, false},
        {"misses_in_flight", BJ_JSON_COUNT, &spec->misses_in_flight, 1, 1024, NULL, 0, false},
        {"walk", BJ_JSON_NUMBER, &spec->page_walk_cycles, 0, 1e5, NULL, 0, false},
        {"own_pages", BJ_JSON_COUNT, &spec->own_pages, 0, 16, NULL, 0, false},
        {"spill", BJ_JSON_NUMBER, &spec->spill_cycles, 0, 1e3, NULL, 0, false},
        {"exchange_overlap", BJ_JSON_NUMBER, &spec->exchange_overlap, 1, 1024, NULL, 0, false},
    };
    enum { PLAIN_COUNT = sizeof plain / sizeof plain[0] };
    bj_json_field fields[PLAIN_COUNT + SECTION_COUNT];
    memcpy(fields, plain, sizeof plain);
    for (size_t i = 0; i < SECTION_COUNT; i++)
        fields[PLAIN_COUNT + i] = (bj_json_field){
            .name = sections[i].name,
            .kind = BJ_JSON_ANY,
            .target = &values[i],
            .required = strcmp(sections[i].name, "caches") == 0,
        };
    bj_status status = bj_json_read_fields(at, root, fields, sizeof fields / sizeof fields[0]);
    if (status == BJ_OK)
        status = check_cpus(at, spec);
    for (size_t i = 0; status == BJ_OK && i < SECTION_COUNT; i++) {
        bj_json_place inner = bj_json_enter(at, sections[i].name);
        status = sections[i].read(&inner, values[i], spec);
    }
    return status;
}

bj_status bj_sim_parse_spec(const char *name, const char *text, size_t length, bj_sim_spec **spec, bj_error *error) {
    bj_json_place whole = {.file = name, .error = error};
    json_t *root = NULL;
    bj_status status = bj_json_parse(&whole, "a machine", text, length, &most, &root);
    if (status != BJ_OK)
        return status;
    bj_sim_spec *read = calloc(1, sizeof *read);
    if (read == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "%.200s: no memory for the machine", name);
    } else {
        set_defaults(read);
        status = read_top(&whole, root, read);
    }
    json_decref(root);
    if (status == BJ_OK)
        *spec = read;
    else
        free(read);
    return status;
}

bj_status bj_sim_load_spec(const char *path, bj_sim_spec **spec, bj_error *error) {
    char *text = NULL;
    size_t length = 0;
    bj_status status = bj_base_read_file(path, MAX_FILE_BYTES, &text, &length, error);
    if (status == BJ_OK)
        status = bj_sim_parse_spec(path, text, length, spec, error);
    free(text);
    return status;
}
