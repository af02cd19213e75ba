/* The runner with made-up probes on a made-up machine: order, budget, journal, resume, interruption, supervision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runner/filing.h"
#include "runner/keys.h"
#include "runner/pace.h"
#include "runner/runner.h"

/* The machine: a clock that probes push, and claims. */
static double now_s;
static double read_clock(bj_machine *machine) {
    (void)machine;
    return now_s;
}
static bool read_claim(bj_machine *machine, const char *key, int cpu, double *value) {
    (void)machine;
    *value = 1000 + cpu;
    return strcmp(key, "alpha.size_bytes") == 0 || strcmp(key, "gamma.x") == 0;
}
static const int cpus[] = {4, 6};
static const bj_machine_verbs verbs = {.read_clock = read_clock, .read_claim = read_claim};
static bj_machine machine;

/* What the probes do, set by each test. */
static struct {
    bj_status measured, analysed;
    double value; /* of alpha.size_bytes */
    double seconds;
    bool forget, ask_progress, stray_key, fail_late;
    const char *log[16];
    size_t log_count;
    bj_measure_request seen; /* the last request */
    bool saw_own_answer;
    const char *analysed_with;
} script;

static bj_status measure_as(const char *name, const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    script.log[script.log_count++] = name;
    script.seen = *request;
    double own;
    script.saw_own_answer = bj_data_get_number(request->earlier, "alpha.size_bytes", &own);
    for (int i = 1; i <= 4; i++) {
        now_s += script.seconds / 4;
        if (script.ask_progress && request->report_progress(request->progress_context, i / 4.0))
            return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "stopped");
    }
    if (script.fail_late && request->more_rounds > 0)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory");
    if (script.measured != BJ_OK)
        return bj_base_set_error(error, script.measured, "the wheel came off");
    char id[32];
    snprintf(id, sizeof id, "%s.curve", name);
    bj_curve *curve = (bj_curve *)bj_data_find_curve(samples, id);
    bj_status status = curve == NULL ? bj_data_add_curve(samples, id, name, &curve, error) : BJ_OK;
    size_t first = curve->round_count, rounds = request->more_rounds > 0 ? request->more_rounds : 1;
    for (size_t r = first; r < first + rounds; r++)
        for (int i = 0; i < 5 && status == BJ_OK; i++)
            status = bj_data_record_sample(curve, 1024 << i, r, 1.0 / (i + 1), error);
    return status;
}

static bj_status measure_alpha(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    return measure_as("alpha", request, samples, error);
}
static bj_status measure_beta(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    return measure_as("beta", request, samples, error);
}
static bj_status measure_gamma(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    return measure_as("gamma", request, samples, error);
}

static bj_status put(bj_answers *answers, const char *key, const char *unit, double value, bj_error *error) {
    bj_answer *answer;
    bj_status status = bj_data_put_answer(answers, key, unit, &answer, error);
    if (status != BJ_OK)
        return status;
    answer->value = value;
    answer->confidence = BJ_CONFIDENCE_HIGH;
    answer->has_interval = true;
    answer->interval[0] = value * 0.9999999;
    answer->interval[1] = value * 1.0000001;
    return BJ_OK;
}

static bj_status analyse_alpha(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    script.analysed_with = request->method;
    if (samples->count != 1)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%zu curves", samples->count);
    if (script.analysed != BJ_OK)
        return bj_base_set_error(error, script.analysed, "cannot divide");
    if (script.forget)
        return BJ_OK;
    bj_status status = put(answers, script.stray_key ? "other.key" : "alpha.size_bytes", "bytes", script.value, error);
    if (status == BJ_OK)
        status = put(answers, "alpha.L1.latency_ns", "ns", samples->items[0].rounds[0][2], error);
    return status;
}
static bj_status analyse_beta(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                              bj_error *error) {
    double size = 0;
    (void)samples;
    (void)bj_data_get_number(request->earlier, "alpha.size_bytes", &size);
    return put(answers, "beta.double", "bytes", 2 * size, error);
}
static bj_status analyse_gamma(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    (void)samples;
    (void)request;
    return put(answers, "gamma.x", "count", 3, error);
}

static bj_status analyse_rates(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    (void)samples;
    (void)request;
    bj_status status = put(answers, "alpha.L1.rate", "count", 3, error);
    return status == BJ_OK ? put(answers, "alpha.L11.rate", "count", 3, error) : status;
}

