/* Threads placed by the library: the public header and the shared library alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <blackjack/blackjack.h>

static const char head[] = "{\"format\": \"blackjack-profile/1\", \"created\": \"2026-11-15T07:00:00Z\", "
                           "\"environment\": {\"cpus_allowed\": [2, 0, 1]}, \"characteristics\": {";

static bj_lib_profile *parse(const char *start, const char *answers) {
    size_t room = strlen(start) + strlen(answers) + 4;
    char *text = malloc(room);
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    assert_non_null(text);
    int length = snprintf(text, room, "%s%s}}", start, answers);
    bj_lib_parse_profile(text, (size_t)length, &profile, &error);
    assert_string_equal(error.text, "");
    free(text);
    return profile;
}

static void expect_cpus(const int *cpus, size_t count, const int *wanted) {
    for (size_t i = 0; i < count; i++)
        assert_int_equal(cpus[i], wanted[i]);
}

#define EXPECT(cpus, ...) expect_cpus(cpus, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (const int[]){__VA_ARGS__})

static const char two_pairs[] = "\"topology.tree\": {\"value\": {\"cpus\": [0, 1, 2, 3], \"children\": [{\"cpus\": [0, "
                                "2]}, {\"cpus\": [1, 3]}]}, \"unit\": \"\", \"status\": \"ok\", \"confidence\": "
                                "\"high\"}";

static void by_the_tree(void **state) {
    (void)state;
    bj_lib_profile *profile = parse(head, two_pairs);
    int cpus[6] = {-7, -7, -7, -7, -7, -7};
    assert_int_equal(bj_lib_place_threads(profile, 2, BJ_LIB_PLACE_NEAR, cpus, NULL), BJ_LIB_OK);
    EXPECT(cpus, 0, 2, -7);
    assert_int_equal(bj_lib_place_threads(profile, 2, BJ_LIB_PLACE_SPREAD, cpus, NULL), BJ_LIB_OK);
    EXPECT(cpus, 0, 1, -7);
    assert_int_equal(bj_lib_place_threads(profile, 6, BJ_LIB_PLACE_NEAR, cpus, NULL), BJ_LIB_OK);
    EXPECT(cpus, 0, 2, 1, 3, 0, 2);
    assert_int_equal(bj_lib_place_threads(profile, 0, BJ_LIB_PLACE_NEAR, NULL, NULL), BJ_LIB_OK);
    assert_int_equal(bj_lib_place_threads(profile, 2, (bj_lib_placement)7, cpus, NULL), BJ_LIB_ERR_USAGE);
    bj_lib_close_profile(profile);
}

/* Without a tree that is sure: the system's order, and it is said. */
static void without_a_tree(void **state) {
    (void)state;
    static const char *const answers[] = {
        "\"a.b\": {\"value\": 1, \"unit\": \"\", \"status\": \"ok\"}",
        "\"topology.tree\": {\"value\": null, \"unit\": \"\", \"status\": \"undetermined\", \"reason\": \"one cpu\"}",
        "\"topology.tree\": {\"value\": {\"cpus\": [5]}, \"unit\": \"\", \"status\": \"ok\", \"confidence\": \"low\"}",
        "\"topology.tree\": {\"value\": {\"cpus\": [5, 5]}, \"unit\": \"\", \"status\": \"ok\"}",
        "\"topology.tree\": {\"value\": [[5]], \"unit\": \"\", \"status\": \"ok\"}",
        "\"topology.tree\": {\"value\": 5, \"unit\": \"\", \"status\": \"ok\"}",
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        bj_lib_profile *profile = parse(head, answers[i]);
        int cpus[4] = {-7, -7, -7, -7};
        bj_lib_error error = {""};
        assert_int_equal(bj_lib_place_threads(profile, 4, BJ_LIB_PLACE_SPREAD, cpus, &error), BJ_LIB_ERR_UNANSWERED);
        EXPECT(cpus, 0, 1, 2, 0);
        assert_non_null(strstr(error.text, "topology.tree"));
        assert_non_null(strstr(error.text, "system's order"));
        bj_lib_close_profile(profile);
    }
    bj_lib_profile *profile = parse("{\"format\": \"blackjack-profile/1\", \"characteristics\": {", answers[0]);
    int cpu = -7;
    assert_int_equal(bj_lib_place_threads(profile, 1, BJ_LIB_PLACE_NEAR, &cpu, NULL), BJ_LIB_ERR_NOT_FOUND);
    assert_int_equal(cpu, -7);
    bj_lib_close_profile(profile);
}

