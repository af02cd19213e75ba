/* Manual pages and completion, from the same descriptors as the help. */
#ifndef BJ_CLI_MANUAL_H
#define BJ_CLI_MANUAL_H

#include <stdio.h>

#include "cli/cli.h"

/* blackjack(1), or blackjack-COMMAND(1) where a command is given; in the man macros. */
void bj_cli_print_manual(FILE *out, const bj_cli_command *command);
void bj_cli_print_bash_completion(FILE *out);
void bj_cli_print_zsh_completion(FILE *out);

#endif
