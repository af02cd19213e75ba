#include "probes/slot/gap_mode.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"

enum { MOST = 4096 };

typedef struct {
    double gaps[MOST];
    size_t count;
    bj_random random;
} mixture;

static void start(mixture *m) {
    m->count = 0;
    bj_random_seed(&m->random, 3);
}

/* So many gaps, evenly between two lengths. */
static void add(mixture *m, size_t count, double from, double to) {
    for (size_t i = 0; i < count && m->count < MOST; i++)
        m->gaps[m->count++] = from + (to - from) * bj_random_unit(&m->random);
}

static void assert_mode(mixture *m, double value, double tolerance) {
    double mode = bj_slot_find_gap_mode(m->gaps, m->count);
    if (!(fabs(mode - value) <= tolerance * value))
        fail_msg("%g stands out, not %g", mode, value);
}

/* As it was seen on a virtual machine with ticks of 4 ms: 633 interrupts, 555 slots, 72 of two, and 361 others. */
static void test_seen(void **state) {
    (void)state;
    mixture m;
    start(&m);
    add(&m, 633, 0.02, 0.1);
    add(&m, 555, 4.0, 4.1);
    add(&m, 72, 8.0, 8.05);
    add(&m, 361, 0.1, 8);
    assert_int_equal(m.count, 1621);
    assert_mode(&m, 4.05, 0.02);
    /* The mode of all gaps is that of the interrupts. */
    assert_true(bj_slot_find_plain_mode(m.gaps, m.count, 0.1) < 0.1);
}

static void test_many_interrupts(void **state) {
    (void)state;
    mixture m;
    start(&m);
    add(&m, 3000, 0.02, 0.06);
    add(&m, 150, 3.0, 3.05);
    assert_mode(&m, 3.02, 0.02);
}

static void test_multiples(void **state) {
    (void)state;
    mixture m;
    start(&m);
    add(&m, 200, 4.0, 4.1);
    add(&m, 180, 8.0, 8.1);
    add(&m, 90, 12.0, 12.1);
    add(&m, 200, 0.02, 0.2);
    assert_mode(&m, 4.05, 0.02);
}

/* A quota of half of the cpu stops all threads for 50 ms of each 100: two thirds of the time waited. */
static void test_throttling(void **state) {
    (void)state;
    mixture m;
    start(&m);
    add(&m, 60, 49, 51);
    add(&m, 375, 3.95, 4.1);
    add(&m, 500, 0.02, 0.1);
    assert_mode(&m, 4.02, 0.02);
}

/* Stolen time comes in all lengths. */
static void test_stolen(void **state) {
    (void)state;
    mixture m;
    start(&m);
    add(&m, 300, 0.02, 12);
    add(&m, 300, 4.0, 4.1);
    assert_mode(&m, 4.05, 0.03);
}

static void test_slots_of_all_lengths(void **state) {
    (void)state;
    for (double slot = 0.1; slot < 2000; slot *= 1.7) {
        mixture m;
        start(&m);
        add(&m, 100, slot, 1.03 * slot);
        add(&m, 30, 2 * slot, 2.04 * slot);
        add(&m, 100, 0.02, 0.021);
        assert_mode(&m, slot * 1.015, 0.02);
    }
}

static void test_nothing_stands_out(void **state) {
    (void)state;
    mixture m;
    start(&m);
    assert_true(isnan(bj_slot_find_gap_mode(m.gaps, 0)));
    assert_true(isnan(bj_slot_find_plain_mode(m.gaps, 0, 0.1)));
    add(&m, 5, 4, 4.1);
    assert_true(isnan(bj_slot_find_gap_mode(m.gaps, m.count)));
    /* As much time of every length as of any other. */
    start(&m);
    for (double length = 1; length < 50; length *= 1.05)
        add(&m, (size_t)(150 / length), length, length * 1.05);
    assert_true(isnan(bj_slot_find_gap_mode(m.gaps, m.count)));
    double odd[] = {NAN, -1, 0, INFINITY};
    assert_true(isnan(bj_slot_find_gap_mode(odd, 4)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seen),
        cmocka_unit_test(test_many_interrupts),
        cmocka_unit_test(test_multiples),
        cmocka_unit_test(test_throttling),
        cmocka_unit_test(test_stolen),
        cmocka_unit_test(test_slots_of_all_lengths),
        cmocka_unit_test(test_nothing_stands_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
