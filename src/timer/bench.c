#include "timer/bench.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "kernels/kernels.h"
#include "kernels/timed_calls.h"
#include "platform/clock.h"
#include "platform/cpu.h"
#include "platform/limits.h"
#include "stats/quantile.h"
#include "timer/timer_constants.h"

/* The walk that tells whether the flush area is large enough. */
/* Turns of a spin at most, for a clock that stops: some seconds. */
#define MOST_TURNS 100000000ul
enum { WALK_BYTES = 256 * 1024, WALK_ROUNDS = 9 };

static void make_pattern(bj_timer_bench *bench) {
    bj_random random;
    bj_random_seed(&random, bj_random_mix(bench->seed, 1));
    for (size_t i = 0; i < BJ_PATTERN_BYTES / sizeof(uint32_t); i++) {
        uint64_t drawn = bj_random_next(&random);
        /* As a float 1.75 to 2, and as the upper half of a double 0.5 to 2. */
        uint32_t word =
            UINT32_C(0x3fe00000) | (uint32_t)(drawn & 0x1fffff) | (drawn >> 63 != 0 ? UINT32_C(1) << 31 : 0);
        uint32_t negated = word ^ UINT32_C(1) << 31;
        memcpy(bench->pattern + i * sizeof word, &word, sizeof word);
        memcpy(bench->pattern + BJ_PATTERN_BYTES + i * sizeof word, &negated, sizeof word);
    }
}

void bj_timer_fill(const bj_timer_bench *bench, char *memory, size_t bytes, bool negated) {
    const char *pattern = bench->pattern + (negated ? BJ_PATTERN_BYTES : 0);
    for (size_t done = 0; done < bytes; done += BJ_PATTERN_BYTES)
        memcpy(memory + done, pattern, bytes - done < BJ_PATTERN_BYTES ? bytes - done : BJ_PATTERN_BYTES);
}

static bj_status keep_area(bj_timer_bench *bench, size_t index, size_t bytes, bool huge, bj_error *error) {
    bj_timer_kept_area *area = &bench->areas[index];
    if (area->mapping.bytes >= bytes && area->huge == huge)
        return BJ_OK;
    bj_platform_unmap_pages(&area->mapping);
    area->huge = huge;
    if (huge && bj_platform_map_pages(bytes, true, &area->mapping, NULL) == BJ_OK)
        return BJ_OK;
    return bj_platform_map_pages(bytes, false, &area->mapping, error);
}

bj_status bj_timer_map_areas(bj_timer_bench *bench, const bj_timer_plan *plan, bool huge, char **memory,
                             bj_error *error) {
    size_t all = 0;
    for (size_t i = 0; i < plan->operand_count + 2; i++)
        all += plan->areas[i].bytes;
    if (all > bench->memory_bytes)
        return bj_base_set_error(error, BJ_ERR_RESOURCE,
                                 "%zu bytes of operands and flush area, but only %zu may be used", all,
                                 bench->memory_bytes);
    for (size_t i = 0; i < plan->operand_count + 2; i++) {
        memory[i] = NULL;
        if (plan->areas[i].bytes == 0)
            continue;
        /* The flush area and the sweeper last; operands come and go. */
        size_t slot = i < plan->operand_count ? i : BJ_TIMER_OPERANDS_MAX + i - plan->operand_count;
        BJ_TRY(keep_area(bench, slot, plan->areas[i].bytes, huge, error));
        memory[i] = bench->areas[slot].mapping.memory;
    }
    return BJ_OK;
}

typedef struct {
    const bj_timer_bench *bench;
    const char *memory;
    size_t bytes;
    int cpu;
} reading;

static void *read_on_cpu(void *context) {
    const reading *r = context;
    bj_error ignored;
    /* Where it may not be pinned it reads all the same, from wherever it is. */
    if (bj_platform_pin_thread(r->cpu, &ignored) == BJ_OK || r->cpu >= 0)
        bj_kernel_read_scattered(r->memory, r->bytes, r->bench->caches.line_bytes);
    return NULL;
}

