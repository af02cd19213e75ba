/* The probes of lines and associativity over the zoo, and over the zoo with every prefetcher switched on in turn: the
 * first level's always right, an outer one's right or undetermined. What the cache probe would find is taken from the
 * truth (truth.json), so that these probes are judged by themselves. */
#include "zoo_fixture.h"

static bool is_judged(const char *key) {
    return strstr(key, "line_bytes") != NULL || strstr(key, "associativity") != NULL;
}

typedef struct {
    unsigned right, wrong, undetermined;
} tally;

static void judge(const char *machine, const char *key, const bj_answer *answer, double truth, tally *count) {
    if (answer == NULL)
        fail_msg("%s: no answer for %s", machine, key);
    if (answer->status != BJ_ANSWER_OK && answer->status != BJ_ANSWER_UNSTABLE) {
        assert_true(answer->status == BJ_ANSWER_UNDETERMINED && answer->reason[0] != '\0');
        count->undetermined++;
        /* The first level's is never given up. */
        if (strcmp(key, "cache.line_bytes") != 0 && strcmp(key, "cache.L1.associativity") != 0)
            return;
    } else if (answer->value == truth && truth >= answer->interval[0] && truth <= answer->interval[1]) {
        count->right++;
        return;
    }
    print_error("%s: %s is %g (%s), the truth is %g\n", machine, key, answer->value, answer->reason, truth);
    count->wrong++;
}

/* The machine of the zoo, with a prefetcher more (NULL: as it is). */
static bj_machine *open_machine(const char *name, const char *prefetcher) {
    json_t *file = load_machine(name);
    if (prefetcher != NULL) {
        json_t *list = json_object_get(file, "prefetchers");
        if (list == NULL) {
            list = json_array();
            json_object_set_new(file, "prefetchers", list);
        }
        for (size_t i = json_array_size(list); i-- > 0;)
            if (strcmp(json_string_value(json_array_get(list, i)), prefetcher) == 0)
                json_array_remove(list, i);
        json_array_append_new(list, json_string(prefetcher));
    }
    return open_changed(file);
}

static void run_machine(const char *name, const char *prefetcher, json_t *truth, tally *count) {
    const char *key;
    json_t *value;
    bj_answers answers = {0};
    bj_machine *machine = open_machine(name, prefetcher);
    json_object_foreach(truth, key, value) {
        if ((strncmp(key, "cache.", 6) == 0 || strncmp(key, "memory.", 7) == 0) && !is_judged(key))
            put_number(&answers, key, json_number_value(value));
    }
    run_probe("line", machine, &answers);
    run_probe("associativity", machine, &answers);
    json_object_foreach(truth, key, value) {
        if (is_judged(key))
            judge(name, key, bj_data_find_answer(&answers, key), json_number_value(value), count);
    }
    bj_data_free_answers(&answers);
    close_machine(machine);
}

static tally run_zoo(const char *prefetcher, unsigned one_in) {
    json_t *truths = load_truths();
    const char *name;
    json_t *truth;
    tally all = {0};
    unsigned place = 0;
    json_object_foreach(truths, name, truth) {
        if (place++ % one_in == 0)
            run_machine(name, prefetcher, json_object_get(truth, "characteristics"), &all);
    }
    json_decref(truths);
    return all;
}

static void test_lines_of_the_zoo(void **state) {
    (void)state;
    tally all = run_zoo(NULL, 1);
    assert_int_equal(all.wrong, 0);
    /* Outer levels with a prefetcher before them or too large for a quick walk; ways without huge pages or with a hash.
     */
    print_message("right %u, undetermined %u\n", all.right, all.undetermined);
    assert_true(all.undetermined <= 0.4 * all.right);
}

/* Nothing is left open where nothing is in the way: LRU, pseudo-LRU, random, ways and sets that are no power of two. */
static void test_nothing_is_given_up(void **state) {
    (void)state;
    static const char *const names[] = {"silent",    "plru_caches", "random_replacement",
                                        "three_way", "l1_24k",      "l2_768k"};
    json_t *truths = load_truths();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tally count = {0};
        run_machine(names[i], NULL, json_object_get(json_object_get(truths, names[i]), "characteristics"), &count);
        if (count.undetermined + count.wrong > 0)
            fail_msg("%s: %u undetermined, %u wrong", names[i], count.undetermined, count.wrong);
    }
    json_decref(truths);
}

static void test_lines_under_prefetchers(void **state) {
    (void)state;
    static const char *const prefetchers[] = {"region", "adjacent", "stride", "next_line"};
    /* A quarter of the zoo each: bench/accuracy.py takes all. */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(run_zoo(prefetchers[i], 4).wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines_of_the_zoo),
                                       cmocka_unit_test(test_nothing_is_given_up),
                                       cmocka_unit_test(test_lines_under_prefetchers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
