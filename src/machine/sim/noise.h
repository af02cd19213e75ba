/* What makes a simulated sample differ from the truth. All of it only adds time.
 *
 * jitter     each sample is longer by |normal| * jitter.
 * spikes     a sample takes spike_factor times as long with probability spike_rate.
 * drift      the clock swings: times grow by a factor between 1 and 1 + drift, a sine of 10 virtual seconds.
 * neighbour  others hold a share of the last cache level that wanders between 0 and this: a new random share every
 *            virtual second, and straight lines in between. */
#pragma once

#include "base/random.h"
#include "machine/sim/machine_file.h"

typedef struct {
    const bj_sim_spec *spec;
    bj_random random;
    uint64_t neighbour_seed;
} bj_sim_noise;

void bj_sim_seed_noise(bj_sim_noise *noise, const bj_sim_spec *spec, uint64_t seed);
/* The sample that would be `ns` without noise, taken at virtual time `now_s`. */
double bj_sim_add_noise(bj_sim_noise *noise, double ns, double now_s);
double bj_sim_neighbour_share(const bj_sim_noise *noise, double now_s);
