#include "probes/op/op_families.h"

enum { MOST = BJ_CHAIN_ABREAST_MAX };

const bj_chain_family bj_op_families[BJ_OP_FAMILIES] = {
    {"int8", "add", NULL, MOST, false},   {"int8", "sub", NULL, MOST, false},     {"int8", "mul", NULL, MOST, false},
    {"int8", "div", "add", MOST, false},  {"int8", "mod", "add", MOST, false},    {"int8", "shift", NULL, MOST, false},
    {"int16", "add", NULL, MOST, false},  {"int16", "sub", NULL, MOST, false},    {"int16", "mul", NULL, MOST, false},
    {"int16", "div", "add", MOST, false}, {"int16", "mod", "add", MOST, false},   {"int16", "shift", NULL, MOST, false},
    {"int32", "add", NULL, MOST, false},  {"int32", "sub", NULL, MOST, false},    {"int32", "mul", NULL, MOST, false},
    {"int32", "div", "add", MOST, false}, {"int32", "mod", "add", MOST, false},   {"int32", "shift", NULL, MOST, false},
    {"int64", "add", NULL, MOST, false},  {"int64", "sub", NULL, MOST, false},    {"int64", "mul", NULL, MOST, false},
    {"int64", "div", "add", MOST, false}, {"int64", "mod", "add", MOST, false},   {"int64", "shift", NULL, MOST, false},
    {"float", "add", NULL, MOST, false},  {"float", "sub", NULL, MOST, false},    {"float", "mul", NULL, MOST, false},
    {"float", "div", NULL, MOST, false},  {"float", "sqrt", "mul", MOST, false},  {"float", "fma", NULL, MOST, false},
    {"double", "add", NULL, MOST, false}, {"double", "sub", NULL, MOST, false},   {"double", "mul", NULL, MOST, false},
    {"double", "div", NULL, MOST, false}, {"double", "sqrt", "mul", MOST, false}, {"double", "fma", NULL, MOST, false},
    {"int32", "add", "mul", 1, false},    {"int64", "mul", "sub", 1, false},      {"int32", "div", "mul", 1, false},
    {"int64", "div", "sub", 1, false},    {"float", "mul", "div", 1, false},      {"float", "fma", "mul", 1, false},
    {"double", "add", "mul", 1, false},   {"double", "mul", "div", 1, false},     {"double", "fma", "mul", 1, false},
    {"double", "sqrt", "fma", 1, false},
};
_Static_assert(sizeof bj_op_families / sizeof bj_op_families[0] == BJ_OP_FAMILIES, "as many as are told");
