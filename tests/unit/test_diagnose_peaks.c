/* Attainable peaks from answers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnose/peaks.h"

static void put(bj_answers *answers, const char *key, double value) {
    bj_answer *answer;
    bj_error error;
    assert_int_equal(bj_data_put_answer(answers, key, "", &answer, &error), BJ_OK);
    answer->value = value;
}

static void refuse(bj_answers *answers, const char *key) {
    put(answers, key, 999);
    answers->items[answers->count - 1].status = BJ_ANSWER_UNDETERMINED;
}

/* The paper's Barcelona: 2.3 GHz, two vectors of two doubles a cycle. */
static void finds_the_best_of_each(void **state) {
    (void)state;
    bj_answers answers = {0};
    bj_peaks peaks;
    put(&answers, "cpu.clock_ghz", 2.3);
    put(&answers, "op.int32.add.throughput", 3);
    put(&answers, "op.int32.div.throughput", 0.05);
    put(&answers, "op.double.add.throughput", 1);
    put(&answers, "op.doublex2.add.throughput", 1);
    put(&answers, "op.doublex2.fma.throughput", 0.75);
    put(&answers, "op.floatx4.add.throughput", 2);
    refuse(&answers, "op.doublex8.fma.throughput");
    put(&answers, "op.load.throughput", 2);
    put(&answers, "cache.L1.read_gbs", 35);
    put(&answers, "cache.L3.read_gbs", 9);
    put(&answers, "memory.read_gbs", 4.6);
    put(&answers, "memory.full.read_gbs", 2.3);
    bj_diagnose_find_peaks(&answers, 16, &peaks);
    assert_float_equal(peaks.instructions_per_cycle, 3, 0);
    assert_string_equal(peaks.instructions_of, "op.int32.add.throughput");
    assert_float_equal(peaks.flops_per_cycle, 3, 1e-12); /* 0.75 fma of two doubles, two flops each */
    assert_string_equal(peaks.flops_of, "op.doublex2.fma.throughput");
    assert_float_equal(peaks.loads_per_cycle, 2, 0);
    assert_float_equal(peaks.gflops, 6.9, 1e-12);
    assert_int_equal(peaks.roof_count, 3);
    assert_string_equal(peaks.roofs[1].from, "L3");
    assert_string_equal(peaks.roofs[2].from, "memory");
    assert_float_equal(peaks.roofs[2].all_gbs, 36.8, 1e-9);
    assert_float_equal(peaks.roofs[2].ridge, 1.5, 1e-9);
    assert_true(isnan(peaks.roofs[0].all_gbs));
    bj_data_free_answers(&answers);
}

static void compares_a_program(void **state) {
    (void)state;
    bj_peaks peaks = {.clock_ghz = 2, .flops_per_cycle = 4, .gflops = 8, .roof_count = 1};
    peaks.roofs[0] = (bj_peak_roof){.from = "memory", .cpu_gbs = 4, .ridge = 2};
    bj_peak_standing standing;
    /* Two cpus for two seconds: 1 GB/s and 0.5 Gflop/s each. */
    bj_diagnose_compare_to_peaks(&peaks, &(bj_peak_work){.flops = 2e9, .bytes = 4e9, .seconds = 2, .cpus = 2},
                                 &standing);
    assert_float_equal(standing.gflops, 0.5, 1e-12);
    assert_float_equal(standing.flops_per_cycle, 0.25, 1e-12);
    assert_float_equal(standing.flops_share, 0.0625, 1e-12);
    assert_float_equal(standing.bytes_share, 0.25, 1e-12);
    /* Half a flop a byte: memory would allow 2 Gflop/s. */
    assert_true(standing.below_ridge);
    assert_float_equal(standing.roof_share, 0.25, 1e-12);
    bj_diagnose_compare_to_peaks(&peaks, &(bj_peak_work){.flops = 32e9, .bytes = 4e9, .seconds = 4, .cpus = 1},
                                 &standing);
    assert_false(standing.below_ridge);
    assert_float_equal(standing.roof_share, 1, 1e-12);
    bj_diagnose_compare_to_peaks(&peaks, &(bj_peak_work){.flops = NAN, .bytes = 4e9, .seconds = 1, .cpus = 1},
                                 &standing);
    assert_true(isnan(standing.roof_share));
    assert_float_equal(standing.bytes_share, 1, 1e-12);
}

static void knows_nothing_from_nothing(void **state) {
    (void)state;
    bj_answers none = {0};
    bj_peaks peaks;
    bj_diagnose_find_peaks(&none, 0, &peaks);
    assert_true(isnan(peaks.flops_per_cycle) && isnan(peaks.instructions_per_cycle) && isnan(peaks.gflops));
    assert_int_equal(peaks.roof_count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_best_of_each), cmocka_unit_test(compares_a_program),
                                       cmocka_unit_test(knows_nothing_from_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
