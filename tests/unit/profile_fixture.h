/* An empty profile as the state of a test. */
#ifndef BJ_TESTS_PROFILE_FIXTURE_H
#define BJ_TESTS_PROFILE_FIXTURE_H

#include <stdlib.h>

#include "profile/profile.h"

static inline int setup(void **state) {
    bj_profile *profile = calloc(1, sizeof *profile);
    bj_profile_init(profile);
    *state = profile;
    return 0;
}

static inline int teardown(void **state) {
    bj_profile_free(*state);
    free(*state);
    return 0;
}

#endif
