#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bj_build.h"
#include "cli/cli.h"

/* `COMMAND --help` asks for the same as `help COMMAND`, whatever else is on the line. */
static bool asks_for_help(int count, char **words) {
    for (int i = 1; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
            return true;
    return false;
}

static int run_command(const bj_cli_command *command, int count, char **words) {
    if (asks_for_help(count, words)) {
        bj_cli_print_command_help(command);
        return BJ_EXIT_OK;
    }
    bj_cli_arguments arguments;
    bj_error error;
    bj_status status = bj_cli_parse_arguments(command, count, words, &arguments, &error);
    int result = status == BJ_OK ? command->run(&arguments) : bj_cli_fail(status, &error);
    bj_cli_free_arguments(&arguments);
    if (result == BJ_EXIT_RESOURCE || !bj_base_take_no_memory())
        return result;
    bj_cli_complain("out of memory: what was printed may lack something");
    return BJ_EXIT_RESOURCE;
}

static int dispatch(int count, char **words) {
    if (count < 2 || strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) {
        bj_cli_print_help();
        return BJ_EXIT_OK;
    }
    if (strcmp(words[1], "--version") == 0) {
        printf("blackjack %s\n", BJ_VERSION);
        return BJ_EXIT_OK;
    }
    const bj_cli_command *command = bj_cli_find_command(words[1]);
    return command != NULL ? run_command(command, count - 1, words + 1) : bj_cli_refuse_command(words[1]);
}

int main(int count, char **words) {
    bj_cli_begin();
    /* Only the character set: numbers have a decimal point everywhere. */
    setlocale(LC_CTYPE, "");
    int result = dispatch(count, words);
    /* A full disk shows up here at the latest. */
    errno = 0;
    bool failed = ferror(stdout) != 0;
    if (fclose(stdout) != 0 || failed) {
        bj_cli_complain("cannot write standard output%s%s", errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
        const bj_cli_command *command = count > 1 ? bj_cli_find_command(words[1]) : NULL;
        return command != NULL && command->unwritten_status != 0 ? command->unwritten_status : BJ_EXIT_RESOURCE;
    }
    return result;
}
