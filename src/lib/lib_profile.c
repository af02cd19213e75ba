/* Opening, asking, writing. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "bj_build.h"
#include "lib/lib.h"
#include "profile/places.h"

const char *bj_lib_version(void) {
    return BJ_VERSION;
}

bj_lib_result bj_inside_fail(bj_lib_error *error, bj_lib_result result, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return result;
}

bj_lib_result bj_inside_translate(bj_status status, const bj_error *from, bj_lib_error *to) {
    static const bj_lib_result results[] = {
        [BJ_OK] = BJ_LIB_OK,
        [BJ_ERR_USAGE] = BJ_LIB_ERR_USAGE,
        [BJ_ERR_INPUT] = BJ_LIB_ERR_INPUT,
        [BJ_ERR_IO] = BJ_LIB_ERR_SYSTEM,
        [BJ_ERR_PERMISSION] = BJ_LIB_ERR_SYSTEM,
        [BJ_ERR_RESOURCE] = BJ_LIB_ERR_SYSTEM,
        [BJ_ERR_UNSUPPORTED] = BJ_LIB_ERR_FAILED,
        [BJ_ERR_INTERRUPTED] = BJ_LIB_ERR_INTERRUPTED,
        [BJ_ERR_FAILED] = BJ_LIB_ERR_FAILED,
    };
    return status == BJ_OK ? BJ_LIB_OK : bj_inside_fail(to, results[status], "%s", from->text);
}

static int compare_keys(const void *a, const void *b) {
    const bj_inside_entry *left = a, *right = b;
    return strcmp(left->answer->key, right->answer->key);
}

bj_lib_result bj_inside_wrap_profile(bj_profile *whole, const char *path, char *text, size_t length,
                                     bj_lib_profile **profile, bj_lib_error *error) {
    bj_lib_profile *made = calloc(1, sizeof *made);
    bj_inside_entry *by_key = calloc(whole->answers.count + 1, sizeof *by_key);
    char *copy = strdup(path);
    if (made == NULL || by_key == NULL || copy == NULL) {
        free(made);
        free(by_key);
        free(copy);
        free(text);
        bj_profile_free(whole);
        return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "no memory for a profile");
    }
    *made = (bj_lib_profile){.whole = *whole, .text = text, .length = length, .by_key = by_key, .path = copy};
    for (size_t i = 0; i < whole->answers.count; i++)
        by_key[i].answer = &made->whole.answers.items[i];
    qsort(by_key, whole->answers.count, sizeof *by_key, compare_keys);
    *profile = made;
    return BJ_LIB_OK;
}

/* "-" is a file of that name here: the standard streams belong to the calling program. */
static const char *name_file(const char *path) {
    return path[0] == '-' && path[1] == '\0' ? "./-" : path;
}

/* Takes the text over, whatever becomes of it. */
static bj_lib_result read_text(const char *name, const char *path, char *text, size_t length, bj_lib_profile **profile,
                               bj_lib_error *error) {
    bj_error trouble;
    bj_profile whole;
    bj_profile_init(&whole);
    bj_status status = bj_profile_parse_answers(name, text, length, &whole, &trouble);
    if (status == BJ_OK)
        return bj_inside_wrap_profile(&whole, path, text, length, profile, error);
    free(text);
    return bj_inside_translate(status, &trouble, error);
}

