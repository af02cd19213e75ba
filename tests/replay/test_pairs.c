/* Published matrices of latencies between cpus through the analysis of the topology probe. */
#include "curve_fixture.h"

#include <stdlib.h>

enum { MOST_CPUS = 64, MOST_NODES = 128 };

/* One curve a row, as `blackjack analyze` has them. */
static void read_matrix(const char *name, double scale, bj_curves *samples) {
    char path[512], line[4096];
    bool source = false, licence = false;
    size_t row = 0;
    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    while (fgets(line, sizeof line, file) != NULL) {
        source = source || strncmp(line, "# Source: ", 10) == 0;
        licence = licence || strncmp(line, "# Licence: ", 11) == 0;
        if (line[0] == '#')
            continue;
        double x[MOST_CPUS], y[MOST_CPUS];
        size_t column = 0, count = 0;
        for (char *field = line; *field != '\0' && *field != '\n'; column++) {
            char *end = field;
            double ns = strtod(field, &end);
            if (end > field && ns > 0) {
                assert_true(count < MOST_CPUS);
                x[count] = (double)column;
                y[count++] = ns * scale;
            }
            field = *end == ',' ? end + 1 : end;
        }
        bj_curve *curve;
        char id[48];
        snprintf(id, sizeof id, "topology.table.%zu", row);
        assert_int_equal(bj_data_add_curve(samples, id, "topology", &curve, NULL), BJ_OK);
        assert_int_equal(bj_data_set_attribute_number(curve, "cpu", (double)row++, NULL), BJ_OK);
        if (count > 0)
            assert_int_equal(bj_data_record_table(curve, x, y, count, NULL), BJ_OK);
    }
    fclose(file);
    if (!source || !licence)
        fail_msg("%s does not say where it comes from", name);
}

static json_t *analyse(const char *name, double scale, bj_confidence *confidence) {
    static const bj_answers nothing;
    bj_curves samples = {0};
    bj_answers answers = {0};
    bj_error error = {""};
    bj_analyse_request request = {.earlier = &nothing, .seed = 1, .from_table = true};
    read_matrix(name, scale, &samples);
    if (bj_probe_find("topology")->analyse(&samples, &request, &answers, &error) != BJ_OK)
        fail_msg("%s: %s", name, error.text);
    const bj_answer *answer = bj_data_find_answer(&answers, "topology.tree");
    assert_non_null(answer);
    assert_int_equal(answers.count, 1);
    *confidence = answer->confidence;
    json_t *tree = json_loads(answer->structured, 0, NULL);
    assert_non_null(tree);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
    return tree;
}

static void list_nodes(json_t *node, json_t **nodes, size_t *count) {
    json_t *child;
    size_t i;
    json_array_foreach(json_object_get(node, "children"), i, child) {
        assert_true(*count < MOST_NODES);
        nodes[(*count)++] = json_object_get(child, "cpus");
        list_nodes(child, nodes, count);
    }
}

static bool is_among(json_t *group, json_t *list) {
    json_t *one;
    size_t i;
    json_array_foreach(list, i, one) if (json_equal(one, group)) return true;
    return false;
}

static void judge(json_t *entry, json_t *tree) {
    const char *name = json_string_value(json_object_get(entry, "file"));
    json_t *groups = json_object_get(entry, "groups"), *nodes[MOST_NODES], *group;
    size_t count = 0, i;
    list_nodes(tree, nodes, &count);
    for (i = 0; i < count; i++)
        if (!is_among(nodes[i], groups) && !is_among(nodes[i], json_object_get(entry, "optional")))
            fail_msg("%s: a group that is none (%s)", name, json_string_value(json_object_get(entry, "why")));
    json_array_foreach(groups, i, group) {
        bool found = false;
        for (size_t j = 0; j < count; j++)
            found = found || json_equal(nodes[j], group);
        if (!found)
            fail_msg("%s: a group is missing (%s)", name, json_string_value(json_object_get(entry, "why")));
    }
    /* Without a unit there are no latencies. */
    assert_null(json_object_get(tree, "latency_ns"));
}

static void test_groups_of_published_matrices(void **state) {
    (void)state;
    json_t *cases = read_expected("expected_pairs.json"), *entry;
    size_t i;
    assert_true(json_array_size(cases) >= 12);
    json_array_foreach(cases, i, entry) {
        bj_confidence confidence, scaled;
        const char *name = json_string_value(json_object_get(entry, "file"));
        json_t *tree = analyse(name, 1, &confidence), *other = analyse(name, 0.37, &scaled);
        judge(entry, tree);
        if (!json_is_true(json_object_get(entry, "tree_like")))
            assert_true(json_is_false(json_object_get(tree, "tree_like")));
        /* One sample a pair earns no more. */
        assert_true(confidence <= BJ_CONFIDENCE_MEDIUM);
        /* The unit does not matter. */
        assert_true(json_equal(tree, other));
        json_decref(other);
        json_decref(tree);
    }
    json_decref(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups_of_published_matrices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
