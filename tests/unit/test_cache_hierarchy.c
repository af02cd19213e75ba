/* Hierarchies from rounds that the occupancy model made, so that every answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "made_up_rounds.h"

static const made_up_machine desktop = {
    .caches = {{32 * KIB, 1.2, 8, false}, {512 * KIB, 3.7, 8, false}, {8 * MIB, 14, 16, false}},
    .cache_count = 3,
    .memory = 90};

/* Give or take 2%: between two points of a sharp edge nothing tells where it is. */
static bool holds(const bj_estimate *estimate, double truth) {
    return 0.98 * estimate->interval[0] <= truth && truth <= 1.02 * estimate->interval[1];
}

static bool holds_exactly(const bj_estimate *estimate, double truth) {
    return estimate->interval[0] <= truth && truth <= estimate->interval[1];
}

static void assert_in_own_interval(const bj_estimate *estimate) {
    assert_true(estimate->interval[0] <= estimate->value && estimate->value <= estimate->interval[1]);
}

/* Of what single rounds give. */
static double scatter_of(const bj_hierarchy_level *level) {
    return level->size.single[BJ_SINGLE_HIGH] / level->size.single[BJ_SINGLE_LOW];
}

static void assert_right(const made_up_machine *machine, const bj_hierarchy *found) {
    assert_int_equal(found->count, machine->cache_count);
    for (size_t i = 0; i < found->count; i++) {
        const bj_hierarchy_level *level = &found->level[i];
        assert_true(is_near(level->size.value, true_size(machine, i), 0.1));
        assert_true(found->edge[i].has_capacity);
        assert_true(is_near(level->capacity.value, machine->caches[i].size, 0.125));
        assert_true(is_near(level->latency.value, machine->caches[i].latency, 0.03));
        assert_in_own_interval(&level->size);
        assert_in_own_interval(&level->size_sample);
        assert_in_own_interval(&level->capacity);
        assert_in_own_interval(&level->latency);
        assert_true(level->size.value <= level->capacity.value ||
                    level->size.interval[0] > level->capacity.interval[1]);
    }
    assert_true(is_near(found->memory_latency.value, machine->memory, 0.03));
    assert_true(found->levels.value == (double)found->count);
    assert_in_own_interval(&found->levels);
}

/* Right every time, and the intervals hold the truth as often as they promise, or nearly. */
static void test_answers_and_intervals(void **state) {
    (void)state;
    enum { SEEDS = 40 };
    size_t sizes = 0, capacities = 0, latencies = 0, all = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        rounds *made = make_rounds(&desktop, 8, 8, 0, seed);
        bj_hierarchy_request request = request_of(made, seed);
        bj_hierarchy found = find(&request);
        assert_right(&desktop, &found);
        for (size_t i = 0; i < found.count; i++) {
            const bj_hierarchy_level *level = &found.level[i];
            assert_true(level->size.support >= 0.99 && level->p <= 0.01);
            assert_true(scatter_of(level) < 1.25);
            assert_true(level->size.single[BJ_SINGLE_LEAST] > 0);
            sizes += holds(&level->size, true_size(&desktop, i));
            capacities += holds_exactly(&level->capacity, desktop.caches[i].size);
            latencies += holds(&level->latency, desktop.caches[i].latency);
            all++;
        }
        assert_true(found.levels.support >= 0.99);
        free(made);
    }
    assert_true(sizes >= 0.9 * all);
    assert_true(capacities >= 0.95 * all);
    assert_true(latencies >= 0.9 * all);
}

/* Ways that no model has, and edges between two points of the grid: the interval knows what the model does not. */
static void test_capacities_of_no_model(void **state) {
    (void)state;
    enum { SEEDS = 12 };
    size_t held = 0, all = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        made_up_machine machine = desktop;
        double shift = exp2((double)seed / SEEDS / 8);
        machine.caches[0] = (made_up_cache){36 * KIB * shift, 1.2, 3, false};
        machine.caches[1] = (made_up_cache){640 * KIB * shift, 3.7, 5, false};
        rounds *made = make_rounds(&machine, 8, 8, 0, seed);
        bj_hierarchy_request request = request_of(made, seed);
        bj_hierarchy found = find(&request);
        assert_right(&machine, &found);
        for (size_t i = 0; i < found.count; i++, all++)
            held += holds_exactly(&found.level[i].capacity, machine.caches[i].size);
        free(made);
    }
    assert_true(held >= 0.95 * all);
}

