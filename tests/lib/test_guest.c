/* The library in somebody else's thread: cancelled, with a small stack, with errno in use, with NULL for everything. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <blackjack/blackjack.h>
#include <blackjack/regions.h>

static const char profile_path[] = BJ_SOURCE_DIR "/tests/cli/profile.json";
static const char multicore_path[] = BJ_SOURCE_DIR "/tests/cli/multicore_profile.json";

static void nulls_of_places_are_safe(void **state) {
    (void)state;
    bj_lib_profile *profile;
    size_t places[2];
    char text[8];
    assert_int_equal(bj_lib_place_ranks(NULL, 2, BJ_LIB_TALK_ALL, 1, places, NULL, 0, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_get_advice(NULL, 0, text, sizeof text, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_open_profile(profile_path, &profile, NULL), BJ_LIB_OK);
    assert_int_equal(bj_lib_place_ranks(profile, 2, BJ_LIB_TALK_ALL, 1, NULL, NULL, 0, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_get_advice(profile, 0, NULL, sizeof text, NULL), BJ_LIB_ERR_USAGE);
    bj_lib_close_profile(profile);
}

static void nulls_of_the_model_are_safe(void **state) {
    (void)state;
    bj_lib_profile *profile;
    bj_lib_core core = {.struct_size = sizeof core, .element_bytes = 8, .lanes = 4, .registers = 16};
    bj_lib_loop loop = {.arithmetic = 1};
    bj_lib_footprint footprint = {.squares = 1};
    unsigned rows = 0, columns = 0;
    assert_int_equal(bj_lib_read_core(NULL, NULL, &core, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_open_profile(profile_path, &profile, NULL), BJ_LIB_OK);
    assert_int_equal(bj_lib_read_core(profile, NULL, NULL, NULL), BJ_LIB_ERR_USAGE);
    bj_lib_close_profile(profile);
    assert_true(isnan(bj_lib_loop_cycles(NULL, &loop)));
    assert_true(isnan(bj_lib_loop_cycles(&core, NULL)));
    assert_int_equal(bj_lib_least_sums(NULL), 1);
    assert_int_equal(bj_lib_steps_ahead(NULL, 1), 0);
    assert_int_equal(bj_lib_fit_tile(NULL, &rows, &columns, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_fit_tile(&core, NULL, &columns, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_fit_tile(&core, &rows, NULL, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_fit_block(NULL, 1 << 15, &footprint), 0);
    assert_int_equal(bj_lib_fit_block(&core, 1 << 15, NULL), 0);
    bj_lib_fit_places(16, &rows, NULL);
    bj_lib_fit_places(16, NULL, &columns);
    assert_true(rows >= 1 && columns >= 1);
}

static void nulls_are_safe(void **state) {
    (void)state;
    bj_lib_profile *profile;
    double number = 1, low, high;
    size_t size;
    int cpu;
    assert_null(bj_lib_answer_key(NULL));
    assert_null(bj_lib_answer_unit(NULL));
    assert_null(bj_lib_answer_reason(NULL));
    assert_null(bj_lib_answer_method(NULL));
    assert_null(bj_lib_answer_json(NULL));
    assert_int_equal(bj_lib_answer_status(NULL), BJ_LIB_STATUS_UNDETERMINED);
    assert_int_equal(bj_lib_answer_confidence(NULL), BJ_LIB_CONFIDENCE_NONE);
    assert_false(bj_lib_answer_number(NULL, &number));
    assert_false(bj_lib_answer_interval(NULL, &low, &high));
    assert_false(bj_lib_answer_claimed(NULL, &number));
    assert_null(bj_lib_profile_path(NULL));
    assert_null(bj_lib_profile_info(NULL, "cpu"));
    assert_null(bj_lib_find_answer(NULL, "cache.levels"));
    assert_null(bj_lib_answer_at(NULL, 0));
    assert_int_equal(bj_lib_count_answers(NULL), 0);
    assert_int_equal(bj_lib_open_profile(profile_path, NULL, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_parse_profile(NULL, 0, &profile, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_write_profile(NULL, "/dev/null", NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_get_number(NULL, "a.b", BJ_LIB_CONFIDENCE_LOW, &number, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_get_size(NULL, "a.b", BJ_LIB_CONFIDENCE_LOW, &size, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_place_threads(NULL, 1, BJ_LIB_PLACE_NEAR, &cpu, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_run_probes(NULL, NULL, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_open_timer(NULL, NULL, NULL), BJ_LIB_ERR_USAGE);
    assert_null(bj_lib_timer_clock(NULL));
    bj_lib_close_profile(NULL);
    bj_lib_close_timer(NULL);
    assert_int_equal(bj_lib_open_profile(profile_path, &profile, NULL), BJ_LIB_OK);
    assert_null(bj_lib_profile_info(profile, NULL));
    assert_null(bj_lib_find_answer(profile, NULL));
    assert_int_equal(bj_lib_get_number(profile, NULL, BJ_LIB_CONFIDENCE_LOW, &number, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_get_size(profile, "cache.levels", BJ_LIB_CONFIDENCE_LOW, NULL, NULL), BJ_LIB_ERR_USAGE);
    assert_int_equal(bj_lib_write_profile(profile, NULL, NULL), BJ_LIB_ERR_USAGE);
    bj_lib_close_profile(profile);
    assert_true(number == 1);
}

static double work(size_t n, void *const *operands) {
    (void)operands;
    return (double)n;
}

static bj_lib_timer *open_timer(void) {
    static const char text[] =
        "{\"format\": \"blackjack-profile/1\", \"characteristics\": {\"cache.levels\": {\"value\": 1, "
        "\"unit\": \"count\", \"status\": \"ok\"}, \"cache.L1.size_bytes\": {\"value\": 32768, "
        "\"unit\": \"bytes\", \"status\": \"ok\"}}}";
    bj_lib_timer_options options = {.struct_size = sizeof options, .clock = "wall"};
    bj_lib_profile *profile = NULL;
    bj_lib_timer *timer = NULL;
    bj_lib_error error = {""};
    assert_int_equal(bj_lib_parse_profile(text, strlen(text), &profile, &error), BJ_LIB_OK);
    options.profile = profile;
    bj_lib_result result = bj_lib_open_timer(&options, &timer, &error);
    bj_lib_close_profile(profile);
    if (result != BJ_LIB_OK)
        print_message("%s\n", error.text);
    assert_int_equal(result, BJ_LIB_OK);
    return timer;
}

static void nulls_in_lists_are_safe(void **state) {
    (void)state;
    static const char *const probes[] = {"clock", NULL};
    bj_lib_kernel *const candidates[] = {work, NULL};
    bj_lib_run_options options = {.struct_size = sizeof options, .probes = probes, .probe_count = 2};
    bj_lib_timing_options timing = {.struct_size = sizeof timing, .n = 1};
    bj_lib_profile *profile = NULL;
    size_t best = 0;
    assert_int_equal(bj_lib_run_probes(&options, &profile, NULL), BJ_LIB_ERR_USAGE);
    assert_null(profile);
    bj_lib_timer *timer = open_timer();
    assert_int_equal(bj_lib_tune_kernel(timer, candidates, 2, &timing, 0, &best, NULL, NULL), BJ_LIB_ERR_USAGE);
    bj_lib_close_timer(timer);
}

static void nulls_of_regions_are_safe(void **state) {
    (void)state;
    assert_int_equal(bj_lib_name_region(NULL), BJ_LIB_REGIONS_MOST);
    assert_int_equal(bj_lib_write_regions(NULL, NULL), BJ_LIB_ERR_USAGE);
}

static void errno_is_kept(void **state) {
    (void)state;
    bj_lib_profile *profile;
    errno = EXDEV;
    assert_int_equal(bj_lib_open_profile("/nowhere/at/all", &profile, NULL), BJ_LIB_ERR_NOT_FOUND);
    assert_int_equal(errno, EXDEV);
    assert_int_equal(bj_lib_open_profile(profile_path, &profile, NULL), BJ_LIB_OK);
    assert_int_equal(bj_lib_write_profile(profile, "/nowhere/at/all", NULL), BJ_LIB_ERR_SYSTEM);
    bj_lib_close_profile(profile);
    assert_int_equal(errno, EXDEV);
    bj_lib_declare_work(bj_lib_name_region("kept"), 1, 1);
    assert_int_equal(bj_lib_write_regions("/nowhere/at/all", NULL), BJ_LIB_ERR_SYSTEM);
    assert_int_equal(errno, EXDEV);
}

enum { SMALL_STACK = 32 * 1024 };

/* The thread sanitizer gives any thread a stack of its own idea, on which the call would not be refused but measure. */
static bool has_small_stack(void) {
    pthread_attr_t attributes;
    size_t bytes = 0;
    void *begin;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    int trouble = pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    return trouble == 0 && bytes <= SMALL_STACK;
}

