#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const bj_cli_option *find_option(const bj_cli_command *command, const char *name, size_t length) {
    for (size_t i = 0; i < command->option_count; i++)
        if (strlen(command->options[i].name) == length && memcmp(command->options[i].name, name, length) == 0)
            return &command->options[i];
    return NULL;
}

static const bj_cli_option *find_letter(const bj_cli_command *command, char letter) {
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].letter == letter)
            return &command->options[i];
    return NULL;
}

static bj_status refuse_option(const bj_cli_command *command, const char *word, bj_error *error) {
    const char *names[32];
    size_t count = 0;
    for (size_t i = 0; i < command->option_count && i < sizeof names / sizeof names[0]; i++)
        names[count++] = command->options[i].name;
    size_t length = strcspn(word, "=");
    char name[80], hint[120];
    snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), word);
    bj_cli_suggest(name + strspn(name, "-"), names, count, hint, sizeof hint);
    return bj_base_set_error(error, BJ_ERR_USAGE, "%s: no option %s%s; see 'blackjack help %s'", command->name, name,
                             hint, command->name);
}

/* Takes words[*at], which begins with a dash, and its value, which may be the next word. */
static bj_status take_option(const bj_cli_command *command, int count, char **words, int *at, bj_cli_given *given,
                             bj_error *error) {
    const char *word = words[*at];
    const char *value = NULL;
    const bj_cli_option *option;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        option = find_option(command, word + 2, length);
        value = word[2 + length] == '=' ? word + 3 + length : NULL;
    } else {
        option = find_letter(command, word[1]);
        value = word[2] != '\0' ? word + 2 : NULL;
    }
    if (option == NULL)
        return refuse_option(command, word, error);
    if (option->argument == NULL && value != NULL)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%s: --%s takes no value", command->name, option->name);
    if (option->argument != NULL && value == NULL) {
        if (*at + 1 >= count)
            return bj_base_set_error(error, BJ_ERR_USAGE, "%s: --%s needs %s", command->name, option->name,
                                     option->argument);
        value = words[++*at];
    }
    *given = (bj_cli_given){option, value};
    return BJ_OK;
}

bj_status bj_cli_parse_arguments(const bj_cli_command *command, int count, char **words, bj_cli_arguments *arguments,
                                 bj_error *error) {
    *arguments = (bj_cli_arguments){
        .given = calloc((size_t)count + 1, sizeof *arguments->given),
        .operands = calloc((size_t)count + 1, sizeof *arguments->operands),
    };
    if (arguments->given == NULL || arguments->operands == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the arguments");
    bool options_end = false;
    for (int i = 0; i < count; i++) {
        /* A lone dash is a file name: standard input or output. */
        if (options_end || words[i][0] != '-' || words[i][1] == '\0') {
            arguments->operands[arguments->operand_count++] = words[i];
        } else if (strcmp(words[i], "--") == 0) {
            options_end = true;
        } else {
            bj_status status = take_option(command, count, words, &i, &arguments->given[arguments->given_count], error);
            if (status != BJ_OK)
                return status;
            arguments->given_count++;
        }
    }
    if (arguments->operand_count < command->least_operands)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%s: too few arguments; see 'blackjack help %s'", command->name,
                                 command->name);
    if (arguments->operand_count > command->most_operands)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%s: '%.60s' is one argument too many; see 'blackjack help %s'",
                                 command->name, arguments->operands[command->most_operands], command->name);
    return BJ_OK;
}

void bj_cli_free_arguments(bj_cli_arguments *arguments) {
    free(arguments->given);
    free(arguments->operands);
    *arguments = (bj_cli_arguments){0};
}

const char *bj_cli_find_value(const bj_cli_arguments *arguments, const char *option) {
    for (size_t i = arguments->given_count; i > 0; i--)
        if (strcmp(arguments->given[i - 1].option->name, option) == 0)
            return arguments->given[i - 1].value;
    return NULL;
}

bool bj_cli_is_given(const bj_cli_arguments *arguments, const char *option) {
    for (size_t i = 0; i < arguments->given_count; i++)
        if (strcmp(arguments->given[i].option->name, option) == 0)
            return true;
    return false;
}
