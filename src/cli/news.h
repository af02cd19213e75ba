/* What the child processes of `time` and `tune` send. A kernel or a library of somebody else's may have written
 * anywhere in there, so what comes is looked at as any input is: numbers that are indices, names that must end, values
 * of enums. */
#pragma once

#include "cli/time_request.h"
#include "cli/tune_output.h"
#include "platform/child.h"

/* ---- time */

typedef enum {
    BJ_TIME_NEWS_BENCH,   /* it is open: clock and flush area */
    BJ_TIME_NEWS_CHECK,   /* the call of a kernel that shows whether it stays inside its operands begins */
    BJ_TIME_NEWS_SAMPLE,  /* a sample of a kernel begins, or it is loaded */
    BJ_TIME_NEWS_RESTS,   /* no kernel is called for a while */
    BJ_TIME_NEWS_TIMING,  /* of a kernel */
    BJ_TIME_NEWS_RATIO,   /* of both */
    BJ_TIME_NEWS_REFUSED, /* this job cannot be timed, and why */
    BJ_TIME_NEWS_FAILED   /* nothing can */
} bj_time_news_kind;

typedef struct {
    bj_time_news_kind kind;
    bj_status status;
    size_t job, kernel, flush_bytes;
    char clock_reason[120];
    bj_error error;
    bj_timing timing;
    bj_answer ratio;
} bj_time_news;
_Static_assert(sizeof(bj_time_news) <= BJ_CHILD_MESSAGE_MOST, "one message");

/* False: it is none of these, or of no such job or kernel. */
bool bj_cli_read_time_news(const void *bytes, size_t count, size_t jobs, size_t kernels, bj_time_news *news);

/* ---- tune */

typedef enum {
    BJ_TUNE_NEWS_STEP,
    BJ_TUNE_NEWS_RESULT,
    BJ_TUNE_NEWS_SPEED,
    BJ_TUNE_NEWS_POINT,
    BJ_TUNE_NEWS_PEERS,
    BJ_TUNE_NEWS_FAILED
} bj_tune_news_kind;

typedef struct {
    bj_tune_news_kind kind;
    bj_status status;
    size_t index; /* of the result */
    char text[120];
    bj_error error;
    bj_tune_result result;
    bj_tune_speed speed;
    bj_tune_point point;
    size_t peer_count;
    char peers[BJ_TUNE_PEERS_MAX][40];
} bj_tune_news;
_Static_assert(sizeof(bj_tune_news) <= BJ_CHILD_MESSAGE_MOST, "one message");

/* False: it is none of these, or of no such size. */
bool bj_cli_read_tune_news(const void *bytes, size_t count, size_t sizes, bj_tune_news *news);
