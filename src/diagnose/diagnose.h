/* What a program collides with as a chip fills up (multicore-bottlenecks-2011), by experiment: ARCHITECTURE.md,
 * "Diagnosis", has the reasoning. Measuring asks the machine; the analysis is pure. */
#pragma once

#include <stdbool.h>

#include "machine/machine.h"
#include "probes/kit/estimate.h"

/* ---- what is asked for */

/* The cpus of one chip, one of each core, and what is known of its last cache. */
typedef struct {
    int *cpus; /* the first one is where the program is at least density; owned */
    size_t count;
    size_t chips;         /* that are like this one; 1: it is the only one */
    int *others;          /* cpus of the other chips, chip by chip, count of each; owned */
    double cache_bytes;   /* of the last cache that cpus of the chip share; else of the last there is */
    size_t cache_sharers; /* cpus of the chip, of those above, that share it with the first */
    int cache_level;
    double line_bytes;
} bj_diagnose_chip;

/* From a profile's answers (cache, sharing, topology); only cpus that are `allowed`. */
bj_status bj_diagnose_find_chip(const bj_answers *answers, const int *allowed, size_t allowed_count,
                                bj_diagnose_chip *chip, bj_error *error) BJ_WARN_UNUSED;
/* Leaves so many cpus of each chip, the first ones, at least two: those that a program can use. */
void bj_diagnose_narrow_chip(bj_diagnose_chip *chip, size_t count);
void bj_diagnose_free_chip(bj_diagnose_chip *chip);

enum { BJ_DIAGNOSE_DENSITIES = 64, BJ_DIAGNOSE_ROUNDS = 64, BJ_DIAGNOSE_LEVELS = 4 };

typedef struct {
    bj_machine *machine;
    const bj_diagnose_chip *chip;
    /* Ascending; the first is the least density and the last is full, for the analysis. */
    size_t densities[BJ_DIAGNOSE_DENSITIES];
    size_t density_count;
    bool strong; /* the work of all copies together stays the same: one copy over several cpus */
    /* Cpus that the one copy always has, spread over total / density chips; 0: it has as many as the density. */
    size_t total_cpus;
    bool times_only;   /* densities alone, for comparing variants */
    unsigned rounds;   /* at most BJ_DIAGNOSE_ROUNDS */
    double deadline_s; /* by the machine's clock */
    double least_s;    /* a program that takes less cannot be timed */
    uint64_t seed;
    /* After each trial; true: stop. NULL: nobody listens. */
    bool (*report)(void *context, double fraction);
    void *context;
} bj_diagnose_request;

/* ---- what is measured */

/* On the first cpu. */
typedef enum {
    BJ_SUBJECT_NULL,      /* registers only: what the company does undisturbed */
    BJ_SUBJECT_PROGRAM,   /* seconds */
    BJ_SUBJECT_WALK,      /* most of the last shared cache at random; ns an access */
    BJ_SUBJECT_LINES,     /* lines in order; ns a byte, as the next */
    BJ_SUBJECT_SCATTERED, /* lines over many rows */
    BJ_SUBJECTS
} bj_subject;

/* On all other cpus of the chip. */
typedef enum {
    BJ_BESIDE_IDLE,
    BJ_BESIDE_NULL,
    BJ_BESIDE_CACHE, /* walks through so many times the cache (bj_diagnose_cache_shares), as the next ones */
    BJ_BESIDE_CACHE_LAST = BJ_BESIDE_CACHE + BJ_DIAGNOSE_LEVELS - 1,
    BJ_BESIDE_HALF, /* lines in order, at half of what they can */
    BJ_BESIDE_HALF_SCATTERED,
    BJ_BESIDE_FULL, /* lines in order, as many as they can */
    BJ_BESIDE_FULL_SCATTERED,
    BJ_BESIDE_TWINS, /* lines in order at the program's own rate */
    BJ_BESIDE_TWINS_SCATTERED,
    BJ_BESIDE_TWIN_WALKS, /* walks that hurt the reference walk as much as copies of the program do */
    BJ_BESIDE_COPIES,     /* copies of the program; beside the program that is full density */
    BJ_COMPANIES
} bj_company;

extern const double bj_diagnose_cache_shares[BJ_DIAGNOSE_LEVELS];

typedef struct {
    double own;    /* time of the subject; NaN: not measured */
    double theirs; /* of the company: GB/s in all, or ns an access of a walk, the mean */
} bj_diagnose_sample;

typedef struct {
    bj_diagnose_sample cells[BJ_SUBJECTS][BJ_COMPANIES];
    double densities[BJ_DIAGNOSE_DENSITIES]; /* seconds: the median copy */
    bj_trial_notes notes[BJ_DIAGNOSE_DENSITIES];
} bj_diagnose_round;

