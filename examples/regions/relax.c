/* Regions of an OpenMP program: relaxation on a grid, and the sum of what changed.
 *
 *     BLACKJACK_REGIONS=regions.json ./relax && blackjack regions regions.json */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <blackjack/regions.h>

int main(int argc, char **argv) {
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, sweeps = argc > 2 ? strtoul(argv[2], NULL, 10) : 200;
    if (n < 3 || n > 100000 || sweeps == 0) {
        fprintf(stderr, "usage: relax [N [SWEEPS]]\n");
        return 2;
    }
    double *from = calloc(n * n, sizeof *from), *to = calloc(n * n, sizeof *to), change = 0;
    if (from == NULL || to == NULL) {
        fprintf(stderr, "relax: no memory for %zu x %zu\n", n, n);
        return 1;
    }
    for (size_t i = 0; i < n; i++)
        from[i] = to[i] = 1; /* a warm edge */
    bj_lib_region rows = bj_lib_name_region("rows"), sum = bj_lib_name_region("sum");
    /* A row comes from memory once and goes there once; its neighbours are still in a cache. */
    bj_lib_declare_work(rows, 4.0 * (double)(n - 2), 16.0 * (double)n);
    bj_lib_declare_loads(rows, 4.0 * (double)(n - 2));
#pragma omp parallel
    for (size_t sweep = 0; sweep < sweeps; sweep++) {
#pragma omp for schedule(static)
        for (size_t i = 1; i < n - 1; i++) {
            bj_lib_begin_region(rows);
            for (size_t j = 1; j < n - 1; j++)
                to[i * n + j] =
                    0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
            bj_lib_end_region(rows);
        }
#pragma omp single
        change = 0;
        double mine = 0;
        bj_lib_begin_region(sum);
#pragma omp for schedule(static) nowait
        for (size_t i = 1; i < n - 1; i++)
            for (size_t j = 1; j < n - 1; j++)
                mine += fabs(to[i * n + j] - from[i * n + j]);
        bj_lib_end_region(sum);
#pragma omp atomic
        change += mine;
#pragma omp barrier
#pragma omp single
        {
            double *other = from;
            from = to;
            to = other;
        }
    }
    printf("changed by %.6g in the last of %zu sweeps\n", change, sweeps);
    free(from);
    free(to);
    return 0;
}
