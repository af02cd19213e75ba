/* Exchanges, kinds of cpus, links, and walks beside streams of the simulated machine, against values worked out by
 * hand. */
#include "sim_fixture.h"

#include <math.h>

#define CACHES                                                                                                         \
    "\"clock_ghz\": 2.0, \"caches\": [{\"size\": 32768, \"latency\": 4},"                                              \
    "{\"size\": 262144, \"latency\": 12, \"shared_by\": 2}]"
#define MEMORY "\"memory\": {\"latency\": 100, \"cpu_gbs\": 10, \"domains\": [{\"shared_by\": 4, \"gbs\": 12}]}"

static const char *const tree = "{\"name\": \"tree\", \"cpus\": 8, \"numa_nodes\": 2, \"sockets\": 2, " CACHES
                                ", \"exchange\": {\"L2\": 20, \"socket\": 80, \"remote\": 150}}";
static const char *const ring =
    "{\"name\": \"ring\", \"cpus\": 4, \"numa_nodes\": 4, \"sockets\": 4, \"clock_ghz\": 1, "
    "\"caches\": [{\"size\": 32768, \"latency\": 4}], "
    "\"links\": [[50, 90, 130, 90], [90, 50, 90, 130], [130, 90, 50, 90], [90, 130, 90, 50]]}";
static const char *const hybrid = "{\"name\": \"hybrid\", \"cpus\": 8, " CACHES
                                  ", \"kinds\": [{\"cpus\": 4, \"clock_ghz\": 4}, {\"cpus\": 4, \"clock_ghz\": 1, "
                                  "\"caches\": [{\"size\": 16384, \"latency\": 3}]}]}";
static const char *const shared = "{\"name\": \"shared\", \"cpus\": 4, " CACHES ", " MEMORY
                                  ", \"misses_in_flight\": 64}";

static void assert_near(double value, double expected) {
    if (fabs(value - expected) > 1e-9 * expected)
        fail_msg("%.12g where %.12g was expected", value, expected);
}