/* Base pages: ramps are long, begin at half of the capacity, and lie a little elsewhere in each round. */
static void test_random_frames(void **state) {
    (void)state;
    made_up_machine machine = desktop;
    machine.caches[1] = (made_up_cache){512 * KIB, 3.7, 8, true};
    machine.caches[2] = (made_up_cache){16 * MIB, 14, 16, true};
    for (uint64_t seed = 0; seed < 6; seed++) {
        rounds *made = make_rounds(&machine, 9, 8, 0, seed);
        bj_random random;
        bj_random_seed(&random, seed + 200);
        for (size_t r = 0; r < made->round_count; r++)
            for (size_t i = 0; i < made->count; i++) {
                double luck = exp(0.03 * bj_random_normal(&random));
                made->walk[r][i] = disturb(time_of_walk(&machine, made->x[i] * luck), &random);
            }
        bj_hierarchy_request request = request_of(made, seed);
        request.curves.lucky_frames = true;
        bj_hierarchy found = find(&request);
        assert_int_equal(found.count, 3);
        for (size_t i = 1; i < 3; i++) {
            assert_true(is_near(found.level[i].size.value, true_size(&machine, i), 0.15));
            assert_true(is_near(found.level[i].capacity.value, machine.caches[i].size, 0.15));
            assert_true(holds(&found.level[i].capacity, machine.caches[i].size));
        }
        free(made);
    }
}

/* The share of pages that share a colour with more of them than a cache has ways, when each has a random frame. */
static double draw_misses(const made_up_cache *cache, double x, bj_random *random) {
    enum { COLOURS_MAX = 4096 };
    unsigned load[COLOURS_MAX] = {0};
    size_t colours = (size_t)(cache->size / PAGE / cache->ways), pages = (size_t)(x / PAGE), missed = 0;
    assert_true(colours <= COLOURS_MAX);
    for (size_t i = 0; i < pages; i++)
        load[bj_random_below(random, colours)]++;
    for (size_t i = 0; i < colours; i++)
        missed += load[i] > cache->ways ? load[i] : 0;
    return pages > 0 ? (double)missed / (double)pages : 0;
}

/* Walks on frames of their own, each: its misses are luck's. */
static void draw_frames(rounds *made, const made_up_machine *machine, uint64_t seed) {
    bj_random random;
    bj_random_seed(&random, seed);
    for (size_t r = 0; r < made->round_count; r++)
        for (size_t i = 0; i < made->count; i++) {
            made_up_machine first = {.caches = {machine->caches[0]}, .cache_count = 1};
            first.memory = machine->caches[1].latency;
            double time = time_of_walk(&first, made->x[i]);
            for (size_t k = 1; k < machine->cache_count; k++) {
                const made_up_cache *cache = &machine->caches[k];
                double next = k + 1 < machine->cache_count ? cache[1].latency : machine->memory;
                time += draw_misses(cache, made->x[i], &random) * (next - cache->latency);
            }
            made->walk[r][i] = disturb(time, &random);
        }
}

/* `stairs`: without looking whether they are one. */
static size_t count_levels_on_random_frames(const made_up_machine *machine, uint64_t seed, bool stairs) {
    rounds *made = make_rounds(machine, 12, 8, 4, seed);
    draw_frames(made, machine, seed + 1000);
    bj_hierarchy_request request = request_of(made, seed);
    request.curves.lucky_frames = true;
    request.curves.levels_only = stairs;
    size_t count = find(&request).count;
    free(made);
    return count;
}

/* Luck makes stairs in the ramp of a cache of few ways. Two caches without a plateau between them are two even so, also
 * where the rise of the nearer one is little beside that of the other. */
