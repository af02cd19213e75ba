#include "tune/parts.h"

#include <math.h>
#include <stdint.h>

double bj_tune_loop_cycles(const bj_tune_machine *machine, const bj_tune_loop *loop) {
    double started = fmax(loop->arithmetic / machine->fma_per_cycle, loop->loads / machine->loads_per_cycle);
    return fmax(fmax(started, loop->stores / machine->stores_per_cycle), loop->chain * machine->fma_latency);
}

size_t bj_tune_least_sums(const bj_tune_machine *machine) {
    /* A measured 7.998 is 8, and so is 8.003. */
    return (size_t)ceil(machine->fma_latency * machine->fma_per_cycle - 0.05);
}

size_t bj_tune_steps_ahead(const bj_tune_machine *machine, double step_cycles) {
    return machine->l2_latency > 0 && step_cycles > 0 ? (size_t)ceil(machine->l2_latency / step_cycles) : 0;
}

static double count_elements(const bj_tune_footprint *f, double n) {
    double line = f->line_bytes > f->element_bytes ? (double)(f->line_bytes / f->element_bytes) : 1;
    return (double)f->squares * n * n + (double)f->rows * n + (double)f->strided * line * n;
}

size_t bj_tune_fit_block(size_t cache_bytes, const bj_tune_footprint *f) {
    size_t multiple = f->multiple > 0 ? f->multiple : 1, low = 0, high;
    if (f->element_bytes == 0 || f->squares + f->rows + f->strided == 0)
        return 0;
    double places = (double)(cache_bytes / f->element_bytes);
    /* In multiples; the first one that does not fit is between. */
    high = (size_t)(places / (double)multiple) + 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (count_elements(f, (double)middle * (double)multiple) <= places)
            low = middle;
        else
            high = middle;
    }
    size_t n = low * multiple;
    return f->most > 0 && n > f->most ? f->most / multiple * multiple : n;
}
