/* Other programs: words of a command line, exit status, output, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/clock.h"
#include "platform/process.h"

static void test_words(void **state) {
    (void)state;
    setenv("HOME", "/home/me", 1);
    setenv("BJ_TEST", "a b", 1);
    const struct {
        const char *line;
        const char *words[7];
    } cases[] = {
        {"gcc -O2", {"gcc", "-O2"}},
        {"  gcc\t -O2 ", {"gcc", "-O2"}},
        {"'my cc' -DX=\"a b\"", {"my cc", "-DX=a b"}},
        {"cc -DX='a\"b' \"c'd\"", {"cc", "-DX=a\"b", "c'd"}},
        {"a\\ b \"c\\\"d\" 'e\\f'", {"a b", "c\"d", "e\\f"}},
        {"cc '' \"\"", {"cc", "", ""}},
        {"", {NULL}},
        {"a b c d", {"a", "b", "c", "d"}},
        {"'$HOME' \\*.c \"|\"", {"$HOME", "*.c", "|"}},
        {"~/cc -I$BJ_TEST/x \"$BJ_TEST\" $BJ_TEST", {"/home/me/cc", "-Ia", "b/x", "a b", "a", "b"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char **words = NULL;
        size_t count = 99, expected = 0;
        bj_error error = {""};
        assert_int_equal(bj_platform_split_words(cases[i].line, &words, &count, &error), BJ_OK);
        while (cases[i].words[expected] != NULL) {
            assert_true(expected < count);
            assert_string_equal(words[expected], cases[i].words[expected]);
            expected++;
        }
        assert_int_equal(count, expected);
        assert_null(words[count]);
        bj_platform_free_words(words);
    }
}

static void test_refused_words(void **state) {
    (void)state;
    const struct {
        const char *line, *why;
    } cases[] = {
        {"gcc 'x", "quote"},          {"gcc \"x", "quote"},      {"'", "quote"},
        {"gcc | tee", "quotes"},      {"gcc -O2\n", "quotes"},   {"gcc (x)", "quotes"},
        {"gcc $BJ_UNSET", "not set"}, {"gcc `date`", "not run"}, {"gcc $(date)", "not run"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char **words = NULL;
        size_t count;
        bj_error error = {""};
        assert_int_equal(bj_platform_split_words(cases[i].line, &words, &count, &error), BJ_ERR_USAGE);
        assert_non_null(strstr(error.text, cases[i].why));
    }
}

static bj_process shell(char **words, const char *script) {
    words[0] = "sh";
    words[1] = "-c";
    words[2] = (char *)script;
    words[3] = NULL;
    return (bj_process){.words = words};
}

static void test_status_and_output(void **state) {
    (void)state;
    char *words[4][4], *missing[] = {"no-such-program-anywhere", NULL};
    bj_process processes[] = {
        shell(words[0], "echo first; echo second"),
        shell(words[1], "echo noise >&2; echo 'x.c:1: error: bad' >&2; exit 3"),
        shell(words[2], "kill -9 $$"),
        shell(words[3], "cat"),
        {.words = missing},
    };
    bj_process_rules rules = {.jobs = 2, .limit_s = 30};
    bj_error error = {""};
    assert_int_equal(bj_platform_run_processes(processes, 5, &rules, &error), BJ_OK);
    assert_int_equal(processes[0].exit_status, 0);
    assert_string_equal(processes[0].output, "first");
    assert_int_equal(processes[1].exit_status, 3);
    assert_string_equal(processes[1].output, "x.c:1: error: bad");
    assert_int_equal(processes[2].exit_status, -1);
    assert_int_equal(processes[3].exit_status, 0); /* nothing to read, so it ends */
    assert_int_equal(processes[4].exit_status, 127);
    for (size_t i = 0; i < 5; i++)
        assert_true(processes[i].is_done);
}

static void test_the_first_failure_ends_the_others(void **state) {
    (void)state;
    char *words[3][4];
    bj_process processes[] = {shell(words[0], "sleep 60"), shell(words[1], "exit 1"), shell(words[2], "exit 0")};
    bj_process_rules rules = {.jobs = 2, .limit_s = 100, .stop_at_first = true};
    bj_error error = {""};
    uint64_t begin = bj_platform_read_ns();
    assert_int_equal(bj_platform_run_processes(processes, 3, &rules, &error), BJ_OK);
    assert_true(bj_platform_read_ns() - begin < UINT64_C(30000000000));
    assert_false(processes[0].is_done);
    assert_int_equal(processes[1].exit_status, 1);
}

static bool stop_now(void *context) {
    return ++*(int *)context > 3;
}

static void test_limits(void **state) {
    (void)state;
    char *words[4];
    int asked = 0;
    bj_process process = shell(words, "sleep 60 & wait");
    bj_process_rules hurried = {.jobs = 1, .limit_s = 0.2};
    bj_process_rules stopped = {.jobs = 1, .limit_s = 100, .is_stopped = stop_now, .context = &asked};
    bj_error error = {""};
    assert_int_equal(bj_platform_run_processes(&process, 1, &hurried, &error), BJ_ERR_RESOURCE);
    assert_non_null(strstr(error.text, "sh"));
    assert_int_equal(bj_platform_run_processes(&process, 1, &stopped, &error), BJ_ERR_INTERRUPTED);
    assert_int_equal(asked, 4);
}

static void test_folder(void **state) {
    (void)state;
    char *path = NULL, file[300];
    bj_error error = {""};
    assert_int_equal(bj_platform_make_folder(&path, &error), BJ_OK);
    snprintf(file, sizeof file, "%s/x", path);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fclose(out);
    bj_platform_remove_folder(path);
    assert_int_not_equal(access(path, F_OK), 0);
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_refused_words),
        cmocka_unit_test(test_status_and_output),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_the_first_failure_ends_the_others),
        cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
