/* The probes of execution contexts and scheduler slot over the zoo, as it is and with schedulers that leave threads
 * where they are: against what follows from the machine files (truth.json). A smoke test: what a machine file says of
 * threads can only be echoed; the proof is native (bench/sched.py). */
#include "zoo_fixture.h"

/* One thread more among so many takes less longer than noise does, if the waiting is shared out. */
static const double EXACT_UP_TO = 20, TOLERANCE = 0.05;
static const double SLOT_TOLERANCE = 0.1;

static bool is_judged(const char *key) {
    return strncmp(key, "contexts.", 9) == 0 || strcmp(key, "scheduler.slot_ms") == 0;
}

static double find_tolerance(const char *key, double truth) {
    if (key[0] == 's')
        return SLOT_TOLERANCE * truth;
    return truth > EXACT_UP_TO ? TOLERANCE * truth : 0;
}

typedef struct {
    unsigned right, wrong, uncovered;
} tally;

static void judge(const char *machine, const char *key, const bj_answer *answer, double truth, tally *count) {
    if (answer == NULL)
        fail_msg("%s: no answer for %s", machine, key);
    bool has_value = answer->status == BJ_ANSWER_OK || answer->status == BJ_ANSWER_UNSTABLE;
    if (has_value && fabs(answer->value - truth) <= find_tolerance(key, truth)) {
        count->right++;
        count->uncovered += truth < answer->interval[0] || truth > answer->interval[1];
        return;
    }
    print_error("%s: %s is %g (%s), the truth is %g\n", machine, key, answer->value, answer->reason, truth);
    count->wrong++;
}

static void run_machine(const char *name, const char *balance, json_t *truth, tally *count) {
    json_t *file = load_machine(name);
    if (balance != NULL) {
        json_t *scheduler = json_object_get(file, "scheduler");
        if (scheduler == NULL) {
            scheduler = json_object();
            json_object_set_new(file, "scheduler", scheduler);
        }
        json_object_set_new(scheduler, "balance", json_string(balance));
    }
    bj_machine *machine = open_changed(file);
    bj_answers answers = {0};
    run_probe("contexts", machine, &answers);
    run_probe("slot", machine, &answers);
    const char *key;
    json_t *value;
    json_object_foreach(truth, key, value) {
        if (is_judged(key))
            judge(name, key, bj_data_find_answer(&answers, key), json_number_value(value), count);
    }
    bj_data_free_answers(&answers);
    close_machine(machine);
}

static void run_zoo(const char *balance) {
    json_t *truths = load_truths();
    const char *name;
    json_t *truth;
    tally all = {0};
    json_object_foreach(truths, name, truth) {
        run_machine(name, balance, json_object_get(truth, "characteristics"), &all);
    }
    assert_int_equal(all.right + all.wrong, 4 * json_object_size(truths));
    json_decref(truths);
    assert_int_equal(all.wrong, 0);
    print_message("right %u, intervals that miss the truth %u\n", all.right, all.uncovered);
    assert_true(all.uncovered <= 0.05 * all.right);
}

static void test_zoo(void **state) {
    (void)state;
    run_zoo(NULL);
}

static void test_sticky_zoo(void **state) {
    (void)state;
    run_zoo("sticky");
}

/* Many short interrupts, and slots of other lengths. */
static void test_slots(void **state) {
    (void)state;
    static const double slots_ms[] = {0.7, 3, 10, 60};
    for (size_t i = 0; i < sizeof slots_ms / sizeof slots_ms[0]; i++) {
        json_t *file = load_machine("zen3");
        json_object_set_new(file, "scheduler",
                            json_pack("{s:f,s:f,s:f}", "slot_ms", slots_ms[i], "interrupt_us", 40.0,
                                      "interrupts_per_slot", slots_ms[i]));
        bj_machine *machine = open_changed(file);
        bj_answers answers = {0};
        run_probe("slot", machine, &answers);
        const bj_answer *slot = bj_data_find_answer(&answers, "scheduler.slot_ms");
        assert_non_null(slot);
        assert_int_equal(slot->status, BJ_ANSWER_OK);
        assert_true(fabs(slot->value - slots_ms[i]) <= SLOT_TOLERANCE * slots_ms[i]);
        bj_data_free_answers(&answers);
        close_machine(machine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zoo), cmocka_unit_test(test_sticky_zoo),
                                       cmocka_unit_test(test_slots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
