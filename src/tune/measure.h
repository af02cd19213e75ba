/* Builds the kernels of a job, verifies them, and times them beside other libraries in one interleaved run. */
#pragma once

#include "timer/timing.h"
#include "tune/folder.h"
#include "tune/peers.h"

/* Which of a size's timings: ours, then the peers. */
enum { BJ_TUNE_GENERAL, BJ_TUNE_FIXED, BJ_TUNE_2012, BJ_TUNE_PLAIN, BJ_TUNE_PEERS };
enum { BJ_TUNE_WARM, BJ_TUNE_COLD, BJ_TUNE_CONTEXTS };

typedef struct {
    size_t n;
    double gflops[BJ_TUNE_CONTEXTS][BJ_TUNE_PEERS + BJ_TUNE_PEERS_MAX]; /* NaN: not timed */
} bj_tune_result;

typedef struct {
    char general[256], fixed[256], rivals[256]; /* shared objects */
} bj_tune_objects;

typedef struct {
    const bj_tune_job *job;
    bj_timer_build build;
    bool contexts[BJ_TUNE_CONTEXTS]; /* that are asked for */
    const char *const *against;      /* libraries that the user names */
    size_t against_count;
    bj_timer_caches caches;
    uint64_t seed;
    /* What happens, before it does; may be NULL. */
    void (*say)(void *context, const char *what);
    void (*take)(void *context, size_t index, const bj_tune_result *result);
    void *context;
} bj_tune_measuring;

bj_status bj_tune_build_objects(const bj_tune_measuring *measuring, bj_tune_objects *objects,
                                bj_error *error) BJ_WARN_UNUSED;
/* In a process that may be lost: the kernels are called here. Peers that disagree with a plain computation are an error
 * as ours are: BJ_ERR_FAILED. */
bj_status bj_tune_measure(const bj_tune_measuring *measuring, const bj_tune_objects *objects, bj_tune_peers *peers,
                          bj_error *error) BJ_WARN_UNUSED;
/* One source, compiled to a shared object; its path goes to library[256]. */
bj_status bj_tune_build_one(const bj_timer_build *build, const char *file, unsigned number, const char *symbol,
                            const char *text, size_t length, char *library, bj_error *error) BJ_WARN_UNUSED;
/* NAME_timed of an object, compared with a plain computation. */
bj_status bj_tune_load_timed(const bj_tune_measuring *measuring, const char *library, const char *name, size_t n,
                             bj_kernel_function **kernel, bj_error *error) BJ_WARN_UNUSED;

/* Products of one size by some kernels, in turns; at most BJ_TIMING_KERNELS_MAX. */
typedef struct {
    bj_tune_type type;
    size_t n;
    bj_kernel_function *const *kernels;
    size_t count;
    int residency;
} bj_tune_request_of_size;

/* gflops[]: NaN where no time was found. */
bj_status bj_tune_time_products(bj_timer_bench *bench, const bj_tune_request_of_size *asked, double *gflops,
                                bj_error *error) BJ_WARN_UNUSED;
