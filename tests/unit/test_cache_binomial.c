#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/random.h"
#include "probes/cache/cache_constants.h"
#include "probes/cache/servet.h"

#define KIB 1024.0
#define MIB 1048576.0
#define POINTS_MAX 64

typedef struct {
    double size_bytes[POINTS_MAX], latency[POINTS_MAX];
    size_t count;
} curve;

/* A walk over one physically indexed cache with random frames of 4 KiB: 14 cycles for a hit, 200 more for a miss. */
static void generate_curve(double cache_bytes, unsigned ways, curve *c) {
    for (size_t i = 0; i < c->count; i++)
        c->latency[i] =
            14 + 200 * bj_cache_predict_miss_share(BJ_BINOMIAL_SIZE_BIASED, (uint64_t)(c->size_bytes[i] / 4096),
                                                   cache_bytes, ways, 4096);
}

/* The mcalibrator sizes of [256 KB, 4 MB] and [3 MB, 14 MB]. */
static curve dempsey(void) {
    curve c = {.size_bytes = {256 * KIB, 512 * KIB, MIB, 2 * MIB, 3 * MIB, 4 * MIB}, .count = 6};
    generate_curve(2 * MIB, 8, &c);
    return c;
}

static curve dunnington(void) {
    curve c = {.count = 12};
    for (size_t i = 0; i < 12; i++)
        c.size_bytes[i] = (double)(3 + i) * MIB;
    generate_curve(12 * MIB, 12, &c);
    return c;
}

static bj_binomial_request request_of(const curve *c, bj_binomial_model model, bj_binomial_scale scale) {
    return (bj_binomial_request){.size_bytes = c->size_bytes,
                                 .latency = c->latency,
                                 .count = c->count,
                                 .page_bytes = 4096,
                                 .model = model,
                                 .scale = scale};
}

static bj_binomial_fit fit_of(const curve *c, bj_binomial_model model, bj_binomial_scale scale) {
    bj_binomial_request request = request_of(c, model, scale);
    bj_binomial_fit fit;
    assert_true(bj_cache_fit_binomial_size(&request, &fit));
    return fit;
}

static void test_tail_by_hand(void **state) {
    (void)state;
    assert_true(fabs(bj_cache_compute_binomial_tail(4, 0.5, 2) - 5.0 / 16) < 1e-14);
    assert_true(fabs(bj_cache_compute_binomial_tail(4, 0.5, 0) - 15.0 / 16) < 1e-14);
    assert_true(fabs(bj_cache_compute_binomial_tail(10, 0.1, 1) - (1 - pow(0.9, 10) - pow(0.9, 9))) < 1e-14);
    assert_true(fabs(bj_cache_compute_binomial_tail(3, 0.25, 2) - 1.0 / 64) < 1e-15);
    assert_true(bj_cache_compute_binomial_tail(4, 0.5, 4) == 0);
    assert_true(bj_cache_compute_binomial_tail(0, 0.5, 0) == 0);
    assert_true(bj_cache_compute_binomial_tail(9, 0, 3) == 0);
    assert_true(bj_cache_compute_binomial_tail(9, 1, 3) == 1);
    assert_true(bj_cache_compute_binomial_tail(9, NAN, 3) == 0);
}

static void test_tail_is_stable_far_out(void **state) {
    (void)state;
    assert_true(bj_cache_compute_binomial_tail(10000000, 0.5, 8) == 1);
    double tiny = bj_cache_compute_binomial_tail(1000, 1e-6, 4);
    /* C(1000, 5) 1e-30, and next to nothing more. */
    double expected = 1000.0 * 999 * 998 * 997 * 996 / 120 * 1e-30;
    assert_true(fabs(tiny / expected - 1) < 2e-3);
    double previous = 0;
    for (uint64_t trials = 0; trials < 3000; trials += 7) {
        double tail = bj_cache_compute_binomial_tail(trials, 1.0 / 64, 8);
        assert_true(tail >= previous - 1e-12 && tail <= 1);
        previous = tail;
    }
}

