/* Two cpus that count up words of their own, or update a block in turn. Words in one line of a cache that is not common
 * to both: the line has to come over for each increment. Otherwise an increment costs what the first level does. */
#include <math.h>

#include "machine/machine_check.h"
#include "machine/sim/nearness.h"

/* What the virtual clock is charged: increments of a sample, and the ns that a batch of turns lasts at least. */
static const double INCREMENTS = 20000;
static const double LEAST_BATCH_NS = 400000;

bj_status bj_sim_run_bounce(bj_machine *machine, const bj_bounce *bounce, unsigned repetitions, double *ns,
                            bj_error *error) {
    bj_machine_clear_samples(ns, repetitions);
    bj_sim_machine *self = machine->self;
    size_t a = 0, b = 0;
    BJ_TRY(bj_sim_find_cpu(self, bounce->cpu_a, &a, error));
    BJ_TRY(bj_sim_find_cpu(self, bounce->cpu_b, &b, error));
    BJ_TRY(bj_machine_check_bounce(bounce, bounce->arena->bytes, error));
    uint64_t line = bj_sim_find_coherence_bytes(self, a, b);
    uint64_t at_a = (uint64_t)bounce->word_a * BJ_WALK_WORD_BYTES, at_b = (uint64_t)bounce->word_b * BJ_WALK_WORD_BYTES;
    /* Arenas begin at pages, which no line crosses. */
    bool together = line > 0 && at_a / line == at_b / line;
    double each = together ? bj_sim_find_exchange_ns(self, a, b, line)
                           : self->spec->caches[0].latency_cycles / self->spec->clock_ghz;
    for (unsigned i = 0; i < repetitions; i++) {
        ns[i] = bj_sim_add_noise(&self->noise, each, self->clock_s);
        self->clock_s += ns[i] * INCREMENTS * 1e-9;
    }
    return BJ_OK;
}

/* One line for the flag, and the lines of the block, of which so many come at once. */
static double time_turn(const bj_sim_machine *self, const bj_exchange *exchange, size_t a, size_t b) {
    const bj_sim_spec *spec = self->spec;
    double line_bytes = (double)spec->caches[0].line_bytes;
    double lines = fmax((double)exchange->bytes / line_bytes, 1);
    double at_once = fmin(spec->exchange_overlap, lines);
    return bj_sim_find_exchange_ns(self, a, b, spec->caches[0].line_bytes) +
           lines * bj_sim_find_exchange_ns(self, a, b, exchange->bytes) / at_once;
}

bj_status bj_sim_run_exchanges(bj_machine *machine, const bj_exchange *exchanges, size_t count, unsigned repetitions,
                               double *ns_per_turn, bj_error *error) {
    bj_machine_clear_samples(ns_per_turn, count * repetitions);
    bj_sim_machine *self = machine->self;
    BJ_TRY(bj_machine_check_exchanges(exchanges, count, error));
    for (unsigned r = 0; r < repetitions; r++) {
        double longest_ns = LEAST_BATCH_NS;
        for (size_t i = 0; i < count; i++) {
            size_t a = 0, b = 0;
            BJ_TRY(bj_sim_find_cpu(self, exchanges[i].cpu_a, &a, error));
            BJ_TRY(bj_sim_find_cpu(self, exchanges[i].cpu_b, &b, error));
            double *ns = &ns_per_turn[i * repetitions + r];
            *ns = bj_sim_add_noise(&self->noise, time_turn(self, &exchanges[i], a, b), self->clock_s);
            longest_ns = fmax(longest_ns, 2 * *ns);
        }
        self->clock_s += longest_ns * 1e-9;
    }
    return BJ_OK;
}
