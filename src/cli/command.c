#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_read.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/style.h"

enum { COMPLAINT_PATIENCE_MS = 3000 };

#define BJ_COMMAND(name) extern const bj_cli_command bj_cli_command_##name;
#include "cli/command_list.h"
#undef BJ_COMMAND

#define BJ_COMMAND(name) &bj_cli_command_##name,
const bj_cli_command *const bj_cli_commands[] = {
#include "cli/command_list.h"
};
#undef BJ_COMMAND

const size_t bj_cli_command_count = sizeof bj_cli_commands / sizeof bj_cli_commands[0];

const bj_cli_command *bj_cli_find_command(const char *name) {
    for (size_t i = 0; i < bj_cli_command_count; i++)
        if (strcmp(bj_cli_commands[i]->name, name) == 0)
            return bj_cli_commands[i];
    return NULL;
}

int bj_cli_refuse_command(const char *word) {
    bj_cli_guess guess = {.word = word};
    for (size_t i = 0; i < bj_cli_command_count; i++)
        bj_cli_offer_name(&guess, bj_cli_commands[i]->name);
    bj_cli_complain("no command '%.60s'%s; see 'blackjack help'", word, guess.text);
    return BJ_EXIT_USAGE;
}

bool bj_cli_await_reader(int patience_ms) {
    struct pollfd stream = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&stream, 1, patience_ms) != 0;
}

/* On a terminal lines break between words: those of a long line stand below its first one. A word stays whole. */
static void fold(const char *line, size_t columns, char *text, size_t room) {
    enum { INDENT = 2 };
    size_t column = 0, used = 0;
    while (*line != '\0') {
        size_t blanks = strspn(line, " "), length = strcspn(line + blanks, " "), width = 0;
        for (size_t i = 0; i < length; i++)
            width += ((unsigned char)line[blanks + i] & 0xc0) != 0x80;
        if (used + INDENT + 1 + blanks + length >= room)
            break;
        bool breaks = column > INDENT && column + blanks + width > columns;
        used += (size_t)snprintf(text + used, room - used, "%s%.*s", breaks ? "\n  " : "",
                                 (int)(breaks ? length : blanks + length), breaks ? line + blanks : line);
        column = (breaks ? INDENT : column + blanks) + width;
        line += blanks + length;
    }
    text[used] = '\0';
}

void bj_cli_complain(const char *format, ...) {
    static const char name[] = "blackjack: ";
    char line[600] = "", folded[2 * sizeof line];
    memcpy(line, name, sizeof name - 1);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + sizeof name - 1, sizeof line - sizeof name + 1, format, arguments);
    va_end(arguments);
    /* One line, and no escape sequences from a file's names on somebody's terminal. */
    bj_base_hide_controls(line);
    if (!bj_cli_await_reader(COMPLAINT_PATIENCE_MS))
        return;
    size_t columns = bj_cli_find_error_columns();
    if (columns > 0)
        fold(line, columns, folded, sizeof folded);
    fprintf(stderr, "%s\n", columns > 0 ? folded : line);
}

int bj_cli_trouble_status(bj_status status) {
    return status == BJ_ERR_RESOURCE ? BJ_EXIT_RESOURCE : BJ_EXIT_USAGE;
}

int bj_cli_exit_status(bj_status status) {
    switch (status) {
    case BJ_OK:
        return BJ_EXIT_OK;
    case BJ_ERR_USAGE:
    case BJ_ERR_INPUT:
        return BJ_EXIT_USAGE;
    case BJ_ERR_IO:
    case BJ_ERR_PERMISSION:
    case BJ_ERR_RESOURCE:
    case BJ_ERR_UNSUPPORTED:
        return BJ_EXIT_RESOURCE;
    case BJ_ERR_INTERRUPTED:
        return BJ_EXIT_INTERRUPTED;
    case BJ_ERR_FAILED:
        break;
    }
    return BJ_EXIT_FAILED;
}

void bj_cli_name_default(const char *path, bj_error *error) {
    bj_error whole;
    if (path == NULL || strstr(error->text, path) != NULL)
        return;
    (void)bj_base_set_error(&whole, BJ_ERR_FAILED, "%.160s: %s", path, error->text);
    *error = whole;
}

int bj_cli_fail(bj_status status, const bj_error *error) {
    bj_cli_complain("%s", error->text);
    return bj_cli_exit_status(status);
}

/* If we are started with a standard stream closed, the next file that we open would become that stream. Opened in the
 * wrong direction, so that using it stays an error. */
static void occupy_standard_streams(void) {
    for (int stream = 0; stream < 3; stream++)
        if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
            (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void bj_cli_begin(void) {
    occupy_standard_streams();
    signal(SIGCHLD, SIG_DFL); /* ignored, as some are started, children leave no end that could be waited for */
    bj_json_watch_memory();
}
