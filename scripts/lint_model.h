/* For `make lint` only: tells clang's analyzer what bj_base_set_error() returns, which it cannot see from
 * another file; without it every `return bj_base_set_error(...)` might be BJ_OK to it. */
#include "base/status.h"

static inline bj_status bj_lint_second(bj_status first, bj_status second) {
    (void)first;
    return second;
}

#define bj_base_set_error(error, status, ...)                                                                          \
    bj_lint_second((bj_base_set_error)((error), (status), __VA_ARGS__), (status))
