/* Both forms of the paper's loop at each core density: 1, 2, ... threads, one a cpu, each with elements of its own
 * (weak scaling). First both are compared, then timed in turns.
 *
 * usage: microfission [ELEMENTS [ROUNDS [fused|fissioned]]]
 * With a form, one thread does that one alone, wherever it was started, as `blackjack diagnose` wants a program:
 *     blackjack diagnose -- ./microfission 216 15 fused
 * With BLACKJACK_REGIONS=FILE both forms are regions as well: `blackjack regions FILE`. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <blackjack/regions.h>

#include "element.h"

static const double smooth = 0.05;
static const char *const form_names[2] = {"fused", "fissioned"};
static void (*const forms[2])(element *, double) = {smooth_fused, smooth_fissioned};
static bj_lib_region regions[2];

typedef struct {
    pthread_t thread;
    pthread_barrier_t *barrier;
    int cpu; /* -1: wherever the system puts it */
    size_t elements, rounds;
    double *seconds[2]; /* of each round */
    int failed;
} worker;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fill(element *e, unsigned seed) {
    for (int q = 0; q < QUANTITIES; q++)
        for (int level = 0; level < LEVELS; level++)
            for (size_t i = 0; i < POINTS; i++)
                e->q[q][level][i] = sin(0.001 * (double)(i + 17 * (size_t)level) + seed + q);
}

/* The forms round at other places: a few units in the last place of the largest term, no more. */
static int verify(void) {
    element *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    double worst = 0;
    if (a == NULL || b == NULL)
        return -1;
    fill(a, 1);
    memcpy(b, a, sizeof *b);
    smooth_fused(a, smooth);
    smooth_fissioned(b, smooth);
    for (int q = 0; q < QUANTITIES; q++)
        for (size_t i = 0; i < POINTS; i++)
            worst = fmax(worst, fabs(a->q[q][N0][i] - b->q[q][N0][i]));
    int same = worst <= 8 * DBL_EPSILON && memcmp(a->q[0][NM1], b->q[0][NM1], sizeof a->q[0][NM1]) == 0;
    printf("both forms agree within %.2g (values up to 1): %s\n", worst, same ? "same" : "DIFFERENT");
    free(a);
    free(b);
    return same ? 0 : -1;
}

static void *work(void *argument) {
    worker *self = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (self->cpu >= 0)
        CPU_SET((size_t)self->cpu, &set);
    if (self->cpu >= 0 && pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0)
        self->failed = 1;
    element *elements = malloc(self->elements * sizeof *elements); /* touched here: on this thread's memory */
    if (elements == NULL)
        self->failed = 1;
    for (size_t i = 0; elements != NULL && i < self->elements; i++)
        fill(&elements[i], (unsigned)i);
    for (size_t round = 0; round < self->rounds; round++)
        for (size_t turn = 0; turn < 2; turn++) {
            size_t form = (turn + round) % 2; /* who goes first alternates */
            pthread_barrier_wait(self->barrier);
            double start = now();
            for (size_t i = 0; elements != NULL && i < self->elements; i++) {
                bj_lib_begin_region(regions[form]);
                forms[form](&elements[i], smooth);
                bj_lib_end_region(regions[form]);
            }
            self->seconds[form][round] = now() - start;
        }
    free(elements);
    return NULL;
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* Median over rounds and threads of the time of one element, in us; negative: it could not be measured. */
static int run(size_t threads, const int *cpus, size_t elements, size_t rounds, double us[2]) {
    worker *workers = calloc(threads, sizeof *workers);
    double *all = malloc(2 * threads * rounds * sizeof *all);
    pthread_barrier_t barrier;
    int failed = workers == NULL || all == NULL || pthread_barrier_init(&barrier, NULL, (unsigned)threads) != 0;
    for (size_t i = 0; i < threads && !failed; i++) {
        workers[i] = (worker){.barrier = &barrier, .cpu = cpus[i], .elements = elements, .rounds = rounds};
        for (size_t form = 0; form < 2; form++)
            workers[i].seconds[form] = all + (form * threads + i) * rounds;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "microfission: no thread to be had\n"); /* others wait at the barrier for ever */
            exit(1);
        }
    }
    for (size_t i = 0; i < threads && !failed; i++)
        pthread_join(workers[i].thread, NULL);
    for (size_t i = 0; i < threads && workers != NULL; i++)
        failed |= workers[i].failed;
    for (size_t form = 0; form < 2 && !failed; form++) {
        qsort(all + form * threads * rounds, threads * rounds, sizeof *all, compare);
        us[form] = 1e6 * all[form * threads * rounds + threads * rounds / 2] / (double)elements;
    }
    free(all);
    free(workers);
    return failed ? -1 : 0;
}

/* One form, on this thread alone. */
static int run_form(const char *name, size_t elements, size_t rounds) {
    size_t form = strcmp(name, form_names[1]) == 0;
    element *all = malloc(elements * sizeof *all);
    if (strcmp(name, form_names[form]) != 0 || all == NULL) {
        fprintf(stderr, "microfission: %s\n", all == NULL ? "no memory" : "a form is fused or fissioned");
        free(all);
        return 2;
    }
    fill(&all[0], 0);
    for (size_t i = 1; i < elements; i++)
        memcpy(&all[i], &all[0], sizeof *all);
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < elements; i++)
            forms[form](&all[i], smooth);
    printf("%s: %g\n", name, all[elements - 1].q[0][N0][POINTS / 2]);
    free(all);
    return 0;
}

int main(int argc, char **argv) {
    size_t elements = argc > 1 ? strtoul(argv[1], NULL, 10) : 54; /* the paper's standard load */
    size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 21;
    cpu_set_t allowed;
    static int cpus[CPU_SETSIZE];
    size_t cpu_count = 0;
    if (elements == 0 || rounds == 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        fprintf(stderr, "usage: microfission [ELEMENTS [ROUNDS [fused|fissioned]]]\n");
        return 2;
    }
    if (argc > 3)
        return run_form(argv[3], elements, rounds);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &allowed))
            cpus[cpu_count++] = cpu;
    if (verify() != 0)
        return 1;
    for (size_t form = 0; form < 2; form++) {
        regions[form] = bj_lib_name_region(form_names[form]);
        bj_lib_declare_work(regions[form], 5.0 * QUANTITIES * POINTS, 16.0 * POINTS * sizeof(double));
    }
    printf("%zu elements of %zu KiB a thread, %zu rounds, median\n", elements, ELEMENT_BYTES / 1024, rounds);
    printf("%7s %12s %12s %18s\n", "threads", "fused", "fissioned", "fissioned / fused");
    for (size_t threads = 1; threads <= cpu_count; threads++) {
        double us[2];
        if (run(threads, cpus, elements, rounds, us) != 0) {
            fprintf(stderr, "microfission: %zu threads: no memory, or not to be pinned\n", threads);
            return 1;
        }
        printf("%7zu %9.1f us %9.1f us %18.3f\n", threads, us[0], us[1], us[1] / us[0]);
    }
    return 0;
}
