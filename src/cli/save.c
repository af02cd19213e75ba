#include "cli/save.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/values.h"
#include "profile/places.h"

static bool is_same_file(const char *a, const char *b) {
    struct stat one, other;
    return strcmp(a, b) == 0 ||
           (stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

bj_status bj_cli_prepare_save(const bj_cli_arguments *arguments, const char *output, bj_cli_save *save,
                              bj_error *error) {
    bj_output *place;
    *save = (bj_cli_save){0};
    if (!bj_cli_is_given(arguments, "save"))
        return BJ_OK;
    BJ_TRY(bj_profile_name_kept(&save->kept, error));
    BJ_TRY(bj_profile_make_folder(save->kept, error));
    BJ_TRY(bj_cli_open_output(save->kept, true, NULL, &place, error));
    bool is_file = place != NULL && bj_base_output_is_file(place);
    bj_base_close_output(place);
    if (!is_file)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: is no file that --save could keep a profile in",
                                 save->kept);
    /* The journal must not stand in the place itself: a run that has just begun is no profile to go by. */
    if (output == NULL || is_same_file(output, save->kept))
        return bj_profile_name_beside(save->kept, "unfinished", &save->unfinished, error);
    return BJ_OK;
}

void bj_cli_free_save(bj_cli_save *save) {
    free(save->kept);
    free(save->unfinished);
    *save = (bj_cli_save){0};
}

bj_status bj_cli_save_profile(const bj_cli_save *save, const bj_profile *profile, const char *written, bool quiet,
                              bj_error *error) {
    char *older = NULL, *found = NULL;
    if (save->kept == NULL)
        return BJ_OK;
    BJ_TRY(bj_profile_keep(profile, save->kept, &older, error));
    if (save->unfinished != NULL)
        (void)unlink(save->unfinished);
    if (!quiet)
        bj_cli_complain("kept as the default profile, %.200s", save->kept);
    if (!quiet && older != NULL)
        bj_cli_complain("the one before it is %.200s", older);
    if (!quiet && bj_profile_find_default(&found, NULL) == BJ_OK && !is_same_file(found, save->kept) &&
        !is_same_file(found, written))
        bj_cli_complain("warning: in this folder %.120s is found first, which is another profile", found);
    free(older);
    free(found);
    return BJ_OK;
}
