/* Small machines for the tests of the simulator: a JSON text becomes a temporary file and is opened. */
#ifndef BJ_TESTS_SIM_FIXTURE_H
#define BJ_TESTS_SIM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/sim/sim_machine.h"

static inline void write_machine(const char *text, size_t length, char *path, size_t room) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, room, "%s/bj_sim_XXXXXX", folder != NULL ? folder : "/tmp");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, length), (ssize_t)length);
    close(file);
}

static inline bj_machine *open_text(const char *text, uint64_t seed) {
    char path[256];
    bj_error error = {""};
    bj_machine *machine = NULL;
    write_machine(text, strlen(text), path, sizeof path);
    bj_status status = bj_machine_open_simulated(path, seed, &machine, &error);
    unlink(path);
    if (status != BJ_OK)
        fail_msg("%s", error.text);
    return machine;
}

static inline bj_sim_machine *self_of(bj_machine *machine) {
    return machine->self;
}

static inline void close_machine(bj_machine *machine) {
    machine->verbs->close(machine);
}

static inline bj_arena *open_arena(bj_machine *machine, size_t bytes, bj_pages pages) {
    bj_arena *arena = NULL;
    bj_error error = {""};
    if (machine->verbs->open_arena(machine, bytes, pages, machine->facts.cpus[0], &arena, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return arena;
}

static inline bj_sim_cpu *cpu_of(bj_machine *machine, size_t position) {
    bj_sim_cpu *cpu = NULL;
    bj_error error = {""};
    if (bj_sim_get_cpu(&self_of(machine)->memory, position, &cpu, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return cpu;
}

/* Loads one address of the arena from a cpu; says which level had it (from 1; one more than the levels: memory). */
static inline int load_from(bj_machine *machine, size_t position, bj_arena *arena, uint64_t offset) {
    bj_sim_cpu *cpu = cpu_of(machine, position);
    bj_sim_counts before = cpu->counts;
    uint32_t place = (uint32_t)(offset / BJ_WALK_WORD_BYTES);
    bj_sim_visit_places(&self_of(machine)->memory, cpu, arena->mapping, &place, 1, NULL);
    for (int i = 0; i <= BJ_SIM_MAX_CACHES; i++) {
        if (cpu->counts.hits[i] != before.hits[i])
            return i + 1;
    }
    return 0;
}

/* The same for the TLBs. */
static inline int look_up(bj_machine *machine, bj_arena *arena, uint64_t offset) {
    bj_sim_cpu *cpu = cpu_of(machine, 0);
    bj_sim_counts before = cpu->counts;
    load_from(machine, 0, arena, offset);
    for (int i = 0; i <= BJ_SIM_MAX_TLBS; i++) {
        if (cpu->counts.tlb_hits[i] != before.tlb_hits[i])
            return i + 1;
    }
    return 0;
}

/* Loads lines (of 64 bytes) one after the other and compares the levels. */
#define assert_levels(machine, arena, lines, levels)                                                                   \
    do {                                                                                                               \
        _Static_assert(sizeof(lines) / sizeof(lines)[0] == sizeof(levels) / sizeof(levels)[0], "one level a line");    \
        for (size_t at_ = 0; at_ < sizeof(lines) / sizeof(lines)[0]; at_++) {                                          \
            int level_ = load_from(machine, 0, arena, (uint64_t)(lines)[at_] * 64);                                    \
            if (level_ != (levels)[at_])                                                                               \
                fail_msg("access %zu: line %d found at level %d, not %d", at_, (int)(lines)[at_], level_,              \
                         (levels)[at_]);                                                                               \
        }                                                                                                              \
    } while (0)

/* Every line of a buffer once, in random order. */
static inline uint32_t *random_places(size_t bytes, size_t grain, uint64_t seed, size_t *count) {
    *count = bytes / grain;
    uint32_t *places = malloc(*count * sizeof *places);
    assert_non_null(places);
    for (size_t i = 0; i < *count; i++)
        places[i] = (uint32_t)(i * grain / BJ_WALK_WORD_BYTES);
    bj_random random;
    bj_random_seed(&random, seed);
    bj_random_shuffle_u32(&random, places, *count);
    return places;
}

#endif
