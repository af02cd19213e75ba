/* The plan of a timing, as pure data: areas, and the order in which their ranges are touched before the timed call.
 *
 * After Whaley and Castaldo, "Achieving accurate and context-sensitive timing for code optimization" (2008): cold
 * operands are initialised before the flush, resident ones after it (3, 3.1); where one call is too short for the
 * clock, sets of operands fill an area that flushes itself, and are visited against the kernel's own order (4). What is
 * asked for in a level and no nearer is settled, and a sweeper that is at home in that level pushes it out of the
 * nearer ones. Nothing here reads a clock or memory: run.h executes a plan, the tests replay it in the simulator. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "data/answer.h"

enum {
    BJ_TIMER_OPERANDS_MAX = 16,
    BJ_TIMER_LEVELS_MAX = 8,
    BJ_TIMER_TOUCHES_MAX = 4 * BJ_TIMER_OPERANDS_MAX,
    BJ_TIMER_NAME_ROOM = 24
};
/* Areas begin at a page, so nothing coarser can be promised. */
#define BJ_TIMER_ALIGN_MAX ((size_t)4096)

typedef enum { BJ_DIRECTION_IN, BJ_DIRECTION_OUT, BJ_DIRECTION_INOUT } bj_timer_direction;
/* In which the kernel walks over an operand. */
typedef enum { BJ_ACCESS_UP, BJ_ACCESS_DOWN, BJ_ACCESS_RANDOM } bj_timer_access;
/* Where an operand is when the kernel is called; above zero: in that level and no nearer. */
enum { BJ_RESIDENT_UNSAID = -2, BJ_RESIDENT_WARM = -1, BJ_RESIDENT_COLD = 0 };

typedef struct {
    char name[BJ_TIMER_NAME_ROOM];
    size_t bytes;
    bj_timer_direction direction;
    bj_timer_access access;
    int residency;
    size_t align;    /* a power of two; 0: the line */
    size_t misalign; /* a power of two above align that its address must not be a multiple of; 0: any */
} bj_timer_operand;

/* What a plan must know of the machine. Of level n at n - 1. */
typedef struct {
    size_t level_count;
    size_t fits_bytes[BJ_TIMER_LEVELS_MAX];  /* what surely fits */
    size_t holds_bytes[BJ_TIMER_LEVELS_MAX]; /* what may still be there */
    double latency_ns[BJ_TIMER_LEVELS_MAX];  /* NaN: unknown */
    size_t line_bytes;
    unsigned last_ways; /* of the last level; 0: unknown */
} bj_timer_caches;

typedef enum {
    BJ_TOUCH_WRITE, /* initialise */
    BJ_TOUCH_READ,
    BJ_TOUCH_DROP_LINES, /* out of all caches, by an instruction for it */
    BJ_TOUCH_WRITE_SETS  /* all sets of the operands that move, in visiting order */
} bj_timer_action;

/* Areas: those of the operands by their number, then these two. */
#define BJ_AREA_FLUSH(plan) ((plan)->operand_count)
#define BJ_AREA_SWEEPER(plan) ((plan)->operand_count + 1)

typedef struct {
    bj_timer_action action;
    size_t area, offset, bytes;
    bj_timer_access access;
    unsigned passes;
} bj_timer_touch;

typedef struct {
    size_t bytes;     /* of the whole area; 0: none is needed */
    size_t first;     /* offset of the operand in the set that is visited first */
    ptrdiff_t stride; /* from one set to the one visited next; 0: it stays */
} bj_timer_area;

typedef struct {
    bj_timer_operand operands[BJ_TIMER_OPERANDS_MAX];
    size_t operand_count;
    bj_timer_area areas[BJ_TIMER_OPERANDS_MAX + 2];
    size_t sets;   /* copies of the operands that move; 1: none does */
    bool shuffled; /* sets are visited at random */
    bj_timer_touch touches[BJ_TIMER_TOUCHES_MAX];
    size_t touch_count;
} bj_timer_plan;

typedef struct {
    const bj_timer_operand *operands;
    size_t operand_count;
    int context; /* residency of the operands that say none */
    const bj_timer_caches *caches;
    size_t flush_bytes; /* that are read before a call: bj_timer_begin_flush(), or what it has grown to */
    size_t sets_bytes;  /* that many calls pass through before they come back; likewise */
    bool many_calls;    /* in one timing */
    bool by_lines;      /* flush with line instructions, not by an area: one call, cold operands */
    unsigned threads;   /* of the kernel; 0: one */
} bj_timer_request;

/* The cache sizes among the answers of a profile; BJ_ERR_FAILED: it has none. */
bj_status bj_timer_read_caches(const bj_answers *answers, bj_timer_caches *caches, bj_error *error) BJ_WARN_UNUSED;
/* Where the flush area begins to grow: size of the last level times its ways, four at most. */
size_t bj_timer_begin_flush(const bj_timer_caches *caches);
/* Names what is wrong with an operand: BJ_ERR_USAGE. */
bj_status bj_timer_check_operand(const bj_timer_operand *operand, bj_error *error) BJ_WARN_UNUSED;
/* BJ_ERR_USAGE: the operands cannot be where they are asked to be, and why. */
bj_status bj_timer_make_plan(const bj_timer_request *request, bj_timer_plan *plan, bj_error *error) BJ_WARN_UNUSED;
/* Whether any operand is to be in a level and no nearer. */
bool bj_timer_has_level(const bj_timer_plan *plan);
/* "cold", "warm", "L2"; false: no such name. */
bool bj_timer_parse_residency(const char *text, int *residency);
void bj_timer_name_residency(int residency, char *text, size_t room);
