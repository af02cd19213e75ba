/* Which cpus make a chip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/diagnose.h"

static void put(bj_answers *answers, const char *key, double value, const char *structured) {
    bj_answer *answer;
    bj_error error;
    assert_int_equal(bj_data_put_answer(answers, key, "", &answer, &error), BJ_OK);
    answer->value = value;
    answer->structured = structured != NULL ? strdup(structured) : NULL;
}

static void expect_chip(const bj_answers *answers, size_t cpus, size_t chips, const int *expected, size_t sharers) {
    static const int allowed[] = {0, 1, 2, 3, 4, 5};
    bj_diagnose_chip chip;
    bj_error error = {""};
    assert_int_equal(bj_diagnose_find_chip(answers, allowed, 6, &chip, &error), BJ_OK);
    assert_int_equal(chip.count, cpus);
    assert_int_equal(chip.chips, chips);
    assert_int_equal(chip.cache_sharers, sharers);
    assert_memory_equal(chip.cpus, expected, cpus * sizeof(int));
    bj_diagnose_free_chip(&chip);
}

/* Pairs that share a second level, as in many chips of one socket, are no chips where the third is of all. */
static void clusters_under_one_cache_are_one_chip(void **state) {
    (void)state;
    bj_answers answers = {0};
    put(&answers, "cache.L1.size_bytes", 32768, NULL);
    put(&answers, "cache.L2.size_bytes", 1 << 20, NULL);
    put(&answers, "cache.L3.size_bytes", 6 << 20, NULL);
    put(&answers, "cache.L1.sharing", 0, "[]");
    put(&answers, "cache.L2.sharing", 0, "[[0, 1], [2, 3], [4, 5]]");
    put(&answers, "topology.tree", 0,
        "{\"cpus\": [0, 1, 2, 3, 4, 5], \"children\": [{\"cpus\": [0, 1]}, {\"cpus\": [2, 3]}, {\"cpus\": [4, 5]}]}");
    expect_chip(&answers, 2, 3, (const int[]){0, 1}, 2);
    put(&answers, "cache.L3.sharing", 0, "[[0, 1, 2, 3, 4, 5]]");
    expect_chip(&answers, 6, 1, (const int[]){0, 1, 2, 3, 4, 5}, 6);
    bj_data_free_answers(&answers);
}

/* A part of one core beside others is no chip, and those of two are. */
static void parts_of_two_cores_are_chips(void **state) {
    (void)state;
    bj_answers answers = {0};
    put(&answers, "cache.L2.size_bytes", 1 << 20, NULL);
    put(&answers, "cache.L2.sharing", 0, "[[2, 3], [4, 5]]");
    put(&answers, "topology.tree", 0,
        "{\"cpus\": [0, 1, 2, 3, 4, 5], \"children\": [{\"cpus\": [2, 3]}, {\"cpus\": [4, 5]}]}");
    expect_chip(&answers, 2, 2, (const int[]){2, 3}, 2);
    bj_data_free_answers(&answers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(clusters_under_one_cache_are_one_chip),
                                       cmocka_unit_test(parts_of_two_cores_are_chips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
