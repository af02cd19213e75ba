/* The list of what is generated: types, operations, pairs of operations, files. */
#include "codegen/codegen.h"

#include <string.h>

static const bj_codegen_type types[] = {
    {"int8", 1, false},  {"int16", 2, false}, {"int32", 4, false},
    {"int64", 8, false}, {"float", 4, true},  {"double", 8, true},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

typedef struct {
    const char *type; /* NULL: every integer, or every floating-point type */
    bool is_float;
    const char *operation, *then;
    unsigned abreast;
} entry;

/* A remainder is smaller than its divisor and repeated roots end at 1, so chains of these alone would run out of
 * digits: an addition or a multiplication brings the value back. The other pairs show that a chain of two operations
 * takes as long as both. */
static const entry chains[] = {
    {NULL, false, "add", NULL, BJ_CODEGEN_ABREAST},
    {NULL, false, "sub", NULL, BJ_CODEGEN_ABREAST},
    {NULL, false, "mul", NULL, BJ_CODEGEN_ABREAST},
    {NULL, false, "div", "add", BJ_CODEGEN_ABREAST},
    {NULL, false, "mod", "add", BJ_CODEGEN_ABREAST},
    {NULL, false, "shift", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, "add", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, "sub", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, "mul", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, "div", NULL, BJ_CODEGEN_ABREAST},
    {NULL, true, "sqrt", "mul", BJ_CODEGEN_ABREAST},
    {NULL, true, "fma", NULL, BJ_CODEGEN_ABREAST},
    {"int32", false, "add", "mul", 1},
    {"int64", false, "mul", "sub", 1},
    {"int32", false, "div", "mul", 1},
    {"int64", false, "div", "sub", 1},
    {"float", true, "mul", "div", 1},
    {"float", true, "fma", "mul", 1},
    {"double", true, "add", "mul", 1},
    {"double", true, "mul", "div", 1},
    {"double", true, "fma", "mul", 1},
    {"double", true, "sqrt", "fma", 1},
};
enum { ENTRY_COUNT = sizeof chains / sizeof chains[0] };

static const char *const live_types[] = {"int32", "int64", "float", "double"};
enum { LIVE_COUNT = sizeof live_types / sizeof live_types[0] };

static const bj_codegen_type *find_type(const char *name) {
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static bool is_entry_of(const entry *entry, const bj_codegen_type *type) {
    return entry->type != NULL ? strcmp(entry->type, type->name) == 0 : entry->is_float == type->is_float;
}

size_t bj_codegen_count_familys(void) {
    size_t count = LIVE_COUNT;
    for (size_t t = 0; t < TYPE_COUNT; t++)
        for (size_t e = 0; e < ENTRY_COUNT; e++)
            count += is_entry_of(&chains[e], &types[t]);
    return count;
}

bj_codegen_family bj_codegen_family_at(size_t number) {
    size_t seen = 0;
    for (size_t t = 0; t < TYPE_COUNT; t++)
        for (size_t e = 0; e < ENTRY_COUNT; e++)
            if (is_entry_of(&chains[e], &types[t]) && seen++ == number)
                return (bj_codegen_family){BJ_CODEGEN_CHAINS, &types[t], chains[e].operation, chains[e].then,
                                           chains[e].abreast};
    return (bj_codegen_family){BJ_CODEGEN_LIVE, find_type(live_types[(number - seen) % LIVE_COUNT]), "", NULL, 0};
}

bool bj_codegen_find_family(bj_codegen_kind kind, const char *type, const char *operation, const char *then,
                            size_t *number) {
    for (size_t i = 0; i < bj_codegen_count_familys(); i++) {
        bj_codegen_family unit = bj_codegen_family_at(i);
        if (unit.kind == kind && strcmp(unit.type->name, type) == 0 && strcmp(unit.operation, operation) == 0 &&
            strcmp(unit.then != NULL ? unit.then : "", then != NULL ? then : "") == 0) {
            *number = i;
            return true;
        }
    }
    return false;
}

bool bj_codegen_uses(const bj_codegen_family *unit, const char *operation) {
    return strcmp(unit->operation, operation) == 0 || (unit->then != NULL && strcmp(unit->then, operation) == 0);
}

void bj_codegen_name_family(const bj_codegen_family *unit, char *name, size_t room) {
    if (unit->kind == BJ_CODEGEN_LIVE)
        snprintf(name, room, "live_%s", unit->type->name);
    else
        snprintf(name, room, "op_%s_%s%s%s", unit->type->name, unit->operation, unit->then != NULL ? "_" : "",
                 unit->then != NULL ? unit->then : "");
}

size_t bj_codegen_count_files(void) {
    return TYPE_COUNT + LIVE_COUNT + 1;
}

bj_codegen_file bj_codegen_file_at(size_t number) {
    if (number < TYPE_COUNT)
        return (bj_codegen_file){BJ_CODEGEN_CHAINS, &types[number]};
    if (number < TYPE_COUNT + LIVE_COUNT)
        return (bj_codegen_file){BJ_CODEGEN_LIVE, find_type(live_types[number - TYPE_COUNT])};
    return (bj_codegen_file){BJ_CODEGEN_CHAINS, NULL};
}

void bj_codegen_name_file(const bj_codegen_file *file, char *name, size_t room) {
    if (file->type == NULL)
        snprintf(name, room, "index.c");
    else
        snprintf(name, room, "%s_%s.c", file->kind == BJ_CODEGEN_LIVE ? "live" : "op", file->type->name);
}

unsigned bj_codegen_count_steps(unsigned abreast, bool twice) {
    /* 32 operations or a few more: an addition a fifth of a cycle makes that six cycles, beside one or two for the
     * loop, whose share the difference of both unrolls takes off. More would only take longer to compile. */
    unsigned steps = 2 * ((16 + abreast - 1) / abreast);
    return twice ? 2 * steps : steps;
}

unsigned bj_codegen_count_sweeps(unsigned variables) {
    /* The loop's counter is one more variable; it matters less to compiler and time the rarer it is touched. Longer
     * passes would only take longer to compile. */
    const unsigned additions = 128;
    return variables < additions / 2 ? additions / variables : 2;
}
