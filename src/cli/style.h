/* How to write for the terminal that standard output is. */
#pragma once

#include "report/terminal.h"

/* Colour only on a terminal, and not when NO_COLOR is set. */
bj_terminal_style bj_cli_find_style(void);
