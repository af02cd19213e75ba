/* The order in which threads or ranks fill the cpus of `topology.tree`. */
#ifndef BJ_EMIT_PLACE_ORDER_H
#define BJ_EMIT_PLACE_ORDER_H

#include "emit/emit.h"

/* near: each next cpu is as close as can be to those before; spread: as far as can be. *cpus is the caller's to free.
 */
bj_status bj_emit_order_cpus(const bj_emit_request *request, int **cpus, size_t *count, bj_error *error) BJ_WARN_UNUSED;

#endif
