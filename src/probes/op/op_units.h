/* The operations that the op probe asks about, and how their samples are named. */
#ifndef BJ_PROBES_OP_OP_UNITS_H
#define BJ_PROBES_OP_OP_UNITS_H

#include <stddef.h>

#include "machine/machine.h"

typedef struct {
    const char *type, *operation;
    const char *then; /* what the chain does after each operation, since it could not go on otherwise; NULL: nothing */
    unsigned streams; /* measured side by side: 1 to so many */
} bj_op_unit;

/* Units with keys of their own come first. The others are chains of two operations, kept as evidence that latencies add
 * up: nothing is answered from them. */
extern const bj_op_unit bj_op_units[];
extern const size_t bj_op_unit_count, bj_op_answered_count;

/* "op.int32.add" for the longer loop, "op.int32.add.once" for the shorter; "op.int32.add_mul" for a pair. */
void bj_op_name_curve(const bj_op_unit *unit, bj_unroll unroll, char *id, size_t room);

#define BJ_OP_YARDSTICK "op.yardstick"
#define BJ_OP_YARDSTICK_ONCE "op.yardstick.once"

#endif
