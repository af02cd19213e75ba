#include "profile/profile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bj_profile_init(bj_profile *profile) {
    *profile = (bj_profile){0};
    profile->run.cpu_quota = NAN;
    profile->run.steal = NAN;
    profile->environment.virtualised = -1;
    profile->environment.load_before = NAN;
}

void bj_profile_free(bj_profile *profile) {
    bj_strings_free(&profile->run.arguments);
    bj_strings_free(&profile->environment.warnings);
    free(profile->environment.cpus_allowed);
    bj_data_free_answers(&profile->answers);
    bj_data_free_curves(&profile->curves);
    free(profile->probes);
    bj_profile_init(profile);
}

bj_status bj_strings_add(bj_strings *strings, const char *text, bj_error *error) {
    char *copy = strdup(text);
    char **items = realloc(strings->items, (strings->count + 1) * sizeof *items);
    if (items != NULL)
        strings->items = items;
    if (copy == NULL || items == NULL) {
        free(copy);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for '%.100s'", text);
    }
    strings->items[strings->count++] = copy;
    return BJ_OK;
}

bj_status bj_strings_add_note(bj_strings *strings, bj_error *error, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return bj_strings_add(strings, text, error);
}

bj_status bj_strings_add_once(bj_strings *strings, const char *text, bj_error *error) {
    for (size_t i = 0; i < strings->count; i++)
        if (strcmp(strings->items[i], text) == 0)
            return BJ_OK;
    return bj_strings_add(strings, text, error);
}

void bj_strings_free(bj_strings *strings) {
    for (size_t i = 0; i < strings->count; i++)
        free(strings->items[i]);
    free(strings->items);
    *strings = (bj_strings){0};
}

const bj_probe_record *bj_profile_find_probe(const bj_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->probe_count; i++)
        if (strcmp(profile->probes[i].name, name) == 0)
            return &profile->probes[i];
    return NULL;
}

bj_status bj_profile_record_probe(bj_profile *profile, const char *name, bj_probe_record **record, bj_error *error) {
    for (size_t i = 0; i < profile->probe_count; i++)
        if (strcmp(profile->probes[i].name, name) == 0) {
            *record = &profile->probes[i];
            return BJ_OK;
        }
    bj_probe_record fresh = {0};
    if (name[0] == '\0' || strlen(name) >= sizeof fresh.name)
        return bj_base_set_error(error, BJ_ERR_FAILED, "probe name '%s': expected 1 to %zu characters", name,
                                 sizeof fresh.name - 1);
    strcpy(fresh.name, name);
    bj_probe_record *grown = realloc(profile->probes, (profile->probe_count + 1) * sizeof *grown);
    if (grown == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the record of probe %s", name);
    profile->probes = grown;
    profile->probes[profile->probe_count] = fresh;
    *record = &profile->probes[profile->probe_count++];
    return BJ_OK;
}
