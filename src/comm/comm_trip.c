#include "comm/comm_trip.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* A batch lasts at least so long, and longer beside others, which do not begin in the same moment. */
static const double BATCH_S = 200e-6;
static const double BATCH_OF_PAIR_S = 100e-6;
/* A job that is suspended as a whole has not waited. */
static const double STEP_MOST_S = 0.5;
/* Nothing that takes longer is timed to a microsecond. */
static const double SPIN_MOST_S = 1;
static const double LOOK_S = 0.3;
/* Long messages warm up in one trip, and one is a batch. */
enum { WARM_TRIPS = 3, LONG_BYTES = 1 << 20, TRIPS_MOST = 20000 };
enum { TAG_THERE = 11, TAG_BACK };

double bj_comm_read_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* 20 µs at first, 2 ms after a while: the next order may come soon or never, and waking up disturbs whoever measures on
 * the same cpu. */
void bj_comm_nap(unsigned times) {
    struct timespec nap = {0, times < 10 ? 20000 : times < 60 ? 200000 : 2000000};
    nanosleep(&nap, NULL);
}

static bool (*find_gone)(void);

void bj_comm_watch(bool (*is_anybody_gone)(void)) {
    find_gone = is_anybody_gone;
}

/* The clock is read seldom, so that looking at it is no part of what is measured. */
static bool has_waited(double *last_s, double *waited_s) {
    double now_s = bj_comm_read_seconds(), before_s = *waited_s;
    /* A longer step is a time in which we did not run: then the others may not have either. */
    *waited_s += *last_s > 0 ? fmin(now_s - *last_s, STEP_MOST_S) : 0;
    *last_s = now_s;
    bool looks = find_gone != NULL && floor(*waited_s / LOOK_S) > floor(before_s / LOOK_S);
    return looks && find_gone();
}

bool bj_comm_await(MPI_Request *request, double limit_s, bool sleeps, const volatile sig_atomic_t *stop) {
    int done = 0;
    double last_s = 0, waited_s = 0;
    for (unsigned times = 0;; times++) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (done)
            return true;
        if (sleeps)
            bj_comm_nap(times);
        if (!sleeps && times % 128 != 127)
            continue;
        /* After some ten microseconds: the partner may wait for this very cpu. */
        sched_yield();
        if (has_waited(&last_s, &waited_s) || waited_s > limit_s || (stop != NULL && *stop)) {
            MPI_Cancel(request);
            MPI_Request_free(request);
            return false;
        }
        sleeps = sleeps || waited_s > SPIN_MOST_S;
    }
}

typedef struct {
    MPI_Comm data;
    const bj_comm_order *order;
    char *buffer;
    const volatile sig_atomic_t *stop;
} side;

static bool send_to(const side *side, int tag) {
    MPI_Request request;
    return MPI_Isend(side->buffer, (int)side->order->bytes, MPI_BYTE, side->order->partner, tag, side->data,
                     &request) == MPI_SUCCESS &&
           bj_comm_await(&request, BJ_COMM_LIMIT_S, false, side->stop);
}

static bool receive_from(const side *side, int tag) {
    MPI_Request request;
    return MPI_Irecv(side->buffer, (int)side->order->bytes, MPI_BYTE, side->order->partner, tag, side->data,
                     &request) == MPI_SUCCESS &&
           bj_comm_await(&request, BJ_COMM_LIMIT_S, false, side->stop);
}

static bool go_round(const side *side, unsigned trips) {
    bool first = side->order->role == BJ_COMM_SEND_FIRST;
    for (unsigned i = 0; i < trips; i++)
        if (first ? !(send_to(side, TAG_THERE) && receive_from(side, TAG_BACK))
                  : !(receive_from(side, TAG_THERE) && send_to(side, TAG_BACK)))
            return false;
    return true;
}

static unsigned count_warm(const bj_comm_order *order) {
    return order->bytes >= LONG_BYTES ? 1 : WARM_TRIPS;
}

/* The number of trips of a batch is the first side's to tell, from its warm-up. */
static bool agree_on_trips(const side *side, double warm_s, unsigned *trips) {
    MPI_Request request;
    double batch_s = BATCH_S + (side->order->pairs > 1 ? BATCH_OF_PAIR_S * side->order->pairs : 0);
    if (side->order->role == BJ_COMM_SEND_FIRST) {
        *trips = (unsigned)fmin(fmax(ceil(batch_s * count_warm(side->order) / warm_s), 1), TRIPS_MOST);
        return MPI_Isend(trips, 1, MPI_UNSIGNED, side->order->partner, TAG_THERE, side->data, &request) ==
                   MPI_SUCCESS &&
               bj_comm_await(&request, BJ_COMM_LIMIT_S, false, side->stop);
    }
    return MPI_Irecv(trips, 1, MPI_UNSIGNED, side->order->partner, TAG_THERE, side->data, &request) == MPI_SUCCESS &&
           bj_comm_await(&request, BJ_COMM_LIMIT_S, false, side->stop);
}

/* The first side of every pair tells rank 0 that it is warm, and waits for the word. Only where pairs are at once. */
static bool pass_barrier(const side *side, MPI_Comm orders) {
    MPI_Request request;
    unsigned number = side->order->number;
    int rank;
    MPI_Comm_rank(orders, &rank);
    if (side->order->pairs < 2 || side->order->role != BJ_COMM_SEND_FIRST || rank == 0)
        return true;
    return MPI_Isend(&number, 1, MPI_UNSIGNED, 0, BJ_COMM_TAG_READY, orders, &request) == MPI_SUCCESS &&
           bj_comm_await(&request, BJ_COMM_LIMIT_S, false, side->stop) &&
           MPI_Irecv(&number, 1, MPI_UNSIGNED, 0, BJ_COMM_TAG_GO, orders, &request) == MPI_SUCCESS &&
           bj_comm_await(&request, BJ_COMM_LIMIT_S, false, side->stop);
}

void bj_comm_take_part(MPI_Comm data, MPI_Comm orders, const bj_comm_order *order, char *buffer,
                       const volatile sig_atomic_t *stop, bj_comm_report *report) {
    const side side = {data, order, buffer, stop};
    unsigned trips = 0;
    *report = (bj_comm_report){.number = order->number, .silent = order->partner};
    for (unsigned r = 0; r < BJ_COMM_REPETITIONS_MOST; r++)
        report->ns[r] = NAN;
    /* The partner may only now wake up: the first trip is not even a warm one. */
    if (!go_round(&side, 1))
        return;
    double begin_s = bj_comm_read_seconds();
    if (!go_round(&side, count_warm(order)) || !agree_on_trips(&side, bj_comm_read_seconds() - begin_s, &trips) ||
        !pass_barrier(&side, orders))
        return;
    for (unsigned r = 0; r < order->repetitions && r < BJ_COMM_REPETITIONS_MOST; r++) {
        begin_s = bj_comm_read_seconds();
        if (!go_round(&side, trips))
            return;
        report->ns[r] = 1e9 * (bj_comm_read_seconds() - begin_s) / (2.0 * trips);
    }
    report->silent = -1;
}
