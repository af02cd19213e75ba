#include "timer/reference.h"

#include <math.h>

#include "kernels/timed_calls.h"
#include "platform/clock.h"

/* A read of 25 us where memory gives 40 GB/s: long beside the clock's step, short beside a scheduler's slot. */
enum { AREA_BYTES = 1024 * 1024, READS = 6 };

void bj_timer_open_reference(size_t line_bytes, bj_timer_reference *reference) {
    *reference = (bj_timer_reference){.line_bytes = line_bytes, .least_ns = INFINITY};
    if (!bj_kernel_can_drop_lines() || bj_platform_map_pages(AREA_BYTES, false, &reference->area, NULL) != BJ_OK)
        reference->area.bytes = 0;
}

void bj_timer_close_reference(bj_timer_reference *reference) {
    bj_platform_unmap_pages(&reference->area);
}

double bj_timer_read_reference(bj_timer_reference *reference) {
    if (reference->area.bytes == 0)
        return NAN;
    double least_ns = INFINITY;
    for (int i = 0; i < READS; i++) {
        bj_kernel_drop_lines(reference->area.memory, AREA_BYTES, reference->line_bytes);
        uint64_t begin = bj_platform_read_ns();
        bj_kernel_read_range(reference->area.memory, AREA_BYTES, reference->line_bytes);
        least_ns = fmin(least_ns, (double)(bj_platform_read_ns() - begin));
    }
    reference->least_ns = fmin(reference->least_ns, least_ns);
    return least_ns;
}
