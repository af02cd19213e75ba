/* What `tune` found, and how it is printed. */
#pragma once

#include <stdbool.h>

#include "tune/figure_12.h"
#include "tune/search.h"

/* Largest matrix that gets a kernel of its own: three of them are 24 MB of doubles. */
enum { BJ_TUNE_LARGEST = 1024 };

/* What the search has seen, by size and candidate; 0: not yet. */
typedef struct {
    double gflops[BJ_TUNE_SIZES_MAX][BJ_TUNE_CANDIDATES_MAX];
    double ratios[BJ_TUNE_SIZES_MAX][BJ_TUNE_CANDIDATES_MAX]; /* to the model's choice in the same turns */
    double chosen[BJ_TUNE_SIZES_MAX];
} bj_cli_search;

typedef struct {
    bj_tune_job job;
    bj_tune_inputs inputs;
    const char *compiler;
    bool quiet;
    bj_tune_result results[BJ_TUNE_SIZES_MAX];
    size_t result_count;
    char peers[BJ_TUNE_PEERS_MAX][40];
    size_t peer_count;
    bj_tune_point points[BJ_TUNE_POINTS_MAX]; /* figure 12 */
    size_t point_count;
    bj_cli_search *search; /* NULL: not asked for */
} bj_cli_tuning;

/* The last speed of a candidate counts: that is the one among the fastest. */
void bj_cli_note_speed(bj_cli_tuning *tuning, const bj_tune_speed *speed);
/* The search as one JSON object (new), and as tables. */
struct json_t *bj_cli_make_search(const bj_cli_tuning *tuning);
void bj_cli_print_search(const bj_cli_tuning *tuning);
bj_status bj_cli_print_tuning(const bj_cli_tuning *tuning, bool json, bj_error *error) BJ_WARN_UNUSED;
