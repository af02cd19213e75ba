/* Clocks of the machine that we run on: reading them costs something, and they move. */
#include "native_fixture.h"

enum { TRIES = 4 };

static void test_timers_cost_and_move(void **state) {
    (void)state;
    for (int i = 0; i < BJ_TIMER_COUNT; i++) {
        double read_ns[TRIES + 1], resolution_ns[TRIES + 1];
        bj_error error = {""};
        read_ns[TRIES] = resolution_ns[TRIES] = -7;
        bj_status status = machine->verbs->run_timer(machine, (bj_timer)i, machine->facts.cpus[0], TRIES, read_ns,
                                                     resolution_ns, &error);
        if (status == BJ_ERR_UNSUPPORTED && i != BJ_TIMER_WALL)
            continue;
        if (status != BJ_OK)
            fail_msg("%s", error.text);
        for (int j = 0; j < TRIES; j++) {
            /* A read is a system call at most; the coarsest clocks tick a hundred times a second. */
            assert_true(read_ns[j] > 0 && read_ns[j] < 1e6);
            assert_true(resolution_ns[j] > 0 && resolution_ns[j] < 1e9);
        }
        assert_true(read_ns[TRIES] == -7 && resolution_ns[TRIES] == -7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_timers_cost_and_move)};
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
