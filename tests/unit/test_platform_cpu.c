#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "platform/cpu.h"

static void lists_allowed_cpus(void **state) {
    (void)state;
    int *cpus = NULL;
    size_t count = 0;
    bj_error error = {""};
    if (bj_platform_list_cpus(&cpus, &count, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_true(count > 0);
    assert_true(cpus[0] >= 0);
    for (size_t i = 1; i < count; i++)
        assert_true(cpus[i] > cpus[i - 1]);
    free(cpus);
}

/* A thread of its own, so that the program keeps its mask. */
static void *pin_and_list(void *context) {
    int *wrong = context;
    int *cpus = NULL, *pinned = NULL;
    size_t count = 0, pinned_count = 0;
    if (bj_platform_list_cpus(&cpus, &count, NULL) != BJ_OK) {
        *wrong = 1;
        return NULL;
    }
    for (size_t i = 0; i < count && *wrong == 0; i++) {
        *wrong = bj_platform_pin_thread(cpus[i], NULL) != BJ_OK ||
                 bj_platform_list_cpus(&pinned, &pinned_count, NULL) != BJ_OK || pinned_count != 1 ||
                 pinned[0] != cpus[i];
        free(pinned);
        pinned = NULL;
    }
    free(cpus);
    return NULL;
}

static void pins_the_calling_thread_only(void **state) {
    (void)state;
    int *before = NULL, *after = NULL, wrong = 0;
    size_t count_before = 0, count_after = 0;
    pthread_t thread;
    assert_int_equal(bj_platform_list_cpus(&before, &count_before, NULL), BJ_OK);
    assert_int_equal(pthread_create(&thread, NULL, pin_and_list, &wrong), 0);
    pthread_join(thread, NULL);
    assert_int_equal(wrong, 0);
    assert_int_equal(bj_platform_list_cpus(&after, &count_after, NULL), BJ_OK);
    assert_int_equal(count_before, count_after);
    free(before);
    free(after);
}

static void refuses_cpus_that_are_not_there(void **state) {
    (void)state;
    bj_error error = {""};
    assert_int_equal(bj_platform_pin_thread(-1, &error), BJ_ERR_USAGE);
    assert_int_equal(bj_platform_pin_thread(1 << 30, &error), BJ_ERR_USAGE);
    assert_int_equal(bj_platform_pin_thread((1 << 20) - 1, &error), BJ_ERR_RESOURCE);
    assert_true(error.text[0] != '\0');
}

static void *block_and_look(void *context) {
    sigset_t *mask = context;
    bj_platform_block_signals();
    pthread_sigmask(SIG_BLOCK, NULL, mask);
    return NULL;
}

static void blocks_signals_but_not_faults(void **state) {
    (void)state;
    sigset_t mask, own;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, block_and_look, &mask), 0);
    pthread_join(thread, NULL);
    assert_true(sigismember(&mask, SIGINT));
    assert_true(sigismember(&mask, SIGTERM));
    assert_true(sigismember(&mask, SIGALRM));
    assert_false(sigismember(&mask, SIGSEGV));
    pthread_sigmask(SIG_BLOCK, NULL, &own);
    assert_false(sigismember(&own, SIGALRM));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_allowed_cpus),
        cmocka_unit_test(pins_the_calling_thread_only),
        cmocka_unit_test(refuses_cpus_that_are_not_there),
        cmocka_unit_test(blocks_signals_but_not_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
