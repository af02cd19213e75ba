/* The probes of operations and live variables over the zoo: they must answer what the machine files say (truth.json).
 * A simulator only echoes these numbers, so this shows that nothing is lost on the way; the proof is native. */
#include "../unit/sim_fixture.h"

#include <jansson.h>
#include <math.h>

#include "probes/probe.h"

enum { SEED = 7 };
static const double TOLERANCE = 0.03;

static bool never_stop(void *context, double fraction) {
    (void)context;
    (void)fraction;
    return false;
}

static void run_probe(const char *name, const char *method, bj_machine *machine, bj_answers *answers) {
    const bj_probe *probe = bj_probe_find(name);
    assert_non_null(probe);
    bj_measure_request measuring = {.machine = machine,
                                    .cpu = machine->facts.cpus[0],
                                    .effort = BJ_EFFORT_QUICK,
                                    .seed = SEED,
                                    .deadline_s = INFINITY,
                                    .memory_bytes = machine->facts.memory_limit_bytes / 4,
                                    .method = method,
                                    .earlier = answers,
                                    .report_progress = never_stop};
    bj_analyse_request analysing = {.earlier = answers, .seed = SEED, .method = method};
    bj_curves samples = {0};
    bj_error error = {""};
    if (probe->measure(&measuring, &samples, &error) != BJ_OK ||
        probe->analyse(&samples, &analysing, answers, &error) != BJ_OK)
        fail_msg("%s on %s: %s", name, machine->facts.name, error.text);
    bj_curves_free(&samples);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_judged(const char *key) {
    return strncmp(key, "live.", 5) == 0 || (strncmp(key, "op.", 3) == 0 && !ends_with(key, "_ns"));
}

static bool is_right(const char *key, double value, double truth) {
    if (strncmp(key, "live.", 5) == 0)
        return value == truth;
    /* Halves round either way. */
    if (ends_with(key, ".in_flight"))
        return fabs(value - truth) <= 1;
    return fabs(value - truth) <= TOLERANCE * truth;
}

static unsigned judge_machine(const char *name, json_t *truth, const bj_answers *answers, unsigned *exact,
                              unsigned *judged) {
    const char *key;
    json_t *value;
    unsigned wrong = 0;
    json_object_foreach(truth, key, value) {
        if (!is_judged(key))
            continue;
        const bj_characteristic *answer = bj_answers_find(answers, key);
        if (answer == NULL || answer->status != BJ_ANSWER_OK ||
            !is_right(key, answer->value, json_number_value(value))) {
            print_error("%s: %s is %g (%s), the truth is %g\n", name, key, answer != NULL ? answer->value : NAN,
                        answer != NULL ? answer->reason : "no answer", json_number_value(value));
            wrong++;
            continue;
        }
        *exact += fabs(answer->value - json_number_value(value)) <= TOLERANCE * json_number_value(value);
        ++*judged;
    }
    for (size_t i = 0; i < answers->count; i++) {
        const bj_characteristic *answer = &answers->items[i];
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
    json_error_t trouble;
    json_t *truths = json_load_file(BJ_SOURCE_DIR "/tests/sim/truth.json", 0, &trouble), *truth;
    if (truths == NULL)
        fail_msg("truth.json: %s", trouble.text);
    const char *name;
    unsigned wrong = 0, exact = 0, judged = 0;
    json_object_foreach(truths, name, truth) {
        char path[600];
        snprintf(path, sizeof path, "%s/machines/%s.json", BJ_SOURCE_DIR, name);
        bj_machine *machine = NULL;
        bj_answers answers = {0};
        bj_error error = {""};
        if (bj_machine_open_simulated(path, SEED, &machine, &error) != BJ_OK)
            fail_msg("%s", error.text);
        run_probe("op", method, machine, &answers);
        run_probe("live", NULL, machine, &answers);
        wrong += judge_machine(name, json_object_get(truth, "characteristics"), &answers, &exact, &judged);
        bj_answers_free(&answers);
        close_machine(machine);
    }
    json_decref(truths);
    print_message("%u right, %u of them within %g%%\n", judged, exact, 100 * TOLERANCE);
    assert_int_equal(wrong, 0);
    assert_true(judged > 300 && exact >= 0.97 * judged);
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