/* Throwing pages into sets and counting them must give what both models say. */
static void test_models_match_a_simulation(void **state) {
    (void)state;
    enum { SETS = 64, WAYS = 8, PAGES = 512, TRIALS = 400 };
    bj_random random;
    bj_random_seed(&random, 1);
    size_t overfull_sets = 0, missing_pages = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        size_t in_set[SETS] = {0};
        for (size_t page = 0; page < PAGES; page++)
            in_set[bj_random_below(&random, SETS)]++;
        for (size_t set = 0; set < SETS; set++) {
            overfull_sets += in_set[set] > WAYS;
            missing_pages += in_set[set] > WAYS ? in_set[set] : 0;
        }
    }
    double cache_bytes = (double)SETS * WAYS * 4096;
    double literal = bj_cache_predict_miss_share(BJ_BINOMIAL_LITERAL, PAGES, cache_bytes, WAYS, 4096);
    double biased = bj_cache_predict_miss_share(BJ_BINOMIAL_SIZE_BIASED, PAGES, cache_bytes, WAYS, 4096);
    assert_true(fabs(literal - (double)overfull_sets / (SETS * TRIALS)) < 0.01);
    assert_true(fabs(biased - (double)missing_pages / (PAGES * TRIALS)) < 0.01);
    assert_true(biased > literal + 0.05);
}

static void test_pages_that_fit_any_way_never_miss(void **state) {
    (void)state;
    for (int model = BJ_BINOMIAL_SIZE_BIASED; model <= BJ_BINOMIAL_LITERAL; model++) {
        for (unsigned ways = 1; ways <= 16; ways++) {
            for (uint64_t pages = 0; pages <= ways; pages++)
                assert_true(bj_cache_predict_miss_share(model, pages, MIB, ways, 4096) == 0);
            assert_true(bj_cache_predict_miss_share(model, ways + 1, MIB, ways, 4096) > 0);
        }
    }
    /* Two pages in a direct-mapped cache of 256 page sets: either finds the other in its set once in 256. */
    assert_true(fabs(bj_cache_predict_miss_share(BJ_BINOMIAL_SIZE_BIASED, 2, MIB, 1, 4096) - 1.0 / 256) < 1e-15);
    assert_true(fabs(bj_cache_predict_miss_share(BJ_BINOMIAL_LITERAL, 2, MIB, 1, 4096) - 1.0 / 65536) < 1e-15);
}

static void test_papers_machines(void **state) {
    (void)state;
    curve small = dempsey(), large = dunnington();
    assert_true(fit_of(&small, BJ_BINOMIAL_LITERAL, BJ_BINOMIAL_SCALE_MATCHED).size_bytes == 1.75 * MIB);
    assert_true(fit_of(&large, BJ_BINOMIAL_LITERAL, BJ_BINOMIAL_SCALE_MATCHED).size_bytes == 11 * MIB);
    bj_binomial_fit fit = fit_of(&small, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_MATCHED);
    assert_true(fit.size_bytes == 2 * MIB);
    assert_true(fit.best_size_bytes == 2 * MIB && fit.best_ways == 8 && fit.divergence < 1e-12);
    fit = fit_of(&large, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_MATCHED);
    assert_true(fit.size_bytes == 12 * MIB);
    assert_true(fit.best_size_bytes == 12 * MIB && fit.best_ways == 12 && fit.divergence < 1e-12);
}

/* Figure 3 takes the window's largest latency for a miss. Dempsey's window ends on the plateau; at 14 MB a quarter of
 * Dunnington's accesses still hit, and the answer comes out small. */
