/* Copies of a program: told their cpus, timed, refused when they fail, hang or leave something behind. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/copies.h"
#include "platform/cpu.h"

static int *cpus;
static size_t cpu_count;

static int find_cpus(void **state) {
    (void)state;
    return bj_platform_list_cpus(&cpus, &cpu_count, NULL) == BJ_OK ? 0 : -1;
}

static int forget_cpus(void **state) {
    (void)state;
    free(cpus);
    return 0;
}

/* Two copies on one cpu each, by a shell. */
static bj_status run_shell(const char *script, double limit_s, double *seconds, bj_error *error) {
    char text[400];
    snprintf(text, sizeof text, "%s", script);
    char *const words[] = {(char[]){"sh"}, (char[]){"-c"}, text, (char[]){"{cpus}"}, NULL};
    const bj_copy_cpus on[] = {{cpus, 1}, {cpus + cpu_count - 1, 1}};
    const bj_copies_rules rules = {.limit_s = limit_s};
    _Atomic uint64_t begun = 0, first_end = 0;
    bj_copies *copies = NULL;
    bj_status status = bj_platform_hold_copies(words, on, 2, &copies, error);
    assert_int_equal(status, BJ_OK);
    status = bj_platform_run_copies(copies, &rules, &begun, &first_end, seconds, error);
    if (status == BJ_OK)
        assert_true(begun > 0 && first_end >= begun);
    bj_platform_end_copies(copies);
    return status;
}

static void are_told_their_cpus_and_timed(void **state) {
    double seconds[2] = {0, 0};
    bj_error error = {""};
    (void)state;
    /* $0 is the word behind the script. */
    bj_status status = run_shell("[ \"$0\" = 1 ] && [ \"$OMP_NUM_THREADS\" = 1 ] && sleep 0.1", 60, seconds, &error);
    if (status != BJ_OK)
        fail_msg("%s", error.text);
    assert_true(seconds[0] >= 0.1 && seconds[1] >= 0.1);
}

static void expect_failure(const char *script, double limit_s, const char *told) {
    double seconds[2];
    bj_error error = {""};
    assert_int_equal(run_shell(script, limit_s, seconds, &error), BJ_ERR_FAILED);
    if (strstr(error.text, told) == NULL)
        fail_msg("'%s' where '%s' was expected", error.text, told);
}

static void are_refused_when_they_fail(void **state) {
    (void)state;
    expect_failure("echo first >&2; echo second >&2; exit 4", 60, "sh failed with status 4: first");
    expect_failure("kill -ABRT $$", 60, "abort");
    expect_failure("sleep 60", 0.2, "was not done within 0.2 s");
}

static void leave_nothing_behind(void **state) {
    (void)state;
    expect_failure("sleep 60 & exit 0", 60, "left processes running");
    /* One that ends by itself at once, and one that is waited for. */
    double seconds[2];
    bj_error error = {""};
    assert_int_equal(run_shell("true & sleep 0.05 & wait", 60, seconds, &error), BJ_OK);
}

/* As a shell's background job is, when the shell becomes us. */
static void spare_children_from_before(void **state) {
    double seconds[2];
    bj_error error = {""};
    (void)state;
    pid_t before = fork();
    if (before == 0) {
        pause();
        _exit(0);
    }
    assert_true(before > 0);
    assert_int_equal(run_shell("sleep 0.05", 60, seconds, &error), BJ_OK);
    expect_failure("sleep 60 & exit 0", 60, "left processes running");
    assert_int_equal(waitpid(before, NULL, WNOHANG), 0);
    kill(before, SIGKILL);
    assert_int_equal(waitpid(before, NULL, 0), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_told_their_cpus_and_timed), cmocka_unit_test(are_refused_when_they_fail),
        cmocka_unit_test(leave_nothing_behind), cmocka_unit_test(spare_children_from_before)};
    return cmocka_run_group_tests(tests, find_cpus, forget_cpus);
}
