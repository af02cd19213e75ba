/* Times regions of a program with as little disturbance as can be, and keeps what happened when.
 *
 *     #include <blackjack/regions.h>
 *
 *     bj_lib_region solve = bj_lib_name_region("solve");   once, outside of what is timed
 *     ...
 *     bj_lib_begin_region(solve);                           any thread, as often as you like
 *     ...
 *     bj_lib_end_region(solve);                             the same thread
 *
 * Run the program with BLACKJACK_REGIONS=FILE (%p: its process number), or call bj_lib_write_regions(), and read the
 * file with `blackjack regions FILE`. Link with -lblackjack; nothing is preloaded. docs/regions.md says the rest.
 *
 * Between begin and end nothing is allocated, locked or asked of the system. The first begin of a region by a thread,
 * and the first end after each half millisecond, call the library: the first before the counter is read, the other
 * after. Regions of different names may be nested; one inside of itself counts once, from the outermost begin to its
 * end. Wants gcc, clang or a compiler that knows their builtins. The layout below is part of the library's interface.
 */
#ifndef BLACKJACK_REGIONS_H
#define BLACKJACK_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "blackjack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* So many names; a name more gets this number, for which begin and end do nothing. */
#define BJ_LIB_REGIONS_MOST 256u

typedef unsigned bj_lib_region;

/* What one thread knows of one region. Written by that thread alone, with relaxed atomics, so that the file may be
 * written while others go on. 64 lengths: calls of 2^i to 2^(i+1) - 1 ticks and what they took. */
typedef struct {
    uint64_t began;      /* the counter at begin; 0: not open */
    uint64_t period_end; /* from here on, end calls the library */
    struct {
        uint64_t calls, ticks;
    } lengths[64];
} bj_lib_region_slot;

/* ---- what a program calls besides begin and end */

/* The number of a region; the same name gives the same number. Letters, digits and what else is printable, up to 63
 * bytes. */
BJ_LIB_API bj_lib_region bj_lib_name_region(const char *name);
/* What one call of the region does, for rates in the report; 0: unknown. */
BJ_LIB_API void bj_lib_declare_work(bj_lib_region region, double flops, double bytes);
/* And how many loads that is. */
BJ_LIB_API void bj_lib_declare_loads(bj_lib_region region, double loads);
/* Writes what all threads of this process, and of those that it forked, have recorded so far. */
BJ_LIB_API bj_lib_result bj_lib_write_regions(const char *path, bj_lib_error *error);

/* ---- what the inline functions below stand on; not to be called */

BJ_LIB_API extern __thread bj_lib_region_slot **bj_lib_region_slots __attribute__((tls_model("initial-exec")));
/* The slot to write to; NULL: there is nothing to write. */
BJ_LIB_API bj_lib_region_slot *bj_lib_enter_region(bj_lib_region region);
BJ_LIB_API void bj_lib_leave_region(bj_lib_region region, uint64_t now);
/* Nanoseconds, where no builtin reads a counter. */
BJ_LIB_API uint64_t bj_lib_read_clock(void);

#if defined(__x86_64__) || defined(__i386__)
#define BJ_LIB_COUNTER "time-stamp counter"
#define BJ_LIB_READ_COUNTER() ((uint64_t)__builtin_ia32_rdtsc())
#elif defined(__powerpc__)
#define BJ_LIB_COUNTER "time base"
#define BJ_LIB_READ_COUNTER() ((uint64_t)__builtin_ppc_get_timebase())
#else
#define BJ_LIB_COUNTER "clock_gettime"
#define BJ_LIB_READ_COUNTER() bj_lib_read_clock()
#endif

#define BJ_LIB_SELDOM(condition) __builtin_expect(!!(condition), 0)
#define BJ_LIB_LOAD(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define BJ_LIB_STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)

static inline __attribute__((always_inline)) void bj_lib_begin_region(bj_lib_region region) {
    bj_lib_region_slot *slot = bj_lib_region_slots[region];
    if (BJ_LIB_SELDOM(slot == NULL || BJ_LIB_LOAD(slot->began) != 0)) {
        slot = bj_lib_enter_region(region);
        if (slot == NULL)
            return;
    }
    /* Last of all: nothing of ours is inside. */
    BJ_LIB_STORE(slot->began, BJ_LIB_READ_COUNTER());
}

static inline __attribute__((always_inline)) void bj_lib_end_region(bj_lib_region region) {
    uint64_t now = BJ_LIB_READ_COUNTER(); /* first of all */
    bj_lib_region_slot *slot = bj_lib_region_slots[region];
    if (BJ_LIB_SELDOM(slot == NULL || now >= BJ_LIB_LOAD(slot->period_end) || BJ_LIB_LOAD(slot->began) == 0)) {
        bj_lib_leave_region(region, now);
        return;
    }
    /* A counter that went backwards ends in the last of the lengths, where it spoils nothing. */
    uint64_t ticks = now - BJ_LIB_LOAD(slot->began);
    unsigned length = 63u - (unsigned)__builtin_clzll(ticks | 1u);
    BJ_LIB_STORE(slot->lengths[length].calls, BJ_LIB_LOAD(slot->lengths[length].calls) + 1);
    BJ_LIB_STORE(slot->lengths[length].ticks, BJ_LIB_LOAD(slot->lengths[length].ticks) + ticks);
    BJ_LIB_STORE(slot->began, (uint64_t)0);
}

#ifdef __cplusplus
}
#endif

#endif
