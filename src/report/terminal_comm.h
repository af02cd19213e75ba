/* Layers of messages on a terminal, and what a profile advises. */
#pragma once

#include "report/terminal_text.h"

/* Below the answer's own line: the ranks of each layer, its protocols and lines, and how it bears many at once. */
void bj_report_print_layers(FILE *out, const bj_terminal_style *style, const char *json, size_t indent);
/* A section of its own; nothing where there is no advice. */
void bj_report_print_advice(FILE *out, const bj_profile *profile, const bj_terminal_style *style);
