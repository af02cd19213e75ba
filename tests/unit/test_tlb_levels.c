/* Levels of a TLB from made-up costs of walks over their twins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "probes/tlb/tlb_levels.h"

enum { LEAST_SIGMAS = 7 };
static const double LEAST_SHARE = 0.05, TIME = 10, NOISE = 0.05;

typedef struct {
    double entries, ways, cost;
} truth;

/* By counting the pages of each set, unlike the formula of the code under test. */
static double count_misses(const truth *level, size_t pages) {
    size_t sets = (size_t)(level->entries / level->ways), missed = 0;
    for (size_t set = 0; set < sets; set++) {
        size_t load = pages / sets + (set < pages % sets);
        missed += load > (size_t)level->ways ? load : 0;
    }
    return (double)missed / (double)pages;
}

static void make_curve(bj_tlb_curve *m, const truth *levels, size_t count, double last, uint64_t seed) {
    bj_random random;
    size_t points = 0;
    bj_random_seed(&random, seed);
    for (double at = 4; at <= last; at = fmax(at + 1, floor(at * 1.03))) {
        m->pages[points] = at;
        m->twin_pages[points] = ceil(at / (at >= 256 ? 8 : 2));
        m->time[points] = TIME;
        m->error[points] = NOISE;
        m->cost[points] = NOISE * bj_random_normal(&random);
        for (size_t i = 0; i < count; i++)
            m->cost[points] += levels[i].cost * (count_misses(&levels[i], (size_t)at) -
                                                 count_misses(&levels[i], (size_t)m->twin_pages[points]));
        points++;
    }
    m->count = points;
}

static void check(const truth *levels, size_t count) {
    for (uint64_t seed = 1; seed <= 5; seed++) {
        static bj_tlb_curve m;
        bj_tlb_levels found;
        make_curve(&m, levels, count, 8192, seed);
        bj_tlb_fit_levels(&m, LEAST_SIGMAS, LEAST_SHARE, &found);
        assert_int_equal(found.count, count);
        for (size_t i = 0; i < count; i++) {
            assert_true(fabs(found.level[i].entries - levels[i].entries) <= fmax(1, 0.03 * levels[i].entries));
            assert_true(fabs(found.level[i].cost - levels[i].cost) <= 0.05 * levels[i].cost);
            assert_true(found.level[i].misfit < 2);
        }
    }
}

static void test_predicts_what_counting_gives(void **state) {
    (void)state;
    const truth levels[] = {{64, 64, 1}, {64, 4, 1}, {48, 4, 1}, {512, 1, 1}, {1536, 12, 1}};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        for (size_t pages = 1; pages < 4096; pages += 1 + pages / 50)
            assert_true(fabs(bj_tlb_predict_misses(levels[i].entries, levels[i].ways, (double)pages) -
                             count_misses(&levels[i], pages)) < 1e-9);
}

static void test_one_level(void **state) {
    (void)state;
    check(&(truth){64, 64, 2}, 1);
    check(&(truth){16, 4, 2}, 1);
    check(&(truth){160, 160, 1}, 1);
    check(&(truth){512, 1, 20}, 1);
}

static void test_two_levels(void **state) {
    (void)state;
    check((const truth[]){{64, 4, 2}, {1536, 12, 8}}, 2);
    check((const truth[]){{16, 16, 2}, {64, 4, 8}}, 2);
    check((const truth[]){{48, 48, 5}, {1280, 5, 3}}, 2);
    check((const truth[]){{96, 6, 2}, {2048, 16, 15}}, 2);
}

static void test_noise_is_no_level(void **state) {
    (void)state;
    check(NULL, 0);
}

/* A farther level that costs much less than a nearer one is no level: what remains of the nearer one's edge, say. */
static void test_farther_levels_cost_more(void **state) {
    (void)state;
    static bj_tlb_curve m;
    bj_tlb_levels found;
    make_curve(&m, (const truth[]){{96, 6, 5}, {1024, 4, 1}}, 2, 8192, 2);
    bj_tlb_fit_levels(&m, LEAST_SIGMAS, LEAST_SHARE, &found);
    assert_int_equal(found.count, 1);
    assert_true(found.level[0].entries == 96);
}

/* What twins that fill caches by chance differ by. */
static void test_small_costs_are_no_level(void **state) {
    (void)state;
    static bj_tlb_curve m;
    bj_tlb_levels found;
    make_curve(&m, &(truth){1024, 4, 0.4}, 1, 8192, 1);
    bj_tlb_fit_levels(&m, LEAST_SIGMAS, LEAST_SHARE, &found);
    assert_int_equal(found.count, 0);
    bj_tlb_fit_levels(&m, LEAST_SIGMAS, LEAST_SHARE / 2, &found);
    assert_int_equal(found.count, 1);
}

/* Page tables that leave the caches: a rise of two octaves, and not much of one. */
static void test_slow_rise_is_no_level(void **state) {
    (void)state;
    static bj_tlb_curve m;
    bj_tlb_levels found;
    make_curve(&m, &(truth){64, 64, 2}, 1, 8192, 1);
    for (size_t i = 0; i < m.count; i++)
        if (m.pages[i] > 2048)
            m.cost[i] += 0.6 * log2(m.pages[i] / 2048);
    bj_tlb_fit_levels(&m, LEAST_SIGMAS, LEAST_SHARE, &found);
    assert_int_equal(found.count, 1);
    assert_true(found.level[0].entries == 64);
}

static void test_refit_stays_near(void **state) {
    (void)state;
    static bj_tlb_curve m;
    bj_tlb_levels found;
    make_curve(&m, (const truth[]){{64, 4, 2}, {1536, 12, 8}}, 2, 8192, 3);
    found.count = 1;
    found.level[0] = (bj_tlb_level){1400, 8, 5, 0, 0};
    bj_tlb_refit_levels(&m, &found);
    assert_int_equal(found.count, 1);
    assert_true(fabs(found.level[0].entries - 1536) < 0.03 * 1536);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predicts_what_counting_gives),
        cmocka_unit_test(test_one_level),
        cmocka_unit_test(test_two_levels),
        cmocka_unit_test(test_noise_is_no_level),
        cmocka_unit_test(test_small_costs_are_no_level),
        cmocka_unit_test(test_slow_rise_is_no_level),
        cmocka_unit_test(test_refit_stays_near),
        cmocka_unit_test(test_farther_levels_cost_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
