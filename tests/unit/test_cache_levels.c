/* Levels in made-up curves: what is a cache, what is a TLB, noise or rounding, and where an edge lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "made_up_curve.h"
#include "probes/cache/levels.h"

static void assert_near(double a, double b) {
    assert_true(fabs(a - b) <= 1e-9 * fabs(b));
}

static const made_up_machine three = {
    .caches = {{32 * KIB, 4, 0, false}, {256 * KIB, 14, 0, false}, {8 * MIB, 50, 0, false}},
    .cache_count = 3,
    .memory = 220};

static bj_level_set find(const double *x, const double *y, size_t count, const bj_level_hints *hints) {
    bj_level_set found;
    assert_int_equal(bj_cache_find_levels(x, y, count, hints, &found, NULL), BJ_OK);
    assert_true(found.count <= BJ_LEVELS_MAX);
    for (size_t i = 0; i < found.count; i++) {
        const bj_level *level = &found.level[i];
        bool sampled = false;
        for (size_t k = 0; k < count; k++)
            sampled = sampled || level->size_sample_x == x[k];
        assert_true(sampled);
        assert_true(level->size_x >= level->size_sample_x);
        assert_true(level->latency <= level->end_latency && level->end_latency < level->next_latency);
        assert_true(level->plateau_first_x <= level->plateau_last_x && level->plateau_last_x < level->next_first_x);
        assert_true(i == 0 || level->size_sample_x > found.level[i - 1].size_sample_x);
    }
    return found;
}

static bj_level_set find_walk(const made_up_machine *machine, const double *x, size_t count, double scale) {
    double y[POINTS_MAX] = {0};
    for (size_t i = 0; i < count; i++)
        y[i] = scale * time_of_walk(machine, x[i]);
    return find(x, y, count, NULL);
}

/* The largest x of the grid that still fits. */
static double last_within(const double *x, size_t count, double size) {
    double last = 0;
    for (size_t i = 0; i < count && x[i] <= size; i++)
        last = x[i];
    return last;
}

static void assert_stairs(const made_up_machine *machine, const double *x, size_t count, const bj_level_set *found) {
    assert_int_equal(found->count, machine->cache_count);
    for (size_t i = 0; i < found->count; i++) {
        const bj_level *level = &found->level[i];
        double next = i + 1 < found->count ? machine->caches[i + 1].latency : machine->memory;
        assert_true(level->size_sample_x == last_within(x, count, machine->caches[i].size));
        /* A tenth of the way, in time, to the first point that is slow. */
        double first_slow = 0;
        for (size_t k = 0; k < count && first_slow == 0; k++)
            first_slow = x[k] > machine->caches[i].size ? x[k] : 0;
        assert_near(level->size_x, level->size_sample_x * pow(first_slow / level->size_sample_x, 0.1));
        assert_near(level->latency, machine->caches[i].latency);
        assert_near(level->end_latency, machine->caches[i].latency);
        assert_near(level->next_latency, next);
        assert_false(level->single_sample);
    }
    assert_near(found->last_latency, machine->memory);
}

static void test_sharp_levels(void **state) {
    (void)state;
    static const made_up_machine two = {
        .caches = {{32 * KIB, 3, 0, false}, {4 * MIB, 14, 0, false}}, .cache_count = 2, .memory = 175};
    static const made_up_machine one = {.caches = {{64 * KIB, 3, 0, false}}, .cache_count = 1, .memory = 90};
    static const made_up_machine odd = {
        .caches = {{48 * KIB, 5, 0, false}, {1280 * KIB, 15, 0, false}, {30 * MIB, 70, 0, false}},
        .cache_count = 3,
        .memory = 300};
    const made_up_machine *const machines[] = {&two, &three, &one, &odd};
    const unsigned grids[] = {1, 2, 4, 8, 16};
    for (size_t m = 0; m < 4; m++)
        for (size_t g = 0; g < 5; g++) {
            double x[POINTS_MAX];
            size_t count = make_grid(1 * KIB, 256 * MIB, grids[g], x);
            bj_level_set found = find_walk(machines[m], x, count, 1);
            assert_stairs(machines[m], x, count, &found);
        }
}

static void test_no_level(void **state) {
    (void)state;
    double x[POINTS_MAX], y[POINTS_MAX] = {0};
    size_t count = make_grid(4 * KIB, 64 * MIB, 4, x);
    for (size_t i = 0; i < count; i++)
        y[i] = 7.25;
    bj_level_set flat = find(x, y, count, NULL);
    assert_int_equal(flat.count, 0);
    assert_near(flat.last_latency, 7.25);
    /* Three points are a step at best, with nothing to tell it from an accident. */
    const double steep[] = {1, 1, 100, 100};
    for (size_t few = 0; few < 4; few++)
        assert_int_equal(find(x, steep, few, NULL).count, 0);
    /* A steady gentle slope has no plateau to be a level. */
    for (size_t i = 0; i < count; i++)
        y[i] = pow(x[i], 0.2);
    assert_int_equal(find(x, y, count, NULL).count, 0);
}

