/* How large a JSON text becomes in memory, told before it is parsed; tables of fields, and where a mistake is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"

static void assert_size(const char *text, size_t depth, size_t containers, size_t members, size_t values) {
    bj_json_size size = bj_json_measure(text, strlen(text));
    assert_int_equal(size.depth, depth);
    assert_int_equal(size.containers, containers);
    assert_int_equal(size.members, members);
    assert_int_equal(size.values, values);
}

static void values_are_counted(void **state) {
    (void)state;
    assert_size("1", 0, 0, 0, 1);
    assert_size("[1, 2]", 1, 1, 0, 3);
    assert_size("{\"a\": [1, [2]], \"b\": {\"c\": null}}", 3, 4, 3, 7);
}

static void strings_hide_what_they_hold(void **state) {
    (void)state;
    assert_size("[\"[{,:\\\"[\", \"\\\\\"]", 1, 1, 0, 3);
}

static void broken_text_does_no_harm(void **state) {
    (void)state;
    assert_size("", 0, 0, 0, 0);
    assert_size("]]}[", 1, 1, 0, 2);
    assert_size("\"[[[", 0, 0, 0, 1);
    assert_size("\"[\\", 0, 0, 0, 1);
    bj_json_size size = bj_json_measure("[\0[", 3);
    assert_int_equal(size.depth, 2);
}

static bj_error error;

static bj_status read_item(const bj_json_place *at, json_t *item, size_t index, void *target) {
    uint64_t *counts = target;
    const bj_json_field field = {"count", BJ_JSON_COUNT, &counts[index], 1, 9, NULL, 0, true};
    return bj_json_read_fields(at, item, &field, 1);
}

/* The error of reading {"list": [{"count": …}, …]} by tables; "": none. */
static const char *read_counts(const char *text, uint64_t counts[2]) {
    const bj_json_size most = {4, 100, 100, 100};
    bj_json_place whole = {.file = "f.json", .error = &error};
    json_t *root = NULL, *list = NULL;
    const bj_json_field field = {"list", BJ_JSON_ANY, &list, 0, 0, NULL, 0, false};
    error.text[0] = '\0';
    bj_status status = bj_json_parse(&whole, "counts", text, strlen(text), &most, &root);
    if (status == BJ_OK)
        status = bj_json_read_fields(&whole, root, &field, 1);
    bj_json_place at = bj_json_enter(&whole, "list");
    if (status == BJ_OK)
        status = bj_json_read_items(&at, list, 1, 2, read_item, counts);
    assert_int_equal(status, error.text[0] == '\0' ? BJ_OK : BJ_ERR_INPUT);
    json_decref(root);
    return error.text;
}

static void tables_are_read(void **state) {
    (void)state;
    uint64_t counts[2] = {7, 7};
    assert_string_equal(read_counts("{}", counts), "");
    assert_string_equal(read_counts("{\"list\": [{\"count\": 3}]}", counts), "");
    assert_int_equal(counts[0], 3);
    assert_int_equal(counts[1], 7);
}

static void mistakes_say_where(void **state) {
    (void)state;
    uint64_t counts[2];
    const char *const cases[][2] = {
        {"", "f.json: line 1: expected counts, found an empty file"},
        {"{", "f.json: line 1, column 1: expected JSON: string or '}' expected near end of file"},
        {"[[[[[]]]]]", "f.json: top level: expected at most 4 levels of nesting"},
        {"[]", "f.json: top level: expected an object"},
        {"{\"a\\nb\": 1}", "f.json: a?b: unknown field"},
        {"{\"list\": 1}", "f.json: list: expected a list of 1 to 2 items"},
        {"{\"list\": []}", "f.json: list: expected a list of 1 to 2 items"},
        {"{\"list\": [{\"count\": 1}, {}]}", "f.json: list[1]: expected a field \"count\""},
        {"{\"list\": [{\"count\": 10}]}", "f.json: list[0].count: expected a whole number from 1 to 9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(read_counts(cases[i][0], counts), cases[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_counted),       cmocka_unit_test(strings_hide_what_they_hold),
        cmocka_unit_test(broken_text_does_no_harm), cmocka_unit_test(tables_are_read),
        cmocka_unit_test(mistakes_say_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
