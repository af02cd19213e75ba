#include "profile/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bj_build.h"
#include "platform/system/file_system.h"

static const char below_data[] = "blackjackbench/profile.json";

static bj_status fail_memory(bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
}

/* NULL: not set, or not to be trusted. */
static const char *read_given(void) {
    const char *given = bj_platform_read_variable("BLACKJACK_PROFILE");
    if (given != NULL && strcmp(given, "-") == 0)
        return "./-"; /* a file of that name, not a stream */
    return given != NULL && given[0] != '\0' ? given : NULL;
}

/* XDG's rule: a relative path is as good as none. */
static bool is_absolute(const char *folder) {
    return folder != NULL && folder[0] == '/';
}

/* NULL: this user has no such place, or there is no memory. */
static char *name_user_place(void) {
    char *path = NULL;
    const char *data = bj_platform_read_variable("XDG_DATA_HOME"), *home = bj_platform_read_variable("HOME");
    int length = -1;
    if (is_absolute(data))
        length = asprintf(&path, "%s/%s", data, below_data);
    else if (is_absolute(home))
        length = asprintf(&path, "%s/.local/share/%s", home, below_data);
    return length >= 0 ? path : NULL;
}

static bool is_there(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* A profile that this user may not read must not hide a later one. */
static bool is_readable(const char *path) {
    return is_there(path) && (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 || errno != EACCES);
}

bj_status bj_profile_find_default(char **path, bj_error *error) {
    const char *given = read_given(), *found = NULL;
    char *user = name_user_place();
    bool trusts_folder = bj_platform_is_trusted();
    /* A profile that is named is the one, even if it cannot be opened. */
    if (given != NULL)
        found = given;
    else if (trusts_folder && is_readable(BJ_PROFILE_HERE))
        found = BJ_PROFILE_HERE;
    else if (user != NULL && is_readable(user))
        found = user;
    else if (is_there(BJ_SYSTEM_PROFILE))
        found = BJ_SYSTEM_PROFILE;
    *path = found != NULL ? strdup(found) : NULL;
    bj_status status = BJ_OK;
    if (found == NULL)
        status = bj_base_set_error(error, BJ_ERR_INPUT,
                                   "no profile: BLACKJACK_PROFILE is not set, and there is no %s here, no %.180s and "
                                   "no %.60s; 'blackjack run --save' makes one",
                                   BJ_PROFILE_HERE, user != NULL ? user : "home", BJ_SYSTEM_PROFILE);
    else if (*path == NULL)
        status = fail_memory(error);
    free(user);
    return status;
}

bj_status bj_profile_read_default(const char *path, bj_profile *profile, char **used, bj_error *error) {
    char *found = NULL;
    if (used != NULL)
        *used = NULL;
    if (path == NULL)
        BJ_TRY(bj_profile_find_default(&found, error));
    else if ((found = strdup(path)) == NULL)
        return fail_memory(error);
    bj_status status = bj_profile_read(found, profile, error);
    if (status == BJ_OK && used != NULL)
        *used = found;
    else
        free(found);
    return status;
}

bj_status bj_profile_name_kept(char **path, bj_error *error) {
    const char *given = read_given();
    *path = given != NULL ? strdup(given) : name_user_place();
    if (*path == NULL)
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "no place to keep a profile: none of BLACKJACK_PROFILE, XDG_DATA_HOME and HOME is set "
                                 "to one");
    return BJ_OK;
}
