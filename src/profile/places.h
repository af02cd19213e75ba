/* The default profile: where it is looked for when no file is named, and where it is kept with those before it.
 *
 * The program and the library look in the same order and take the first that is there:
 *   1. $BLACKJACK_PROFILE, which must be a profile if it is set and not empty;
 *   2. blackjack-profile.json in the current folder;
 *   3. the user's place, $XDG_DATA_HOME/blackjackbench/profile.json ($HOME/.local/share unless XDG_DATA_HOME is set);
 *   4. the system's place, BJ_SYSTEM_PROFILE.
 * A process that runs with somebody else's rights sees the last one only. */
#pragma once

#include "profile/profile.h"

/* What `run` writes unless told otherwise. */
#define BJ_PROFILE_HERE "blackjack-profile.json"
/* Older profiles that are kept beside the default one. */
enum { BJ_PROFILE_OLDER_MOST = 5 };

/* The first place that holds a file; *path is the caller's to free. A file that cannot be looked at counts as being
 * there: opening it says why. BJ_ERR_INPUT: there is none, and the error names the places. */
bj_status bj_profile_find_default(char **path, bj_error *error) BJ_WARN_UNUSED;
/* bj_profile_read() of `path`, or of the default profile where `path` is NULL. *used (may be NULL) is the file, the
 * caller's to free; NULL on failure. */
bj_status bj_profile_read_default(const char *path, bj_profile *profile, char **used, bj_error *error) BJ_WARN_UNUSED;

/* Where the default profile is kept: $BLACKJACK_PROFILE if it is set, else the user's place; *path is the caller's. */
bj_status bj_profile_name_kept(char **path, bj_error *error) BJ_WARN_UNUSED;
/* The file beside it that `what` names: "profile-<what>.json"; *path is the caller's. */
bj_status bj_profile_name_beside(const char *kept, const char *what, char **path, bj_error *error) BJ_WARN_UNUSED;
/* Makes the folder of a place, with those above it, for this user alone as XDG asks for; one that is there stays. */
bj_status bj_profile_make_folder(const char *path, bj_error *error) BJ_WARN_UNUSED;
/* Writes the profile to the place `kept`, atomically. What was there, unless it is the same, stays beside it as
 * profile-<date>.json, with the date when it was measured; of those the newest BJ_PROFILE_OLDER_MOST stay. *older (may
 * be NULL) is the name that it got, the caller's to free; NULL: there was nothing to keep. */
bj_status bj_profile_keep(const bj_profile *profile, const char *kept, char **older, bj_error *error) BJ_WARN_UNUSED;
/* The newest of those beside the place where the default profile is kept; *path is the caller's. BJ_ERR_INPUT: there is
 * none. */
bj_status bj_profile_find_older(char **path, bj_error *error) BJ_WARN_UNUSED;
