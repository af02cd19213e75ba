/* Published curves of two reads at a growing distance through the analysis of the line probe. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "probes/probe.h"

#define FOLDER BJ_SOURCE_DIR "/tests/replay/"
#define POINTS_MAX 64

static size_t read_curve(const char *name, double *x, double *y) {
    char path[512], line[256];
    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    size_t count = 0;
    bool source = false;
    while (fgets(line, sizeof line, file) != NULL) {
        source = source || strncmp(line, "# Source: ", 10) == 0;
        if (count < POINTS_MAX && sscanf(line, "%lf,%lf", &x[count], &y[count]) == 2)
            count++;
    }
    fclose(file);
    assert_true(source);
    return count;
}

/* As `blackjack analyze` does it; times by `scale`. */
static bj_characteristic analyse(const char *name, double scale) {
    static const bj_answers nothing;
    double x[POINTS_MAX], y[POINTS_MAX];
    size_t count = read_curve(name, x, y);
    assert_in_range(count, 10, POINTS_MAX);
    for (size_t i = 0; i < count; i++)
        y[i] *= scale;
    const bj_probe *probe = bj_probe_find("line");
    assert_non_null(probe);
    bj_curves samples = {0};
    bj_curve *curve;
    bj_error error = {""};
    assert_int_equal(bj_curves_add(&samples, probe->analyze_curve, probe->name, &curve, &error), BJ_OK);
    assert_int_equal(bj_curve_record_all(curve, x, y, count, &error), BJ_OK);
    bj_analyse_request request = {.earlier = &nothing, .seed = 1, .from_table = true};
    bj_answers answers = {0};
    if (probe->analyse(&samples, &request, &answers, &error) != BJ_OK)
        fail_msg("%s", error.text);
    const bj_characteristic *found = bj_answers_find(&answers, "cache.line_bytes");
    assert_non_null(found);
    bj_characteristic answer = *found;
    bj_answers_free(&answers);
    bj_curves_free(&samples);
    return answer;
}

static void test_lines_of_published_curves(void **state) {
    (void)state;
    json_error_t trouble;
    json_t *cases = json_load_file(FOLDER "expected_lines.json", 0, &trouble);
    if (cases == NULL)
        fail_msg("expected_lines.json: %s", trouble.text);
    assert_true(json_array_size(cases) >= 8);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *entry = json_array_get(cases, i);
        json_t *accept = json_object_get(entry, "accept");
        const char *name = json_string_value(json_object_get(entry, "file"));
        bj_characteristic answer = analyse(name, 1);
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
