/* The 2012 paper's execution contexts (3.4), scheduler slot (3.6) and live ranges (3.5), Servet's groups of cpus (III-B
 * and III-C) and the locality tree (3.1.4). */
#include "paper_fixture.h"

static json_t *machine_of_scheduler(const char *name, const char *balance, double interrupts) {
    json_t *file = load_machine(name);
    json_object_set_new(file, "scheduler",
                        json_pack("{s:s,s:f,s:f,s:f}", "balance", balance, "slot_ms", 4.0, "interrupt_us", 30.0,
                                  "interrupts_per_slot", interrupts));
    return file;
}

/* Beyond N a balancing system gives linear growth, a sticky one steps at N, 2N, 3N: both answer N. */
static void test_contexts(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        double integer, memory;
    } cases[] = {{"power7", 8, 32}, {"core2_duo", 2, 2}, {"dunnington", 24, 24}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const char *balance = i % 2 == 0 ? "balanced" : "sticky";
        bj_answers answers = ASK(machine_of_scheduler(cases[i / 2].machine, balance, 1), "paper", "contexts");
        ASSERT_NUMBER(&answers, "contexts.int", cases[i / 2].integer);
        ASSERT_NUMBER(&answers, "contexts.fp", cases[i / 2].integer);
        ASSERT_NUMBER(&answers, "contexts.memory", cases[i / 2].memory);
        bj_data_free_answers(&answers);
    }
}

/* Apexes at one, two, three: as many threads on one cpu. And one thread more at a time. */
static void test_sticky_steps(void **state) {
    (void)state;
    bj_machine *machine = open_changed(machine_of_scheduler("dempsey", "sticky", 1));
    bj_curves samples = {0};
    measure_samples("first_step", "contexts", machine, NULL, &samples);
    const bj_curve *curve = bj_data_find_curve(&samples, "contexts.int.time");
    assert_true(curve != NULL && curve->x_count >= 9);
    for (size_t i = 0; i < curve->x_count; i++) {
        assert_true(curve->x[i] == (double)i + 1);
        double height = curve->rounds[0][i] / curve->rounds[0][0];
        assert_true(fabs(height - ceil(curve->x[i] / 4)) < 0.2);
    }
    bj_data_free_curves(&samples);
    close_machine(machine);
}

/* The most common gap is the slot, unless interrupts are more common: then it is theirs, where our default says 4 ms
 * all the same. */
static void test_slot(void **state) {
    (void)state;
    bj_answers quiet = ASK(machine_of_scheduler("core2_duo", "balanced", 0.5), "paper", "slot");
    ASSERT_WITHIN(&quiet, "scheduler.slot_ms", 3.8, 4.3);
    bj_answers busy = ASK(machine_of_scheduler("core2_duo", "balanced", 12), "paper", "slot");
    ASSERT_WITHIN(&busy, "scheduler.slot_ms", 0.02, 0.2);
    bj_answers own = ASK(machine_of_scheduler("core2_duo", "balanced", 12), NULL, "slot");
    ASSERT_WITHIN(&own, "scheduler.slot_ms", 3.8, 4.3);
    bj_data_free_answers(&quiet);
    bj_data_free_answers(&busy);
    bj_data_free_answers(&own);
}

/* Twice as many threads as there are contexts, and gaps of more than 20 µs. */
static void test_slot_threads(void **state) {
    (void)state;
    bj_machine *machine = open_zoo_machine("dempsey");
    bj_curves samples = {0};
    double contexts = 0;
    measure_samples("mode", "slot", machine, NULL, &samples);
    const bj_curve *gaps = bj_data_find_curve(&samples, "slot.gaps");
    assert_true(gaps != NULL && bj_data_get_attribute_number(gaps, "contexts", &contexts) && contexts == 4);
    for (size_t i = 0; i < gaps->x_count; i++)
        assert_true(isnan(gaps->rounds[0][i]) || gaps->rounds[0][i] > 0.02);
    bj_data_free_curves(&samples);
    close_machine(machine);
}

