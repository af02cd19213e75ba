/* Operands of the chains, and what they must come to: the same arithmetic, one operation at a time. */
#include <math.h>
#include <string.h>

#include "codegen/codegen.h"

/* Places in the array of operands; codegen_text.c knows them by a letter each. */
enum { ADDEND, FACTOR, DIVISION, SHIFT, FMA_FACTOR, FMA_ADDEND };

static void put_integer(void *array, size_t place, unsigned bytes, uint64_t value) {
    unsigned char *target = (unsigned char *)array + place * bytes;
    uint8_t v8 = (uint8_t)value;
    uint16_t v16 = (uint16_t)value;
    uint32_t v32 = (uint32_t)value;
    const void *source = bytes == 1 ? (void *)&v8 : bytes == 2 ? (void *)&v16 : bytes == 4 ? (void *)&v32 : &value;
    memcpy(target, source, bytes);
}

/* Sign-extended. */
static int64_t get_integer(const void *array, size_t place, unsigned bytes) {
    const unsigned char *source = (const unsigned char *)array + place * bytes;
    int8_t v8;
    int16_t v16;
    int32_t v32;
    int64_t v64;
    switch (bytes) {
    case 1:
        memcpy(&v8, source, sizeof v8);
        return v8;
    case 2:
        memcpy(&v16, source, sizeof v16);
        return v16;
    case 4:
        memcpy(&v32, source, sizeof v32);
        return v32;
    default:
        memcpy(&v64, source, sizeof v64);
        return v64;
    }
}

/* Divisions go on with the dividend, as sign extension and all: it has all bits of the type, divisor and quotient half
 * of them. What a division took away is added again, or multiplied. */
static void fill_integers(const bj_codegen_family *unit, void *starts, void *operands) {
    static const uint64_t roots[] = {11, 181, 46340, 3037000499};
    unsigned bytes = unit->type->bytes;
    size_t size = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
    uint64_t root = roots[size], highest = UINT64_MAX >> (65 - 8 * bytes);
    bool divides = bj_codegen_uses(unit, "div") || bj_codegen_uses(unit, "mod");
    /* A quotient or remainder is at most twice the root, and some more of int8. */
    uint64_t high = highest - 2 * root - 2, addend = divides ? high : 3;
    put_integer(operands, ADDEND, bytes, divides && bj_codegen_uses(unit, "sub") ? 0 - addend : addend);
    put_integer(operands, FACTOR, bytes, divides ? root : UINT64_C(0x9e3779b97f4a7c15) >> (64 - 8 * bytes) | 1);
    put_integer(operands, DIVISION, bytes, root);
    put_integer(operands, SHIFT, bytes, 1);
    for (unsigned i = 0; i < unit->abreast; i++)
        put_integer(starts, i, bytes, divides ? high - root * i / BJ_CODEGEN_ABREAST : highest / 3 - 2 * i);
}

static void put_float(void *array, size_t place, unsigned bytes, double value) {
    float narrow = (float)value;
    memcpy((unsigned char *)array + place * bytes, bytes == sizeof narrow ? (void *)&narrow : &value, bytes);
}

static double get_float(const void *array, size_t place, unsigned bytes) {
    float narrow;
    double wide;
    const unsigned char *source = (const unsigned char *)array + place * bytes;
    if (bytes == sizeof wide) {
        memcpy(&wide, source, sizeof wide);
        return wide;
    }
    memcpy(&narrow, source, sizeof narrow);
    return narrow;
}

/* In every lane. */
static void put_everywhere(const bj_codegen_type *type, void *array, size_t place, double value) {
    for (unsigned l = 0; l < type->lanes; l++)
        put_float(array, place * type->lanes + l, type->bytes / type->lanes, value);
}

static void fill_floats(const bj_codegen_family *unit, void *starts, void *operands) {
    const bj_codegen_type *type = unit->type;
    unsigned bytes = type->bytes / type->lanes;
    /* Alone, a factor next to 1: 2^23 of them make a float e times as large. After a root, one that keeps the value off
     * 1, whose root is quick. In other pairs, one that holds it near 1. */
    double factor = unit->then == NULL              ? 1 + (bytes == sizeof(float) ? 0x1p-23 : 0x1p-52)
                    : bj_codegen_uses(unit, "sqrt") ? 1.3717421124828531
                                                    : 0.7313172839506172;
    put_everywhere(type, operands, ADDEND, 0.7777777777777778);
    put_everywhere(type, operands, FACTOR, factor);
    put_everywhere(type, operands, DIVISION, 1.9876543209876543);
    put_everywhere(type, operands, SHIFT, 0);
    put_everywhere(type, operands, FMA_FACTOR, 0.6172839506172839);
    put_everywhere(type, operands, FMA_ADDEND, 0.5432109876543210);
    size_t values = bj_codegen_count_values(unit, unit->abreast);
    for (size_t i = 0; i < values * type->lanes; i++)
        put_float(starts, i, bytes, 1.2345678901234567 + 0.01 * (double)i / type->lanes);
}

void bj_codegen_fill_operands(const bj_codegen_family *unit, void *starts, void *operands) {
    if (unit->type->is_float)
        fill_floats(unit, starts, operands);
    else
        fill_integers(unit, starts, operands);
}

