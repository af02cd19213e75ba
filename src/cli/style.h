/* How to write for the terminal that standard output is. */
#ifndef BJ_CLI_STYLE_H
#define BJ_CLI_STYLE_H

#include "report/terminal.h"

/* Colour only on a terminal, and not when NO_COLOR is set. */
bj_terminal_style bj_cli_find_style(void);

#endif
