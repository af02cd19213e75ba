/* The probes of bandwidth and parallelism over the zoo: within a tenth of the truth (truth.json),
 * or undetermined where a level lies too close to the nearer one. What the cache probe would find is taken from the
 * truth too, so that these probes are judged by themselves. */
#include "../unit/sim_fixture.h"

#include <jansson.h>
#include <math.h>

#include "probes/probe.h"

enum { SEED = 7 };
static const double TOLERANCE = 0.1;

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

static bool is_rate(const char *key) {
    return strstr(key, "_gbs") != NULL || strcmp(key, "memory.parallelism") == 0;
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
    unsigned right, wrong, undetermined, uncovered;
} tally;

static void judge(const char *machine, const char *key, const bj_characteristic *answer, double truth, tally *count) {
    if (answer == NULL)
        fail_msg("%s: no answer for %s", machine, key);
    if (answer->status != BJ_ANSWER_OK && answer->status != BJ_ANSWER_UNSTABLE) {
        assert_true(answer->status == BJ_ANSWER_UNDETERMINED && answer->reason[0] != '\0');
        count->undetermined++;
        return;
    }
    assert_true(answer->has_interval);
    if (truth < answer->interval[0] * 0.98 || truth > answer->interval[1] * 1.02)
        count->uncovered++;
    if (fabs(answer->value - truth) <= TOLERANCE * truth) {
        count->right++;
        return;
    }
    print_error("%s: %s is %g, the truth is %g\n", machine, key, answer->value, truth);
    count->wrong++;
}

static void run_machine(const char *name, json_t *truth, tally *count) {
    char path[600];
    snprintf(path, sizeof path, "%s/machines/%s.json", BJ_SOURCE_DIR, name);
    const char *key;
    json_t *value;
    bj_machine *machine = NULL;
    bj_answers answers = {0};
    bj_error error = {""};
    if (bj_machine_open_simulated(path, SEED, &machine, &error) != BJ_OK)
        fail_msg("%s", error.text);
    json_object_foreach(truth, key, value) {
        if (strncmp(key, "cache.", 6) == 0 && !is_rate(key))
            put_number(&answers, key, json_number_value(value));
    }
    run_probe("bandwidth", machine, &answers);
    run_probe("parallelism", machine, &answers);
    json_object_foreach(truth, key, value) {
        if (is_rate(key))
            judge(name, key, bj_answers_find(&answers, key), json_number_value(value), count);
    }
    bj_answers_free(&answers);
    close_machine(machine);
}

static void test_rates_of_the_zoo(void **state) {
    (void)state;
    json_error_t trouble;
    json_t *truths = json_load_file(BJ_SOURCE_DIR "/tests/sim/truth.json", 0, &trouble);
    if (truths == NULL)
        fail_msg("truth.json: %s", trouble.text);
    const char *name;
    json_t *truth;
    tally all = {0};
    json_object_foreach(truths, name, truth) {
        tally count = {0};
        run_machine(name, json_object_get(truth, "characteristics"), &count);
        /* The system cache of this one is smaller than the level before it. */
        unsigned expected = strcmp(name, "apple_m1") == 0 ? 3 : 0;
        if (count.undetermined != expected)
            print_error("%s: %u undetermined\n", name, count.undetermined);
        all.undetermined += count.undetermined != expected;
        all.right += count.right;
        all.wrong += count.wrong;
        all.uncovered += count.uncovered;
    }
    json_decref(truths);
    assert_int_equal(all.wrong + all.undetermined, 0);
    print_message("right %u, intervals that miss the truth %u\n", all.right, all.uncovered);
    assert_true(all.uncovered <= 0.05 * all.right);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates_of_the_zoo)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