static void test_stairs_of_luck_are_one_level(void **state) {
    (void)state;
    made_up_machine lucky = {
        .caches = {{32 * KIB, 1.2, 8, false}, {512 * KIB, 3.7, 1, true}}, .cache_count = 2, .memory = 60};
    made_up_machine close = {.caches = {{128 * KIB, 1, 8, false}, {6 * MIB, 6, 16, true}, {20 * MIB, 40, 16, true}},
                             .cache_count = 3,
                             .memory = 100};
    made_up_machine small = {.caches = {{32 * KIB, 2.4, 4, false}, {512 * KIB, 7.8, 8, true}, {2 * MIB, 19, 16, true}},
                             .cache_count = 3,
                             .memory = 110};
    size_t stairs = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        stairs += count_levels_on_random_frames(&lucky, seed, true) > 2;
        assert_int_equal(count_levels_on_random_frames(&lucky, seed, false), 2);
        assert_int_equal(count_levels_on_random_frames(&close, seed, false), 3);
        assert_int_equal(count_levels_on_random_frames(&small, seed, false), 3);
    }
    assert_true(stairs > 0);
}

/* The last level is shared, and its other users come and go. */
static void test_moving_level(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        rounds *made = make_rounds(&desktop, 10, 4, 0, seed);
        bj_random random;
        bj_random_seed(&random, seed + 100);
        for (size_t r = 0; r < made->round_count; r++) {
            made_up_machine now = desktop;
            now.caches[2].size = 4 * MIB * exp2(bj_random_unit(&random));
            for (size_t i = 0; i < made->count; i++)
                made->walk[r][i] = disturb(time_of_walk(&now, made->x[i]), &random);
        }
        bj_hierarchy_request request = request_of(made, seed);
        bj_hierarchy found = find(&request);
        assert_int_equal(found.count, 3);
        assert_true(scatter_of(&found.level[2]) > 1.25);
        assert_true(found.level[2].single_sigma > 0.1);
        assert_true(found.level[2].size.single[BJ_SINGLE_LEAST] < 5.5 * MIB);
        assert_true(found.level[2].size.single[BJ_SINGLE_GREATEST] > 5.5 * MIB);
        assert_true(scatter_of(&found.level[0]) < 1.25 && scatter_of(&found.level[1]) < 1.25);
        free(made);
    }
}

static void test_single_round(void **state) {
    (void)state;
    static const made_up_machine sharp = {
        .caches = {{32 * KIB, 4.1, 0, false}, {256 * KIB, 14, 0, false}, {8 * MIB, 50, 0, false}},
        .cache_count = 3,
        .memory = 220};
    rounds *made = make_rounds(&sharp, 1, 1, 0, 1);
    for (size_t i = 0; i < made->count; i++)
        made->walk[0][i] = time_of_walk(&sharp, made->x[i]);
    bj_hierarchy_request request = request_of(made, 1);
    bj_hierarchy found = find(&request);
    assert_int_equal(found.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const bj_hierarchy_level *level = &found.level[i];
        assert_true(level->size_sample.value == sharp.caches[i].size);
        /* With its own point left out the size is the one before. */
        assert_true(level->size_sample.interval[0] >= sharp.caches[i].size / 2);
        assert_true(level->size_sample.interval[1] == sharp.caches[i].size);
        assert_true(isnan(level->size.single[BJ_SINGLE_LEAST]) && isnan(level->size.single[BJ_SINGLE_GREATEST]));
        assert_true(level->size.support > 0.8);
        assert_true(level->p > 0 && level->p <= 1);
    }
    free(made);
}

/* Coarse points: a level of a single sample is not there without it. */
static void test_single_round_doubts_lone_samples(void **state) {
    (void)state;
    double x[12], y[12];
    for (int i = 0; i < 12; i++) {
        x[i] = 4 * KIB * exp2(i);
        y[i] = x[i] <= 64 * KIB ? 3 : x[i] == 128 * KIB ? 13 : 113;
    }
    double *row = y;
    bj_curve walk = curve_of(x, 12, &row, 1);
    bj_hierarchy_request request = {.curves.walk = &walk};
    bj_hierarchy found = find(&request);
    assert_int_equal(found.count, 2);
    assert_true(found.level[1].level.single_sample);
    assert_true(found.level[1].size.support < 0.99);
    assert_true(found.levels.interval[0] == 1);
}

