/* What `blackjack time` is asked for. */
#pragma once

#include "cli/cli.h"
#include "timer/timing.h"

enum { BJ_TIME_KERNELS_MAX = 2, BJ_TIME_CONTEXTS_MAX = 8, BJ_TIME_SIZES_MAX = 200 };

typedef struct {
    const char *given; /* "dot.c:dot" */
    char *file;        /* owned */
    const char *symbol;
    bool is_source;
    char *library; /* owned: what is loaded */
} bj_time_kernel;

typedef struct {
    bj_timer_operand operand; /* but for its bytes */
    const char *bytes;        /* an expression */
    size_t bytes_length;
} bj_time_operand;

typedef struct {
    bj_time_kernel kernels[BJ_TIME_KERNELS_MAX];
    size_t kernel_count;
    bj_time_operand operands[BJ_TIMER_OPERANDS_MAX];
    size_t operand_count;
    uint64_t sizes[BJ_TIME_SIZES_MAX]; /* n */
    size_t size_count;
    int contexts[BJ_TIME_CONTEXTS_MAX];
    size_t context_count;
    bj_timer_clock clock;
    unsigned threads, samples;
    double budget_s; /* 0: none */
    double limit_s;  /* of one call */
    const char *profile, *compiler;
    bool json, csv, quiet;
    uint64_t seed;
} bj_time_request;

bj_status bj_cli_read_time_request(const bj_cli_arguments *arguments, bj_time_request *request,
                                   bj_error *error) BJ_WARN_UNUSED;
void bj_cli_free_time_request(bj_time_request *request);
/* The operands for one n. */
bj_status bj_cli_size_operands(const bj_time_request *request, uint64_t n, bj_timer_operand *operands,
                               bj_error *error) BJ_WARN_UNUSED;
