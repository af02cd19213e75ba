/* The runner with made-up probes on a made-up machine: order, budget, answers, supervision. */
#include <stdlib.h>

#include "runner/filing.h"
#include "runner/keys.h"
#include "runner/pace.h"
#include "runner_stage.h"

static void needs_come_first(void **state) {
    (void)state;
    const bj_probe **order;
    size_t count;
    const char *names[] = {"gamma", "beta", "gamma"};
    assert_int_equal(bj_runner_order_probes(&plan, &order, &count, &error), BJ_OK);
    assert_int_equal(count, 3);
    assert_ptr_equal(order[0], &alpha);
    assert_ptr_equal(order[1], &beta);
    free(order);
    plan.probes = names;
    plan.probe_count = 3;
    assert_int_equal(bj_runner_order_probes(&plan, &order, &count, &error), BJ_OK);
    assert_int_equal(count, 3);
    assert_ptr_equal(order[0], &gamma_probe);
    assert_ptr_equal(order[1], &alpha);
    free(order);
}

static void wrong_names_and_circles_are_errors(void **state) {
    (void)state;
    const bj_probe **order;
    size_t count;
    const char *names[] = {"delta"};
    plan.probes = names;
    plan.probe_count = 1;
    assert_int_equal(bj_runner_order_probes(&plan, &order, &count, &error), BJ_ERR_USAGE);
    assert_non_null(strstr(error.text, "delta"));
    plan.probe_count = 0;
    alpha_needs[0] = "beta";
    assert_int_equal(bj_runner_order_probes(&plan, &order, &count, &error), BJ_ERR_FAILED);
    assert_non_null(strstr(error.text, "need each other"));
    alpha_needs[0] = "omega";
    assert_int_equal(bj_runner_order_probes(&plan, &order, &count, &error), BJ_ERR_FAILED);
    assert_non_null(strstr(error.text, "omega"));
}

static void costs_add_up_and_memory_does_not(void **state) {
    (void)state;
    const bj_probe *order[] = {&alpha, &beta};
    double seconds;
    uint64_t bytes;
    bj_runner_estimate_cost(order, 2, &plan, 1, 1000, &seconds, &bytes);
    assert_true(seconds == 4 && bytes == 1000);
    bj_probe wide = alpha;
    for (int effort = 0; effort < BJ_EFFORT_COUNT; effort++)
        wide.cost_cpu_s[effort] = 0.5;
    double alone = bj_runner_estimate_probe(&wide, &plan, 2);
    assert_true(bj_runner_estimate_probe(&wide, &plan, 12) == alone + 5);
    plan.all_pairs = true;
    assert_true(bj_runner_estimate_probe(&wide, &plan, 12) == alone + 10);
    plan.all_pairs = false;
    plan.budget_s = 2;
    bj_runner_estimate_cost(order, 2, &plan, 1, 100000, &seconds, &bytes);
    assert_true(seconds == 2 && bytes == 5000);
}

static void a_run_answers_everything(void **state) {
    (void)state;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(script.log_count, 2);
    assert_string_equal(script.log[0], "alpha");
    const bj_answer *size = answer("alpha.size_bytes");
    assert_true(size->value == 32768 && size->has_claimed && size->claimed == 1006);
    assert_string_equal(size->method, "first/2");
    assert_true(answer("beta.double")->value == 65536);
    assert_false(answer("beta.double")->has_claimed);
    /* gamma wants three cpus. */
    assert_int_equal(answer("gamma.x")->status, BJ_ANSWER_UNSUPPORTED);
    assert_string_equal(answer("gamma.x")->reason, "needs 3 cpus, may use 2");
    assert_true(answer("gamma.x")->has_claimed);
    assert_int_equal(bj_profile_find_probe(&profile, "gamma")->status, BJ_ANSWER_UNSUPPORTED);
    assert_int_equal(bj_profile_find_probe(&profile, "alpha")->status, BJ_ANSWER_OK);
    assert_int_equal(bj_profile_find_probe(&profile, "alpha")->revision, 2);
    assert_true(bj_profile_find_probe(&profile, "alpha")->seconds == 1);
    assert_int_equal(profile.curves.count, 2);
    assert_true(profile.run.steal == 0);
    /* What probes are handed. */
    assert_int_equal(script.seen.cpu, 6);
    assert_int_equal(script.seen.memory_bytes, 1000);
    assert_true(isinf(script.seen.deadline_s));
    assert_null(script.seen.method);
}

