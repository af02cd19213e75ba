#include "cli/style.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool wants_colour(void) {
    const char *refused = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && (refused == NULL || refused[0] == '\0') &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

bj_terminal_style bj_cli_find_style(void) {
    return (bj_terminal_style){
        .colour = wants_colour(),
        .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
    };
}