static const bj_probe_key alpha_keys[] = {
    {"alpha.size_bytes", "bytes", 256, 1e6, ""}, {"alpha.L<n>.latency_ns", "ns", 0.01, 100, ""}, {0}};
/* A pattern that takes alpha's keys as well: an answer belongs to the probe that gave it. */
static const bj_probe_key beta_keys[] = {
    {"beta.double", "bytes", 0, 1e9, ""}, {"alpha.<what>", "bytes", 0, 1e9, ""}, {0}};
static const bj_probe_key gamma_keys[] = {{"gamma.x", "count", 0, 10, ""}, {0}};
static const char *beta_needs[] = {"alpha", NULL};
static const char *alpha_needs[] = {NULL, NULL};
static const char *const alpha_methods[] = {"first", "second", NULL};
static const char *const beta_methods[] = {"third", NULL};

/* beta comes first in the list though it needs alpha. */
static const bj_probe beta = {
    .name = "beta",
    .question = "",
    .revision = 1,
    .provides = beta_keys,
    .needs = beta_needs,
    .methods = beta_methods,
    .cost_s = {1, 3, 9},
    .memory_bytes = {100, 200, 300},
    .measure = measure_beta,
    .analyse = analyse_beta,
};
static const bj_probe alpha = {
    .name = "alpha",
    .question = "",
    .revision = 2,
    .provides = alpha_keys,
    .needs = alpha_needs,
    .methods = alpha_methods,
    .cost_s = {1, 1, 1},
    .memory_bytes = {50, 5000, 50},
    .measure = measure_alpha,
    .analyse = analyse_alpha,
};
static const bj_probe gamma_probe = {
    .name = "gamma",
    .question = "",
    .revision = 1,
    .provides = gamma_keys,
    .requires_cpus = 3,
    .cost_s = {1, 1, 1},
    .measure = measure_gamma,
    .analyse = analyse_gamma,
};

/* These stand in for the real list: the linker finds them first. */
const bj_probe *const bj_probes[] = {&beta, &alpha, &gamma_probe};
const size_t bj_probe_count = 3;
const bj_probe *bj_probe_find(const char *name) {
    for (size_t i = 0; i < bj_probe_count; i++)
        if (strcmp(bj_probes[i]->name, name) == 0)
            return bj_probes[i];
    return NULL;
}

static bj_profile profile;
static bj_run_plan plan;
static bj_error error;

static int set_up(void **state) {
    (void)state;
    memset(&script, 0, sizeof script);
    script.value = 32768;
    script.seconds = 1;
    now_s = 100;
    alpha_needs[0] = NULL;
    machine = (bj_machine){.verbs = &verbs,
                           .facts = {.name = "fake",
                                     .where = "sim:fake",
                                     .cpus = cpus,
                                     .cpu_count = 2,
                                     .memory_limit_bytes = 4000,
                                     .simulated = true}};
    plan = (bj_run_plan){.effort = BJ_EFFORT_NORMAL, .budget_s = INFINITY, .seed = 1, .cpu = 6};
    bj_profile_init(&profile);
    profile.run.seed = 1;
    error.text[0] = '\0';
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    bj_profile_free(&profile);
    return 0;
}

static bj_status run(void) {
    return bj_runner_run(&machine, &plan, &profile, &error);
}

static const bj_answer *answer(const char *key) {
    const bj_answer *found = bj_data_find_answer(&profile.answers, key);
    assert_non_null(found);
    return found;
}

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

typedef struct {
    size_t calls, done;
    size_t stop_at; /* call from which on the answer is "stop"; 0: never */
    double last_remaining;
    const char *path;
} watcher;

static bool watch(void *context, const bj_progress *progress) {
    watcher *seen = context;
    seen->calls++;
    assert_true(progress->fraction >= 0 && progress->fraction <= 1);
    assert_true(progress->remaining_s >= 0 && isfinite(progress->remaining_s));
    assert_int_equal(progress->count, 3);
    if (progress->probe_done) {
        seen->done++;
        seen->last_remaining = progress->remaining_s;
        if (seen->path != NULL) {
            /* The journal holds the probe before anyone is told. */
            bj_profile journal;
            bj_profile_init(&journal);
            assert_int_equal(bj_profile_read(seen->path, &journal, &error), BJ_OK);
            assert_int_equal(journal.probe_count, seen->done);
            assert_non_null(bj_profile_find_probe(&journal, progress->probe));
            bj_profile_free(&journal);
        }
    }
    return seen->stop_at != 0 && seen->calls >= seen->stop_at;
}

