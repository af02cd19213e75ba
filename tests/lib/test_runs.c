/* Probes in the caller's process: simulated runs, progress, cancellation, and a short one on this machine. */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <blackjack/blackjack.h>

static const char machine[] = "sim:" BJ_SOURCE_DIR "/machines/no_l3.json";

typedef struct {
    size_t calls, done, stop_after;
    size_t late; /* calls after the last probe was done */
    double last_fraction;
} progress;

static bool report(void *context, const bj_lib_progress *news) {
    progress *seen = context;
    assert_non_null(news->probe);
    assert_true(news->index < news->count && news->fraction >= 0 && news->fraction <= 1 && news->elapsed_s >= 0);
    seen->calls++;
    seen->done += news->probe_done;
    seen->late += seen->done == news->count && !news->probe_done;
    seen->last_fraction = news->fraction;
    return seen->stop_after > 0 && seen->done >= seen->stop_after;
}

static bj_lib_run_options simulated(progress *seen) {
    return (bj_lib_run_options){.struct_size = sizeof(bj_lib_run_options),
                                .machine = machine,
                                .effort = "quick",
                                .report = report,
                                .context = seen};
}

static void test_simulated(void **state) {
    (void)state;
    static const char *const probes[] = {"line"};
    progress seen = {0};
    bj_lib_run_options options = simulated(&seen);
    options.probes = probes;
    options.probe_count = 1;
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    size_t line = 0, size = 0;
    assert_int_equal(bj_lib_run_probes(&options, &profile, &error), BJ_LIB_OK);
    assert_int_equal(bj_lib_get_size(profile, "cache.line_bytes", BJ_LIB_CONFIDENCE_MEDIUM, &line, &error), BJ_LIB_OK);
    assert_int_equal(line, 64);
    /* What it needs ran first. */
    assert_int_equal(bj_lib_get_size(profile, "cache.L1.size_bytes", BJ_LIB_CONFIDENCE_MEDIUM, &size, &error),
                     BJ_LIB_OK);
    assert_true(size > 24000 && size < 40000);
    assert_string_equal(bj_lib_profile_info(profile, "machine"), "sim:no_l3");
    assert_string_equal(bj_lib_profile_info(profile, "effort"), "quick");
    assert_string_equal(bj_lib_profile_info(profile, "version"), bj_lib_version());
    assert_true(seen.done >= 2 && seen.calls > seen.done);
    assert_int_equal(seen.late, 0); /* quick */
    bj_lib_close_profile(profile);
}

/* Three rounds more of each probe after the last one is done. */
static void test_late_rounds(void **state) {
    (void)state;
    static const char *const probes[] = {"clock", "page"};
    progress seen = {0};
    bj_lib_run_options options = simulated(&seen);
    options.effort = NULL;
    options.probes = probes;
    options.probe_count = 2;
    bj_lib_profile *profile;
    assert_int_equal(bj_lib_run_probes(&options, &profile, NULL), BJ_LIB_OK);
    assert_int_equal(seen.done, 2);
    assert_true(seen.late >= 3 * 2);
    bj_lib_close_profile(profile);
}

/* Stopped after the first probe: that one is there, the others are not. */
static void test_cancel(void **state) {
    (void)state;
    progress seen = {.stop_after = 1};
    bj_lib_run_options options = simulated(&seen);
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    assert_int_equal(bj_lib_run_probes(&options, &profile, &error), BJ_LIB_ERR_INTERRUPTED);
    assert_non_null(profile);
    assert_non_null(strstr(error.text, "interrupted"));
    assert_non_null(bj_lib_find_answer(profile, "cpu.clock_ghz"));
    assert_null(bj_lib_find_answer(profile, "cache.levels"));
    assert_int_equal(seen.done, 1);
    bj_lib_close_profile(profile);
}

