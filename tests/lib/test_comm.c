/* What a message costs, from a profile that somebody wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_estimates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
