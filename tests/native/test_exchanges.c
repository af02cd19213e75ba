/* Blocks that two cpus of this machine update in turn: times that can be, and an end whatever becomes of the threads.
 */
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "native_fixture.h"

enum { REPETITIONS = 3, BLOCK_BYTES = 4096 };

static void sleep_ms(long ms) {
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

static bj_status exchange(size_t bytes, double *ns) {
    bj_exchange pair = {.cpu_a = machine->facts.cpus[0], .cpu_b = machine->facts.cpus[1], .bytes = bytes};
    bj_error error = {""};
    return machine->verbs->run_exchanges(machine, &pair, 1, REPETITIONS, ns, &error);
}

static void test_times(void **state) {
    (void)state;
    double line[REPETITIONS], block[REPETITIONS], least_line = INFINITY, least_block = INFINITY;
    assert_int_equal(exchange(64, line), BJ_OK);
    assert_int_equal(exchange(64 * BLOCK_BYTES, block), BJ_OK);
    for (int i = 0; i < REPETITIONS; i++) {
        least_line = fmin(least_line, line[i]);
        least_block = fmin(least_block, block[i]);
    }
    assert_true(least_line > 1 && isfinite(least_line));
    /* Thousands of lines take longer than one. */
    assert_true(least_block > 2 * least_line);
}

/* Exchanges for a while; all of them end, and soon after the trouble does. */
static void exchange_for(double seconds) {
    double start_s = machine->verbs->read_clock(machine), now_s = start_s, ns[REPETITIONS];
    while (now_s < start_s + seconds) {
        bj_status status = exchange(BLOCK_BYTES, ns);
        assert_true(status == BJ_OK || status == BJ_ERR_FAILED);
        now_s = machine->verbs->read_clock(machine);
    }
    assert_true(now_s < start_s + seconds + 20);
}

static void test_stopped(void **state) {
    (void)state;
    pid_t self = getpid(), child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sleep_ms(100);
        kill(self, SIGSTOP);
        sleep_ms(1000);
        kill(self, SIGCONT);
        _exit(0);
    }
    exchange_for(1.5);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static atomic_bool moving;

/* Puts all other threads of this process on one cpu, again and again: partners find themselves in each other's way. */
static void *move_threads(void *first) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(*(const int *)first, &one);
    while (atomic_load(&moving)) {
        DIR *tasks = opendir("/proc/self/task");
        for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
            pid_t thread = (pid_t)atoi(entry->d_name);
            if (thread > 0 && thread != getpid() && thread != (pid_t)syscall(SYS_gettid))
                (void)sched_setaffinity(thread, sizeof one, &one);
        }
        if (tasks != NULL)
            closedir(tasks);
    }
    return NULL;
}

static void test_pinned_away(void **state) {
    (void)state;
    pthread_t mover;
    int first = machine->facts.cpus[0];
    atomic_store(&moving, true);
    assert_int_equal(pthread_create(&mover, NULL, move_threads, &first), 0);
    exchange_for(0.5);
    atomic_store(&moving, false);
    pthread_join(mover, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_pinned_away),
    };
    bj_machine *here;
    if (bj_machine_open_native(1, &here, NULL) != BJ_OK)
        return 77;
    size_t cpus = here->facts.cpu_count;
    here->verbs->close(here);
    return cpus < 2 ? 77 : cmocka_run_group_tests(tests, open_machine, close_machine);
}
