/* A plain ping-pong between ranks 0 and 1, as a yardstick for blackjack-comm: blocking calls, nothing else; and in turn
 * with it, in the same launch, what blackjack-comm does to time a message.
 *
 *     mpirun -n 2 pingpong [BYTES...]
 *
 * Prints "BYTES PLAIN_US OURS_US", half a round trip: the least over rounds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "comm/comm_trip.h"

enum { ROUNDS = 30, LONGEST = 16 << 20, SIZES_MOST = 16, REPETITIONS = 3 };

/* What arrives is sent back, as NetPIPE has it. */
static char buffer[LONGEST];

static double run_plain(int rank, int bytes) {
    int trips = bytes > 100000 ? 5 : 300;
    double begin = 0;
    for (int trip = -3; trip < trips; trip++) {
        if (trip == 0)
            begin = MPI_Wtime();
        if (rank == 0)
            MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    return 1e6 * (MPI_Wtime() - begin) / (2.0 * trips);
}

static double run_ours(int rank, int bytes, MPI_Comm data) {
    bj_comm_order order = {.role = rank == 0 ? BJ_COMM_SEND_FIRST : BJ_COMM_ANSWER,
                           .partner = 1 - rank,
                           .repetitions = REPETITIONS,
                           .pairs = 1,
                           .bytes = (size_t)bytes};
    bj_comm_report report;
    double least = 1e9;
    bj_comm_take_part(data, data, &order, buffer, NULL, &report);
    for (unsigned r = 0; r < REPETITIONS; r++)
        least = report.ns[r] / 1000 < least ? report.ns[r] / 1000 : least;
    return least;
}

int main(int count, char **words) {
    int rank;
    double plain[SIZES_MOST], ours[SIZES_MOST];
    MPI_Comm data;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &data);
    int sizes = count - 1 < SIZES_MOST ? count - 1 : SIZES_MOST;
    for (int round = 0; round < ROUNDS && rank < 2; round++)
        for (int i = 0; i < sizes; i++) {
            int bytes = atoi(words[i + 1]);
            if (bytes < 0 || bytes > LONGEST)
                MPI_Abort(MPI_COMM_WORLD, 2);
            double us = run_plain(rank, bytes);
            plain[i] = round == 0 || us < plain[i] ? us : plain[i];
            us = run_ours(rank, bytes, data);
            ours[i] = round == 0 || us < ours[i] ? us : ours[i];
        }
    for (int i = 0; i < sizes && rank == 0; i++)
        printf("%d %.4f %.4f\n", atoi(words[i + 1]), plain[i], ours[i]);
    MPI_Finalize();
    return 0;
}
