/* Threads that are pinned where the profile says: near each other when they share data, spread when each works for
 * itself.
 *
 *     pinned [near|spread [THREADS]]     default: near, 2
 *
 * The threads hand a token around, which is what being near is good for; the time of one hand-over is printed. Exits
 * with 1 when a thread runs on another cpu than it was pinned to. */
#define _GNU_SOURCE
#include <blackjack/blackjack.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MOST = 256, LAPS = 2000 };

typedef struct {
    /* Alone on its line, whatever the line is: neighbours would be handed around with it. */
    _Alignas(256) atomic_ulong turn;
    unsigned long threads;
} ring;

typedef struct {
    ring *ring;
    unsigned long number;
    int cpu;  /* to run on */
    int seen; /* that it ran on; -1: it could not be pinned */
} member;

/* False: that cpu is not ours now. A profile may have been made with more, or on another machine. */
static int pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return 0;
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

static void *pass_on(void *context) {
    member *me = context;
    ring *ring = me->ring;
    int pinned = pin(me->cpu);
    me->seen = pinned ? sched_getcpu() : -1;
    for (unsigned long turn = me->number; turn < LAPS * ring->threads; turn += ring->threads) {
        while (atomic_load(&ring->turn) != turn)
            sched_yield(); /* two threads may have to share a cpu */
        atomic_store(&ring->turn, turn + 1);
    }
    return NULL;
}

static bj_lib_result choose_cpus(size_t threads, bj_lib_placement how, int *cpus) {
    bj_lib_profile *profile;
    bj_lib_error error;
    bj_lib_result result = bj_lib_open_profile(NULL, &profile, &error);
    if (result == BJ_LIB_OK) {
        result = bj_lib_place_threads(profile, threads, how, cpus, &error);
        bj_lib_close_profile(profile);
    }
    if (result != BJ_LIB_OK)
        printf("%s\n", error.text);
    return result;
}

int main(int count, char **words) {
    int near = count < 2 || strcmp(words[1], "near") == 0, wrong = 0, cpus[THREADS_MOST];
    unsigned long threads = count > 2 ? strtoul(words[2], NULL, 10) : 2, started = 0;
    pthread_t handles[THREADS_MOST];
    member members[THREADS_MOST];
    ring ring = {.threads = threads};
    struct timespec begin, end;
    if (threads < 1 || threads > THREADS_MOST || (!near && strcmp(words[1], "spread") != 0))
        return 2;
    /* Without a profile nobody is pinned. */
    for (unsigned long i = 0; i < threads; i++)
        cpus[i] = -1;
    choose_cpus(threads, near ? BJ_LIB_PLACE_NEAR : BJ_LIB_PLACE_SPREAD, cpus);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (; started < threads; started++) {
        members[started] = (member){&ring, started, cpus[started], -1};
        if (pthread_create(&handles[started], NULL, pass_on, &members[started]) != 0)
            exit(1); /* the others would wait for ever */
    }
    for (unsigned long i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (unsigned long i = 0; i < threads; i++) {
        wrong += members[i].seen >= 0 && members[i].seen != members[i].cpu;
        printf("thread %lu: cpu %d%s\n", i, members[i].cpu, members[i].seen >= 0 ? "" : ", not pinned");
    }
    double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    printf("%.0f ns a hand-over, %s\n", ns / (LAPS * (double)threads), near ? "near" : "spread");
    return wrong > 0;
}
