/* What `tune` found, and how it is printed. */
#pragma once

#include <stdbool.h>

#include "tune/measure.h"

/* Largest matrix that gets a kernel of its own: three of them are 24 MB of doubles. */
enum { BJ_TUNE_LARGEST = 1024 };

typedef struct {
    bj_tune_job job;
    bj_tune_inputs inputs;
    const char *compiler;
    bool quiet;
    bj_tune_result results[BJ_TUNE_SIZES_MAX];
    size_t result_count;
    char peers[BJ_TUNE_PEERS_MAX][40];
    size_t peer_count;
} bj_cli_tuning;

bj_status bj_cli_print_tuning(const bj_cli_tuning *tuning, bool json, bj_error *error) BJ_WARN_UNUSED;
