/* Trees and groups of cpus, read from the text of an answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/cpu_tree.h"

static void test_tree(void **state) {
    (void)state;
    bj_cpu_node tree;
    bj_error error;
    assert_int_equal(bj_profile_read_cpu_tree("t",
                                              "{\"cpus\": [0, 1, 2], \"latency_ns\": 40, \"children\": "
                                              "[{\"cpus\": [2, 0], \"name\": \"L2\", \"children\": []}]}",
                                              &tree, &error),
                     BJ_OK);
    assert_int_equal(tree.cpus.count, 3);
    assert_int_equal(tree.child_count, 1);
    assert_int_equal(tree.children[0].cpus.items[0], 2);
    bj_profile_free_cpu_tree(&tree);
}

static void test_no_trees(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"cpus\": []}",
        "{\"cpus\": [-1]}",
        "{\"cpus\": [65536]}",
        "{\"cpus\": [0.5]}",
        "{\"cpus\": [0, 0]}",
        "{\"cpus\": [0], \"children\": 1}",
        "{\"cpus\": [0], \"children\": [[0]]}",
        "{\"cpus\": [0, 1], \"children\": [{\"cpus\": [2]}]}",
        "{\"cpus\": [0, 1], \"children\": [{\"cpus\": [0]}, {\"cpus\": [0]}]}",
        "{\"cpus\": [0, 1], \"children\": [{\"cpus\": [0, 1], \"children\": [{\"cpus\": [5]}]}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        bj_cpu_node tree;
        bj_error error;
        assert_int_equal(bj_profile_read_cpu_tree("t", texts[i], &tree, &error), BJ_ERR_INPUT);
        assert_null(tree.children);
        assert_null(tree.cpus.items);
    }
}

static void test_groups(void **state) {
    (void)state;
    bj_cpu_groups groups;
    bj_error error;
    assert_int_equal(bj_profile_read_cpu_groups("g", "[[0, 1], [2, 3, 5]]", &groups, &error), BJ_OK);
    assert_int_equal(groups.count, 2);
    assert_int_equal(groups.items[1].count, 3);
    bj_profile_free_cpu_groups(&groups);
    assert_int_equal(bj_profile_read_cpu_groups("g", "[]", &groups, &error), BJ_OK);
    assert_int_equal(groups.count, 0);
    bj_profile_free_cpu_groups(&groups);
    assert_int_equal(bj_profile_read_cpu_groups("g", "[[0], [0]]", &groups, &error), BJ_ERR_INPUT);
    assert_int_equal(bj_profile_read_cpu_groups("g", "[1]", &groups, &error), BJ_ERR_INPUT);
    assert_int_equal(bj_profile_read_cpu_groups("g", "{}", &groups, &error), BJ_ERR_INPUT);
}

static bool same(const char *a, const char *b) {
    bool result = false;
    assert_int_equal(bj_profile_compare_cpu_sets("k", a, b, &result, NULL), BJ_OK);
    return result;
}

static void test_same(void **state) {
    (void)state;
    assert_true(same("[[0, 1], [2, 3]]", "[[2, 3], [1, 0]]"));
    assert_false(same("[[0, 1], [2, 3]]", "[[0, 1]]"));
    assert_false(same("[[0, 1]]", "[[0, 2]]"));
    assert_true(same("{\"cpus\": [0, 1], \"latency_ns\": 5}", "{\"cpus\": [1, 0], \"latency_ns\": 6}"));
    assert_false(same("{\"cpus\": [0, 1], \"children\": [{\"cpus\": [0]}]}", "{\"cpus\": [0, 1]}"));
    bool result;
    assert_int_equal(bj_profile_compare_cpu_sets("k", "[]", "[1]", &result, NULL), BJ_ERR_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_no_trees),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
