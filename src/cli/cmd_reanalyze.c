#include "cli/cli.h"
#include "cli/values.h"
#include "profile/profile.h"
#include "runner/runner.h"

static int run(const bj_cli_arguments *arguments) {
    const char *target = bj_cli_find_value(arguments, "output");
    bj_output *output;
    bj_error error;
    bj_profile profile;
    bj_profile_init(&profile);
    bj_status status = bj_cli_open_output(target != NULL ? target : "-", bj_cli_is_given(arguments, "force"),
                                          "--force replaces it", &output, &error);
    if (status == BJ_OK)
        status = bj_profile_read(arguments->operands[0], &profile, &error);
    if (status == BJ_OK)
        status = bj_runner_reanalyse(&profile, &error);
    if (status == BJ_OK)
        status = bj_cli_write_profile(output, &profile, &error);
    bj_base_close_output(output);
    bj_profile_free(&profile);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"output", 'o', "FILE", "write the profile there instead of to standard output"},
    {"force", 0, NULL, "replace the file if it exists; it may be the one that is read"},
};

const bj_cli_command bj_cli_command_reanalyze = {
    .name = "reanalyze",
    .synopsis = "FILE [-o FILE] [--force]",
    .summary = "The recorded samples of a profile through today's analysis; nothing is measured",
    .details = "The profile that is read stays as it is unless it is named as output. Seed, method and what the\n"
               "operating system claimed are those of the recorded run.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 1,
    .most_operands = 1,
    .run = run,
};
