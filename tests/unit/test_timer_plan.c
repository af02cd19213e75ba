/* The plans of the kernel timer: pure data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "timer/plan.h"

enum { KIB = 1024, MIB = 1024 * 1024 };

static const bj_timer_caches caches = {.level_count = 3,
                                       .fits_bytes = {32 * KIB, 512 * KIB, 8 * MIB},
                                       .holds_bytes = {32 * KIB, 512 * KIB, 8 * MIB},
                                       .line_bytes = 64,
                                       .last_ways = 16};

static bj_timer_plan plan_of(const bj_timer_operand *operands, size_t count, bool many_calls) {
    bj_timer_request request = {.operands = operands,
                                .operand_count = count,
                                .caches = &caches,
                                .flush_bytes = 32 * MIB,
                                .sets_bytes = 32 * MIB,
                                .many_calls = many_calls};
    bj_timer_plan plan;
    bj_error error = {""};
    if (bj_timer_make_plan(&request, &plan, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return plan;
}

static const char *refusal_of(const bj_timer_operand *operand) {
    static bj_error error;
    bj_timer_request request = {
        .operands = operand, .operand_count = 1, .caches = &caches, .flush_bytes = 32 * MIB, .sets_bytes = 32 * MIB};
    bj_timer_plan plan;
    error.text[0] = '\0';
    assert_int_equal(bj_timer_make_plan(&request, &plan, &error), BJ_ERR_USAGE);
    return error.text;
}

static void test_flush_begins_at_four_ways_at_most(void **state) {
    (void)state;
    bj_timer_caches some = caches;
    assert_int_equal(bj_timer_begin_flush(&some), 4 * 8 * MIB);
    some.last_ways = 2;
    assert_int_equal(bj_timer_begin_flush(&some), 2 * 8 * MIB);
    some.last_ways = 0;
    assert_int_equal(bj_timer_begin_flush(&some), 4 * 8 * MIB);
}

/* Cold ones are written, then the flush, then what is in L2, then its sweeper, then what is warm. */
static void test_order_of_touches(void **state) {
    (void)state;
    const bj_timer_operand operands[] = {{.name = "w", .bytes = 4096, .residency = BJ_RESIDENT_WARM},
                                         {.name = "c", .bytes = 4096, .residency = BJ_RESIDENT_COLD},
                                         {.name = "l", .bytes = 8192, .residency = 2}};
    bj_timer_plan plan = plan_of(operands, 3, false);
    const bj_timer_action actions[] = {BJ_TOUCH_WRITE, BJ_TOUCH_READ,  BJ_TOUCH_WRITE, BJ_TOUCH_READ,
                                       BJ_TOUCH_READ,  BJ_TOUCH_WRITE, BJ_TOUCH_READ};
    const size_t areas[] = {1, BJ_AREA_FLUSH(&plan), 2, 2, BJ_AREA_SWEEPER(&plan), 0, 0};
    assert_int_equal(plan.touch_count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(plan.touches[i].action, actions[i]);
        assert_int_equal(plan.touches[i].area, areas[i]);
    }
    assert_int_equal(plan.touches[1].bytes, 32 * MIB);
    assert_int_equal(plan.touches[4].bytes, 64 * KIB); /* twice the first level */
    assert_true(bj_timer_has_level(&plan));
    /* Without cold operands nothing is flushed. */
    plan = plan_of(&operands[2], 1, false);
    assert_int_equal(plan.areas[BJ_AREA_FLUSH(&plan)].bytes, 0);
}

static void test_third_level_sweeps_both_nearer_ones(void **state) {
    (void)state;
    const bj_timer_operand operand = {.name = "x", .bytes = 1 * MIB, .residency = 3};
    bj_timer_plan plan = plan_of(&operand, 1, false);
    assert_int_equal(plan.areas[BJ_AREA_SWEEPER(&plan)].bytes, 2 * (32 + 512) * KIB);
}

static void test_lines_are_dropped_of_cold_operands_only(void **state) {
    (void)state;
    const bj_timer_operand operands[] = {{.name = "x", .bytes = 4096}, {.name = "y", .bytes = 64, .residency = -1}};
    bj_timer_request request = {.operands = operands,
                                .operand_count = 2,
                                .caches = &caches,
                                .flush_bytes = 32 * MIB,
                                .sets_bytes = 32 * MIB,
                                .by_lines = true};
    bj_timer_plan plan;
    assert_int_equal(bj_timer_make_plan(&request, &plan, NULL), BJ_OK);
    assert_int_equal(plan.touches[1].action, BJ_TOUCH_DROP_LINES);
    assert_int_equal(plan.touches[1].area, 0);
    assert_int_equal(plan.touches[2].area, 1);
    assert_int_equal(plan.areas[BJ_AREA_FLUSH(&plan)].bytes, 0);
}