static void test_usage(void **state) {
    (void)state;
    static const char *const none[] = {"no_such_probe"};
    progress seen = {0};
    bj_lib_profile *profile;
    bj_lib_error error;
    bj_lib_run_options options = simulated(&seen);
    options.probes = none;
    options.probe_count = 1;
    assert_int_equal(bj_lib_run_probes(&options, &profile, &error), BJ_LIB_ERR_USAGE);
    assert_null(profile);
    options = simulated(&seen);
    options.effort = "heroic";
    assert_int_equal(bj_lib_run_probes(&options, &profile, &error), BJ_LIB_ERR_USAGE);
    options = simulated(&seen);
    options.machine = "toaster";
    assert_int_equal(bj_lib_run_probes(&options, &profile, &error), BJ_LIB_ERR_USAGE);
    options.machine = "sim:/no/such/file";
    assert_int_not_equal(bj_lib_run_probes(&options, &profile, &error), BJ_LIB_OK);
    options = simulated(&seen);
    options.struct_size = 0;
    assert_int_equal(bj_lib_run_probes(&options, &profile, &error), BJ_LIB_ERR_USAGE);
    options = simulated(&seen);
    options.probe_count = 2;
    assert_int_equal(bj_lib_run_probes(&options, &profile, &error), BJ_LIB_ERR_USAGE);
    options = simulated(&seen);
    options.seed = UINT64_MAX;
    assert_int_equal(bj_lib_run_probes(&options, &profile, NULL), BJ_LIB_ERR_USAGE);
    options = simulated(&seen);
    options.budget_s = -1;
    assert_int_equal(bj_lib_run_probes(&options, &profile, NULL), BJ_LIB_ERR_USAGE);
    options.budget_s = NAN;
    assert_int_equal(bj_lib_run_probes(&options, &profile, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(seen.calls, 0);
}

/* Older callers know fewer fields, newer ones more: that is fine as long as what we do not know is zero. What is
 * accepted gets as far as the machine, which is not there. */
static void test_options_size(void **state) {
    (void)state;
    struct {
        bj_lib_run_options known;
        uint64_t later;
    } options = {.known = {.struct_size = sizeof options, .machine = "sim:/no/such/file"}};
    bj_lib_profile *profile;
    bj_lib_result accepted = bj_lib_run_probes(&options.known, &profile, NULL);
    assert_true(accepted != BJ_LIB_OK && accepted != BJ_LIB_ERR_USAGE);
    options.later = 1;
    assert_int_equal(bj_lib_run_probes(&options.known, &profile, NULL), BJ_LIB_ERR_USAGE);
    options.known.struct_size = offsetof(bj_lib_run_options, budget_s);
    assert_int_equal(bj_lib_run_probes(&options.known, &profile, NULL), accepted);
    options.known.struct_size = offsetof(bj_lib_run_options, budget_s) + 1;
    assert_int_equal(bj_lib_run_probes(&options.known, &profile, NULL), BJ_LIB_ERR_USAGE);
}

static void test_probes(void **state) {
    (void)state;
    size_t count = 0;
    while (bj_lib_probe_name(count) != NULL)
        assert_true(strlen(bj_lib_probe_question(count++)) > 10);
    assert_true(count >= 8);
    assert_null(bj_lib_probe_question(count));
}

/* On this machine: the caller's thread keeps its cpus and its signals. */
static void test_native(void **state) {
    (void)state;
    static const char *const probes[] = {"clock"};
    bj_lib_run_options options = {
        .struct_size = sizeof options, .probes = probes, .probe_count = 1, .effort = "quick", .budget_s = 1};
    cpu_set_t cpus_before, cpus_after;
    sigset_t signals_before, signals_after;
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    assert_int_equal(sched_getaffinity(0, sizeof cpus_before, &cpus_before), 0);
    sigprocmask(SIG_BLOCK, NULL, &signals_before);
    assert_int_equal(bj_lib_run_probes(&options, &profile, &error), BJ_LIB_OK);
    assert_int_equal(sched_getaffinity(0, sizeof cpus_after, &cpus_after), 0);
    sigprocmask(SIG_BLOCK, NULL, &signals_after);
    assert_true(CPU_EQUAL(&cpus_before, &cpus_after));
    for (int number = 1; number < SIGRTMIN; number++)
        assert_int_equal(sigismember(&signals_before, number), sigismember(&signals_after, number));
    assert_non_null(bj_lib_find_answer(profile, "cpu.clock_ghz"));
    assert_string_equal(bj_lib_profile_info(profile, "machine"), "native");
    bj_lib_close_profile(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulated), cmocka_unit_test(test_late_rounds),  cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_usage),     cmocka_unit_test(test_options_size), cmocka_unit_test(test_probes),
        cmocka_unit_test(test_native),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
