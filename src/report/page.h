/* The report page: one HTML file that holds the page of web/, bundled when the program was built, and the files to show
 * as data. Nothing of a file's text becomes markup: it is JSON in a block that browsers do not run, with every
 * character escaped that could end the block or begin another. */
#pragma once

#include "profile/document.h"

/* What surrounds the data. */
typedef struct {
    const unsigned char *head, *tail;
    size_t head_length, tail_length; /* 0: the program was built without the page */
} bj_page_shell;

/* Written by the build (cmake/embed_page.cmake), into the program alone. */
extern const bj_page_shell bj_page_built_shell;

/* What a probe asks, from its descriptor. */
typedef struct {
    const char *name, *question;
} bj_page_probe;

typedef struct {
    const bj_page_shell *shell;
    const bj_document *files;
    size_t file_count;
    const bj_page_probe *probes;
    size_t probe_count;
    const char *version; /* of the program */
} bj_page_content;

/* *text is the caller's to free. BJ_ERR_FAILED: there is no page in this program. */
bj_status bj_report_make_web_page(const bj_page_content *content, char **text, size_t *length,
                                  bj_error *error) BJ_WARN_UNUSED;
