/* Operations: answers from made-up samples, what makes them fail, and what is measured of a simulated machine. */
#include "measure_fixture.h"

#include "base/random.h"
#include "probes/op/op_answer.h"
#include "probes/op/op_families.h"

/* ns of an addition, which changes from round to round: a clock that moves. */
static double addition_ns(size_t round) {
    return round % 3 == 0 ? 0.35 : 0.33;
}

typedef struct {
    double latency, rate; /* in additions */
    double loop;          /* of a pass of the shorter loop, in additions of one link of it */
    bool is_folded;       /* the longer loop takes as long as the shorter */
} made_up;

static void record(bj_curves *samples, const char *id, double x, size_t round, double y) {
    bj_error error = {""};
    bj_curve *curve = (bj_curve *)bj_data_find_curve(samples, id);
    if (curve == NULL)
        assert_int_equal(bj_data_add_curve(samples, id, "op", &curve, &error), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, x, round, y, &error), BJ_OK);
}

static void record_family(bj_curves *samples, size_t number, const made_up *m, size_t rounds) {
    char twice[BJ_CHAIN_NAME_ROOM], once[BJ_CHAIN_NAME_ROOM];
    const bj_chain_family *family = &bj_op_families[number];
    bj_kit_name_chain(family, BJ_UNROLL_TWICE, twice);
    bj_kit_name_chain(family, BJ_UNROLL_ONCE, once);
    for (size_t r = 0; r < rounds; r++)
        for (unsigned s = 1; s <= family->abreast; s++) {
            double link = fmax(m->latency, s / m->rate);
            double shorter = link + m->loop, longer = m->is_folded ? shorter / 2 : link + m->loop / 2;
            record(samples, twice, s, r, longer * addition_ns(r));
            record(samples, once, s, r, shorter * addition_ns(r));
        }
}

static void record_yardstick(bj_curves *samples, size_t rounds) {
    for (size_t r = 0; r < rounds; r++)
        for (int call = 1; call <= 3; call++) {
            record(samples, "op.yardstick", call, r, 1.02 * addition_ns(r));
            record(samples, "op.yardstick.once", call, r, 1.04 * addition_ns(r));
        }
}

static size_t find_family(const char *type, const char *operation) {
    for (size_t i = 0; i < BJ_OP_ANSWERED; i++)
        if (strcmp(bj_op_families[i].type, type) == 0 && strcmp(bj_op_families[i].operation, operation) == 0)
            return i;
    fail_msg("no family %s.%s", type, operation);
    return 0;
}

