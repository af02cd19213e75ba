/* The occupancy model: how many accesses miss, and which capacity a ramp speaks of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "made_up_curve.h"

static const unsigned all_ways[] = {1, 2, 4, 8, 12, 16, 24, 64};
#define WAYS (sizeof all_ways / sizeof all_ways[0])

static double predict(unsigned ways, bool random_frames, bj_replacement replacement, double ratio) {
    bj_occupancy_model model = {ways, random_frames, replacement, 0};
    return bj_cache_predict_occupancy_misses(&model, ratio);
}

/* Lines of a 512 KiB cache of 8 ways that lie in overfull colours when 4 KiB pages have random frames. */
static void test_misses_of_random_frames(void **state) {
    (void)state;
    assert_true(fabs(predict(8, true, BJ_REPLACE_LRU, 0.5) - 0.04) < 0.015);
    assert_true(fabs(predict(8, true, BJ_REPLACE_LRU, 0.6) - 0.10) < 0.015);
    assert_true(fabs(predict(8, true, BJ_REPLACE_LRU, 0.7) - 0.19) < 0.015);
    /* Direct-mapped, as large as the cache: alone in its set with probability 1/e. */
    assert_true(fabs(predict(1, true, BJ_REPLACE_LRU, 1) - (1 - exp(-1))) < 0.002);
    assert_true(predict(8, true, BJ_REPLACE_LRU, 0.01) < 1e-9);
    assert_true(predict(8, true, BJ_REPLACE_LRU, 10) > 0.999);
}

static void test_misses_of_contiguous_lru(void **state) {
    (void)state;
    for (size_t w = 0; w < WAYS; w++) {
        double ways = all_ways[w];
        assert_true(predict(all_ways[w], false, BJ_REPLACE_LRU, 0.3) == 0);
        assert_true(predict(all_ways[w], false, BJ_REPLACE_LRU, 1) == 0);
        assert_true(fabs(predict(all_ways[w], false, BJ_REPLACE_LRU, 1 + 1.0001 / ways) - 1) < 1e-9);
        assert_true(fabs(predict(all_ways[w], false, BJ_REPLACE_LRU, 5) - 1) < 1e-9);
        /* Half of the sets have a line too many: those lines, which are more than half, miss. */
        double half = predict(all_ways[w], false, BJ_REPLACE_LRU, 1 + 0.5 / ways);
        assert_true(fabs(half - (ways + 1) / (2 * ways + 1)) < 1e-9);
    }
}

static void test_misses_of_other_replacements(void **state) {
    (void)state;
    assert_true(fabs(predict(8, false, BJ_REPLACE_BEST, 2) - 0.5) < 1e-9);
    assert_true(fabs(predict(8, false, BJ_REPLACE_HALF, 2) - 0.75) < 1e-9);
    assert_true(fabs(predict(8, false, BJ_REPLACE_PAIRED, 2) - sqrt(0.5)) < 1e-9);
    assert_true(fabs(predict(8, false, BJ_REPLACE_PLRU, 1.25) - 0.375) < 1e-9);
    assert_true(fabs(predict(8, false, BJ_REPLACE_PLRU, 2) - 1) < 1e-9);
    /* Two ways, three lines: m = 1 - (1/2)^(2m) has the root 1/2. */
    assert_true(fabs(predict(2, false, BJ_REPLACE_RANDOM, 1.5) - 0.5) < 1e-6);
}

/* With many visits a line hits as often as it is resident, whatever is replaced. */
static void test_misses_of_revisits(void **state) {
    (void)state;
    bj_occupancy_model lru = {16, false, BJ_REPLACE_LRU, 8}, random = {16, false, BJ_REPLACE_RANDOM, 8};
    assert_true(bj_cache_predict_occupancy_misses(&lru, 0.9) == 0);
    assert_true(fabs(bj_cache_predict_occupancy_misses(&lru, 2) - pow(0.5, 7.0 / 8)) < 1e-9);
    /* By simulation of sets of 16 ways, 32 lines and eight visits a lap. */
    assert_true(fabs(bj_cache_predict_occupancy_misses(&random, 2) - 0.537) < 0.01);
    lru.visits = random.visits = 1e6;
    assert_true(fabs(bj_cache_predict_occupancy_misses(&lru, 3) - 2.0 / 3) < 1e-4);
    assert_true(fabs(bj_cache_predict_occupancy_misses(&random, 3) - 2.0 / 3) < 0.01);
}

