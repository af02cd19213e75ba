/* Profiles read without their samples: the same answers, and errors where they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "profile/profile.h"

static void test_same_answers(void **state) {
    (void)state;
    static const char path[] = BJ_SOURCE_DIR "/tests/cli/profile.json";
    char *text;
    size_t length;
    bj_error error;
    bj_profile whole, quick;
    bj_profile_init(&whole);
    bj_profile_init(&quick);
    assert_int_equal(bj_base_read_file(path, BJ_PROFILE_MAX_BYTES, &text, &length, &error), BJ_OK);
    assert_int_equal(bj_profile_parse(path, text, length, &whole, &error), BJ_OK);
    assert_int_equal(bj_profile_parse_answers(path, text, length, &quick, &error), BJ_OK);
    assert_int_equal(whole.curves.count, 1);
    assert_int_equal(quick.curves.count, 0);
    /* Without curves on both sides they are written alike. */
    bj_data_free_curves(&whole.curves);
    char *whole_text, *quick_text;
    assert_int_equal(bj_profile_to_json(&whole, &whole_text, NULL, &error), BJ_OK);
    assert_int_equal(bj_profile_to_json(&quick, &quick_text, NULL, &error), BJ_OK);
    assert_string_equal(whole_text, quick_text);
    free(text);
    free(whole_text);
    free(quick_text);
    bj_profile_free(&whole);
    bj_profile_free(&quick);
}

static bj_status parse(const char *text, bj_error *error) {
    bj_profile profile;
    bj_profile_init(&profile);
    bj_status status = bj_profile_parse_answers("p", text, strlen(text), &profile, error);
    bj_profile_free(&profile);
    return status;
}

#define FORMAT "\"format\": \"blackjack-profile/1\""

static void test_taken(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{" FORMAT ", \"characteristics\": {}}",
        " \n{" FORMAT ", \"curves\" : { } , \"characteristics\": {}}",
        "{\"curves\": {\"a\": \"}\\\"{\"}, " FORMAT ", \"characteristics\": {}}",
        "{\"later\": {\"curves\": [1]}, " FORMAT ", \"characteristics\": {}, \"x\": \"curves\"}",
        "{\"curves\": {\"what\": \"is in here is not looked at\"}, " FORMAT ", \"characteristics\": {}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(parse(texts[i], NULL), BJ_OK);
}

static void test_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"curves\": {",
        "{\"curves\": {}",
        "{\"curves\": {\"a\": \"",
        "{" FORMAT ", \"characteristics\": {}, \"curves\": []}",
        "{" FORMAT ", \"characteristics\": {}, \"curves\": {}, \"curves\": {}}",
        "{" FORMAT ", \"characteristics\": {}, \"curves\": {}]",
        "{" FORMAT ", \"characteristics\": {}, \"curves\": {]}",
        "{" FORMAT ", \"characteristics\": {}, \"curves\" {}}",
        "{" FORMAT ", \"characteristics\": {}, \"curves\": {}} {}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bj_error error = {""};
        assert_int_equal(parse(texts[i], &error), BJ_ERR_INPUT);
        assert_string_not_equal(error.text, "");
    }
    bj_error error;
    assert_int_equal(parse("{\"curves\": {\n\n},\n" FORMAT ", \"characteristics\": {]}", &error), BJ_ERR_INPUT);
    assert_non_null(strstr(error.text, "line 4"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_answers),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
