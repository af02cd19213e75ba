#include "runner/open_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bj_build.h"
#include "platform/process.h"

/* *path is the caller's to free; NULL: no such machine came with us, or there is no memory. */
static char *find_own_machine(const char *name) {
    char *own = NULL, *path = NULL;
    if (bj_platform_find_own_folder(&own, NULL) != BJ_OK)
        own = NULL;
    /* Beside the program wherever it was moved to, in the source folder of a build, and where it was to be installed,
     * which also serves programs that have the library in them. */
    const char *const places[][2] = {
        {own, "/" BJ_MACHINES_FROM_PROGRAM}, {own, "/../machines"}, {"", BJ_MACHINES_FOLDER}};
    for (size_t i = 0; i < sizeof places / sizeof places[0] && path == NULL; i++) {
        if (places[i][0] == NULL || asprintf(&path, "%s%s/%s.json", places[i][0], places[i][1], name) < 0)
            path = NULL;
        if (path != NULL && access(path, F_OK) != 0) {
            free(path);
            path = NULL;
        }
    }
    free(own);
    return path;
}

static bj_status open_simulated(const char *name, uint64_t seed, bj_machine **machine, bj_error *error) {
    bool may_be_ours = strchr(name, '/') == NULL && access(name, F_OK) != 0;
    char *own = may_be_ours ? find_own_machine(name) : NULL;
    bj_status status = bj_machine_open_simulated(own != NULL ? own : name, seed, machine, error);
    if (status != BJ_OK && may_be_ours && own == NULL)
        status = bj_base_set_error(error, BJ_ERR_INPUT, "%.120s: no such file, and no machine of that name in %s", name,
                                   BJ_MACHINES_FOLDER);
    free(own);
    return status;
}

bj_status bj_runner_open_machine(const char *name, uint64_t seed, bj_machine **machine, bj_error *error) {
    bj_status status;
    if (name == NULL || strcmp(name, "native") == 0)
        status = bj_machine_open_native(seed, machine, error);
    else if (strncmp(name, "sim:", 4) == 0 && name[4] != '\0')
        status = open_simulated(name + 4, seed, machine, error);
    else
        return bj_base_set_error(error, BJ_ERR_USAGE, "machine: expected native or sim:FILE, found '%.60s'", name);
    if (status == BJ_OK && (*machine)->facts.cpu_count == 0) {
        (*machine)->verbs->close(*machine);
        *machine = NULL;
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "there is no cpu that we may use");
    }
    return status;
}