static bj_lib_result open_file(const char *path, bj_lib_profile **profile, bj_lib_error *error) {
    bj_error trouble;
    char *text = NULL;
    size_t length = 0;
    bj_status status = bj_profile_read_text(path, &text, &length, &trouble);
    if (status == BJ_OK)
        return read_text(path, path, text, length, profile, error);
    if (status == BJ_ERR_INPUT && access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return bj_inside_fail(error, BJ_LIB_ERR_NOT_FOUND, "%s", trouble.text);
    return bj_inside_translate(status, &trouble, error);
}

bj_lib_result bj_lib_open_profile(const char *path, bj_lib_profile **profile, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    char *found = NULL;
    if (profile == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "no place for the profile");
    *profile = NULL;
    if (path != NULL)
        return open_file(path, profile, error);
    bj_error trouble;
    bj_status status = bj_profile_find_default(&found, &trouble);
    bj_lib_result result;
    if (status == BJ_OK)
        result = open_file(found, profile, error);
    else if (status == BJ_ERR_INPUT)
        result = bj_inside_fail(error, BJ_LIB_ERR_NOT_FOUND, "%s", trouble.text);
    else
        result = bj_inside_translate(status, &trouble, error);
    free(found);
    return result;
}

bj_lib_result bj_lib_parse_profile(const char *text, size_t length, bj_lib_profile **profile, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    if (profile == NULL || text == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a text and a place for the profile are needed");
    *profile = NULL;
    if (length > BJ_PROFILE_MAX_BYTES)
        return bj_inside_fail(error, BJ_LIB_ERR_INPUT, "profile: more than %zu bytes", BJ_PROFILE_MAX_BYTES);
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "no memory for %zu bytes", length);
    memcpy(copy, text, length);
    return read_text("profile", "", copy, length, profile, error);
}

void bj_lib_close_profile(bj_lib_profile *profile) {
    BJ_INSIDE_BE_GUEST();
    if (profile == NULL)
        return;
    bj_profile_free(&profile->whole);
    free(profile->by_key);
    free(profile->path);
    free(profile->text);
    free(profile);
}

bj_lib_result bj_lib_write_profile(const bj_lib_profile *profile, const char *path, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    bj_error trouble;
    bj_status status;
    if (profile == NULL || path == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a profile and a path are needed");
    if (profile->text != NULL)
        status = bj_base_write_file_atomically(path, profile->text, profile->length, &trouble);
    else
        status = bj_profile_write(&profile->whole, name_file(path), &trouble);
    return bj_inside_translate(status, &trouble, error);
}

const char *bj_lib_profile_path(const bj_lib_profile *profile) {
    return profile != NULL ? profile->path : NULL;
}

const char *bj_lib_profile_info(const bj_lib_profile *profile, const char *name) {
    if (profile == NULL || name == NULL)
        return NULL;
    const bj_profile *whole = &profile->whole;
    const struct {
        const char *name, *text;
    } infos[] = {
        {"created", whole->created},   {"machine", whole->run.machine}, {"cpu", whole->environment.cpu},
        {"os", whole->environment.os}, {"effort", whole->run.effort},   {"version", whole->tool.version},
    };
    for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++)
        if (strcmp(infos[i].name, name) == 0)
            return infos[i].text;
    return NULL;
}

static int compare_with_key(const void *key, const void *entry) {
    return strcmp(key, ((const bj_inside_entry *)entry)->answer->key);
}

static const bj_answer *find(const bj_lib_profile *profile, const char *key) {
    if (profile == NULL || key == NULL)
        return NULL;
    const bj_inside_entry *found =
        bsearch(key, profile->by_key, profile->whole.answers.count, sizeof *profile->by_key, compare_with_key);
    return found != NULL ? found->answer : NULL;
}

bj_lib_result bj_lib_get_number(const bj_lib_profile *profile, const char *key, bj_lib_confidence least, double *value,
                                bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    if (profile == NULL || key == NULL || value == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a profile, a key and a place for the value are needed");
    const bj_answer *answer = find(profile, key);
    if (answer == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_NOT_FOUND, "%.80s: the profile has no such key", key);
    const char *status = bj_data_name_status(answer->status);
    if (!bj_data_has_value(answer) || (answer->status == BJ_ANSWER_UNSTABLE && least > BJ_LIB_CONFIDENCE_LOW))
        return bj_inside_fail(error, BJ_LIB_ERR_UNANSWERED, "%s: %s: %s", key, status, answer->reason);
    bool told = answer->confidence != BJ_CONFIDENCE_NONE;
    if (told && (int)answer->confidence < (int)least)
        return bj_inside_fail(error, BJ_LIB_ERR_UNANSWERED, "%s: its confidence is only %s", key,
                              bj_data_name_confidence(answer->confidence));
    if (answer->structured != NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_TYPE, "%s: is not one number", key);
    /* As for `emit`: no confidence is not enough for who asks for one. */
    if (!told && least > BJ_LIB_CONFIDENCE_LOW)
        return bj_inside_fail(error, BJ_LIB_ERR_UNANSWERED, "%s: its confidence is not told", key);
    *value = answer->value;
    return BJ_LIB_OK;
}

bj_lib_result bj_lib_get_size(const bj_lib_profile *profile, const char *key, bj_lib_confidence least, size_t *value,
                              bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    double number = 0;
    if (value == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "no place for the value");
    bj_lib_result result = bj_lib_get_number(profile, key, least, &number, error);
    if (result != BJ_LIB_OK)
        return result;
    /* (double)SIZE_MAX rounds up to a power of two, which is one too many. */
    if (!(number >= 0 && number < (double)SIZE_MAX))
        return bj_inside_fail(error, BJ_LIB_ERR_TYPE, "%s: %g is no size", key, number);
    *value = (size_t)floor(number);
    return BJ_LIB_OK;
}

static const bj_lib_answer *wrap_answer(const bj_answer *answer) {
    return (const bj_lib_answer *)answer;
}

const bj_lib_answer *bj_lib_find_answer(const bj_lib_profile *profile, const char *key) {
    return wrap_answer(find(profile, key));
}

size_t bj_lib_count_answers(const bj_lib_profile *profile) {
    return profile != NULL ? profile->whole.answers.count : 0;
}

const bj_lib_answer *bj_lib_answer_at(const bj_lib_profile *profile, size_t index) {
    return profile != NULL && index < profile->whole.answers.count ? wrap_answer(&profile->whole.answers.items[index])
                                                                   : NULL;
}
