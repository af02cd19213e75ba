/* Random numbers: xoshiro256** seeded through splitmix64. Not for secrets.
 *
 * Everything random in the project flows from one seed through these, so that a simulated run and
 * an analysis can be repeated exactly. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t state[4];
} bj_random;

void bj_random_seed(bj_random *random, uint64_t seed);
/* An independent stream for a named purpose: mixing keeps (seed, 1) and (seed + 1, 0) unrelated. */
uint64_t bj_random_mix(uint64_t seed, uint64_t purpose);
uint64_t bj_random_next(bj_random *random);
/* Uniform in [0, bound); bound > 0. */
uint64_t bj_random_below(bj_random *random, uint64_t bound);
/* Uniform in [0, 1). */
double bj_random_unit(bj_random *random);
/* Standard normal. */
double bj_random_normal(bj_random *random);
void bj_random_shuffle_u32(bj_random *random, uint32_t *values, size_t count);
