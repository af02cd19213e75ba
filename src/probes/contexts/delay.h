/* The first delay: up to how many threads of equal work nobody waits (blackjackbench-2012, 3.4).
 *
 * Beyond N contexts the time of all grows as M / N where the scheduler shares out the waiting, and jumps where threads
 * stay where they are, or where siblings share an execution unit. Below N it may creep up as well: clocks fall when
 * more cores are at work. So a point is delayed when the time has grown by more than the cube root of what the threads
 * have, over the point before it or over the last one that is an eighth smaller: creeping is far below that, waiting
 * far above. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    double contexts;      /* whole if x is */
    size_t before, after; /* the last point that is not delayed, and the first one that is */
    bool steep;           /* a jump: the answer is x[before], which may be anything up to the next point's */
} bj_delay;

/* x ascending, y the times, usable if finite and > 0; y is made monotone in place (4.1 of the paper). False: nobody
 * waits up to the last point (after = 0), or threads wait from the first point on (after > 0). */
bool bj_contexts_find_first_delay(const double *x, double *y, size_t count, bj_delay *delay);
