#include "report/compare_levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_constants.h"

const bj_level_family bj_level_families[] = {
    {"cache.L", "cache.levels", {"capacity_bytes", "size_bytes", NULL}, "size_bytes"},
    {"tlb.L", "tlb.levels", {"entries", NULL}, "entries"},
    {"tlb.huge.L", "tlb.huge.levels", {"entries", NULL}, "entries"},
};
const size_t bj_level_family_count = sizeof bj_level_families / sizeof bj_level_families[0];

const bj_level_family *bj_report_find_level(const char *key, unsigned *level, const char **rest) {
    for (size_t i = 0; i < bj_level_family_count; i++) {
        size_t length = strlen(bj_level_families[i].prefix);
        if (strncmp(key, bj_level_families[i].prefix, length) != 0 || key[length] < '1' || key[length] > '9')
            continue;
        char *end = NULL;
        unsigned long number = strtoul(key + length, &end, 10);
        if (*end != '.' || number > BJ_LEVELS_MOST)
            continue;
        *level = (unsigned)number;
        *rest = end;
        return &bj_level_families[i];
    }
    return NULL;
}

/* What the profile says, or the highest level among its keys. */
static unsigned count_levels(const bj_level_family *family, const bj_answers *answers) {
    double value;
    if (bj_data_get_number(answers, family->count_key, &value) && value >= 0 && value <= BJ_LEVELS_MOST)
        return (unsigned)value;
    unsigned most = 0;
    for (size_t i = 0; i < answers->count; i++) {
        unsigned level;
        const char *rest;
        if (bj_report_find_level(answers->items[i].key, &level, &rest) == family && level > most)
            most = level;
    }
    return most;
}

/* Octaves between two levels by the first size that both have. Without one: 0 for levels of the same number, else 1. */
static double octaves(const bj_level_family *family, const bj_answers *a, unsigned level_a, const bj_answers *b,
                      unsigned level_b) {
    for (size_t i = 0; family->sizes[i] != NULL; i++) {
        char key_a[64], key_b[64];
        double size_a, size_b;
        snprintf(key_a, sizeof key_a, "%s%u.%s", family->prefix, level_a, family->sizes[i]);
        snprintf(key_b, sizeof key_b, "%s%u.%s", family->prefix, level_b, family->sizes[i]);
        if (bj_data_get_number(a, key_a, &size_a) && bj_data_get_number(b, key_b, &size_b) && size_a > 0 && size_b > 0)
            return fabs(log2(size_a / size_b));
    }
    return level_a == level_b ? 0 : 1;
}

void bj_report_match_levels(const bj_level_family *family, const bj_answers *a, const bj_answers *b,
                            bj_level_match *match) {
    *match = (bj_level_match){.family = family};
    match->count_a = count_levels(family, a);
    match->count_b = count_levels(family, b);
    unsigned rows = match->count_a, columns = match->count_b;
    const double alone = BJ_LEVEL_ALONE_OCTAVES;
    double cost[BJ_LEVELS_MOST + 1][BJ_LEVELS_MOST + 1];
    for (unsigned i = 0; i <= rows; i++)
        for (unsigned j = 0; j <= columns; j++) {
            double least = i == 0 && j == 0 ? 0 : INFINITY;
            if (i > 0)
                least = fmin(least, cost[i - 1][j] + alone);
            if (j > 0)
                least = fmin(least, cost[i][j - 1] + alone);
            if (i > 0 && j > 0)
                least = fmin(least, cost[i - 1][j - 1] + octaves(family, a, i, b, j));
            cost[i][j] = least;
        }
    for (unsigned i = rows, j = columns; i > 0 && j > 0;) {
        if (cost[i][j] == cost[i - 1][j - 1] + octaves(family, a, i, b, j)) {
            match->partner_of_a[i] = j;
            match->partner_of_b[j] = i;
            i--;
            j--;
        } else if (cost[i][j] == cost[i - 1][j] + alone) {
            i--;
        } else {
            j--;
        }
    }
}
