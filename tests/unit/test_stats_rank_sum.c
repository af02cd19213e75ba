/* The rank-sum test against small cases that can be counted. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/rank_sum.h"

static void expect_near(double value, double expected, double share) {
    if (!(fabs(value - expected) <= share * fabs(expected)))
        fail_msg("%.9g, expected %.9g", value, expected);
}

/* Of all 70 ways to deal eight values to two lots of four, one has the upper lot wholly above. */
static void test_apart(void **state) {
    (void)state;
    bj_ranked_value values[] = {{1, 0}, {9, 1}, {2, 0}, {8, 1}, {3, 0}, {7, 1}, {4, 0}, {6, 1}};
    expect_near(exp(bj_stats_find_rank_chance(values, 8)), 1.0 / 70, 1e-9);
    expect_near(exp(bj_stats_log_choices(5, 2)), 10, 1e-9);
}

/* Interleaved lots and lots without an order are what chance gives; a lot that lies below is no evidence either. */
static void test_alike(void **state) {
    (void)state;
    bj_ranked_value values[40], ties[20], below[] = {{5, 1}, {6, 1}, {7, 0}, {8, 0}}, alone[] = {{1, 1}, {2, 1}};
    for (size_t i = 0; i < 40; i++)
        values[i] = (bj_ranked_value){(double)i, i % 2};
    for (size_t i = 0; i < 20; i++)
        ties[i] = (bj_ranked_value){3, i % 2};
    assert_true(exp(bj_stats_find_rank_chance(values, 40)) > 0.3);
    assert_true(bj_stats_find_rank_chance(ties, 20) == 0);
    assert_true(exp(bj_stats_find_rank_chance(below, 4)) > 0.9);
    assert_true(bj_stats_find_rank_chance(alone, 2) == 0);
}

/* Ten and ten with one of each on the wrong side: 90 of 100 pairs of values have the upper one above; the table of the
 * exact distribution says 0.0009. */
static void test_overlap(void **state) {
    (void)state;
    bj_ranked_value values[20];
    for (size_t i = 0; i < 20; i++)
        values[i] = (bj_ranked_value){(double)i, i >= 10};
    values[9].lot = 1;
    values[14].lot = 0;
    double chance = exp(bj_stats_find_rank_chance(values, 20));
    if (!(chance > 1e-4 && chance < 2e-3))
        fail_msg("%.9g", chance);
}

/* So far out that the chance itself is no number above zero any more. */
static void test_far(void **state) {
    (void)state;
    enum { COUNT = 4000 };
    static bj_ranked_value values[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        values[i] = (bj_ranked_value){(double)i, i >= COUNT / 2};
    values[0].lot = 1;
    values[COUNT - 1].lot = 0;
    double chance = bj_stats_find_rank_chance(values, COUNT);
    assert_true(isfinite(chance) && chance < -1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
