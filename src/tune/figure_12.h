/* Figure 12 of the paper of 2012: speed over the size of the matrix, of its own kernel, which is blocked for registers
 * alone. It should fall beyond the size that the model finds for the first cache. */
#pragma once

#include "tune/measure.h"

enum { BJ_TUNE_POINTS_MAX = 28 };

typedef struct {
    size_t n;
    double gflops;
} bj_tune_point;

/* Sizes up to three times the model's, multiples of 8; returns how many. */
size_t bj_tune_list_points(size_t model_size, size_t sizes[BJ_TUNE_POINTS_MAX]);
/* The last size at full speed, where all larger ones are slower by more than a twentieth; 0: speed does not fall for
 * good. Full speed is the highest up to the model's size. */
size_t bj_tune_find_knee(const bj_tune_point *points, size_t count, size_t model_size);
/* In a process that may be lost; operands warm. */
bj_status bj_tune_time_points(const bj_tune_measuring *measuring, const bj_tune_objects *objects,
                              void (*take)(void *context, const bj_tune_point *point), bj_error *error) BJ_WARN_UNUSED;
