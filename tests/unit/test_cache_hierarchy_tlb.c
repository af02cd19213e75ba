/* What twins tell of the TLB, and what hierarchies are like without and with its cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_up_rounds.h"

static void test_twins_tell_a_tlb_from_a_cache(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        rounds *made = make_rounds(&with_tlb, 8, 8, 4, seed);
        bj_hierarchy_request request = request_of(made, seed);
        bj_hierarchy found = find(&request);
        assert_int_equal(found.count, 3);
        for (size_t i = 0; i < 3; i++)
            assert_true(is_near(found.level[i].capacity.value, with_tlb.caches[i].size, 0.125));
        assert_true(is_near(found.level[1].latency.value, 14, 0.05));
        assert_true(is_near(found.level[2].latency.value, 20, 0.08));
        /* A program pays for both: the size of the second level ends by the time with the TLB in it. */
        assert_true(is_near(found.level[1].size.value, true_size(&with_tlb, 1), 0.1));
        assert_true(found.level[2].size.value < 1.05 * true_size(&with_tlb, 2));
        /* Without the twins the small edge cannot be told from a TLB's. */
        request.curves.spread = request.curves.packed = NULL;
        found = find(&request);
        assert_int_equal(found.count, 2);
        free(made);
    }
}

/* A dense walk finds reach / x of its entries however many ways the TLB has, and however close the twins are. */
static void test_reach_of_a_tlb_of_few_ways(void **state) {
    (void)state;
    made_up_machine machine = {.caches = {{32 * KIB, 4, 8, false}, {256 * KIB, 14, 8, false}, {4 * MIB, 40, 8, false}},
                               .cache_count = 3,
                               .memory = 200,
                               .reach = 256 * KIB,
                               .miss = 25,
                               .tlb_ways = 2};
    for (unsigned twins = 4; twins <= 16; twins *= 4)
        for (uint64_t seed = 0; seed < 3; seed++) {
            rounds *made = make_rounds(&machine, 8, 8, twins, seed);
            bj_hierarchy_request request = request_of(made, seed);
            bj_hierarchy found = find(&request);
            assert_int_equal(found.count, 3);
            for (size_t i = 0; i < 3; i++)
                assert_true(is_near(found.level[i].capacity.value, machine.caches[i].size, 0.125));
            assert_true(found.twin_step[0].rise > 0);
            assert_true(found.twin_step_count >= 2);
            assert_true(is_near(found.twin_step[0].first_x, machine.reach, 0.05));
            free(made);
        }
}

/* A round that was cut short may have measured one twin of an extent alone. */
static void test_a_twin_alone_says_nothing(void **state) {
    (void)state;
    rounds *made = make_rounds(&with_tlb, 8, 8, 4, 1);
    bj_hierarchy_request request = request_of(made, 1);
    double *packed[ROUNDS_MAX];
    for (size_t r = 0; r < made->round_count; r++)
        packed[r] = made->packed[r] + 1;
    made->packed_curve = curve_of(made->twin_x + 1, made->twin_count - 1, packed, made->round_count);
    made->spread_curve.x_count--;
    bj_hierarchy found = find(&request);
    assert_int_equal(found.count, 3);
    assert_true(is_near(found.level[2].latency.value, 20, 0.08));
    free(made);
}

/* A TLB so dear that by its shape alone it passes for a cache. */
static void test_twins_remove_a_dear_tlb(void **state) {
    (void)state;
    made_up_machine machine = {.caches = {{32 * KIB, 4.1, 8, false}, {8 * MIB, 12, 8, false}},
                               .cache_count = 2,
                               .memory = 400,
                               .reach = 256 * KIB,
                               .miss = 24};
    rounds *made = make_rounds(&machine, 8, 8, 4, 1);
    bj_hierarchy_request request = request_of(made, 1);
    bj_hierarchy found = find(&request);
    assert_int_equal(found.count, 2);
    assert_true(is_near(found.level[0].capacity.value, 32 * KIB, 0.125));
    assert_true(is_near(found.level[1].capacity.value, 8 * MIB, 0.125));
    request.curves.spread = request.curves.packed = NULL;
    found = find(&request);
    assert_int_equal(found.count, 3);
    free(made);
}

/* A TLB that ends the sizes of two levels, that of the third before its own plateau begins: the steps of the caches are
 * as plain as without it, and the size says how much the latency leaves open. */
static void test_sizes_that_a_tlb_ends(void **state) {
    (void)state;
    made_up_machine machine = {.caches = {{32 * KIB, 4, 8, false}, {256 * KIB, 12, 8, false}, {8 * MIB, 30, 8, false}},
                               .cache_count = 3,
                               .memory = 150,
                               .reach = 64 * KIB,
                               .miss = 30};
    rounds *made = make_rounds(&machine, 8, 8, 4, 1);
    bj_hierarchy_request request = request_of(made, 1);
    bj_hierarchy found = find(&request);
    assert_int_equal(found.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(is_near(found.level[i].capacity.value, machine.caches[i].size, 0.125));
        assert_true(found.level[i].p <= 0.01);
    }
    const bj_hierarchy_level *third = &found.level[2];
    assert_true(third->size.value < third->level.plateau_first_x);
    assert_true(third->size_range[0] < third->size.value && third->size.value < third->size_range[1]);
    assert_true(third->size.interval[0] <= third->size_range[0] && third->size.interval[1] >= third->size_range[1]);
    assert_true(found.level[0].size_range[1] < 1.1 * found.level[0].size_range[0]);
    free(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twins_tell_a_tlb_from_a_cache), cmocka_unit_test(test_reach_of_a_tlb_of_few_ways),
        cmocka_unit_test(test_a_twin_alone_says_nothing),     cmocka_unit_test(test_twins_remove_a_dear_tlb),
        cmocka_unit_test(test_sizes_that_a_tlb_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
