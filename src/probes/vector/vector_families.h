/* The vectors that the vector probe asks about, and their operations. */
#pragma once

#include "probes/kit/chains.h"
#include "probes/kit/live.h"

/* Types by width: those of one element type, narrow to wide, one after the other. */
typedef struct {
    const char *name;
    unsigned width_bytes, lanes;
    bool is_double;
} bj_vector_type;

#define BJ_VECTOR_TYPES 6u
#define BJ_VECTOR_OPERATIONS 6u
extern const bj_vector_type bj_vector_types[BJ_VECTOR_TYPES];

/* Families of a type have keys of their own and come in order of the types; loads and stores follow them, by width. */
#define BJ_VECTOR_ANSWERED (BJ_VECTOR_TYPES * BJ_VECTOR_OPERATIONS)
#define BJ_VECTOR_FAMILIES (BJ_VECTOR_ANSWERED + 6u)
extern const bj_chain_set bj_vector_chains;
extern const bj_live_set bj_vector_live;

/* NULL: the probe knows none. */
const bj_chain_family *bj_vector_find_family(const char *type, const char *operation);
