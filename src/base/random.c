#include "base/random.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void bj_random_seed(bj_random *random, uint64_t seed) {
    for (int i = 0; i < 4; i++)
        random->state[i] = splitmix(&seed);
}

uint64_t bj_random_mix(uint64_t seed, uint64_t purpose) {
    uint64_t state = seed;
    uint64_t mixed = splitmix(&state) ^ purpose;
    return splitmix(&mixed);
}

static uint64_t rotate_left(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

uint64_t bj_random_next(bj_random *random) {
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t bj_random_below(bj_random *random, uint64_t bound) {
    /* Rejection keeps it exactly uniform; the loop runs once almost always. */
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t value;
    do
        value = bj_random_next(random);
    while (value >= limit);
    return value % bound;
}

double bj_random_unit(bj_random *random) {
    return (double)(bj_random_next(random) >> 11) * 0x1.0p-53;
}

double bj_random_normal(bj_random *random) {
    double radius = sqrt(-2.0 * log(1.0 - bj_random_unit(random)));
    return radius * cos(6.283185307179586 * bj_random_unit(random));
}

void bj_random_shuffle_u32(bj_random *random, uint32_t *values, size_t count) {
    /* Places are drawn some steps ahead of the swaps, so that the host can fetch them meanwhile. */
    enum { AHEAD = 32 };
    size_t drawn[AHEAD], next = count;
    for (size_t i = count; i > 1; i--) {
        for (; next > 1 && next + AHEAD > i; next--) {
            /* Lemire's multiply-shift on the upper word: a division a step would dominate the shuffle of
             * millions of lines; the bias is below 2^-32 times the count. */
            uint64_t word = bj_random_next(random) >> 32;
            size_t j = (size_t)((word * next) >> 32);
            __builtin_prefetch(&values[j], 1);
            drawn[next % AHEAD] = j;
        }
        size_t j = drawn[i % AHEAD];
        uint32_t swap = values[i - 1];
        values[i - 1] = values[j];
        values[j] = swap;
    }
}
