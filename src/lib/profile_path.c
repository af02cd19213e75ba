#include "lib/profile_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bj_build.h"
#include "lib/lib.h"

static const char below_data[] = "blackjackbench/profile.json";

/* XDG's rule: a relative path is as good as none. */
static bool is_absolute(const char *folder) {
    return folder != NULL && folder[0] == '/';
}

/* NULL: this user has no such place, or there is no memory. */
static char *name_user_place(void) {
    char *path = NULL;
    const char *data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
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

/* A profile that this user may not read must not hide the system's. */
static bool is_readable(const char *path) {
    return is_there(path) && (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 || errno != EACCES);
}

bj_lib_result bj_inside_find_profile(char **path, bj_lib_error *error) {
    const char *given = secure_getenv("BLACKJACK_PROFILE");
    char *user = name_user_place();
    bj_lib_result result = BJ_LIB_OK;
    /* A profile that is named is the one, even if it cannot be opened. */
    if (given != NULL && given[0] != '\0')
        *path = strdup(given);
    else if (user != NULL && is_readable(user))
        *path = strdup(user);
    else if (is_there(BJ_SYSTEM_PROFILE))
        *path = strdup(BJ_SYSTEM_PROFILE);
    else
        result =
            bj_inside_fail(error, BJ_LIB_ERR_NOT_FOUND,
                           "no profile: BLACKJACK_PROFILE is not set, and neither %.200s nor %s is there to be read",
                           user != NULL ? user : "a home", BJ_SYSTEM_PROFILE);
    free(user);
    if (result == BJ_LIB_OK && *path == NULL)
        result = bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "no memory for a path");
    return result;
}
