/* Published curves of one read a page through the analysis of the TLB probe, with the caches handed over. */
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
#include "stats/tlb_table.h"

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

static bj_answers list_known(json_t *entry) {
    bj_answers known = {0};
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(entry, "known"), key, value) {
        bj_characteristic *answer = NULL;
        bj_error error = {""};
        assert_int_equal(bj_answers_put(&known, key, "", &answer, &error), BJ_OK);
        answer->value = json_number_value(value);
    }
    return known;
}

/* As `blackjack analyze` does it; times by `scale`. Returns how many levels. */
static size_t find_entries(json_t *entry, double scale, double entries[BJ_TLB_TABLE_LEVELS_MAX]) {
    double x[POINTS_MAX], y[POINTS_MAX], levels = 0;
    size_t count = read_curve(json_string_value(json_object_get(entry, "file")), x, y);
    assert_in_range(count, 10, POINTS_MAX);
    for (size_t i = 0; i < count; i++)
        y[i] *= scale;
    const bj_probe *probe = bj_probe_find("tlb");
    assert_non_null(probe);
    bj_answers known = list_known(entry), answers = {0};
    bj_curves samples = {0};
    bj_curve *curve;
    bj_error error = {""};
    assert_int_equal(bj_curves_add(&samples, probe->analyze_curve, probe->name, &curve, &error), BJ_OK);
    assert_int_equal(bj_curve_record_all(curve, x, y, count, &error), BJ_OK);
    bj_analyse_request request = {.earlier = &known, .seed = 1, .from_table = true};
    if (probe->analyse(&samples, &request, &answers, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_true(bj_answers_get_number(&answers, "tlb.levels", &levels));
    for (size_t i = 0; i < (size_t)levels; i++) {
        char key[64];
        snprintf(key, sizeof key, "tlb.L%zu.entries", i + 1);
        const bj_characteristic *found = bj_answers_find(&answers, key);
        assert_true(found != NULL && found->confidence < BJ_CONFIDENCE_HIGH);
        entries[i] = found->value;
    }
    bj_answers_free(&known);
    bj_answers_free(&answers);
    bj_curves_free(&samples);
    return (size_t)levels;
}

/* Each interval has its level, and each level an interval, or lies where nothing is known. */
static bool is_right(json_t *accept, const double *entries, size_t count) {
    size_t level = 0;
    for (size_t i = 0; i < json_array_size(accept); i++) {
        json_t *interval = json_array_get(accept, i), *next = json_array_get(accept, i + 1);
        if (json_is_null(interval)) {
            double limit = next != NULL ? json_number_value(json_array_get(next, 0)) : 1e9;
            while (level < count && entries[level] < limit)
                level++;
            continue;
        }
        if (level == count || entries[level] < json_number_value(json_array_get(interval, 0)) ||
            entries[level] > json_number_value(json_array_get(interval, 1)))
            return false;
        level++;
    }
    return level == count;
}

static void test_entries_of_published_curves(void **state) {
    (void)state;
    json_error_t trouble;
    json_t *cases = json_load_file(FOLDER "expected_tlb.json", 0, &trouble);
    if (cases == NULL)
        fail_msg("expected_tlb.json: %s", trouble.text);
    assert_true(json_array_size(cases) >= 8);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *entry = json_array_get(cases, i);
        double entries[BJ_TLB_TABLE_LEVELS_MAX], scaled[BJ_TLB_TABLE_LEVELS_MAX];
        size_t count = find_entries(entry, 1, entries);
        if (!is_right(json_object_get(entry, "accept"), entries, count))
            fail_msg("%s: %zu levels, %g (%s)", json_string_value(json_object_get(entry, "file")), count, entries[0],
                     json_string_value(json_object_get(entry, "why")));
        /* The unit does not matter. */
        assert_int_equal(find_entries(entry, 0.37, scaled), count);
        assert_memory_equal(entries, scaled, count * sizeof entries[0]);
    }
    json_decref(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entries_of_published_curves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