typedef struct {
    bj_lib_timer *timer; /* of a thread with a larger stack */
    bj_lib_result opened, written, run, timer_opened, timed, paired, tuned, regions;
} small_use;

/* Answers do not matter here: that nothing is written below the stack does, where its guard page is. */
static void ask_all(const bj_lib_profile *profile) {
    bj_lib_core core = {.struct_size = sizeof core};
    bj_lib_error error;
    double value;
    char text[200];
    int cpus[2];
    size_t ranks[2];
    (void)bj_lib_get_number(profile, "cache.levels", BJ_LIB_CONFIDENCE_LOW, &value, &error);
    (void)bj_lib_place_threads(profile, 2, BJ_LIB_PLACE_NEAR, cpus, &error);
    (void)bj_lib_place_ranks(profile, 2, BJ_LIB_TALK_ALL, 64, ranks, text, sizeof text, &error);
    (void)bj_lib_comm_estimate(profile, 0, 64, 1, &value, NULL, &error);
    (void)bj_lib_get_advice(profile, 0, text, sizeof text, &error);
    (void)bj_lib_read_core(profile, NULL, &core, &error);
}

static void *use_a_small_stack(void *context) {
    small_use *use = context;
    bj_lib_kernel *const candidates[] = {work};
    bj_lib_timing_options options = {.struct_size = sizeof options, .n = 1};
    bj_lib_timing timing = {.struct_size = sizeof timing};
    bj_lib_profile *profile = NULL;
    bj_lib_timer *timer;
    double ratio, low, high;
    size_t best;
    if (!has_small_stack())
        return context;
    use->opened = bj_lib_open_profile(multicore_path, &profile, NULL);
    if (use->opened == BJ_LIB_OK) {
        ask_all(profile);
        use->written = bj_lib_write_profile(profile, "/dev/null", NULL);
    }
    bj_lib_close_profile(profile);
    bj_lib_region region = bj_lib_name_region("small");
    bj_lib_begin_region(region);
    bj_lib_end_region(region);
    use->regions = bj_lib_write_regions("/dev/null", NULL);
    use->run = bj_lib_run_probes(NULL, &profile, NULL);
    use->timer_opened = bj_lib_open_timer(NULL, &timer, NULL);
    use->timed = bj_lib_time_kernel(use->timer, work, &options, &timing, NULL);
    use->paired = bj_lib_time_pair(use->timer, work, work, &options, &ratio, &low, &high, NULL);
    use->tuned = bj_lib_tune_kernel(use->timer, candidates, 1, &options, 0, &best, NULL, NULL);
    return NULL;
}

