/* The page probe: its answers on made-up curves, and what it measures of small simulated machines. */
#include "measure_fixture.h"

#define CURVE "page.partners"
#define KEY "page.size_bytes"
#define NO_STEP "costs clearly more than the one before"

enum { ROUNDS = 10 };

/* Partners at `page` bytes and more miss a TLB; those just below take `before` ns. */
static void put_round(fixture *made, double page, size_t round, double before, double beyond) {
    for (double distance = 1024; distance <= 65536; distance *= 2) {
        double ns = distance >= page ? beyond : distance >= page / 2 ? before : 10;
        put_sample(made, CURVE, "page", distance, round, ns * agree(round));
    }
}

static void open_rounds(fixture *made, size_t rounds, double page, double before, double beyond) {
    open_fixture(made);
    for (size_t round = 0; round < rounds; round++)
        put_round(made, page, round, before, beyond);
    run_analysis(made, "page");
}

static void test_rounds_that_agree(void **state) {
    (void)state;
    for (double page = 2048; page <= 65536; page *= 2) {
        fixture made;
        open_rounds(&made, ROUNDS, page, 10, 14);
        expect_answer(&made, KEY, page, 0, BJ_CONFIDENCE_HIGH);
        assert_string_equal(get_answer(&made, KEY)->evidence[0], CURVE);
        close_fixture(&made);
    }
}

/* As a stride that grows in octaves has it: each rise twice the one before. */
static void test_a_ramp_ends_at_the_page(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, ROUNDS, 8192, 11, 14);
    expect_answer(&made, KEY, 8192, 0, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

static void test_few_rounds_are_low(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, 4, 4096, 10, 14);
    expect_answer(&made, KEY, 4096, 0, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

static void test_a_disturbed_round(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, ROUNDS, 4096, 10, 14);
    for (double distance = 1024; distance <= 65536; distance *= 2)
        put_sample(&made, CURVE, "page", distance, 3, distance == 16384 ? 90 : 20);
    run_analysis(&made, "page");
    expect_answer(&made, KEY, 4096, 0, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

static void test_no_step(void **state) {
    (void)state;
    fixture made;
    /* Flat, and a rise that any cache can make. */
    open_rounds(&made, ROUNDS, 4096, 10, 10);
    expect_undetermined(&made, KEY, NO_STEP);
    expect_undetermined(&made, KEY, "65536 bytes");
    close_fixture(&made);
    open_rounds(&made, ROUNDS, 4096, 10, 10.15);
    expect_undetermined(&made, KEY, NO_STEP);
    close_fixture(&made);
    /* Two rises of the same height: which is the page's? */
    open_rounds(&made, ROUNDS, 8192, 12, 14);
    expect_undetermined(&made, KEY, NO_STEP);
    close_fixture(&made);
}

static void test_a_second_rise_leaves_doubt(void **state) {
    (void)state;
    fixture made;
    open_rounds(&made, ROUNDS, 8192, 11.9, 14.9);
    expect_answer(&made, KEY, 8192, 0, BJ_CONFIDENCE_MEDIUM);
    close_fixture(&made);
}

/* Each round has its step elsewhere. */
static void test_rounds_that_differ(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    for (size_t round = 0; round < 12; round++)
        put_round(&made, 2048 << (round % 6), round, 10, 14);
    run_analysis(&made, "page");
    assert_true(get_answer(&made, KEY)->confidence < BJ_CONFIDENCE_MEDIUM);
    close_fixture(&made);
}

static void test_nothing_measured(void **state) {
    (void)state;
    fixture made;
    bj_curve *curve;
    bj_error error = {""};
    open_fixture(&made);
    expect_no_value(&made, "page", KEY);
    assert_int_equal(bj_data_add_curve(&made.samples, CURVE, "page", &curve, &error), BJ_OK);
    expect_no_value(&made, "page", KEY);
    close_fixture(&made);
}

#define PAGED(base)                                                                                                    \
    "{\"name\": \"paged\", \"cpus\": 1, \"clock_ghz\": 2.0, \"page\": {\"base\": " #base "}, \"tlbs\": "               \
    "[{\"entries\": 64}], \"walk\": 40, \"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": 4}, {\"size\": "      \
    "262144, \"ways\": 8, \"latency\": 12}], \"memory\": {\"latency\": 100}}"

static const struct {
    const char *text;
    double page;
} machines[] = {{PAGED(4096), 4096}, {PAGED(16384), 16384}, {PAGED(65536), 65536}};

/* Distances double, up to four times what the system allocates by, and all are in every round. */
static void test_measures_distances(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof machines / sizeof machines[0]; k++) {
        measuring m;
        open_measuring(&m, machines[k].text, 320 * TESTED_MIB);
        assert_int_equal(measure_probe(&m, "page"), BJ_OK);
        const bj_curve *curve = get_curve(&m, CURVE);
        assert_string_equal(curve->probe, "page");
        assert_string_equal(curve->x_unit, "bytes");
        assert_string_equal(curve->y_unit, "ns");
        assert_int_equal(curve->round_count, 6);
        assert_true(curve->x[0] <= machines[k].page / 2);
        assert_true(curve->x[curve->x_count - 1] >= 4 * machines[k].page);
        for (size_t i = 0; i < curve->x_count; i++) {
            assert_true(i == 0 || curve->x[i] == 2 * curve->x[i - 1]);
            for (size_t round = 0; round < curve->round_count; round++)
                assert_true(curve->rounds[round][i] > 0);
        }
        run_analysis(&m.made, "page");
        expect_answer(&m.made, KEY, machines[k].page, 0, BJ_CONFIDENCE_HIGH);
        close_measuring(&m);
    }
}

/* Little memory: shorter distances; next to none: none, and the answer says so. */
static void test_little_memory(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, machines[0].text, 16 * TESTED_MIB);
    assert_int_equal(measure_probe(&m, "page"), BJ_OK);
    const bj_curve *curve = get_curve(&m, CURVE);
    assert_true(curve->x_count > 0 && curve->x[curve->x_count - 1] < 65536);
    close_measuring(&m);
    open_measuring(&m, machines[0].text, TESTED_MIB / 16);
    assert_int_equal(measure_probe(&m, "page"), BJ_OK);
    expect_no_sample(&m, CURVE);
    expect_no_value(&m.made, "page", KEY);
    close_measuring(&m);
}

static void test_behaves(void **state) {
    (void)state;
    expect_steady_progress("page", machines[0].text, 16 * TESTED_MIB);
    expect_interruption("page", machines[0].text, 16 * TESTED_MIB);
    expect_deadline("page", CURVE, machines[0].text, 16 * TESTED_MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds_that_agree),
        cmocka_unit_test(test_a_ramp_ends_at_the_page),
        cmocka_unit_test(test_few_rounds_are_low),
        cmocka_unit_test(test_a_disturbed_round),
        cmocka_unit_test(test_no_step),
        cmocka_unit_test(test_a_second_rise_leaves_doubt),
        cmocka_unit_test(test_rounds_that_differ),
        cmocka_unit_test(test_nothing_measured),
        cmocka_unit_test(test_measures_distances),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_behaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
