/* What the kernel timer of the library says and costs on this machine; bench/timer.py runs it.
 *
 * Twenty cold timings of a dot product; what a timing costs beside a plain loop; and what becomes of "flush in the loop
 * and take a loop of flushes off" (Whaley and Castaldo, section 4). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <blackjack/blackjack.h>

#include "../examples/timer/dot.c"

enum { TIMINGS = 20, N = 4000, LOOPS = 40 };

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static bool time_dot(bj_lib_timer *timer, size_t n, const char *context, bj_lib_timing *timing) {
    const bj_lib_operand operands[] = {{.name = "x", .bytes = 8 * n}, {.name = "y", .bytes = 8 * n}};
    bj_lib_timing_options options = {
        .struct_size = sizeof options, .n = n, .operands = operands, .operand_count = 2, .context = context};
    bj_lib_error error;
    timing->struct_size = sizeof *timing;
    if (bj_lib_time_kernel(timer, dot, &options, timing, &error) == BJ_LIB_OK)
        return true;
    fprintf(stderr, "%s\n", error.text);
    return false;
}

static void repeat_cold(bj_lib_timer *timer) {
    double times[TIMINGS], begin = now_ns();
    size_t unstable = 0;
    for (size_t i = 0; i < TIMINGS; i++) {
        bj_lib_timing timing;
        if (!time_dot(timer, N, "cold", &timing))
            return;
        times[i] = timing.time_ns;
        unstable += timing.status == BJ_LIB_STATUS_UNSTABLE;
    }
    double spent_ms = (now_ns() - begin) / 1e6;
    qsort(times, TIMINGS, sizeof times[0], compare);
    printf("| %d cold timings, n = %d: median, interquartile range | %.0f ns, %.1f%%; %zu unstable | 5%% |\n", TIMINGS,
           N, times[TIMINGS / 2], 100 * (times[3 * TIMINGS / 4] - times[TIMINGS / 4]) / times[TIMINGS / 2], unstable);
    printf("| cost of a cold timing | %.1f ms | |\n", spent_ms / TIMINGS);
}

static void plain_loop(void) {
    enum { CALLS = 1000 };
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    void *operands[] = {x, y};
    for (size_t i = 0; i < N && x != NULL && y != NULL; i++)
        x[i] = y[i] = i % 2 == 0 ? 1.5 : -0.5;
    volatile double sum = 0;
    double begin = now_ns();
    for (int i = 0; i < CALLS && x != NULL && y != NULL; i++)
        sum = sum + dot(N, operands);
    double spent = now_ns() - begin;
    printf("| cost of a plain loop of %d calls, which times it warm | %.2f ms, %.0f ns a call | |\n", CALLS,
           spent / 1e6, spent / CALLS);
    free(x);
    free(y);
}

static double read_area(const double *area, size_t bytes) {
    double sum = 0;
    for (size_t i = 0; i < bytes / sizeof *area; i += 8)
        sum += area[i];
    return sum;
}

/* The flush area as large as the last level: alone it fits, beside the operands it does not. */
static void subtract_flushes(bj_lib_timer *timer, size_t last_bytes) {
    size_t n = last_bytes / 64;
    double *flush = malloc(last_bytes), *x = malloc(8 * n), *y = malloc(8 * n), loops[2];
    void *operands[] = {x, y};
    bj_lib_timing cold;
    if (flush == NULL || x == NULL || y == NULL || !time_dot(timer, n, "cold", &cold))
        return;
    memset(flush, 0, last_bytes);
    for (size_t i = 0; i < n; i++)
        x[i] = y[i] = i % 2 == 0 ? 1.5 : -0.5;
    volatile double sum = 0;
    for (int with = 0; with < 2; with++) {
        double begin = now_ns();
        for (int i = 0; i < LOOPS; i++) {
            sum = sum + read_area(flush, last_bytes);
            if (with)
                sum = sum + dot(n, operands);
        }
        loops[with] = (now_ns() - begin) / LOOPS;
    }
    printf("| flush in the loop less a loop of flushes, by the cold time | %.2f | not 1 |\n",
           (loops[1] - loops[0]) / cold.time_ns);
    free(flush);
    free(x);
    free(y);
}

int main(void) {
    bj_lib_profile *profile;
    bj_lib_timer *timer;
    bj_lib_error error;
    double levels = 0;
    size_t last_bytes = 8 << 20;
    if (bj_lib_open_profile(NULL, &profile, &error) != BJ_LIB_OK ||
        bj_lib_open_timer(NULL, &timer, &error) != BJ_LIB_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    bj_lib_get_number(profile, "cache.levels", BJ_LIB_CONFIDENCE_LOW, &levels, NULL);
    char key[40];
    snprintf(key, sizeof key, "cache.L%d.size_bytes", (int)levels);
    bj_lib_get_size(profile, key, BJ_LIB_CONFIDENCE_LOW, &last_bytes, NULL);
    printf("| clock | %s | |\n", bj_lib_timer_clock(timer));
    repeat_cold(timer);
    plain_loop();
    subtract_flushes(timer, last_bytes);
    bj_lib_close_timer(timer);
    bj_lib_close_profile(profile);
    return 0;
}
