/* The runner with made-up probes: journal, interruption, going on, late rounds. */
#include <stdlib.h>
#include <unistd.h>

#include "runner/filing.h"
#include "runner_stage.h"

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

static bj_output *open_journal(const char *path) {
    bj_output_rules rules = {.replace = true, .is_alone = true};
    bj_output *output;
    assert_int_equal(bj_base_open_output(path, &rules, &output, &error), BJ_OK);
    return output;
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
    plan.output = open_journal(path);
    script.ask_progress = true;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(seen.done, 3);
    assert_true(seen.last_remaining == 0);
    bj_base_close_output(plan.output);
    plan.output = NULL;
    unlink(path);
}

static void an_unwritable_journal_ends_the_run(void **state) {
    (void)state;
    char folder[] = "/tmp/bj-runner-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/profile.json", folder);
    plan.output = open_journal(path);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(run(), BJ_ERR_IO);
    bj_base_close_output(plan.output);
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
    plan.output = open_journal(path);
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
    bj_base_close_output(plan.output);
    plan.output = NULL;
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

static const bj_curve *curve_of(const char *id) {
    return bj_data_find_curve(&profile.curves, id);
}

static void late_rounds_are_filed_and_analysed(void **state) {
    (void)state;
    plan.late_rounds = 3;
    assert_int_equal(bj_runner_run(&machine, &plan, &profile, &error), BJ_OK);
    /* alpha and beta first, as they need each other, then both again, three times over all, so that each round is of
     * another time; gamma cannot run here at all. */
    assert_int_equal(script.log_count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(script.log[i], i % 2 == 0 ? "alpha" : "beta");
    assert_int_equal(script.seen.more_rounds, 1);
    assert_true(script.seen.seed != bj_runner_seed_probe(1, "beta"));
    assert_int_equal(curve_of("alpha.curve")->round_count, 4);
    assert_int_equal(curve_of("beta.curve")->round_count, 4);
    /* One spell of the probe's own, one of late rounds. */
    for (size_t r = 0; r < 4; r++)
        assert_int_equal(bj_data_find_spell(curve_of("beta.curve"), r), r > 0);
    assert_int_equal(bj_profile_find_probe(&profile, "alpha")->late_rounds, 3);
    assert_true(bj_profile_find_probe(&profile, "alpha")->seconds == 4);
    assert_true(bj_data_find_answer(&profile.answers, "beta.double")->value == 65536);
    assert_true(bj_data_find_answer(&profile.answers, "alpha.size_bytes")->has_claimed);
    assert_false(profile.run.interrupted);
}

/* The seventh step is the second late round of alpha: what the first one added is analysed before the run ends. */
static bool stop_late(void *context, const bj_progress *progress) {
    unsigned *most = context;
    *most = progress->late_round > *most ? progress->late_round : *most;
    if (progress->late_round > 0)
        script.value = 2048;
    return progress->late_round == 2;
}

static void an_interrupted_late_round_is_answered_for(void **state) {
    (void)state;
    char path[32];
    unsigned most = 0;
    make_path(path);
    plan.late_rounds = 3;
    plan.report = stop_late;
    plan.context = &most;
    plan.output = open_journal(path);
    assert_int_equal(run(), BJ_ERR_INTERRUPTED);
    assert_int_equal(most, 2);
    bj_profile_free(&profile);
    assert_int_equal(bj_profile_read(path, &profile, &error), BJ_OK);
    assert_true(profile.run.interrupted);
    assert_true(answer("alpha.size_bytes")->value == 2048);
    assert_int_equal(curve_of("alpha.curve")->round_count, 2);
    assert_int_equal(bj_data_find_spell(curve_of("alpha.curve"), 1), 1);

    /* Going on adds the rounds that are missing, and then there is nothing left to do. */
    plan.keep_done = true;
    plan.report = NULL;
    script.log_count = 0;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(script.log_count, 4);
    assert_false(profile.run.interrupted);
    assert_int_equal(curve_of("alpha.curve")->round_count, 4);
    assert_int_equal(curve_of("beta.curve")->round_count, 4);
    script.log_count = 0;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(script.log_count, 0);
    bj_base_close_output(plan.output);
    plan.output = NULL;
    unlink(path);
}

/* Whole runs one after the other, each with its late rounds; the second goes on with what the first chose. */
static void repeated_runs_are_merged(void **state) {
    (void)state;
    double once, thrice;
    uint64_t bytes;
    const char *one[] = {"alpha"};
    const bj_probe *order[] = {&alpha};
    plan.probes = one;
    plan.probe_count = 1;
    plan.late_rounds = 1;
    bj_runner_estimate_cost(order, 1, &plan, 1, 1000, &once, &bytes);
    plan.repeats = 3;
    bj_runner_estimate_cost(order, 1, &plan, 1, 1000, &thrice, &bytes);
    assert_true(once > 1 && once < 1.2 && fabs(thrice - 3 * once) < 1e-9);
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(script.log_count, 6);
    const bj_curve *curve = curve_of("alpha.curve");
    assert_int_equal(curve->round_count, 6);
    for (size_t r = 0; r < 6; r++)
        assert_int_equal(bj_data_find_spell(curve, r), r);
    assert_int_equal(bj_profile_find_probe(&profile, "alpha")->runs, 3);

    /* A file of three runs that shall have five gets two more. */
    plan.keep_done = true;
    plan.repeats = 5;
    script.log_count = 0;
    assert_int_equal(run(), BJ_OK);
    assert_int_equal(script.log_count, 4);
    assert_int_equal(curve_of("alpha.curve")->round_count, 10);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(late_rounds_are_filed_and_analysed),        TEST(late_rounds_that_fail_lose_nothing),
        TEST(an_interrupted_late_round_is_answered_for), TEST(repeated_runs_are_merged),
        TEST(the_journal_comes_before_the_news),         TEST(an_unwritable_journal_ends_the_run),
        TEST(an_interruption_keeps_what_was_done),       TEST(going_on_repeats_old_revisions_and_failures),
        TEST(reanalysis_changes_nothing_today),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
