/* Copies of loads and actors on a simulated machine, against values worked out by hand. */
#include "sim_fixture.h"

#include <math.h>

/* Four cpus: 1 GHz, a first level of their own, a second one shared by all; 10 GB/s each, 20 together. */
static const char *const plain =
    "{\"name\": \"plain\", \"cpus\": 4, \"clock_ghz\": 1.0, \"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": "
    "4},"
    "{\"size\": 1048576, \"ways\": 16, \"latency\": 20, \"shared_by\": 4}], \"memory\": {\"latency\": 100, "
    "\"cpu_gbs\": 10, \"domains\": [{\"shared_by\": 4, \"gbs\": 20}]}, "
    "\"dram\": {\"open_rows\": 8, \"row_bytes\": 8192, \"conflict_ns\": 32, \"banks\": 10}}";

static bj_machine *open_with(const char *load) {
    bj_machine *machine = open_text(plain, 1);
    char path[256];
    bj_error error = {""};
    write_machine(load, strlen(load), path, sizeof path);
    if (bj_machine_attach_load(machine, path, NULL, &error) != BJ_OK)
        fail_msg("%s", error.text);
    unlink(path);
    return machine;
}

#define LOAD(rest) "{\"format\": \"blackjack-load/1\", \"name\": \"x\", " rest "}"

/* Seconds of the slowest of so many copies, and the share of open rows. */
static double run_copies(const char *load, size_t count, double *row_hits) {
    bj_machine *machine = open_with(load);
    const int cpus[] = {0, 1, 2, 3};
    bj_copy copies[4];
    double seconds[4];
    bj_error error = {""};
    for (size_t i = 0; i < count; i++)
        copies[i] = (bj_copy){&cpus[i], 1};
    const bj_trial trial = {.copies = copies, .copy_count = count};
    bj_trial_notes notes;
    if (machine->verbs->run_trial(machine, &trial, seconds, NULL, &notes, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_true(isnan(notes.counts[BJ_COUNT_CYCLES]));
    if (row_hits != NULL)
        *row_hits = notes.row_hits;
    close_machine(machine);
    return seconds[count - 1];
}

static void times_what_it_is_given(void **state) {
    (void)state;
    /* 500 ns, and 1000 bytes at 10 GB/s, a thousand times. */
    const char *both = LOAD("\"compute_ns\": 500, \"units\": 1000, \"stream\": {\"bytes\": 1000}");
    assert_float_equal(run_copies(both, 1, NULL), 600e-6, 1e-9);
    /* Within the first level, and half of it. */
    const char *near = LOAD("\"compute_ns\": 0, \"units\": 1000, \"reuse\": {\"bytes\": 16384, \"accesses\": 10}");
    assert_float_equal(run_copies(near, 1, NULL), 40e-6, 1e-8);
    const char *half = LOAD("\"compute_ns\": 0, \"units\": 1000, \"reuse\": {\"bytes\": 65536, \"accesses\": 10}");
    assert_float_equal(run_copies(half, 1, NULL), 120e-6, 1e-8);
    /* Unless told otherwise, so many units as take a second alone. */
    assert_float_equal(run_copies(LOAD("\"compute_ns\": 37"), 4, NULL), 1, 1e-9);
}

/* Working sets of three quarters of the cache: one fits; of two each holds half the cache, two thirds of its set. */
static void shares_caches(void **state) {
    (void)state;
    const char *load = LOAD("\"units\": 1000, \"reuse\": {\"bytes\": 786432, \"accesses\": 10}");
    const double near = 32768.0 / 786432;
    assert_float_equal(run_copies(load, 1, NULL), 1e-5 * (near * 4 + (1 - near) * 20), 1e-8);
    assert_float_equal(run_copies(load, 2, NULL), 1e-5 * (near * 4 + (2 / 3. - near) * 20 + 100 / 3.), 3e-6);
}

/* 8 GB/s each: two fit, of four each gets 5. */
static void shares_bandwidth(void **state) {
    (void)state;
    const char *load = LOAD("\"compute_ns\": 25, \"stream\": {\"bytes\": 1000}");
    assert_float_equal(run_copies(load, 2, NULL), 1, 1e-6);
    assert_float_equal(run_copies(load, 4, NULL), 1.6, 1e-5);
}

/* Four copies of eight arrays: 32 places, 8 rows. A line takes 3.2 ns, and three quarters of them 3.2 more: 20 GB/s
 * become 64 / 5.6. */
static void shares_rows(void **state) {
    (void)state;
    double hits;
    const char *load = LOAD("\"compute_ns\": 25, \"stream\": {\"arrays\": 8, \"bytes\": 1000}");
    assert_float_equal(run_copies(load, 1, &hits), 1, 1e-6);
    assert_float_equal(hits, 1, 1e-9);
    assert_float_equal(run_copies(load, 4, &hits), 8 / (64 / 5.6 / 4), 1e-4);
    assert_float_equal(hits, 0.25, 1e-6);
}

static void actors_report(void **state) {
    (void)state;
    bj_machine *machine = open_with(LOAD("\"compute_ns\": 25, \"stream\": {\"bytes\": 1000}"));
    const int cpu = 0;
    const bj_copy copy = {&cpu, 1};
    const bj_actor actors[] = {{.cpu = 1, .act = BJ_ACT_LINES, .bytes = 1 << 20, .gbs = 3, .places = 1},
                               {.cpu = 2, .act = BJ_ACT_WALK, .bytes = 16384},
                               {.cpu = 3, .act = BJ_ACT_NOTHING}};
    const bj_trial trial = {.copies = &copy, .copy_count = 1, .actors = actors, .actor_count = 3};
    double seconds, achieved[3];
    bj_error error = {""};
    assert_int_equal(machine->verbs->run_trial(machine, &trial, &seconds, achieved, NULL, &error), BJ_OK);
    assert_float_equal(achieved[0], 3, 1e-6);
    assert_float_equal(achieved[1], 4, 1e-4);
    assert_true(isnan(achieved[2]));
    assert_float_equal(machine->verbs->read_clock(machine), 1, 1e-6);
    /* Two on one cpu. */
    const bj_actor twice[] = {actors[0], actors[0]};
    const bj_trial bad = {.actors = twice, .actor_count = 2, .seconds = 1};
    assert_int_equal(machine->verbs->run_trial(machine, &bad, NULL, achieved, NULL, &error), BJ_ERR_USAGE);
    close_machine(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_what_it_is_given), cmocka_unit_test(shares_caches),
        cmocka_unit_test(shares_bandwidth),       cmocka_unit_test(shares_rows),
        cmocka_unit_test(actors_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
