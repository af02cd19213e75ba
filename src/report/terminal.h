/* A profile for a person: one page of plain text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "profile/profile.h"

typedef struct {
    bool colour;
    bool utf8;      /* otherwise only ASCII is written */
    size_t columns; /* 0: BJ_TERMINAL_COLUMNS */
} bj_terminal_style;

typedef struct {
    const char *section; /* only the answers of this probe; NULL: what matters first, then all */
    const char *notice;  /* said before all else, such as what an interrupted run left out; NULL or "": nothing */
} bj_page_request;

/* Write errors are the caller's to find on `out`. */
void bj_report_print_page(FILE *out, const bj_profile *profile, const bj_terminal_style *style,
                          const bj_page_request *request);
