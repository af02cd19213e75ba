/* Any of the files that the program's commands write as JSON: a profile, timings, a tuning, a diagnosis, a fleet.
 * For the report page, which takes all of them. */
#pragma once

#include "profile/profile.h"

typedef struct {
    char *name;         /* of the file, without its folder */
    char *json;         /* the content as JSON, of one of the formats */
    size_t length;      /* of it */
    bool is_profile;    /* then it is in `profile`, too */
    bj_profile profile; /* as it was read, old ones upgraded */
} bj_document;

/* The file, or the default profile where `path` is NULL; "-" is standard input. A profile is checked as bj_profile_read
 * does; of the other formats, which their readers take with what is missing, that they are JSON within limits and name
 * a format that is known. Free also after a failure. */
bj_status bj_profile_read_document(const char *path, bj_document *document, bj_error *error) BJ_WARN_UNUSED;
void bj_profile_free_document(bj_document *document);
