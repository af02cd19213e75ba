/* Compares a kernel with a plain computation before anybody times it. */
#pragma once

#include "tune/kernel_text.h"

typedef void bj_tune_function(void); /* cast to what the plan says */

/* Random operands of both signs; edges, leading dimensions larger than columns, and sentinels around and between the
 * columns of C. BJ_ERR_FAILED: the shape and place of the first value that is wrong. */
bj_status bj_tune_verify_general(bj_tune_function *function, const bj_tune_kernel *kernel,
                                 bj_error *error) BJ_WARN_UNUSED;
/* The same of a kernel of the timer, C ± A·B of n × n with columns n apart. `adds`: C += A·B whatever the plan says.
 */
bj_status bj_tune_verify_timed(double (*function)(size_t n, void *const *operands), const bj_tune_kernel *kernel,
                               size_t n, bool adds, bj_error *error) BJ_WARN_UNUSED;