static double exchange(bj_machine *machine, int a, int b, size_t bytes) {
    bj_exchange pair = {.cpu_a = a, .cpu_b = b, .bytes = bytes};
    double ns = NAN;
    bj_error error = {""};
    if (machine->verbs->run_exchanges(machine, &pair, 1, 1, &ns, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return ns;
}

/* A line for the flag and one for the block; of more lines, four come at once. A block that the common cache does not
 * hold goes by way of what is further out. */
static void test_turn_costs_what_is_shared(void **state) {
    (void)state;
    bj_machine *machine = open_text(tree, 1);
    assert_near(exchange(machine, 0, 1, 64), 20 + 20);
    assert_near(exchange(machine, 0, 2, 64), 80 + 80);
    assert_near(exchange(machine, 0, 7, 64), 150 + 150);
    assert_near(exchange(machine, 0, 1, 262144), 20 + 4096 * 20 / 4.0);
    assert_near(exchange(machine, 0, 1, 262144 + 64), 20 + 4097 * 80 / 4.0);
    close_machine(machine);
}

static void test_links_replace_nodes(void **state) {
    (void)state;
    bj_machine *machine = open_text(ring, 1);
    assert_near(exchange(machine, 0, 1, 64), 180);
    assert_near(exchange(machine, 0, 2, 64), 260);
    assert_near(exchange(machine, 3, 0, 64), 180);
    close_machine(machine);
}

static void test_pairs_at_once_are_disjoint(void **state) {
    (void)state;
    bj_machine *machine = open_text(tree, 1);
    bj_exchange pairs[] = {{.cpu_a = 0, .cpu_b = 1, .bytes = 64}, {.cpu_a = 2, .cpu_b = 7, .bytes = 64}};
    double ns[4];
    bj_error error = {""};
    assert_int_equal(machine->verbs->run_exchanges(machine, pairs, 2, 2, ns, &error), BJ_OK);
    assert_near(ns[1], 40);
    assert_near(ns[2], 300);
    pairs[1].cpu_b = 0;
    assert_int_equal(machine->verbs->run_exchanges(machine, pairs, 2, 2, ns, &error), BJ_ERR_USAGE);
    assert_true(isnan(ns[0]));
    close_machine(machine);
}

static double walk(bj_machine *machine, int cpu, size_t bytes) {
    size_t count = 0;
    bj_arena *arena = open_arena(machine, bytes, BJ_PAGES_BASE);
    uint32_t *places = random_places(bytes, 64, 5, &count);
    bj_walk one = {.arena = arena, .cpu = cpu, .places = places, .count = count};
    bj_walk_effort effort = {.repetitions = 1};
    double ns = 0;
    bj_error error = {""};
    if (machine->verbs->run_walks(machine, &one, 1, &effort, &ns, &error) != BJ_OK)
        fail_msg("%s", error.text);
    free(places);
    machine->verbs->close_arena(machine, arena);
    return ns;
}

/* Levels within a kind keep pace with its clock; what several kinds share takes as long for all. */
static void test_kinds_differ(void **state) {
    (void)state;
    bj_machine *machine = open_text(hybrid, 1);
    assert_near(walk(machine, 0, 32768), 4 / 4.0);
    assert_near(walk(machine, 4, 16384), 3 / 1.0);
    assert_near(walk(machine, 0, 65536), 12 / 4.0);
    assert_near(walk(machine, 4, 131072), 12 / 1.0);
    assert_near(walk(machine, 0, 8 << 20), 200 / 2.0);
    assert_near(walk(machine, 4, 8 << 20), 200 / 2.0);
    bj_chain chain = {.cpu = 4, .type = "int32", .operation = "add", .abreast = 1};
    double ns = 0;
    bj_error error = {""};
    assert_int_equal(machine->verbs->run_chains(machine, &chain, 1, 1, &ns, &error), BJ_OK);
    assert_near(ns, 1);
    chain.cpu = 3;
    assert_int_equal(machine->verbs->run_chains(machine, &chain, 1, 1, &ns, &error), BJ_OK);
    assert_near(ns, 0.25);
    close_machine(machine);
}

/* One walk of 32 chains draws 64 bytes every 50 / 32 ns, or 41 GB/s: alone in the domain that is not held back (the
 * model leaves lone walks to the latency). Beside a stream of 10 GB/s, a domain of 12 gives each 6. */
static void test_mix_shares_domains(void **state) {
    (void)state;
    bj_machine *machine = open_text(shared, 1);
    enum { BYTES = 4 << 20 };
    size_t count = 0;
    bj_arena *first = open_arena(machine, BYTES, BJ_PAGES_BASE), *second = open_arena(machine, BYTES, BJ_PAGES_BASE);
    uint32_t *places = random_places(BYTES, 64, 5, &count);
    bj_walk one = {.arena = first, .cpu = 0, .places = places, .count = count, .chains = 32};
    bj_stream other = {.arena = second, .cpu = 3, .kind = BJ_STREAM_READ, .bytes = BYTES};
    bj_walk_effort walk_effort = {.repetitions = 2};
    bj_stream_effort stream_effort = {.repetitions = 2};
    bj_mix mix = {&one, 1, &walk_effort, &other, 1, &stream_effort};
    double ns[2], gbs[2];
    bj_error error = {""};
    if (machine->verbs->run_mix(machine, &mix, ns, gbs, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_near(gbs[1], 6);
    assert_near(ns[1], 64 / 6.0);
    other.cpu = 0;
    assert_int_equal(machine->verbs->run_mix(machine, &mix, ns, gbs, &error), BJ_ERR_USAGE);
    free(places);
    machine->verbs->close_arena(machine, first);
    machine->verbs->close_arena(machine, second);
    close_machine(machine);
}

static void assert_refused(const char *text, const char *expected) {
    bj_sim_spec *spec = NULL;
    bj_error error = {""};
    assert_int_equal(bj_sim_parse_spec("file", text, strlen(text), &spec, &error), BJ_ERR_INPUT);
    if (strstr(error.text, expected) == NULL)
        fail_msg("\"%s\" where \"%s\" was expected", error.text, expected);
}

static void test_bad_kinds_and_links(void **state) {
    (void)state;
    assert_refused("{\"name\": \"a\", \"cpus\": 4, " CACHES ", \"kinds\": [{\"cpus\": 3}]}", "4 in all");
    assert_refused("{\"name\": \"a\", \"cpus\": 4, " CACHES
                   ", \"kinds\": [{\"cpus\": 4, \"caches\": [{\"size\": 32768, \"latency\": 4, \"line\": 128}]}]}",
                   "lines of 64 bytes");
    assert_refused("{\"name\": \"a\", \"cpus\": 4, \"numa_nodes\": 2, " CACHES ", \"links\": [[1, 2], [3, 1]]}",
                   "both ways");
    assert_refused("{\"name\": \"a\", \"cpus\": 4, \"numa_nodes\": 2, " CACHES ", \"links\": [[1, 2]]}", "links");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turn_costs_what_is_shared), cmocka_unit_test(test_links_replace_nodes),
        cmocka_unit_test(test_pairs_at_once_are_disjoint), cmocka_unit_test(test_kinds_differ),
        cmocka_unit_test(test_mix_shares_domains),         cmocka_unit_test(test_bad_kinds_and_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
