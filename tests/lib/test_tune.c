/* The tuning model by the public header: a core from a profile, and blocks by arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include <blackjack/blackjack.h>

static const struct {
    const char *key, *value;
} answers[] = {
    {"vector.width_bytes", "32"},   {"op.doublex4.fma.latency", "4.002"}, {"op.doublex4.fma.throughput", "1.999"},
    {"live.doublex4", "16"},        {"op.double.add.latency", "3"},       {"op.double.add.throughput", "2"},
    {"op.double.mul.latency", "4"}, {"op.double.mul.throughput", "2"},    {"live.double", "15"},
    {"op.load.throughput", "2"},    {"op.store.throughput", "1"},         {"cache.L1.size_bytes", "32768"},
    {"cache.line_bytes", "64"},     {"cache.L2.latency_cycles", "14"}};

static bj_lib_profile *open_whole(void) {
    char text[4096];
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    int length = snprintf(text, sizeof text,
                          "{\"format\": \"blackjack-profile/1\", \"created\": \"2026-11-15T07:00:00Z\", "
                          "\"environment\": {\"cpus_allowed\": [0]}, \"characteristics\": {");
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "%s\"%s\": {\"value\": %s, \"unit\": \"\", \"status\": \"ok\", \"confidence\": \"high\"}",
                           i > 0 ? ", " : "", answers[i].key, answers[i].value);
    length += snprintf(text + length, sizeof text - (size_t)length, "}}");
    bj_lib_parse_profile(text, (size_t)length, &profile, &error);
    assert_string_equal(error.text, "");
    return profile;
}

static void test_core(void **state) {
    (void)state;
    bj_lib_profile *profile = open_whole();
    bj_lib_core core = {.struct_size = sizeof core};
    bj_lib_core_options options = {.struct_size = sizeof options};
    bj_lib_error error = {""};
    assert_int_equal(bj_lib_read_core(profile, NULL, &core, &error), BJ_LIB_OK);
    assert_int_equal(core.lanes, 4);
    assert_int_equal(core.registers, 16);
    assert_int_equal(core.element_bytes, 8);
    assert_int_equal(core.l1_bytes, 32768);
    assert_int_equal(core.l2_bytes, 0);
    /* Scalars of a compiler without multiply-add: product and sum share their units. */
    options.vector_bytes = 8;
    options.separate = true;
    assert_int_equal(bj_lib_read_core(profile, &options, &core, &error), BJ_LIB_OK);
    assert_int_equal(core.lanes, 1);
    assert_int_equal(core.registers, 15);
    assert_true(fabs(core.latency - 3) < 1e-9 && fabs(core.per_cycle - 1) < 1e-9);
    /* What the profile lacks is named, with its probe. */
    options = (bj_lib_core_options){.struct_size = sizeof options, .type = "float"};
    assert_int_equal(bj_lib_read_core(profile, &options, &core, &error), BJ_LIB_ERR_UNANSWERED);
    assert_non_null(strstr(error.text, "op.floatx8.fma.latency"));
    assert_non_null(strstr(error.text, "blackjack run vector"));
    assert_int_equal(core.lanes, 0);
    assert_true(isnan(bj_lib_loop_cycles(&core, &(bj_lib_loop){.loads = 1})));
    options.type = "half";
    assert_int_equal(bj_lib_read_core(profile, &options, &core, NULL), BJ_LIB_ERR_USAGE);
    core.struct_size = 4;
    assert_int_equal(bj_lib_read_core(profile, NULL, &core, NULL), BJ_LIB_ERR_USAGE);
    bj_lib_close_profile(profile);
}

static void test_arithmetic(void **state) {
    (void)state;
    bj_lib_profile *profile = open_whole();
    bj_lib_core core = {.struct_size = sizeof core};
    unsigned m, n, rows = 0, columns = 0;
    assert_int_equal(bj_lib_read_core(profile, NULL, &core, NULL), BJ_LIB_OK);
    assert_int_equal(bj_lib_least_sums(&core), 8);
    assert_int_equal(bj_lib_steps_ahead(&core, 6), 3);
    /* One sum waits for its latency; eight of them do not. */
    assert_true(fabs(bj_lib_loop_cycles(&core, &(bj_lib_loop){.arithmetic = 1, .loads = 2, .chain = 1}) - 4.002) <
                1e-9);
    assert_true(fabs(bj_lib_loop_cycles(&core, &(bj_lib_loop){.arithmetic = 8, .loads = 16, .chain = 1}) - 8) < 1e-9);
    assert_int_equal(bj_lib_fit_tile(&core, &rows, &columns, NULL), BJ_LIB_OK);
    assert_true(rows * columns + rows + 1 <= 16 && rows * columns >= 8);
    bj_lib_fit_places(4096, &m, &n);
    assert_int_equal(m, 63);
    assert_int_equal(n, 63);
    /* The paper's 56, and a transpose: a block that is written, and one that is read line by line. */
    bj_lib_footprint footprint = {.squares = 1, .rows = 1, .strided = 1, .multiple = 4};
    assert_int_equal(bj_lib_fit_block(&core, core.l1_bytes, &footprint), 56);
    footprint = (bj_lib_footprint){.squares = 1, .strided = 1, .multiple = 8, .most = 63};
    assert_int_equal(bj_lib_fit_block(&core, core.l1_bytes, &footprint), 56);
    footprint.most = 47;
    assert_int_equal(bj_lib_fit_block(&core, core.l1_bytes, &footprint), 40);
    /* Rows of a stencil: 4 of 1,024 doubles are 32 KiB. */
    footprint = (bj_lib_footprint){.rows = 4};
    assert_int_equal(bj_lib_fit_block(&core, core.l1_bytes, &footprint), 1024);
    footprint = (bj_lib_footprint){.squares = 1, .multiple = 128};
    assert_int_equal(bj_lib_fit_block(&core, core.l1_bytes, &footprint), 0);
    core.registers = 2;
    assert_int_equal(bj_lib_fit_tile(&core, &rows, &columns, NULL), BJ_LIB_ERR_USAGE);
    bj_lib_close_profile(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_core), cmocka_unit_test(test_arithmetic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