/* Two sockets of eight clusters of eight cores of two threads, whose numbers are 128 apart. */
static char *make_large_tree(void) {
    char *text = malloc(60000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "\"topology.tree\": {\"unit\": \"\", \"status\": \"ok\", \"value\": {\"cpus\": [0");
    for (int cpu = 1; cpu < 256; cpu++)
        at += sprintf(at, ", %d", cpu);
    at += sprintf(at, "], \"children\": [");
    for (int width = 64, socket = 0; socket < 128; socket += width) {
        at += sprintf(at, "%s{\"cpus\": [%d", socket > 0 ? ", " : "", socket);
        for (int i = 1; i < 2 * width; i++)
            at += sprintf(at, ", %d", i < width ? socket + i : socket + i + 64);
        at += sprintf(at, "], \"children\": [");
        for (int cluster = socket; cluster < socket + width; cluster += 8) {
            at += sprintf(at, "%s{\"cpus\": [%d", cluster > socket ? ", " : "", cluster);
            for (int i = 1; i < 16; i++)
                at += sprintf(at, ", %d", i < 8 ? cluster + i : cluster + i + 120);
            at += sprintf(at, "], \"children\": [");
            for (int core = cluster; core < cluster + 8; core++)
                at += sprintf(at, "%s{\"cpus\": [%d, %d]}", core > cluster ? ", " : "", core, core + 128);
            at += sprintf(at, "]}");
        }
        at += sprintf(at, "]}");
    }
    at += sprintf(at, "]}}, \"cache.L1.sharing\": {\"unit\": \"groups\", \"status\": \"ok\", \"value\": [[0, 128]");
    for (int core = 1; core < 128; core++)
        at += sprintf(at, ", [%d, %d]", core, core + 128);
    sprintf(at, "]}");
    return text;
}

static void large_and_fast(void **state) {
    (void)state;
    char *text = make_large_tree();
    bj_lib_profile *profile = parse(head, text);
    int cpus[256], met[256] = {0};
    assert_int_equal(bj_lib_place_threads(profile, 4, BJ_LIB_PLACE_NEAR, cpus, NULL), BJ_LIB_OK);
    EXPECT(cpus, 0, 128, 1, 129);
    assert_int_equal(bj_lib_place_threads(profile, 256, BJ_LIB_PLACE_SPREAD, cpus, NULL), BJ_LIB_OK);
    EXPECT(cpus, 0, 64, 8, 72);
    for (int i = 0; i < 256; i++) {
        met[cpus[i]]++;
        assert_int_equal(cpus[i] < 128, i < 128); /* one a core first */
    }
    for (int i = 0; i < 256; i++)
        assert_int_equal(met[i], 1);
    clock_t begin = clock();
    for (int i = 0; i < 20; i++)
        assert_int_equal(bj_lib_place_threads(profile, 200, (bj_lib_placement)(i % 2), cpus, NULL), BJ_LIB_OK);
    double ms = (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC / 20;
    print_message("%.2f ms to place 200 threads on 256 cpus\n", ms);
    assert_true(ms < 50); /* it takes 1 */
    bj_lib_close_profile(profile);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_the_tree),
        cmocka_unit_test(without_a_tree),
        cmocka_unit_test(large_and_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
