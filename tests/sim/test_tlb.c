/* The probes of page size and TLB over the zoo, against what follows from the machine files (truth.json): pages of 4,
 * 16 and 64 KiB, one level and two, cliffs and ramps of 1 to 24 ways, prefetchers, hashed caches and neighbours. */
#include "zoo_fixture.h"

static bj_answers run_machine(const char *name) {
    bj_machine *machine = open_zoo_machine(name);
    bj_answers answers = {0};
    run_probe("page", machine, &answers);
    run_probe("tlb", machine, &answers);
    close_machine(machine);
    return answers;
}

/* Entries within 6% or 2, costs within a tenth, the rest exactly. */
static double find_tolerance(const char *key, double truth) {
    if (strstr(key, ".entries") != NULL)
        return fmax(2, 0.06 * truth);
    return strstr(key, ".miss_ns") != NULL ? 0.1 * truth : 0;
}

static int count_wrong(const char *name, json_t *truth, const bj_answers *answers) {
    const char *key;
    json_t *value;
    int wrong = 0;
    json_object_foreach(truth, key, value) {
        if (strncmp(key, "tlb.", 4) != 0 && strcmp(key, "page.size_bytes") != 0)
            continue;
        double expected = json_number_value(value), found = NAN;
        bj_data_get_number(answers, key, &found);
        if (fabs(found - expected) <= find_tolerance(key, expected))
            continue;
        /* Little effort may err, if it says so. */
        const bj_answer *answer = bj_data_find_answer(answers, key);
        bool doubted = answer != NULL && (answer->status != BJ_ANSWER_OK || answer->confidence == BJ_CONFIDENCE_LOW);
        print_error("%s: %s is %g, the truth is %g%s\n", name, key, found, expected, doubted ? ", in doubt" : "");
        wrong += !doubted;
    }
    return wrong;
}

static void test_zoo(void **state) {
    (void)state;
    json_t *truths = load_truths();
    const char *name;
    json_t *truth;
    int wrong = 0;
    json_object_foreach(truths, name, truth) {
        bj_answers answers = run_machine(name);
        wrong += count_wrong(name, json_object_get(truth, "characteristics"), &answers);
        bj_data_free_answers(&answers);
    }
    json_decref(truths);
    assert_int_equal(wrong, 0);
}

/* The simulated TLBs hold huge pages as they hold others. */
static void test_huge_pages(void **state) {
    (void)state;
    bj_answers answers = run_machine("zen3");
    double entries = 0;
    assert_true(bj_data_get_number(&answers, "tlb.huge.L1.entries", &entries));
    assert_true(entries == 64);
    const bj_answer *levels = bj_data_find_answer(&answers, "tlb.huge.levels");
    assert_true(levels != NULL && levels->confidence == BJ_CONFIDENCE_LOW);
    bj_data_free_answers(&answers);
}

static void test_no_huge_pages(void **state) {
    (void)state;
    bj_answers answers = run_machine("omap3");
    const bj_answer *levels = bj_data_find_answer(&answers, "tlb.huge.levels");
    assert_true(levels != NULL && levels->status == BJ_ANSWER_UNDETERMINED && levels->reason[0] != '\0');
    assert_null(bj_data_find_answer(&answers, "tlb.huge.L1.entries"));
    bj_data_free_answers(&answers);
}

/* Without a TLB there is nothing to see, and that is said. */
static void test_no_tlb(void **state) {
    (void)state;
    bj_machine *machine =
        open_text("{\"format\": \"blackjack-machine/1\", \"name\": \"none\", \"clock_ghz\": 1, \"cpus\": 1,"
                  "\"caches\": [{\"level\": 1, \"size\": 32768, \"ways\": 8, \"latency\": 4},"
                  "{\"level\": 2, \"size\": 262144, \"ways\": 8, \"latency\": 12, \"mapped\": \"physical\"}],"
                  "\"noise\": {\"jitter\": 0.02, \"spike_rate\": 0.02, \"spike_factor\": 5}}",
                  SEED);
    bj_answers answers = {0};
    run_probe("page", machine, &answers);
    run_probe("tlb", machine, &answers);
    const char *const keys[] = {"page.size_bytes", "tlb.levels"};
    for (size_t i = 0; i < 2; i++) {
        const bj_answer *answer = bj_data_find_answer(&answers, keys[i]);
        assert_non_null(answer);
        assert_int_equal(answer->status, BJ_ANSWER_UNDETERMINED);
        assert_true(answer->reason[0] != '\0');
    }
    assert_null(bj_data_find_answer(&answers, "tlb.L1.entries"));
    bj_data_free_answers(&answers);
    close_machine(machine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zoo),
        cmocka_unit_test(test_huge_pages),
        cmocka_unit_test(test_no_huge_pages),
        cmocka_unit_test(test_no_tlb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