static void small_stacks_suffice_or_are_refused(void **state) {
    (void)state;
    small_use use = {.timer = open_timer(), .opened = BJ_LIB_ERR_FAILED, .written = BJ_LIB_ERR_FAILED};
    pthread_attr_t attributes;
    pthread_t thread;
    void *enlarged = NULL;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    if (pthread_attr_setstacksize(&attributes, SMALL_STACK) != 0) {
        pthread_attr_destroy(&attributes);
        bj_lib_close_timer(use.timer);
        print_message("left out: no stack is so small here (on AArch64 the C library wants 128 KiB)\n");
        skip();
    }
    int trouble = pthread_create(&thread, &attributes, use_a_small_stack, &use);
    pthread_attr_destroy(&attributes);
    if (trouble == 0)
        assert_int_equal(pthread_join(thread, &enlarged), 0);
    bj_lib_close_timer(use.timer);
    if (trouble != 0 || enlarged != NULL) /* a sanitizer's own data does not fit */
        skip();
    assert_int_equal(use.opened, BJ_LIB_OK);
    assert_int_equal(use.written, BJ_LIB_OK);
    assert_int_equal(use.regions, BJ_LIB_OK);
    assert_int_equal(use.run, BJ_LIB_ERR_SYSTEM);
    assert_int_equal(use.timer_opened, BJ_LIB_ERR_SYSTEM);
    assert_int_equal(use.timed, BJ_LIB_ERR_SYSTEM);
    assert_int_equal(use.paired, BJ_LIB_ERR_SYSTEM);
    assert_int_equal(use.tuned, BJ_LIB_ERR_SYSTEM);
}

