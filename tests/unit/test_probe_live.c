/* Live variables: the onset of spills on made-up curves, and what is measured of a simulated machine. */
#include "measure_fixture.h"

#include "base/random.h"
#include "probes/kit/live.h"
#include "probes/live/live_answer.h"

typedef struct {
    double registers, spill; /* what a spilled variable adds to an addition */
    double jump;             /* and all of them at once, as soon as there is one */
    double ripple;           /* of every other K */
    double noise;            /* relative, of single samples */
    unsigned rounds;
} made_up;

static double time_of(const made_up *m, double k) {
    double base = fmax(1 / floor(k / 2), 0.2) * (1 + m->ripple * ((int)k % 2));
    return k <= m->registers ? base : base + m->jump + m->spill * (k - m->registers) / k;
}

static bj_answer answer_of(const made_up *m, const char *method) {
    bj_curves samples = {0};
    bj_curve *curve;
    bj_answers answers = {0};
    bj_error error = {""};
    bj_random random;
    bj_random_seed(&random, 5);
    assert_int_equal(bj_data_add_curve(&samples, BJ_LIVE_TABLE, "live", &curve, &error), BJ_OK);
    for (unsigned r = 0; r < m->rounds; r++)
        for (int k = 3; k <= 132; k++)
            assert_int_equal(
                bj_data_record_sample(curve, k, r, time_of(m, k) * (1 + m->noise * bj_random_normal(&random)), &error),
                BJ_OK);
    bj_analyse_request request = {.method = method, .from_table = true, .seed = 3};
    if (bj_live_answer(&samples, &request, &answers, &error) != BJ_OK)
        fail_msg("%s", error.text);
    bj_answer answer = *bj_data_find_answer(&answers, BJ_LIVE_TABLE);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
    return answer;
}

static void test_ramps_and_jumps(void **state) {
    (void)state;
    const double registers[] = {12, 15, 16, 31, 90};
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++) {
        made_up ramp = {.registers = registers[i], .spill = 0.4, .noise = 0.002, .rounds = 20};
        made_up jump = {.registers = registers[i], .spill = 0.3, .jump = 0.1, .noise = 0.002, .rounds = 20};
        made_up both[] = {ramp, jump};
        for (size_t j = 0; j < 2; j++) {
            bj_answer answer = answer_of(&both[j], NULL);
            assert_int_equal(answer.status, BJ_ANSWER_OK);
            assert_true(answer.value == registers[i]);
            assert_true(answer.interval[0] <= registers[i] && registers[i] <= answer.interval[1]);
        }
    }
}

/* A second, larger step further out fools the paper's rule and not ours. */
static void test_biggest_step_is_the_papers(void **state) {
    (void)state;
    bj_curves samples = {0};
    bj_curve *curve;
    bj_error error = {""};
    assert_int_equal(bj_data_add_curve(&samples, BJ_LIVE_TABLE, "live", &curve, &error), BJ_OK);
    made_up ramp = {.registers = 15, .spill = 0.4};
    for (int k = 3; k <= 132; k++)
        assert_int_equal(bj_data_record_sample(curve, k, 0, time_of(&ramp, k) + (k > 25 ? 0.2 : 0), &error), BJ_OK);
    const struct {
        const char *method;
        double value;
    } expected[] = {{NULL, 15}, {"spill_onset", 15}, {"biggest_step", 25}};
    for (size_t i = 0; i < 3; i++) {
        bj_answers answers = {0};
        bj_analyse_request request = {.method = expected[i].method, .from_table = true};
        assert_int_equal(bj_live_answer(&samples, &request, &answers, &error), BJ_OK);
        const bj_answer *answer = bj_data_find_answer(&answers, BJ_LIVE_TABLE);
        assert_true(answer->value == expected[i].value);
        /* One round promises nothing. */
        assert_int_equal(answer->confidence, BJ_CONFIDENCE_LOW);
        bj_data_free_answers(&answers);
    }
    bj_data_free_curves(&samples);
}

/* The ramp of FINDINGS: 0.126, 0.141, 0.161, 0.172 from 15 variables on. */
static void test_ramp_of_a_real_machine(void **state) {
    (void)state;
    double x[] = {12, 13, 14, 15, 16, 17, 18, 24, 40, 80, 132};
    double y[] = {0.126, 0.126, 0.126, 0.126, 0.141, 0.161, 0.172, 0.21, 0.27, 0.32, 0.34};
    assert_int_equal(bj_kit_find_spill_onset(x, y, 11, y[0], 0.35), 3);
    assert_int_equal(bj_kit_find_spill_onset(x, y, 11, y[0], 0.5), 3);
    double flat[] = {1, 1, 1};
    assert_int_equal(bj_kit_find_spill_onset(x, flat, 3, 1, 0.35), 3);
}

