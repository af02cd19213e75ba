#include "machine/sim/noise.h"

#include <math.h>

static const double DRIFT_PERIOD_S = 10.0;
static const double NEIGHBOUR_STEP_S = 1.0;

void bj_sim_seed_noise(bj_sim_noise *noise, const bj_sim_spec *spec, uint64_t seed) {
    noise->spec = spec;
    bj_random_seed(&noise->random, bj_random_mix(seed, 0));
    noise->neighbour_seed = bj_random_mix(seed, 1);
}

double bj_sim_add_noise(bj_sim_noise *noise, double ns, double now_s) {
    const bj_sim_spec *spec = noise->spec;
    /* Both are always drawn, so that a changed rate leaves the other's sequence alone. */
    double jitter = fabs(bj_random_normal(&noise->random)) * spec->jitter;
    double lot = bj_random_unit(&noise->random);
    double swing = 1 + spec->drift * (0.5 - 0.5 * cos(6.283185307179586 * now_s / DRIFT_PERIOD_S));
    double spike = lot < spec->spike_rate ? spec->spike_factor : 1;
    return ns * (1 + jitter) * swing * spike;
}

static double draw_share(const bj_sim_noise *noise, uint64_t step) {
    return (double)(bj_random_mix(noise->neighbour_seed, step) >> 11) * 0x1.0p-53;
}

double bj_sim_neighbour_share(const bj_sim_noise *noise, double now_s) {
    double steps = now_s / NEIGHBOUR_STEP_S;
    uint64_t step = (uint64_t)steps;
    double part = steps - (double)step;
    double share = draw_share(noise, step) * (1 - part) + draw_share(noise, step + 1) * part;
    return share * noise->spec->neighbour;
}
