/* libblackjack as its user meets it: the public header and the shared library, nothing else. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <blackjack/blackjack.h>

static const char sample[] = BJ_SOURCE_DIR "/tests/cli/profile.json";

static bj_lib_profile *open_sample(void) {
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    assert_int_equal(bj_lib_open_profile(sample, &profile, &error), BJ_LIB_OK);
    assert_string_equal(error.text, "");
    return profile;
}

static void test_getters(void **state) {
    (void)state;
    bj_lib_profile *profile = open_sample();
    bj_lib_error error;
    double number = -1;
    size_t size = 7;
    assert_int_equal(bj_lib_get_number(profile, "memory.latency_ns", BJ_LIB_CONFIDENCE_HIGH, &number, &error),
                     BJ_LIB_OK);
    assert_true(number == 101.5);
    assert_int_equal(bj_lib_get_size(profile, "cache.L1.size_bytes", BJ_LIB_CONFIDENCE_MEDIUM, &size, NULL), BJ_LIB_OK);
    assert_int_equal(size, 32768);
    assert_int_equal(bj_lib_get_size(profile, "memory.latency_ns", BJ_LIB_CONFIDENCE_MEDIUM, &size, NULL), BJ_LIB_OK);
    assert_int_equal(size, 101);

    /* What is refused leaves the number alone and says why. */
    number = -1;
    assert_int_equal(bj_lib_get_number(profile, "cache.L1.size_bytes", BJ_LIB_CONFIDENCE_HIGH, &number, &error),
                     BJ_LIB_ERR_UNANSWERED);
    assert_non_null(strstr(error.text, "only medium"));
    assert_int_equal(bj_lib_get_number(profile, "cache.L2.size_bytes", BJ_LIB_CONFIDENCE_MEDIUM, &number, &error),
                     BJ_LIB_ERR_UNANSWERED);
    assert_non_null(strstr(error.text, "unstable: single rounds"));
    assert_int_equal(bj_lib_get_number(profile, "contexts.int", BJ_LIB_CONFIDENCE_NONE, &number, &error),
                     BJ_LIB_ERR_UNANSWERED);
    assert_int_equal(bj_lib_get_number(profile, "cache.L1.sharing", BJ_LIB_CONFIDENCE_NONE, &number, &error),
                     BJ_LIB_ERR_TYPE);
    assert_int_equal(bj_lib_get_number(profile, "no.such.key", BJ_LIB_CONFIDENCE_NONE, &number, &error),
                     BJ_LIB_ERR_NOT_FOUND);
    assert_true(number == -1);
    assert_int_equal(bj_lib_get_number(profile, "cache.L2.size_bytes", BJ_LIB_CONFIDENCE_LOW, &number, NULL),
                     BJ_LIB_OK);
    assert_true(number == 4194304);
    bj_lib_close_profile(profile);
    bj_lib_close_profile(NULL);
}

static void test_sizes(void **state) {
    (void)state;
    static const char text[] = "{\"format\": \"blackjack-profile/1\", \"characteristics\": {"
                               "\"a.negative\": {\"value\": -1, \"unit\": \"\", \"status\": \"ok\"},"
                               "\"a.huge\": {\"value\": 1e30, \"unit\": \"\", \"status\": \"ok\"},"
                               "\"a.list\": {\"value\": [1], \"unit\": \"\", \"status\": \"ok\"},"
                               "\"a.zero\": {\"value\": 0, \"unit\": \"\", \"status\": \"ok\"}}}";
    bj_lib_profile *profile;
    size_t size = 7;
    assert_int_equal(bj_lib_parse_profile(text, strlen(text), &profile, NULL), BJ_LIB_OK);
    assert_int_equal(bj_lib_get_size(profile, "a.negative", BJ_LIB_CONFIDENCE_LOW, &size, NULL), BJ_LIB_ERR_TYPE);
    assert_int_equal(bj_lib_get_size(profile, "a.huge", BJ_LIB_CONFIDENCE_LOW, &size, NULL), BJ_LIB_ERR_TYPE);
    assert_int_equal(size, 7);
    assert_int_equal(bj_lib_get_size(profile, "a.zero", BJ_LIB_CONFIDENCE_LOW, &size, NULL), BJ_LIB_OK);
    assert_int_equal(size, 0);
    /* No confidence is no certainty. */
    bj_lib_error error;
    assert_int_equal(bj_lib_get_size(profile, "a.zero", BJ_LIB_CONFIDENCE_MEDIUM, &size, &error),
                     BJ_LIB_ERR_UNANSWERED);
    assert_non_null(strstr(error.text, "not told"));
    assert_int_equal(bj_lib_get_size(profile, "a.list", BJ_LIB_CONFIDENCE_MEDIUM, &size, NULL), BJ_LIB_ERR_TYPE);
    assert_string_equal(bj_lib_profile_path(profile), "");
    bj_lib_close_profile(profile);
    assert_int_equal(bj_lib_parse_profile("{", 1, &profile, NULL), BJ_LIB_ERR_INPUT);
    assert_null(profile);
    assert_int_equal(bj_lib_parse_profile("", 0, &profile, NULL), BJ_LIB_ERR_INPUT);
}

