/* What --method takes: a probe's own names, and the words that stand for a paper's way in all probes that have one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "runner/keys.h"

static void test_own_names(void **state) {
    (void)state;
    for (size_t i = 0; i < bj_probe_count; i++) {
        const bj_probe *probe = bj_probes[i];
        for (size_t m = 0; probe->methods != NULL && probe->methods[m] != NULL; m++)
            assert_string_equal(bj_runner_find_method(probe, probe->methods[m]), probe->methods[m]);
        assert_null(bj_runner_find_method(probe, NULL));
        assert_true(bj_runner_has_method(probe, NULL));
        assert_null(bj_runner_find_method(probe, "no_such_method"));
        assert_false(bj_runner_has_method(probe, "no_such_method"));
    }
}

/* What stands for a paper's way is one of the methods, but not the default: that is our own everywhere. */
static void test_papers_are_methods(void **state) {
    (void)state;
    size_t papers = 0, servets = 0;
    for (size_t i = 0; i < bj_probe_count; i++) {
        const bj_probe *probe = bj_probes[i];
        const char *ways[] = {bj_runner_find_method(probe, BJ_METHOD_PAPER),
                              bj_runner_find_method(probe, BJ_METHOD_SERVET)};
        papers += ways[0] != NULL;
        servets += ways[1] != NULL;
        for (size_t way = 0; way < 2; way++) {
            if (ways[way] == NULL)
                continue;
            assert_string_equal(bj_runner_find_method(probe, ways[way]), ways[way]);
            assert_string_not_equal(ways[way], probe->methods[0]);
        }
    }
    assert_int_equal(papers, 10);
    assert_int_equal(servets, 4);
}

/* The papers' ways are literal, and what else is printed in one; a default never is, nor a variant of our own. */
static void test_literal(void **state) {
    (void)state;
    for (size_t i = 0; i < bj_probe_count; i++) {
        const bj_probe *probe = bj_probes[i];
        const char *ways[] = {probe->paper_method, probe->servet_method};
        assert_false(bj_runner_is_literal(probe, NULL));
        assert_false(bj_runner_is_literal(probe, probe->methods[0]));
        for (size_t way = 0; way < 2; way++)
            assert_true(ways[way] == NULL || bj_runner_is_literal(probe, ways[way]));
        for (size_t m = 0; probe->literal_methods != NULL && probe->literal_methods[m] != NULL; m++)
            assert_non_null(bj_runner_find_method(probe, probe->literal_methods[m]));
    }
    assert_true(bj_runner_is_literal(bj_probe_find("cache"), "gradient_peaks"));
    assert_true(bj_runner_is_literal(bj_probe_find("cache"), "binomial_size_literal"));
    assert_false(bj_runner_is_literal(bj_probe_find("cache"), "change_points"));
    assert_false(bj_runner_is_literal(bj_probe_find("op"), "median_ratio"));
    bj_probe adopted = *bj_probe_find("line"); /* a paper's way that is our default as well */
    adopted.methods = (const char *const[]){adopted.paper_method, "pairs", NULL};
    assert_false(bj_runner_is_literal(&adopted, adopted.paper_method));
}

static void test_some(void **state) {
    (void)state;
    const bj_probe *cache = bj_probe_find("cache");
    assert_string_equal(bj_runner_find_method(cache, "paper"), "qt_cluster");
    assert_string_equal(bj_runner_find_method(cache, "servet"), "binomial_size");
    assert_null(bj_runner_find_method(bj_probe_find("clock"), "paper"));
    assert_string_equal(bj_runner_find_method(bj_probe_find("sharing"), "servet"), "servet");
    assert_null(bj_runner_find_method(bj_probe_find("sharing"), "paper"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_own_names), cmocka_unit_test(test_papers_are_methods),
                                       cmocka_unit_test(test_literal), cmocka_unit_test(test_some)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