/* Nor does it move the edges around it. */
static void test_tlb_is_no_level(void **state) {
    (void)state;
    const double reaches[] = {384 * KIB, 512 * KIB, 1 * MIB, 1.5 * MIB, 2 * MIB};
    const unsigned grids[] = {1, 2, 4, 16};
    for (double ratio = 1.1; ratio < 2.25; ratio += 0.1)
        for (size_t r = 0; r < 5; r++)
            for (size_t g = 0; g < 4; g++) {
                made_up_machine machine = {
                    .caches = {{32 * KIB, 4, 0, false}, {256 * KIB, 14, 0, false}, {32 * MIB, 42, 0, false}},
                    .cache_count = 3,
                    .memory = 400,
                    .reach = reaches[r]};
                machine.miss = (ratio - 1) * machine.caches[2].latency;
                double x[POINTS_MAX];
                size_t count = make_grid(2 * KIB, 512 * MIB, grids[g], x);
                bj_level_set found = find_walk(&machine, x, count, 1);
                assert_int_equal(found.count, 3);
                for (size_t i = 0; i < 3; i++)
                    assert_true(found.level[i].size_sample_x == last_within(x, count, machine.caches[i].size));
                /* Coarse points leave none between the edge before and the TLB's own: its cost is in all of them. */
                double latency = found.level[2].latency;
                assert_true(latency >= 42 * (1 - 1e-9) && latency <= 42 + machine.miss);
                if (grids[g] >= 4)
                    assert_near(latency, 42);
            }
}

static void test_tlb_in_the_second_level(void **state) {
    (void)state;
    made_up_machine machine = three;
    machine.caches[1].size = 2 * MIB;
    machine.caches[2].size = 32 * MIB;
    machine.reach = 256 * KIB;
    for (machine.miss = 2; machine.miss <= 16; machine.miss += 2) {
        double x[POINTS_MAX];
        size_t count = make_grid(2 * KIB, 256 * MIB, 4, x);
        bj_level_set found = find_walk(&machine, x, count, 1);
        assert_int_equal(found.count, 3);
        assert_near(found.level[1].latency, 14);
        /* What the TLB has added by then is where the size is counted from. */
        assert_true(found.level[1].end_latency > 14 && found.level[1].end_latency <= 14 + machine.miss);
        assert_true(found.level[1].size_sample_x == 2 * MIB);
    }
}

static void test_lone_sample(void **state) {
    (void)state;
    double x[12], lone[12], halfway[12];
    for (int i = 0; i < 12; i++) {
        x[i] = 4 * KIB * exp2(i);
        lone[i] = x[i] <= 64 * KIB ? 3 : x[i] == 128 * KIB ? 13 : 113;
        halfway[i] = x[i] <= 32 * KIB ? 2.2 : x[i] == 64 * KIB ? 12 : x[i] == 128 * KIB ? 29.5 : 30;
    }
    /* A miss share of a tenth takes a capacity within a tenth below the sample: not likely, so it is a level. */
    bj_level_set found = find(x, lone, 12, NULL);
    assert_int_equal(found.count, 2);
    assert_true(found.level[0].size_sample_x == 64 * KIB);
    assert_true(found.level[1].size_sample_x == 128 * KIB);
    assert_false(found.level[0].single_sample);
    assert_true(found.level[1].single_sample);
    assert_near(found.level[1].latency, 13);
    /* A third of the way is what a cache of 48 KiB would give. */
    found = find(x, halfway, 12, NULL);
    assert_int_equal(found.count, 1);
    assert_true(found.level[0].size_sample_x == 32 * KIB);
}

static void test_spikes_and_dips(void **state) {
    (void)state;
    double x[POINTS_MAX], clean[POINTS_MAX] = {0}, y[POINTS_MAX] = {0};
    size_t count = make_grid(2 * KIB, 128 * MIB, 4, x);
    for (size_t i = 0; i < count; i++)
        clean[i] = time_of_walk(&three, x[i]);
    bj_level_set expected = find(x, clean, count, NULL);
    for (size_t at = 0; at + 1 < count; at++) {
        for (size_t i = 0; i < count; i++)
            y[i] = i == at ? 10 * clean[i] : clean[i];
        bj_level_set found = find(x, y, count, NULL);
        assert_int_equal(found.count, 3);
        /* The last of a level is lost to a spike; all others change nothing. */
        for (size_t k = 0; k < 3; k++)
            if (x[at] != expected.level[k].size_sample_x)
                assert_true(found.level[k].size_sample_x == expected.level[k].size_sample_x);
            else
                assert_true(found.level[k].size_sample_x == x[at - 1]);
        for (size_t i = 0; i < count; i++)
            y[i] = i == at ? 0.75 * clean[i] : clean[i];
        found = find(x, y, count, NULL);
        assert_int_equal(found.count, 3);
        for (size_t k = 0; k < 3; k++)
            assert_true(found.level[k].size_sample_x == expected.level[k].size_sample_x);
    }
}

