/* The topology probe over machines of the zoo and made-up ones: the tree must be the file's, with few pairs where there
 * are many cpus and whatever their numbers; what is no tree must be said to be none. */
#include "zoo_fixture.h"

#include "base/random.h"

enum { MOST_CPUS = 256, MOST_GROUPS = 512 };

typedef struct {
    bj_machine *machine;
    bj_answers answers;
    json_t *tree, *kinds;
    const bj_answer *tree_answer;
    double seconds;
    size_t experiments; /* of many walks at once */
} found;

/* What the probes before would have told, from the file. */
static void put_caches(json_t *file, bj_answers *answers) {
    json_t *caches = json_object_get(file, "caches"), *cache;
    size_t i;
    char key[64];
    put_number(answers, "cache.levels", (double)json_array_size(caches));
    put_number(answers, "cache.line_bytes", 64);
    json_array_foreach(caches, i, cache) {
        double bytes = json_number_value(json_object_get(cache, "size"));
        snprintf(key, sizeof key, "cache.L%zu.size_bytes", i + 1);
        put_number(answers, key, bytes);
        snprintf(key, sizeof key, "cache.L%zu.capacity_bytes", i + 1);
        put_number(answers, key, bytes);
    }
}

static json_t *parse_answer(const bj_answers *answers, const char *key, const bj_answer **answer) {
    const bj_answer *one = bj_data_find_answer(answers, key);
    assert_non_null(one);
    if (!bj_data_has_value(one))
        fail_msg("%s: %s", key, one->reason);
    json_t *value = json_loads(one->structured, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(value);
    if (answer != NULL)
        *answer = one;
    return value;
}

/* Takes the file. */
static found explore(json_t *file) {
    found what = {0};
    bj_curves samples = {0};
    bj_answers earlier = {0};
    bj_error error = {""};
    const bj_probe *probe = bj_probe_find("topology");
    put_caches(file, &earlier);
    what.machine = open_changed(file);
    bj_measure_request measuring = {.machine = what.machine,
                                    .cpu = what.machine->facts.cpus[0],
                                    .effort = BJ_EFFORT_QUICK,
                                    .seed = SEED,
                                    .deadline_s = INFINITY,
                                    .memory_bytes = what.machine->facts.memory_limit_bytes / 4,
                                    .earlier = &earlier,
                                    .report_progress = never_stop};
    bj_analyse_request analysing = {.earlier = &earlier, .seed = SEED};
    if (probe->measure(&measuring, &samples, &error) != BJ_OK ||
        probe->analyse(&samples, &analysing, &what.answers, &error) != BJ_OK)
        fail_msg("%s", error.text);
    what.seconds = what.machine->verbs->read_clock(what.machine);
    for (size_t i = 0; i < samples.count; i++)
        what.experiments += strncmp(samples.items[i].id, "topology.together.", 18) == 0;
    what.tree = parse_answer(&what.answers, "topology.tree", &what.tree_answer);
    what.kinds = parse_answer(&what.answers, "cpu.kinds", NULL);
    bj_data_free_curves(&samples);
    bj_data_free_answers(&earlier);
    return what;
}

static void forget(found *what) {
    json_decref(what->tree);
    json_decref(what->kinds);
    bj_data_free_answers(&what->answers);
    close_machine(what->machine);
}

/* Groups of cpus as sorted text, so that they can be compared as strings. */
typedef struct {
    char *items[MOST_GROUPS];
    size_t count;
} group_list;

static int compare_ints(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_group(group_list *list, int *cpus, size_t count) {
    char *text = calloc(count, 8);
    assert_non_null(text);
    qsort(cpus, count, sizeof *cpus, compare_ints);
    for (size_t i = 0; i < count; i++)
        sprintf(text + strlen(text), "%d ", cpus[i]);
    assert_true(list->count < MOST_GROUPS);
    list->items[list->count++] = text;
}

/* All nodes below this one. */
static void list_nodes(json_t *node, group_list *list) {
    json_t *child;
    size_t i;
    json_array_foreach(json_object_get(node, "children"), i, child) {
        int cpus[MOST_CPUS];
        json_t *numbers = json_object_get(child, "cpus");
        size_t count = json_array_size(numbers);
        for (size_t j = 0; j < count; j++)
            cpus[j] = (int)json_integer_value(json_array_get(numbers, j));
        add_group(list, cpus, count);
        list_nodes(child, list);
    }
}

/* Runs of so many cpus in the order of the tree, by their OS numbers. */
static void expect_runs(json_t *numbering, size_t cpus, size_t run, group_list *list) {
    for (size_t first = 0; first < cpus; first += run) {
        int members[MOST_CPUS];
        for (size_t i = 0; i < run; i++)
            members[i] = (int)json_integer_value(json_array_get(numbering, first + i));
        add_group(list, members, run);
    }
}

static void assert_nodes(const found *what, group_list *expected) {
    group_list nodes = {0};
    list_nodes(what->tree, &nodes);
    qsort(nodes.items, nodes.count, sizeof nodes.items[0], compare_texts);
    qsort(expected->items, expected->count, sizeof expected->items[0], compare_texts);
    assert_int_equal(nodes.count, expected->count);
    for (size_t i = 0; i < nodes.count; i++) {
        assert_string_equal(nodes.items[i], expected->items[i]);
        free(nodes.items[i]);
        free(expected->items[i]);
    }
}

/* `sizes` of the groups, ended by 0; the file has an explicit numbering. */
static void assert_tree(const found *what, json_t *numbering, const size_t *sizes) {
    group_list expected = {0};
    for (; *sizes > 0; sizes++)
        expect_runs(numbering, json_array_size(numbering), *sizes, &expected);
    assert_nodes(what, &expected);
}

/* OS numbers at random, or as the tree has them. */
static json_t *number_cpus(json_t *file, uint64_t seed) {
    uint32_t numbers[MOST_CPUS];
    size_t cpus = (size_t)json_integer_value(json_object_get(file, "cpus"));
    bj_random random;
    bj_random_seed(&random, seed);
    for (size_t i = 0; i < cpus; i++)
        numbers[i] = (uint32_t)i;
    if (seed > 0)
        bj_random_shuffle_u32(&random, numbers, cpus);
    json_t *numbering = json_array();
    for (size_t i = 0; i < cpus; i++)
        json_array_append_new(numbering, json_integer(numbers[i]));
    json_object_set(file, "numbering", numbering);
    return numbering;
}

static double get_number(const json_t *value, const char *key) {
    return json_number_value(json_object_get(value, key));
}

static void test_gainestown(void **state) {
    (void)state;
    found what = explore(load_machine("nehalem_ep"));
    group_list expected = {0};
    add_group(&expected, (int[]){0, 2, 4, 6}, 4);
    add_group(&expected, (int[]){1, 3, 5, 7}, 4);
    assert_nodes(&what, &expected);
    assert_int_equal(what.tree_answer->confidence, BJ_CONFIDENCE_HIGH);
    assert_true(fabs(get_number(what.tree, "latency_ns") - 105) < 5);
    assert_true(get_number(what.tree, "across_ns") > 2 * get_number(what.tree, "inside_ns"));
    assert_int_equal(json_array_size(what.kinds), 1);
    /* Eight cpus, four of them with a near and a far pair each: blocks were exchanged by some. */
    assert_non_null(strstr(bj_data_find_answer(&what.answers, "topology.pairs")->structured, "\"gbs\": 1."));
    forget(&what);
}

static void test_dunnington(void **state) {
    (void)state;
    json_t *file = load_machine("dunnington"), *numbering = json_incref(json_object_get(file, "numbering"));
    found what = explore(file);
    assert_tree(&what, numbering, (const size_t[]){2, 6, 0});
    json_decref(numbering);
    forget(&what);
}

static void test_finis_terrae(void **state) {
    (void)state;
    json_t *file = load_machine("finis_terrae"), *numbering = number_cpus(file, 0);
    found what = explore(file);
    assert_tree(&what, numbering, (const size_t[]){2, 8, 0});
    json_decref(numbering);
    forget(&what);
}

static void assert_no_tree(json_t *file, json_t *numbering, size_t node, size_t nodes) {
    found what = explore(file);
    assert_tree(&what, numbering, (const size_t[]){node, 0});
    assert_true(json_is_false(json_object_get(what.tree, "tree_like")));
    assert_true(what.tree_answer->confidence <= BJ_CONFIDENCE_MEDIUM);
    json_t *distances = json_object_get(what.tree, "distances_ns");
    assert_int_equal(json_array_size(distances), nodes);
    for (size_t i = 0; i < nodes; i++)
        for (size_t j = 0; j < nodes; j++)
            assert_true(json_is_number(json_array_get(json_array_get(distances, i), j)));
    json_decref(numbering);
    forget(&what);
}

static void test_square_and_mesh(void **state) {
    (void)state;
    json_t *file = load_machine("opteron_square");
    assert_no_tree(file, number_cpus(file, 0), 4, 4);
    file = load_machine("mesh_9");
    assert_no_tree(file, number_cpus(file, 3), 4, 9);
}

/* Sixteen nodes on a mesh of four by four: too many cpus for all pairs. */
static void test_large_mesh(void **state) {
    (void)state;
    json_t *file = load_machine("mesh_9"), *links = json_array();
    for (int i = 0; i < 16; i++) {
        json_t *row = json_array();
        for (int j = 0; j < 16; j++)
            json_array_append_new(row, json_integer(85 + 45 * (abs(i / 4 - j / 4) + abs(i % 4 - j % 4))));
        json_array_append_new(links, row);
    }
    json_object_set_new(file, "links", links);
    json_object_set_new(file, "cpus", json_integer(64));
    json_object_set_new(file, "numa_nodes", json_integer(16));
    json_object_set_new(json_object_get(file, "memory"), "domains", json_array());
    assert_no_tree(file, number_cpus(file, 5), 4, 16);
}

static void test_kinds(void **state) {
    (void)state;
    found what = explore(load_machine("hybrid_8p8e"));
    assert_int_equal(json_array_size(what.kinds), 2);
    json_t *fast = json_array_get(what.kinds, 0), *slow = json_array_get(what.kinds, 1);
    assert_int_equal(json_array_size(json_object_get(fast, "cpus")), 16);
    assert_int_equal(json_array_size(json_object_get(slow, "cpus")), 8);
    assert_true(fabs(get_number(fast, "clock_ghz") - 5.0) < 0.1 && fabs(get_number(slow, "clock_ghz") - 3.8) < 0.1);
    assert_true(get_number(fast, "l1_bytes") == 49152 && get_number(slow, "l1_bytes") == 32768);
    forget(&what);
}

/* A cache that all share makes a line cost the same for every pair; beyond it, memory has two nodes. */
static void test_large_block_decides(void **state) {
    (void)state;
    json_t *file = load_machine("nehalem_ep"), *numbering = number_cpus(file, 2);
    json_object_set_new(json_array_get(json_object_get(file, "caches"), 2), "shared_by", json_integer(8));
    found what = explore(file);
    assert_tree(&what, numbering, (const size_t[]){4, 0});
    assert_true(get_number(what.tree, "block_bytes") > 8 << 20);
    assert_true(get_number(what.tree, "across_ns") > 1.2 * get_number(what.tree, "inside_ns"));
    json_decref(numbering);
    forget(&what);
}

/* Half of the machine, which is the same to the probe and takes the simulator half of the time; bench/multicore.py has
 * all of it. */
static void test_many_shuffled(void **state) {
    (void)state;
    json_t *file = load_machine("epyc_2x64");
    json_object_set_new(file, "cpus", json_integer(128));
    json_object_set_new(file, "numa_nodes", json_integer(4));
    json_object_set_new(json_object_get(file, "memory"), "domains", json_array());
    json_t *numbering = number_cpus(file, 1);
    found what = explore(file);
    assert_tree(&what, numbering, (const size_t[]){2, 16, 32, 64, 0});
    assert_true(what.tree_answer->confidence >= BJ_CONFIDENCE_MEDIUM);
    assert_true(get_number(what.tree, "pairs_measured") <= 3 * 128);
    assert_true(get_number(what.tree, "pairs_possible") == 8128);
    assert_true(what.experiments <= 4 * 7);
    assert_true(what.seconds < 60);
    json_decref(numbering);
    forget(&what);
}

/* Four threads a core, which codes cannot decode: the numbering orders the questions where it is regular, and pairs
 * answer them where it is not. */
static void test_four_threads(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 2; seed++) { /* 0: as the tree has them */
        json_t *file = load_machine("ring_8"), *numbering = NULL, *cache;
        size_t i;
        json_object_del(file, "links");
        json_object_set_new(file, "cpus", json_integer(40));
        json_object_set_new(file, "smt", json_integer(4));
        json_object_set_new(file, "numa_nodes", json_integer(2));
        json_object_set_new(file, "sockets", json_integer(2));
        json_object_set_new(file, "exchange", json_pack("{s:i, s:i, s:i}", "smt", 8, "L3", 45, "remote", 130));
        json_array_foreach(json_object_get(file, "caches"), i, cache)
            json_object_set_new(cache, "shared_by", json_integer(i < 2 ? 4 : 20));
        json_object_set_new(json_object_get(file, "memory"), "domains", json_array());
        numbering = number_cpus(file, seed);
        found what = explore(file);
        assert_tree(&what, numbering, (const size_t[]){4, 20, 0});
        assert_true(get_number(what.tree, "pairs_measured") <= (seed == 0 ? 3 * 40 : 6 * 40));
        json_decref(numbering);
        forget(&what);
    }
}

static void test_one_and_two_cpus(void **state) {
    (void)state;
    const bj_probe *probe = bj_probe_find("topology");
    bj_machine *machine = open_zoo_machine("nehalem_ep");
    for (size_t cpus = 1; cpus <= 2; cpus++) {
        bj_curves samples = {0};
        bj_answers earlier = {0}, answers = {0};
        bj_error error = {""};
        machine->facts.cpu_count = cpus;
        bj_measure_request measuring = {.machine = machine,
                                        .cpu = machine->facts.cpus[0],
                                        .deadline_s = INFINITY,
                                        .memory_bytes = 1 << 28,
                                        .earlier = &earlier,
                                        .report_progress = never_stop};
        bj_analyse_request analysing = {.earlier = &earlier};
        assert_int_equal(probe->measure(&measuring, &samples, &error), BJ_OK);
        assert_int_equal(probe->analyse(&samples, &analysing, &answers, &error), BJ_OK);
        const bj_answer *tree = bj_data_find_answer(&answers, "topology.tree");
        assert_int_equal(answers.count, 3);
        assert_int_equal(tree->status, cpus == 1 ? BJ_ANSWER_UNDETERMINED : BJ_ANSWER_OK);
        if (cpus == 1)
            assert_non_null(strstr(tree->reason, "nothing to compare"));
        else
            assert_non_null(strstr(tree->structured, "\"cpus\": [0, 1], \"latency_ns\": 105"));
        bj_data_free_answers(&answers);
        bj_data_free_curves(&samples);
    }
    close_machine(machine);
}

/* What is said of two cpus whose turns take so long, round by round. */
static bj_answers answer_rounds(const double *ns, size_t count) {
    bj_curves samples = {0};
    bj_answers earlier = {0}, answers = {0};
    bj_error error = {""};
    bj_curve *yardstick, *pair;
    assert_int_equal(bj_data_add_curve(&samples, "topology.yardstick", "topology", &yardstick, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(yardstick, "compared", 1, &error), BJ_OK);
    for (size_t r = 0; r < count; r++)
        for (int cpu = 0; cpu < 2; cpu++)
            assert_int_equal(bj_data_record_sample(yardstick, cpu, r, 0.3, &error), BJ_OK);
    assert_int_equal(bj_data_add_curve(&samples, "topology.pairs.0", "topology", &pair, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_text(pair, "part", "pairs", &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(pair, "cpu", 0, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(pair, "block_bytes", 64, &error), BJ_OK);
    for (size_t r = 0; r < count; r++)
        assert_int_equal(bj_data_record_sample(pair, 1, r, ns[r], &error), BJ_OK);
    bj_analyse_request analysing = {.earlier = &earlier, .seed = SEED};
    if (bj_probe_find("topology")->analyse(&samples, &analysing, &answers, &error) != BJ_OK)
        fail_msg("%s", error.text);
    bj_data_free_curves(&samples);
    return answers;
}

static void test_rounds_that_differ(void **state) {
    (void)state;
    static const double steady[] = {72, 73, 72, 74, 72, 73, 73, 72, 72, 73, 74};
    static const double pinned_away[] = {72, 73, 72, 1804, 72, 73, 73, 72, 72, 73, 74};
    static const double moved[] = {118, 348, 532, 518, 478, 120, 119, 350, 348};
    static const struct {
        const double *ns;
        size_t count;
        bj_answer_status status;
        bj_confidence most;
        const char *spread;
    } cases[] = {
        {steady, 11, BJ_ANSWER_OK, BJ_CONFIDENCE_HIGH, "\"spread_ns\": [36, 37]"},
        {pinned_away, 11, BJ_ANSWER_UNSTABLE, BJ_CONFIDENCE_MEDIUM, "\"spread_ns\": [36, 902]"},
        {moved, 9, BJ_ANSWER_UNSTABLE, BJ_CONFIDENCE_LOW, "\"spread_ns\": [59, 266]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bj_answers answers = answer_rounds(cases[i].ns, cases[i].count);
        static const char *const keys[] = {"topology.tree", "topology.pairs"};
        for (size_t k = 0; k < 2; k++) {
            const bj_answer *answer = bj_data_find_answer(&answers, keys[k]);
            assert_int_equal(answer->status, cases[i].status);
            if (answer->confidence > cases[i].most)
                fail_msg("case %zu, %s: confidence %d", i, keys[k], (int)answer->confidence);
            assert_true((answer->reason[0] != '\0') == (answer->status != BJ_ANSWER_OK));
        }
        const bj_answer *tree = bj_data_find_answer(&answers, "topology.tree");
        assert_non_null(strstr(tree->structured, cases[i].spread));
        if (i == 0)
            assert_int_equal(tree->confidence, BJ_CONFIDENCE_HIGH);
        bj_data_free_answers(&answers);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gainestown),          cmocka_unit_test(test_dunnington),
        cmocka_unit_test(test_finis_terrae),        cmocka_unit_test(test_square_and_mesh),
        cmocka_unit_test(test_large_mesh),          cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_large_block_decides), cmocka_unit_test(test_many_shuffled),
        cmocka_unit_test(test_four_threads),        cmocka_unit_test(test_one_and_two_cpus),
        cmocka_unit_test(test_rounds_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
