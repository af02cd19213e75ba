#include "kernels/kernels.h"
#include "platform/clock.h"

size_t bj_kernel_watch_gaps(uint64_t length_ns, uint64_t least_ns, double *gaps_ns, size_t room) {
    size_t count = 0;
    uint64_t start = bj_platform_read_ns(), last = start;
    while (last - start < length_ns) {
        uint64_t now = bj_platform_read_ns();
        uint64_t gap = now - last;
        if (gap > least_ns && count < room)
            gaps_ns[count++] = (double)gap;
        last = now;
    }
    return count;
}
