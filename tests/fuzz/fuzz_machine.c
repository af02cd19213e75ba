/* Machine files: whatever is accepted opens as a machine, takes a walk and answers with finite times. */
#include <math.h>

#include "fuzz.h"
#include "machine/sim/sim_machine.h"

/* A walk over more is the simulator's work, not the file's. */
enum { MOST_LINES = 1 << 14, WALKED_LINES = 96, REPETITIONS = 2 };

static bool is_small(const bj_sim_spec *spec) {
    uint64_t lines = 0;
    for (size_t i = 0; i < spec->cache_count; i++)
        lines += spec->caches[i].size_bytes / spec->caches[i].line_bytes;
    return lines <= MOST_LINES;
}

static void take_walk(bj_machine *machine, bj_pages pages) {
    const bj_machine_facts *facts = &machine->facts;
    int cpu = facts->cpus[facts->cpu_count - 1];
    uint32_t places[WALKED_LINES];
    double times_ns[REPETITIONS];
    bj_arena *arena = NULL;
    bj_error error = {""};
    const size_t line_bytes = 64;
    if (machine->verbs->open_arena(machine, 2 * facts->page_bytes + WALKED_LINES * line_bytes, pages, cpu, &arena,
                                   &error) != BJ_OK)
        return;
    for (uint32_t i = 0; i < WALKED_LINES; i++) /* odd multiplier: each once, in no order that a prefetcher knows */
        places[i] = (i * 37 % WALKED_LINES) * (uint32_t)(line_bytes / BJ_WALK_WORD_BYTES);
    const bj_walk walk = {.arena = arena, .cpu = cpu, .places = places, .count = WALKED_LINES};
    const bj_walk_effort effort = {.repetitions = REPETITIONS, .min_accesses = WALKED_LINES};
    bj_status status = machine->verbs->run_walks(machine, &walk, 1, &effort, times_ns, &error);
    if (status != BJ_OK)
        fprintf(stderr, "fuzz: %s\n", error.text);
    require(status == BJ_OK, "a walk on an accepted machine succeeds");
    for (size_t i = 0; i < REPETITIONS; i++)
        require(isfinite(times_ns[i]) && times_ns[i] > 0, "times are finite and positive");
    require(isfinite(machine->verbs->read_clock(machine)), "the clock is finite");
    machine->verbs->close_arena(machine, arena);
}

static void ask(bj_machine *machine) {
    static const char *const keys[] = {"cache.levels", "cache.L1.size_bytes", "cache.L6.line_bytes", "page.size_bytes"};
    const bj_chain chain = {.cpu = machine->facts.cpus[0], .type = "int32", .operation = "add", .streams = 2};
    double value = 0;
    bj_error error = {""};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (machine->verbs->read_claim(machine, keys[i], machine->facts.cpus[0], &value))
            require(isfinite(value), "claims are finite");
    require(machine->verbs->run_chain(machine, &chain, 1, &value, &error) == BJ_OK, "every machine can add");
    require(isfinite(value) && value > 0, "an addition takes time");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bj_sim_spec *spec = NULL;
    bj_machine *machine = NULL;
    bj_error error = {""};
    bj_status status = bj_sim_parse_spec("input", (const char *)data, size, &spec, &error);
    if (status != BJ_OK) {
        require_refusal(status, &error);
        require(spec == NULL, "a machine is read whole or not at all");
        return 0;
    }
    bool small = is_small(spec);
    status = bj_sim_open_machine(spec, 1, &machine, &error);
    if (status != BJ_OK)
        fprintf(stderr, "fuzz: %s\n", error.text);
    require(status == BJ_OK, "an accepted machine opens");
    ask(machine);
    if (small) {
        take_walk(machine, BJ_PAGES_BASE);
        take_walk(machine, BJ_PAGES_HUGE);
    }
    machine->verbs->close(machine);
    return 0;
}
