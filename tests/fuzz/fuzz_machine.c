/* Machine files: whatever is accepted opens as a machine on which experiments succeed with finite results. */
#include <math.h>

#include "fuzz.h"
#include "machine/sim/sim_machine.h"

/* A walk over more is the simulator's work, not the file's. */
enum { MOST_LINES = 1 << 16, WALKED_LINES = 96, LINE_BYTES = 64, REPETITIONS = 2 };

static bool is_small(const bj_sim_spec *spec) {
    uint64_t lines = 0;
    for (size_t i = 0; i < spec->cache_count; i++)
        lines += spec->caches[i].size_bytes / spec->caches[i].line_bytes;
    return lines <= MOST_LINES;
}

static void require_times(bj_status status, const double *values, size_t count, const bj_error *error) {
    if (status != BJ_OK)
        fprintf(stderr, "fuzz: %s\n", error->text);
    require(status == BJ_OK, "an experiment on an accepted machine succeeds");
    for (size_t i = 0; i < count; i++)
        require(isfinite(values[i]) && values[i] > 0, "results are finite and positive");
}

static void take_walk(bj_machine *machine, bj_arena *arena, int cpu) {
    uint32_t places[WALKED_LINES];
    double times_ns[REPETITIONS];
    bj_error error = {""};
    for (uint32_t i = 0; i < WALKED_LINES; i++) /* odd multiplier: each once, in no order that a prefetcher knows */
        places[i] = (i * 37 % WALKED_LINES) * (uint32_t)(LINE_BYTES / BJ_WALK_WORD_BYTES);
    const bj_walk walk = {.arena = arena, .cpu = cpu, .places = places, .count = WALKED_LINES};
    const bj_walk_effort effort = {.repetitions = REPETITIONS, .min_accesses = WALKED_LINES};
    bj_status status = machine->verbs->run_walks(machine, &walk, 1, &effort, times_ns, &error);
    require_times(status, times_ns, REPETITIONS, &error);
}

static void stream_and_bounce(bj_machine *machine, bj_arena *arena, int cpu) {
    double values[REPETITIONS];
    bj_error error = {""};
    const bj_stream stream = {
        .arena = arena, .cpu = cpu, .kind = BJ_STREAM_COPY, .first_byte = 0, .bytes = 2 * BJ_STREAM_MULTIPLE_BYTES};
    const bj_stream_effort effort = {.repetitions = REPETITIONS, .min_bytes = stream.bytes};
    bj_status status = machine->verbs->run_streams(machine, &stream, 1, &effort, values, &error);
    require_times(status, values, REPETITIONS, &error);
    if (machine->facts.cpu_count < 2)
        return;
    const bj_bounce bounce = {.arena = arena, .cpu_a = machine->facts.cpus[0], .cpu_b = cpu, .word_a = 0, .word_b = 7};
    status = machine->verbs->run_bounce(machine, &bounce, REPETITIONS, values, &error);
    require_times(status, values, REPETITIONS, &error);
}

static void crowd_and_watch(bj_machine *machine) {
    enum { THREADS = 3, ROOM = 64 };
    double values[THREADS * ROOM];
    size_t counts[THREADS];
    bj_taken taken;
    bj_error error = {""};
    const bj_machine_facts *facts = &machine->facts;
    for (bj_work work = 0; work < BJ_WORK_COUNT; work++) {
        const bj_crowd crowd = {
            .work = work, .cpus = facts->cpus, .cpu_count = facts->cpu_count, .threads = THREADS, .steps = 1000};
        bj_status status = machine->verbs->run_crowd(machine, &crowd, values, &taken, &error);
        require_times(status, values, THREADS, &error);
    }
    const bj_watch watch = {
        .cpus = facts->cpus, .cpu_count = 1, .threads = THREADS, .seconds = 0.05, .least_gap_ns = 20000, .room = ROOM};
    bj_status status = machine->verbs->run_watch(machine, &watch, values, counts, &taken, &error);
    for (size_t i = 0; i < THREADS; i++)
        require_times(status, values + i * ROOM, counts[i], &error);
}

static void send(bj_machine *machine) {
    static const size_t sizes[] = {0, 64, 1 << 20};
    double values[REPETITIONS];
    bj_error error = {""};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && machine->facts.rank_count > 1; i++) {
        const bj_message message = {.rank_a = 0, .rank_b = machine->facts.rank_count - 1, .bytes = sizes[i]};
        bj_status status = machine->verbs->run_messages(machine, &message, 1, REPETITIONS, values, &error);
        require_times(status, values, REPETITIONS, &error);
    }
}

static void use(bj_machine *machine, bj_pages pages) {
    const bj_machine_facts *facts = &machine->facts;
    int cpu = facts->cpus[facts->cpu_count - 1];
    bj_arena *arena = NULL;
    bj_error error = {""};
    size_t bytes = 2 * facts->page_bytes + WALKED_LINES * LINE_BYTES;
    if (machine->verbs->open_arena(machine, bytes, pages, cpu, &arena, &error) != BJ_OK)
        return;
    take_walk(machine, arena, cpu);
    stream_and_bounce(machine, arena, cpu);
    require(isfinite(machine->verbs->read_clock(machine)), "the clock is finite");
    machine->verbs->close_arena(machine, arena);
}

static void ask(bj_machine *machine) {
    static const char *const keys[] = {"cache.levels", "cache.L1.size_bytes", "cache.L6.line_bytes", "page.size_bytes"};
    const bj_chain chain = {.cpu = machine->facts.cpus[0], .type = "int32", .operation = "add", .abreast = 2};
    double value = 0;
    bj_error error = {""};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (machine->verbs->read_claim(machine, keys[i], machine->facts.cpus[0], &value))
            require(isfinite(value), "claims are finite");
    require(machine->verbs->run_chains(machine, &chain, 1, 1, &value, &error) == BJ_OK, "every machine can add");
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
    if (!takes_its_time(data, size)) {
        free(spec);
        return 0;
    }
    bool small = is_small(spec);
    status = bj_sim_open_machine(spec, 1, &machine, &error);
    if (status != BJ_OK)
        fprintf(stderr, "fuzz: %s\n", error.text);
    require(status == BJ_OK, "an accepted machine opens");
    ask(machine);
    crowd_and_watch(machine);
    send(machine);
    if (small) {
        use(machine, BJ_PAGES_BASE);
        use(machine, BJ_PAGES_HUGE);
    }
    machine->verbs->close(machine);
    return 0;
}
