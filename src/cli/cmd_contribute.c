#include <stdlib.h>

#include "cli/cli.h"
#include "cli/contribution.h"
#include "cli/values.h"
#include "profile/places.h"

static void say_what_went(const bj_strings *removed, const char *target) {
    for (size_t i = 0; i < removed->count; i++)
        bj_cli_complain("removed: %s", removed->items[i]);
    bj_cli_complain("nothing was sent: look through %s, then attach it to a new issue of the form \"Machine\" in the "
                    "project's repository",
                    target);
}

static int run(const bj_cli_arguments *arguments) {
    const char *target = bj_cli_find_value(arguments, "output");
    bj_output *output;
    bj_error error;
    bj_profile profile;
    const char *path = arguments->operand_count > 0 ? arguments->operands[0] : NULL;
    char *default_path = NULL;
    bj_strings removed = {0};
    bj_profile_init(&profile);
    bj_status status = bj_cli_open_output(target != NULL ? target : "-", bj_cli_is_given(arguments, "force"),
                                          "--force replaces it", &output, &error);
    if (status == BJ_OK)
        status = bj_profile_read_default(path, &profile, path == NULL ? &default_path : NULL, &error);
    if (status == BJ_OK)
        status = bj_cli_strip_profile(&profile, &removed, &error);
    if (status == BJ_OK)
        status = bj_cli_write_profile(output, &profile, &error);
    if (status == BJ_OK && !bj_cli_is_given(arguments, "quiet"))
        say_what_went(&removed, target != NULL ? target : "what was written");
    bj_base_close_output(output);
    bj_strings_free(&removed);
    bj_profile_free(&profile);
    if (status != BJ_OK)
        bj_cli_name_default(default_path, &error);
    free(default_path);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"output", 'o', "FILE", "write the profile there instead of to standard output"},
    {"force", 0, NULL, "replace the file if it exists"},
    {"quiet", 'q', NULL, "do not say what was removed and where to send it"},
};

const bj_cli_command bj_cli_command_contribute = {
    .name = "contribute",
    .synopsis = "[FILE] [-o FILE] [--force] [--quiet]",
    .summary = "A profile without what identifies a host, for the collection of machines",
    .details =
        "Nothing is sent. What is written can be attached to an issue of the project, form \"Machine\"; please\n"
        "look through it before.\n"
        "\n"
        "Only what is known to be harmless is kept: answers with their numbers, the maker, family and number of\n"
        "the processor, the system's name and version, the day, names of probes and methods. Left out are\n"
        "names of hosts, paths, arguments, warnings and reasons, the time of day, the exact size of memory,\n"
        "words that are no part of a processor's or compiler's name, and all samples. What went is said on\n"
        "standard error. The same profile always gives the same file.\n"
        "\n"
        "Without FILE it is the default profile, which 'run --save' keeps. A simulated machine's is refused.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = 1,
    .run = run,
};
