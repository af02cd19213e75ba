#include "cli/style.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "report/headline.h"
#include "report/terminal_text.h"

/* Beyond COLUMNS_MOST lines of text are no longer easy to read. */
enum { COLUMNS_LEAST = 40, COLUMNS_MOST = 120, READER_PATIENCE_MS = 3000 };

static bool wants_colour(int stream) {
    const char *refused = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(stream) && (refused == NULL || refused[0] == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* What the terminal says; else COLUMNS; what is not a terminal gets what fits any. */
static size_t find_columns(int stream) {
    struct winsize size = {0};
    uint64_t columns = 0;
    const char *told = getenv("COLUMNS");
    if (!isatty(stream))
        return BJ_TERMINAL_COLUMNS;
    if (ioctl(stream, TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns == 0 && (told == NULL || !bj_base_parse_u64(told, &columns) || columns == 0))
        return BJ_TERMINAL_COLUMNS;
    return columns < COLUMNS_LEAST ? COLUMNS_LEAST : columns > COLUMNS_MOST ? COLUMNS_MOST : (size_t)columns;
}

static bj_terminal_style find_style(int stream) {
    return (bj_terminal_style){
        .colour = wants_colour(stream),
        .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
        .columns = find_columns(stream),
    };
}

bj_terminal_style bj_cli_find_style(void) {
    return find_style(STDOUT_FILENO);
}

size_t bj_cli_find_error_columns(void) {
    return isatty(STDERR_FILENO) ? find_columns(STDERR_FILENO) : 0;
}

void bj_cli_tell_headline(const bj_profile *profile) {
    enum { INDENT = 2 };
    bj_terminal_style style = find_style(STDERR_FILENO);
    bj_headline headline;
    bj_report_make_headline(profile, &headline);
    for (size_t i = 0; i < headline.count && bj_cli_await_reader(READER_PATIENCE_MS); i++) {
        fprintf(stderr, "%*s", INDENT, "");
        bj_report_print_wrapped(stderr, &style, BJ_INK_PLAIN, headline.lines[i], 2 * INDENT, INDENT);
    }
}
