/* Help, from the descriptors. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

void bj_cli_print_help(void) {
    puts("blackjack finds out by timing what this machine effectively gives a C program.\n");
    puts("usage: blackjack COMMAND [ARGUMENTS...]\n");
    for (size_t i = 0; i < bj_cli_command_count; i++)
        printf("  %-10s  %s\n", bj_cli_commands[i]->name, bj_cli_commands[i]->summary);
    puts("\n  --version   the version, and exit");
    puts("\n'blackjack help COMMAND' says more. To begin: 'blackjack run', then 'blackjack show "
         "blackjack-profile.json'.");
}

static void print_synopsis(const bj_cli_command *command) {
    printf("usage: blackjack %s ", command->name);
    for (const char *at = command->synopsis; *at != '\0'; at++) {
        putchar(*at);
        if (*at == '\n')
            printf("%*s", (int)(strlen("usage: blackjack  ") + strlen(command->name)), "");
    }
    putchar('\n');
}

static void print_choices(const bj_cli_command *command) {
    const char *name, *meaning;
    if (command->choices == NULL || command->choices_title == NULL)
        return;
    printf("\n%s\n\n", command->choices_title);
    for (size_t i = 0; command->choices(i, &name, &meaning); i++)
        printf("  %-26s  %s\n", name, meaning);
}

void bj_cli_print_command_help(const bj_cli_command *command) {
    print_synopsis(command);
    printf("\n%s.\n", command->summary);
    if (command->option_count > 0)
        putchar('\n');
    for (size_t i = 0; i < command->option_count; i++) {
        const bj_cli_option *option = &command->options[i];
        char name[48], letter[8] = "    ";
        if (option->letter != 0)
            snprintf(letter, sizeof letter, "-%c, ", option->letter);
        snprintf(name, sizeof name, "%s--%s%s%s", letter, option->name, option->argument != NULL ? " " : "",
                 option->argument != NULL ? option->argument : "");
        printf("  %-26s  %s\n", name, option->help);
    }
    print_choices(command);
    if (command->details != NULL)
        printf("\n%s\n", command->details);
}
