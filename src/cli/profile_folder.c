#include "cli/profile_folder.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "platform/cpu.h"

/* Reading is parsing, a millisecond a file. More threads than this wait for the one that takes what they read; of a
 * batch each has some files, so that none waits long for the others. */
enum { THREADS_MOST = 8, FILES_OF_THREAD = 16 };

static bool ends_in(const char *name, const char *ending) {
    size_t length = strlen(name), part = strlen(ending);
    return length > part && strcmp(name + length - part, ending) == 0;
}

static int choose_profiles(const struct dirent *entry) {
    return entry->d_name[0] != '.' && (ends_in(entry->d_name, ".json") || ends_in(entry->d_name, ".json.gz"));
}

bj_status bj_cli_list_profiles(const char *folder, bj_strings *names, bj_error *error) {
    struct dirent **entries = NULL;
    DIR *readable = opendir(folder);
    if (readable == NULL)
        return bj_base_set_error(error, errno == ENOMEM || errno == EMFILE ? BJ_ERR_RESOURCE : BJ_ERR_INPUT,
                                 "%.200s: cannot read the folder: %s", folder, strerror(errno));
    closedir(readable);
    int count = scandir(folder, &entries, choose_profiles, alphasort);
    if (count < 0) /* and its errno is no help */
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%.200s: no memory to list the folder", folder);
    bj_status status = BJ_OK;
    for (int i = 0; i < count; i++) {
        if (status == BJ_OK)
            status = bj_strings_add(names, entries[i]->d_name, error);
        free(entries[i]);
    }
    free(entries);
    return status;
}

typedef struct {
    char *path;
    bj_profile profile;
    bj_status status;
    bj_error error;
} reading;

/* Every so-manyth file of a batch. */
typedef struct {
    reading *files;
    size_t count, first, step;
} share;

/* That memory ran out is noted by thread, and nobody can ask this one once it has ended. */
static void read_one(reading *file) {
    file->status = bj_profile_read_answers(file->path, &file->profile, &file->error);
    if (bj_base_take_no_memory() && file->status != BJ_ERR_RESOURCE)
        file->status = bj_base_set_error(&file->error, BJ_ERR_RESOURCE, "%.200s: no memory to read it", file->path);
}

static void *read_share(void *argument) {
    const share *part = argument;
    for (size_t i = part->first; i < part->count; i += part->step) {
        reading *file = &part->files[i];
        if (file->path == NULL)
            file->status = bj_base_set_error(&file->error, BJ_ERR_RESOURCE, "no memory for a path");
        else
            read_one(file);
    }
    return NULL;
}

static void read_batch(reading *files, size_t count, size_t threads) {
    pthread_t others[THREADS_MOST];
    share parts[THREADS_MOST];
    bool started[THREADS_MOST] = {false};
    for (size_t i = 0; i < threads; i++)
        parts[i] = (share){files, count, i, threads};
    for (size_t i = 1; i < threads; i++)
        started[i] = pthread_create(&others[i], NULL, read_share, &parts[i]) == 0;
    for (size_t i = 0; i < threads; i++)
        if (!started[i]) /* the first is ours, and what could not be started is, too */
            read_share(&parts[i]);
    for (size_t i = 1; i < threads; i++)
        if (started[i])
            pthread_join(others[i], NULL);
}

static size_t count_threads(void) {
    int *cpus = NULL;
    size_t count = 1;
    bj_error unused;
    if (bj_platform_list_cpus(&cpus, &count, &unused) != BJ_OK || count < 1)
        count = 1;
    free(cpus);
    return count < THREADS_MOST ? count : THREADS_MOST;
}

bj_status bj_cli_read_profiles(const char *folder, bj_cli_take_profile *take, void *context, bj_error *error) {
    bj_strings names = {0};
    size_t threads = count_threads(), batch = threads * FILES_OF_THREAD;
    reading *files = calloc(batch, sizeof *files);
    bj_status status = files != NULL ? bj_cli_list_profiles(folder, &names, error)
                                     : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu profiles", batch);
    for (size_t first = 0; status == BJ_OK && first < names.count; first += batch) {
        size_t count = names.count - first < batch ? names.count - first : batch;
        for (size_t i = 0; i < count; i++) {
            bj_profile_init(&files[i].profile);
            if (asprintf(&files[i].path, "%s/%s", folder, names.items[first + i]) < 0)
                files[i].path = NULL;
        }
        read_batch(files, count, threads);
        for (size_t i = 0; i < count; i++) {
            if (status == BJ_OK) {
                if (files[i].status != BJ_OK)
                    *error = files[i].error;
                status = take(context, names.items[first + i], &files[i].profile, files[i].status, error);
            }
            bj_profile_free(&files[i].profile);
            free(files[i].path);
        }
    }
    bj_strings_free(&names);
    free(files);
    return status;
}