/* A sharp edge that leads only a third higher: what the plateau may be off is not to swallow it. */
static void test_a_small_sharp_rise_leaves_no_doubt(void **state) {
    (void)state;
    made_up_machine machine = {
        .caches = {{32 * KIB, 4, 8, false}, {256 * KIB, 14, 8, false}, {4 * MIB, 18.5, 8, false}},
        .cache_count = 3,
        .memory = 200};
    rounds *made = make_rounds(&machine, 8, 8, 4, 1);
    bj_hierarchy_request request = request_of(made, 1);
    bj_hierarchy found = find(&request);
    assert_int_equal(found.count, 3);
    assert_true(found.level[1].size_range[0] > 0.9 * found.level[1].size.value);
    assert_true(found.level[1].size_range[1] < 1.1 * found.level[1].size.value);
    free(made);
}

/* A second level that hits far beyond its capacity, as prefetches of a buddy's line make it: the next plateau reads too
 * low. Walks with four visits a line tell what a miss costs. */
static void test_latency_by_revisits(void **state) {
    (void)state;
    const double second = 256 * KIB, third = 40;
    const made_up_machine machine = {
        .caches = {{32 * KIB, 4, 8, false}, {second, 12, 8, false}, {16 * MIB, third, 8, false}},
        .cache_count = 3,
        .memory = 150};
    const bj_occupancy_model lru = {8, false, BJ_REPLACE_LRU, 0}, paired = {8, false, BJ_REPLACE_PAIRED, 0},
                             often = {8, false, BJ_REPLACE_LRU, 4};
    rounds *made = make_rounds(&machine, 8, 8, 4, 1);
    for (size_t r = 0; r < 8; r++)
        for (size_t i = 0; i < made->count; i++) {
            double ratio = made->x[i] / second;
            made->walk[r][i] += (third - 12) * (bj_cache_predict_occupancy_misses(&paired, ratio) -
                                                bj_cache_predict_occupancy_misses(&lru, ratio));
        }
    double x[POINTS_MAX], y[ROUNDS_MAX][POINTS_MAX];
    double *rows[ROUNDS_MAX];
    size_t count = make_grid(320 * KIB, 1280 * KIB, 2, x);
    for (size_t r = 0; r < 8; r++) {
        rows[r] = y[r];
        for (size_t i = 0; i < count; i++)
            y[r][i] = 4 + (12 - 4) * bj_cache_predict_occupancy_misses(&often, x[i] / (32 * KIB)) +
                      (third - 12) * bj_cache_predict_occupancy_misses(&often, x[i] / second);
    }
    bj_hierarchy_request request = request_of(made, 1);
    bj_hierarchy read = find(&request);
    bj_curve revisits = curve_of(x, count, rows, 8);
    request.curves.revisits[0] = (bj_revisits){&revisits, 4};
    bj_hierarchy found = find(&request);
    assert_int_equal(found.count, 3);
    assert_true(read.level[2].latency.value < 0.97 * third);
    assert_true(is_near(found.level[2].latency.value, third, 0.025));
    /* What was read stays possible. */
    assert_true(holds(&found.level[2].latency, read.level[2].latency.value));
    /* Memory's is read where the largest walks are, which these revisits say nothing of. */
    assert_true(found.memory_latency.value == read.memory_latency.value);
    free(made);
}