/* Sets fill the flush area and are visited against the order of the kernel. */
static void test_sets_of_many_calls(void **state) {
    (void)state;
    const bj_timer_operand operands[] = {{.name = "up", .bytes = 8000},
                                         {.name = "down", .bytes = 8000, .access = BJ_ACCESS_DOWN},
                                         {.name = "stays", .bytes = 100, .residency = BJ_RESIDENT_WARM}};
    bj_timer_plan plan = plan_of(operands, 3, true);
    assert_true(plan.sets * 2 * 8000 >= 32 * (size_t)MIB);
    assert_int_equal(plan.areas[0].stride, -8000);
    assert_int_equal(plan.areas[1].stride, 8000);
    assert_int_equal(plan.areas[2].stride, 0);
    /* The last of the area first, and the walk ends at its start. */
    assert_int_equal(plan.areas[0].first + 8000, plan.areas[0].bytes);
    assert_true(plan.areas[0].first >= (plan.sets - 1) * 8000);
    assert_int_equal(plan.touches[0].action, BJ_TOUCH_WRITE_SETS);
    /* A warm operand has an area of its own, so the first flush is forced, and it is settled after it. */
    assert_int_equal(plan.touches[1].area, BJ_AREA_FLUSH(&plan));
    assert_int_equal(plan.touches[2].area, 2);
    assert_false(plan.shuffled);
    bj_timer_operand random = {.name = "r", .bytes = 64, .access = BJ_ACCESS_RANDOM};
    assert_true(plan_of(&random, 1, true).shuffled);
    random.residency = BJ_RESIDENT_WARM;
    assert_int_equal(plan_of(&random, 1, true).sets, 1);
}

static void test_threads_multiply_the_area(void **state) {
    (void)state;
    const bj_timer_operand operand = {.name = "x", .bytes = 64 * KIB};
    bj_timer_request request = {.operands = &operand,
                                .operand_count = 1,
                                .caches = &caches,
                                .flush_bytes = 32 * MIB,
                                .sets_bytes = 32 * MIB,
                                .many_calls = true};
    bj_timer_plan one, four;
    assert_int_equal(bj_timer_make_plan(&request, &one, NULL), BJ_OK);
    request.threads = 4;
    assert_int_equal(bj_timer_make_plan(&request, &four, NULL), BJ_OK);
    assert_int_equal(four.sets - 2, 4 * (one.sets - 2));
}

static void test_alignment(void **state) {
    (void)state;
    static const size_t asked[][2] = {{4, 16}, {16, 32}, {64, 128}, {8, 0}, {1, 2}, {2048, 4096}};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        bj_timer_operand operand = {.name = "x", .bytes = 1000, .align = asked[i][0], .misalign = asked[i][1]};
        bj_timer_operand all[4];
        for (size_t j = 0; j < 4; j++)
            all[j] = operand;
        for (int many = 0; many < 2; many++) {
            bj_timer_plan plan = plan_of(all, 4, many != 0);
            for (size_t j = 0; j < 4; j++) {
                const bj_timer_area *area = &plan.areas[j];
                for (size_t set = 0; set < (plan.sets < 5 ? plan.sets : 5); set++) {
                    size_t offset = area->first + (size_t)((ptrdiff_t)set * area->stride);
                    assert_int_equal(offset % asked[i][0], 0);
                    assert_true(asked[i][1] == 0 || offset % asked[i][1] != 0);
                    assert_true(offset + 1000 <= area->bytes);
                }
            }
        }
    }
}

static void test_what_cannot_be(void **state) {
    (void)state;
    bj_timer_operand operand = {.name = "x", .bytes = 0};
    assert_non_null(strstr(refusal_of(&operand), "0 bytes"));
    operand = (bj_timer_operand){.name = "x", .bytes = 8, .align = 3};
    assert_non_null(strstr(refusal_of(&operand), "power of two"));
    operand = (bj_timer_operand){.name = "x", .bytes = 8, .align = 32, .misalign = 16};
    assert_non_null(strstr(refusal_of(&operand), "more than align"));
    operand = (bj_timer_operand){.name = "x", .bytes = 480 * KIB, .residency = 2};
    assert_non_null(strstr(refusal_of(&operand), "no nearer"));
    operand = (bj_timer_operand){.name = "x", .bytes = 8, .residency = 4};
    assert_non_null(strstr(refusal_of(&operand), "only 3 levels"));
    operand = (bj_timer_operand){.name = "x", .bytes = 64 * KIB, .residency = 1};
    assert_non_null(strstr(refusal_of(&operand), "L1"));
}

static void test_names_of_residency(void **state) {
    (void)state;
    static const char *const names[] = {"cold", "warm", "L1", "L3"};
    for (size_t i = 0; i < 4; i++) {
        int residency;
        char text[8];
        assert_true(bj_timer_parse_residency(names[i], &residency));
        bj_timer_name_residency(residency, text, sizeof text);
        assert_string_equal(text, names[i]);
    }
    int residency;
    assert_false(bj_timer_parse_residency("L0", &residency));
    assert_false(bj_timer_parse_residency("L22", &residency));
    assert_false(bj_timer_parse_residency("hot", &residency));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flush_begins_at_four_ways_at_most),
        cmocka_unit_test(test_order_of_touches),
        cmocka_unit_test(test_third_level_sweeps_both_nearer_ones),
        cmocka_unit_test(test_lines_are_dropped_of_cold_operands_only),
        cmocka_unit_test(test_sets_of_many_calls),
        cmocka_unit_test(test_threads_multiply_the_area),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_what_cannot_be),
        cmocka_unit_test(test_names_of_residency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
