/* What matters first: a profile in a few lines that a person can act on. */
#pragma once

#include "profile/profile.h"

/* Five about one cpu, three about all of them. */
enum { BJ_HEADLINE_LINES = 8, BJ_HEADLINE_ROOM = 200 };

typedef struct {
    char lines[BJ_HEADLINE_LINES][BJ_HEADLINE_ROOM];
    size_t count; /* at least one */
} bj_headline;

/* Says only what answers say. One of low confidence is told as its interval, one that is unstable is called so, and
 * what is claimed stands beside what was found. Where nothing is known, that is what it says. */
void bj_report_make_headline(const bj_profile *profile, bj_headline *headline);
/* Goes on with a line. */
void bj_report_append(char line[BJ_HEADLINE_ROOM], const char *format, ...) BJ_PRINTF(2, 3);
/* The part of it that is about several cpus: kinds, who is near whom, what is left when all work. Adds nothing where
 * nothing sure is known. */
void bj_report_add_crowd_lines(const bj_profile *profile, bj_headline *headline);
