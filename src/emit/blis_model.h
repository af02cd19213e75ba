/* The analytical model of Low, Igual, Smith and Quintana-Orti, "Analytical Modeling Is Enough for High-Performance
 * BLIS" (ACM TOMS 43, 2016): block sizes of a matrix product from latencies and cache geometry. */
#pragma once

#include <stdbool.h>

/* MR and NR: registers hold far less, so that more comes from a wrong number. */
enum { BJ_BLIS_KERNEL_MOST = 256 };

typedef struct {
    double size_bytes;
    double ways; /* 0: not known */
} bj_blis_cache;

typedef struct {
    unsigned element_bytes;
    unsigned vector_elements;
    unsigned registers;      /* vectors that live in registers; 0: not known */
    double latency_cycles;   /* of a multiply-add */
    double per_cycle;        /* multiply-adds that can start in a cycle */
    bj_blis_cache caches[3]; /* first to third level */
    unsigned levels;         /* whose size is known, from the first: 0 to 3; deeper ones do not count */
    bool more_levels;        /* there may be a further one that is not known; with 2 levels that leaves NC open */
    unsigned rows, columns;  /* MR and NR when the kernel is given; 0: to be found */
} bj_blis_machine;

typedef struct {
    unsigned mr, nr, kc, mc, nc; /* 0: a level that it follows from is not known */
    double in_flight;            /* elements that must be in work at once */
    unsigned registers;          /* that the kernel takes: accumulators, a column of A, an element of B */
    bool is_bounded;             /* registers allow no kernel with as many elements in work */
    double ways_of_a;            /* of the first level, for the micro-panel of A */
    bool half_rule[3];           /* the level's associativity is not known, and half of it is taken */
} bj_blis_blocks;

/* As far as the levels are known. False: those are too small for any block; with mr 0: the kernel would be larger than
 * any. */
bool bj_blis_find_blocks(const bj_blis_machine *machine, bj_blis_blocks *blocks);
