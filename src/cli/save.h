/* `run --save`: the profile becomes the default one (profile/places.h), and the one before it stays beside it. */
#pragma once

#include "cli/cli.h"
#include "profile/profile.h"

typedef struct {
    char *kept;       /* the place of the default profile; NULL: --save was not given */
    char *unfinished; /* the journal, where the profile goes nowhere else; NULL: another file is written too */
} bj_cli_save;

/* Finds the place and whether it can be written. `output` is what -o names, or NULL. Free also after a failure. */
bj_status bj_cli_prepare_save(const bj_cli_arguments *arguments, const char *output, bj_cli_save *save,
                              bj_error *error) BJ_WARN_UNUSED;
void bj_cli_free_save(bj_cli_save *save);
/* Once the run is done. Says where the profile is unless `quiet`; `written` is the file that the run wrote. Does
 * nothing without --save. */
bj_status bj_cli_save_profile(const bj_cli_save *save, const bj_profile *profile, const char *written, bool quiet,
                              bj_error *error) BJ_WARN_UNUSED;
