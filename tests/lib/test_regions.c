/* Regions by the public header: threads, nesting, forks, a file written meanwhile. Every call must be in the file,
 * whoever made it and whatever became of the thread or process. */
#include <math.h>
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
#include <pthread.h>

#include <blackjack/regions.h>

enum { THREADS = 1000, REGIONS = 4, CALLS = 50, FORKS = 100 };

static char path[] = "/tmp/bj-regions-XXXXXX";

static char *read_back(void) {
    assert_int_equal(bj_lib_write_regions(path, NULL), BJ_LIB_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t length = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(length + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, length, file), length);
    fclose(file);
    return text;
}

/* Of one member over all records of the region; -1: all records. */
static unsigned long sum_member(const char *text, const char *member, bj_lib_region region) {
    unsigned long sum = 0;
    char head[40], wanted[40];
    snprintf(head, sizeof head, "{\"region\": %u, ", region);
    snprintf(wanted, sizeof wanted, "\"%s\": ", member);
    for (const char *at = text; (at = strstr(at, head)) != NULL; at++)
        sum += strtoul(strstr(at, wanted) + strlen(wanted), NULL, 10);
    return sum;
}

static unsigned long count_records(const char *text, bj_lib_region region) {
    unsigned long count = 0;
    char head[40];
    snprintf(head, sizeof head, "{\"region\": %u, ", region);
    for (const char *at = text; (at = strstr(at, head)) != NULL; at++)
        count++;
    return count;
}

/* Second numbers of a list of lists, over all records of the region. */
static unsigned long sum_lists(const char *text, bj_lib_region region, const char *list, int place) {
    unsigned long sum = 0;
    char head[40], wanted[40];
    snprintf(head, sizeof head, "{\"region\": %u, ", region);
    snprintf(wanted, sizeof wanted, "\"%s\": [", list);
    for (const char *at = text; (at = strstr(at, head)) != NULL; at++) {
        const char *item = strstr(at, wanted) + strlen(wanted);
        for (; *item == '['; item += strspn(item, "], ")) {
            char *end = NULL;
            unsigned long number = 0;
            item++;
            for (int i = 0; i <= place; i++) {
                number = strtoul(item, &end, 10);
                item = end + strspn(end, ", ");
            }
            sum += number;
            item += strcspn(item, "]");
            if (item[1] == ']')
                break;
        }
    }
    return sum;
}

static unsigned long count_calls(const char *text, bj_lib_region region) {
    unsigned long calls = sum_lists(text, region, "lengths", 1);
    assert_int_equal(calls, sum_lists(text, region, "series", 1)); /* both tell of every call */
    return calls;
}

static void test_names(void **state) {
    (void)state;
    bj_lib_region a = bj_lib_name_region("a"), b = bj_lib_name_region("b \"quoted\" \\");
    assert_true(a != b && a < BJ_LIB_REGIONS_MOST && b < BJ_LIB_REGIONS_MOST);
    assert_int_equal(bj_lib_name_region("a"), a);
    assert_int_equal(bj_lib_name_region(""), BJ_LIB_REGIONS_MOST);
    assert_int_equal(bj_lib_name_region("two\nlines"), BJ_LIB_REGIONS_MOST);
    /* A region without a number does nothing. */
    bj_lib_begin_region(BJ_LIB_REGIONS_MOST);
    bj_lib_end_region(BJ_LIB_REGIONS_MOST);
    char *text = read_back();
    assert_non_null(strstr(text, "\"b \\\"quoted\\\" \\\\\""));
    free(text);
    bj_lib_error error = {""};
    assert_int_not_equal(bj_lib_write_regions("/no/such/folder/file", &error), BJ_LIB_OK);
    assert_true(error.text[0] != 0);
}

/* What a program computes may have gone wrong: the file must be JSON all the same. */
static void test_declared_work(void **state) {
    (void)state;
    bj_lib_region sound = bj_lib_name_region("sound"), odd = bj_lib_name_region("odd"),
                  huge = bj_lib_name_region("huge");
    bj_lib_declare_work(sound, 1e12, 64);
    bj_lib_declare_loads(sound, 8);
    bj_lib_declare_work(odd, NAN, -1);
    bj_lib_declare_loads(odd, INFINITY);
    bj_lib_declare_work(huge, 1e300, 16);
    bj_lib_declare_work(BJ_LIB_REGIONS_MOST, 1, 1);
    bj_lib_declare_loads(BJ_LIB_REGIONS_MOST, 1);
    char *text = read_back();
    assert_non_null(strstr(text, "\"sound\", \"flops\": 1000000000000, \"bytes\": 64, \"loads\": 8}"));
    assert_non_null(strstr(text, "\"odd\", \"flops\": 0, \"bytes\": 0, \"loads\": 0}"));
    assert_non_null(strstr(text, "\"huge\", \"flops\": 0, \"bytes\": 16, \"loads\": 0}"));
    free(text);
}