/* Whoever is cancelled already reaches the end of every call. */
static void *call_when_cancelled(void *context) {
    bj_lib_profile *profile = NULL;
    int *reached = context;
    bj_lib_region region = bj_lib_name_region("cancelled");
    pthread_cancel(pthread_self());
    if (bj_lib_open_profile(profile_path, &profile, NULL) == BJ_LIB_OK)
        ++*reached;
    if (bj_lib_write_profile(profile, "/dev/null", NULL) == BJ_LIB_OK)
        ++*reached;
    bj_lib_begin_region(region);
    bj_lib_end_region(region);
    if (bj_lib_write_regions("/dev/null", NULL) == BJ_LIB_OK)
        ++*reached;
    bj_lib_close_profile(profile);
    ++*reached;
    pthread_testcancel();
    *reached = -1;
    return NULL;
}

static void no_call_is_left_half_done(void **state) {
    (void)state;
    pthread_t thread;
    void *result;
    int reached = 0;
    assert_int_equal(pthread_create(&thread, NULL, call_when_cancelled, &reached), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(reached, 4);
}

static atomic_int calls, ended;

static bool count_call(void *context, const bj_lib_progress *news) {
    (void)context;
    (void)news;
    atomic_fetch_add(&calls, 1);
    return false;
}

static void *measure(void *context) {
    static const char *const probes[] = {"contexts"};
    bj_lib_run_options options = {.struct_size = sizeof options,
                                  .probes = probes,
                                  .probe_count = 1,
                                  .effort = "quick",
                                  .budget_s = 0.5,
                                  .report = count_call};
    bj_lib_profile *profile = NULL;
    (void)context;
    (void)bj_lib_run_probes(&options, &profile, NULL);
    atomic_store(&ended, 1);
    bj_lib_close_profile(profile);
    pthread_testcancel();
    return NULL;
}

/* Threads of ours work on the stack of the thread that called us: it may only go when they are done. */
static void cancelling_waits_for_the_call(void **state) {
    (void)state;
    enum { TRIES = 4 };
    for (int i = 0; i < TRIES; i++) {
        pthread_t thread;
        void *result;
        atomic_store(&calls, 0);
        atomic_store(&ended, 0);
        assert_int_equal(pthread_create(&thread, NULL, measure, NULL), 0);
        while (atomic_load(&calls) == 0)
            usleep(1000);
        assert_int_equal(pthread_cancel(thread), 0);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_ptr_equal(result, PTHREAD_CANCELED);
        assert_int_equal(atomic_load(&ended), 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nulls_are_safe),
        cmocka_unit_test(nulls_of_places_are_safe),
        cmocka_unit_test(nulls_of_the_model_are_safe),
        cmocka_unit_test(nulls_in_lists_are_safe),
        cmocka_unit_test(nulls_of_regions_are_safe),
        cmocka_unit_test(errno_is_kept),
        cmocka_unit_test(small_stacks_suffice_or_are_refused),
        cmocka_unit_test(cancelling_waits_for_the_call),
        cmocka_unit_test(no_call_is_left_half_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
