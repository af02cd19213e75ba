/* Crowds and watchers on the machine at hand: nothing that depends on how fast or how quiet it is. */
#include "native_fixture.h"

#include <math.h>

#include "machine/machine_check.h"

enum { THREADS = 3, ROOM = 256 };

static double run_crowd(bj_work work, size_t threads, size_t cpu_count, uint64_t steps) {
    double ns[THREADS], longest = 0;
    bj_taken taken;
    bj_error error = {""};
    bj_crowd crowd = {
        .work = work, .cpus = machine->facts.cpus, .cpu_count = cpu_count, .threads = threads, .steps = steps};
    if (machine->verbs->run_crowd(machine, &crowd, ns, &taken, &error) != BJ_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < threads; i++) {
        assert_true(isfinite(ns[i]) && ns[i] > 0);
        longest = fmax(longest, ns[i]);
    }
    assert_true(taken.throttled >= 0);
    assert_true(isnan(taken.stolen) || (taken.stolen >= 0 && taken.stolen <= 1));
    return longest;
}

static double least_of(bj_work work, size_t threads, uint64_t steps) {
    double least = INFINITY;
    for (int i = 0; i < 5; i++)
        least = fmin(least, run_crowd(work, threads, 1, steps));
    return least;
}

/* Eight times the work takes longer: no kernel was folded away. */
static void test_crowds(void **state) {
    (void)state;
    for (bj_work work = 0; work < BJ_WORK_COUNT; work++) {
        double once = least_of(work, 1, 500000), often = least_of(work, 1, 4000000);
        assert_true(often > 2 * once);
        assert_true(run_crowd(work, THREADS, machine->facts.cpu_count, 500000) > 0.5 * once);
    }
}

static void test_watch(void **state) {
    (void)state;
    double gaps_ns[THREADS * ROOM];
    size_t counts[THREADS];
    bj_taken taken;
    bj_error error = {""};
    bj_watch watch = {.cpus = machine->facts.cpus,
                      .cpu_count = 1,
                      .threads = THREADS,
                      .seconds = 0.3,
                      .least_gap_ns = 20000,
                      .room = ROOM};
    double before = machine->verbs->read_clock(machine), waited_ns = 0;
    if (machine->verbs->run_watch(machine, &watch, gaps_ns, counts, &taken, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_true(machine->verbs->read_clock(machine) - before >= watch.seconds);
    for (size_t i = 0; i < THREADS; i++) {
        assert_true(counts[i] <= ROOM);
        for (size_t j = 0; j < counts[i]; j++) {
            assert_true(gaps_ns[i * ROOM + j] > watch.least_gap_ns);
            waited_ns += gaps_ns[i * ROOM + j];
        }
    }
    /* Three threads on one cpu wait most of the time, and see it unless their room is full of something else. */
    assert_true(waited_ns > 0.3 * watch.seconds * 1e9);
}

static void test_refusals(void **state) {
    (void)state;
    double ns[1];
    bj_taken taken;
    bj_error error = {""};
    bj_crowd crowd = {.cpus = machine->facts.cpus, .cpu_count = 1, .threads = 0, .steps = 1};
    assert_int_equal(machine->verbs->run_crowd(machine, &crowd, ns, &taken, &error), BJ_ERR_USAGE);
    crowd.threads = BJ_CROWD_THREADS_MAX + 1;
    assert_int_equal(machine->verbs->run_crowd(machine, &crowd, ns, &taken, &error), BJ_ERR_USAGE);
    const int nowhere = 1 << 19;
    crowd = (bj_crowd){.cpus = &nowhere, .cpu_count = 1, .threads = 1, .steps = 1};
    assert_true(machine->verbs->run_crowd(machine, &crowd, ns, &taken, &error) != BJ_OK);
    assert_true(error.text[0] != '\0');
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_crowds), cmocka_unit_test(test_watch),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
