/* A profile without what identifies a host, its user or their files.
 *
 * Nothing is searched for and removed: what is known to be harmless is kept, all else goes. Texts are kept where they
 * are one of the program's own words (keys, methods, units, statuses) or look like the model of a processor, a version
 * or a compiler's option. Samples go too: answers are what machines are compared by. */
#pragma once

#include "profile/profile.h"

/* In place. `removed` gets a line for each kind of thing that went. BJ_ERR_USAGE: a simulated machine's, whose file
 * says all of it. */
bj_status bj_cli_strip_profile(bj_profile *profile, bj_strings *removed, bj_error *error) BJ_WARN_UNUSED;
