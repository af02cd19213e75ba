/* TLB levels of curves without twins: what the known caches explain is not the TLB's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/tlb/tlb_table.h"

static const double pages[] = {2,   3,   4,   6,   8,   12,   16,   24,   32,   48,   64,   96,    128,
                               192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192, 12288, 16384};
#define POINTS (sizeof pages / sizeof pages[0])

typedef struct {
    double at, rise; /* beyond so many pages */
} rise;

static size_t find(const rise *rises, size_t rise_count, const double *caches, size_t cache_count,
                   bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX]) {
    double time[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        time[i] = 4.1;
        for (size_t k = 0; k < rise_count; k++)
            time[i] += pages[i] > rises[k].at ? rises[k].rise : 0;
    }
    bj_tlb_table table = {pages, time, POINTS, caches, cache_count};
    return bj_tlb_find_table_levels(&table, levels);
}

static void test_steps_of_known_caches_are_not_the_tlbs(void **state) {
    (void)state;
    const rise rises[] = {{8, 10}, {64, 8}, {256, 30}, {1024, 9}};
    const double caches[] = {8, 256};
    bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX];
    assert_int_equal(find(rises, 4, caches, 2, levels), 2);
    assert_true(pages[levels[0].before] == 64 && pages[levels[0].after] == 96);
    assert_true(pages[levels[1].before] == 1024 && pages[levels[1].after] == 1536);
    /* Not known, the larger cache is taken for a level. */
    assert_int_equal(find(rises, 4, caches, 1, levels), 3);
    assert_true(pages[levels[1].before] == 256);
}

/* Random frames: the first misses of a cache come before it is full, and the last after. */
static void test_smeared_cache_is_one_step(void **state) {
    (void)state;
    const rise rises[] = {{64, 8}, {256, 3}, {384, 20}, {512, 100}, {768, 30}, {1024, 12}};
    const double caches[] = {512};
    bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX];
    assert_int_equal(find(rises, 6, caches, 1, levels), 1);
    assert_true(pages[levels[0].before] == 64);
}

/* A step just before a cache's that does not grow towards it is a level of its own. */
static void test_step_before_a_cache(void **state) {
    (void)state;
    const rise rises[] = {{128, 17}, {192, 16}, {256, 200}};
    const double caches[] = {256};
    bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX];
    assert_int_equal(find(rises, 3, caches, 1, levels), 1);
    assert_true(pages[levels[0].before] == 128 && pages[levels[0].after] == 192);
}

static void test_small_and_late_rises_are_none(void **state) {
    (void)state;
    const rise rises[] = {{8, 50}, {64, 2}, {512, 2}, {12288, 10}};
    bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX];
    assert_int_equal(find(rises, 4, NULL, 0, levels), 0);
}

/* Two cycles more are what rounding makes, whatever the unit; of finer times they are a step. */
static void test_whole_cycles(void **state) {
    (void)state;
    for (double unit = 0.31; unit < 2; unit += 0.69) {
        double whole[POINTS], fine[POINTS];
        bj_tlb_table_level levels[BJ_TLB_TABLE_LEVELS_MAX];
        for (size_t i = 0; i < POINTS; i++) {
            double rounded =
                (pages[i] > 64 ? 22 : 20) + (pages[i] > 384) + (pages[i] > 768) + (pages[i] > 2048) + (pages[i] > 4096);
            whole[i] = unit * rounded;
            fine[i] = unit * (rounded + 0.25);
        }
        bj_tlb_table table = {pages, whole, POINTS, NULL, 0};
        assert_int_equal(bj_tlb_find_table_levels(&table, levels), 0);
        table.time = fine;
        assert_int_equal(bj_tlb_find_table_levels(&table, levels), 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_of_known_caches_are_not_the_tlbs),
        cmocka_unit_test(test_smeared_cache_is_one_step),
        cmocka_unit_test(test_step_before_a_cache),
        cmocka_unit_test(test_small_and_late_rises_are_none),
        cmocka_unit_test(test_whole_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
