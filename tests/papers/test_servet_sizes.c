/* Servet III-A and IV-A: mcalibrator's walk, its gradients, and ten of ten cache sizes over four machines. */
#include "paper_fixture.h"

static void assert_sizes(const char *machine, const char *way, size_t count, const double *kib) {
    bj_answers answers = ASK(load_machine(machine), way, "cache");
    ASSERT_NUMBER(&answers, "cache.levels", (double)count);
    for (size_t i = 0; i < count; i++) {
        char key[48];
        snprintf(key, sizeof key, "cache.L%zu.capacity_bytes", i + 1);
        ASSERT_NUMBER(&answers, key, kib[i] * KIB);
    }
    bj_data_free_answers(&answers);
}

static void test_ten_of_ten(void **state) {
    (void)state;
    assert_sizes("dempsey", "servet", 2, (const double[]){16, 2048});
    assert_sizes("dunnington", "servet", 3, (const double[]){32, 3072, 12288});
    assert_sizes("athlon_3200", "servet", 2, (const double[]){64, 512});
    assert_sizes("finis_terrae", "servet", 3, (const double[]){16, 256, 9216});
}

/* "A 1MB L2 cache would be erroneously estimated looking at the mcalibrator outputs." */
static void test_dempsey_by_its_peak(void **state) {
    (void)state;
    bj_answers answers = ASK(load_machine("dempsey"), "gradient_peaks", "cache");
    ASSERT_NUMBER(&answers, "cache.L1.size_bytes", 16 * KIB);
    ASSERT_NUMBER(&answers, "cache.L2.size_bytes", 1 * MIB);
    bj_data_free_answers(&answers);
}

/* The formula as printed is the share of page sets that are overfull, not that of accesses that miss: 11 MB. */
static void test_dunnington_by_the_printed_formula(void **state) {
    (void)state;
    bj_answers answers = ASK(load_machine("dunnington"), "binomial_size_literal", "cache");
    ASSERT_NUMBER(&answers, "cache.L3.capacity_bytes", 11 * MIB);
    bj_data_free_answers(&answers);
}

/* The sizes are figure 1's: doubling up to 2 MB, then 1 MB more each. */
static void test_grid(void **state) {
    (void)state;
    bj_machine *machine = open_zoo_machine("dempsey");
    bj_curves samples = {0};
    measure_samples("binomial_size", "cache", machine, NULL, &samples);
    const bj_curve *walk = bj_data_find_curve(&samples, "cache.walk");
    assert_non_null(walk);
    for (size_t i = 1; i < walk->x_count; i++)
        assert_true(walk->x[i] == (walk->x[i - 1] < 2 * MIB ? 2 * walk->x[i - 1] : walk->x[i - 1] + MIB));
    assert_true(walk->x[walk->x_count - 1] >= 30 * MIB);
    bj_data_free_curves(&samples);
    close_machine(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ten_of_ten), cmocka_unit_test(test_dempsey_by_its_peak),
                                       cmocka_unit_test(test_dunnington_by_the_printed_formula),
                                       cmocka_unit_test(test_grid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
