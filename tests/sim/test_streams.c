/* Streams over many arrays. The Ranger's rows (eight to a controller, four cpus each) let one cpu go through any number
 * of arrays and all of them through two each; a machine without rows has no such limit. */
#include "zoo_fixture.h"

/* The answer on a machine of the zoo; the caller's to json_decref. */
static json_t *find_streams(json_t *file, double largest_bytes) {
    bj_machine *machine = open_changed(file);
    bj_answers answers = {0};
    put_number(&answers, "cache.levels", 1);
    put_number(&answers, "cache.L1.size_bytes", largest_bytes);
    put_number(&answers, "cache.L1.capacity_bytes", largest_bytes);
    run_probe("streams", machine, &answers);
    const bj_answer *answer = bj_data_find_answer(&answers, "memory.streams");
    assert_non_null(answer);
    if (answer->status != BJ_ANSWER_OK || answer->structured == NULL)
        fail_msg("memory.streams: %s", answer->reason);
    json_error_t trouble;
    json_t *value = json_loads(answer->structured, 0, &trouble);
    assert_non_null(value);
    bj_data_free_answers(&answers);
    close_machine(machine);
    return value;
}

static void expect_useful(const json_t *value, size_t entry, double cpus, double useful, bool limited) {
    const json_t *one = json_array_get(value, entry);
    assert_non_null(one);
    assert_true(json_number_value(json_object_get(one, "cpus")) == cpus);
    assert_true(json_number_value(json_object_get(one, "useful_streams")) == useful);
    assert_int_equal(json_is_true(json_object_get(one, "limited")), limited);
}

static void rows_of_the_ranger(void **state) {
    (void)state;
    json_t *value = find_streams(load_machine("barcelona"), 2 << 20);
    expect_useful(value, 0, 1, 64, false);
    expect_useful(value, 1, 16, 2, true);
    json_decref(value);
}

static void more_rows_more_arrays(void **state) {
    (void)state;
    json_t *file = load_machine("barcelona");
    json_object_set_new(json_object_get(file, "dram"), "open_rows", json_integer(32));
    json_t *value = find_streams(file, 2 << 20);
    expect_useful(value, 1, 16, 8, true);
    json_decref(value);
}

static void no_rows_no_limit(void **state) {
    (void)state;
    json_t *file = load_machine("barcelona");
    json_object_del(file, "dram");
    json_t *value = find_streams(file, 2 << 20);
    expect_useful(value, 1, 16, 64, false);
    json_decref(value);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_ranger),
        cmocka_unit_test(more_rows_more_arrays),
        cmocka_unit_test(no_rows_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
