/* Structured answers as text: what the writer makes must be what the profile's reader takes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probes/kit/structured.h"
#include "profile/cpu_tree.h"

static const int cpus[] = {7, 3, 5, 1};

static char *finish(bj_structured *value) {
    bj_answer answer = {.key = "a"};
    assert_int_equal(bj_structured_finish(value, &answer, NULL), BJ_OK);
    assert_null(value->text);
    return answer.structured;
}

static void test_object(void **state) {
    (void)state;
    bj_structured value = {0};
    bj_structured_open(&value, NULL, '{');
    bj_structured_add_number(&value, "gbs", 1.23456789);
    bj_structured_add_number(&value, "none", NAN);
    bj_structured_add_text(&value, "kind", "fast");
    bj_structured_add_flag(&value, "tree_like", false);
    bj_structured_add_cpus(&value, "cpus", cpus, 4);
    bj_structured_add_matrix(&value, "ns", (double[]){1, 2, 3, 4}, 2, 2);
    bj_structured_close(&value, '}');
    char *text = finish(&value);
    assert_string_equal(text, "{\"gbs\": 1.23457, \"none\": null, \"kind\": \"fast\", \"tree_like\": false, "
                              "\"cpus\": [1, 3, 5, 7], \"ns\": [[1, 2], [3, 4]]}");
    free(text);
}

static void test_groups(void **state) {
    (void)state;
    bj_structured value = {0};
    bj_cpu_groups groups;
    bj_structured_add_groups(&value, NULL, cpus, (size_t[]){0, 2, 0, 1}, 4);
    char *text = finish(&value);
    assert_string_equal(text, "[[5, 7]]");
    assert_int_equal(bj_profile_read_cpu_groups("a", text, &groups, NULL), BJ_OK);
    bj_profile_free_cpu_groups(&groups);
    free(text);
    bj_structured_add_groups(&value, NULL, cpus, (size_t[]){2, 1, 1, 2}, 4);
    text = finish(&value);
    assert_string_equal(text, "[[1, 7], [3, 5]]");
    free(text);
}

static void test_tree(void **state) {
    (void)state;
    bj_structured value = {0};
    bj_cpu_node tree;
    bj_structured_open_node(&value, cpus, 4, 100);
    bj_structured_open(&value, "children", '[');
    bj_structured_open_node(&value, cpus, 2, NAN);
    bj_structured_close(&value, '}');
    bj_structured_open_node(&value, cpus + 2, 2, 40);
    bj_structured_close(&value, '}');
    bj_structured_close(&value, ']');
    bj_structured_close(&value, '}');
    char *text = finish(&value);
    assert_string_equal(text, "{\"cpus\": [1, 3, 5, 7], \"latency_ns\": 100, \"children\": [{\"cpus\": [3, 7]}, "
                              "{\"cpus\": [1, 5], \"latency_ns\": 40}]}");
    assert_int_equal(bj_profile_read_cpu_tree("a", text, &tree, NULL), BJ_OK);
    assert_int_equal(tree.child_count, 2);
    bj_profile_free_cpu_tree(&tree);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_object),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
