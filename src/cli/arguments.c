#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* What getopt_long returns: 1 for an operand, LONG_CODE + i for --name of the option i, its letter for -x. */
enum { OPERAND_CODE = 1, LONG_CODE = 256, OPTIONS_MOST = 30 };

typedef struct {
    struct option longs[OPTIONS_MOST + 1]; /* ends with zeros */
    char letters[2 * OPTIONS_MOST + 3];
} option_tables;

static option_tables make_tables(const bj_cli_command *command) {
    /* '-': operands are returned in their order, also where POSIXLY_CORRECT is set. ':': getopt_long prints nothing. */
    option_tables tables = {.letters = "-:"};
    char *letters = tables.letters + 2;
    for (size_t i = 0; i < command->option_count && i < OPTIONS_MOST; i++) {
        const bj_cli_option *option = &command->options[i];
        bool has_value = option->argument != NULL;
        tables.longs[i] = (struct option){option->name, has_value, NULL, LONG_CODE + (int)i};
        if (option->letter == 0)
            continue;
        *letters++ = option->letter;
        if (has_value)
            *letters++ = ':';
    }
    return tables;
}

static const bj_cli_option *find_option(const bj_cli_command *command, int code) {
    for (size_t i = 0; i < command->option_count; i++)
        if (code == LONG_CODE + (int)i || (code != 0 && code == command->options[i].letter))
            return &command->options[i];
    return NULL;
}

static bj_status refuse_word(const bj_cli_command *command, const char *word, bj_error *error) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    bj_cli_guess guess = {.word = name + strspn(name, "-"), .prefix = "--"};
    for (size_t i = 0; i < command->option_count; i++)
        bj_cli_offer_name(&guess, command->options[i].name);
    return bj_base_set_error(error, BJ_ERR_USAGE, "%s: no option %s%s; see 'blackjack help %s'", command->name, name,
                             guess.text, command->name);
}

/* getopt_long returned ':' (no value) or something else that is wrong with the option; `word` is the last it read. */
static bj_status refuse_option(const bj_cli_command *command, int code, const char *word, bj_error *error) {
    const bj_cli_option *option = find_option(command, optopt);
    if (option != NULL && code == ':')
        return bj_base_set_error(error, BJ_ERR_USAGE, "%s: --%s needs %s", command->name, option->name,
                                 option->argument);
    if (option != NULL)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%s: --%s takes no value", command->name, option->name);
    char letter[3] = {'-', (char)optopt, '\0'};
    return refuse_word(command, optopt != 0 ? letter : word, error);
}

static bj_status check_operands(const bj_cli_command *command, const bj_cli_arguments *arguments, bj_error *error) {
    if (arguments->operand_count < command->least_operands)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%s: too few arguments; see 'blackjack help %s'", command->name,
                                 command->name);
    if (arguments->operand_count > command->most_operands)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%s: '%.60s' is one argument too many; see 'blackjack help %s'",
                                 command->name, arguments->operands[command->most_operands], command->name);
    return BJ_OK;
}

/* getopt_long takes the beginning of a long option for the whole: a script that relies on that would break with the
 * next option that begins so. */
static bool is_cut_short(const bj_cli_option *option, int code, char **words) {
    const char *word = words[optind - 1];
    if (optarg == word)
        word = words[optind - 2];
    return code >= LONG_CODE && strcspn(word + 2, "=") != strlen(option->name);
}

/* Short options may stand joined in one word. */
static size_t count_options(int count, char **words) {
    size_t most = 1;
    for (int i = 0; i < count; i++)
        most += strlen(words[i]) + 1;
    return most;
}

bj_status bj_cli_parse_arguments(const bj_cli_command *command, int count, char **words, bj_cli_arguments *arguments,
                                 bj_error *error) {
    *arguments = (bj_cli_arguments){
        .given = calloc(count_options(count, words), sizeof *arguments->given),
        .operands = calloc((size_t)count, sizeof *arguments->operands),
    };
    if (arguments->given == NULL || arguments->operands == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the arguments");
    const option_tables tables = make_tables(command);
    for (int code; (code = getopt_long(count, words, tables.letters, tables.longs, NULL)) != -1;) {
        const bj_cli_option *option = find_option(command, code);
        if (code == OPERAND_CODE)
            arguments->operands[arguments->operand_count++] = optarg;
        else if (option != NULL && is_cut_short(option, code, words))
            return refuse_word(command, optarg == words[optind - 1] ? words[optind - 2] : words[optind - 1], error);
        else if (option != NULL)
            arguments->given[arguments->given_count++] = (bj_cli_given){option, optarg};
        else
            return refuse_option(command, code, words[optind - 1], error);
    }
    arguments->before_dashes = arguments->operand_count;
    for (int i = optind; i < count; i++) /* after "--" */
        arguments->operands[arguments->operand_count++] = words[i];
    return check_operands(command, arguments, error);
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