/* Registers for a program's variables: fewer than there are, and from 3 to 132 are tried. */
static void test_live_ranges(void **state) {
    (void)state;
    bj_answers answers = ASK(load_machine("power7"), "paper", "live");
    ASSERT_NUMBER(&answers, "live.int32", 27);
    ASSERT_WITHIN(&answers, "live.float", 31, 32);
    bj_data_free_answers(&answers);
}

static void put_groups_needed(bj_answers *answers, unsigned levels, const double *kib, const double *ns) {
    put_number(answers, "cache.levels", levels);
    put_number(answers, "cache.line_bytes", 64);
    for (unsigned i = 0; i <= levels; i++) {
        char key[48];
        snprintf(key, sizeof key, "cache.L%u.capacity_bytes", i + 1);
        if (i < levels)
            put_number(answers, key, kib[i] * KIB);
        snprintf(key, sizeof key, i < levels ? "cache.L%u.latency_ns" : "memory.latency_ns", i + 1);
        put_number(answers, key, ns[i]);
    }
}

/* "The benchmark detects that all the caches are private", and who collides: four on a bus get the least, those of the
 * other bus of the cell a quarter less than alone, the other cell nothing less. */
static void test_finis_terrae(void **state) {
    (void)state;
    bj_machine *machine = open_zoo_machine("finis_terrae");
    bj_answers answers = {0};
    put_groups_needed(&answers, 3, (const double[]){16, 256, 9216}, (const double[]){0.63, 3.1, 8.8, 156});
    ask("servet", "sharing", machine, &answers);
    for (unsigned level = 1; level <= 3; level++) {
        char key[48];
        snprintf(key, sizeof key, "cache.L%u.sharing", level);
        const bj_answer *sharing = bj_data_find_answer(&answers, key);
        assert_true(sharing != NULL && sharing->structured != NULL);
        assert_string_equal(sharing->structured, "[]");
    }
    ask("servet", "contention", machine, &answers);
    const bj_answer *contention = bj_data_find_answer(&answers, "memory.contention");
    assert_true(contention != NULL && contention->structured != NULL);
    json_t *found = json_loads(contention->structured, 0, NULL), *levels = json_object_get(found, "levels");
    assert_int_equal(json_array_size(levels), 2);
    double reference = json_number_value(json_object_get(found, "reference_gbs"));
    static const size_t groups[] = {4, 2};
    static const double shares[] = {0.55, 0.75};
    for (size_t i = 0; i < 2; i++) {
        json_t *level = json_array_get(levels, i);
        assert_int_equal(json_array_size(json_object_get(level, "groups")), groups[i]);
        assert_true(fabs(json_number_value(json_object_get(level, "gbs")) / reference - shares[i]) < 0.03);
    }
    json_decref(found);
    bj_data_free_answers(&answers);
    close_machine(machine);
}

/* The tree of a machine whose caches are known; the caller frees it. */
static json_t *find_tree(bj_machine *machine, unsigned levels, const double *kib, const double *ns) {
    bj_answers answers = {0};
    put_groups_needed(&answers, levels, kib, ns);
    ask("paper", "topology", machine, &answers);
    const bj_answer *answer = bj_data_find_answer(&answers, "topology.tree");
    assert_true(answer != NULL && answer->structured != NULL);
    json_t *root = json_loads(answer->structured, 0, NULL);
    bj_data_free_answers(&answers);
    return root;
}

static json_t *assert_split(json_t *node, size_t children, size_t cpus, double least_bytes, double most_bytes) {
    json_t *list = json_object_get(node, "children");
    double bytes = json_number_value(json_object_get(node, "block_bytes"));
    assert_int_equal(json_array_size(list), children);
    for (size_t i = 0; i < children; i++)
        assert_int_equal(json_array_size(json_object_get(json_array_get(list, i), "cpus")), cpus);
    if (children > 0 && !(bytes >= least_bytes && bytes <= most_bytes))
        fail_msg("split at %g bytes, expected %g to %g", bytes, least_bytes, most_bytes);
    return list;
}