static void test_missing_values(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        rounds *made = make_rounds(&with_tlb, 9, 8, 4, seed);
        bj_random random;
        bj_random_seed(&random, seed + 50);
        for (size_t r = 0; r < made->round_count; r++) {
            for (size_t i = 0; i < made->count; i++)
                if (bj_random_unit(&random) < 0.25 || i == 9)
                    made->walk[r][i] = NAN;
            for (size_t i = 0; i < made->twin_count; i++) {
                if (bj_random_unit(&random) < 0.2 || i == 5)
                    made->spread[r][i] = NAN;
                if (bj_random_unit(&random) < 0.2)
                    made->packed[r][i] = NAN;
            }
        }
        /* A point of a single round, as the last round's deadline leaves them. */
        for (size_t r = 0; r + 1 < made->round_count; r++)
            made->walk[r][30] = NAN;
        bj_hierarchy_request request = request_of(made, seed);
        bj_hierarchy found = find(&request);
        assert_int_equal(found.count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_true(is_near(found.level[i].capacity.value, with_tlb.caches[i].size, 0.15));
            assert_in_own_interval(&found.level[i].size);
            assert_true(isfinite(found.level[i].latency.value));
        }
        free(made);
    }
}

static void test_nothing_measured(void **state) {
    (void)state;
    rounds *made = make_rounds(&desktop, 4, 4, 0, 1);
    bj_hierarchy_request request = request_of(made, 1);
    for (size_t r = 0; r < 4; r++)
        for (size_t i = 0; i < made->count; i++)
            made->walk[r][i] = NAN;
    assert_int_equal(find(&request).count, 0);
    made->walk_curve.x_count = 0;
    assert_int_equal(find(&request).count, 0);
    free(made);
}

static void test_flat_rounds(void **state) {
    (void)state;
    static const made_up_machine flat = {.caches = {{1024 * MIB, 5, 0, false}}, .cache_count = 1, .memory = 5};
    for (uint64_t seed = 0; seed < 5; seed++) {
        rounds *made = make_rounds(&flat, 6, 4, 4, seed);
        bj_hierarchy_request request = request_of(made, seed);
        bj_hierarchy found = find(&request);
        assert_int_equal(found.count, 0);
        /* The least of many points, less what the noise of the twins looks like. */
        assert_true(is_near(found.memory_latency.value, 5, 0.06));
        free(made);
    }
}

static void assert_same_estimate(const bj_estimate *a, const bj_estimate *b) {
    assert_true(a->value == b->value && a->interval[0] == b->interval[0] && a->interval[1] == b->interval[1]);
}

static void test_same_seed_same_answer(void **state) {
    (void)state;
    rounds *made = make_rounds(&with_tlb, 7, 8, 4, 3);
    bj_hierarchy_request request = request_of(made, 11);
    bj_hierarchy one = find(&request), two = find(&request);
    assert_int_equal(one.count, two.count);
    for (size_t i = 0; i < one.count; i++) {
        assert_same_estimate(&one.level[i].size, &two.level[i].size);
        assert_same_estimate(&one.level[i].size_sample, &two.level[i].size_sample);
        assert_same_estimate(&one.level[i].capacity, &two.level[i].capacity);
        assert_same_estimate(&one.level[i].latency, &two.level[i].latency);
        assert_true(one.level[i].p == two.level[i].p && one.level[i].size.support == two.level[i].size.support);
        assert_true(scatter_of(&one.level[i]) == scatter_of(&two.level[i]));
    }
    assert_true(one.levels.support == two.levels.support);
    assert_same_estimate(&one.memory_latency, &two.memory_latency);
    /* The answer itself does not depend on how rounds are drawn again. */
    request.seed = 12;
    two = find(&request);
    assert_int_equal(one.count, two.count);
    for (size_t i = 0; i < one.count; i++)
        assert_true(one.level[i].size.value == two.level[i].size.value);
    /* While measuring, the same edges without the rest. */
    request.curves.levels_only = true;
    two = find(&request);
    assert_int_equal(one.count, two.count);
    for (size_t i = 0; i < one.count; i++) {
        assert_true(one.level[i].level.size_x == two.level[i].level.size_x);
        assert_false(two.edge[i].has_capacity);
    }
    free(made);
}

