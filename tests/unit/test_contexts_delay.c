#include "probes/contexts/delay.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 64 };

/* Numbers of threads as the probe raises them. */
static size_t raise(double *x, double up_to) {
    size_t count = 0;
    for (double m = 1; m <= up_to && count < MOST; m = m < 8 ? m + 1 : ceil(m * 1.25))
        x[count++] = m;
    return count;
}

static double balanced(double m, double contexts) {
    return fmax(1, m / contexts);
}

static double sticky(double m, double contexts) {
    return ceil(m / contexts);
}

static double find(double (*time)(double, double), double contexts, bj_delay *delay) {
    double x[MOST], y[MOST];
    size_t count = raise(x, 3 * contexts + 2);
    for (size_t i = 0; i < count; i++)
        y[i] = 25 * time(x[i], contexts);
    return bj_contexts_find_first_delay(x, y, count, delay) ? delay->contexts : NAN;
}

static void test_balanced(void **state) {
    (void)state;
    bj_delay delay;
    for (double contexts = 1; contexts <= 300; contexts++) {
        double found = find(balanced, contexts, &delay);
        /* One of many is told from the slope, not from its own point. */
        if (!(fabs(found - contexts) <= (contexts <= 32 ? 0 : 0.04 * contexts)))
            fail_msg("%g contexts where there are %g", found, contexts);
    }
}

static void test_sticky(void **state) {
    (void)state;
    bj_delay delay;
    for (double contexts = 1; contexts <= 300; contexts++) {
        double found = find(sticky, contexts, &delay);
        double x[MOST];
        raise(x, 3 * contexts + 2);
        /* The last number of threads that nobody was delayed at, and the truth is before the next. */
        assert_true(found <= contexts && x[delay.before] == found && contexts < x[delay.after]);
        if (contexts <= 8)
            assert_true(found == contexts);
        assert_true(contexts == 1 || delay.steep);
    }
}

/* Clocks that fall while more cores work are no delay. */
static double with_turbo(double m, double contexts) {
    return balanced(m, contexts) * pow(fmin(m, contexts), 0.1);
}

static void test_falling_clock(void **state) {
    (void)state;
    static const double numbers[] = {2, 4, 6, 8, 16, 32, 64};
    bj_delay delay;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double found = find(with_turbo, numbers[i], &delay);
        if (!(fabs(found - numbers[i]) <= 0.07 * numbers[i]))
            fail_msg("%g contexts where there are %g", found, numbers[i]);
    }
}

/* Siblings that get three tenths more done together than alone. */
static double with_siblings(double m, double cores) {
    return m <= cores ? 1 : m <= 2 * cores ? 2 / 1.3 : m / cores / 1.3;
}

static void test_shared_units(void **state) {
    (void)state;
    bj_delay delay;
    for (double cores = 1; cores <= 8; cores++)
        assert_true(find(with_siblings, cores, &delay) == cores);
}

static double with_quota(double m, double cpus) {
    return fmax(1, m / cpus);
}

static void test_part_of_a_context(void **state) {
    (void)state;
    bj_delay delay;
    assert_true(find(with_quota, 1.5, &delay) == 1);
    assert_true(find(with_quota, 2.5, &delay) == 2);
    assert_true(find(with_quota, 3.5, &delay) == 3);
}

static void test_disturbed_points(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6};
    /* Two threads that were put on one cpu, and four that were disturbed; points that are missing. */
    double y[] = {1, 2, 1.5, 3.5, 2.5, 3}, gaps[] = {1, NAN, 1.02, INFINITY, 1.3, 1.5};
    bj_delay delay;
    assert_true(bj_contexts_find_first_delay(x, y, 6, &delay));
    assert_true(delay.contexts == 1 || delay.contexts == 2);
    assert_true(bj_contexts_find_first_delay(x, gaps, 6, &delay));
    assert_true(delay.contexts == 4 || delay.contexts == 3);
    assert_int_equal(delay.before, 2);
    assert_int_equal(delay.after, 4);
}

static void test_no_delay(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4}, late[] = {4, 5, 6, 7};
    double flat[] = {1, 1.01, 1.02, 1.03}, rising[] = {4, 5.5, 6, 7}, nothing[] = {NAN, NAN, -1, 0};
    bj_delay delay;
    assert_false(bj_contexts_find_first_delay(x, flat, 4, &delay));
    assert_int_equal(delay.after, 0);
    assert_false(bj_contexts_find_first_delay(x, nothing, 4, &delay));
    assert_false(bj_contexts_find_first_delay(x, flat, 0, &delay));
    /* Where the first point may be on the slope already, nothing is known. */
    assert_false(bj_contexts_find_first_delay(late, rising, 4, &delay));
    assert_true(delay.after > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balanced),          cmocka_unit_test(test_sticky),
        cmocka_unit_test(test_falling_clock),     cmocka_unit_test(test_shared_units),
        cmocka_unit_test(test_part_of_a_context), cmocka_unit_test(test_disturbed_points),
        cmocka_unit_test(test_no_delay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
