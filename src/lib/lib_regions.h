/* Where regions are recorded: one mapping that forked processes share, so that what a child or a thread recorded is
 * there whatever becomes of it. Memory is only ever taken, by one atomic addition; no lock that a killed process could
 * hold. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "blackjack/regions.h"

/* Of the time series that a slot keeps: a bin is one period at first, and two bins become one when all are full. */
#define REGION_BINS 256u
/* Averages are taken over periods of so long: short enough for bursts (below a millisecond, as in the paper), and long
 * enough that closing one, some hundred ticks, is below a thousandth of it. */
#define REGION_PERIOD_NS 500000u
#define REGION_NAME_ROOM 64u

typedef struct {
    uint64_t end; /* the counter when its last period was closed */
    uint64_t calls, ticks, periods;
    uint64_t least, most; /* of its periods' average ticks a call, in thousandths */
} bj_region_bin;

typedef struct bj_region_record {
    bj_lib_region_slot slot; /* first: the header knows no more */
    struct bj_region_record *next;
    bj_lib_region region;
    unsigned thread; /* in order of their first region, over all processes */
    pid_t process;
    uint64_t first;        /* the counter when the thread came to this region */
    uint64_t period_calls; /* of all lengths when the current period began */
    uint64_t period_ticks;
    uint64_t library_ticks;    /* that the program waited for the library here */
    uint64_t nested, unopened; /* begins inside of itself that are open; ends without a begin */
    uint64_t version;          /* odd while the bins change */
    uint64_t bin_count, periods_a_bin;
    bj_region_bin bins[REGION_BINS];
} bj_region_record;

typedef struct {
    char name[REGION_NAME_ROOM];
    double flops, bytes, loads;
    int ready;
} bj_region_name;

typedef struct {
    size_t room, used; /* bytes of the whole mapping, this struct included */
    pid_t root;        /* the process that writes the file */
    int root_done;     /* it has: whoever ends later writes again */
    uint64_t start_ticks, start_ns, period_ticks;
    uint64_t pair_count, pair_ticks, read_count, read_ticks, empty_ticks; /* what it costs, see measure_costs() */
    unsigned threads, names;
    uint64_t refused; /* begins that found no memory */
    bj_region_record *records;
    bj_region_name name[BJ_LIB_REGIONS_MOST];
} bj_region_arena;

/* Made at the first call; NULL: no memory. */
bj_region_arena *bj_inside_open_regions(void);
/* Zeroed and touched; NULL: no room. */
void *bj_inside_take_region_memory(bj_region_arena *arena, size_t bytes);
/* As JSON, the caller's to free; NULL: no memory. */
char *bj_inside_regions_to_json(bj_region_arena *arena, size_t *length);
