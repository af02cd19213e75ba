#include "probes/op/op_families.h"

#include <stdio.h>

enum { MOST = BJ_CHAIN_ABREAST_MAX };

const bj_op_family bj_op_families[BJ_OP_FAMILIES] = {
    {"int8", "add", NULL, MOST},   {"int8", "sub", NULL, MOST},     {"int8", "mul", NULL, MOST},
    {"int8", "div", "add", MOST},  {"int8", "mod", "add", MOST},    {"int8", "shift", NULL, MOST},
    {"int16", "add", NULL, MOST},  {"int16", "sub", NULL, MOST},    {"int16", "mul", NULL, MOST},
    {"int16", "div", "add", MOST}, {"int16", "mod", "add", MOST},   {"int16", "shift", NULL, MOST},
    {"int32", "add", NULL, MOST},  {"int32", "sub", NULL, MOST},    {"int32", "mul", NULL, MOST},
    {"int32", "div", "add", MOST}, {"int32", "mod", "add", MOST},   {"int32", "shift", NULL, MOST},
    {"int64", "add", NULL, MOST},  {"int64", "sub", NULL, MOST},    {"int64", "mul", NULL, MOST},
    {"int64", "div", "add", MOST}, {"int64", "mod", "add", MOST},   {"int64", "shift", NULL, MOST},
    {"float", "add", NULL, MOST},  {"float", "sub", NULL, MOST},    {"float", "mul", NULL, MOST},
    {"float", "div", NULL, MOST},  {"float", "sqrt", "mul", MOST},  {"float", "fma", NULL, MOST},
    {"double", "add", NULL, MOST}, {"double", "sub", NULL, MOST},   {"double", "mul", NULL, MOST},
    {"double", "div", NULL, MOST}, {"double", "sqrt", "mul", MOST}, {"double", "fma", NULL, MOST},
    {"int32", "add", "mul", 1},    {"int64", "mul", "sub", 1},      {"int32", "div", "mul", 1},
    {"int64", "div", "sub", 1},    {"float", "mul", "div", 1},      {"float", "fma", "mul", 1},
    {"double", "add", "mul", 1},   {"double", "mul", "div", 1},     {"double", "fma", "mul", 1},
    {"double", "sqrt", "fma", 1},
};
_Static_assert(sizeof bj_op_families / sizeof bj_op_families[0] == BJ_OP_FAMILIES, "as many as are told");

void bj_op_name_curve(const bj_op_family *family, bj_unroll unroll, char *id) {
    /* A companion that only keeps the chain going is not part of the name. */
    int is_pair = family->then != NULL && family->abreast == 1;
    snprintf(id, BJ_OP_NAME_ROOM, "op.%s.%s%s%s%s", family->type, family->operation, is_pair ? "_" : "",
             is_pair ? family->then : "", unroll == BJ_UNROLL_ONCE ? ".once" : "");
}
