/* A profile as text, for the targets that write what they read. */
#ifndef BJ_TESTS_FUZZ_TEXT_H
#define BJ_TESTS_FUZZ_TEXT_H

#include "fuzz.h"
#include "profile/profile.h"

static inline char *write_text(const bj_profile *profile, size_t *length) {
    bj_error error = {""};
    char *text = NULL;
    bj_status status = bj_profile_to_json(profile, &text, length, &error);
    if (status != BJ_OK)
        fprintf(stderr, "fuzz: %s\n", error.text);
    require(status == BJ_OK, "what is read can be written");
    return text;
}

#endif