/* Nothing misses less than 1 - C / x or more than always, nor less of a larger working set. */
static void test_misses_are_bounded_and_grow(void **state) {
    (void)state;
    for (size_t w = 0; w < WAYS; w++)
        for (int frames = 0; frames < 2; frames++)
            for (int r = 0; r < BJ_REPLACE_COUNT; r++) {
                double before = 0;
                for (double ratio = 0.05; ratio <= 6; ratio += 0.05) {
                    double misses = predict(all_ways[w], frames == 1, (bj_replacement)r, ratio);
                    assert_true(misses >= before - 1e-6);
                    assert_true(misses >= 1 - 1 / ratio - 1e-3);
                    assert_true(misses >= 0 && misses <= 1 + 1e-12);
                    before = misses;
                }
            }
    /* Many ways and a working set so large that probabilities underflow. */
    assert_true(predict(64, true, BJ_REPLACE_LRU, 100) == 1);
}

#define CAPACITY (448 * KIB)

typedef struct {
    double x[POINTS_MAX], y[POINTS_MAX], error[POINTS_MAX];
    size_t count;
} ramp;

static void make_ramp(const bj_occupancy_model *model, double noise, uint64_t seed, ramp *made) {
    bj_random random;
    bj_random_seed(&random, seed);
    made->count = make_grid(CAPACITY / 4, CAPACITY * 4, 8, made->x);
    for (size_t i = 0; i < made->count; i++) {
        double misses = bj_cache_predict_occupancy_misses(model, made->x[i] / CAPACITY);
        made->y[i] = (3.7 + 12.5 * misses) * (1 + noise * bj_random_normal(&random));
        made->error[i] = noise * made->y[i];
    }
}

static bj_occupancy fit(const ramp *made, const bj_occupancy_model *only) {
    bj_occupancy_request request = {.x = made->x,
                                    .y = made->y,
                                    .error = made->error,
                                    .count = made->count,
                                    .first = CAPACITY / 2.2,
                                    .last = CAPACITY * 2.3,
                                    .only = only};
    bj_occupancy found;
    assert_true(bj_cache_fit_occupancy(&request, &found));
    assert_true(found.interval[0] <= found.capacity && found.capacity <= found.interval[1]);
    assert_true(found.interval[0] <= CAPACITY && CAPACITY <= found.interval[1]);
    assert_true(found.low > 0 && found.high > found.low);
    return found;
}

static bool is_within(double value, double share) {
    return fabs(value / CAPACITY - 1) <= share;
}

static void test_fit_of_a_known_model(void **state) {
    (void)state;
    for (size_t w = 0; w < WAYS; w++)
        for (int frames = 0; frames < 2; frames++)
            for (int r = 0; r < BJ_REPLACE_COUNT; r++) {
                bj_occupancy_model model = {all_ways[w], frames == 1, (bj_replacement)r, 0};
                ramp made;
                make_ramp(&model, 0, 0, &made);
                bj_occupancy found = fit(&made, &model);
                assert_true(is_within(found.capacity, 0.05));
                assert_true(found.error < 1);
                assert_true(fabs(found.low / 3.7 - 1) < 0.05 && fabs(found.high / 16.2 - 1) < 0.05);
                for (uint64_t seed = 1; seed <= 5; seed++) {
                    make_ramp(&model, 0.02, seed, &made);
                    assert_true(is_within(fit(&made, &model).capacity, 0.125));
                }
            }
}

