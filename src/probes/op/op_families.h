/* The operations that the op probe asks about, and how their samples are named. */
#pragma once

#include <stddef.h>

#include "machine/machine.h"

/* Chains of one operation on one type. */
typedef struct {
    const char *type, *operation;
    const char *then; /* what the chain does after each operation, since it could not go on otherwise; NULL: nothing */
    unsigned abreast; /* chains side by side: 1 to so many are measured */
} bj_op_family;

/* Families with keys of their own come first. The others are chains of two operations, kept as evidence that latencies
 * add up: nothing is answered from them. */
#define BJ_OP_ANSWERED 36u
#define BJ_OP_FAMILIES 46u
extern const bj_op_family bj_op_families[BJ_OP_FAMILIES];

/* "op.int32.add" for the longer loop, "op.int32.add.once" for the shorter; "op.int32.add_mul" for a pair. */
#define BJ_OP_NAME_ROOM 48u
void bj_op_name_curve(const bj_op_family *family, bj_unroll unroll, char *id);
