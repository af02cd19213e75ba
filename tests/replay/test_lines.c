/* Published curves of two reads at a growing distance through the analysis of the line probe. */
#include "curve_fixture.h"

static bj_answer analyse(const char *name, double scale) {
    static const bj_answers nothing;
    bj_answers answers = analyse_file("line", name, scale, &nothing);
    const bj_answer *found = bj_data_find_answer(&answers, "cache.line_bytes");
    assert_non_null(found);
    bj_answer answer = *found;
    bj_data_free_answers(&answers);
    return answer;
}

static void test_lines_of_published_curves(void **state) {
    (void)state;
    json_t *cases = read_expected("expected_lines.json");
    assert_true(json_array_size(cases) >= 8);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *entry = json_array_get(cases, i);
        json_t *accept = json_object_get(entry, "accept");
        const char *name = json_string_value(json_object_get(entry, "file"));
        bj_answer answer = analyse(name, 1);
        assert_int_equal(answer.status, BJ_ANSWER_OK);
        if (answer.value < json_number_value(json_array_get(accept, 0)) ||
            answer.value > json_number_value(json_array_get(accept, 1)))
            fail_msg("%s: %g (%s)", name, answer.value, json_string_value(json_object_get(entry, "why")));
        if (!json_is_true(json_object_get(entry, "sure")))
            assert_int_equal(answer.confidence, BJ_CONFIDENCE_LOW);
        /* The unit does not matter. */
        assert_true(analyse(name, 0.37).value == answer.value);
    }
    json_decref(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines_of_published_curves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
