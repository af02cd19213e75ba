/* Cold beside warm times of a dot product, as figure 1 of Whaley and Castaldo (2008), by the library. */
#include <stdio.h>
#include <stdlib.h>

#include <blackjack/blackjack.h>

#include "dot.c"

static int time_one(bj_lib_timer *timer, size_t n, const char *context, bj_lib_timing *timing) {
    const bj_lib_operand operands[] = {{.name = "x", .bytes = n * sizeof(double)},
                                       {.name = "y", .bytes = n * sizeof(double)}};
    bj_lib_timing_options options = {
        .struct_size = sizeof options, .n = n, .operands = operands, .operand_count = 2, .context = context};
    bj_lib_error error;
    timing->struct_size = sizeof *timing;
    if (bj_lib_time_kernel(timer, dot, &options, timing, &error) == BJ_LIB_OK)
        return 0;
    fprintf(stderr, "%s\n", error.text);
    return 1;
}

int main(int count, char **words) {
    size_t most = count > 1 ? strtoul(words[1], NULL, 10) : 1000000;
    bj_lib_timer *timer;
    bj_lib_error error;
    if (bj_lib_open_timer(NULL, &timer, &error) != BJ_LIB_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("%s\n%10s %12s %12s %10s\n", bj_lib_timer_clock(timer), "n", "cold ns", "warm ns", "cold/warm");
    int failed = 0;
    for (size_t n = 500; n <= most && !failed; n *= 2) {
        bj_lib_timing cold, warm;
        failed = time_one(timer, n, "cold", &cold) || time_one(timer, n, "warm", &warm);
        if (!failed)
            printf("%10zu %12.1f %12.1f %10.2f\n", n, cold.time_ns, warm.time_ns, cold.time_ns / warm.time_ns);
    }
    bj_lib_close_timer(timer);
    return failed;
}
