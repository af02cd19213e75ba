/* Clocks of a simulated machine: what its file says, with noise. */
#include "sim_fixture.h"

#define CACHES "\"caches\": [{\"size\": 32768, \"latency\": 4}]"
enum { TRIES = 8 };

static void test_timers_are_as_the_file_says(void **state) {
    (void)state;
    bj_machine *machine = open_text(
        "{\"name\": \"t\", \"clock_ghz\": 2, \"clocks\": {\"wall\": {\"read_ns\": 40, \"resolution_ns\": 100}, "
        "\"cpu\": null}, " CACHES "}",
        1);
    double read_ns[TRIES], resolution_ns[TRIES];
    bj_error error = {""};
    assert_int_equal(machine->verbs->run_timer(machine, BJ_TIMER_WALL, 0, TRIES, read_ns, resolution_ns, &error),
                     BJ_OK);
    for (int i = 0; i < TRIES; i++)
        assert_true(read_ns[i] == 40 && resolution_ns[i] == 100);
    assert_int_equal(machine->verbs->run_timer(machine, BJ_TIMER_CYCLES, 0, TRIES, read_ns, resolution_ns, &error),
                     BJ_OK);
    assert_true(read_ns[TRIES - 1] == 8 && resolution_ns[TRIES - 1] == 0.5);
    assert_int_equal(machine->verbs->run_timer(machine, BJ_TIMER_CPU, 0, TRIES, read_ns, resolution_ns, &error),
                     BJ_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "sim:t has no clock of cpu time"));
    assert_int_equal(machine->verbs->run_timer(machine, BJ_TIMER_WALL, 7, TRIES, read_ns, resolution_ns, &error),
                     BJ_ERR_USAGE);
    machine->verbs->close(machine);
}

static void test_noise_and_clock(void **state) {
    (void)state;
    bj_machine *machine = open_text("{\"name\": \"t\", \"noise\": {\"jitter\": 0.02}, " CACHES "}", 1);
    double read_ns[TRIES], resolution_ns[TRIES], before = machine->verbs->read_clock(machine);
    bj_error error = {""};
    assert_int_equal(machine->verbs->run_timer(machine, BJ_TIMER_CPU, 0, TRIES, read_ns, resolution_ns, &error), BJ_OK);
    for (int i = 0; i < TRIES; i++)
        assert_true(read_ns[i] > 200 && read_ns[i] < 230 && resolution_ns[i] > 1 && resolution_ns[i] < 1.2);
    assert_true(read_ns[0] != read_ns[1]);
    assert_true(machine->verbs->read_clock(machine) > before);
    machine->verbs->close(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timers_are_as_the_file_says),
        cmocka_unit_test(test_noise_and_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
