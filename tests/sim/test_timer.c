/* The timer probe over the zoo: the clocks of a machine file come back. A smoke test, since a simulated answer can only
 * echo its file; the proof is native. */
#include "zoo_fixture.h"

static void expect_near(const bj_answers *answers, const char *machine, const char *key, double truth) {
    const bj_answer *answer = bj_data_find_answer(answers, key);
    if (answer == NULL || answer->status != BJ_ANSWER_OK || fabs(answer->value - truth) > 0.1 * truth ||
        truth < answer->interval[0] || truth > answer->interval[1])
        fail_msg("%s: %s is %g [%g, %g] (%s), the truth is %g", machine, key, answer ? answer->value : 0.0,
                 answer ? answer->interval[0] : 0.0, answer ? answer->interval[1] : 0.0,
                 answer ? answer->reason : "no answer", truth);
}

static void the_usual_clocks_of_every_machine(void **state) {
    (void)state;
    json_t *truths = load_truths(), *value;
    const char *name;
    json_object_foreach(truths, name, value) {
        bj_machine *machine = open_zoo_machine(name);
        bj_answers answers = {0};
        run_probe("timer", machine, &answers);
        expect_near(&answers, name, "timer.wall.read_ns", 25);
        expect_near(&answers, name, "timer.wall.resolution_ns", 1);
        expect_near(&answers, name, "timer.cpu.read_ns", 200);
        expect_near(&answers, name, "timer.cycles.read_ns", 8);
        bj_data_free_answers(&answers);
        close_machine(machine);
    }
    json_decref(truths);
}

static void a_coarse_clock_and_none(void **state) {
    (void)state;
    json_t *file = load_machine("zen3");
    json_object_set_new(file, "clocks",
                        json_pack("{s:{s:f,s:f},s:n}", "wall", "read_ns", 900.0, "resolution_ns", 4e6, "cycles"));
    bj_machine *machine = open_changed(file);
    bj_answers answers = {0};
    run_probe("timer", machine, &answers);
    expect_near(&answers, "zen3", "timer.wall.read_ns", 900);
    expect_near(&answers, "zen3", "timer.wall.resolution_ns", 4e6);
    assert_int_equal(bj_data_find_answer(&answers, "timer.cycles.read_ns")->status, BJ_ANSWER_UNSUPPORTED);
    assert_int_equal(bj_data_find_answer(&answers, "timer.cycles.resolution_ns")->status, BJ_ANSWER_UNSUPPORTED);
    bj_data_free_answers(&answers);
    close_machine(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_clocks_of_every_machine),
        cmocka_unit_test(a_coarse_clock_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
