/* What to block for: whole ways or lines of the effective size, since a part of a line is a line, and a part of a way
 * is room that addresses of a block cannot use evenly. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "emit/emit.h"

/* Capacities are right within an eighth (docs/accuracy.md). The number of sets is a power of two, unless the cache has
 * slices or is hashed: what is farther from one than that has ways that are no whole blocks of addresses. */
#define CAPACITY_TOLERANCE 0.125

static bool find_quantity(const bj_emit_request *request, unsigned level, const char *quantity, bj_emit_value *value) {
    char key[64];
    snprintf(key, sizeof key, "cache.L%u.%s", level, quantity);
    return bj_emit_find(request, key, value, NULL);
}

/* Bytes of a way, or 0. */
static double find_way(const bj_emit_request *request, unsigned level, double line_bytes) {
    bj_emit_value capacity, ways;
    if (!find_quantity(request, level, "capacity_bytes", &capacity) || capacity.claimed ||
        !find_quantity(request, level, "associativity", &ways) || ways.claimed)
        return 0;
    double sets = capacity.value / ways.value / line_bytes, power = exp2(floor(log2(sets) + 0.5));
    return power >= 1 && fabs(sets - power) <= CAPACITY_TOLERANCE * power ? power * line_bytes : 0;
}

bool bj_emit_find_block(const bj_emit_request *request, const bj_answer *size, bj_emit_block *block, char *key) {
    unsigned level;
    int end = 0;
    bj_emit_value bytes, line;
    if (sscanf(size->key, "cache.L%2u.size_bytes%n", &level, &end) != 1 || end == 0 || size->key[end] != '\0' ||
        !bj_emit_find(request, size->key, &bytes, NULL))
        return false;
    snprintf(key, sizeof size->key, "cache.L%u.block_bytes", level);
    if (bj_data_find_answer(&request->profile->answers, key) != NULL)
        return false;
    if (!find_quantity(request, level, "line_bytes", &line) && !bj_emit_find(request, "cache.line_bytes", &line, NULL))
        return false;
    double way = find_way(request, level, line.value);
    *block = (bj_emit_block){
        .part_bytes = way > 0 && way <= bytes.value ? way : line.value,
        .whole_ways = way > 0 && way <= bytes.value,
        .claimed = bytes.claimed || line.claimed,
    };
    block->bytes = floor(bytes.value / block->part_bytes) * block->part_bytes;
    return block->part_bytes == floor(block->part_bytes) && block->bytes > 0;
}
