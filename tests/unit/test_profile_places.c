/* The default profile: the order of its places, and what stays of those before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dirent.h>

#include <cmocka.h>

#include "made_up_tree.h"
#include "profile/places.h"

static const char text_of_none[] = "{\"format\": \"blackjack-profile/1\", \"characteristics\": {}}";

static int set_up(void **state) {
    char *root = make_tree();
    unsetenv("BLACKJACK_PROFILE");
    setenv("XDG_DATA_HOME", root, 1);
    *state = root;
    return chdir(root);
}

static int tear_down(void **state) {
    if (chdir("/") != 0)
        return 1;
    remove_tree(*state);
    return 0;
}

static void expect_found(const char *expected) {
    char *path = NULL;
    bj_error error = {""};
    if (bj_profile_find_default(&path, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_string_equal(path, expected);
    free(path);
}

/* From the last place to the first: each hides those after it. */
static void test_order(void **state) {
    const char *root = *state;
    char user[300], *path = NULL, *used = NULL;
    bj_error error = {""};
    bj_profile profile;
    bj_profile_init(&profile);
    snprintf(user, sizeof user, "%s/blackjackbench/profile.json", root);
    if (bj_profile_find_default(&path, &error) != BJ_OK) { /* unless this machine has one for everybody */
        assert_non_null(strstr(error.text, user));
        assert_non_null(strstr(error.text, "blackjack run --save"));
        assert_null(path);
        assert_int_equal(bj_profile_read_default(NULL, &profile, &used, &error), BJ_ERR_INPUT);
    }
    free(path);
    put(root, "/blackjackbench/profile.json", text_of_none);
    expect_found(user);
    put(root, "/blackjack-profile.json", text_of_none);
    expect_found("blackjack-profile.json");
    assert_int_equal(bj_profile_read_default(NULL, &profile, &used, &error), BJ_OK);
    assert_string_equal(used, "blackjack-profile.json");
    free(used);
    setenv("BLACKJACK_PROFILE", "named.json", 1); /* even where it is not there */
    expect_found("named.json");
    assert_int_equal(bj_profile_read_default(NULL, &profile, &used, &error), BJ_ERR_INPUT);
    assert_null(used);
    assert_int_equal(bj_profile_read_default(user, &profile, NULL, &error), BJ_OK);
    setenv("BLACKJACK_PROFILE", "-", 1);
    expect_found("./-");
    setenv("BLACKJACK_PROFILE", "", 1);
    expect_found("blackjack-profile.json");
    bj_profile_free(&profile);
}

static void keep_created(const char *kept, const char *created, const char *expected_older) {
    bj_profile profile;
    bj_error error = {""};
    char *older = NULL;
    bj_profile_init(&profile);
    snprintf(profile.created, sizeof profile.created, "%s", created);
    if (bj_profile_keep(&profile, kept, &older, &error) != BJ_OK)
        fail_msg("%s", error.text);
    if (expected_older == NULL)
        assert_null(older);
    else
        assert_non_null(strstr(older, expected_older));
    free(older);
    bj_profile_free(&profile);
}

static size_t count_files(const char *folder) {
    size_t count = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

static void test_keep(void **state) {
    const char *root = *state;
    char folder[300], created[32], date[32] = "", *kept = NULL, *path = NULL;
    bj_error error = {""};
    snprintf(folder, sizeof folder, "%s/blackjackbench", root);
    assert_int_equal(bj_profile_name_kept(&kept, &error), BJ_OK);
    assert_int_equal(bj_profile_find_older(&path, &error), BJ_ERR_INPUT);
    /* Dates run backwards in the middle: names, not the order of saving, say which is the oldest. */
    static const int days[] = {3, 9, 4, 8, 5, 7, 6, 10};
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        snprintf(created, sizeof created, "2026-11-%02dT07:00:00Z", days[i]);
        keep_created(kept, created, i > 0 ? date : NULL);
        keep_created(kept, created, NULL); /* the same again is nothing to keep */
        snprintf(date, sizeof date, "profile-2026-11-%02d-070000.json", days[i]);
    }
    assert_int_equal(count_files(folder), 1 + BJ_PROFILE_OLDER_MOST);
    assert_int_equal(bj_profile_find_older(&path, &error), BJ_OK);
    assert_non_null(strstr(path, "/blackjackbench/profile-2026-11-09-070000.json"));
    free(path);
    char gone[400];
    for (int day = 3; day <= 9; day++) {
        snprintf(gone, sizeof gone, "%s/profile-2026-11-%02d-070000.json", folder, day);
        assert_int_equal(access(gone, F_OK) == 0, day >= 5);
    }
    free(kept);
}

/* Neighbours of another name are nobody's older profile, and files without a date get that of their writing. */
static void test_strangers(void **state) {
    const char *root = *state;
    char *path = NULL;
    bj_error error = {""};
    static const char *const strangers[] = {"/me-2026-11-15.json", "/me-2026-11-15-07000x.json",
                                            "/you-2026-11-15-070000.json", "/me-2026-11-15-070000.txt", "/me-.json"};
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++)
        put(root, strangers[i], "");
    setenv("BLACKJACK_PROFILE", "me.json", 1);
    assert_int_equal(bj_profile_find_older(&path, &error), BJ_ERR_INPUT);
    put(root, "/me.json", "no profile at all");
    keep_created("me.json", "1970-01-01T00:00:00Z", "me-20");
    keep_created("me.json", "2026-11-15T07:00:00Z", "me-20");
    assert_int_equal(bj_profile_find_older(&path, &error), BJ_OK);
    assert_memory_equal(path, "me-20", 5);
    free(path);
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++)
        assert_int_equal(access(strangers[i] + 1, F_OK), 0);
    unsetenv("BLACKJACK_PROFILE");
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    assert_int_equal(bj_profile_name_kept(&path, &error), BJ_ERR_USAGE);
    assert_int_equal(bj_profile_make_folder("/proc/nowhere/a/profile.json", &error), BJ_ERR_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keep, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_strangers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
