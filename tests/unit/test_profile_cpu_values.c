/* Kinds, contention, nodes and pairs, read from the text of an answer; and comparing any of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/cpu_values.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static void facts_of_a_node(void **state) {
    (void)state;
    bj_cpu_node tree;
    static const char text[] =
        "{\"cpus\": [0, 1], \"latency_ns\": 40, \"block_bytes\": 4096, \"inside_ns\": 10, \"across_ns\": -3, \"name\": "
        "\"a name that is longer than any object of hwloc has\", \"tree_like\": false, \"distances_ns\": [[0, 7], [8, "
        "null]]}";
    assert_int_equal(bj_profile_read_cpu_tree("t", text, &tree, NULL), BJ_OK);
    assert_true(tree.latency_ns == 40 && tree.block_bytes == 4096 && tree.inside_ns == 10 && isnan(tree.across_ns));
    assert_string_equal(tree.name, "a name that is longer t");
    assert_true(tree.not_tree && tree.distances_ns.count == 2 && tree.distances_ns.cells[2] == 8);
    assert_true(isnan(tree.distances_ns.cells[3]));
    bj_profile_free_cpu_tree(&tree);
    assert_int_equal(bj_profile_read_cpu_tree("t", "{\"cpus\": [0], \"distances_ns\": [[1, 2]]}", &tree, NULL),
                     BJ_ERR_INPUT);
    assert_null(tree.distances_ns.cells);
    assert_null(tree.cpus.items);
}

static void kinds(void **state) {
    (void)state;
    bj_cpu_kinds kinds;
    assert_int_equal(
        bj_profile_read_cpu_kinds("k", "[{\"cpus\": [1], \"clock_ghz\": 3}, {\"cpus\": [0]}]", &kinds, NULL), BJ_OK);
    assert_true(kinds.cpus.count == 2 && kinds.clock_ghz[0] == 3 && isnan(kinds.clock_ghz[1]));
    bj_profile_free_cpu_kinds(&kinds);
    static const char *const broken[] = {
        "", "{}", "[1]", "[[0]]", "[{}]", "[{\"cpus\": []}]", "[{\"cpus\": [0]}, {\"cpus\": [0]}]",
    };
    for (size_t i = 0; i < COUNT(broken); i++) {
        assert_int_equal(bj_profile_read_cpu_kinds("k", broken[i], &kinds, NULL), BJ_ERR_INPUT);
        assert_null(kinds.cpus.items);
    }
}

static void contention(void **state) {
    (void)state;
    bj_contention contention;
    static const char text[] = "{\"reference_gbs\": 9, \"levels\": [{\"gbs\": 5, \"groups\": [[0, 1]], \"scaling\": "
                               "[{\"cpus\": 1, \"gbs\": 9}], \"useful_cpus\": 1}, {\"groups\": []}]}";
    assert_int_equal(bj_profile_read_contention("c", text, &contention, NULL), BJ_OK);
    assert_true(contention.reference_gbs == 9 && contention.level_count == 2 &&
                contention.levels[0].scaling_count == 1);
    assert_true(isnan(contention.levels[1].gbs) && isnan(contention.levels[1].useful_cpus));
    bj_profile_free_contention(&contention);
    static const char *const broken[] = {
        "",
        "[]",
        "{}",
        "{\"levels\": 1}",
        "{\"levels\": [1]}",
        "{\"levels\": [{\"groups\": [[0], [0]]}]}",
        "{\"levels\": [{\"groups\": []}, {\"groups\": [], \"scaling\": [1]}]}",
        "{\"levels\": [{\"groups\": [[1]], \"scaling\": {}}]}",
    };
    for (size_t i = 0; i < COUNT(broken); i++) {
        assert_int_equal(bj_profile_read_contention("c", broken[i], &contention, NULL), BJ_ERR_INPUT);
        assert_null(contention.levels);
    }
}

/* Nodes that are told, or the parts of the tree by their lowest cpu, if there are as many. */
static void nodes(void **state) {
    (void)state;
    bj_cpu_node tree;
    bj_node_matrix matrix;
    assert_int_equal(
        bj_profile_read_cpu_tree(
            "t", "{\"cpus\": [0, 1, 2, 3], \"children\": [{\"cpus\": [3, 2]}, {\"cpus\": [0, 1]}]}", &tree, NULL),
        BJ_OK);
    assert_int_equal(bj_profile_read_node_matrix("n", "[[1, 2], [3, 4]]", &tree, &matrix, NULL), BJ_OK);
    assert_true(matrix.nodes.count == 2 && matrix.nodes.items[0].items[0] == 0 && matrix.values.cells[2] == 3);
    bj_profile_free_node_matrix(&matrix);
    assert_int_equal(bj_profile_read_node_matrix("n", "[[1]]", &tree, &matrix, NULL), BJ_OK);
    assert_true(matrix.nodes.count == 1 && matrix.nodes.items[0].count == 4);
    bj_profile_free_node_matrix(&matrix);
    assert_int_equal(bj_profile_read_node_matrix("n", "[[1, 2, 3], [1, 2, 3], [1, 2, 3]]", &tree, &matrix, NULL),
                     BJ_OK);
    assert_int_equal(matrix.nodes.count, 0);
    bj_profile_free_node_matrix(&matrix);
    assert_int_equal(
        bj_profile_read_node_matrix("n", "{\"nodes\": [[1], [0]], \"ns\": [[1, 2], [3, 4]]}", NULL, &matrix, NULL),
        BJ_OK);
    assert_true(matrix.nodes.count == 2 && matrix.nodes.items[0].items[0] == 1);
    bj_profile_free_node_matrix(&matrix);
    static const char *const broken[] = {
        "",
        "[]",
        "{}",
        "[1]",
        "[[1, 2]]",
        "[[1, \"2\"], [3, 4]]",
        "{\"nodes\": [[0]], \"ns\": [[1, 2], [3, 4]]}",
        "{\"nodes\": [[0], [0]], \"ns\": [[1, 2], [3, 4]]}",
    };
    for (size_t i = 0; i < COUNT(broken); i++) {
        assert_int_equal(bj_profile_read_node_matrix("n", broken[i], &tree, &matrix, NULL), BJ_ERR_INPUT);
        assert_null(matrix.values.cells);
    }
    bj_profile_free_cpu_tree(&tree);
}