static void test_ripples_are_no_spills(void **state) {
    (void)state;
    made_up rippled = {.registers = 15, .spill = 0.4, .ripple = 0.03, .noise = 0.002, .rounds = 20};
    assert_true(answer_of(&rippled, NULL).value == 15);
}

static void test_confidence(void **state) {
    (void)state;
    /* Falling until 10 variables: the additions themselves wait. */
    made_up quiet = {.registers = 12, .spill = 0.4, .noise = 0.001, .rounds = 20};
    assert_int_equal(answer_of(&quiet, NULL).confidence, BJ_CONFIDENCE_HIGH);
    /* Flat long before: the adders set the pace, and spills may hide. */
    made_up still = {.registers = 30, .spill = 0.4, .noise = 0.001, .rounds = 20};
    assert_int_equal(answer_of(&still, NULL).confidence, BJ_CONFIDENCE_MEDIUM);
    made_up noisy = {.registers = 30, .spill = 0.2, .noise = 0.2, .rounds = 8};
    bj_answer answer = answer_of(&noisy, NULL);
    assert_true(answer.status != BJ_ANSWER_OK || answer.confidence == BJ_CONFIDENCE_LOW);
}

static void test_no_rise_is_undetermined(void **state) {
    (void)state;
    made_up endless = {.registers = 200, .rounds = 8, .noise = 0.001};
    bj_answer answer = answer_of(&endless, NULL);
    assert_int_equal(answer.status, BJ_ANSWER_UNDETERMINED);
    assert_non_null(strstr(answer.reason, "does not rise"));
}

static const char *const machine_text =
    "{\"name\": \"registers\", \"cpus\": 2, \"clock_ghz\": 2.0, \"caches\": [{\"size\": 32768, \"ways\": 8, "
    "\"latency\": 4}], \"memory\": {\"latency\": 200}, \"ops\": {\"int32.add\": {\"latency\": 1, \"per_cycle\": 4}, "
    "\"double.add\": {\"latency\": 4, \"per_cycle\": 2}}, \"registers\": {\"int64\": 13, \"double\": 15}}";
enum { ROUNDS = 6, LATE = 3 };

static void test_measuring(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, machine_text, 2 * TESTED_MIB);
    assert_int_equal(measure_probe(&m, "live"), BJ_OK);
    assert_int_equal(get_curve(&m, "live.double")->round_count, ROUNDS);
    assert_int_equal(get_curve(&m, "live.double")->x_count, BJ_LIVE_MOST - BJ_LIVE_LEAST + 1);
    assert_int_equal(get_curve(&m, "live.int32")->round_count, 0);
    assert_true(bj_data_has_attribute_text(get_curve(&m, "live.int32"), BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED));
    close_measuring(&m);
    expect_steady_progress("live", machine_text, 2 * TESTED_MIB);
    expect_interruption("live", machine_text, 2 * TESTED_MIB);
    expect_deadline("live", "live.double", machine_text, 2 * TESTED_MIB);
}

/* The types that the machine does not have are not asked again. */
static void test_late_rounds(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, machine_text, 2 * TESTED_MIB);
    expect_late_rounds(&m, "live", LATE);
    assert_int_equal(get_curve(&m, "live.int64")->round_count, ROUNDS + LATE);
    run_analysis(&m.made, "live");
    assert_true(get_answer(&m.made, "live.int64")->value == 13);
    assert_true(get_answer(&m.made, "live.double")->value == 15);
    assert_int_equal(get_answer(&m.made, "live.int32")->status, BJ_ANSWER_UNSUPPORTED);
    close_measuring(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ramps_and_jumps),
        cmocka_unit_test(test_biggest_step_is_the_papers),
        cmocka_unit_test(test_ramp_of_a_real_machine),
        cmocka_unit_test(test_ripples_are_no_spills),
        cmocka_unit_test(test_confidence),
        cmocka_unit_test(test_no_rise_is_undetermined),
        cmocka_unit_test(test_measuring),
        cmocka_unit_test(test_late_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
