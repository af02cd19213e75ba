/* Messages between two ranks, each wait with a limit; and orders from rank 0. Internal to src/comm. */
#pragma once

#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Nobody is waited for longer than this within an experiment. */
#define BJ_COMM_LIMIT_S 8.0
/* Rank 0 hears the report of the one that waited in vain. */
#define BJ_COMM_REPORT_LIMIT_S 12.0

enum { BJ_COMM_TAG_ORDER = 1, BJ_COMM_TAG_REPORT, BJ_COMM_TAG_READY, BJ_COMM_TAG_GO, BJ_COMM_TAG_NODE };

/* Stay: rank 0 is there, and has no work for us. */
typedef enum { BJ_COMM_QUIT, BJ_COMM_SEND_FIRST, BJ_COMM_ANSWER, BJ_COMM_STAY } bj_comm_role;

typedef struct {
    int role, partner;
    unsigned repetitions, number; /* of the experiment */
    unsigned pairs;               /* at once */
    size_t bytes;
} bj_comm_order;

enum { BJ_COMM_REPETITIONS_MOST = 16 };

typedef struct {
    unsigned number;
    int silent; /* rank that did not answer; -1: all went well */
    double ns[BJ_COMM_REPETITIONS_MOST];
} bj_comm_report;

/* One side of a pair: warm-up, the barrier by rank 0, timed batches. What arrives in the buffer is what is sent back:
 * a message that nobody writes would stay in the receiver's cache, and its second copy cost less than any real one. */
void bj_comm_take_part(MPI_Comm data, MPI_Comm orders, const bj_comm_order *order, char *buffer,
                       const volatile sig_atomic_t *stop, bj_comm_report *report);
/* Waits for a request, sleeping where `sleeps`, and in any case after a while: nothing that takes so long is timed.
 * False: not within the limit, stopped, or somebody who is watched for is gone. */
bool bj_comm_await(MPI_Request *request, double limit_s, bool sleeps, const volatile sig_atomic_t *stop);
/* From here on waits ask this several times a second. */
void bj_comm_watch(bool (*is_anybody_gone)(void));
double bj_comm_read_seconds(void);
void bj_comm_nap(unsigned times);