static void test_answers(void **state) {
    (void)state;
    bj_lib_profile *profile = open_sample();
    size_t count = bj_lib_count_answers(profile);
    assert_int_equal(count, 9);
    for (size_t i = 0; i < count; i++) {
        const bj_lib_answer *answer = bj_lib_answer_at(profile, i);
        assert_ptr_equal(bj_lib_find_answer(profile, bj_lib_answer_key(answer)), answer);
    }
    assert_null(bj_lib_answer_at(profile, count));
    assert_null(bj_lib_find_answer(profile, "cache.L1"));
    assert_null(bj_lib_find_answer(profile, ""));

    double low = 0, high = 0, number = 0;
    const bj_lib_answer *answer = bj_lib_find_answer(profile, "cache.L1.size_bytes");
    assert_string_equal(bj_lib_answer_unit(answer), "bytes");
    assert_string_equal(bj_lib_answer_method(answer), "levels/1");
    assert_int_equal(bj_lib_answer_status(answer), BJ_LIB_STATUS_OK);
    assert_int_equal(bj_lib_answer_confidence(answer), BJ_LIB_CONFIDENCE_MEDIUM);
    assert_true(bj_lib_answer_interval(answer, &low, &high) && low == 32768 && high == 34816);
    assert_true(bj_lib_answer_claimed(answer, &number) && number == 49152);
    assert_true(bj_lib_answer_number(answer, &number) && number == 32768);
    assert_null(bj_lib_answer_json(answer));

    answer = bj_lib_find_answer(profile, "cache.L1.sharing");
    assert_string_equal(bj_lib_answer_json(answer), "[[0, 1], [2, 3]]");
    assert_false(bj_lib_answer_number(answer, &number));
    answer = bj_lib_find_answer(profile, "contexts.int");
    assert_string_equal(bj_lib_status_name(bj_lib_answer_status(answer)), "unsupported");
    assert_string_equal(bj_lib_answer_reason(answer), "needs 2 cpus, may use 1");
    assert_false(bj_lib_answer_number(answer, &number) || bj_lib_answer_interval(answer, &low, &high) ||
                 bj_lib_answer_claimed(answer, &number));
    assert_string_equal(bj_lib_confidence_name(BJ_LIB_CONFIDENCE_HIGH), "high");
    assert_string_equal(bj_lib_confidence_name((bj_lib_confidence)99), "unknown");
    assert_string_equal(bj_lib_profile_info(profile, "os"), "Linux 6.1");
    assert_null(bj_lib_profile_info(profile, "colour"));
    assert_string_equal(bj_lib_profile_path(profile), sample);
    bj_lib_close_profile(profile);
}

typedef struct {
    char folder[64], user[128];
} places;

static int setup_places(void **state) {
    places *here = calloc(1, sizeof *here);
    strcpy(here->folder, "/tmp/bj-lib-XXXXXX");
    if (mkdtemp(here->folder) == NULL)
        return 1;
    snprintf(here->user, sizeof here->user, "%s/blackjackbench", here->folder);
    unsetenv("BLACKJACK_PROFILE");
    setenv("XDG_DATA_HOME", here->folder, 1);
    *state = here;
    return mkdir(here->user, 0700) != 0 || chdir(here->folder) != 0;
}

static int teardown_places(void **state) {
    places *here = *state;
    char path[256];
    if (chdir("/") != 0)
        return 1;
    static const char *const names[] = {"profile.json", "other.json", "../blackjack-profile.json", ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", here->user, names[i]);
        remove(path);
    }
    remove(here->folder);
    free(here);
    return 0;
}

