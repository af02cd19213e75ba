/* What a JSON text would become in memory, told before it is parsed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_size.h"

static void assert_size(const char *text, size_t depth, size_t containers, size_t members, size_t values) {
    bj_json_size size = bj_base_measure_json(text, strlen(text));
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
    bj_json_size size = bj_base_measure_json("[\0[", 3);
    assert_int_equal(size.depth, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_counted),
        cmocka_unit_test(strings_hide_what_they_hold),
        cmocka_unit_test(broken_text_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
