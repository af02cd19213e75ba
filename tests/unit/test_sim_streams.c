/* Chains side by side, streams and bouncing lines of the simulated machine, against values worked out by hand. */
#include "sim_fixture.h"

#include <math.h>

#define CACHES                                                                                                         \
    "\"clock_ghz\": 2.0, \"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": 4, \"gbs\": 100},"                   \
    "{\"size\": 262144, \"ways\": 8, \"latency\": 12, \"shared_by\": 2, \"gbs\": 50}]"
#define MEMORY                                                                                                         \
    "\"memory\": {\"latency\": 100, \"remote_latency\": 180, \"cpu_gbs\": 10, \"domains\": "                           \
    "[{\"shared_by\": 2, \"gbs\": 15}, {\"shared_by\": 4, \"gbs\": 24}]}, \"misses_in_flight\": 10"
#define FOUR_CPUS "\"cpus\": 4, \"numa_nodes\": 2, \"sockets\": 2"

static const char *const plain = "{\"name\": \"plain\", " FOUR_CPUS ", " CACHES ", " MEMORY "}";

static void assert_near(double value, double expected) {
    if (fabs(value - expected) > 1e-9 * expected)
        fail_msg("%.12g where %.12g was expected", value, expected);
}

static double walk_chains(bj_machine *machine, bj_arena *arena, size_t bytes, unsigned chains) {
    size_t count = 0;
    uint32_t *places = random_places(bytes, 64, 5, &count);
    count -= count % (chains > 0 ? chains : 1);
    bj_walk walk = {.arena = arena, .cpu = 0, .places = places, .count = count, .chains = chains};
    bj_walk_effort effort = {.repetitions = 1};
    double ns = 0;
    bj_error error = {""};
    if (machine->verbs->run_walks(machine, &walk, 1, &effort, &ns, &error) != BJ_OK)
        fail_msg("%s", error.text);
    free(places);
    return ns;
}