static void test_nesting(void **state) {
    (void)state;
    bj_lib_region outer = bj_lib_name_region("outer"), inner = bj_lib_name_region("inner");
    for (int i = 0; i < 10; i++) {
        bj_lib_begin_region(outer);
        bj_lib_begin_region(inner);
        bj_lib_begin_region(outer); /* itself: counts once */
        bj_lib_end_region(outer);
        bj_lib_end_region(inner);
        bj_lib_end_region(outer);
    }
    bj_lib_end_region(inner); /* never begun */
    char *text = read_back();
    assert_int_equal(count_calls(text, outer), 10);
    assert_int_equal(count_calls(text, inner), 10);
    assert_int_equal(sum_member(text, "unopened", inner), 1);
    assert_true(sum_lists(text, outer, "lengths", 2) >= sum_lists(text, inner, "lengths", 2));
    free(text);
}

/* More periods than bins: they are joined and none is lost. */
static void test_many_periods(void **state) {
    (void)state;
    bj_lib_region region = bj_lib_name_region("periods");
    bj_lib_begin_region(region);
    bj_lib_end_region(region);
    bj_lib_region_slot *slot = bj_lib_region_slots[region];
    for (int i = 0; i < 1000; i++) {
        bj_lib_begin_region(region);
        slot->period_end = BJ_LIB_READ_COUNTER(); /* as if half a millisecond had gone by */
        bj_lib_end_region(region);
    }
    char *text = read_back();
    assert_int_equal(count_calls(text, region), 1001);
    unsigned long periods = sum_lists(text, region, "series", 3);
    assert_true(periods >= 1000 && periods <= 1001);
    free(text);
}

static bj_lib_region crowd[REGIONS];

static void *work(void *ends_open) {
    for (int i = 0; i < CALLS; i++)
        for (int j = 0; j < REGIONS; j++) {
            bj_lib_begin_region(crowd[j]);
            bj_lib_end_region(crowd[j]);
        }
    if (ends_open != NULL) /* dies inside of a region */
        bj_lib_begin_region(crowd[0]);
    return NULL;
}

static void fork_and_work(int how) {
    bj_lib_begin_region(crowd[1]); /* open over the fork: a call of the parent and one of the child */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bj_lib_end_region(crowd[1]);
        work(NULL);
        if (how == 1)
            kill(getpid(), SIGKILL);
        _exit(0);
    }
    bj_lib_end_region(crowd[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void test_threads_and_forks(void **state) {
    (void)state;
    static const char *const names[REGIONS] = {"c0", "c1", "c2", "c3"};
    static pthread_t threads[THREADS];
    unsigned long open = 0;
    for (int i = 0; i < REGIONS; i++)
        crowd[i] = bj_lib_name_region(names[i]);
    enum { AT_ONCE = 50 };
    for (int i = 0; i < THREADS; i += AT_ONCE) {
        for (int j = i; j < i + AT_ONCE; j++) {
            void *ends_open = j % 100 == 0 ? &threads[j] : NULL;
            open += ends_open != NULL;
            assert_int_equal(pthread_create(&threads[j], NULL, work, ends_open), 0);
        }
        if (i % (THREADS / 5) == 0) /* while they work */
            free(read_back());
        for (int j = i; j < i + AT_ONCE; j++)
            assert_int_equal(pthread_join(threads[j], NULL), 0);
        for (int j = 0; j < FORKS / (THREADS / AT_ONCE); j++)
            fork_and_work(j % 2);
    }
    char *text = read_back();
    for (int i = 0; i < REGIONS; i++) {
        unsigned long across = i == 1 ? 2 * FORKS : 0; /* of the forks themselves */
        assert_int_equal(count_calls(text, crowd[i]), (unsigned long)(THREADS + FORKS) * CALLS + across);
        assert_int_equal(count_records(text, crowd[i]), THREADS + FORKS + (i == 1));
        assert_int_equal(sum_member(text, "unopened", crowd[i]), 0);
        assert_int_equal(sum_member(text, "backwards", crowd[i]), 0);
    }
    assert_int_equal(sum_member(text, "open", crowd[0]), open);
    assert_non_null(strstr(text, "\"refused\": 0,"));
    free(text);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

static int make_file(void **state) {
    (void)state;
    int descriptor = mkstemp(path);
    return descriptor < 0 ? -1 : close(descriptor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_declared_work),     cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_many_periods), cmocka_unit_test(test_threads_and_forks),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
