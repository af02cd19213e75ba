#include "lib/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bj_build.h"

static const char below_data[] = "blackjackbench/profile.json";

/* XDG's rule: a relative path is as good as none. */
static bool is_absolute(const char *folder) {
    return folder != NULL && folder[0] == '/';
}

/* NULL: this user has no such place, or there is no memory. */
static char *name_user_place(void) {
    char *path = NULL;
    const char *data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
    if (is_absolute(data)) {
        if (asprintf(&path, "%s/%s", data, below_data) < 0)
            path = NULL;
    } else if (is_absolute(home)) {
        if (asprintf(&path, "%s/.local/share/%s", home, below_data) < 0)
            path = NULL;
    }
    return path;
}

static bool is_there(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* One that this user may not read must not hide the system's. */
static bool is_readable(const char *path) {
    return is_there(path) && (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 || errno != EACCES);
}

bj_status bj_inside_find_profile(char **path, bj_error *error) {
    const char *given = secure_getenv("BLACKJACK_PROFILE");
    /* Who names one means it: what is wrong with it is told, and nothing else is taken in its place. */
    if (given != NULL && given[0] != '\0') {
        *path = strdup(given);
        return *path != NULL ? BJ_OK : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
    }
    char *user = name_user_place();
    if (user != NULL && is_readable(user)) {
        *path = user;
        return BJ_OK;
    }
    if (is_there(BJ_SYSTEM_PROFILE)) {
        free(user);
        *path = strdup(BJ_SYSTEM_PROFILE);
        return *path != NULL ? BJ_OK : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
    }
    (void)bj_base_set_error(error, BJ_ERR_USAGE,
                            "no profile: BLACKJACK_PROFILE is not set, and neither %.200s nor %s is there to be read",
                            user != NULL ? user : "a home", BJ_SYSTEM_PROFILE);
    free(user);
    *path = NULL;
    return BJ_ERR_USAGE;
}