static void answers_are_rounded_but_sampled_x_are_not(void **state) {
    (void)state;
    script.value = 1024; /* an x of the curve */
    assert_int_equal(run(), BJ_OK);
    assert_true(answer("alpha.size_bytes")->value == 1024);
    assert_true(answer("alpha.size_bytes")->interval[0] <= 1024 && answer("alpha.size_bytes")->interval[1] >= 1024);
    assert_true(answer("alpha.L1.latency_ns")->value == 0.333333);
}

static void implausible_values_fail(void **state) {
    (void)state;
    script.value = 5e6;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(answer("alpha.size_bytes")->status, BJ_ANSWER_FAILED);
    assert_string_equal(answer("alpha.size_bytes")->reason, "implausible: 5000000 bytes, expected from 256 to 1000000");
    assert_false(answer("alpha.size_bytes")->has_interval);
    assert_int_equal(answer("alpha.size_bytes")->confidence, BJ_CONFIDENCE_NONE);
    assert_int_equal(bj_profile_find_probe(&profile, "alpha")->status, BJ_ANSWER_FAILED);
    assert_int_equal(answer("alpha.L1.latency_ns")->status, BJ_ANSWER_OK);
    bj_profile_free(&profile);
    script.value = NAN;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(answer("alpha.size_bytes")->status, BJ_ANSWER_FAILED);
}

static void a_probe_in_trouble_does_not_end_the_run(void **state) {
    (void)state;
    script.measured = BJ_ERR_RESOURCE;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(script.log_count, 2);
    assert_int_equal(answer("alpha.size_bytes")->status, BJ_ANSWER_FAILED);
    assert_string_equal(answer("alpha.size_bytes")->reason, "the wheel came off");
    assert_string_equal(bj_profile_find_probe(&profile, "alpha")->reason, "the wheel came off");
    assert_null(bj_data_find_answer(&profile.answers, "alpha.L1.latency_ns"));
    bj_profile_free(&profile);
    script.measured = BJ_ERR_UNSUPPORTED;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(answer("alpha.size_bytes")->status, BJ_ANSWER_UNSUPPORTED);
    bj_profile_free(&profile);
    script.measured = BJ_OK;
    script.analysed = BJ_ERR_FAILED;
    assert_int_equal(run(), BJ_OK);
    assert_string_equal(answer("alpha.size_bytes")->reason, "cannot divide");
    assert_non_null(bj_data_find_curve(&profile.curves, "alpha.curve"));
    bj_profile_free(&profile);
    script.analysed = BJ_OK;
    script.stray_key = true;
    assert_int_equal(run(), BJ_OK);
    assert_non_null(strstr(answer("alpha.size_bytes")->reason, "does not provide"));
    assert_null(bj_data_find_answer(&profile.answers, "other.key"));
    bj_profile_free(&profile);
    script.stray_key = false;
    script.forget = true;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(answer("alpha.size_bytes")->status, BJ_ANSWER_UNDETERMINED);
}

static void methods_go_to_the_probes_that_have_them(void **state) {
    (void)state;
    plan.method = "second";
    assert_int_equal(run(), BJ_OK);
    assert_string_equal(script.analysed_with, "second");
    assert_string_equal(answer("alpha.size_bytes")->method, "second/2");
    assert_string_equal(answer("beta.double")->method, "third/1");
    assert_null(script.seen.method); /* beta ran last */
    plan.method = "fourth";
    assert_int_equal(run(), BJ_ERR_USAGE);
    plan.method = NULL;
    plan.cpu = 5;
    assert_int_equal(run(), BJ_ERR_USAGE);
}

static void a_budget_is_shared_by_cost(void **state) {
    (void)state;
    plan.budget_s = 10;
    script.seconds = 2;
    assert_int_equal(run(), BJ_OK);
    /* alpha took 2 of 10; beta gets the 8 that are left, since gamma cannot run. */
    assert_true(fabs(script.seen.deadline_s - (102 + 8)) < 0.01);
    assert_int_equal(answer("beta.double")->status, BJ_ANSWER_OK);
    bj_profile_free(&profile);
    script.seconds = 20;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(answer("beta.double")->status, BJ_ANSWER_UNDETERMINED);
    assert_non_null(strstr(answer("beta.double")->reason, "budget"));
    assert_int_equal(bj_profile_find_probe(&profile, "beta")->status, BJ_ANSWER_UNDETERMINED);
}

