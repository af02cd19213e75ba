/* The probes of bandwidth and parallelism over the zoo: within a tenth of the truth (truth.json),
 * or undetermined where a level lies too close to the nearer one; a best pass is no slower than the median. What the
 * cache probe would find is taken from the truth too, so that these probes are judged by themselves. */
#include "zoo_fixture.h"

static const double TOLERANCE = 0.1;

/* Of one cpu; what all get at once is sim.cpus'. */
static bool is_rate(const char *key) {
    return (strstr(key, "_gbs") != NULL && strstr(key, ".full.") == NULL && strncmp(key, "numa.", 5) != 0) ||
           strcmp(key, "memory.parallelism") == 0;
}

typedef struct {
    unsigned right, wrong, undetermined, uncovered;
    unsigned by_luck; /* unstable: what frames happen to meet in a set decides, and the interval holds the truth */
} tally;

static void judge(const char *machine, const char *key, const bj_answer *answer, double truth, tally *count) {
    if (answer == NULL)
        fail_msg("%s: no answer for %s", machine, key);
    if (answer->status != BJ_ANSWER_OK && answer->status != BJ_ANSWER_UNSTABLE) {
        assert_true(answer->status == BJ_ANSWER_UNDETERMINED && answer->reason[0] != '\0');
        count->undetermined++;
        return;
    }
    assert_true(answer->has_interval);
    bool covered = truth >= answer->interval[0] * 0.98 && truth <= answer->interval[1] * 1.02;
    count->uncovered += !covered;
    if (fabs(answer->value - truth) <= TOLERANCE * truth) {
        count->right++;
        return;
    }
    if (answer->status == BJ_ANSWER_UNSTABLE && covered) {
        count->by_luck++;
        return;
    }
    print_error("%s: %s is %g, the truth is %g\n", machine, key, answer->value, truth);
    count->wrong++;
}

static void judge_best(const char *machine, const char *key, const bj_answers *answers) {
    char best[64];
    double middle, most;
    const char *unit = strstr(key, "_gbs");
    if (unit == NULL || strstr(key, "_best") != NULL || !bj_data_get_number(answers, key, &middle))
        return;
    snprintf(best, sizeof best, "%.*s_best_gbs", (int)(unit - key), key);
    if (!bj_data_get_number(answers, best, &most) || most < middle)
        fail_msg("%s: %s is %g, but not the best", machine, key, middle);
}

static void run_machine(const char *name, json_t *truth, tally *count) {
    const char *key;
    json_t *value;
    bj_machine *machine = open_zoo_machine(name);
    bj_answers answers = {0};
    json_object_foreach(truth, key, value) {
        if (strncmp(key, "cache.", 6) == 0 && !is_rate(key))
            put_number(&answers, key, json_number_value(value));
    }
    run_probe("bandwidth", machine, &answers);
    run_probe("parallelism", machine, &answers);
    json_object_foreach(truth, key, value) {
        judge_best(name, key, &answers);
        if (is_rate(key))
            judge(name, key, bj_data_find_answer(&answers, key), json_number_value(value), count);
    }
    bj_data_free_answers(&answers);
    close_machine(machine);
}

static void test_rates_of_the_zoo(void **state) {
    (void)state;
    json_t *truths = load_truths();
    const char *name;
    json_t *truth;
    tally all = {0};
    json_object_foreach(truths, name, truth) {
        tally count = {0};
        run_machine(name, json_object_get(truth, "characteristics"), &count);
        /* The system cache of this one is smaller than the level before it. */
        unsigned expected = strcmp(name, "apple_m1") == 0 ? 6 : 0;
        if (count.undetermined != expected)
            print_error("%s: %u undetermined\n", name, count.undetermined);
        /* One way and base pages: any two of its pages may meet. */
        if (count.by_luck > 0 && strcmp(name, "direct_mapped") != 0) {
            print_error("%s: %u unstable and off\n", name, count.by_luck);
            all.wrong += count.by_luck;
        }
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