/* Revisits over random frames, made with one replacement and read with neither known: the capacity all the same. */
static void test_fit_of_revisits(void **state) {
    (void)state;
    const unsigned ways[] = {4, 8, 16};
    const bj_replacement replacements[] = {BJ_REPLACE_LRU, BJ_REPLACE_RANDOM};
    for (size_t w = 0; w < 3; w++)
        for (size_t r = 0; r < 2; r++) {
            ramp made;
            make_ramp(&(bj_occupancy_model){ways[w], true, replacements[r], 8}, 0.003, w + 1, &made);
            bj_occupancy_request request = {.x = made.x,
                                            .y = made.y,
                                            .error = made.error,
                                            .count = made.count,
                                            .first = CAPACITY / 2.2,
                                            .last = CAPACITY * 2.3,
                                            .frames = BJ_FRAMES_RANDOM,
                                            .visits = 8};
            bj_occupancy found;
            assert_true(bj_cache_fit_occupancy(&request, &found));
            assert_true(is_within(found.capacity, 0.06));
            assert_true(found.interval[0] <= CAPACITY && CAPACITY <= found.interval[1]);
        }
}

/* Frames that are contiguous give each model a face of its own. On random frames a small cache that replaces badly late
 * looks like a larger one under LRU, and LRU is taken for more likely: only that is asserted there. */
static void test_fit_of_an_unknown_model(void **state) {
    (void)state;
    const unsigned ways[] = {2, 8, 16};
    for (size_t w = 0; w < 3; w++) {
        ramp made;
        for (int r = 0; r < BJ_REPLACE_COUNT; r++) {
            make_ramp(&(bj_occupancy_model){ways[w], false, (bj_replacement)r, 0}, 0, 0, &made);
            bj_occupancy found = fit(&made, NULL);
            assert_true(is_within(found.capacity, 0.05));
            assert_false(found.model.random_frames);
        }
        make_ramp(&(bj_occupancy_model){ways[w], true, BJ_REPLACE_LRU, 0}, 0, 0, &made);
        assert_true(is_within(fit(&made, NULL).capacity, 0.1));
    }
}

static void test_fit_of_an_unknown_model_under_noise(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (int frames = 0; frames < 2; frames++) {
            ramp made;
            make_ramp(&(bj_occupancy_model){8, frames == 1, BJ_REPLACE_LRU, 0}, 0.02, seed, &made);
            assert_true(is_within(fit(&made, NULL).capacity, 0.125));
        }
}

static void test_frames_that_are_known(void **state) {
    (void)state;
    ramp made;
    make_ramp(&(bj_occupancy_model){8, false, BJ_REPLACE_BEST, 0}, 0, 0, &made);
    bj_occupancy_request request = {
        .x = made.x, .y = made.y, .count = made.count, .first = CAPACITY / 2.2, .last = CAPACITY * 2.3};
    bj_occupancy found;
    assert_true(bj_cache_fit_occupancy(&request, &found));
    assert_false(found.model.random_frames);
    request.frames = BJ_FRAMES_RANDOM;
    assert_true(bj_cache_fit_occupancy(&request, &found));
    assert_true(found.model.random_frames);
    make_ramp(&(bj_occupancy_model){8, true, BJ_REPLACE_LRU, 0}, 0, 0, &made);
    request.frames = BJ_FRAMES_UNKNOWN;
    assert_true(bj_cache_fit_occupancy(&request, &found));
    assert_true(found.model.random_frames);
    request.frames = BJ_FRAMES_CONTIGUOUS;
    assert_true(bj_cache_fit_occupancy(&request, &found));
    assert_false(found.model.random_frames);
}

/* The unit of y is nobody's business. */
static void test_fit_does_not_depend_on_the_unit(void **state) {
    (void)state;
    bj_occupancy_model model = {8, true, BJ_REPLACE_LRU, 0};
    ramp made;
    make_ramp(&model, 0.01, 3, &made);
    bj_occupancy ns = fit(&made, &model);
    for (size_t i = 0; i < made.count; i++) {
        made.y[i] *= 2.4;
        made.error[i] *= 2.4;
    }
    bj_occupancy cycles = fit(&made, &model);
    assert_true(fabs(cycles.capacity / ns.capacity - 1) < 1e-9);
    assert_true(fabs(cycles.high / ns.high / 2.4 - 1) < 1e-9);
}

