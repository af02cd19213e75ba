/* The 2012 paper's line (3.1.1) and associativity (3.1.3), by the biggest step (4.2.2). */
#include "paper_fixture.h"

static double ask_line(json_t *file) {
    bj_answers answers = ASK(file, "paper", "line");
    double line = number_of(&answers, "cache.line_bytes");
    bj_data_free_answers(&answers);
    return line;
}

static void test_lines(void **state) {
    (void)state;
    for (unsigned line = 32; line <= 256; line *= 2) {
        json_t *file = load_machine("core2_duo"), *caches = json_object_get(file, "caches");
        for (size_t i = 0; i < json_array_size(caches); i++)
            json_object_set_new(json_array_get(caches, i), "line", json_integer(line));
        assert_true(ask_line(file) == line);
    }
}

/* "On some architectures the cache fetches two consecutive lines upon a miss": reported as twice the size. */
static void test_two_lines_a_miss(void **state) {
    (void)state;
    assert_true(ask_line(load_machine("adjacent_line")) == 128);
}

/* Today: a prefetcher learns that a load is followed by another so and so far away, and the second is free for many
 * lines. The same machine by our default has lines of 64 bytes. */
static void test_a_region_prefetcher(void **state) {
    (void)state;
    assert_true(ask_line(load_machine("region_prefetch")) >= 256);
    bj_machine *machine = open_zoo_machine("region_prefetch");
    bj_answers answers = {0};
    put_number(&answers, "cache.levels", 1);
    put_number(&answers, "cache.L1.size_bytes", 32768);
    put_number(&answers, "cache.L1.capacity_bytes", 32768);
    run_probe("line", machine, &answers);
    ASSERT_NUMBER(&answers, "cache.line_bytes", 64);
    bj_data_free_answers(&answers);
    close_machine(machine);
}

/* The ways of the first level, told its size. */
static bj_answers ask_ways(const char *name, double size_bytes) {
    bj_machine *machine = open_zoo_machine(name);
    bj_answers answers = {0};
    put_number(&answers, "cache.levels", 1);
    put_number(&answers, "cache.L1.size_bytes", size_bytes);
    put_number(&answers, "cache.line_bytes", 64);
    ask("paper", "associativity", machine, &answers);
    close_machine(machine);
    return answers;
}

static void test_ways(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        double kib, ways;
    } cases[] = {
        {"core2_duo", 32, 8}, {"athlon_3200", 64, 2}, {"atom", 24, 6}, {"itanium2", 16, 4}, {"three_way", 48, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bj_answers answers = ask_ways(cases[i].machine, cases[i].kib * KIB);
        ASSERT_NUMBER(&answers, "cache.L1.associativity", cases[i].ways);
        bj_data_free_answers(&answers);
    }
}

/* It takes the exact size: an eighth off, lines do not meet in one set. */
static void test_ways_of_a_size_that_is_off(void **state) {
    (void)state;
    bj_answers answers = ask_ways("core2_duo", 0.88 * 32 * KIB);
    assert_false(number_of(&answers, "cache.L1.associativity") == 8);
    bj_data_free_answers(&answers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_two_lines_a_miss),
        cmocka_unit_test(test_a_region_prefetcher),
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_ways_of_a_size_that_is_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
