/* Reading clocks on a simulated machine: the numbers of its file, with noise. */
#include <math.h>

#include "machine/machine_check.h"
#include "machine/sim/sim_machine.h"

_Static_assert((int)BJ_TIMER_COUNT == (int)BJ_SIM_CLOCKS, "a machine file describes every timer of the seam");

/* Of a sample, for what the virtual clock is charged: reads that are timed together, and changes of the clock that are
 * waited for. */
static const double READS = 2000, CHANGES = 16;

bj_status bj_sim_run_timer(bj_machine *machine, bj_timer timer, int cpu, unsigned repetitions, double *read_ns,
                           double *resolution_ns, bj_error *error) {
    bj_machine_clear_samples(read_ns, repetitions);
    bj_machine_clear_samples(resolution_ns, repetitions);
    static const char *const names[BJ_TIMER_COUNT] = {"wall clock", "clock of cpu time", "counter of cycles"};
    bj_sim_machine *self = machine->self;
    size_t position;
    BJ_TRY(bj_sim_find_cpu(self, cpu, &position, error));
    const bj_sim_clock_spec *clock = &self->spec->clocks[timer];
    if (!clock->is_there)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "%s has no %s", self->where, names[timer]);
    for (unsigned i = 0; i < repetitions; i++) {
        read_ns[i] = bj_sim_add_noise(&self->noise, clock->read_ns, self->clock_s);
        resolution_ns[i] = bj_sim_add_noise(&self->noise, clock->resolution_ns, self->clock_s);
        self->clock_s += (READS * read_ns[i] + CHANGES * fmax(read_ns[i], resolution_ns[i])) * 1e-9;
    }
    return BJ_OK;
}
