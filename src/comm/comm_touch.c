#include "comm/comm_touch.h"

#include <math.h>
#include <stdlib.h>

#include "comm/comm_machine.h"
#include "comm/comm_trip.h"

static const double SIGN_EVERY_S = 5;
/* A job that was suspended as a whole has not waited. */
static const double STEP_MOST_S = 0.5;

typedef struct {
    double heard_s;
    bool is_done;
} sign;

static struct {
    MPI_Comm orders;
    int rank, count;
    sign *signs;            /* by rank; of rank 0 only, on the others */
    double read_s, lived_s; /* the clock when we looked last; the time in which we ran */
    double told_s;          /* when the others were told */
    bj_comm_order stay;     /* sent without waiting: they must stay where they are */
    int is_busy, is_done;
} self;

bool bj_comm_open_touch(MPI_Comm orders, int rank, int count) {
    self.orders = orders;
    self.rank = rank;
    self.count = count;
    self.stay = (bj_comm_order){.role = BJ_COMM_STAY};
    self.is_done = 1;
    self.read_s = bj_comm_read_seconds();
    self.signs = calloc(rank == 0 ? (size_t)count : 1, sizeof *self.signs);
    return self.signs != NULL;
}

void bj_comm_close_touch(void) {
    free(self.signs);
    self.signs = NULL;
}

static void live_on(void) {
    double now_s = bj_comm_read_seconds();
    self.lived_s += fmin(now_s - self.read_s, STEP_MOST_S);
    self.read_s = now_s;
}

/* So small a message leaves at once or is never read: nobody waits for it. */
static void send_off(const void *message, int bytes, int rank, int tag) {
    MPI_Request request;
    if (MPI_Isend(message, bytes, MPI_BYTE, rank, tag, self.orders, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
}

static void read_signs(void) {
    MPI_Status status;
    int is_there = 0, is_done;
    while (MPI_Iprobe(MPI_ANY_SOURCE, BJ_COMM_TAG_NODE, self.orders, &is_there, &status) == MPI_SUCCESS && is_there) {
        if (MPI_Recv(&is_done, sizeof is_done, MPI_BYTE, status.MPI_SOURCE, BJ_COMM_TAG_NODE, self.orders,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return;
        self.signs[status.MPI_SOURCE] = (sign){self.lived_s, is_done != 0};
    }
}

/* While a node is measured rank 0 has no other orders. */
static void read_orders(void) {
    int is_there = 0;
    bj_comm_order order;
    while (MPI_Iprobe(0, BJ_COMM_TAG_ORDER, self.orders, &is_there, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_there) {
        if (MPI_Recv(&order, sizeof order, MPI_BYTE, 0, BJ_COMM_TAG_ORDER, self.orders, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return;
        bj_comm_note_first();
    }
}

void bj_comm_keep_touch(void) {
    live_on();
    bool tells = self.told_s == 0 || self.lived_s - self.told_s > SIGN_EVERY_S;
    if (tells)
        self.told_s = fmax(self.lived_s, SIGN_EVERY_S * 1e-6);
    for (int i = 1; self.rank == 0 && tells && i < self.count; i++)
        send_off(&self.stay, sizeof self.stay, i, BJ_COMM_TAG_ORDER);
    if (self.rank == 0) {
        read_signs();
        return;
    }
    if (tells)
        send_off(&self.is_busy, sizeof self.is_busy, 0, BJ_COMM_TAG_NODE);
    read_orders();
}

void bj_comm_tell_node_done(void) {
    send_off(&self.is_done, sizeof self.is_done, 0, BJ_COMM_TAG_NODE);
}

bj_comm_node_state bj_comm_look_at_node(int rank) {
    const sign *sign = &self.signs[rank];
    return sign->is_done                                      ? BJ_COMM_NODE_DONE
           : self.lived_s - sign->heard_s > BJ_COMM_SILENCE_S ? BJ_COMM_NODE_SILENT
                                                              : BJ_COMM_NODE_BUSY;
}

bool bj_comm_has_lost_first(void) {
    live_on();
    return self.lived_s - self.signs[0].heard_s > BJ_COMM_SILENCE_S;
}

void bj_comm_note_first(void) {
    live_on();
    self.signs[0].heard_s = self.lived_s;
}
