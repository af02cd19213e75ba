/* The probes of operations, live variables and vectors over the zoo: they must answer what the machine files say (truth.json).
 * A simulator only echoes these numbers, so this shows that nothing is lost on the way; the proof is native. */
#include "zoo_fixture.h"

static const double TOLERANCE = 0.03;

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_judged(const char *key) {
    return strncmp(key, "live.", 5) == 0 || strncmp(key, "vector.", 7) == 0 || (strncmp(key, "op.", 3) == 0 && !ends_with(key, "_ns"));
}

static bool is_right(const char *key, double value, double truth, bool counts_chains) {
    if (strncmp(key, "live.", 5) == 0 || strncmp(key, "vector.", 7) == 0)
        return value == truth;
    if (counts_chains && ends_with(key, ".in_flight"))
        return fabs(value - truth) < 1;
    return fabs(value - truth) <= TOLERANCE * truth;
}

static unsigned judge_machine(const char *name, json_t *truth, const bj_answers *answers, bool counts_chains,
                              unsigned *judged) {
    const char *key;
    json_t *value;
    unsigned wrong = 0;
    json_object_foreach(truth, key, value) {
        if (!is_judged(key))
            continue;
        const bj_answer *answer = bj_data_find_answer(answers, key);
        if (answer == NULL || answer->status != BJ_ANSWER_OK ||
            !is_right(key, answer->value, json_number_value(value), counts_chains)) {
            print_error("%s: %s is %g (%s), the truth is %g\n", name, key, answer != NULL ? answer->value : NAN,
                        answer != NULL ? answer->reason : "no answer", json_number_value(value));
            wrong++;
            continue;
        }
        ++*judged;
    }
    for (size_t i = 0; i < answers->count; i++) {
        const bj_answer *answer = &answers->items[i];
        /* What the file does not have is not answered, and said so. */
        if (json_object_get(truth, answer->key) != NULL)
            continue;
        if (answer->status == BJ_ANSWER_OK || answer->status == BJ_ANSWER_FAILED || answer->reason[0] == '\0') {
            print_error("%s: %s is answered, and not in the file\n", name, answer->key);
            wrong++;
        }
    }
    return wrong;
}

static void run_zoo(const char *method) {
    json_t *truths = load_truths(), *truth;
    const char *name;
    unsigned wrong = 0, judged = 0;
    json_object_foreach(truths, name, truth) {
        bj_machine *machine = open_zoo_machine(name);
        bj_answers answers = {0};
        run_probe_by(method, "op", machine, &answers);
        run_probe("live", machine, &answers);
        run_probe("vector", machine, &answers);
        wrong += judge_machine(name, json_object_get(truth, "characteristics"), &answers, method != NULL, &judged);
        bj_data_free_answers(&answers);
        close_machine(machine);
    }
    json_decref(truths);
    print_message("%u right within %g%%\n", judged, 100 * TOLERANCE);
    assert_int_equal(wrong, 0);
    assert_true(judged > 300);
}

static void test_zoo(void **state) {
    (void)state;
    run_zoo(NULL);
}

static void test_zoo_as_the_paper_has_it(void **state) {
    (void)state;
    run_zoo("second_lowest");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zoo), cmocka_unit_test(test_zoo_as_the_paper_has_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