static void keys_match_their_patterns(void **state) {
    (void)state;
    assert_true(bj_runner_match_key("cache.L<n>.size_bytes", "cache.L12.size_bytes"));
    assert_false(bj_runner_match_key("cache.L<n>.size_bytes", "cache.L.size_bytes"));
    assert_false(bj_runner_match_key("cache.L<n>.size_bytes", "cache.Lx.size_bytes"));
    assert_false(bj_runner_match_key("cache.L<n>.size_bytes", "cache.L1.size_byte"));
    assert_false(bj_runner_match_key("cache.L<n>.size", "cache.L1.size_bytes"));
    assert_true(bj_runner_match_key("op.<type>.<op>.latency", "op.int32.add.latency"));
    assert_false(bj_runner_match_key("op.<type>.<op>.latency", "op.int32.add.latency_ns"));
    assert_false(bj_runner_match_key("op.<type>.<op>.latency", "op.int32.latency"));
}

static void overlapping_patterns_delete_no_answers(void **state) {
    (void)state;
    const char *both[] = {"beta"};
    plan.probes = both;
    plan.probe_count = 1;
    assert_int_equal(bj_runner_run(&machine, &plan, &profile, &error), BJ_OK);
    /* Alpha's answers stand, and beta saw them: they match a pattern of beta, but are not its own. */
    assert_string_equal(bj_data_find_answer(&profile.answers, "alpha.size_bytes")->probe, "alpha");
    assert_string_equal(bj_data_find_answer(&profile.answers, "beta.double")->probe, "beta");
    assert_true(bj_data_find_answer(&profile.answers, "beta.double")->value == 65536);
    assert_int_equal(bj_runner_reanalyse(&profile, &error), BJ_OK);
    assert_true(bj_data_find_answer(&profile.answers, "alpha.size_bytes")->value == 32768);
    assert_true(bj_data_find_answer(&profile.answers, "beta.double")->value == 65536);
}

/* Virtual cpus may be moved: what is between them is sure for this run alone. */
static void virtual_cpus_are_medium_at_most(void **state) {
    (void)state;
    bj_probe comparing = gamma_probe;
    for (int i = 0; i < 4; i++) {
        bj_answers answers = {0};
        comparing.compares_cpus = i & 1;
        profile.environment.virtualised = i >> 1;
        assert_int_equal(put(&answers, "gamma.x", "count", 3, &error), BJ_OK);
        assert_int_equal(bj_runner_file_answers(&profile, &comparing, &answers, &error), BJ_OK);
        assert_int_equal(answer("gamma.x")->confidence, i == 3 ? BJ_CONFIDENCE_MEDIUM : BJ_CONFIDENCE_HIGH);
    }
}

/* Whatever rounds agree on, it is the emulator's. */
static void emulated_answers_are_low(void **state) {
    (void)state;
    bj_answers answers = {0};
    strcpy(profile.environment.emulator, "qemu-s390x");
    assert_int_equal(put(&answers, "gamma.x", "count", 3, &error), BJ_OK);
    assert_int_equal(bj_runner_file_answers(&profile, &gamma_probe, &answers, &error), BJ_OK);
    assert_int_equal(answer("gamma.x")->confidence, BJ_CONFIDENCE_LOW);
    assert_non_null(strstr(answer("gamma.x")->caveat, "qemu-s390x"));
}

static bj_status analyse_rates(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    (void)samples;
    (void)request;
    BJ_TRY(put(answers, "alpha.L1.rate", "count", 3, error));
    BJ_TRY(put(answers, "memory.rate", "count", 3, error));
    return put(answers, "alpha.L11.rate", "count", 3, error);
}

