/* The operations that the op probe asks about. */
#pragma once

#include "probes/kit/chains.h"

/* Families with keys of their own come first. The others are chains of two operations, kept as evidence that latencies
 * add up: nothing is answered from them. */
#define BJ_OP_ANSWERED 36u
#define BJ_OP_FAMILIES 46u
extern const bj_chain_family bj_op_families[BJ_OP_FAMILIES];