void bj_timer_read_area(const bj_timer_bench *bench, const char *memory, size_t bytes) {
    enum { CPUS_MOST = 256 };
    pthread_t threads[CPUS_MOST];
    reading readings[CPUS_MOST];
    bool started[CPUS_MOST] = {false};
    size_t count = bench->threads > 1 ? bench->cpu_count : 0;
    count = count < CPUS_MOST ? count : CPUS_MOST;
    /* The kernel's threads run wherever the system puts them, so every cpu's own caches are emptied. */
    for (size_t i = 0; i < count; i++) {
        readings[i] = (reading){bench, memory, bytes, bench->cpus[i]};
        started[i] = pthread_create(&threads[i], NULL, read_on_cpu, &readings[i]) == 0;
    }
    for (size_t i = 0; i < count; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    bj_kernel_read_scattered(memory, bytes, bench->caches.line_bytes);
}

static void work_for(uint64_t length_ns) {
    uint64_t begin = bj_platform_read_ns();
    for (unsigned long turns = 0; bj_platform_read_ns() - begin < length_ns && turns < MOST_TURNS; turns++)
        bj_kernel_add_int32(1, 1, 64);
}

/* Share of the wall time of a spin in which we ran. */
static double measure_quiet(void) {
    uint64_t wall = bj_platform_read_ns(), cpu = bj_platform_read_clock(BJ_CLOCK_CPU);
    work_for(BJ_SPIN_NS);
    cpu = bj_platform_read_clock(BJ_CLOCK_CPU) - cpu;
    return (double)cpu / (double)(bj_platform_read_ns() - wall);
}

static bj_status choose_clock(bj_timer_bench *bench, bj_timer_clock asked, bj_error *error) {
    bool has_cpu_time = bj_platform_has_clock(BJ_CLOCK_CPU);
    if (asked == BJ_TIME_CPU && bench->threads > 1)
        return bj_base_set_error(
            error, BJ_ERR_USAGE,
            "cpu time of several threads says nothing: it leaves out that they wait for one another");
    if (asked == BJ_TIME_CPU && !has_cpu_time)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "there is no clock of cpu time");
    double quiet = has_cpu_time ? measure_quiet() : 1;
    int percent = (int)lround(100 * fmin(quiet, 1));
    char *why = bench->clock_reason;
    size_t room = sizeof bench->clock_reason;
    bench->clock = BJ_CLOCK_WALL;
    if (asked == BJ_TIME_CPU) {
        bench->clock = BJ_CLOCK_CPU;
        snprintf(why, room, "cpu time, as asked for");
    } else if (asked == BJ_TIME_WALL) {
        snprintf(why, room, "wall time, as asked for; a spin got %d%% of the cpu", percent);
    } else if (bench->threads > 1) {
        snprintf(why, room, "wall time: cpu time leaves out that threads wait for one another");
    } else if (quiet >= BJ_QUIET_SHARE) {
        snprintf(why, room, "wall time: the machine is quiet, a spin got %d%% of the cpu", percent);
    } else {
        bench->clock = BJ_CLOCK_CPU;
        snprintf(why, room, "cpu time: the machine is loaded, a spin got %d%% of the cpu", percent);
    }
    return BJ_OK;
}

/* A timing must be long beside the clock's step and its read. */
static void measure_clock(bj_timer_bench *bench) {
    enum { BATCHES = 8, READS = 200 };
    double cost = INFINITY, step = (double)bj_platform_find_least_step(bench->clock);
    for (int i = 0; i < BATCHES; i++)
        cost = fmin(cost, bj_platform_time_reads(bench->clock, READS));
    bench->step_ns = fmax(fmax(cost, step), 1);
    bench->timing_ns = BJ_READS_OF_TIMING * bench->step_ns;
}

void **bj_timer_write_chain(char *memory, size_t places, size_t group, size_t line_bytes, uint64_t seed,
                            uint32_t *order) {
    bj_random random;
    bj_random_seed(&random, seed);
    for (size_t i = 0; i < places; i++)
        order[i] = (uint32_t)(i * group + bj_random_below(&random, group));
    bj_random_shuffle_u32(&random, order, places);
    for (size_t i = 0; i < places; i++)
        *(void **)(void *)(memory + order[i] * line_bytes) = memory + order[(i + 1) % places] * line_bytes;
    return (void **)(void *)(memory + order[0] * line_bytes);
}

/* Time of a random walk over a small area after reading so much of the flush area. */
static double time_cold_walk(const bj_timer_bench *bench, char *walk, const char *flush, size_t bytes, uint64_t seed,
                             uint32_t *order) {
    size_t line = bench->caches.line_bytes, lines = WALK_BYTES / line;
    void **start = bj_timer_write_chain(walk, lines, 1, line, seed, order);
    bj_timer_read_area(bench, flush, bytes);
    return (double)bj_kernel_time_chase(start, lines - 1, BJ_CLOCK_WALL);
}

