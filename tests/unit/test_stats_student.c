/* Student's t against the tables that every book has. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/student.h"

static void expect_near(double value, double expected, double share) {
    if (!(fabs(value - expected) <= share * fabs(expected)))
        fail_msg("%.9g, expected %.9g", value, expected);
}

static void test_reach(void **state) {
    (void)state;
    expect_near(bj_stats_student_reach(0.05, 1), 12.7062, 1e-5);
    expect_near(bj_stats_student_reach(0.05, 5), 2.5706, 2e-5);
    expect_near(bj_stats_student_reach(0.05, 10), 2.2281, 2e-5);
    expect_near(bj_stats_student_reach(0.01, 30), 2.7500, 2e-5);
    expect_near(bj_stats_student_reach(0.001, 10), 4.5869, 2e-5);
    expect_near(bj_stats_student_reach(0.05, 1e9), 1.959964, 1e-6);
}

/* Of one degree of freedom (Cauchy) and of two the tail is an elementary function. */
static void test_tail(void **state) {
    (void)state;
    for (double t = 0.01; t < 1e4; t *= 3) {
        expect_near(bj_stats_student_tail(t, 1), 1 - 2 / M_PI * atan(t), 1e-9);
        expect_near(bj_stats_student_tail(-t, 2), 1 - t / sqrt(2 + t * t), 1e-7);
    }
    expect_near(bj_stats_student_tail(0, 7), 1, 1e-12);
    expect_near(bj_stats_student_tail(4, 2e6), erfc(4 / sqrt(2)), 1e-12);
    assert_true(bj_stats_student_tail(INFINITY, 5) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
