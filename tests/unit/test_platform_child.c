/* Work in a child process: messages, and every way to end. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/child.h"
#include "platform/pages.h"

typedef struct {
    int what;
    int heard;
    char last[32];
    bool stop;
} story;

enum { RETURNS, EXITS, ABORTS, HANGS, FAULTS, GOES_DEAF, FLOODS };

static void work(void *context, int parent) {
    const story *s = context;
    assert_true(bj_platform_tell_parent(parent, "one", 4));
    if (s->what == EXITS)
        exit(7);
    if (s->what == ABORTS)
        abort();
    if (s->what == HANGS)
        pause();
    if (s->what == GOES_DEAF) {
        close(parent);
        pause();
    }
    while (s->what == FLOODS)
        (void)!bj_platform_tell_parent(parent, "one", 4);
    if (s->what == FAULTS) {
        bj_mapping mapping;
        if (bj_platform_map_pages(4096, false, &mapping, NULL) != BJ_OK)
            return;
        char *end = mapping.memory + mapping.bytes;
        const bj_address_range ranges[] = {{mapping.memory, end}, {end, end + 4096}};
        bj_platform_watch_faults(parent, ranges, 2);
        *(volatile char *)(end + 5) = 1;
    }
    bj_platform_tell_parent(parent, "two", 4);
}

static void take(void *context, const void *message, size_t bytes) {
    story *s = context;
    s->heard++;
    memcpy(s->last, message, bytes < sizeof s->last ? bytes : sizeof s->last);
}

static bool is_stopped(void *context) {
    return ((story *)context)->stop;
}

static bj_child_fate run(story *s, double limit_s) {
    bj_child_task task = {.work = work, .take = take, .is_stopped = is_stopped, .context = s, .limit_s = &limit_s};
    bj_child_fate fate;
    assert_int_equal(bj_platform_run_child(&task, &fate, NULL), BJ_OK);
    return fate;
}

static void test_messages_arrive(void **state) {
    (void)state;
    story s = {.what = RETURNS};
    bj_child_fate fate = run(&s, 30);
    assert_int_equal(fate.end, BJ_CHILD_DONE);
    assert_int_equal(s.heard, 2);
    assert_string_equal(s.last, "two");
}

static void test_exit_and_signal(void **state) {
    (void)state;
    story s = {.what = EXITS};
    bj_child_fate fate = run(&s, 30);
    assert_int_equal(fate.end, BJ_CHILD_EXITED);
    assert_int_equal(fate.number, 7);
    assert_int_equal(s.heard, 1);
    s = (story){.what = ABORTS};
    fate = run(&s, 30);
    assert_int_equal(fate.end, BJ_CHILD_KILLED);
    assert_int_equal(fate.number, SIGABRT);
    char name[40];
    bj_platform_name_signal(fate.number, name, sizeof name);
    assert_string_equal(name, "abort");
}

static void test_silence_and_stop(void **state) {
    (void)state;
    story s = {.what = HANGS};
    assert_int_equal(run(&s, 0.2).end, BJ_CHILD_SILENT);
    s = (story){.what = HANGS, .stop = true};
    assert_int_equal(run(&s, 30).end, BJ_CHILD_STOPPED);
}

/* A child that closes its end, or never stops sending, is waited for no longer than any other. */
static void test_deaf_and_flooding_children_end(void **state) {
    (void)state;
    story s = {.what = GOES_DEAF};
    assert_int_equal(run(&s, 0.2).end, BJ_CHILD_SILENT);
    s = (story){.what = GOES_DEAF, .stop = true};
    assert_int_equal(run(&s, 30).end, BJ_CHILD_STOPPED);
    s = (story){.what = FLOODS, .stop = true};
    assert_int_equal(run(&s, 30).end, BJ_CHILD_STOPPED);
}

static void test_a_fault_names_its_range(void **state) {
    (void)state;
    story s = {.what = FAULTS};
    bj_child_fate fate = run(&s, 30);
    assert_int_equal(fate.end, BJ_CHILD_KILLED);
    assert_true(fate.has_fault);
    assert_int_equal(fate.fault_range, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_arrive),         cmocka_unit_test(test_exit_and_signal),
        cmocka_unit_test(test_silence_and_stop),        cmocka_unit_test(test_deaf_and_flooding_children_end),
        cmocka_unit_test(test_a_fault_names_its_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
