/* What a program recorded of its regions (docs/regions.schema.json), read and judged. The recorder is src/lib/; here is
 * only the file. Analysis is pure; printing writes to a stream that it is handed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"
#include "diagnose/peaks.h"

#define BJ_REGIONS_NAME_ROOM 64u
#define BJ_REGIONS_LENGTHS 63u

/* Some periods of a thread in a region. Times in ns since the recorder started. */
typedef struct {
    double end_ns, calls, ns, periods;
    double least_ns, most_ns; /* of its periods' averages */
} bj_regions_bin;

typedef struct {
    size_t region, process, thread;
    double first_ns, library_ns;
    bool open;
    double unopened, backwards;
    double calls[BJ_REGIONS_LENGTHS], ns[BJ_REGIONS_LENGTHS]; /* by the logarithm of a call's ticks */
    bj_regions_bin *series;
    size_t series_count;
} bj_regions_record;

typedef struct {
    char name[BJ_REGIONS_NAME_ROOM];
    double flops, bytes, loads; /* of one call; 0: unknown */
} bj_regions_name;

typedef struct {
    char counter[40];
    double duration_ns, tick_ns, period_ns, read_ns, pair_ns, empty_ns;
    double threads, refused;
    bj_regions_name *names;
    size_t name_count;
    bj_regions_record *records;
    size_t record_count;
} bj_regions_file;

bj_status bj_regions_read(const char *path, bj_regions_file *file, bj_error *error) BJ_WARN_UNUSED;
/* `name` is for messages. */
bj_status bj_regions_parse(const char *name, const char *text, size_t length, bj_regions_file *file,
                           bj_error *error) BJ_WARN_UNUSED;
void bj_regions_free(bj_regions_file *file);

/* A value, or the reason why there is none. */
typedef struct {
    bool known;
    double ns;
    char reason[160];
} bj_regions_answer;

typedef struct {
    const bj_regions_name *name;
    size_t threads;
    double calls, total_ns;
    double mean_ns;                 /* of a call, less what an empty region reads */
    double least_ns, most_ns;       /* of all periods' averages */
    double added;                   /* what begin and end add to a call, as a share of it */
    char refused[200];              /* why its time is not to be used; "": it is */
    bj_regions_answer skip;         /* how long to skip at the start */
    bj_regions_answer settled;      /* mean of a call after that */
    bj_regions_answer settled_half; /* half of its 95% interval */
    double swing;                   /* slowest over fastest stretch after that; 0: unknown */
    bj_regions_answer skew;         /* between threads, at the same call: median */
    double skew_most_ns;
    double open, unopened, backwards;
    bool has_standing; /* against peaks (bj_regions_compare_to_peaks), of one thread */
    bj_peak_standing standing;
} bj_regions_summary;

/* Rows of the paper's table 1: calls by their length. */
typedef struct {
    double from_ticks, to_ticks; /* to 0: no end */
    double calls, ns, share;     /* of the time in all regions */
} bj_regions_row;
#define BJ_REGIONS_ROWS 6u

typedef struct {
    const bj_regions_file *file;
    bj_regions_summary *regions; /* those that were called, most time first */
    size_t count;
    double thread_ns;   /* all threads, each from its first region to its last end */
    double overhead_ns; /* of that, what begin, end and the library took */
    bj_regions_row rows[BJ_REGIONS_ROWS];
} bj_regions_report;

/* The report refers to the file. */
bj_status bj_regions_analyse(const bj_regions_file *file, bj_regions_report *report, bj_error *error) BJ_WARN_UNUSED;
void bj_regions_free_report(bj_regions_report *report);
/* What each region that declares its work, and is not refused, reaches of what a cpu attains. */
void bj_regions_compare_to_peaks(bj_regions_report *report, const bj_peaks *peaks);

/* ---- two files: least density, full density */

typedef struct {
    const bj_regions_summary *least, *full; /* NULL: not called there */
    bool ranked;
    double least_ns, full_ns;            /* what is compared: time of a call, or of all */
    double ratio, ratio_low, ratio_high; /* full over least; low and high 0: no interval */
    double lost_ns;                      /* of all calls at full density */
    char remark[240];                    /* why it is not ranked, or what the interval says */
} bj_regions_loss;

/* A call does the same work in both runs; or all calls together do, however many they are. */
typedef enum { BJ_REGIONS_BY_CALL, BJ_REGIONS_BY_TOTAL } bj_regions_basis;

/* *losses (count of both reports' regions at most) is the caller's to free: ranked ones first, largest loss first. */
bj_status bj_regions_compare(const bj_regions_report *least, const bj_regions_report *full, bj_regions_basis basis,
                             bj_regions_loss **losses, size_t *count, bj_error *error) BJ_WARN_UNUSED;

/* ---- output; write errors are the caller's to find on `out` */

void bj_regions_print(FILE *out, const bj_regions_report *report);
/* Time series of the regions: period averages in cells of equal time. */
void bj_regions_print_series(FILE *out, const bj_regions_report *report, const char *region);
void bj_regions_print_losses(FILE *out, const bj_regions_loss *losses, size_t count);
/* One object; `full` and `losses` may be NULL. *text is the caller's to free. */
bj_status bj_regions_to_json(const bj_regions_report *least, const bj_regions_report *full,
                             const bj_regions_loss *losses, size_t loss_count, char **text,
                             bj_error *error) BJ_WARN_UNUSED;