static bj_status find_one(const double *x, const double *y, size_t count, const bj_finder_context *context,
                          bj_level_set *found, bj_error *error) {
    (void)error;
    memset(found, 0, sizeof *found);
    (*(size_t *)context->variant)++;
    found->count = 1;
    found->level[0] = (bj_level){.latency = y[0],
                                 .end_latency = y[0],
                                 .next_latency = y[count - 1],
                                 .plateau_first_x = x[0],
                                 .plateau_last_x = x[2],
                                 .next_first_x = x[3],
                                 .ramp_first_x = x[2],
                                 .ramp_last_x = x[4],
                                 .size_x = x[2],
                                 .size_sample_x = x[2]};
    found->last_latency = y[count - 1];
    return BJ_OK;
}

static bj_status find_trouble(const double *x, const double *y, size_t count, const bj_finder_context *context,
                              bj_level_set *found, bj_error *error) {
    (void)x;
    (void)y;
    (void)count;
    (void)context;
    memset(found, 0, sizeof *found);
    return bj_base_set_error(error, BJ_ERR_FAILED, "the finder fell over");
}

static void test_other_finders(void **state) {
    (void)state;
    rounds *made = make_rounds(&desktop, 6, 4, 0, 2);
    bj_hierarchy_request request = request_of(made, 1);
    size_t calls = 0;
    request.curves.finder = find_one;
    const bj_finder_context context = {.variant = &calls};
    request.curves.finder_context = &context;
    bj_hierarchy found = find(&request);
    assert_int_equal(found.count, 1);
    assert_true(found.level[0].size.value == made->x[2]);
    assert_true(found.level[0].size.support == 1);
    assert_true(calls > 100); /* in every resample, too */
    request.curves.finder = find_trouble;
    bj_error error = {""};
    assert_int_equal(bj_cache_fit_hierarchy(&request, &found, &error), BJ_ERR_FAILED);
    assert_string_equal(error.text, "the finder fell over");
    free(made);
}

/* Two quiet rounds among disturbed ones: the size is theirs, and lies beyond where the others' next plateau begins. */
static void test_few_quiet_rounds(void **state) {
    (void)state;
    enum { COUNT = 40, ROUNDS = 12 };
    static double x[COUNT], walks[ROUNDS][COUNT], twins[ROUNDS][COUNT];
    double *walk_rows[ROUNDS], *twin_rows[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        walk_rows[r] = walks[r];
        twin_rows[r] = twins[r];
        for (int i = 0; i < COUNT; i++) {
            x[i] = 4096 * exp2(i / 4.0);
            walks[r][i] = x[i] <= (r < 2 ? 256 * KIB : 16 * KIB) ? 4.1 : 50.3;
            twins[r][i] = 4.1;
        }
    }
    bj_curve walk = curve_of(x, COUNT, walk_rows, ROUNDS), twin = curve_of(x, COUNT, twin_rows, ROUNDS);
    bj_hierarchy_request request = {.curves = {.walk = &walk, .spread = &twin, .packed = &twin, .lucky_frames = true},
                                    .seed = 1};
    bj_hierarchy found;
    assert_int_equal(bj_cache_fit_hierarchy(&request, &found, NULL), BJ_OK);
    assert_int_equal(found.count, 1);
    assert_true(found.level[0].size_sample.value == 256 * KIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_and_intervals),
        cmocka_unit_test(test_capacities_of_no_model),
        cmocka_unit_test(test_random_frames),
        cmocka_unit_test(test_stairs_of_luck_are_one_level),
        cmocka_unit_test(test_moving_level),
        cmocka_unit_test(test_single_round),
        cmocka_unit_test(test_single_round_doubts_lone_samples),
        cmocka_unit_test(test_a_small_sharp_rise_leaves_no_doubt),
        cmocka_unit_test(test_latency_by_revisits),
        cmocka_unit_test(test_missing_values),
        cmocka_unit_test(test_nothing_measured),
        cmocka_unit_test(test_flat_rounds),
        cmocka_unit_test(test_same_seed_same_answer),
        cmocka_unit_test(test_other_finders),
        cmocka_unit_test(test_few_quiet_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
