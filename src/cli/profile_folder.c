#include "cli/profile_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *name, const char *ending) {
    size_t length = strlen(name), part = strlen(ending);
    return length > part && strcmp(name + length - part, ending) == 0;
}

static int choose_profiles(const struct dirent *entry) {
    return entry->d_name[0] != '.' && (ends_in(entry->d_name, ".json") || ends_in(entry->d_name, ".json.gz"));
}

bj_status bj_cli_list_profiles(const char *folder, bj_strings *names, bj_error *error) {
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, choose_profiles, alphasort);
    if (count < 0)
        return bj_base_set_error(error, BJ_ERR_INPUT, "%.200s: cannot read the folder: %s", folder, strerror(errno));
    bj_status status = BJ_OK;
    for (int i = 0; i < count; i++) {
        if (status == BJ_OK)
            status = bj_strings_add(names, entries[i]->d_name, error);
        free(entries[i]);
    }
    free(entries);
    return status;
}
