/* A thread pool that has as many workers as the machine has contexts for the work, not as many as it has cpu numbers.
 *
 *     pool [int|fp|memory]           the kind of work (default fp)
 *
 * Two threads of one core share its units: for work that fills them, half as many workers do as much. The profile's
 * contexts.int, contexts.fp and contexts.memory say how many run side by side without slowing each other down. */
#include <blackjack/blackjack.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TASKS = 1000, MOST_WORKERS = 1024 };

typedef struct {
    atomic_int next;
    atomic_int done;
} pool;

static void *work(void *context) {
    pool *shared = context;
    while (atomic_fetch_add(&shared->next, 1) < TASKS)
        atomic_fetch_add(&shared->done, 1); /* a task would stand here */
    return NULL;
}

static size_t count_workers(const char *kind) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = cpus > 0 ? (size_t)cpus : 1;
    char key[64];
    bj_lib_profile *profile;
    bj_lib_error error;
    snprintf(key, sizeof key, "contexts.%s", kind);
    if (bj_lib_open_profile(NULL, &profile, &error) != BJ_LIB_OK) {
        printf("%s\n", error.text);
        return workers;
    }
    if (bj_lib_get_size(profile, key, BJ_LIB_CONFIDENCE_MEDIUM, &workers, &error) != BJ_LIB_OK)
        printf("%s\n", error.text);
    bj_lib_close_profile(profile);
    return workers;
}

int main(int count, char **words) {
    const char *kind = count > 1 ? words[1] : "fp";
    pthread_t threads[MOST_WORKERS];
    pool shared = {0};
    if (strcmp(kind, "int") != 0 && strcmp(kind, "fp") != 0 && strcmp(kind, "memory") != 0)
        return 2;
    size_t workers = count_workers(kind), started = 0;
    if (workers < 1 || workers > MOST_WORKERS)
        workers = workers < 1 ? 1 : MOST_WORKERS;
    while (started < workers && pthread_create(&threads[started], NULL, work, &shared) == 0)
        started++;
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    printf("%zu workers, %d tasks done\n", started, atomic_load(&shared.done));
    return atomic_load(&shared.done) == TASKS ? 0 : 1;
}
