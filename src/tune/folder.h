/* The kernels as files: a folder that builds by itself, and the same text for our own timing. */
#pragma once

#include "base/output.h"
#include "tune/kernel_text.h"

enum { BJ_TUNE_SIZES_MAX = 64, BJ_TUNE_NAME_ROOM = 40 };

/* One operation: the general kernel, one for each size, and what they are compared with. */
typedef struct {
    const char *name; /* "schur", "gemm" */
    bj_tune_machine machine;
    bj_tune_model model;
    bool subtract;
    size_t sizes[BJ_TUNE_SIZES_MAX];
    size_t size_count;
} bj_tune_job;

/* "gemm_64"; without a size "gemm". */
void bj_tune_name_kernel(const bj_tune_job *job, size_t n, char name[BJ_TUNE_NAME_ROOM]);

/* What a file holds besides the functions themselves. */
typedef enum { BJ_TUNE_FOR_USERS, BJ_TUNE_FOR_TIMING } bj_tune_purpose;

void bj_tune_write_general_file(FILE *out, const bj_tune_job *job, bj_tune_purpose purpose);
void bj_tune_write_fixed_file(FILE *out, const bj_tune_job *job, bj_tune_purpose purpose);
/* The kernel of 2012 and a plain triple loop: NAME_2012_timed and NAME_plain_timed. */
void bj_tune_write_rivals_file(FILE *out, const bj_tune_job *job);
/* NAME.c, NAME_fixed.c, NAME.h, check.c and a Makefile. */
enum { BJ_TUNE_FILES = 5 };
typedef struct {
    bj_output *files[BJ_TUNE_FILES];
} bj_tune_folder;
/* Before anything is timed: makes the folder, unless it is there, and finds the places of its files. One whose files of
 * these names are not of ours (by its Makefile) is refused, unless they may be replaced; what comes there meanwhile,
 * too. BJ_ERR_USAGE says which. To be closed, also after an error. */
bj_status bj_tune_open_folder(const char *folder, const bj_tune_job *job, bool replace, bj_tune_folder *opened,
                              bj_error *error) BJ_WARN_UNUSED;
bj_status bj_tune_write_folder(const bj_tune_folder *opened, const bj_tune_job *job, const char *compiler,
                               bj_error *error) BJ_WARN_UNUSED;
void bj_tune_close_folder(bj_tune_folder *opened);