static uint64_t step_integer(const char *operation, uint64_t x, bool odd, unsigned bytes, const void *operands) {
    uint64_t mask = UINT64_MAX >> (64 - 8 * bytes);
    uint64_t addend = (uint64_t)get_integer(operands, ADDEND, bytes);
    uint64_t factor = (uint64_t)get_integer(operands, FACTOR, bytes);
    int64_t divisor = get_integer(operands, DIVISION, bytes), dividend = (int64_t)x;
    int64_t shift = get_integer(operands, SHIFT, bytes);
    if (strcmp(operation, "add") == 0)
        return (x + addend) & mask;
    if (strcmp(operation, "sub") == 0)
        return (x - addend) & mask;
    if (strcmp(operation, "mul") == 0)
        return (x * factor) & mask;
    if (strcmp(operation, "shift") == 0)
        return odd ? x >> shift : (x << shift) & mask;
    /* Positive by choice of the operands. */
    return (uint64_t)(strcmp(operation, "div") == 0 ? dividend / divisor : dividend % divisor);
}

/* In double, which the caller rounds to the type: for these operations on floats that gives what float arithmetic
 * would, since double has more than twice the digits. Only a fused product and sum needs its own. Volatile: each
 * operation rounds, whatever the flags of this file. */
static double step_float(const char *operation, double x, unsigned bytes, unsigned lanes, const void *operands) {
    double addend = get_float(operands, ADDEND * lanes, bytes), factor = get_float(operands, FACTOR * lanes, bytes);
    double dividend = get_float(operands, DIVISION * lanes, bytes);
    double m = get_float(operands, FMA_FACTOR * lanes, bytes), n = get_float(operands, FMA_ADDEND * lanes, bytes);
    volatile double result;
    if (strcmp(operation, "add") == 0)
        result = x + addend;
    else if (strcmp(operation, "sub") == 0)
        result = x - addend;
    else if (strcmp(operation, "mul") == 0)
        result = x * factor;
    else if (strcmp(operation, "div") == 0)
        result = dividend / x;
    else if (strcmp(operation, "sqrt") == 0)
        result = sqrt(x);
    else
        result = bytes == sizeof(float) ? fmaf((float)x, (float)m, (float)n) : fma(x, m, n);
    return result;
}

static void step_value(const bj_codegen_family *unit, const char *operation, size_t value, bool odd,
                       const void *operands, void *values) {
    const bj_codegen_type *type = unit->type;
    unsigned bytes = type->bytes / type->lanes;
    if (!type->is_float) {
        uint64_t x = (uint64_t)get_integer(values, value, bytes) & (UINT64_MAX >> (64 - 8 * bytes));
        put_integer(values, value, bytes, step_integer(operation, x, odd, bytes, operands));
        return;
    }
    /* All lanes of an operand are the same, so that the first elements are it. */
    for (size_t i = value * type->lanes; i < (value + 1) * type->lanes; i++)
        put_float(values, i, bytes, step_float(operation, get_float(values, i, bytes), bytes, type->lanes, operands));
}

static void compute_chains(const bj_codegen_family *unit, size_t abreast, size_t steps, const void *operands,
                           void *values) {
    const char *operations[] = {unit->operation, unit->then};
    for (size_t s = 0; s < abreast; s++)
        for (size_t i = 0; i < steps; i++)
            for (size_t o = 0; o < 2 && operations[o] != NULL; o++)
                step_value(unit, operations[o], s, i % 2 == 1, operands, values);
}

/* In the order of the source. A pass goes round the places a whole number of times, so that passes need not be told
 * apart. */
static void compute_moves(const bj_codegen_family *unit, size_t abreast, size_t steps, void *values) {
    bool loads = bj_codegen_uses(unit, "load");
    unsigned char *value = values;
    for (size_t i = 0; i < steps * abreast; i++) {
        unsigned char *stream = value + i % abreast * unit->type->bytes;
        unsigned char *place = value + (BJ_CODEGEN_ABREAST + i % BJ_CODEGEN_PLACES) * unit->type->bytes;
        memcpy(loads ? stream : place, loads ? place : stream, unit->type->bytes);
    }
}

static void compute_sweeps(const bj_codegen_family *unit, size_t variables, size_t sweeps, void *values) {
    unsigned lanes = unit->type->lanes, bytes = unit->type->bytes / lanes;
    for (size_t i = 0; i < sweeps * variables; i++) {
        size_t to = i % variables, from = (to + variables - variables / 2) % variables;
        if (!unit->type->is_float)
            put_integer(values, to, bytes,
                        (uint64_t)get_integer(values, to, bytes) + (uint64_t)get_integer(values, from, bytes));
        for (unsigned l = 0; unit->type->is_float && l < lanes; l++) {
            volatile double sum = get_float(values, to * lanes + l, bytes) + get_float(values, from * lanes + l, bytes);
            put_float(values, to * lanes + l, bytes, sum);
            if (lanes > 1)
                put_float(values, bj_codegen_place_of((unsigned)to) * lanes + l, bytes, sum);
        }
    }
}

void bj_codegen_compute_result(const bj_codegen_family *unit, size_t abreast, size_t steps, const void *operands,
                               void *values) {
    if (unit->kind == BJ_CODEGEN_LIVE)
        compute_sweeps(unit, abreast, steps, values);
    else if (bj_codegen_is_memory(unit))
        compute_moves(unit, abreast, steps, values);
    else
        compute_chains(unit, abreast, steps, operands, values);
}