static void test_window_scale_needs_the_plateau(void **state) {
    (void)state;
    curve small = dempsey(), large = dunnington();
    assert_true(fit_of(&small, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_WINDOW).size_bytes == 2 * MIB);
    assert_true(fit_of(&large, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_WINDOW).size_bytes == 11 * MIB);
    large.count = 30;
    for (size_t i = 0; i < large.count; i++)
        large.size_bytes[i] = (double)(3 + i) * MIB;
    generate_curve(12 * MIB, 12, &large);
    assert_true(fit_of(&large, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_WINDOW).size_bytes == 12 * MIB);
}

static void test_toe_of_a_ramp_is_no_answer(void **state) {
    (void)state;
    curve c = dunnington();
    bj_binomial_request request = request_of(&c, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_MATCHED);
    bj_binomial_fit fit;
    request.count = 4; /* 3 to 6 MB: the miss share grows by 2% */
    assert_false(bj_cache_fit_binomial_size(&request, &fit));
    request.count = 8; /* to 10 MB: by 30% */
    assert_true(bj_cache_fit_binomial_size(&request, &fit));
    assert_true(fit.best_size_bytes == 12 * MIB && fabs(fit.rise - 0.3025) < 0.001);
}

static void test_unit_and_offset_of_latency_do_not_matter(void **state) {
    (void)state;
    curve c = dunnington();
    for (size_t i = 0; i < c.count; i++)
        c.latency[i] = 0.001 * c.latency[i] + 3;
    assert_true(fit_of(&c, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_MATCHED).size_bytes == 12 * MIB);
}

static void test_noise_moves_the_answer_little(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        bj_random random;
        bj_random_seed(&random, seed);
        curve c = dempsey();
        for (size_t i = 0; i < c.count; i++)
            c.latency[i] *= 1 + 0.02 * fabs(bj_random_normal(&random));
        double size_bytes = fit_of(&c, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_MATCHED).size_bytes;
        assert_true(size_bytes >= 1.875 * MIB && size_bytes <= 2.25 * MIB);
    }
}

static void test_nothing_to_fit(void **state) {
    (void)state;
    bj_binomial_fit fit;
    curve c = dempsey();
    bj_binomial_request request = request_of(&c, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_MATCHED);
    for (request.count = 0; request.count < BJ_BINOMIAL_POINTS_MIN; request.count++)
        assert_false(bj_cache_fit_binomial_size(&request, &fit));
    request.count = c.count;
    request.page_bytes = 0;
    assert_false(bj_cache_fit_binomial_size(&request, &fit));
    request.page_bytes = 4096;
    for (size_t i = 0; i < c.count; i++)
        c.latency[i] = 14;
    assert_false(bj_cache_fit_binomial_size(&request, &fit));
    c.latency[0] = c.latency[1] = c.latency[2] = c.latency[3] = NAN;
    c.latency[5] = 100;
    assert_false(bj_cache_fit_binomial_size(&request, &fit));
}

static void test_missing_points_are_left_out(void **state) {
    (void)state;
    curve c = dunnington();
    c.latency[0] = 0;
    c.latency[4] = NAN;
    c.latency[7] = INFINITY;
    assert_true(fit_of(&c, BJ_BINOMIAL_SIZE_BIASED, BJ_BINOMIAL_SCALE_MATCHED).best_size_bytes == 12 * MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tail_by_hand),
        cmocka_unit_test(test_tail_is_stable_far_out),
        cmocka_unit_test(test_models_match_a_simulation),
        cmocka_unit_test(test_pages_that_fit_any_way_never_miss),
        cmocka_unit_test(test_papers_machines),
        cmocka_unit_test(test_window_scale_needs_the_plateau),
        cmocka_unit_test(test_toe_of_a_ramp_is_no_answer),
        cmocka_unit_test(test_unit_and_offset_of_latency_do_not_matter),
        cmocka_unit_test(test_noise_moves_the_answer_little),
        cmocka_unit_test(test_nothing_to_fit),
        cmocka_unit_test(test_missing_points_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
