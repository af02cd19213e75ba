#include <stdio.h>

#include "cli/cli.h"
#include "cli/style.h"
#include "profile/places.h"
#include "report/terminal.h"

static int run(const bj_cli_arguments *arguments) {
    bj_error error;
    bj_profile profile;
    bj_profile_init(&profile);
    const char *path = arguments->operand_count > 0 ? arguments->operands[0] : NULL;
    bj_status status = bj_profile_read_default(path, &profile, NULL, &error);
    if (status != BJ_OK)
        return bj_cli_fail(status, &error);
    bj_terminal_style style = bj_cli_find_style();
    bj_report_print_page(stdout, &profile, &style);
    bj_profile_free(&profile);
    return BJ_EXIT_OK;
}

const bj_cli_command bj_cli_command_show = {
    .name = "show",
    .synopsis = "[FILE]",
    .summary = "A profile on one page, for a person",
    .details = "Without FILE the default profile, which 'run --save' keeps.\n"
               "\n"
               "Colour only on a terminal, and not when NO_COLOR is set.",
    .least_operands = 0,
    .most_operands = 1,
    .run = run,
};