typedef struct {
    bj_diagnose_round *rounds; /* owned */
    size_t round_count;
    bj_diagnose_round *explored; /* rounds in which only the program's rate was looked for; owned */
    size_t explored_count;
    /* What exploring found of the twins; NaN: there were none. */
    double twin_gbs;   /* of each that moves lines */
    bool twins_rest;   /* the program draws so little, or nothing that could be seen, that they hardly move any */
    double twin_share; /* of the cache, that walks of all of them go through */
    bool walk_is_past; /* copies hurt the reference walk more than any walks that were tried */
    bool out_of_time;
} bj_diagnose_samples;

/* BJ_ERR_INTERRUPTED when stopped, also by the command's own is_stopped. */
bj_status bj_diagnose_measure(const bj_diagnose_request *request, bj_diagnose_samples *samples,
                              bj_error *error) BJ_WARN_UNUSED;
void bj_diagnose_free_samples(bj_diagnose_samples *samples);

/* ---- what is concluded */

typedef enum { BJ_RESOURCE_CACHE, BJ_RESOURCE_BANDWIDTH, BJ_RESOURCE_ROWS, BJ_RESOURCES } bj_resource;
typedef enum {
    BJ_VERDICT_CACHE,
    BJ_VERDICT_BANDWIDTH,
    BJ_VERDICT_ROWS,
    BJ_VERDICT_OTHER,
    BJ_VERDICT_NONE,
    BJ_VERDICT_UNDETERMINED,
    BJ_VERDICTS
} bj_verdict;

/* "dram_rows" */
const char *bj_diagnose_name_verdict(bj_verdict verdict);

typedef struct {
    size_t cpus;
    bj_estimate seconds, efficiency;
    bj_trial_notes notes; /* medians */
} bj_diagnose_density;

/* What the processor's counters say by themselves, as the paper reads them (3.2 and 3.4). They are a witness: the
 * verdict does not depend on them. */
typedef struct {
    bool counted;            /* false: all below means nothing */
    bj_estimate miss_growth; /* misses of the last level an instruction, at full density over least density */
    bj_estimate miss_gbs;    /* of a cpu at least density: misses times a line */
    /* Cache, bandwidth, none (neither of both), or undetermined: too uneven to tell. */
    bj_verdict points_to;
} bj_diagnose_witness;

typedef struct {
    double pressure; /* bytes of cache, or GB/s that the antagonists achieved */
    double achieved; /* of a cache: ns an access of the antagonists */
    bj_estimate slowdown;
} bj_diagnose_point;

/* Losses as logarithms of slowdowns, which add up. */
typedef struct {
    double parts[BJ_RESOURCES]; /* pressure times sensitivity */
    double other;               /* null actors against idle cpus */
    double loss;                /* full density against null actors */
    double residual;            /* what the parts do not predict of it */
} bj_diagnose_closure;

typedef struct {
    bj_diagnose_density densities[BJ_DIAGNOSE_DENSITIES];
    size_t density_count;
    bj_diagnose_point points[BJ_RESOURCES][BJ_DIAGNOSE_LEVELS];
    size_t point_count[BJ_RESOURCES];
    /* Slowdowns: of each reference (walk, lines, scattered), by what stood for each resource, and beside copies. */
    double cross_talk[3][BJ_RESOURCES], seen[3];
    double pressure[BJ_RESOURCES]; /* of the copies, as shares of what stood for each resource */
    double condition;              /* of the references as a gauge of the pressures */
    double own_cache_bytes;        /* that walks go through which press on the cache like the copies */
    bool walk_is_past;             /* or would have to, and more than was tried */
    double demand_gbs;             /* of the program at least density; NaN: could not be told */
    double total_gbs, share_gbs;   /* what the chip's memory gives in all, and a cpu's part of it */
    double scattered_gbs;          /* the same of scattered lines */
    bj_diagnose_closure closure;
    bj_estimate null_cost; /* time beside null actors over that beside idle cpus */
    bj_diagnose_witness witness;
    bj_verdict verdict;
    bj_confidence confidence;
    double support[BJ_VERDICTS]; /* share of the resampled rounds that say so */
    char reason[480];
} bj_diagnosis;

/* Pure. */
bj_status bj_diagnose_analyse(const bj_diagnose_request *request, const bj_diagnose_samples *samples,
                              bj_diagnosis *diagnosis, bj_error *error) BJ_WARN_UNUSED;
/* Fills the witness; the rest of the diagnosis is there already. Pure, as the next. */
bj_status bj_diagnose_hear_witness(const bj_diagnose_request *request, const bj_diagnose_samples *samples,
                                   bj_diagnosis *diagnosis, bj_error *error) BJ_WARN_UNUSED;
/* What the rounds (by index; NULL: the first `count`) say of one cell: the median. `theirs`: of the company. */
double bj_diagnose_cell(const bj_diagnose_round *rounds, const size_t *index, size_t count, bj_subject subject,
                        bj_company company, bool theirs);
/* The program's rate at least density from those rounds; NaN: memory never was full beside it, so that it cannot be
 * told, and copies of it are unlikely to fill it. */
double bj_diagnose_find_demand(const bj_diagnose_round *rounds, const size_t *index, size_t count);
