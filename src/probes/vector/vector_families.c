#include "probes/vector/vector_families.h"

#include <string.h>

const bj_vector_type bj_vector_types[BJ_VECTOR_TYPES] = {
    {"floatx4", 16, 4, false}, {"floatx8", 32, 8, false}, {"floatx16", 64, 16, false},
    {"doublex2", 16, 2, true}, {"doublex4", 32, 4, true}, {"doublex8", 64, 8, true},
};

/* Division and roots are not pipelined enough to need more than 8 side by side. */
enum { MOST = BJ_CHAIN_ABREAST_MAX, FEW = 8, MOVES = 2 };

#define OPERATIONS(type)                                                                                               \
    {type, "add", NULL, MOST, true}, {type, "sub", NULL, MOST, true}, {type, "mul", NULL, MOST, true},                 \
        {type, "div", NULL, FEW, true}, {type, "sqrt", "mul", FEW, true}, {                                            \
        type, "fma", NULL, MOST, true                                                                                  \
    }

static const bj_chain_family families[BJ_VECTOR_FAMILIES] = {
    OPERATIONS("floatx4"),
    OPERATIONS("floatx8"),
    OPERATIONS("floatx16"),
    OPERATIONS("doublex2"),
    OPERATIONS("doublex4"),
    OPERATIONS("doublex8"),
    {"doublex2", "load", NULL, MOVES, true},
    {"doublex2", "store", NULL, MOVES, true},
    {"doublex4", "load", NULL, MOVES, true},
    {"doublex4", "store", NULL, MOVES, true},
    {"doublex8", "load", NULL, MOVES, true},
    {"doublex8", "store", NULL, MOVES, true},
};

static const char *const live_types[BJ_VECTOR_TYPES] = {"floatx4",  "floatx8",  "floatx16",
                                                        "doublex2", "doublex4", "doublex8"};

/* Half of the time for either. A neighbour on the same core slows stores down by half, for milliseconds: of live
 * vectors the least of the visits is kept. */
const bj_chain_set bj_vector_chains = {.probe = "vector",
                                       .families = families,
                                       .count = BJ_VECTOR_FAMILIES,
                                       .rounds = {6, 6, 20},
                                       .repetitions = {2, 3, 6},
                                       .progress_from = 0,
                                       .progress_to = 0.5};

const bj_live_set bj_vector_live = {.probe = "vector",
                                    .types = live_types,
                                    .count = BJ_VECTOR_TYPES,
                                    .most = BJ_LIVE_VECTORS_MOST,
                                    .rounds = {6, 6, 20},
                                    .visits = 4,
                                    .low_of_visits = 0,
                                    .progress_from = 0.5,
                                    .progress_to = 1};

const bj_chain_family *bj_vector_find_family(const char *type, const char *operation) {
    for (size_t i = 0; i < BJ_VECTOR_FAMILIES; i++)
        if (strcmp(families[i].type, type) == 0 && strcmp(families[i].operation, operation) == 0)
            return &families[i];
    return NULL;
}