/* A first sample that is faster than the rest is start-up, in coarse counts above all. */
static void test_whole_cycles(void **state) {
    (void)state;
    double x[12], y[12];
    for (int i = 0; i < 12; i++) {
        x[i] = 1 * KIB * exp2(i);
        y[i] = i == 0 ? 1 : i < 6 ? 2 : 30;
    }
    bj_level_set found = find(x, y, 12, NULL);
    assert_int_equal(found.count, 1);
    assert_true(found.level[0].size_sample_x == 32 * KIB);
    /* The same in another unit. */
    for (int i = 0; i < 12; i++)
        y[i] *= 0.37;
    found = find(x, y, 12, NULL);
    assert_int_equal(found.count, 1);
    assert_true(found.level[0].size_sample_x == 32 * KIB);
}

static void test_unit_does_not_matter(void **state) {
    (void)state;
    made_up_machine machine = three;
    machine.caches[1] = (made_up_cache){512 * KIB, 14.5, 8, true};
    machine.caches[2] = (made_up_cache){16 * MIB, 50.5, 16, true};
    machine.reach = 1 * MIB;
    machine.miss = 9;
    const unsigned grids[] = {1, 2, 4, 16};
    const double scales[] = {0.3, 1e-9, 12345.6};
    for (size_t g = 0; g < 4; g++) {
        double x[POINTS_MAX];
        size_t count = make_grid(2 * KIB, 256 * MIB, grids[g], x);
        bj_level_set one = find_walk(&machine, x, count, 1);
        assert_int_equal(one.count, 3);
        for (size_t s = 0; s < 3; s++) {
            bj_level_set other = find_walk(&machine, x, count, scales[s]);
            assert_int_equal(other.count, one.count);
            for (size_t i = 0; i < one.count; i++) {
                assert_true(other.level[i].size_sample_x == one.level[i].size_sample_x);
                assert_true(fabs(other.level[i].size_x / one.level[i].size_x - 1) < 1e-6);
                assert_true(fabs(other.level[i].latency / one.level[i].latency / scales[s] - 1) < 1e-6);
            }
        }
    }
}

static void test_jitter_does_not_matter(void **state) {
    (void)state;
    const unsigned grids[] = {1, 4, 8};
    for (size_t g = 0; g < 3; g++) {
        double x[POINTS_MAX], y[POINTS_MAX] = {0};
        size_t count = make_grid(2 * KIB, 128 * MIB, grids[g], x);
        for (uint64_t seed = 0; seed < 200; seed++) {
            bj_random random;
            bj_random_seed(&random, seed);
            for (size_t i = 0; i < count; i++)
                y[i] = time_of_walk(&three, x[i]) * (1 + 0.01 * bj_random_normal(&random));
            bj_level_set found = find(x, y, count, NULL);
            assert_int_equal(found.count, 3);
            for (size_t i = 0; i < 3; i++) {
                assert_true(found.level[i].size_sample_x == last_within(x, count, three.caches[i].size));
                assert_true(fabs(found.level[i].latency / three.caches[i].latency - 1) < 0.05);
            }
        }
    }
}

static void test_removed_cost_lets_small_edges_count(void **state) {
    (void)state;
    double x[POINTS_MAX], y[POINTS_MAX] = {0}, nothing[POINTS_MAX], explains[POINTS_MAX];
    size_t count = make_grid(4 * KIB, 64 * MIB, 4, x);
    for (size_t i = 0; i < count; i++) {
        y[i] = x[i] <= 64 * KIB ? 5 : x[i] <= 2 * MIB ? 7 : 60;
        nothing[i] = 0;
        explains[i] = x[i] <= 64 * KIB ? 0 : 2.5;
    }
    bj_level_set found = find(x, y, count, NULL);
    assert_int_equal(found.count, 1);
    assert_true(found.level[0].size_sample_x == 2 * MIB);
    bj_level_hints hints = {.removed = nothing};
    found = find(x, y, count, &hints);
    assert_int_equal(found.count, 2);
    assert_true(found.level[0].size_sample_x == 64 * KIB && found.level[1].size_sample_x == 2 * MIB);
    assert_near(found.level[1].latency, 7);
    /* More was taken off there than is left: perhaps it should have been a little more. */
    hints.removed = explains;
    found = find(x, y, count, &hints);
    assert_int_equal(found.count, 1);
    assert_true(found.level[0].size_sample_x == 2 * MIB);
}