/* Hits of the first level overlap up to two a cycle, the rest up to ten misses in flight. */
static void test_chains_overlap(void **state) {
    (void)state;
    bj_machine *machine = open_text(plain, 1);
    bj_arena *arena = open_arena(machine, 8 << 20, BJ_PAGES_BASE);
    const struct {
        size_t bytes;
        unsigned chains;
        double ns;
    } expected[] = {{8192, 0, 2},     {8192, 1, 2},     {8192, 2, 1},      {8192, 8, 0.25},      {8192, 16, 0.25},
                    {131072, 1, 6},   {131072, 4, 1.5}, {131072, 16, 0.6}, {8 << 20, 1, 50},     {8 << 20, 2, 25},
                    {8 << 20, 10, 5}, {8 << 20, 11, 5}, {8 << 20, 64, 5},  {8 << 20, 3, 50 / 3.}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_near(walk_chains(machine, arena, expected[i].bytes, expected[i].chains), expected[i].ns);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

/* Side by side, not one after the other: two chains over halves of twice the first level keep missing it, although
 * either half alone would fit. */
static void test_chains_advance_together(void **state) {
    (void)state;
    bj_machine *machine = open_text(plain, 1);
    bj_arena *arena = open_arena(machine, 1 << 20, BJ_PAGES_BASE);
    assert_near(walk_chains(machine, arena, 65536, 2), 3);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_translation_overlaps_too(void **state) {
    (void)state;
    bj_machine *machine = open_text(
        "{\"name\": \"t\", \"cpus\": 4, \"tlbs\": [{\"entries\": 4}], \"walk\": 30, " CACHES ", " MEMORY "}", 1);
    bj_arena *arena = open_arena(machine, 64 * 4096, BJ_PAGES_BASE);
    uint32_t places[64];
    for (uint32_t i = 0; i < 64; i++)
        places[i] = (i * 4096 + i % 64 * 64) / BJ_WALK_WORD_BYTES;
    bj_walk walk = {.arena = arena, .cpu = 0, .places = places, .count = 64, .chains = 4};
    bj_walk_effort effort = {.repetitions = 1};
    double ns = 0;
    bj_error error = {""};
    assert_int_equal(machine->verbs->run_walks(machine, &walk, 1, &effort, &ns, &error), BJ_OK);
    /* A hit of the first level and a page walk each: (4 / 4 + 30 / 4) cycles. */
    assert_near(ns, 4.25);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_wrong_chains_are_refused(void **state) {
    (void)state;
    bj_machine *machine = open_text(plain, 1);
    bj_arena *arena = open_arena(machine, 8192, BJ_PAGES_BASE);
    uint32_t places[130];
    for (uint32_t i = 0; i < 130; i++)
        places[i] = i;
    bj_walk_effort effort = {.repetitions = 1};
    double ns = 0;
    bj_error error = {""};
    const struct {
        size_t count;
        unsigned chains;
    } wrong[] = {{130, 65}, {10, 3}, {2, 4}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bj_walk walk = {.arena = arena, .cpu = 0, .places = places, .count = wrong[i].count, .chains = wrong[i].chains};
        assert_int_equal(machine->verbs->run_walks(machine, &walk, 1, &effort, &ns, &error), BJ_ERR_USAGE);
    }
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

/* Streams over `bytes` each, on the first `count` of the cpus, every one in the arena of its own node. */
static void run_streams(bj_machine *machine, const int *cpus, size_t count, size_t bytes, bj_stream_kind kind,
                        double *gbs) {
    bj_stream streams[4] = {{0}};
    bj_error error = {""};
    for (size_t i = 0; i < count; i++) {
        bj_arena *arena = NULL;
        if (machine->verbs->open_arena(machine, bytes, BJ_PAGES_BASE, cpus[i], &arena, &error) != BJ_OK)
            fail_msg("%s", error.text);
        streams[i] = (bj_stream){.arena = arena, .cpu = cpus[i], .kind = kind, .bytes = bytes};
    }
    bj_stream_effort effort = {.repetitions = 1};
    if (machine->verbs->run_streams(machine, streams, count, &effort, gbs, &error) != BJ_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < count; i++)
        machine->verbs->close_arena(machine, streams[i].arena);
}

static double stream_alone(const char *text, size_t bytes, bj_stream_kind kind) {
    bj_machine *machine = open_text(text, 1);
    const int cpu = 0;
    double gbs = 0;
    run_streams(machine, &cpu, 1, bytes, kind, &gbs);
    close_machine(machine);
    return gbs;
}

static void test_a_stream_has_the_rate_of_its_source(void **state) {
    (void)state;
    const bj_stream_kind kinds[] = {BJ_STREAM_READ, BJ_STREAM_WRITE, BJ_STREAM_COPY};
    for (size_t i = 0; i < 3; i++) {
        assert_near(stream_alone(plain, 16384, kinds[i]), 100);
        assert_near(stream_alone(plain, 32768, kinds[i]), 100);
        assert_near(stream_alone(plain, 131072, kinds[i]), 50);
        assert_near(stream_alone(plain, 4 << 20, kinds[i]), 10);
    }
    /* 544 lines in 64 sets of eight ways: 32 sets hold their eight, 32 sets lose all nine. */
    assert_near(stream_alone(plain, 34816, BJ_STREAM_READ), 544 * 64 / (256 * 64 / 100. + 288 * 64 / 50.));
}

static double stream_past(bj_machine *machine, bj_arena *arena, size_t bytes, bj_stream_kind kind) {
    bj_stream stream = {.arena = arena, .cpu = 0, .kind = kind, .past_caches = true, .bytes = bytes};
    bj_stream_effort effort = {.repetitions = 1};
    double gbs = 0;
    bj_error error = {""};
    if (machine->verbs->run_streams(machine, &stream, 1, &effort, &gbs, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return gbs;
}

/* They fetch nothing and leave nothing: at the rate of memory whatever the range. What a copy reads may be cached. */
static void test_stores_past_the_caches(void **state) {
    (void)state;
    bj_machine *machine = open_text(plain, 1);
    bj_arena *arena = open_arena(machine, 4 << 20, BJ_PAGES_BASE);
    for (size_t bytes = 16384; bytes <= 4 << 20; bytes *= 4)
        assert_near(stream_past(machine, arena, bytes, BJ_STREAM_WRITE), 10);
    assert_near(stream_past(machine, arena, 4 << 20, BJ_STREAM_COPY), 10);
    assert_near(stream_past(machine, arena, 32768, BJ_STREAM_COPY), 1 / (0.5 / 100 + 0.5 / 10));
    assert_near(stream_past(machine, arena, 131072, BJ_STREAM_COPY), 1 / (0.5 / 50 + 0.5 / 10));
    /* Reading has no stores. */
    assert_near(stream_past(machine, arena, 131072, BJ_STREAM_READ), 50);
    /* Together with an ordinary stream, which has its caches for itself. */
    const bj_stream both[] = {{.arena = arena, .cpu = 0, .kind = BJ_STREAM_WRITE, .past_caches = true, .bytes = 65536},
                              {.arena = arena, .cpu = 1, .kind = BJ_STREAM_READ, .first_byte = 65536, .bytes = 131072}};
    bj_stream_effort effort = {.repetitions = 1};
    double gbs[2];
    bj_error error = {""};
    assert_int_equal(machine->verbs->run_streams(machine, both, 2, &effort, gbs, &error), BJ_OK);
    assert_near(gbs[0], 10);
    assert_near(gbs[1], 50);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

/* The second half of a long line comes with the first, and what a prefetcher brings comes from where it was. */
static void test_sources_count_once(void **state) {
    (void)state;
    const char *const long_lines =
        "{\"name\": \"l\", \"prefetchers\": [\"next_line\", \"stride\", \"region\"], \"caches\": "
        "[{\"size\": 32768, \"latency\": 4, \"gbs\": 100}, {\"size\": 262144, \"line\": 256, "
        "\"latency\": 12, \"gbs\": 50}], " MEMORY ", \"cpus\": 4}";
    assert_near(stream_alone(long_lines, 131072, BJ_STREAM_READ), 50);
    assert_near(stream_alone(long_lines, 512 << 10, BJ_STREAM_READ), 10);
    assert_near(stream_alone(long_lines, 4 << 20, BJ_STREAM_READ), 10);
}

static void test_rates_that_are_not_given(void **state) {
    (void)state;
    const char *const bare = "{\"name\": \"b\", \"clock_ghz\": 2, \"caches\": [{\"size\": 32768, \"latency\": 4}, "
                             "{\"size\": 262144, \"latency\": 12}, {\"size\": 1048576, \"latency\": 40}], "
                             "\"memory\": {\"cpu_gbs\": 20}}";
    assert_near(stream_alone(bare, 16384, BJ_STREAM_READ), 64);
    assert_near(stream_alone(bare, 131072, BJ_STREAM_READ), 32);
    assert_near(stream_alone(bare, 524288, BJ_STREAM_READ), 20); /* not below memory */
}

/* Cpus 0 and 1 have a bus of 15, all four one of 24, and none draws more than 10. */
static void test_streams_share_memory_fairly(void **state) {
    (void)state;
    bj_machine *machine = open_text(plain, 1);
    const struct {
        int cpus[4];
        size_t count;
        double gbs[4];
    } expected[] = {{{0}, 1, {10}},
                    {{0, 1}, 2, {7.5, 7.5}},
                    {{0, 2}, 2, {10, 10}},
                    {{0, 1, 2}, 3, {7.5, 7.5, 9}},
                    {{3, 2, 1, 0}, 4, {6, 6, 6, 6}}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        double gbs[4];
        run_streams(machine, expected[i].cpus, expected[i].count, 4 << 20, BJ_STREAM_READ, gbs);
        for (size_t j = 0; j < expected[i].count; j++)
            assert_near(gbs[j], expected[i].gbs[j]);
    }
    close_machine(machine);
}

/* Two thirds of the second level each: cpus that share it push each other into memory. */
static void test_streams_share_caches(void **state) {
    (void)state;
    bj_machine *machine = open_text(plain, 1);
    const int together[] = {0, 1}, apart[] = {0, 2};
    double gbs[2];
    run_streams(machine, apart, 2, 174080, BJ_STREAM_READ, gbs);
    assert_near(gbs[0], 50);
    assert_near(gbs[1], 50);
    run_streams(machine, together, 2, 174080, BJ_STREAM_READ, gbs);
    assert_true(gbs[0] < 20 && gbs[1] < 20);
    close_machine(machine);
}

static void test_remote_memory_is_slower(void **state) {
    (void)state;
    bj_machine *machine = open_text(plain, 1);
    bj_arena *arena = open_arena(machine, 4 << 20, BJ_PAGES_BASE); /* of the first node */
    bj_stream stream = {.arena = arena, .cpu = 2, .kind = BJ_STREAM_READ, .bytes = 4 << 20};
    bj_stream_effort effort = {.repetitions = 2, .min_bytes = 64 << 20};
    double gbs[2], before = machine->verbs->read_clock(machine);
    bj_error error = {""};
    assert_int_equal(machine->verbs->run_streams(machine, &stream, 1, &effort, gbs, &error), BJ_OK);
    assert_near(gbs[0], 10 * 100 / 180.);
    /* Two batches of 64 MiB. */
    assert_near(machine->verbs->read_clock(machine) - before, 2 * 67.108864e6 / (1e9 * gbs[0]));
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_wrong_streams_are_refused(void **state) {
    (void)state;
    bj_machine *machine = open_text(plain, 1);
    bj_arena *arena = open_arena(machine, 65536, BJ_PAGES_BASE);
    const bj_stream wrong[] = {{.arena = arena, .cpu = 0, .bytes = 0},
                               {.arena = arena, .cpu = 0, .bytes = 1024},
                               {.arena = arena, .cpu = 0, .first_byte = 64, .bytes = 4096},
                               {.arena = arena, .cpu = 0, .first_byte = 4096, .bytes = 65536},
                               {.arena = arena, .cpu = 9, .bytes = 4096}};
    bj_stream_effort effort = {.repetitions = 1};
    double gbs[2];
    bj_error error = {""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(machine->verbs->run_streams(machine, &wrong[i], 1, &effort, gbs, &error), BJ_ERR_USAGE);
    const bj_stream twice[] = {{.arena = arena, .cpu = 1, .bytes = 4096}, {.arena = arena, .cpu = 1, .bytes = 4096}};
    assert_int_equal(machine->verbs->run_streams(machine, twice, 2, &effort, gbs, &error), BJ_ERR_USAGE);
    assert_int_equal(machine->verbs->run_streams(machine, twice, 0, &effort, gbs, &error), BJ_ERR_USAGE);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static double bounce(const char *text, int cpu_a, int cpu_b, uint32_t word_b) {
    bj_machine *machine = open_text(text, 1);
    bj_arena *arena = open_arena(machine, 4096, BJ_PAGES_BASE);
    bj_bounce words = {.arena = arena, .cpu_a = cpu_a, .cpu_b = cpu_b, .word_a = 0, .word_b = word_b};
    double ns[2] = {0, 0};
    bj_error error = {""};
    if (machine->verbs->run_bounce(machine, &words, 2, ns, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_true(ns[0] == ns[1]);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
    return ns[0];
}

static void test_lines_bounce(void **state) {
    (void)state;
    const char *const given = "{\"name\": \"g\", " FOUR_CPUS ", " CACHES ", " MEMORY ", \"exchange\": {\"L2\": 20, "
                              "\"remote\": 100}}";
    assert_near(bounce(given, 0, 1, 7), 20);
    assert_near(bounce(given, 0, 1, 8), 2); /* the next line */
    assert_near(bounce(given, 0, 2, 7), 100);
    assert_near(bounce(given, 3, 2, 1), 20);
    /* Where no exchange is given: the latency of what they share, here the second level and the other node. */
    assert_near(bounce(plain, 0, 1, 7), 6);
    assert_near(bounce(plain, 0, 3, 7), 90);
}

/* A node of two sockets and sockets of two nodes: whatever is innermost counts, and what is not given takes the next.
 */
static void test_exchange_by_the_innermost(void **state) {
    (void)state;
    const char *const big_nodes = "{\"name\": \"n\", \"cpus\": 8, \"numa_nodes\": 2, \"sockets\": 4, " CACHES
                                  ", \"exchange\": {\"socket\": 40, \"node\": 60, \"remote\": 90}}";
    assert_near(bounce(big_nodes, 0, 1, 1), 40);
    assert_near(bounce(big_nodes, 0, 2, 1), 60);
    assert_near(bounce(big_nodes, 0, 4, 1), 90);
    const char *const big_sockets = "{\"name\": \"s\", \"cpus\": 8, \"numa_nodes\": 4, \"sockets\": 2, " CACHES
                                    ", \"exchange\": {\"L2\": 30, \"socket\": 70, \"remote\": 90}}";
    assert_near(bounce(big_sockets, 0, 1, 1), 30);
    assert_near(bounce(big_sockets, 0, 2, 1), 70);
    assert_near(bounce(big_sockets, 0, 4, 1), 90);
}

/* The longest line of what is private bounces as a whole; where all is shared nothing has to. */
static void test_the_granule_of_a_bounce(void **state) {
    (void)state;
    const char *const long_lines =
        "{\"name\": \"l\", \"cpus\": 4, \"smt\": 2, \"clock_ghz\": 2, \"caches\": "
        "[{\"size\": 32768, \"latency\": 4}, {\"size\": 262144, \"line\": 128, "
        "\"latency\": 12}, {\"size\": 1048576, \"line\": 256, \"latency\": 40, \"shared_by\": "
        "4}], \"exchange\": {\"smt\": 10, \"L3\": 25}}";
    assert_near(bounce(long_lines, 0, 2, 15), 25);
    assert_near(bounce(long_lines, 0, 2, 16), 2);
    assert_near(bounce(long_lines, 0, 1, 1), 2);
}

static void test_wrong_bounces_are_refused(void **state) {
    (void)state;
    bj_machine *machine = open_text(plain, 1);
    bj_arena *arena = open_arena(machine, 4096, BJ_PAGES_BASE);
    const bj_bounce wrong[] = {{.arena = arena, .cpu_a = 0, .cpu_b = 0, .word_a = 0, .word_b = 1},
                               {.arena = arena, .cpu_a = 0, .cpu_b = 1, .word_a = 3, .word_b = 3},
                               {.arena = arena, .cpu_a = 0, .cpu_b = 1, .word_a = 0, .word_b = 512},
                               {.arena = arena, .cpu_a = 0, .cpu_b = 7, .word_a = 0, .word_b = 1}};
    double ns = 0;
    bj_error error = {""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(machine->verbs->run_bounce(machine, &wrong[i], 1, &ns, &error), BJ_ERR_USAGE);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains_overlap),
        cmocka_unit_test(test_chains_advance_together),
        cmocka_unit_test(test_translation_overlaps_too),
        cmocka_unit_test(test_wrong_chains_are_refused),
        cmocka_unit_test(test_a_stream_has_the_rate_of_its_source),
        cmocka_unit_test(test_stores_past_the_caches),
        cmocka_unit_test(test_sources_count_once),
        cmocka_unit_test(test_rates_that_are_not_given),
        cmocka_unit_test(test_streams_share_memory_fairly),
        cmocka_unit_test(test_streams_share_caches),
        cmocka_unit_test(test_remote_memory_is_slower),
        cmocka_unit_test(test_wrong_streams_are_refused),
        cmocka_unit_test(test_lines_bounce),
        cmocka_unit_test(test_exchange_by_the_innermost),
        cmocka_unit_test(test_the_granule_of_a_bounce),
        cmocka_unit_test(test_wrong_bounces_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
