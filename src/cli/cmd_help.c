#include "cli/cli.h"

static int run(const bj_cli_arguments *arguments) {
    if (arguments->operand_count == 0) {
        bj_cli_print_help();
        return BJ_EXIT_OK;
    }
    const bj_cli_command *command = bj_cli_find_command(arguments->operands[0]);
    if (command == NULL)
        return bj_cli_refuse_command(arguments->operands[0]);
    bj_cli_print_command_help(command);
    return BJ_EXIT_OK;
}

const bj_cli_command bj_cli_command_help = {
    .name = "help",
    .synopsis = "[COMMAND]",
    .summary = "This, or what a command takes",
    .most_operands = 1,
    .run = run,
};
