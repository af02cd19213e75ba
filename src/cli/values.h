/* Values of options that more than one command takes. */
#pragma once

#include <stdint.h>

#include "base/output.h"
#include "cli/cli.h"
#include "probes/probe.h"
#include "profile/profile.h"

/* --seed; 1 when it is not given. */
bj_status bj_cli_read_seed(const bj_cli_arguments *arguments, uint64_t *seed, bj_error *error) BJ_WARN_UNUSED;
/* --effort; normal when it is not given. */
bj_status bj_cli_read_effort(const bj_cli_arguments *arguments, bj_effort *effort, bj_error *error) BJ_WARN_UNUSED;
/* --budget; INFINITY when it is not given. */
bj_status bj_cli_read_budget(const bj_cli_arguments *arguments, double *seconds, bj_error *error) BJ_WARN_UNUSED;
/* --method among those of the probes, or a paper's way in those that have it; NULL when it is not given. The error
 * lists the valid ones. */
bj_status bj_cli_read_method(const bj_cli_arguments *arguments, const bj_probe *const *probes, size_t count,
                             const char **method, bj_error *error) BJ_WARN_UNUSED;
/* A probe by name; the error has a suggestion. */
bj_status bj_cli_read_probe(const char *name, const bj_probe **probe, bj_error *error) BJ_WARN_UNUSED;

/* The file that is written at the end, found out before any work is done. Existing files need `replace`; `otherwise`
 * says what the user can do about one. "-" is standard output, and *output NULL. Close it with bj_base_close_output().
 */
bj_status bj_cli_open_output(const char *path, bool replace, const char *otherwise, bj_output **output,
                             bj_error *error) BJ_WARN_UNUSED;
/* The same for one that is written again and again: as long as it is open, no other run may open it so. */
bj_status bj_cli_open_journal(const char *path, bool replace, const char *otherwise, bj_output **output,
                              bj_error *error) BJ_WARN_UNUSED;
/* `output` may be NULL: standard output. */
bj_status bj_cli_write_output(bj_output *output, const char *text, size_t length, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_cli_write_profile(bj_output *output, const bj_profile *profile, bj_error *error) BJ_WARN_UNUSED;
/* Whether a first operand that may be a file or something else is meant as a file: it is "-", has a slash in it, ends
 * in ".json", or such a file is there. */
bool bj_cli_is_file_name(const char *word);
/* Of that, for the help of commands. */
#define BJ_CLI_FILE_HELP                                                                                               \
    "A first word that ends in .json, has a slash in it, is '-' or names a file is FILE. Without FILE the default "    \
    "profile is read; blackjack-profile(5) says where it is looked for."