static void write_text(const places *here, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", here->user, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The folder at hand comes before the user's place. */
static void test_folder_at_hand(void **state) {
    const places *here = *state;
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    write_text(here, "profile.json", "not a profile");
    write_text(here, "../blackjack-profile.json", "{\"format\": \"blackjack-profile/1\", \"characteristics\": {}}");
    assert_int_equal(bj_lib_open_profile(NULL, &profile, &error), BJ_LIB_OK);
    assert_string_equal(bj_lib_profile_path(profile), "blackjack-profile.json");
    bj_lib_close_profile(profile);
}

/* Given, then $BLACKJACK_PROFILE, then the user's place; what is there but no profile is an error. */
static void test_places(void **state) {
    const places *here = *state;
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    bj_lib_result none = bj_lib_open_profile(NULL, &profile, &error);
    if (none != BJ_LIB_OK) { /* unless this machine has one for everybody */
        assert_int_equal(none, BJ_LIB_ERR_NOT_FOUND);
        assert_null(profile);
        assert_non_null(strstr(error.text, here->user));
    }
    bj_lib_close_profile(profile);

    write_text(here, "profile.json", "{\"format\": \"blackjack-profile/1\", \"characteristics\": {}}");
    assert_int_equal(bj_lib_open_profile(NULL, &profile, &error), BJ_LIB_OK);
    assert_int_equal(bj_lib_count_answers(profile), 0);
    assert_non_null(strstr(bj_lib_profile_path(profile), here->user));
    bj_lib_close_profile(profile);

    setenv("BLACKJACK_PROFILE", sample, 1);
    assert_int_equal(bj_lib_open_profile(NULL, &profile, &error), BJ_LIB_OK);
    assert_string_equal(bj_lib_profile_path(profile), sample);
    bj_lib_close_profile(profile);
    setenv("BLACKJACK_PROFILE", "/no/such/file", 1);
    assert_int_equal(bj_lib_open_profile(NULL, &profile, &error), BJ_LIB_ERR_NOT_FOUND);
    assert_non_null(strstr(error.text, "/no/such/file"));
    setenv("BLACKJACK_PROFILE", "", 1);
    assert_int_equal(bj_lib_open_profile(NULL, &profile, &error), BJ_LIB_OK);
    bj_lib_close_profile(profile);

    assert_int_equal(bj_lib_open_profile("/no/such/file", &profile, &error), BJ_LIB_ERR_NOT_FOUND);
    assert_null(profile);
    assert_int_equal(bj_lib_open_profile("/", &profile, &error), BJ_LIB_ERR_INPUT);

    write_text(here, "profile.json", "not a profile");
    assert_int_equal(bj_lib_open_profile(NULL, &profile, &error), BJ_LIB_ERR_INPUT);
    assert_null(profile);
    assert_int_equal(bj_lib_open_profile(sample, &profile, &error), BJ_LIB_OK);
    char path[256];
    snprintf(path, sizeof path, "%s/other.json", here->user);
    assert_int_equal(bj_lib_write_profile(profile, path, &error), BJ_LIB_OK);
    bj_lib_close_profile(profile);
    assert_int_equal(bj_lib_open_profile(path, &profile, &error), BJ_LIB_OK);
    assert_int_equal(bj_lib_count_answers(profile), 9);
    assert_int_equal(bj_lib_write_profile(profile, "/no/such/folder/file", &error), BJ_LIB_ERR_SYSTEM);
    bj_lib_close_profile(profile);
}

/* The user's place that may not be entered does not hide the system's; one that was named is another matter. */
static void test_forbidden_place(void **state) {
    const places *here = *state;
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    char path[256];
    snprintf(path, sizeof path, "%s/profile.json", here->user);
    write_text(here, "profile.json", "{\"format\": \"blackjack-profile/1\", \"characteristics\": {}}");
    assert_int_equal(chmod(path, 0), 0);
    bool root = geteuid() == 0; /* who may read everything */
    if (root)
        assert_int_equal(seteuid(65534), 0);
    bj_lib_result found = bj_lib_open_profile(NULL, &profile, &error);
    bj_lib_close_profile(profile);
    bj_lib_result named = bj_lib_open_profile(path, &profile, &error);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_true(found == BJ_LIB_OK || found == BJ_LIB_ERR_NOT_FOUND);
    assert_int_equal(named, BJ_LIB_ERR_SYSTEM);
}

static void *read_much(void *context) {
    const bj_lib_profile *profile = context;
    intptr_t wrong = 0;
    for (int i = 0; i < 2000; i++) {
        size_t size = 0;
        bj_lib_error error;
        wrong += bj_lib_get_size(profile, "cache.L1.size_bytes", BJ_LIB_CONFIDENCE_LOW, &size, &error) != BJ_LIB_OK ||
                 size != 32768;
        wrong += bj_lib_get_size(profile, "no.such.key", BJ_LIB_CONFIDENCE_LOW, &size, &error) != BJ_LIB_ERR_NOT_FOUND;
        wrong += bj_lib_answer_at(profile, (size_t)i % 9) == NULL;
    }
    return (void *)wrong;
}

static void test_threads(void **state) {
    (void)state;
    bj_lib_profile *profile = open_sample();
    pthread_t threads[8];
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_much, profile), 0);
    for (size_t i = 0; i < 8; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    bj_lib_close_profile(profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_getters),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_answers),
        cmocka_unit_test_setup_teardown(test_places, setup_places, teardown_places),
        cmocka_unit_test_setup_teardown(test_folder_at_hand, setup_places, teardown_places),
        cmocka_unit_test_setup_teardown(test_forbidden_place, setup_places, teardown_places),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
