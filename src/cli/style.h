/* How to write for the terminal that standard output is, and what `run` says at its end. */
#pragma once

#include "report/terminal.h"

/* Colour only on a terminal, and not when NO_COLOR is set; as many columns as it has, 80 where that is not known. */
bj_terminal_style bj_cli_find_style(void);
/* The columns of standard error; 0 where it is no terminal. */
size_t bj_cli_find_error_columns(void);
/* What matters first, a few lines on standard error. */
void bj_cli_tell_headline(const bj_profile *profile);
