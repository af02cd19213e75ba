/* Non-negative least squares against cases worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/nnls.h"

static void solves_what_has_a_solution(void **state) {
    (void)state;
    const double matrix[] = {1, 2, 0, 1, 1, 1}, seen[] = {8, 3, 5}; /* 2 and 3 */
    double solution[2];
    bj_stats_solve_nonnegative(matrix, seen, 3, 2, solution);
    assert_float_equal(solution[0], 2, 1e-12);
    assert_float_equal(solution[1], 3, 1e-12);
}

/* Unbounded it would be 3 and -1: the second is then 0, and the first what fits best alone: (1*2 + 1*1 + 0) / 2. */
static void refuses_negative_ones(void **state) {
    (void)state;
    const double matrix[] = {1, 1, 1, 2, 0, 1}, seen[] = {2, 1, -1};
    double solution[2];
    bj_stats_solve_nonnegative(matrix, seen, 3, 2, solution);
    assert_float_equal(solution[0], 1.5, 1e-12);
    assert_float_equal(solution[1], 0, 0);
}

static void finds_nothing_in_nothing(void **state) {
    (void)state;
    const double matrix[] = {1, 0, 2, 0}, below[] = {-1, -2}, seen[] = {1, 2};
    double solution[2];
    bj_stats_solve_nonnegative(matrix, below, 2, 2, solution);
    assert_float_equal(solution[0], 0, 0);
    /* A column of zeros gets nothing, and disturbs nobody. */
    bj_stats_solve_nonnegative(matrix, seen, 2, 2, solution);
    assert_float_equal(solution[0], 1, 1e-12);
    assert_float_equal(solution[1], 0, 0);
}

/* The same column twice: either will do, but not both at their full length. */
static void shares_between_equals(void **state) {
    (void)state;
    const double matrix[] = {1, 1, 2, 2}, seen[] = {3, 6};
    double solution[2];
    bj_stats_solve_nonnegative(matrix, seen, 2, 2, solution);
    assert_float_equal(solution[0] + solution[1], 3, 1e-9);
    assert_true(isinf(bj_stats_find_condition(matrix, 2, 2)));
}

/* Columns at a right angle: 1, whatever their length. At angle a: the cotangent of half of it. */
static void tells_the_condition(void **state) {
    (void)state;
    const double square[] = {5, 0, 0, 0.1}, narrow[] = {1, cos(0.2), 0, sin(0.2)}, one[] = {3, 4};
    assert_float_equal(bj_stats_find_condition(square, 2, 2), 1, 1e-9);
    assert_float_equal(bj_stats_find_condition(narrow, 2, 2), 1 / tan(0.1), 1e-6);
    assert_float_equal(bj_stats_find_condition(one, 2, 1), 1, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solves_what_has_a_solution),
                                       cmocka_unit_test(refuses_negative_ones),
                                       cmocka_unit_test(finds_nothing_in_nothing),
                                       cmocka_unit_test(shares_between_equals), cmocka_unit_test(tells_the_condition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