/* What is said of a level is no surer than the level: here by an answer of alpha that is low, and gamma's about it. */
static void answers_are_no_surer_than_their_level(void **state) {
    (void)state;
    bj_answers earlier = {0}, answers = {0};
    bj_answer *level;
    bj_curves samples = {0};
    assert_int_equal(bj_data_put_answer(&earlier, "alpha.L1.latency_ns", "ns", &level, &error), BJ_OK);
    level->value = 1;
    strcpy(level->probe, "alpha");
    level->confidence = BJ_CONFIDENCE_LOW;
    const bj_analyse_request request = {.earlier = &earlier, .seed = 1};
    static const bj_probe_key keys[] = {{"alpha.L<n>.rate", "count", 0, 10, "", .tolerance = 0.1},
                                        {"memory.rate", "count", 0, 10, "", .tolerance = 0.1},
                                        {0}};
    bj_probe prober = gamma_probe;
    prober.provides = keys;
    prober.analyse = analyse_rates;
    prober.needs = (const char *const[]){"alpha", NULL};
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    assert_int_equal(bj_data_find_answer(&answers, "alpha.L1.rate")->confidence, BJ_CONFIDENCE_LOW);
    assert_int_equal(bj_data_find_answer(&answers, "alpha.L11.rate")->confidence, BJ_CONFIDENCE_HIGH);
    assert_int_equal(bj_data_find_answer(&answers, "memory.rate")->confidence, BJ_CONFIDENCE_HIGH);
    /* The surest answer about the level counts. */
    assert_int_equal(bj_data_put_answer(&earlier, "alpha.L1.size", "bytes", &level, &error), BJ_OK);
    level->value = 1;
    strcpy(level->probe, "alpha");
    level->confidence = BJ_CONFIDENCE_MEDIUM;
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    assert_int_equal(bj_data_find_answer(&answers, "alpha.L1.rate")->confidence, BJ_CONFIDENCE_MEDIUM);
    /* Memory is a level, too. */
    assert_int_equal(bj_data_put_answer(&earlier, "memory.latency_ns", "ns", &level, &error), BJ_OK);
    level->value = 1;
    strcpy(level->probe, "alpha");
    level->confidence = BJ_CONFIDENCE_MEDIUM;
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    assert_int_equal(bj_data_find_answer(&answers, "memory.rate")->confidence, BJ_CONFIDENCE_MEDIUM);
    /* A probe that is not needed rests on this one: its doubts do not come back. */
    strcpy(earlier.items[0].probe, "beta");
    strcpy(earlier.items[1].probe, "beta");
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    assert_int_equal(bj_data_find_answer(&answers, "alpha.L1.rate")->confidence, BJ_CONFIDENCE_HIGH);
    bj_data_free_answers(&answers);
    bj_data_free_answers(&earlier);
}

static bj_status analyse_widths(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                bj_error *into) {
    static const struct {
        const char *key;
        double value, interval[2];
    } made[] = {
        {"alpha.narrow", 100, {91, 109}}, {"alpha.wide", 100, {80, 130}},     {"alpha.few", 4, {3, 5}},
        {"alpha.many", 100, {80, 120}},   {"alpha.count", 8, {8, 8}},         {"alpha.counts", 8, {8, 9}},
        {"alpha.free", 100, {1, 1000}},   {"alpha.negative", 100, {-1, 100}},
    };
    (void)samples;
    (void)request;
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        bj_answer *answer;
        BJ_TRY(bj_data_put_answer(answers, made[i].key, "count", &answer, into));
        answer->value = made[i].value;
        answer->has_interval = true;
        memcpy(answer->interval, made[i].interval, sizeof answer->interval);
        answer->confidence = BJ_CONFIDENCE_HIGH;
    }
    return BJ_OK;
}

/* Whatever a probe says: no `high` beside an interval wider than its key's tolerance. */
static void no_high_beside_a_wide_interval(void **state) {
    (void)state;
    static const bj_probe_key keys[] = {
        {"alpha.narrow", "count", 0, 0, "", .tolerance = 0.1},
        {"alpha.wide", "count", 0, 0, "", .tolerance = 0.1},
        {"alpha.few", "count", 0, 0, "", .tolerance = 0.1, .tolerance_least = 1},
        {"alpha.many", "count", 0, 0, "", .tolerance = 0.1, .tolerance_least = 1},
        {"alpha.count", "count", 0, 0, "", .tolerance = BJ_SAME_NUMBER},
        {"alpha.counts", "count", 0, 0, "", .tolerance = BJ_SAME_NUMBER},
        {"alpha.free", "count", 0, 0, "", .tolerance = 0},
        {"alpha.negative", "count", 0, 0, "", .tolerance = 0.1},
        {0},
    };
    static const bj_confidence expected[] = {BJ_CONFIDENCE_HIGH,   BJ_CONFIDENCE_MEDIUM, BJ_CONFIDENCE_HIGH,
                                             BJ_CONFIDENCE_MEDIUM, BJ_CONFIDENCE_HIGH,   BJ_CONFIDENCE_MEDIUM,
                                             BJ_CONFIDENCE_HIGH,   BJ_CONFIDENCE_MEDIUM};
    bj_answers earlier = {0}, answers = {0};
    bj_curves samples = {0};
    const bj_analyse_request request = {.earlier = &earlier, .seed = 1};
    bj_probe prober = gamma_probe;
    prober.provides = keys;
    prober.analyse = analyse_widths;
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    for (size_t i = 0; keys[i].key != NULL; i++)
        assert_int_equal(bj_data_find_answer(&answers, keys[i].key)->confidence, expected[i]);
    bj_data_free_answers(&answers);
}

