#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/manual.h"

static int print_as(const char *format, const bj_cli_command *command) {
    if (format == NULL || strcmp(format, "text") == 0) {
        if (command != NULL)
            bj_cli_print_command_help(command);
        else
            bj_cli_print_help();
    } else if (strcmp(format, "man") == 0) {
        bj_cli_print_manual(stdout, command);
    } else if (strcmp(format, "bash") == 0) {
        bj_cli_print_bash_completion(stdout);
    } else if (strcmp(format, "zsh") == 0) {
        bj_cli_print_zsh_completion(stdout);
    } else {
        bj_cli_complain("--format: expected text, man, bash or zsh, found '%.40s'", format);
        return BJ_EXIT_USAGE;
    }
    return BJ_EXIT_OK;
}

static int run(const bj_cli_arguments *arguments) {
    const bj_cli_command *command = NULL;
    if (arguments->operand_count > 0) {
        command = bj_cli_find_command(arguments->operands[0]);
        if (command == NULL) {
            bj_cli_complain("no command '%.60s'; see 'blackjack help'", arguments->operands[0]);
            return BJ_EXIT_USAGE;
        }
    }
    return print_as(bj_cli_find_value(arguments, "format"), command);
}

static bool choose(size_t index, const char **name, const char **meaning) {
    if (index >= bj_cli_command_count)
        return false;
    *name = bj_cli_commands[index]->name;
    *meaning = bj_cli_commands[index]->summary;
    return true;
}

static const bj_cli_option options[] = {
    {"format", 0, "text|man|bash|zsh", "as a manual page, or completion of all commands for a shell"},
};

const bj_cli_command bj_cli_command_help = {
    .name = "help",
    .synopsis = "[COMMAND] [--format text|man|bash|zsh]",
    .summary = "This, or what a command takes",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .choices = choose,
    .most_operands = 1,
    .run = run,
};