/* Whether a walk is slower after twice as much: both in turns, so that a slow minute hits both. */
static bj_status see_rise(const bj_timer_bench *bench, char *walk, size_t bytes, uint32_t *order, bool *rises,
                          bj_error *error) {
    bj_mapping flush;
    double ratios[WALK_ROUNDS];
    BJ_TRY(bj_platform_map_pages(2 * bytes, false, &flush, error));
    for (uint64_t round = 0; round < WALK_ROUNDS; round++) {
        double once = time_cold_walk(bench, walk, flush.memory, bytes, bench->seed + round, order);
        ratios[round] = time_cold_walk(bench, walk, flush.memory, 2 * bytes, bench->seed + round, order) / once;
    }
    bj_platform_unmap_pages(&flush);
    /* In three pairs of four: noise raises every second one. */
    *rises = bj_stats_quantile(ratios, WALK_ROUNDS, 0.25) > 1 + BJ_FLUSH_RISE;
    return BJ_OK;
}

/* Doubles the flush area until a cold walk gets no slower: a cache that replaces at random has no size that is sure. */
static bj_status settle_flush(bj_timer_bench *bench, bj_error *error) {
    size_t most = bench->memory_bytes / 2, bytes = bj_timer_begin_flush(&bench->caches);
    bj_mapping walk = {0};
    uint32_t *order = calloc(WALK_BYTES / bench->caches.line_bytes, sizeof *order);
    bj_status status = order != NULL ? bj_platform_map_pages(WALK_BYTES, false, &walk, error)
                                     : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a walk");
    bool rises = true;
    bench->flush_most = most >> BJ_FLUSH_DOUBLINGS > bytes ? bytes << BJ_FLUSH_DOUBLINGS : most;
    bench->flush_bytes = bytes < most ? bytes : most;
    while (status == BJ_OK && rises && 2 * bench->flush_bytes <= bench->flush_most) {
        status = see_rise(bench, walk.memory, bench->flush_bytes, order, &rises, error);
        if (status == BJ_OK && rises)
            bench->flush_bytes *= 2;
    }
    bench->sets_bytes = bench->flush_bytes;
    bench->flush_capped = bytes > most || (rises && 2 * bench->flush_bytes > most);
    bj_platform_unmap_pages(&walk);
    free(order);
    return status;
}

bj_status bj_timer_pin(const bj_timer_bench *bench, bj_error *error) {
    return bench->threads == 1 ? bj_platform_pin_thread(bench->cpus[0], error) : BJ_OK;
}

void bj_timer_let_go(const bj_timer_bench *bench) {
    bj_error ignored;
    if (bench->threads == 1 && bj_platform_confine_thread(bench->cpus, bench->cpu_count, &ignored) != BJ_OK)
        return; /* then it stays where it is */
}

static bj_status get_ready(bj_timer_bench *bench, bj_timer_clock clock, bj_error *error) {
    work_for(BJ_WARM_UP_NS);
    BJ_TRY(choose_clock(bench, clock, error));
    measure_clock(bench);
    if (bench->threads == 1)
        bj_timer_open_reference(bench->caches.line_bytes, &bench->reference);
    for (int i = 0; i < WALK_ROUNDS; i++)
        bj_timer_read_reference(&bench->reference);
    return settle_flush(bench, error);
}

bj_status bj_timer_open_bench(const bj_timer_bench_options *options, bj_timer_bench **opened, bj_error *error) {
    *opened = NULL;
    BJ_TRY(bj_platform_check_clock(error));
    bj_timer_bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL || (bench->pattern = malloc(2 * BJ_PATTERN_BYTES)) == NULL) {
        free(bench);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the timer");
    }
    bench->caches = options->caches;
    bench->threads = options->threads > 0 ? options->threads : 1;
    bench->seed = options->seed;
    bench->memory_bytes = options->memory_bytes;
    if (bench->memory_bytes == 0)
        bench->memory_bytes = (size_t)(BJ_MEMORY_SHARE * fmin((double)bj_platform_memory_limit_bytes(""), 1e15));
    make_pattern(bench);
    bj_status status = bj_platform_list_cpus(&bench->cpus, &bench->cpu_count, error);
    if (status == BJ_OK)
        status = bj_timer_pin(bench, error);
    if (status == BJ_OK) {
        status = get_ready(bench, options->clock, error);
        bj_timer_let_go(bench);
    }
    if (status != BJ_OK) {
        bj_timer_close_bench(bench);
        return status;
    }
    *opened = bench;
    return BJ_OK;
}

void bj_timer_close_bench(bj_timer_bench *bench) {
    if (bench == NULL)
        return;
    for (size_t i = 0; i < BJ_TIMER_OPERANDS_MAX + 2; i++)
        bj_platform_unmap_pages(&bench->areas[i].mapping);
    bj_timer_close_reference(&bench->reference);
    free(bench->cpus);
    free(bench->pattern);
    free(bench);
}
