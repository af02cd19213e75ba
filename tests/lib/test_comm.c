/* What a message costs, where ranks are best put and what is advised, from profiles that somebody wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <blackjack/blackjack.h>
#include <cmocka.h>

static const char text[] =
    "{\"format\": \"blackjack-profile/1\", \"characteristics\": {\"comm.layers\": {\"value\": [{\"name\": \"host\", "
    "\"latency_us\": 2, \"groups\": [[0, 1]], \"curve\": [[0, 1, 0], [1000, 2, 0.5], [2000, 4, 0.5]], \"error\": 0.1, "
    "\"check\": {\"difference\": 0.2}, \"scaling\": [[1, 1], [3, 2]]}], \"unit\": \"\", \"status\": \"ok\", "
    "\"confidence\": \"high\"}}}";

static void test_estimates(void **state) {
    (void)state;
    bj_lib_profile *profile;
    double us = 0, off = 0;
    assert_int_equal(bj_lib_parse_profile(text, strlen(text), &profile, NULL), BJ_LIB_OK);
    assert_int_equal(bj_lib_comm_estimate(profile, 0, 500, 1, &us, &off, NULL), BJ_LIB_OK);
    assert_float_equal(us, 1.5, 1e-9);
    assert_float_equal(off, 0.2, 1e-9);
    assert_int_equal(bj_lib_comm_estimate(profile, 0, 1000, 2, &us, NULL, NULL), BJ_LIB_OK);
    assert_float_equal(us, 3, 1e-9);
    assert_int_equal(bj_lib_comm_estimate(profile, 0, 4000, 1, &us, NULL, NULL), BJ_LIB_OK);
    assert_float_equal(us, 8, 1e-9);
    assert_int_equal(bj_lib_comm_estimate(profile, 1, 0, 1, &us, NULL, NULL), BJ_LIB_ERR_USAGE);
    bj_lib_close_profile(profile);
}

/* Two hosts of two ranks each, dealt out in turn; messages across cost ten times as much, and two at once twice. */
static const char cluster[] =
    "{\"format\": \"blackjack-profile/1\", \"characteristics\": {\"comm.layers\": {\"value\": ["
    "{\"name\": \"host\", \"latency_us\": 1, \"bytes\": 1000, \"groups\": [[0, 2], [1, 3]], "
    "\"curve\": [[0, 0.5], [1000, 1], [100000, 50.5]], \"segments\": [{\"us\": 0.5, \"gbs\": 2}], \"scaling\": []}, "
    "{\"name\": \"network\", \"latency_us\": 10, \"bytes\": 1000, \"groups\": [[0, 1, 2, 3]], "
    "\"curve\": [[0, 9], [1000, 10], [100000, 109]], \"segments\": [{\"us\": 9, \"gbs\": 1}], "
    "\"scaling\": [[1, 1], [2, 2]]}], \"unit\": \"\", \"status\": \"ok\", \"confidence\": \"high\"}, "
    "\"memory.contention\": {\"value\": {\"reference_gbs\": 5, \"levels\": [{\"gbs\": 4, \"groups\": [[0, 1, 2, 3]], "
    "\"scaling\": [{\"cpus\": 1, \"gbs\": 5}, {\"cpus\": 2, \"gbs\": 8}, {\"cpus\": 4, \"gbs\": 8.1}], "
    "\"useful_cpus\": 2}]}, \"unit\": \"\", \"status\": \"ok\", "
    "\"confidence\": \"high\"}}}";

static bool is_on_one_host(size_t a, size_t b) {
    return a % 2 == b % 2;
}

