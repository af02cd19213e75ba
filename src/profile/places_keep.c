/* Keeping: the new profile in its place, those before it beside it under their dates. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/output.h"
#include "profile/places.h"

enum { DATE_ROOM = 24 };

static bj_status fail_memory(bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
}

static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Of the path without ".json", which goes behind the date again. */
static size_t stem_length(const char *path) {
    static const char ending[] = ".json";
    size_t length = strlen(path), tail = sizeof ending - 1;
    return length > folder_length(path) + tail && strcmp(path + length - tail, ending) == 0 ? length - tail : length;
}

bj_status bj_profile_name_beside(const char *kept, const char *what, char **path, bj_error *error) {
    if (asprintf(path, "%.*s-%s.json", (int)stem_length(kept), kept, what) >= 0)
        return BJ_OK;
    *path = NULL;
    return fail_memory(error);
}

bj_status bj_profile_make_folder(const char *path, bj_error *error) {
    char *folder = strdup(path);
    if (folder == NULL)
        return fail_memory(error);
    bj_status status = BJ_OK;
    for (char *at = folder + 1; *folder != '\0' && (at = strchr(at, '/')) != NULL && status == BJ_OK; at++) {
        *at = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST && access(folder, F_OK) != 0)
            status = bj_base_set_error(error, errno == EACCES || errno == EROFS ? BJ_ERR_PERMISSION : BJ_ERR_IO,
                                       "%.200s: cannot make the folder: %s", folder, strerror(errno));
        *at = '/';
    }
    free(folder);
    return status;
}

/* "2026-11-15-070000", also as the name of a file has it between stem and ending. */
static bool is_date(const char *text, size_t length) {
    static const char form[] = "dddd-dd-dd-dddddd";
    if (length != sizeof form - 1)
        return false;
    for (size_t i = 0; i < length; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
            return false;
    return true;
}

/* When the profile was measured; simulated ones have no date, nor have files that are no profiles: when it was written.
 */
static void date_profile(const char *path, const char *text, size_t length, char *date) {
    bj_profile profile;
    bj_profile_init(&profile);
    int year, month, day, hour, minute, second;
    bool dated =
        bj_profile_parse_answers(path, text, length, &profile, NULL) == BJ_OK &&
        sscanf(profile.created, "%4d-%2d-%2dT%2d:%2d:%2dZ", &year, &month, &day, &hour, &minute, &second) == 6 &&
        year > 1970;
    bj_profile_free(&profile);
    struct stat about;
    struct tm utc = {0};
    if (!dated && stat(path, &about) == 0 && gmtime_r(&about.st_mtime, &utc) != NULL)
        strftime(date, DATE_ROOM, "%Y-%m-%d-%H%M%S", &utc);
    else if (dated)
        snprintf(date, DATE_ROOM, "%04u-%02u-%02u-%02u%02u%02u", (unsigned)year % 10000, (unsigned)month % 100,
                 (unsigned)day % 100, (unsigned)hour % 100, (unsigned)minute % 100, (unsigned)second % 100);
    else
        snprintf(date, DATE_ROOM, "0000-00-00-000000");
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)b, *(char *const *)a);
}

static void free_names(char **names, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* Paths of the dated profiles beside the place, the newest first; for free_names(). */
static bj_status list_older(const char *kept, char ***names, size_t *count, bj_error *error) {
    size_t folder_part = folder_length(kept), stem = stem_length(kept) - folder_part;
    char *folder_name = folder_part > 0 ? strndup(kept, folder_part) : strdup(".");
    DIR *folder = folder_name != NULL ? opendir(folder_name) : NULL;
    bj_status status = folder_name != NULL ? BJ_OK : fail_memory(error);
    free(folder_name);
    *names = NULL;
    *count = 0;
    for (const struct dirent *entry; folder != NULL && status == BJ_OK && (entry = readdir(folder)) != NULL;) {
        const char *name = entry->d_name;
        size_t length = strlen(name);
        if (length < stem + 6 || strncmp(name, kept + folder_part, stem) != 0 || name[stem] != '-' ||
            strcmp(name + length - 5, ".json") != 0 || !is_date(name + stem + 1, length - stem - 6))
            continue;
        char **grown = realloc(*names, (*count + 1) * sizeof *grown);
        if (grown != NULL)
            *names = grown;
        if (grown == NULL || asprintf(&grown[*count], "%.*s%s", (int)folder_part, kept, name) < 0)
            status = fail_memory(error);
        else
            (*count)++;
    }
    if (folder != NULL)
        closedir(folder);
    if (*count > 0)
        qsort(*names, *count, sizeof **names, compare_names);
    return status;
}

/* A copy, not a rename: a reader meanwhile finds the old profile or the new one, never none. */
static bj_status set_aside(const char *kept, const char *text, size_t length, char **older, bj_error *error) {
    char date[DATE_ROOM];
    date_profile(kept, text, length, date);
    BJ_TRY(bj_profile_name_beside(kept, date, older, error));
    bj_status status = bj_base_write_file_atomically(*older, text, length, error);
    if (status != BJ_OK) {
        free(*older);
        *older = NULL;
    }
    return status;
}

static void remove_oldest(const char *kept) {
    char **names;
    size_t count;
    if (list_older(kept, &names, &count, NULL) == BJ_OK)
        for (size_t i = BJ_PROFILE_OLDER_MOST; i < count; i++)
            (void)unlink(names[i]);
    free_names(names, count);
}

bj_status bj_profile_keep(const bj_profile *profile, const char *kept, char **older, bj_error *error) {
    char *now = NULL, *before = NULL, *aside = NULL;
    size_t now_length = 0, before_length = 0;
    bj_output_rules rules = {.replace = true, .is_alone = true}; /* of two runs that end at once */
    bj_output *output = NULL;
    bj_status status = bj_profile_make_folder(kept, error);
    if (status == BJ_OK)
        status = bj_base_open_output(kept, &rules, &output, error);
    if (status == BJ_OK)
        status = bj_profile_to_json(profile, &now, &now_length, error);
    /* What cannot be read cannot be kept either; whether it can be replaced, writing tells. */
    bool was_there = status == BJ_OK && access(kept, F_OK) == 0 &&
                     bj_profile_read_text(kept, &before, &before_length, NULL) == BJ_OK;
    bool is_same = was_there && now_length == before_length && memcmp(now, before, now_length) == 0;
    if (was_there && !is_same)
        status = set_aside(kept, before, before_length, &aside, error);
    if (status == BJ_OK && !is_same)
        status = bj_profile_write_output(profile, output, error);
    if (status == BJ_OK)
        remove_oldest(kept);
    bj_base_close_output(output);
    free(now);
    free(before);
    if (older != NULL)
        *older = aside;
    else
        free(aside);
    return status;
}

bj_status bj_profile_find_older(char **path, bj_error *error) {
    char *kept, **names = NULL;
    size_t count = 0;
    *path = NULL;
    BJ_TRY(bj_profile_name_kept(&kept, error));
    bj_status status = list_older(kept, &names, &count, error);
    if (status == BJ_OK && count == 0)
        status = bj_base_set_error(error, BJ_ERR_INPUT,
                                   "no older profile beside %.200s: 'blackjack run --save' keeps the one that it "
                                   "replaces",
                                   kept);
    if (status == BJ_OK && (*path = strdup(names[0])) == NULL)
        status = fail_memory(error);
    free_names(names, count);
    free(kept);
    return status;
}