static void make_path(char *path) {
    strcpy(path, "/tmp/bj-runner-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static void the_journal_comes_before_the_news(void **state) {
    (void)state;
    char path[32];
    make_path(path);
    watcher seen = {.path = path};
    plan.report = watch;
    plan.context = &seen;
    plan.output = path;
    script.ask_progress = true;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(seen.done, 3);
    assert_true(seen.last_remaining == 0);
    unlink(path);
}

static void an_unwritable_journal_ends_the_run(void **state) {
    (void)state;
    plan.output = "/nonexistent/folder/profile.json";
    assert_int_equal(run(), BJ_ERR_IO);
    /* Found out before anything was measured. */
    assert_int_equal(script.log_count, 0);
}

static void an_interruption_keeps_what_was_done(void **state) {
    (void)state;
    char path[32];
    make_path(path);
    /* Calls: start of alpha, its four, done, start of beta, its first. */
    watcher seen = {.stop_at = 8};
    plan.report = watch;
    plan.context = &seen;
    plan.output = path;
    script.ask_progress = true;
    assert_int_equal(run(), BJ_ERR_INTERRUPTED);
    bj_profile journal;
    bj_profile_init(&journal);
    assert_int_equal(bj_profile_read(path, &journal, &error), BJ_OK);
    assert_int_equal(journal.probe_count, 1);
    assert_non_null(bj_data_find_answer(&journal.answers, "alpha.size_bytes"));
    assert_null(bj_data_find_answer(&journal.answers, "beta.double"));
    assert_int_equal(journal.curves.count, 1);

    /* And going on runs only the rest. */
    seen = (watcher){0};
    script.log_count = 0;
    plan.keep_done = true;
    plan.report = NULL;
    bj_profile_free(&profile);
    profile = journal;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(script.log_count, 1);
    assert_string_equal(script.log[0], "beta");
    assert_true(answer("beta.double")->value == 65536);
    unlink(path);
}

static void going_on_repeats_old_revisions_and_failures(void **state) {
    (void)state;
    script.value = 5e6;
    assert_int_equal(run(), BJ_OK);
    plan.keep_done = true;
    script.log_count = 0;
    script.value = 2048;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(script.log_count, 1); /* alpha had failed */
    assert_false(script.saw_own_answer);
    assert_true(answer("alpha.size_bytes")->value == 2048);
    bj_probe_record *record;
    assert_int_equal(bj_profile_record_probe(&profile, "beta", &record, &error), BJ_OK);
    record->revision = 0;
    script.log_count = 0;
    assert_int_equal(run(), BJ_OK);
    assert_string_equal(script.log[0], "beta");
    assert_int_equal(script.log_count, 1);
    assert_true(answer("beta.double")->value == 4096);
    assert_int_equal(profile.curves.count, 2);
}

static void reanalysis_changes_nothing_today(void **state) {
    (void)state;
    char *before = NULL, *after = NULL;
    const char *names[] = {"gamma", "beta"};
    plan.probes = names;
    plan.probe_count = 2;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(bj_profile_to_json(&profile, &before, NULL, &error), BJ_OK);
    bj_profile copy;
    bj_profile_init(&copy);
    assert_int_equal(bj_profile_parse("p", before, strlen(before), &copy, &error), BJ_OK);
    assert_int_equal(bj_runner_reanalyse(&copy, &error), BJ_OK);
    assert_int_equal(bj_profile_to_json(&copy, &after, NULL, &error), BJ_OK);
    assert_string_equal(before, after);
    free(after);

    /* With another analysis the answers change, what the system claimed stays, and dependants follow. */
    script.value = 2048;
    assert_int_equal(bj_runner_reanalyse(&copy, &error), BJ_OK);
    const bj_answer *size = bj_data_find_answer(&copy.answers, "alpha.size_bytes");
    assert_true(size->value == 2048 && size->has_claimed && size->claimed == 1006);
    assert_true(bj_data_find_answer(&copy.answers, "beta.double")->value == 4096);
    script.analysed = BJ_ERR_FAILED;
    assert_int_equal(bj_runner_reanalyse(&copy, &error), BJ_OK);
    assert_int_equal(bj_profile_find_probe(&copy, "alpha")->status, BJ_ANSWER_FAILED);
    bj_profile_free(&copy);
    free(before);
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

static void late_rounds_are_filed_and_analysed(void **state) {
    (void)state;
    plan.late_rounds = 3;
    assert_int_equal(bj_runner_run(&machine, &plan, &profile, &error), BJ_OK);
    /* alpha and beta first, as they need each other, then both again; gamma cannot run here at all. */
    assert_int_equal(script.log_count, 4);
    assert_string_equal(script.log[2], "alpha");
    assert_string_equal(script.log[3], "beta");
    assert_int_equal(script.seen.more_rounds, 3);
    assert_true(script.seen.seed != bj_runner_seed_probe(1, "beta"));
    assert_int_equal(bj_data_find_curve(&profile.curves, "alpha.curve")->round_count, 4);
    assert_int_equal(bj_data_find_curve(&profile.curves, "beta.curve")->round_count, 4);
    assert_true(bj_data_find_answer(&profile.answers, "beta.double")->value == 65536);
    assert_true(bj_data_find_answer(&profile.answers, "alpha.size_bytes")->has_claimed);
}

static void late_rounds_that_fail_lose_nothing(void **state) {
    (void)state;
    const char *one[] = {"alpha"};
    plan.probes = one;
    plan.probe_count = 1;
    plan.late_rounds = 2;
    script.fail_late = true;
    assert_int_equal(bj_runner_run(&machine, &plan, &profile, &error), BJ_OK);
    assert_int_equal(bj_data_find_curve(&profile.curves, "alpha.curve")->round_count, 1);
    assert_true(bj_data_find_answer(&profile.answers, "alpha.size_bytes")->value == 32768);
    assert_int_equal(bj_profile_find_probe(&profile, "alpha")->status, BJ_ANSWER_OK);
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
    static const bj_probe_key keys[] = {{"alpha.L<n>.rate", "count", 0, 10, ""}, {0}};
    bj_probe prober = gamma_probe;
    prober.provides = keys;
    prober.analyse = analyse_rates;
    prober.needs = (const char *const[]){"alpha", NULL};
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    assert_int_equal(bj_data_find_answer(&answers, "alpha.L1.rate")->confidence, BJ_CONFIDENCE_LOW);
    assert_int_equal(bj_data_find_answer(&answers, "alpha.L11.rate")->confidence, BJ_CONFIDENCE_HIGH);
    /* The surest answer about the level counts. */
    assert_int_equal(bj_data_put_answer(&earlier, "alpha.L1.size", "bytes", &level, &error), BJ_OK);
    level->value = 1;
    strcpy(level->probe, "alpha");
    level->confidence = BJ_CONFIDENCE_MEDIUM;
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    assert_int_equal(bj_data_find_answer(&answers, "alpha.L1.rate")->confidence, BJ_CONFIDENCE_MEDIUM);
    /* A probe that is not needed rests on this one: its doubts do not come back. */
    strcpy(earlier.items[0].probe, "beta");
    strcpy(earlier.items[1].probe, "beta");
    assert_int_equal(bj_runner_analyse_probe(&prober, &samples, &request, &answers, &error), BJ_OK);
    assert_int_equal(bj_data_find_answer(&answers, "alpha.L1.rate")->confidence, BJ_CONFIDENCE_HIGH);
    bj_data_free_answers(&answers);
    bj_data_free_answers(&earlier);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(needs_come_first),
        TEST(wrong_names_and_circles_are_errors),
        TEST(costs_add_up_and_memory_does_not),
        TEST(a_run_answers_everything),
        TEST(late_rounds_are_filed_and_analysed),
        TEST(late_rounds_that_fail_lose_nothing),
        TEST(answers_are_no_surer_than_their_level),
        TEST(overlapping_patterns_delete_no_answers),
        TEST(answers_are_rounded_but_sampled_x_are_not),
        TEST(implausible_values_fail),
        TEST(a_probe_in_trouble_does_not_end_the_run),
        TEST(methods_go_to_the_probes_that_have_them),
        TEST(a_budget_is_shared_by_cost),
        TEST(the_journal_comes_before_the_news),
        TEST(an_unwritable_journal_ends_the_run),
        TEST(an_interruption_keeps_what_was_done),
        TEST(going_on_repeats_old_revisions_and_failures),
        TEST(reanalysis_changes_nothing_today),
        TEST(keys_match_their_patterns),
        TEST(streams_of_probes_differ),
        TEST(the_estimate_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
