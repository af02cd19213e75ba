/* Memory's latencies over a few machines of the zoo: with the TLB misses of base pages, and within the TLB's reach
 * although lines are fetched in pairs. */
#include "zoo_fixture.h"

static int check(const char *name, const char *key, json_t *truth, const bj_answers *answers) {
    const bj_answer *answer = bj_data_find_answer(answers, key);
    double expected = json_number_value(json_object_get(truth, key));
    if (answer != NULL && bj_data_has_value(answer) && fabs(answer->value / expected - 1) < 0.05)
        return 0;
    print_error("%s: %s is %g for %g\n", name, key, answer != NULL ? answer->value : NAN, expected);
    return 1;
}

static void test_latencies_of_memory(void **state) {
    (void)state;
    static const char *const names[] = {"atom", "dempsey", "adjacent_line"};
    json_t *truths = load_truths();
    int wrong = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        bj_machine *machine = open_zoo_machine(names[i]);
        bj_answers answers = {0};
        json_t *truth = json_object_get(json_object_get(truths, names[i]), "characteristics");
        run_probe("cache", machine, &answers);
        wrong += check(names[i], "memory.latency_ns", truth, &answers);
        wrong += check(names[i], "memory.latency_in_tlb_ns", truth, &answers);
        bj_data_free_answers(&answers);
        close_machine(machine);
    }
    json_decref(truths);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_latencies_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
