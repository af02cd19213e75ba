/* The simulated machine behind the seam: facts, arenas, clock, noise, claims, walks alone and in company. */
#include "sim_fixture.h"

#include <math.h>

#define TWO_LEVELS                                                                                                     \
    "\"clock_ghz\": 2.0, \"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": 4},"                                 \
    "{\"size\": 262144, \"ways\": 8, \"latency\": 12, \"shared_by\": 2}], \"memory\": {\"latency\": 100, "             \
    "\"remote_latency\": 180}"
#define FOUR_CPUS "\"cpus\": 4, \"numa_nodes\": 2, \"sockets\": 2"
#define NOISE ", \"noise\": {\"jitter\": 0.02, \"spike_rate\": 0.05, \"spike_factor\": 8}"

static const char *const quiet = "{\"name\": \"quiet\", " FOUR_CPUS ", " TWO_LEVELS "}";
static const char *const noisy = "{\"name\": \"noisy\", " FOUR_CPUS ", " TWO_LEVELS NOISE "}";

enum { REPETITIONS = 5 };

static void run(bj_machine *machine, bj_arena *arena, int cpu, size_t bytes, uint64_t seed, double *ns) {
    size_t count = 0;
    uint32_t *places = random_places(bytes, 64, seed, &count);
    bj_walk walk = {.arena = arena, .cpu = cpu, .places = places, .count = count};
    bj_walk_effort effort = {.repetitions = REPETITIONS, .min_accesses = 1000};
    bj_error error = {""};
    if (machine->verbs->run_walks(machine, &walk, 1, &effort, ns, &error) != BJ_OK)
        fail_msg("%s", error.text);
    free(places);
}

static void test_facts(void **state) {
    (void)state;
    bj_machine *machine = open_text(
        "{\"name\": \"facts\", \"cpus\": 4, \"sockets\": 2, \"numbering\": [7, 3, 5, 1], \"page\": {\"base\": 16384, "
        "\"huge\": 2097152}, " TWO_LEVELS "}",
        1);
    const int expected[] = {1, 3, 5, 7};
    assert_string_equal(machine->facts.name, "facts");
    assert_string_equal(machine->facts.where, "sim:facts");
    assert_int_equal(machine->facts.cpu_count, 4);
    assert_memory_equal(machine->facts.cpus, expected, sizeof expected);
    assert_int_equal(machine->facts.page_bytes, 16384);
    assert_int_equal(machine->facts.huge_bytes, 2097152);
    assert_int_equal(machine->facts.memory_limit_bytes, UINT64_C(16) << 30);
    assert_true(machine->facts.simulated);
    assert_true(machine->verbs->read_clock(machine) == 0);
    close_machine(machine);
}

static void test_quiet_samples_are_the_latencies(void **state) {
    (void)state;
    bj_machine *machine = open_text(quiet, 1);
    bj_arena *arena = open_arena(machine, 8 << 20, BJ_PAGES_BASE);
    const struct {
        size_t bytes;
        double ns;
    } expected[] = {{8192, 2}, {32768, 2}, {131072, 6}, {8 << 20, 50}, {32768, 2}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        double ns[REPETITIONS];
        run(machine, arena, 0, expected[i].bytes, 3 + i, ns);
        for (int j = 0; j < REPETITIONS; j++)
            assert_true(ns[j] == expected[i].ns);
    }
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

/* TLB costs come on top: the second level's latency on a hit there, the walk on a miss. */
static void test_tlb_costs(void **state) {
    (void)state;
    bj_machine *machine = open_text("{\"name\": \"t\", \"tlbs\": [{\"entries\": 8}, {\"entries\": 64, \"ways\": 4, "
                                    "\"latency\": 6}], \"walk\": 30, " TWO_LEVELS ", \"cpus\": 2}",
                                    1);
    bj_arena *arena = open_arena(machine, 1 << 20, BJ_PAGES_BASE);
    const struct {
        uint32_t pages;
        double ns;
    } expected[] = {{8, 2}, {16, 5}, {128, 17}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        uint32_t places[128];
        double ns = 0;
        bj_error error = {""};
        /* One line a page, each in another set of the first level. */
        for (uint32_t page = 0; page < expected[i].pages; page++)
            places[page] = page * 512 + page % 64 * 8;
        bj_walk walk = {.arena = arena, .cpu = 0, .places = places, .count = expected[i].pages};
        bj_walk_effort effort = {.repetitions = 1};
        assert_int_equal(machine->verbs->run_walks(machine, &walk, 1, &effort, &ns, &error), BJ_OK);
        assert_true(ns == expected[i].ns);
    }
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void collect(bj_machine *machine, double *ns, size_t runs) {
    const size_t sizes[] = {16384, 65536, 300000 / 64 * 64, 5 << 20};
    for (size_t i = 0; i < runs; i++) {
        bj_arena *arena = open_arena(machine, 6 << 20, BJ_PAGES_BASE);
        run(machine, arena, 2, sizes[i % 4], i, ns + i * REPETITIONS);
        machine->verbs->close_arena(machine, arena);
    }
}

static void test_a_seed_repeats_everything(void **state) {
    (void)state;
    enum { RUNS = 12 };
    double ns[3][RUNS * REPETITIONS], clock[3];
    for (int i = 0; i < 3; i++) {
        bj_machine *machine = open_text(noisy, i == 2 ? 6 : 5);
        collect(machine, ns[i], RUNS);
        clock[i] = machine->verbs->read_clock(machine);
        close_machine(machine);
    }
    assert_memory_equal(ns[0], ns[1], sizeof ns[0]);
    assert_true(clock[0] == clock[1]);
    assert_memory_not_equal(ns[0], ns[2], sizeof ns[0]);
}

static void test_noise_only_adds(void **state) {
    (void)state;
    enum { RUNS = 200 };
    bj_machine *machine = open_text(noisy, 5);
    bj_arena *arena = open_arena(machine, 65536, BJ_PAGES_BASE);
    unsigned spikes = 0, small = 0;
    for (int i = 0; i < RUNS; i++) {
        double ns[REPETITIONS];
        run(machine, arena, 0, 16384, 1, ns);
        for (int j = 0; j < REPETITIONS; j++) {
            assert_true(ns[j] >= 2);
            spikes += ns[j] >= 16;
            small += ns[j] < 2 * 1.02;
        }
    }
    /* 1,000 samples: 50 spikes, and two thirds of the rest within one deviation. */
    assert_in_range(spikes, 20, 85);
    assert_in_range(small, 580, 710);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_the_clock_counts_experiments(void **state) {
    (void)state;
    bj_machine *machine = open_text(quiet, 1);
    bj_arena *arena = open_arena(machine, 8 << 20, BJ_PAGES_BASE);
    assert_true(machine->verbs->read_clock(machine) == 0);
    double ns[REPETITIONS];
    run(machine, arena, 0, 32768, 1, ns);
    /* Five batches of 20,000 at 2 ns, a lap of 512 misses and one of hits. */
    double expected = (5 * 20000 * 2.0 + 512 * 50.0 + 512 * 2.0) * 1e-9;
    double first = machine->verbs->read_clock(machine);
    assert_true(first > expected * 0.999 && first < expected * 1.001);
    run(machine, arena, 0, 8 << 20, 1, ns);
    expected = (5 * 20000 * 50.0 + 131072 * 50.0) * 1e-9;
    double second = machine->verbs->read_clock(machine) - first;
    assert_true(second > expected * 0.99 && second < expected * 1.01);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_drift_swings_with_the_clock(void **state) {
    (void)state;
    bj_machine *machine = open_text("{\"name\": \"d\", \"noise\": {\"drift\": 0.1}, " TWO_LEVELS ", \"cpus\": 2}", 1);
    bj_chain chain = {.cpu = 0, .type = "int32", .operation = "add", .abreast = 1};
    double lowest = 1e9, highest = 0, ns;
    bj_error error = {""};
    while (machine->verbs->read_clock(machine) < 10) {
        assert_int_equal(machine->verbs->run_chains(machine, &chain, 1, 1, &ns, &error), BJ_OK);
        lowest = ns < lowest ? ns : lowest;
        highest = ns > highest ? ns : highest;
    }
    assert_true(lowest >= 0.5 && lowest < 0.5001);
    assert_true(highest <= 0.55 && highest > 0.5499);
    close_machine(machine);
}

static void test_neighbours_take_part_of_the_last_level(void **state) {
    (void)state;
    bj_machine *machine =
        open_text("{\"name\": \"n\", \"noise\": {\"neighbour\": 0.8}, " TWO_LEVELS ", \"cpus\": 2}", 1);
    bj_arena *arena = open_arena(machine, 1 << 20, BJ_PAGES_BASE);
    double fastest = 1e9, slowest = 0;
    for (int i = 0; i < 600; i++) {
        double ns[REPETITIONS];
        run(machine, arena, 0, 200 << 10, 1, ns);
        for (int j = 0; j < REPETITIONS; j++) {
            assert_true(ns[j] >= 6 && ns[j] <= 50);
            fastest = ns[j] < fastest ? ns[j] : fastest;
            slowest = ns[j] > slowest ? ns[j] : slowest;
        }
    }
    assert_true(fastest < 7);
    assert_true(slowest > 40);
    assert_true(machine->verbs->read_clock(machine) > 1);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_memory_of_another_node_is_slower(void **state) {
    (void)state;
    bj_machine *machine = open_text(quiet, 1);
    bj_arena *arena = open_arena(machine, 8 << 20, BJ_PAGES_BASE);
    double ns[REPETITIONS];
    run(machine, arena, 1, 8 << 20, 1, ns);
    assert_true(ns[0] == 50);
    run(machine, arena, 3, 8 << 20, 1, ns);
    assert_true(ns[0] == 90);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

/* Two walks of two thirds of the second level each: only cpus that share it are in each other's way. */
static void test_sharers_compete(void **state) {
    (void)state;
    bj_machine *machine = open_text(quiet, 1);
    for (int other = 1; other < 3; other++) {
        bj_arena *arenas[2] = {open_arena(machine, 1 << 20, BJ_PAGES_BASE),
                               open_arena(machine, 1 << 20, BJ_PAGES_BASE)};
        size_t count = 0;
        uint32_t *places = random_places(175104, 64, 1, &count);
        bj_walk walks[2] = {{.arena = arenas[0], .cpu = 0, .places = places, .count = count},
                            {.arena = arenas[1], .cpu = other, .places = places, .count = count}};
        bj_walk_effort effort = {.repetitions = 2};
        double ns[4];
        bj_error error = {""};
        assert_int_equal(machine->verbs->run_walks(machine, walks, 2, &effort, ns, &error), BJ_OK);
        for (int i = 0; i < 4; i++)
            assert_true(other == 1 ? ns[i] > 40 : ns[i] < 7);
        free(places);
        machine->verbs->close_arena(machine, arenas[0]);
        machine->verbs->close_arena(machine, arenas[1]);
    }
    close_machine(machine);
}

static void test_chains(void **state) {
    (void)state;
    bj_machine *machine = open_text("{\"name\": \"c\", \"ops\": {\"double.mul\": {\"latency\": 4, \"per_cycle\": 2}}, "
                                    "\"cpus\": 2, " TWO_LEVELS "}",
                                    1);
    const struct {
        const char *type, *operation;
        unsigned streams;
        double ns;
    } expected[] = {{"int32", "add", 1, 0.5},  {"int32", "add", 4, 0.5}, {"int32", "add", 8, 1},
                    {"double", "mul", 1, 2.0}, {"double", "mul", 8, 2},  {"double", "mul", 16, 4}};
    bj_error error = {""};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        bj_chain chain = {.type = expected[i].type, .operation = expected[i].operation, .abreast = expected[i].streams};
        double ns[2];
        assert_int_equal(machine->verbs->run_chains(machine, &chain, 1, 2, ns, &error), BJ_OK);
        assert_true(ns[0] == expected[i].ns && ns[1] == expected[i].ns);
    }
    bj_chain unknown = {.type = "int32", .operation = "dance", .abreast = 1};
    bj_chain nowhere = {.cpu = 9, .type = "int32", .operation = "add", .abreast = 1};
    double ns;
    assert_int_equal(machine->verbs->run_chains(machine, &unknown, 1, 1, &ns, &error), BJ_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "int32.dance"));
    assert_int_equal(machine->verbs->run_chains(machine, &nowhere, 1, 1, &ns, &error), BJ_ERR_USAGE);
    close_machine(machine);
}

static void test_claims_are_the_truth_unless_they_lie(void **state) {
    (void)state;
    bj_machine *honest = open_text(quiet, 1);
    const struct {
        const char *key;
        double value;
    } truths[] = {{"cache.levels", 2},           {"cache.L1.size_bytes", 32768}, {"cache.L2.capacity_bytes", 262144},
                  {"cache.L2.associativity", 8}, {"cache.L1.line_bytes", 64},    {"cache.line_bytes", 64},
                  {"page.size_bytes", 4096}};
    double value = 0;
    for (size_t i = 0; i < sizeof truths / sizeof truths[0]; i++) {
        assert_true(honest->verbs->read_claim(honest, truths[i].key, 0, &value));
        assert_true(value == truths[i].value);
    }
    const char *const untold[] = {"cache.L1.latency_ns",
                                  "cache.L3.size_bytes",
                                  "cache.L0.size_bytes",
                                  "memory.latency_ns",
                                  "tlb.levels",
                                  "cache.L1.",
                                  ""};
    for (size_t i = 0; i < sizeof untold / sizeof untold[0]; i++)
        assert_false(honest->verbs->read_claim(honest, untold[i], 0, &value));
    assert_false(honest->verbs->read_claim(honest, "cache.levels", 77, &value));
    close_machine(honest);
}

static void test_lies_change_no_sample(void **state) {
    (void)state;
    enum { RUNS = 8 };
    bj_machine *honest = open_text(noisy, 5);
    bj_machine *liar = open_text("{\"name\": \"liar\", " FOUR_CPUS ", \"claims\": {\"cache.L2.size_bytes\": 99, "
                                 "\"cpu.clock_ghz\": 9}, " TWO_LEVELS NOISE "}",
                                 5);
    double value = 0, ns[2][RUNS * REPETITIONS];
    assert_true(liar->verbs->read_claim(liar, "cache.L2.size_bytes", 0, &value) && value == 99);
    assert_true(liar->verbs->read_claim(liar, "cpu.clock_ghz", 0, &value) && value == 9);
    assert_true(liar->verbs->read_claim(liar, "cache.L1.size_bytes", 0, &value) && value == 32768);
    collect(honest, ns[0], RUNS);
    collect(liar, ns[1], RUNS);
    assert_memory_equal(ns[0], ns[1], sizeof ns[0]);
    close_machine(honest);
    close_machine(liar);
}

static void test_arenas_have_limits(void **state) {
    (void)state;
    bj_machine *machine = open_text(quiet, 1);
    bj_arena *arena = NULL;
    bj_error error = {""};
    assert_int_equal(machine->verbs->open_arena(machine, 4096, BJ_PAGES_HUGE, 0, &arena, &error), BJ_ERR_UNSUPPORTED);
    assert_int_equal(machine->verbs->open_arena(machine, 0, BJ_PAGES_BASE, 0, &arena, &error), BJ_ERR_USAGE);
    assert_int_equal(machine->verbs->open_arena(machine, 4096, BJ_PAGES_BASE, 9, &arena, &error), BJ_ERR_USAGE);
    uint64_t beyond = (UINT64_C(16) << 30) + 1;
    if (sizeof(size_t) >= sizeof beyond) /* 32-bit programs cannot even ask */
        assert_int_equal(machine->verbs->open_arena(machine, beyond, BJ_PAGES_BASE, 0, &arena, &error),
                         BJ_ERR_RESOURCE);
    assert_null(arena);
    /* Addresses come round after many mappings; open ones are never covered. */
    bj_arena *kept = open_arena(machine, 1 << 20, BJ_PAGES_BASE);
    for (int i = 0; i < 40; i++) {
        bj_arena *other = open_arena(machine, UINT64_C(3) << 30, BJ_PAGES_BASE);
        uint64_t end = other->mapping->address + other->mapping->bytes;
        assert_true(end <= kept->mapping->address ||
                    other->mapping->address >= kept->mapping->address + kept->mapping->bytes);
        assert_true(end < BJ_SIM_SPACE_BYTES);
        machine->verbs->close_arena(machine, other);
    }
    assert_true(self_of(machine)->space.wraps > 0);
    machine->verbs->close_arena(machine, kept);
    machine->verbs->close_arena(machine, NULL);
    close_machine(machine);
}

static void test_wrong_walks_are_refused(void **state) {
    (void)state;
    bj_machine *machine = open_text(quiet, 1);
    bj_arena *arena = open_arena(machine, 4096, BJ_PAGES_BASE);
    const uint32_t inside[] = {0, 511}, outside[] = {0, 512};
    const bj_walk wrong[] = {{.arena = arena, .cpu = 0, .places = outside, .count = 2},
                             {.arena = arena, .cpu = 5, .places = inside, .count = 2},
                             {.arena = arena, .cpu = 0, .places = inside, .count = 0}};
    bj_walk_effort effort = {.repetitions = 1};
    double ns[2];
    bj_error error = {""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ns[0] = ns[1] = 7;
        assert_int_equal(machine->verbs->run_walks(machine, &wrong[i], 1, &effort, ns, &error), BJ_ERR_USAGE);
        /* No sample is left unset, and none beyond them is touched. */
        assert_true(isnan(ns[0]) && ns[1] == 7);
    }
    const bj_walk twice[] = {{.arena = arena, .cpu = 0, .places = inside, .count = 2},
                             {.arena = arena, .cpu = 0, .places = inside, .count = 2}};
    assert_int_equal(machine->verbs->run_walks(machine, twice, 2, &effort, ns, &error), BJ_ERR_USAGE);
    assert_int_equal(machine->verbs->run_walks(machine, twice, 0, &effort, ns, &error), BJ_ERR_USAGE);
    assert_int_equal(machine->verbs->run_walks(machine, twice, 1, &effort, ns, &error), BJ_OK);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_quiet_samples_are_the_latencies),
        cmocka_unit_test(test_tlb_costs),
        cmocka_unit_test(test_a_seed_repeats_everything),
        cmocka_unit_test(test_noise_only_adds),
        cmocka_unit_test(test_the_clock_counts_experiments),
        cmocka_unit_test(test_drift_swings_with_the_clock),
        cmocka_unit_test(test_neighbours_take_part_of_the_last_level),
        cmocka_unit_test(test_memory_of_another_node_is_slower),
        cmocka_unit_test(test_sharers_compete),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_claims_are_the_truth_unless_they_lie),
        cmocka_unit_test(test_lies_change_no_sample),
        cmocka_unit_test(test_arenas_have_limits),
        cmocka_unit_test(test_wrong_walks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