static void test_nothing_to_fit(void **state) {
    (void)state;
    ramp made;
    bj_occupancy found;
    make_ramp(&(bj_occupancy_model){8, true, BJ_REPLACE_LRU, 0}, 0, 0, &made);
    bj_occupancy_request request = {.x = made.x, .y = made.y, .first = CAPACITY / 2.2, .last = CAPACITY * 2.3};
    for (request.count = 0; request.count < 3; request.count++)
        assert_false(bj_cache_fit_occupancy(&request, &found));
    request.count = made.count;
    request.last = request.first;
    assert_false(bj_cache_fit_occupancy(&request, &found));
    request.last = CAPACITY * 2.3;
    for (size_t i = 0; i < made.count; i++)
        made.y[i] = 100 - (double)i; /* falls */
    assert_false(bj_cache_fit_occupancy(&request, &found));
}

/* What rounding makes of a flat curve must not become a capacity. */
static void test_a_flat_curve_has_no_capacity(void **state) {
    (void)state;
    double x[20], y[20];
    for (int value = 0; value < 10; value++) {
        for (size_t i = 0; i < 20; i++) {
            x[i] = 4096 * exp2((double)i / 4);
            y[i] = 3.0 + 0.1 * value;
        }
        bj_occupancy_request request = {.x = x, .y = y, .count = 20, .first = 8192, .last = 65536};
        bj_occupancy fit;
        assert_false(bj_cache_fit_occupancy(&request, &fit));
    }
}

/* A fit that is right for all of a ramp is right for its first part; one that gives up the plateau before it for the
 * height behind it is not, however little that is of the whole. */
static void test_misfit_of_a_part(void **state) {
    (void)state;
    enum { COUNT = 32, FIRST = 12 };
    bj_occupancy fit = {.fitted = 1 * MIB, .low = 8, .high = 88, .model = {8, true, BJ_REPLACE_LRU, 0}};
    double x[COUNT], y[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = 128 * KIB * exp2((double)i / 6);
        y[i] = 8 + 80 * bj_cache_predict_occupancy_misses(&fit.model, x[i] / fit.fitted);
    }
    assert_true(bj_cache_misfit_occupancy(&fit, x, y, NULL, COUNT) < 1e-9);
    assert_true(bj_cache_misfit_occupancy(&fit, x, y, NULL, FIRST) < 1e-9);
    fit.low = 9;
    assert_true(bj_cache_misfit_occupancy(&fit, x, y, NULL, COUNT) < 1);
    assert_true(bj_cache_misfit_occupancy(&fit, x, y, NULL, FIRST) > 2);
    double error[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        error[i] = 1;
    assert_true(bj_cache_misfit_occupancy(&fit, x, y, error, FIRST) < 1);
    assert_true(bj_cache_misfit_occupancy(&fit, x, y, error, 0) == 0);
    /* Of all points, it is the error of the fit. */
    bj_occupancy_model other = {2, true, BJ_REPLACE_LRU, 0};
    bj_occupancy_request request = {
        .x = x, .y = y, .error = error, .count = COUNT, .first = 256 * KIB, .last = 4 * MIB, .only = &other};
    assert_true(bj_cache_fit_occupancy(&request, &fit));
    assert_true(fit.error > 0.1);
    assert_true(fabs(bj_cache_misfit_occupancy(&fit, x, y, error, COUNT) / fit.error - 1) < 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misses_of_random_frames),
        cmocka_unit_test(test_misses_of_contiguous_lru),
        cmocka_unit_test(test_misses_of_other_replacements),
        cmocka_unit_test(test_misses_of_revisits),
        cmocka_unit_test(test_misses_are_bounded_and_grow),
        cmocka_unit_test(test_fit_of_a_known_model),
        cmocka_unit_test(test_fit_of_revisits),
        cmocka_unit_test(test_fit_of_an_unknown_model),
        cmocka_unit_test(test_fit_of_an_unknown_model_under_noise),
        cmocka_unit_test(test_frames_that_are_known),
        cmocka_unit_test(test_fit_does_not_depend_on_the_unit),
        cmocka_unit_test(test_nothing_to_fit),
        cmocka_unit_test(test_a_flat_curve_has_no_capacity),
        cmocka_unit_test(test_misfit_of_a_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
