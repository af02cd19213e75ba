/* The list of what is generated: types, operations, pairs of operations, files. */
#include "codegen/codegen.h"

#include <string.h>

static const bj_codegen_type types[] = {
    {"int8", "int8", 1, 1, false, true, false, ""},
    {"int16", "int16", 2, 1, false, true, false, ""},
    {"int32", "int32", 4, 1, false, true, true, ""},
    {"int64", "int64", 8, 1, false, true, true, ""},
    {"float", "float", 4, 1, true, true, true, ""},
    {"double", "double", 8, 1, true, true, true, ""},
    /* AVX-512 has twice the registers for narrower vectors, too. */
    {"floatx4", "float", 16, 4, true, false, true, "_vl"},
    {"floatx4", "float", 16, 4, true, true, true, ""},
    {"floatx8", "float", 32, 8, true, false, true, "_vl"},
    {"floatx8", "float", 32, 8, true, true, true, ""},
    {"floatx16", "float", 64, 16, true, true, true, ""},
    {"doublex2", "double", 16, 2, true, false, true, "_vl"},
    {"doublex2", "double", 16, 2, true, true, true, ""},
    {"doublex4", "double", 32, 4, true, false, true, "_vl"},
    {"doublex4", "double", 32, 4, true, true, true, ""},
    {"doublex8", "double", 64, 8, true, true, true, ""},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

typedef struct {
    const char *type; /* of an element; NULL: every integer, or every floating-point type */
    bool is_float;
    bool is_vector;
    const char *operation, *then;
    unsigned abreast;
} entry;

/* A remainder is smaller than its divisor and repeated roots end at 1, so chains of these alone would run out of
 * digits: an addition or a multiplication brings the value back. The other pairs show that a chain of two operations
 * takes as long as both. */
static const entry chains[] = {
    {NULL, false, false, "add", NULL, BJ_CODEGEN_ABREAST},
    {NULL, false, false, "sub", NULL, BJ_CODEGEN_ABREAST},
    {NULL, false, false, "mul", NULL, BJ_CODEGEN_ABREAST},
    {NULL, false, false, "div", "add", BJ_CODEGEN_ABREAST},
    {NULL, false, false, "mod", "add", BJ_CODEGEN_ABREAST},
    {NULL, false, false, "shift", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, false, "add", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, false, "sub", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, false, "mul", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, false, "div", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, false, "sqrt", "mul", BJ_CODEGEN_ABREAST},
    {NULL, true, false, "fma", NULL, BJ_CODEGEN_ABREAST},
    {"int32", false, false, "add", "mul", 1},
    {"int64", false, false, "mul", "sub", 1},
    {"int32", false, false, "div", "mul", 1},
    {"int64", false, false, "div", "sub", 1},
    {"float", true, false, "mul", "div", 1},
    {"float", true, false, "fma", "mul", 1},
    {"double", true, false, "add", "mul", 1},
    {"double", true, false, "mul", "div", 1},
    {"double", true, false, "fma", "mul", 1},
    {"double", true, false, "sqrt", "fma", 1},
    {NULL, true, true, "add", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, true, "sub", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, true, "mul", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, true, "div", NULL, 8},
    {NULL, true, true, "sqrt", "mul", 8},
    {NULL, true, true, "fma", NULL, BJ_CODEGEN_ABREAST},
    /* They wait for nothing: one stream is as good as many. */
    {"double", true, true, "load", NULL, 2},
    {"double", true, true, "store", NULL, 2},
};
enum { ENTRY_COUNT = sizeof chains / sizeof chains[0] };

static bool is_entry_of(const entry *entry, const bj_codegen_type *type) {
    return type->has_chains && entry->is_vector == (type->lanes > 1) &&
           (entry->type != NULL ? strcmp(entry->type, type->element) == 0 : entry->is_float == type->is_float);
}

size_t bj_codegen_count_familys(void) {
    size_t count = 0;
    for (size_t t = 0; t < TYPE_COUNT; t++) {
        count += types[t].has_live;
        for (size_t e = 0; e < ENTRY_COUNT; e++)
            count += is_entry_of(&chains[e], &types[t]);
    }
    return count;
}

bj_codegen_family bj_codegen_family_at(size_t number) {
    size_t seen = 0;
    for (size_t t = 0; t < TYPE_COUNT; t++)
        for (size_t e = 0; e < ENTRY_COUNT; e++)
            if (is_entry_of(&chains[e], &types[t]) && seen++ == number)
                return (bj_codegen_family){BJ_CODEGEN_CHAINS, &types[t], chains[e].operation, chains[e].then,
                                           chains[e].abreast};
    for (size_t t = 0; t < TYPE_COUNT; t++)
        if (types[t].has_live && seen++ == number)
            return (bj_codegen_family){BJ_CODEGEN_LIVE, &types[t], "", NULL, 0};
    return (bj_codegen_family){BJ_CODEGEN_CHAINS, &types[0], "", NULL, 0};
}

static bool is_same(const char *a, const char *b) {
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* In one pass: it is asked before every kernel that is timed. */
bool bj_codegen_find_family(bj_codegen_kind kind, const char *type, const char *operation, const char *then,
                            size_t *number) {
    size_t seen = 0;
    for (size_t t = 0; t < TYPE_COUNT; t++)
        for (size_t e = 0; e < ENTRY_COUNT; e++) {
            if (!is_entry_of(&chains[e], &types[t]))
                continue;
            *number = seen++;
            if (kind == BJ_CODEGEN_CHAINS && is_same(types[t].name, type) && is_same(chains[e].operation, operation) &&
                is_same(chains[e].then, then))
                return true;
        }
    for (size_t t = 0; t < TYPE_COUNT; t++)
        if (types[t].has_live) {
            *number = seen++;
            if (kind == BJ_CODEGEN_LIVE && is_same(types[t].name, type) && is_same("", operation))
                return true;
        }
    return false;
}

bool bj_codegen_uses(const bj_codegen_family *unit, const char *operation) {
    return strcmp(unit->operation, operation) == 0 || (unit->then != NULL && strcmp(unit->then, operation) == 0);
}

bool bj_codegen_is_variant(const bj_codegen_family *a, const bj_codegen_family *b) {
    return a->kind == b->kind && is_same(a->type->name, b->type->name) && is_same(a->operation, b->operation) &&
           is_same(a->then, b->then);
}

bool bj_codegen_has_abreast(const bj_codegen_family *unit, unsigned abreast) {
    return abreast >= 1 && abreast <= unit->abreast &&
           (unit->type->lanes == 1 || (BJ_CODEGEN_SPARSE >> (abreast - 1) & 1) != 0);
}

unsigned bj_codegen_most_live(const bj_codegen_type *type) {
    return type->lanes == 1 ? BJ_CODEGEN_LIVE_MOST : BJ_CODEGEN_LIVE_VECTORS_MOST;
}

bool bj_codegen_is_memory(const bj_codegen_family *unit) {
    return bj_codegen_uses(unit, "load") || bj_codegen_uses(unit, "store");
}

unsigned bj_codegen_place_of(unsigned variable) {
    return BJ_CODEGEN_LIVE_VECTORS_MOST + variable % BJ_CODEGEN_PLACES;
}

size_t bj_codegen_count_values(const bj_codegen_family *unit, unsigned abreast) {
    if (unit->kind == BJ_CODEGEN_LIVE && unit->type->lanes > 1)
        return BJ_CODEGEN_LIVE_VECTORS_MOST + BJ_CODEGEN_PLACES;
    return bj_codegen_is_memory(unit) ? BJ_CODEGEN_CHAIN_VALUES : abreast;
}

void bj_codegen_name_family(const bj_codegen_family *unit, char *name, size_t room) {
    if (unit->kind == BJ_CODEGEN_LIVE)
        snprintf(name, room, "live_%s%s", unit->type->name, unit->type->variant);
    else
        snprintf(name, room, "op_%s_%s%s%s", unit->type->name, unit->operation, unit->then != NULL ? "_" : "",
                 unit->then != NULL ? unit->then : "");
}

/* Chains of all types come first, then live variables, then the index. */
static bool find_file(size_t number, bj_codegen_file *file, size_t *count) {
    *count = 0;
    for (int kind = BJ_CODEGEN_CHAINS; kind <= BJ_CODEGEN_LIVE; kind++)
        for (size_t t = 0; t < TYPE_COUNT; t++)
            if ((kind == BJ_CODEGEN_CHAINS ? types[t].has_chains : types[t].has_live) && (*count)++ == number) {
                *file = (bj_codegen_file){(bj_codegen_kind)kind, &types[t]};
                return true;
            }
    return false;
}

size_t bj_codegen_count_files(void) {
    bj_codegen_file file;
    size_t count;
    (void)find_file((size_t)-1, &file, &count);
    return count + 1;
}

bj_codegen_file bj_codegen_file_at(size_t number) {
    bj_codegen_file file;
    size_t count;
    return find_file(number, &file, &count) ? file : (bj_codegen_file){BJ_CODEGEN_CHAINS, NULL};
}

void bj_codegen_name_file(const bj_codegen_file *file, char *name, size_t room) {
    if (file->type == NULL)
        snprintf(name, room, "index.c");
    else
        snprintf(name, room, "%s_%s%s.c", file->kind == BJ_CODEGEN_LIVE ? "live" : "op", file->type->name,
                 file->type->variant);
}

unsigned bj_codegen_count_steps(unsigned abreast, bool twice) {
    /* 32 operations or a few more: an addition a fifth of a cycle makes that six cycles, beside one or two for the
     * loop, whose share the difference of both unrolls takes off. More would only take longer to compile. */
    unsigned steps = 2 * ((16 + abreast - 1) / abreast);
    return twice ? 2 * steps : steps;
}

unsigned bj_codegen_count_sweeps(unsigned variables) {
    /* The loop's counter is one more variable; it matters less to compiler and time the rarer it is touched, and once
     * in 64 additions is rare enough: the answers are those of 128 additions a pass, which make the program 2 MB
     * larger. */
    const unsigned additions = 64;
    return variables < additions ? additions / variables : 1;
}
