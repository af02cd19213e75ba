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
    if (command->choices == NULL)
        return;
    printf("\n%s\n\n", command->choices_title);
    for (size_t i = 0; command->choices(i, &name, &meaning); i++)
        printf("  %-10s  %s\n", name, meaning);
}

/* "-o, --output FILE" */
static void name_option(const bj_cli_option *option, char *text, size_t room) {
    char letter[8] = "    ";
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(text, room, "%s--%s%s%s", letter, option->name, option->argument != NULL ? " " : "",
             option->argument != NULL ? option->argument : "");
}

void bj_cli_print_command_help(const bj_cli_command *command) {
    print_synopsis(command);
    printf("\n%s.\n", command->summary);
    if (command->option_count > 0)
        putchar('\n');
    char name[64];
    size_t width = 0;
    for (size_t i = 0; i < command->option_count; i++) {
        name_option(&command->options[i], name, sizeof name);
        width = strlen(name) > width ? strlen(name) : width;
    }
    for (size_t i = 0; i < command->option_count; i++) {
        name_option(&command->options[i], name, sizeof name);
        printf("  %-*s  %s\n", (int)width, name, command->options[i].help);
    }
    print_choices(command);
    if (command->details != NULL)
        printf("\n%s\n", command->details);
}