static void test_edges_within_noise_do_not_count(void **state) {
    (void)state;
    double x[POINTS_MAX], y[POINTS_MAX] = {0}, nothing[POINTS_MAX];
    size_t count = make_grid(4 * KIB, 64 * MIB, 4, x);
    for (size_t i = 0; i < count; i++) {
        y[i] = x[i] <= 64 * KIB ? 5 : x[i] <= 2 * MIB ? 7.25 : 60;
        nothing[i] = 0;
    }
    bj_level_hints hints = {.noise = 0.02, .removed = nothing};
    assert_int_equal(find(x, y, count, &hints).count, 2);
    hints.noise = 0.1;
    assert_int_equal(find(x, y, count, &hints).count, 1);
}

static void test_size_on_another_curve(void **state) {
    (void)state;
    double x[POINTS_MAX], y[POINTS_MAX] = {0};
    size_t count = make_grid(4 * KIB, 64 * MIB, 8, x);
    for (size_t i = 0; i < count; i++) /* doubles with x from 256 KiB, and stays at 40 */
        y[i] = fmin(40, fmax(10, 10 * x[i] / (256 * KIB)));
    bj_level level = {.latency = 10, .next_latency = 40};
    bj_cache_measure_level_size(x, y, count, 64 * MIB, &level);
    assert_true(level.size_sample_x == last_within(x, count, 1.3 * 256 * KIB));
    assert_true(fabs(level.size_x / (1.3 * 256 * KIB) - 1) < 0.01);
    /* Not beyond last_x, where another level's ramp would be met. */
    bj_cache_measure_level_size(x, y, count, 128 * KIB, &level);
    assert_true(level.size_sample_x == 128 * KIB);
    /* A curve that never gets there: the last point. */
    level = (bj_level){.latency = 10, .next_latency = 1000};
    bj_cache_measure_level_size(x, y, count, 64 * MIB, &level);
    assert_true(level.size_sample_x == x[count - 1] && level.size_x == x[count - 1]);
}

static void test_more_edges_than_levels(void **state) {
    (void)state;
    double x[POINTS_MAX], y[POINTS_MAX] = {0};
    size_t count = make_grid(1 * KIB, KIB * 0x1p28, 4, x);
    for (size_t i = 0; i < count; i++) /* a level every two octaves: 14 of them */
        y[i] = pow(3, floor((double)i / 8)) + 0.1;
    bj_level_set found = find(x, y, count, NULL);
    assert_int_equal(found.count, BJ_LEVELS_MAX);
    for (size_t i = 0; i < found.count; i++)
        assert_true(found.level[i].size_sample_x == x[8 * i + 7]);
    /* More plateaus than there is room for, over more octaves than any machine has. */
    for (size_t i = 0; i < POINTS_MAX; i++) {
        x[i] = exp2(0.75 * (double)i);
        y[i] = 1 + (double)(i / 3);
    }
    assert_true(find(x, y, POINTS_MAX, NULL).count <= BJ_LEVELS_MAX);
}

/* Every sample of a slope lies between two others; none of them is a level for that. */
static void test_a_steady_slope_is_no_staircase(void **state) {
    (void)state;
    double x[POINTS_MAX], y[POINTS_MAX];
    for (unsigned per_octave = 1; per_octave <= 16; per_octave *= 2)
        for (double power = 0.5; power <= 1; power += 0.25) {
            size_t count = make_grid(4 * KIB, 64 * MIB, per_octave, x);
            for (size_t i = 0; i < count; i++)
                y[i] = 1.01 * pow(x[i] / 4096, power);
            bj_level_set found;
            assert_int_equal(bj_cache_find_levels(x, y, count, NULL, &found, NULL), BJ_OK);
            assert_int_equal(found.count, 0);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sharp_levels),
        cmocka_unit_test(test_no_level),
        cmocka_unit_test(test_tlb_is_no_level),
        cmocka_unit_test(test_tlb_in_the_second_level),
        cmocka_unit_test(test_lone_sample),
        cmocka_unit_test(test_spikes_and_dips),
        cmocka_unit_test(test_whole_cycles),
        cmocka_unit_test(test_unit_does_not_matter),
        cmocka_unit_test(test_jitter_does_not_matter),
        cmocka_unit_test(test_removed_cost_lets_small_edges_count),
        cmocka_unit_test(test_edges_within_noise_do_not_count),
        cmocka_unit_test(test_size_on_another_curve),
        cmocka_unit_test(test_more_edges_than_levels),
        cmocka_unit_test(test_a_steady_slope_is_no_staircase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