static void analyse(const bj_curves *samples, const char *method, bj_answers *answers) {
    bj_analyse_request request = {.method = method, .seed = 1};
    bj_error error = {""};
    if (bj_op_answer(samples, &request, answers, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_int_equal(answers->count, 3 * BJ_OP_ANSWERED);
}

static void expect_number(const bj_answers *answers, const char *key, double value) {
    const bj_answer *answer = bj_data_find_answer(answers, key);
    assert_non_null(answer);
    if (answer->status != BJ_ANSWER_OK || fabs(answer->value - value) > 0.001 * value)
        fail_msg("%s is %g (%s), not %g", key, answer->value, answer->reason, value);
    assert_true(answer->interval[0] <= value && value <= answer->interval[1]);
}

/* Whatever its status. */
static void expect_near(const bj_answers *answers, const char *key, double value) {
    const bj_answer *answer = bj_data_find_answer(answers, key);
    if (!bj_data_has_value(answer) || fabs(answer->value - value) > 0.01 * value)
        fail_msg("%s is %g (%s), not %g", key, answer->value, answer->reason, value);
}

static void test_numbers(void **state) {
    (void)state;
    const char *const methods[] = {NULL, "median_ratio", "second_lowest"};
    for (size_t i = 0; i < 3; i++) {
        bj_curves samples = {0};
        bj_answers answers = {0};
        record_yardstick(&samples, 9);
        record_family(&samples, find_family("int32", "mul"), &(made_up){3, 1, 0.2, false}, 9);
        record_family(&samples, find_family("double", "mul"), &(made_up){4, 2, 0.1, false}, 9);
        /* A chain of root and product. */
        record_family(&samples, find_family("double", "sqrt"), &(made_up){22, 0.2, 0.1, false}, 9);
        analyse(&samples, methods[i], &answers);
        expect_number(&answers, "op.int32.mul.latency", 3);
        expect_number(&answers, "op.int32.mul.throughput", 1);
        expect_number(&answers, "op.int32.mul.in_flight", 3);
        expect_number(&answers, "op.double.mul.in_flight", 8);
        expect_number(&answers, "op.double.sqrt.latency", 18);
        expect_number(&answers, "op.double.sqrt.throughput", 0.2);
        assert_int_equal(bj_data_find_answer(&answers, "op.int32.mul.latency")->confidence, BJ_CONFIDENCE_HIGH);
        assert_int_equal(bj_data_find_answer(&answers, "op.int8.div.latency")->status, BJ_ANSWER_UNDETERMINED);
        bj_data_free_answers(&answers);
        bj_data_free_curves(&samples);
    }
}

static void mark_outcome(bj_curves *samples, const char *id, const char *outcome) {
    bj_curve *curve;
    bj_error error;
    assert_int_equal(bj_data_add_curve(samples, id, "op", &curve, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_text(curve, BJ_OUTCOME, outcome, &error), BJ_OK);
}

static void test_folded_chains_fail(void **state) {
    (void)state;
    bj_curves samples = {0};
    bj_answers answers = {0};
    record_yardstick(&samples, 9);
    record_family(&samples, find_family("int64", "add"), &(made_up){1, 4, 0.1, true}, 9);
    mark_outcome(&samples, "op.float.fma", BJ_OUTCOME_UNSUPPORTED);
    mark_outcome(&samples, "op.double.fma", BJ_OUTCOME_WRONG);
    analyse(&samples, NULL, &answers);
    const char *const ends[] = {"latency", "throughput", "in_flight"};
    for (size_t i = 0; i < 3; i++) {
        char key[64];
        snprintf(key, sizeof key, "op.int64.add.%s", ends[i]);
        assert_int_equal(bj_data_find_answer(&answers, key)->status, BJ_ANSWER_FAILED);
        assert_non_null(strstr(bj_data_find_answer(&answers, key)->reason, "did not keep"));
        snprintf(key, sizeof key, "op.float.fma.%s", ends[i]);
        assert_int_equal(bj_data_find_answer(&answers, key)->status, BJ_ANSWER_UNSUPPORTED);
        snprintf(key, sizeof key, "op.double.fma.%s", ends[i]);
        assert_int_equal(bj_data_find_answer(&answers, key)->status, BJ_ANSWER_FAILED);
        assert_non_null(strstr(bj_data_find_answer(&answers, key)->reason, "wrong result"));
    }
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

static void test_twenty_streams_may_not_be_enough(void **state) {
    (void)state;
    bj_curves samples = {0};
    bj_answers answers = {0};
    record_yardstick(&samples, 9);
    record_family(&samples, find_family("float", "add"), &(made_up){30, 1, 0.1, false}, 9);
    analyse(&samples, NULL, &answers);
    expect_number(&answers, "op.float.add.latency", 30);
    assert_int_equal(bj_data_find_answer(&answers, "op.float.add.throughput")->status, BJ_ANSWER_UNDETERMINED);
    assert_int_equal(bj_data_find_answer(&answers, "op.float.add.in_flight")->status, BJ_ANSWER_UNDETERMINED);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

static void test_nothing_to_be_relative_to(void **state) {
    (void)state;
    bj_curves samples = {0};
    bj_answers answers = {0};
    bj_analyse_request request = {0};
    bj_error error = {""};
    record_family(&samples, 0, &(made_up){1, 4, 0.1, false}, 3);
    assert_int_equal(bj_op_answer(&samples, &request, &answers, &error), BJ_ERR_FAILED);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

/* Products that overlap halfway between three and four: that is what is answered, but chains cannot be halved. */
static void test_numbers_in_flight_are_fractions(void **state) {
    (void)state;
    bj_curves samples = {0};
    bj_answers answers = {0};
    record_yardstick(&samples, 9);
    record_family(&samples, find_family("int32", "mul"), &(made_up){3.5, 1, 0.2, false}, 4);
    for (size_t r = 4; r < 9; r++)
        for (unsigned s = 1; s <= BJ_CHAIN_ABREAST_MAX; s++) {
            record(&samples, "op.int32.mul", s, r, (fmax(3.45, s) + 0.1) * addition_ns(r));
            record(&samples, "op.int32.mul.once", s, r, (fmax(3.45, s) + 0.2) * addition_ns(r));
        }
    analyse(&samples, NULL, &answers);
    const bj_answer *answer = bj_data_find_answer(&answers, "op.int32.mul.in_flight");
    double latency = bj_data_find_answer(&answers, "op.int32.mul.latency")->value;
    double throughput = bj_data_find_answer(&answers, "op.int32.mul.throughput")->value;
    assert_true(fabs(answer->value - 3.45) < 1e-6 && fabs(answer->value - latency * throughput) < 1e-6);
    assert_true(answer->interval[0] > 3.4 && answer->interval[1] < 3.6);
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_HIGH);
    analyse(&samples, "second_lowest", &answers);
    assert_true(bj_data_find_answer(&answers, "op.int32.mul.in_flight")->value == 3);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

/* Every second batch of either loop is disturbed. Medians of differences within a round would be anything. */
static void test_disturbed_loops(void **state) {
    (void)state;
    bj_curves samples = {0};
    bj_answers answers = {0};
    bj_random random;
    bj_random_seed(&random, 1);
    record_yardstick(&samples, 9);
    for (size_t r = 0; r < 9; r++)
        for (unsigned s = 1; s <= BJ_CHAIN_ABREAST_MAX; s++)
            for (int twice = 0; twice < 2; twice++) {
                double link = fmax(10, s * 6) + (twice ? 0.1 : 0.2);
                bool is_met = bj_random_unit(&random) < 0.4;
                record(&samples, twice ? "op.double.div" : "op.double.div.once", s, r,
                       link * addition_ns(r) * (is_met ? 1 + bj_random_unit(&random) : 1));
            }
    analyse(&samples, NULL, &answers);
    expect_near(&answers, "op.double.div.latency", 10);
    expect_near(&answers, "op.double.div.throughput", 1.0 / 6);
    expect_near(&answers, "op.double.div.in_flight", 10.0 / 6);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

static const char *const calculator =
    "{\"name\": \"calculator\", \"cpus\": 2, \"clock_ghz\": 2.0, \"caches\": ["
    "{\"size\": 32768, \"ways\": 8, \"latency\": 4}], \"memory\": {\"latency\": 200}, "
    "\"ops\": {\"int32.add\": {\"latency\": 1, \"per_cycle\": 4}, "
    "\"int32.mul\": {\"latency\": 3, \"per_cycle\": 1}, "
    "\"int32.div\": {\"latency\": 12, \"per_cycle\": 0.25}}}";
enum { ROUNDS = 6, LATE = 3 };

static void test_measuring(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, calculator, 8 * TESTED_MIB);
    assert_int_equal(measure_probe(&m, "op"), BJ_OK);
    assert_int_equal(get_curve(&m, "op.int32.mul")->round_count, ROUNDS);
    assert_int_equal(get_curve(&m, "op.int32.mul")->x_count, BJ_CHAIN_ABREAST_MAX);
    assert_int_equal(get_curve(&m, "op.int32.add_mul")->x_count, 1);
    assert_int_equal(get_curve(&m, "op.float.add.once")->round_count, 0);
    assert_true(bj_data_has_attribute_text(get_curve(&m, "op.float.add"), BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED));
    close_measuring(&m);
    expect_steady_progress("op", calculator, 8 * TESTED_MIB);
    expect_interruption("op", calculator, 8 * TESTED_MIB);
    expect_deadline("op", "op.yardstick", calculator, 8 * TESTED_MIB);
}

/* What the machine does not have is not asked again. */
static void test_late_rounds(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, calculator, 8 * TESTED_MIB);
    expect_late_rounds(&m, "op", LATE);
    assert_int_equal(get_curve(&m, "op.int32.mul")->round_count, ROUNDS + LATE);
    assert_int_equal(get_curve(&m, "op.float.add")->round_count, 0);
    run_analysis(&m.made, "op");
    expect_answer(&m.made, "op.int32.mul.latency", 3, 0.001, BJ_CONFIDENCE_HIGH);
    expect_answer(&m.made, "op.int32.mul.in_flight", 3, 0.001, BJ_CONFIDENCE_HIGH);
    expect_answer(&m.made, "op.int32.div.latency", 12, 0.001, BJ_CONFIDENCE_HIGH);
    assert_int_equal(get_answer(&m.made, "op.float.add.latency")->status, BJ_ANSWER_UNSUPPORTED);
    close_measuring(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_folded_chains_fail),
        cmocka_unit_test(test_twenty_streams_may_not_be_enough),
        cmocka_unit_test(test_nothing_to_be_relative_to),
        cmocka_unit_test(test_numbers_in_flight_are_fractions),
        cmocka_unit_test(test_disturbed_loops),
        cmocka_unit_test(test_measuring),
        cmocka_unit_test(test_late_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