/* "A locality tree with just two levels", the root and two cliques of four, split at the largest block: "no additional
 * asymmetries" at the smaller ones. And all pairs, at every block. */
static void test_gainestown(void **state) {
    (void)state;
    bj_machine *machine = open_zoo_machine("nehalem_ep");
    static const double kib[] = {32, 256, 8192}, ns[] = {1.77, 4.4, 16.8, 84};
    json_t *root = find_tree(machine, 3, kib, ns);
    assert_int_equal(json_integer_value(json_object_get(root, "pairs_measured")), 28);
    json_t *children = assert_split(root, 2, 4, 4 * 8192 * KIB, 4 * 8192 * KIB);
    for (size_t i = 0; i < 2; i++)
        assert_split(json_array_get(children, i), 0, 0, 0, 0);
    json_decref(root);
    bj_answers known = {0};
    bj_curves samples = {0};
    put_groups_needed(&known, 3, kib, ns);
    measure_samples("all_pairs", "topology", machine, &known, &samples);
    size_t sweeps = 0;
    for (size_t i = 0; i < samples.count; i++) {
        const bj_curve *curve = &samples.items[i];
        if (!bj_data_has_attribute_text(curve, "part", "blocks"))
            continue;
        sweeps++;
        assert_true(curve->x[0] < 32 * KIB && curve->x[curve->x_count - 1] == 4 * 8192 * KIB);
    }
    assert_int_equal(sweeps, 28);
    bj_data_free_curves(&samples);
    bj_data_free_answers(&known);
    close_machine(machine);
}

/* From the top down: a level of caches splits at the first block that it holds. */
static void test_tree_of_caches(void **state) {
    (void)state;
    bj_machine *machine = open_zoo_machine("dunnington");
    json_t *root = find_tree(machine, 3, (const double[]){32, 3072, 12288}, (const double[]){1.25, 6.25, 28, 108});
    json_t *sixes = assert_split(root, 4, 6, 3072 * KIB, 12288 * KIB);
    for (size_t i = 0; i < 4; i++) {
        json_t *pairs = assert_split(json_array_get(sixes, i), 3, 2, 32 * KIB, 3072 * KIB);
        assert_split(json_array_get(pairs, 0), 0, 0, 0, 0);
    }
    json_decref(root);
    close_machine(machine);
}

/* Four chips on a square, eight nodes on a ring: cliques of cpus, and no cliques of neighbours. */
static void test_no_tree(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        double kib[3], ns[4];
        size_t nodes;
    } cases[] = {{"opteron_square", {64, 512, 4096}, {1.2, 5, 18, 90}, 4},
                 {"ring_8", {32, 256, 6144}, {1.5, 4, 15, 90}, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bj_machine *machine = open_zoo_machine(cases[i].machine);
        json_t *root = find_tree(machine, 3, cases[i].kib, cases[i].ns);
        assert_true(json_is_false(json_object_get(root, "tree_like")));
        json_t *children = assert_split(root, cases[i].nodes, 4, 4096 * KIB, 4 * 6144 * KIB);
        for (size_t c = 0; c < cases[i].nodes; c++)
            assert_split(json_array_get(children, c), 0, 0, 0, 0);
        json_decref(root);
        close_machine(machine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contexts),     cmocka_unit_test(test_sticky_steps),   cmocka_unit_test(test_slot),
        cmocka_unit_test(test_slot_threads), cmocka_unit_test(test_live_ranges),    cmocka_unit_test(test_finis_terrae),
        cmocka_unit_test(test_gainestown),   cmocka_unit_test(test_tree_of_caches), cmocka_unit_test(test_no_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
