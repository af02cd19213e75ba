/* A profile for a person: one page of plain text. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "profile/profile.h"

typedef struct {
    bool colour;
    bool utf8; /* otherwise only ASCII is written */
} bj_terminal_style;

/* Write errors are the caller's to find on `out`. */
void bj_report_print_page(FILE *out, const bj_profile *profile, const bj_terminal_style *style);
