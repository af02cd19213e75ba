/* The 2012 paper's cache sizes and latencies (3.1.2, 4.2.3, 5): page by page with a stride of one line, and clusters.
 */
#include "paper_fixture.h"

/* Caches and memory: a level a cluster, and one more. */
static void test_a_cluster_a_cache(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        double levels, first_bytes, second_ns, memory_ns; /* as the machine files have it */
    } cases[] = {{"core2_duo", 2, 32 * KIB, 5.83, 73}, {"atom", 2, 24 * KIB, 10, 87}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bj_answers answers = ASK(load_machine(cases[i].machine), "paper", "cache");
        ASSERT_NUMBER(&answers, "cache.levels", cases[i].levels);
        ASSERT_WITHIN(&answers, "cache.L1.size_bytes", 0.9 * cases[i].first_bytes, cases[i].first_bytes);
        /* The smallest of a cluster of a quarter of its average. */
        ASSERT_WITHIN(&answers, "cache.L2.latency_ns", 0.75 * cases[i].second_ns, 1.05 * cases[i].second_ns);
        ASSERT_WITHIN(&answers, "memory.latency_ns", 0.75 * cases[i].memory_ns, 1.05 * cases[i].memory_ns);
        bj_data_free_answers(&answers);
    }
}

/* "An L3 of size just under 4MiB and a fourth level of cache with a size just under 32 MiB." */
static void test_power7(void **state) {
    (void)state;
    bj_answers answers = ASK(load_machine("power7"), "paper", "cache");
    ASSERT_NUMBER(&answers, "cache.levels", 4);
    ASSERT_WITHIN(&answers, "cache.L3.size_bytes", 2 * MIB, 4 * MIB);
    ASSERT_WITHIN(&answers, "cache.L4.size_bytes", 16 * MIB, 32 * MIB);
    bj_data_free_answers(&answers);
}

/* Random frames take from what a program can use; where the system colours pages all of it is there. */
static void test_power7_with_coloured_pages(void **state) {
    (void)state;
    json_t *file = load_machine("power7");
    json_object_set_new(json_object_get(file, "page"), "frames", json_string("coloured"));
    bj_answers answers = ASK(file, "paper", "cache");
    ASSERT_NUMBER(&answers, "cache.levels", 4);
    ASSERT_NUMBER(&answers, "cache.L3.size_bytes", 4 * MIB);
    ASSERT_NUMBER(&answers, "cache.L4.size_bytes", 32 * MIB);
    bj_data_free_answers(&answers);
}

static json_t *machine_of_lines(unsigned bytes) {
    json_t *file = load_machine("core2_duo"), *caches = json_object_get(file, "caches");
    for (size_t i = 0; i < json_array_size(caches); i++)
        json_object_set_new(json_array_get(caches, i), "line", json_integer(bytes));
    return file;
}

/* The stride is one line, so that none is visited twice: the second visit would hit. */
static void test_stride_is_the_line(void **state) {
    (void)state;
    for (unsigned line = 32; line <= 256; line *= 2) {
        bj_machine *machine = open_changed(machine_of_lines(line));
        bj_curves samples = {0};
        bj_answers answers = {0};
        measure_samples("qt_cluster", "cache", machine, NULL, &samples);
        const bj_curve *walk = bj_data_find_curve(&samples, "cache.walk");
        double stride = 0;
        assert_true(walk != NULL && bj_data_get_attribute_number(walk, "stride_bytes", &stride));
        assert_true(stride == line);
        analyse_samples("qt_cluster", "cache", &samples, &answers);
        ASSERT_WITHIN(&answers, "cache.L2.latency_ns", 0.75 * 5.83, 1.05 * 5.83);
        ASSERT_WITHIN(&answers, "memory.latency_ns", 0.75 * 73, 1.05 * 85);
        bj_data_free_answers(&answers);
        bj_data_free_curves(&samples);
        close_machine(machine);
    }
}

/* Today: a prefetcher that learns regions sees most of a page coming, and the second level looks nearly as fast as the
 * first. Fully random order, which is our default, does not feed it. */
static void test_a_region_prefetcher(void **state) {
    (void)state;
    bj_answers paper = ASK(load_machine("region_prefetch"), "paper", "cache");
    bj_answers own = ASK(load_machine("region_prefetch"), NULL, "cache");
    json_t *truths = load_truths();
    json_t *truth = json_object_get(json_object_get(truths, "region_prefetch"), "characteristics");
    double ns = json_number_value(json_object_get(truth, "cache.L2.latency_ns"));
    ASSERT_WITHIN(&own, "cache.L2.latency_ns", 0.9 * ns, 1.1 * ns);
    ASSERT_WITHIN(&paper, "cache.L2.latency_ns", 0, 0.9 * ns);
    json_decref(truths);
    bj_data_free_answers(&paper);
    bj_data_free_answers(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cluster_a_cache),          cmocka_unit_test(test_power7),
        cmocka_unit_test(test_power7_with_coloured_pages), cmocka_unit_test(test_stride_is_the_line),
        cmocka_unit_test(test_a_region_prefetcher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
