/* One untimed call that shows whether a kernel stays inside its operands. */
#pragma once

#include "kernels/timed_calls.h"
#include "platform/child.h"
#include "timer/bench.h"

/* Each operand ends at a page that may not be touched, to within its alignment, and known bytes fill what is left
 * around it. For use in a child process: a touch of such a page is a fault, told to the parent with its range: twice
 * the number of the operand, one more behind than before it. BJ_ERR_FAILED: it wrote outside, and where. */
bj_status bj_timer_check_call(const bj_timer_bench *bench, bj_kernel_function *kernel, size_t n,
                              const bj_timer_operand *operands, size_t count, int parent,
                              bj_error *error) BJ_WARN_UNUSED;
