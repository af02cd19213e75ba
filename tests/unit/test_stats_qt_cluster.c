#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stats/qt_cluster.h"

static size_t cluster(const double *y, size_t count, size_t *cluster_of) {
    size_t clusters = 99;
    assert_int_equal(bj_stats_cluster_qt(y, count, BJ_QT_DIAMETER_RATIO, cluster_of, &clusters, NULL), BJ_OK);
    return clusters;
}

/* Three caches and memory: the number of clusters is caches + 1. */
static void test_levels_of_a_staircase(void **state) {
    (void)state;
    const double x[] = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384};
    const double y[] = {1.0, 1.0, 1.05, 3.1, 3.0, 3.2, 12, 12.5, 12.2, 80, 82, 85};
    const size_t expected[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
    size_t of[12];
    assert_int_equal(cluster(y, 12, of), 4);
    assert_memory_equal(of, expected, sizeof of);
    bj_qt_cluster described[4];
    bj_stats_describe_clusters(x, y, 12, of, 4, described);
    const double largest[] = {32, 256, 2048, 16384}, smallest[] = {1.0, 3.0, 12, 80};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(described[i].count, 3);
        assert_true(described[i].x_largest == largest[i]);
        assert_true(described[i].y_smallest == smallest[i]);
    }
}

/* By hand: 10, 11, 12 (from 10) and 11, 12, 14 (from 14) are the largest candidates, the lower one wins; 18 then takes
 * 14, since 4 <= 0.25 * 18; 30 is alone. Putting out the candidate of the first point before looking at the others
 * would give 11, 12, 14 and leave 10 alone. */
static void test_hand_worked_example(void **state) {
    (void)state;
    const double y[] = {14, 10, 11, 12, 18, 30};
    const size_t expected[] = {1, 0, 0, 0, 1, 2};
    size_t of[6];
    assert_int_equal(cluster(y, 6, of), 3);
    assert_memory_equal(of, expected, sizeof of);
}

/* 5.3 takes in 4, since 1.3 <= 0.25 * 5.3, though the average of both would not allow it. */
static void test_threshold_is_of_the_average_before(void **state) {
    (void)state;
    const double inside[] = {4, 5.3}, outside[] = {4, 5.4};
    size_t of[2];
    assert_int_equal(cluster(inside, 2, of), 1);
    assert_int_equal(cluster(outside, 2, of), 2);
    size_t clusters;
    assert_int_equal(bj_stats_cluster_qt(outside, 2, 0.5, of, &clusters, NULL), BJ_OK);
    assert_int_equal(clusters, 1);
}

static void test_small_and_unusable_inputs(void **state) {
    (void)state;
    size_t of[4];
    assert_int_equal(cluster(NULL, 0, of), 0);
    const double one[] = {5};
    assert_int_equal(cluster(one, 1, of), 1);
    assert_int_equal(of[0], 0);
    const double equal[] = {5, 5, 5, 5};
    assert_int_equal(cluster(equal, 4, of), 1);
    const double odd[] = {NAN, 7, 0, -1}, x[] = {9, 2, 9, 9};
    assert_int_equal(cluster(odd, 4, of), 1);
    assert_int_equal(of[1], 0);
    assert_true(of[0] == BJ_QT_NO_CLUSTER && of[2] == BJ_QT_NO_CLUSTER && of[3] == BJ_QT_NO_CLUSTER);
    bj_qt_cluster described;
    bj_stats_describe_clusters(x, odd, 4, of, 1, &described);
    assert_true(described.count == 1 && described.x_largest == 2 && described.y_smallest == 7);
    const double none[] = {NAN, NAN};
    assert_int_equal(cluster(none, 2, of), 0);
}

/* Figure 10 as written, over all pairs, to hold the sorted shortcut against. */
static size_t grow_plainly(const double *y, const bool *left, size_t count, size_t start, bool *taken) {
    memset(taken, 0, count * sizeof *taken);
    taken[start] = true;
    double low = y[start], high = y[start], sum = y[start];
    size_t members = 1;
    for (;;) {
        size_t best = count;
        double best_diameter = INFINITY;
        for (size_t j = 0; j < count; j++) {
            double diameter = fmax(high, y[j]) - fmin(low, y[j]);
            if (left[j] && !taken[j] && diameter < best_diameter) {
                best = j;
                best_diameter = diameter;
            }
        }
        if (best == count || best_diameter > BJ_QT_DIAMETER_RATIO * sum / (double)members)
            return members;
        taken[best] = true;
        low = fmin(low, y[best]);
        high = fmax(high, y[best]);
        sum += y[best];
        members++;
    }
}

static size_t largest_plainly(const double *y, size_t count) {
    bool left[40], taken[40];
    size_t largest = 0;
    for (size_t i = 0; i < count; i++)
        left[i] = true;
    for (size_t i = 0; i < count; i++) {
        size_t members = grow_plainly(y, left, count, i, taken);
        largest = members > largest ? members : largest;
    }
    return largest;
}

static void test_agrees_with_the_plain_algorithm(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        bj_random random;
        bj_random_seed(&random, seed);
        double x[40], y[40];
        for (size_t i = 0; i < 40; i++) {
            x[i] = (double)i;
            y[i] = exp(2 * bj_random_unit(&random));
        }
        size_t of[40], biggest = 0;
        size_t clusters = cluster(y, 40, of);
        bj_qt_cluster described[40];
        bj_stats_describe_clusters(x, y, 40, of, clusters, described);
        size_t total = 0;
        for (size_t i = 0; i < clusters; i++) {
            total += described[i].count;
            biggest = described[i].count > biggest ? described[i].count : biggest;
            assert_true(i == 0 || described[i - 1].y_smallest < described[i].y_smallest);
        }
        assert_int_equal(total, 40);
        assert_int_equal(biggest, largest_plainly(y, 40));
    }
}

static void test_order_of_points_does_not_matter(void **state) {
    (void)state;
    bj_random random;
    bj_random_seed(&random, 7);
    uint32_t order[300];
    double y[300], shuffled[300];
    for (uint32_t i = 0; i < 300; i++) {
        y[i] = exp(4 * bj_random_unit(&random));
        order[i] = i;
    }
    bj_random_shuffle_u32(&random, order, 300);
    for (size_t i = 0; i < 300; i++)
        shuffled[i] = y[order[i]];
    size_t of[300], shuffled_of[300];
    assert_int_equal(cluster(y, 300, of), cluster(shuffled, 300, shuffled_of));
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(shuffled_of[i], of[order[i]]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_of_a_staircase),
        cmocka_unit_test(test_hand_worked_example),
        cmocka_unit_test(test_threshold_is_of_the_average_before),
        cmocka_unit_test(test_small_and_unusable_inputs),
        cmocka_unit_test(test_agrees_with_the_plain_algorithm),
        cmocka_unit_test(test_order_of_points_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
