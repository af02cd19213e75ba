/* The rank-sum test of Wilcoxon, Mann and Whitney: whether one lot of values lies above another by more than chance. */
#pragma once

#include <stddef.h>

typedef struct {
    double value;
    size_t lot; /* 0: the lower one, 1: the upper one */
} bj_ranked_value;

/* The natural logarithm of the chance that values of one lot come to lie as high above the other, were both drawn
 * alike: exact where the lots do not overlap, by the normal distribution otherwise. Sorts the values. 0 where a lot is
 * empty. */
double bj_stats_find_rank_chance(bj_ranked_value *values, size_t count);
/* ln of the number of ways to choose k of n. */
double bj_stats_log_choices(double n, double k);
