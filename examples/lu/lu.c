/* LU factorisation in tiles, on kernels that `blackjack tune schur` generated, beside the same code on OpenBLAS.
 *
 *     lu [N [ROUNDS]]      N x N doubles (default 1024), a multiple of the tile; least time of ROUNDS (default 5)
 *
 * Nearly all of the work is the Schur complement, C -= A * B of whole tiles. There is no pivoting, so the matrix is one
 * that needs none: its diagonal dominates. Exits with 1 when L * U is not the matrix. */
#include "schur.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef TILE
#define TILE 64
#endif
#define JOIN(a, b) a##b
#define KERNEL_OF(size) JOIN(schur_, size)

enum { NB = TILE, IB = 8, AREA = NB * NB }; /* tiles of NB x NB are factored in panels of IB */

/* What the factorisation stands on: C -= A * B of any shape, and of one tile. */
typedef struct {
    const char *name;
    void (*update)(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb, double *c,
                   size_t ldc);
    void (*update_tile)(const double *a, const double *b, double *c);
} backend;

/* ---- OpenBLAS, where it is installed */

typedef void dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                   int);
static dgemm *cblas_dgemm_of_openblas;

static void update_by_openblas(size_t m, size_t n, size_t k, const double *a, size_t lda, const double *b, size_t ldb,
                               double *c, size_t ldc) {
    cblas_dgemm_of_openblas(102, 111, 111, (int)m, (int)n, (int)k, -1, a, (int)lda, b, (int)ldb, 1, c, (int)ldc);
}

static void update_tile_by_openblas(const double *a, const double *b, double *c) {
    update_by_openblas(NB, NB, NB, a, NB, b, NB, c, NB);
}

static int find_openblas(void) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    void *found = library != NULL ? dlsym(library, "cblas_dgemm") : NULL;
    memcpy(&cblas_dgemm_of_openblas, &found, sizeof found);
    return found != NULL;
}

/* ---- one tile; columns are NB apart */

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* B = L^-1 * B; L has ones on its diagonal. */
static void solve_lower(const backend *on, const double *l, double *b) {
    for (size_t p = 0; p < NB; p += IB) {
        size_t end = least(p + IB, NB);
        for (size_t j = 0; j < NB; j++)
            for (size_t k = p; k < end; k++)
                for (size_t i = k + 1; i < end; i++)
                    b[i + j * NB] -= l[i + k * NB] * b[k + j * NB];
        on->update(NB - end, NB, end - p, l + end + p * NB, NB, b + p, NB, b + end, NB);
    }
}

/* B = B * U^-1 */
static void solve_upper(const backend *on, const double *u, double *b) {
    for (size_t p = 0; p < NB; p += IB) {
        size_t end = least(p + IB, NB);
        for (size_t j = p; j < end; j++) {
            for (size_t k = p; k < j; k++)
                for (size_t i = 0; i < NB; i++)
                    b[i + j * NB] -= b[i + k * NB] * u[k + j * NB];
            double inverse = 1 / u[j + j * NB];
            for (size_t i = 0; i < NB; i++)
                b[i + j * NB] *= inverse;
        }
        on->update(NB, NB - end, end - p, b + p * NB, NB, u + p + end * NB, NB, b + end * NB, NB);
    }
}

static void factor_tile(const backend *on, double *a) {
    for (size_t p = 0; p < NB; p += IB) {
        size_t end = least(p + IB, NB);
        for (size_t k = p; k < end; k++) {
            double inverse = 1 / a[k + k * NB];
            for (size_t i = k + 1; i < NB; i++)
                a[i + k * NB] *= inverse;
            for (size_t j = k + 1; j < end; j++)
                for (size_t i = k + 1; i < NB; i++)
                    a[i + j * NB] -= a[i + k * NB] * a[k + j * NB];
        }
        for (size_t j = end; j < NB; j++)
            for (size_t k = p; k < end; k++)
                for (size_t i = k + 1; i < end; i++)
                    a[i + j * NB] -= a[i + k * NB] * a[k + j * NB];
        on->update(NB - end, NB - end, end - p, a + end + p * NB, NB, a + p + end * NB, NB, a + end + end * NB, NB);
    }
}

/* ---- the matrix, tile by tile, tiles down a column of them first */

