/* Which level of one profile is which of the other. */
#pragma once

#include "data/answer.h"

enum { BJ_LEVELS_MOST = 16 };

typedef struct {
    const char *prefix;    /* "cache.L" */
    const char *count_key; /* "cache.levels" */
    const char *sizes[3];  /* what a level is told by, best first; NULL-terminated */
    const char *lead;      /* the size that is shown for a level that one side lacks */
} bj_level_family;

extern const bj_level_family bj_level_families[];
extern const size_t bj_level_family_count;

typedef struct {
    const bj_level_family *family;
    unsigned count_a, count_b;
    unsigned partner_of_a[BJ_LEVELS_MOST + 1]; /* from 1; 0: none */
    unsigned partner_of_b[BJ_LEVELS_MOST + 1];
} bj_level_match;

/* In order, and as alike in size as can be; a level that is far from all of the other side stays alone. */
void bj_report_match_levels(const bj_level_family *family, const bj_answers *a, const bj_answers *b,
                            bj_level_match *match);
/* The family of a key and its level; NULL: it is of no level. *rest is what follows: ".size_bytes". */
const bj_level_family *bj_report_find_level(const char *key, unsigned *level, const char **rest);
