/* The probes of lines and associativity over the zoo, and over the zoo with every prefetcher switched on in turn: the
 * first level's always right, an outer one's right or undetermined. What the cache probe would find is taken from the
 * truth (truth.json), so that these probes are judged by themselves. */
#include "../unit/sim_fixture.h"

#include <jansson.h>
#include <math.h>

#include "probes/probe.h"

enum { SEED = 7 };

static bool never_stop(void *context, double fraction) {
    (void)context;
    (void)fraction;
    return false;
}

static void put_number(bj_answers *answers, const char *key, double value) {
    bj_characteristic *answer = NULL;
    bj_error error = {""};
    if (bj_answers_put(answers, key, "", &answer, &error) != BJ_OK)
        fail_msg("%s", error.text);
    answer->value = value;
}

static bool is_judged(const char *key) {
    return strstr(key, "line_bytes") != NULL || strstr(key, "associativity") != NULL;
}

static void run_probe(const char *name, bj_machine *machine, bj_answers *answers) {
    const bj_probe *probe = bj_probe_find(name);
    assert_non_null(probe);
    bj_measure_request measuring = {.machine = machine,
                                    .cpu = machine->facts.cpus[0],
                                    .effort = BJ_EFFORT_QUICK,
                                    .seed = SEED,
                                    .deadline_s = INFINITY,
                                    .memory_bytes = machine->facts.memory_limit_bytes / 4,
                                    .earlier = answers,
                                    .report_progress = never_stop};
    bj_analyse_request analysing = {.earlier = answers, .seed = SEED};
    bj_curves samples = {0};
    bj_error error = {""};
    if (probe->measure(&measuring, &samples, &error) != BJ_OK ||
        probe->analyse(&samples, &analysing, answers, &error) != BJ_OK)
        fail_msg("%s on %s: %s", name, machine->facts.name, error.text);
    bj_curves_free(&samples);
}

typedef struct {
    unsigned right, wrong, undetermined;
} tally;

static void judge(const char *machine, const char *key, const bj_characteristic *answer, double truth, tally *count) {
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
    char path[600];
    snprintf(path, sizeof path, "%s/machines/%s.json", BJ_SOURCE_DIR, name);
    json_error_t trouble;
    json_t *file = json_load_file(path, 0, &trouble);
    if (file == NULL)
        fail_msg("%s: %s", path, trouble.text);
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
    char *text = json_dumps(file, 0);
    bj_machine *machine = open_text(text, SEED);
    free(text);
    json_decref(file);
    return machine;
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
            judge(name, key, bj_answers_find(&answers, key), json_number_value(value), count);
    }
    bj_answers_free(&answers);
    close_machine(machine);
}

static tally run_zoo(const char *prefetcher, unsigned one_in) {
    json_error_t trouble;
    json_t *truths = json_load_file(BJ_SOURCE_DIR "/tests/sim/truth.json", 0, &trouble);
    if (truths == NULL)
        fail_msg("truth.json: %s", trouble.text);
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
    json_error_t trouble;
    json_t *truths = json_load_file(BJ_SOURCE_DIR "/tests/sim/truth.json", 0, &trouble);
    if (truths == NULL)
        fail_msg("truth.json: %s", trouble.text);
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
