/* A plain ping-pong between ranks 0 and 1, as a yardstick for blackjack-comm: blocking calls, nothing else.
 *
 *     mpirun -n 2 pingpong [BYTES...]
 *
 * Prints "BYTES US", half a round trip: the least over batches of their means. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 30, LONGEST = 16 << 20 };

int main(int count, char **words) {
    int rank;
    static char there[LONGEST], back[LONGEST];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < count; i++) {
        int bytes = atoi(words[i]), trips = bytes > 100000 ? 5 : 500;
        double least = 1e9;
        if (bytes < 0 || bytes > LONGEST)
            MPI_Abort(MPI_COMM_WORLD, 2);
        for (int batch = 0; batch < BATCHES && rank < 2; batch++) {
            double begin = MPI_Wtime();
            for (int trip = 0; trip < trips; trip++) {
                if (rank == 0)
                    MPI_Send(there, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(back, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (rank == 1)
                    MPI_Send(there, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
            double us = 1e6 * (MPI_Wtime() - begin) / (2.0 * trips);
            least = us < least ? us : least;
        }
        if (rank == 0)
            printf("%d %.4f\n", bytes, least);
    }
    MPI_Finalize();
    return 0;
}
