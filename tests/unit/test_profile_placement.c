/* In which order threads fill the cpus of a tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/placement.h"
#include "profile_fixture.h"

static void put(bj_profile *profile, const char *key, const char *json) {
    bj_answer *answer;
    assert_int_equal(bj_data_put_answer(&profile->answers, key, "", &answer, NULL), BJ_OK);
    answer->structured = strdup(json);
}

static bool take_all(const void *context, const bj_answer *answer) {
    (void)context;
    return answer->confidence != BJ_CONFIDENCE_LOW;
}

/* "0 4 1": what so many threads get. */
static const char *place(const bj_profile *profile, bj_cpu_order order, size_t count) {
    static char text[4096];
    int *cpus;
    size_t placed, used = 0;
    bj_error error = {""};
    const bj_answer *tree = bj_data_find_answer(&profile->answers, "topology.tree");
    bj_status status = bj_profile_place_by_answers(profile, tree, order, count, take_all, NULL, &cpus, &placed, &error);
    if (status != BJ_OK)
        return strcpy(text, error.text);
    text[0] = '\0';
    for (size_t i = 0; i < placed; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i > 0 ? " %d" : "%d", cpus[i]);
    free(cpus);
    return text;
}

/* Four sockets of six, whose second levels are pairs with numbers far apart: {0, 12} below {0, 1, 2, 12, 13, 14}. */
static void put_dunnington(bj_profile *profile) {
    char text[2000], *at = text;
    at += sprintf(at, "{\"cpus\": [0");
    for (int cpu = 1; cpu < 24; cpu++)
        at += sprintf(at, ", %d", cpu);
    at += sprintf(at, "], \"children\": [");
    for (int first = 0; first < 12; first += 3) {
        at += sprintf(at, "%s{\"cpus\": [%d, %d, %d, %d, %d, %d], \"children\": [", first > 0 ? ", " : "", first,
                      first + 1, first + 2, first + 12, first + 13, first + 14);
        for (int pair = first; pair < first + 3; pair++)
            at += sprintf(at, "%s{\"cpus\": [%d, %d]}", pair > first ? ", " : "", pair, pair + 12);
        at += sprintf(at, "]}");
    }
    sprintf(at, "]}");
    put(profile, "topology.tree", text);
}

static void dunnington(void **state) {
    put_dunnington(*state);
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 2), "0 12");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 6), "0 12 1 13 2 14");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 7), "0 12 1 13 2 14 3");
    assert_string_equal(place(*state, BJ_ORDER_SPREAD, 4), "0 3 6 9");
    assert_string_equal(place(*state, BJ_ORDER_SPREAD, 13), "0 3 6 9 1 4 7 10 2 5 8 11 12");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 0),
                        "0 12 1 13 2 14 3 15 4 16 5 17 6 18 7 19 8 20 9 21 10 22 11 23");
}

/* The part that is just large enough, and no more parts than needed. */
static void near_takes_the_smallest_part(void **state) {
    put(*state, "topology.tree",
        "{\"cpus\": [0, 1, 2, 3, 4, 5, 6, 7, 8], \"children\": [{\"cpus\": [0, 1]}, {\"cpus\": [2, 3, 4, 5]}, "
        "{\"cpus\": [6, 7]}]}");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 1), "8");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 2), "0 1");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 4), "2 3 4 5");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 5), "2 3 4 5 8");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 6), "2 3 4 5 0 1");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 9), "0 1 2 3 4 5 6 7 8");
    assert_string_equal(place(*state, BJ_ORDER_SPREAD, 5), "0 2 6 8 1");
}

/* Without siblings a leaf's cpus are cores. With them, a small part's second thread comes after all cores. */
static void siblings_come_last(void **state) {
    put(*state, "topology.tree",
        "{\"cpus\": [0, 1, 2, 3, 4, 5], \"children\": [{\"cpus\": [0, 1]}, {\"cpus\": [2, 3, 4, 5]}]}");
    assert_string_equal(place(*state, BJ_ORDER_SPREAD, 6), "0 2 1 3 4 5");
    put(*state, "cache.L1.sharing", "[[1, 0]]");
    assert_string_equal(place(*state, BJ_ORDER_SPREAD, 6), "0 2 3 4 5 1");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 2), "0 1");
}

/* Two fast cores of two threads, and a cluster of four slow ones. */
static void slow_kinds_wait(void **state) {
    put(*state, "topology.tree",
        "{\"cpus\": [0, 1, 2, 3, 4, 5, 6, 7], \"children\": [{\"cpus\": [0, 1, 2, 3]}, {\"cpus\": [4, 5]}, "
        "{\"cpus\": [6, 7]}]}");
    put(*state, "cache.L1.sharing", "[[4, 5], [6, 7]]");
    put(*state, "cpu.kinds",
        "[{\"cpus\": [0, 1, 2, 3], \"clock_ghz\": 2}, {\"cpus\": [4, 5, 6, 7], \"clock_ghz\": 3, \"l1_bytes\": "
        "49152}]");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 3), "4 5 6");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 6), "4 5 6 7 0 1");
    assert_string_equal(place(*state, BJ_ORDER_SPREAD, 8), "4 6 0 1 2 3 5 7");
}

/* A ring of four nodes, 0 - 2 - 1 - 3 - 0, whose numbers are not its order: the next one is a neighbour. */
static void a_ring_is_followed(void **state) {
    put(*state, "topology.tree",
        "{\"cpus\": [0, 1, 2, 3, 4, 5, 6, 7], \"tree_like\": false, \"distances_ns\": [[0, 9, 5, 6], [9, 0, 5, 5], "
        "[5, 5, 0, 9], [6, 5, 9, 0]], \"children\": [{\"cpus\": [0, 1]}, {\"cpus\": [2, 3]}, {\"cpus\": [4, 5]}, "
        "{\"cpus\": [6, 7]}]}");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 2), "0 1");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 3), "0 1 4");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 0), "0 1 4 5 2 3 6 7");
    assert_string_equal(place(*state, BJ_ORDER_SPREAD, 4), "0 2 4 6");
}

static void more_threads_than_cpus(void **state) {
    put(*state, "topology.tree", "{\"cpus\": [3]}");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 0), "3");
    assert_string_equal(place(*state, BJ_ORDER_SPREAD, 3), "3 3 3");
    put(*state, "topology.tree", "{\"cpus\": [0, 1, 2], \"children\": [{\"cpus\": [1, 2]}]}");
    assert_string_equal(place(*state, BJ_ORDER_NEAR, 7), "0 1 2 0 1 2 0");
}

static void broken_values(void **state) {
    put(*state, "topology.tree", "{\"cpus\": [0, 1], \"children\": [{\"cpus\": [2]}]}");
    assert_non_null(strstr(place(*state, BJ_ORDER_NEAR, 2), "topology.tree: expected"));
    put(*state, "topology.tree", "{\"cpus\": [0, 1]}");
    put(*state, "cpu.kinds", "[{\"clock_ghz\": 1}]");
    assert_non_null(strstr(place(*state, BJ_ORDER_NEAR, 2), "cpu.kinds: expected"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(dunnington, setup, teardown),
        cmocka_unit_test_setup_teardown(near_takes_the_smallest_part, setup, teardown),
        cmocka_unit_test_setup_teardown(siblings_come_last, setup, teardown),
        cmocka_unit_test_setup_teardown(slow_kinds_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(a_ring_is_followed, setup, teardown),
        cmocka_unit_test_setup_teardown(more_threads_than_cpus, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_values, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