static void pairs(void **state) {
    (void)state;
    bj_cpu_pairs pairs;
    assert_int_equal(bj_profile_read_cpu_pairs("p", "[]", &pairs, NULL), BJ_OK);
    assert_true(pairs.count == 0 && isnan(pairs.least_ns));
    assert_int_equal(
        bj_profile_read_cpu_pairs(
            "p", "[{\"a\": 0, \"b\": 1, \"latency_ns\": 9}, {\"a\": 0, \"b\": 2, \"latency_ns\": 4}]", &pairs, NULL),
        BJ_OK);
    assert_true(pairs.count == 2 && pairs.least_ns == 4 && pairs.most_ns == 9);
    assert_int_equal(bj_profile_read_cpu_pairs("p", "[[0, 1]]", &pairs, NULL), BJ_ERR_INPUT);
    assert_int_equal(bj_profile_read_cpu_pairs("p", "{}", &pairs, NULL), BJ_ERR_INPUT);
}

static bool same(const char *key, const char *a, const char *b) {
    bool result = false;
    assert_int_equal(bj_profile_compare_cpu_sets(key, a, b, &result, NULL), BJ_OK);
    return result;
}

static void comparing(void **state) {
    (void)state;
    assert_true(same("cpu.kinds", "[{\"cpus\": [0]}, {\"cpus\": [1], \"clock_ghz\": 1}]",
                     "[{\"cpus\": [1]}, {\"cpus\": [0]}]"));
    assert_false(same("cpu.kinds", "[{\"cpus\": [0]}, {\"cpus\": [1]}]", "[{\"cpus\": [1, 0]}]"));
    /* The order of levels means something, that of groups does not. */
    assert_true(same("memory.contention", "{\"levels\": [{\"groups\": [[0, 1], [2, 3]]}]}",
                     "{\"levels\": [{\"groups\": [[3, 2], [0, 1]]}]}"));
    assert_false(same("memory.contention", "{\"levels\": [{\"groups\": [[0, 1]]}, {\"groups\": [[2, 3]]}]}",
                      "{\"levels\": [{\"groups\": [[2, 3]]}, {\"groups\": [[0, 1]]}]}"));
    assert_false(same("memory.contention", "{\"levels\": []}", "{\"levels\": [{\"groups\": []}]}"));
    assert_true(same("numa.gbs", "[[1, 2], [3, 4]]", "[[5, 6], [7, 8]]"));
    assert_false(same("numa.gbs", "[[1, 2], [3, 4]]", "[[5]]"));
    assert_false(same("numa.gbs", "{\"nodes\": [[0], [1]], \"gbs\": [[1, 2], [3, 4]]}",
                      "{\"nodes\": [[0], [2]], \"gbs\": [[1, 2], [3, 4]]}"));
    bool result;
    static const char *const broken[] = {"", "{\"levels\": [{\"groups\": [[0]]}, 1]}", "[{\"a\": 0}]", "{}"};
    for (size_t i = 0; i < COUNT(broken); i++) {
        assert_int_equal(bj_profile_compare_cpu_sets("k", broken[i], "[]", &result, NULL), BJ_ERR_INPUT);
        assert_int_equal(bj_profile_compare_cpu_sets("k", "[[0]]", broken[i], &result, NULL), BJ_ERR_INPUT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_of_a_node), cmocka_unit_test(kinds), cmocka_unit_test(contention),
        cmocka_unit_test(nodes),           cmocka_unit_test(pairs), cmocka_unit_test(comparing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