static void test_places(void **state) {
    (void)state;
    bj_lib_profile *profile;
    size_t places[4] = {9, 9, 9, 9};
    char why[300];
    assert_int_equal(bj_lib_parse_profile(cluster, strlen(cluster), &profile, NULL), BJ_LIB_OK);
    assert_int_equal(bj_lib_place_ranks(profile, 2, BJ_LIB_TALK_ALL, 1000, places, why, sizeof why, NULL), BJ_LIB_OK);
    assert_true(is_on_one_host(places[0], places[1]));
    assert_non_null(strstr(why, "near each other"));
    assert_non_null(strstr(why, "1 us (host) and not 10 us (network)"));
    assert_int_equal(bj_lib_place_ranks(profile, 2, BJ_LIB_TALK_LITTLE, 1000, places, NULL, 0, NULL), BJ_LIB_OK);
    assert_false(is_on_one_host(places[0], places[1]));
    /* Of four in a row one message has to cross, not three. */
    assert_int_equal(bj_lib_place_ranks(profile, 4, BJ_LIB_TALK_NEIGHBOURS, 1000, places, why, sizeof why, NULL),
                     BJ_LIB_OK);
    assert_true(is_on_one_host(places[0], places[1]) && is_on_one_host(places[2], places[3]));
    assert_non_null(strstr(why, "10 us (network) and not"));
    places[0] = 9;
    assert_int_equal(bj_lib_place_ranks(profile, 5, BJ_LIB_TALK_ALL, 1, places, NULL, 0, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_place_ranks(profile, 1, BJ_LIB_TALK_ALL, 1, places, NULL, 0, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_place_ranks(profile, 2, (bj_lib_talk)7, 1, places, NULL, 0, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(places[0], 9);
    bj_lib_close_profile(profile);
}

static void test_advice(void **state) {
    (void)state;
    static const char *const said[] = {"cpus: use 2 of 4 where work waits for memory",
                                       "4 ranks that talk to their neighbours: near each other",
                                       "(host): join those below", "(network): join those below",
                                       "2 pairs at once take 2 times as long; gather them first"};
    bj_lib_profile *profile;
    char line[400], all[2000] = "";
    assert_int_equal(bj_lib_parse_profile(cluster, strlen(cluster), &profile, NULL), BJ_LIB_OK);
    for (size_t i = 0; bj_lib_get_advice(profile, i, line, sizeof line, NULL) == BJ_LIB_OK; i++) {
        assert_true(i < 10);
        strcat(strcat(all, line), "\n");
    }
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (strstr(all, said[i]) == NULL)
            fail_msg("not said: %s; only:\n%s", said[i], all);
    bj_lib_close_profile(profile);
}

/* Lists that make no sense are told, not believed. */
static void test_nonsense(void **state) {
    (void)state;
    static const char *const values[] = {
        "[]",
        "[7]",
        "{\"a\": 1}",
        "[{\"groups\": [[0, -1]], \"curve\": [[0, 1, 0], [1, 1, 0]]}]",
        "[{\"groups\": [[0, 1], [1, 2]], \"curve\": [[0, 1, 0], [1, 1, 0]]}]",
        "[{\"curve\": [[5, 1], [4, 1]]}]",
        "[{\"curve\": [[0, 0], [4, 1]]}]",
        "[{\"curve\": [[0, \"x\"]]}]",
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char json[500];
        bj_lib_profile *profile;
        double us = 7;
        size_t places[2];
        snprintf(
            json, sizeof json,
            "{\"format\": \"blackjack-profile/1\", \"characteristics\": {\"comm.layers\": {\"value\": %s, \"unit\": "
            "\"\", \"status\": \"ok\", \"confidence\": \"high\"}}}",
            values[i]);
        assert_int_equal(bj_lib_parse_profile(json, strlen(json), &profile, NULL), BJ_LIB_OK);
        assert_int_not_equal(bj_lib_comm_estimate(profile, 0, 1, 1, &us, NULL, NULL), BJ_LIB_OK);
        assert_float_equal(us, 7, 0);
        assert_int_not_equal(bj_lib_place_ranks(profile, 2, BJ_LIB_TALK_ALL, 1, places, NULL, 0, NULL), BJ_LIB_OK);
        assert_int_not_equal(bj_lib_get_advice(profile, 0, json, sizeof json, NULL), BJ_LIB_OK);
        bj_lib_close_profile(profile);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
