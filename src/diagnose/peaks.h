/* Attainable peaks (multicore-bottlenecks-2011, 3.1.2): what a program can reach here in instructions, flops and loads
 * a cycle and in bytes a second, from what the probes measured of plain C, and how near a program came.
 *
 * Advertised peaks are not reached by programs; these were, each by a loop of one kind. The mix of a program ties its
 * three rates together, so that at most one of them comes near its peak. Pure. */
#pragma once

#include <stdbool.h>

#include "data/answer.h"

enum { BJ_PEAKS_LEVELS = 8 };

/* A roof of a roofline: bytes a second from there. */
typedef struct {
    char from[16]; /* "L2", "memory" */
    double cpu_gbs;
    double all_gbs; /* NaN: not known */
    double ridge;   /* flops a byte at which one cpu's flops, not these bytes, become the limit; NaN: no flops known */
} bj_peak_roof;

typedef struct {
    double clock_ghz; /* NaN, here and below: the answers do not tell */
    /* Of one cpu. */
    double instructions_per_cycle;
    char instructions_of[64]; /* the answer that says so, as the next */
    double flops_per_cycle;
    char flops_of[64];
    double loads_per_cycle;
    double gflops;
    size_t cpus; /* that all_gbs is of */
    bj_peak_roof roofs[BJ_PEAKS_LEVELS];
    size_t roof_count;
} bj_peaks;

/* cpus: how many read at once for memory.full.read_gbs; 0: not known. */
void bj_diagnose_find_peaks(const bj_answers *answers, size_t cpus, bj_peaks *peaks);

/* What a program did, and what share of the peaks that is. */
typedef struct {
    double flops, bytes, loads, seconds; /* NaN: not declared */
    double cpus;
} bj_peak_work;

typedef struct {
    double gflops, gbs, flops_per_cycle, loads_per_cycle; /* of one cpu; NaN: not known */
    double flops_share, bytes_share, loads_share;         /* of what one cpu attains alone */
    double full_share;                                    /* of what one cpu attains of memory when all of them read */
    double roof_share;                                    /* of the lower of both roofs at the program's flops a byte */
    bool below_ridge;                                     /* memory's roof is the lower one */
} bj_peak_standing;

void bj_diagnose_compare_to_peaks(const bj_peaks *peaks, const bj_peak_work *work, bj_peak_standing *standing);