static void factor(const backend *on, double *a, size_t tiles) {
#define TILE_AT(i, j) (a + ((i) + (j)*tiles) * AREA)
    for (size_t k = 0; k < tiles; k++) {
        factor_tile(on, TILE_AT(k, k));
        for (size_t j = k + 1; j < tiles; j++)
            solve_lower(on, TILE_AT(k, k), TILE_AT(k, j));
        for (size_t i = k + 1; i < tiles; i++)
            solve_upper(on, TILE_AT(k, k), TILE_AT(i, k));
        for (size_t j = k + 1; j < tiles; j++)
            for (size_t i = k + 1; i < tiles; i++)
                on->update_tile(TILE_AT(i, k), TILE_AT(k, j), TILE_AT(i, j));
    }
#undef TILE_AT
}

static double *at(double *a, size_t tiles, size_t i, size_t j) {
    return a + (i / NB + j / NB * tiles) * AREA + i % NB + j % NB * NB;
}

/* How far L * (U * x) is from A * x, relative to the largest of it. */
static double residual(double *a, double *lu, size_t tiles, double *room) {
    size_t n = tiles * NB;
    double *x = room, *y = room + n, worst = 0, largest = 0;
    for (size_t i = 0; i < n; i++)
        x[i] = (double)(i % 17) / 16 - 0.5;
    for (size_t i = 0; i < n; i++) {
        y[i] = 0;
        for (size_t j = i; j < n; j++)
            y[i] += *at(lu, tiles, i, j) * x[j];
    }
    for (size_t i = 0; i < n; i++) {
        double product = y[i], plain = 0;
        for (size_t j = 0; j < i; j++)
            product += *at(lu, tiles, i, j) * y[j];
        for (size_t j = 0; j < n; j++)
            plain += *at(a, tiles, i, j) * x[j];
        worst = fmax(worst, fabs(product - plain));
        largest = fmax(largest, fabs(plain));
    }
    return worst / largest;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **words) {
    size_t n = count > 1 ? strtoul(words[1], NULL, 10) : 1024, tiles = n / NB;
    int rounds = count > 2 ? atoi(words[2]) : 5, wrong = 0;
    backend backends[2] = {{"generated kernels", schur, KERNEL_OF(TILE)},
                           {"OpenBLAS", update_by_openblas, update_tile_by_openblas}};
    size_t backend_count = find_openblas() ? 2 : 1;
    double seconds[2] = {INFINITY, INFINITY};
    if (n == 0 || n % NB != 0 || n > 32768 || rounds < 1) {
        fprintf(stderr, "lu: N must be a multiple of %d, up to 32768; ROUNDS at least 1\n", NB);
        return 2;
    }
    double *a = malloc(n * n * sizeof *a), *lu = aligned_alloc(64, n * n * sizeof *lu),
           *room = malloc(2 * n * sizeof *room);
    if (a == NULL || lu == NULL || room == NULL)
        return 2;
    srand(1);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            *at(a, tiles, i, j) = (double)rand() / RAND_MAX - 0.5 + (i == j ? (double)n : 0);
    /* In turns: what disturbs one disturbs the other. */
    for (int round = 0; round < rounds; round++)
        for (size_t b = 0; b < backend_count; b++) {
            memcpy(lu, a, n * n * sizeof *a);
            double start = now_s();
            factor(&backends[b], lu, tiles);
            seconds[b] = fmin(seconds[b], now_s() - start);
            if (round == 0) {
                double off = residual(a, lu, tiles, room);
                /* A sum of n rounding errors at the very worst. */
                if (!(off < (double)n * 2.3e-16)) {
                    printf("%s: wrong, off by %g\n", backends[b].name, off);
                    wrong = 1;
                }
            }
        }
    double work = 2.0 / 3.0 * (double)n * (double)n * (double)n;
    printf("LU of %zu x %zu doubles in tiles of %d\n", n, n, NB);
    for (size_t b = 0; b < backend_count; b++)
        printf("%-18s %9.2f ms %8.2f Gflop/s\n", backends[b].name, 1e3 * seconds[b], 1e-9 * work / seconds[b]);
    if (backend_count == 2)
        printf("generated / OpenBLAS %.2f\n", seconds[1] / seconds[0]);
    else
        puts("OpenBLAS is not installed");
    free(a);
    free(lu);
    free(room);
    return wrong;
}