/* A paper's method to the letter earns `low` at most, and says why; a number that there is none of says nothing. */
static void literal_methods_are_low(void **state) {
    (void)state;
    static const bj_probe_key keys[] = {{"alpha.<x>", "count", 0, 1000, "", .tolerance = 0.5}, {0}};
    bj_answers earlier = {0}, answers = {0};
    bj_curves samples = {0};
    bj_analyse_request request = {.earlier = &earlier, .seed = 1, .method = "own"};
    bj_probe prober = gamma_probe;
    prober.provides = keys;
    prober.methods = (const char *const[]){"own", "printed", NULL};
    prober.paper_method = "printed";
    prober.analyse = analyse_widths;
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    const bj_answer *narrow = bj_data_find_answer(&answers, "alpha.narrow");
    assert_int_equal(narrow->confidence, BJ_CONFIDENCE_HIGH);
    assert_string_equal(narrow->caveat, "");
    request.method = "paper";
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    narrow = bj_data_find_answer(&answers, "alpha.narrow");
    assert_int_equal(narrow->confidence, BJ_CONFIDENCE_LOW);
    assert_non_null(strstr(narrow->caveat, "to the letter"));
    bj_data_free_answers(&answers);
}

/* A number says how far off it may be, so that `high` means something. */
static void every_number_promises_something(void **state) {
    (void)state;
    for (size_t i = 0; i < bj_probe_count; i++)
        for (const bj_probe_key *key = bj_probes[i]->provides; key->key != NULL; key++)
            if (key->unit[0] != '\0' && !(key->tolerance > 0 && key->tolerance < 0.5))
                fail_msg("%s has no tolerance", key->key);
}

static void streams_of_probes_differ(void **state) {
    (void)state;
    assert_true(bj_runner_seed_probe(1, "alpha") != bj_runner_seed_probe(1, "beta"));
    assert_true(bj_runner_seed_probe(1, "alpha") != bj_runner_seed_probe(2, "alpha"));
    assert_true(bj_runner_seed_probe(1, "alpha") == bj_runner_seed_probe(1, "alpha"));
}

static void the_estimate_settles(void **state) {
    (void)state;
    /* The machine is twice as slow as the descriptors say: 20 s instead of 10. */
    bj_pace pace = {.total_cost_s = 10, .budget_s = INFINITY};
    double remaining = bj_runner_estimate_remaining(&pace, 0, 0);
    assert_true(remaining == 10);
    for (double t = 0.1; t < 15; t += 0.1) {
        double next = bj_runner_estimate_remaining(&pace, t / 2, t);
        assert_true(fabs(next - remaining) < 1);
        remaining = next;
    }
    assert_true(fabs(remaining - 5) < 1.5);
    assert_true(bj_runner_estimate_remaining(&pace, 10, 20) == 0);
    bj_pace bounded = {.total_cost_s = 10, .budget_s = 4};
    assert_true(bj_runner_estimate_remaining(&bounded, 0, 0) == 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(needs_come_first),
        TEST(wrong_names_and_circles_are_errors),
        TEST(costs_add_up_and_memory_does_not),
        TEST(a_run_answers_everything),
        TEST(answers_are_no_surer_than_their_level),
        TEST(virtual_cpus_are_medium_at_most),
        TEST(emulated_answers_are_low),
        TEST(no_high_beside_a_wide_interval),
        TEST(literal_methods_are_low),
        TEST(every_number_promises_something),
        TEST(overlapping_patterns_delete_no_answers),
        TEST(answers_are_rounded_but_sampled_x_are_not),
        TEST(implausible_values_fail),
        TEST(a_probe_in_trouble_does_not_end_the_run),
        TEST(methods_go_to_the_probes_that_have_them),
        TEST(a_budget_is_shared_by_cost),
        TEST(keys_match_their_patterns),
        TEST(streams_of_probes_differ),
        TEST(the_estimate_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
