/* Actors of trials on the machine that we run on: plausible, never exact. */
#include "native_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRIAL_SECONDS 0.02
#define BYTES (4u << 20)

static double achieve(const bj_actor *actor) {
    bj_trial trial = {.actors = (bj_actor *)(size_t)actor, .actor_count = 1, .seconds = TRIAL_SECONDS};
    double seconds[1], achieved[1] = {-7};
    bj_error error = {""};
    if (machine->verbs->run_trial(machine, &trial, seconds, achieved, NULL, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return achieved[0];
}

static void test_actors_say_what_they_achieved(void **state) {
    bj_actor walk = {.cpu = machine->facts.cpus[0], .act = BJ_ACT_WALK, .bytes = BYTES};
    bj_actor lines = {.cpu = machine->facts.cpus[0], .act = BJ_ACT_LINES, .bytes = BYTES, .places = 1};
    bj_actor nothing = {.cpu = machine->facts.cpus[0], .act = BJ_ACT_NOTHING};
    (void)state;
    double ns = achieve(&walk), gbs = achieve(&lines);
    assert_true(ns > 0.1 && isfinite(ns));
    assert_true(gbs > 0 && isfinite(gbs));
    assert_true(isnan(achieve(&nothing)));
}

/* At this rate a chunk takes several trials: its rate is told all the same, and nobody waits for its end. */
static void test_chunks_longer_than_a_trial(void **state) {
    const double gbs = 16384 / 5e9;
    bj_actor lines = {.cpu = machine->facts.cpus[0], .act = BJ_ACT_LINES, .bytes = BYTES, .places = 1, .gbs = gbs};
    (void)state;
    double begun = machine->verbs->read_clock(machine), achieved = achieve(&lines);
    assert_true(machine->verbs->read_clock(machine) - begun < 4);
    assert_true(achieved > gbs / 2 && achieved < gbs * 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_actors_say_what_they_achieved),
        cmocka_unit_test(test_chunks_longer_than_a_trial),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
