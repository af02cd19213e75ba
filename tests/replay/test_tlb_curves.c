/* Published curves of one read a page through the analysis of the TLB probe, with the caches handed over. */
#include "curve_fixture.h"

#include "probes/tlb/tlb_table.h"

static bj_answers list_known(json_t *entry) {
    bj_answers known = {0};
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(entry, "known"), key, value) {
        bj_answer *answer = NULL;
        bj_error error = {""};
        assert_int_equal(bj_data_put_answer(&known, key, "", &answer, &error), BJ_OK);
        answer->value = json_number_value(value);
    }
    return known;
}

/* Returns how many levels. */
static size_t find_entries(json_t *entry, double scale, double entries[BJ_TLB_TABLE_LEVELS_MAX]) {
    double levels = 0;
    bj_answers known = list_known(entry);
    bj_answers answers = analyse_file("tlb", json_string_value(json_object_get(entry, "file")), scale, &known);
    assert_true(bj_data_get_number(&answers, "tlb.levels", &levels));
    for (size_t i = 0; i < (size_t)levels; i++) {
        char key[64];
        snprintf(key, sizeof key, "tlb.L%zu.entries", i + 1);
        const bj_answer *found = bj_data_find_answer(&answers, key);
        assert_true(found != NULL && found->confidence < BJ_CONFIDENCE_HIGH);
        entries[i] = found->value;
    }
    bj_data_free_answers(&known);
    bj_data_free_answers(&answers);
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
    json_t *cases = read_expected("expected_tlb.json");
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
