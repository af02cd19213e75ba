/* Counters of the processor: what the kernel hands out, and what is said where there are none. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/counters.h"

static void scales_what_was_taken_in_turns(void **state) {
    (void)state;
    assert_float_equal(bj_platform_scale_count((const uint64_t[]){1000, 50, 50}), 1000, 0);
    assert_float_equal(bj_platform_scale_count((const uint64_t[]){1000, 80, 20}), 4000, 0);
    /* Beyond what 53 bits hold of the product. */
    assert_float_equal(bj_platform_scale_count((const uint64_t[]){1ull << 62, 3000000000u, 1500000000u}), 0x1p63, 0);
    assert_true(isnan(bj_platform_scale_count((const uint64_t[]){0, 50, 0})));
}

static void says_why(void **state) {
    (void)state;
    assert_non_null(strstr(bj_platform_explain_no_counters(EACCES), "does not let us"));
    assert_non_null(strstr(bj_platform_explain_no_counters(ENOENT), "the processor shows none"));
    assert_non_null(strstr(bj_platform_explain_no_counters(ENOSYS), "no perf_event"));
}

/* A child that becomes `true`. Where there are counters they counted something, else nothing is there to be closed. */
static void counts_a_program_or_says_why_not(void **state) {
    int gate[2];
    char byte, reason[120] = "";
    (void)state;
    assert_int_equal(pipe(gate), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(gate[1]);
        (void)!read(gate[0], &byte, 1);
        execlp("true", "true", (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    bool has = bj_platform_has_counters(reason, sizeof reason);
    bj_counters *counters = bj_platform_open_counters(pid);
    close(gate[0]);
    close(gate[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    if (has) {
        assert_non_null(counters);
        bj_counter_values values = bj_platform_read_counters(counters);
        assert_true(isnan(values.cycles) || values.cycles > 0);
    } else {
        assert_true(strlen(reason) > 10);
        assert_null(strchr(reason, '\n'));
    }
    bj_platform_close_counters(counters);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_what_was_taken_in_turns),
        cmocka_unit_test(says_why),
        cmocka_unit_test(counts_a_program_or_says_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
