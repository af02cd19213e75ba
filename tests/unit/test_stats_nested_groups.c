/* Nested groups from distances: made-up trees, whole and with few pairs, and what is no tree. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "stats/nested_groups.h"

enum { MOST_ITEMS = 1024, MOST_PAIRS = MOST_ITEMS * 8 };

typedef struct {
    bj_distance pairs[MOST_PAIRS];
    size_t count;
    bj_random random;
} made_up;

static made_up all;

static void start(uint64_t seed) {
    all.count = 0;
    bj_random_seed(&all.random, seed);
}

static void add(size_t a, size_t b, double distance, double noise) {
    all.pairs[all.count++] = (bj_distance){a, b, log(distance) + noise * bj_random_normal(&all.random)};
}

/* Items in twos, eights and halves of all: 10, 30, 90 and 200 apart. */
static double tree_distance(size_t a, size_t b, size_t items) {
    if (a / 2 == b / 2)
        return 10;
    if (a / 8 == b / 8)
        return 30;
    return 2 * a / items == 2 * b / items ? 90 : 200;
}

static bj_nested_groups nest(size_t items) {
    bj_nested_groups nested;
    bj_error error = {""};
    if (bj_stats_nest_groups(items, all.pairs, all.count, 1, &nested, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return nested;
}

static void assert_tree(size_t items) {
    bj_nested_groups nested = nest(items);
    assert_int_equal(nested.level_count, 3);
    assert_false(nested.not_a_tree);
    assert_int_equal(nested.levels[0].group_count, items / 2);
    assert_int_equal(nested.levels[1].group_count, items / 8);
    assert_int_equal(nested.levels[2].group_count, 2);
    for (size_t i = 0; i < items; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal(nested.levels[1].group_of[i] == nested.levels[1].group_of[j], i / 8 == j / 8);
    bj_stats_free_nested_groups(&nested);
}

static void test_all_pairs(void **state) {
    (void)state;
    enum { ITEMS = 32 };
    for (uint64_t seed = 1; seed <= 10; seed++) {
        start(seed);
        for (size_t a = 0; a < ITEMS; a++)
            for (size_t b = 0; b < a; b++)
                add(a, b, tree_distance(a, b, ITEMS), 0.05);
        assert_tree(ITEMS);
    }
}

/* A thousand items with a few pairs each: the neighbour, the first of the eight, of some eights, and a random one. */
static void test_few_pairs(void **state) {
    (void)state;
    start(1);
    for (size_t a = 1; a < MOST_ITEMS; a++) {
        size_t others[] = {a / 2 * 2, a / 8 * 8, 0, MOST_ITEMS / 2, bj_random_below(&all.random, a)};
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            if (others[i] != a)
                add(a, others[i], tree_distance(a, others[i], MOST_ITEMS), 0.05);
    }
    assert_tree(MOST_ITEMS);
}

static void test_flat(void **state) {
    (void)state;
    enum { ITEMS = 16 };
    unsigned wrong = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        start(seed);
        for (size_t a = 0; a < ITEMS; a++)
            for (size_t b = 0; b < a; b++)
                add(a, b, 40, 0.2);
        bj_nested_groups nested = nest(ITEMS);
        wrong += nested.level_count > 0;
        bj_stats_free_nested_groups(&nested);
    }
    assert_true(wrong <= 2);
}

/* Two hops cost more than one: near pairs lie between whatever groups are made. */
static void test_ring_is_no_tree(void **state) {
    (void)state;
    enum { ITEMS = 16, NODES = 8 };
    start(1);
    for (size_t a = 0; a < ITEMS; a++)
        for (size_t b = 0; b < a; b++) {
            size_t away = (a / 2 + NODES - b / 2) % NODES, hops = away < NODES - away ? away : NODES - away;
            add(a, b, hops == 0 ? 40 : 90 + 45 * (double)hops, 0.02);
        }
    bj_nested_groups nested = nest(ITEMS);
    assert_int_equal(nested.level_count, 1);
    assert_int_equal(nested.levels[0].group_count, NODES);
    assert_true(nested.not_a_tree);
    bj_stats_free_nested_groups(&nested);
}

/* Two pairs among twelve items that are else alike, as clusters of a chip's small cores; no pair is made of noise. */
static void test_few_of_many_are_near(void **state) {
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        start(seed);
        for (size_t a = 0; a < 12; a++)
            for (size_t b = 0; b < a; b++)
                add(a, b, a / 2 == b / 2 && a >= 8 ? 22 : 48, 0.02);
        bj_nested_groups nested = nest(12);
        assert_false(nested.not_a_tree);
        assert_int_equal(nested.level_count, 1);
        assert_int_equal(nested.levels[0].group_count, 10);
        assert_int_equal(nested.levels[0].group_of[8], nested.levels[0].group_of[9]);
        assert_int_equal(nested.levels[0].group_of[10], nested.levels[0].group_of[11]);
        bj_stats_free_nested_groups(&nested);
    }
}

static void test_nothing_to_group(void **state) {
    (void)state;
    start(1);
    bj_nested_groups nested = nest(1);
    assert_int_equal(nested.level_count, 0);
    add(0, 1, 50, 0.1);
    nested = nest(2);
    assert_int_equal(nested.level_count, 0);
    assert_false(nested.not_a_tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_few_pairs),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_ring_is_no_tree),
        cmocka_unit_test(test_few_of_many_are_near),
        cmocka_unit_test(test_nothing_to_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
