/* A five-point stencil whose blocks follow from the profile by arithmetic, beside the plain one.
 *
 *     stencil [N [ROUNDS]]         N x N doubles (default 2048), least of ROUNDS (default 7)
 *
 * Two numbers are asked for: how many rows to compute at once, so that a loaded row serves more than one, and how wide
 * a block may be, so that its rows are still in the first cache when the next ones need them. docs/tuning.md works it
 * through. Exits with 1 when the blocked stencil is wrong. */
#include <blackjack/blackjack.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROWS = 4 };

/* Rows do not overlap, which a compiler cannot know of a distance that is a variable. */
#if defined(__GNUC__) && !defined(__clang__)
#define APART _Pragma("GCC ivdep")
#else
#define APART
#endif
/* Some rows at once; the compiler makes vectors along them. */
#define ROW(i)                                                                                                         \
    to[(i)*n + j] =                                                                                                    \
        0.25 * ((from[((i)-1) * n + j] + from[((i) + 1) * n + j]) + (from[(i)*n + j - 1] + from[(i)*n + j + 1]));
#define STENCIL(rows, body)                                                                                            \
    static void stencil_##rows(const double *restrict from, double *restrict to, ptrdiff_t n, ptrdiff_t width) {       \
        APART for (ptrdiff_t j = 0; j < width; j++) {                                                                  \
            body                                                                                                       \
        }                                                                                                              \
    }
STENCIL(1, ROW(0))
STENCIL(2, ROW(0) ROW(1))
STENCIL(3, ROW(0) ROW(1) ROW(2))
STENCIL(4, ROW(0) ROW(1) ROW(2) ROW(3))
typedef void rows_at_once(const double *restrict from, double *restrict to, ptrdiff_t n, ptrdiff_t width);
static rows_at_once *const kernels[MOST_ROWS + 1] = {NULL, stencil_1, stencil_2, stencil_3, stencil_4};

/* What a turn costs that computes one vector of each of so many rows: four operations and a store a row; loads of the
 * rows above and below, and of two neighbours in each row. */
static double cycles_of_row(const bj_lib_core *core, unsigned rows) {
    bj_lib_loop loop = {.arithmetic = 4.0 * rows, .loads = 2 + 3.0 * rows, .stores = rows};
    return bj_lib_loop_cycles(core, &loop) / rows;
}

/* The fewest rows beyond which nothing is gained; each takes two registers, and the rows around them two more. */
static unsigned choose_rows(const bj_lib_core *core) {
    unsigned best = 1;
    for (unsigned rows = 2; rows <= MOST_ROWS && 2 * rows + 2 <= core->registers; rows++)
        if (cycles_of_row(core, rows) < 0.99 * cycles_of_row(core, best))
            best = rows;
    return best;
}

/* The rows that are read and those that are written stay in the first cache, in whole lines. */
static size_t choose_width(const bj_lib_core *core, unsigned rows) {
    bj_lib_footprint footprint = {.rows = 2 * (size_t)rows + 2, .multiple = core->line_bytes / sizeof(double)};
    size_t width = bj_lib_fit_block(core, core->l1_bytes, &footprint);
    return width > 0 ? width : footprint.multiple;
}

static bj_lib_core ask_profile(void) {
    const bj_lib_core usual = {.struct_size = sizeof usual,
                               .element_bytes = sizeof(double),
                               .lanes = 2,
                               .registers = 16,
                               .latency = 4,
                               .per_cycle = 2,
                               .loads_per_cycle = 2,
                               .stores_per_cycle = 1,
                               .l1_bytes = 32768,
                               .line_bytes = 64};
    bj_lib_core core = {.struct_size = sizeof core};
    bj_lib_profile *profile;
    bj_lib_error error = {""};
    if (bj_lib_open_profile(NULL, &profile, &error) == BJ_LIB_OK) {
        bj_lib_result result = bj_lib_read_core(profile, NULL, &core, &error);
        bj_lib_close_profile(profile);
        if (result == BJ_LIB_OK)
            return core;
    }
    printf("a usual core, since %s\n", error.text);
    return usual;
}

static void run_blocked(const double *from, double *to, size_t n, size_t width, unsigned rows) {
    for (size_t j = 1; j < n - 1; j += width) {
        size_t w = n - 1 - j < width ? n - 1 - j : width, i = 1;
        for (; i + rows <= n - 1; i += rows)
            kernels[rows](from + i * n + j, to + i * n + j, (ptrdiff_t)n, (ptrdiff_t)w);
        for (; i < n - 1; i++)
            stencil_1(from + i * n + j, to + i * n + j, (ptrdiff_t)n, (ptrdiff_t)w);
    }
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **words) {
    size_t n = count > 1 ? strtoul(words[1], NULL, 10) : 2048;
    int rounds = count > 2 ? atoi(words[2]) : 7;
    if (n < 3 || n > 65536 || rounds < 1)
        return 2;
    double *from = malloc(n * n * sizeof *from), *to = calloc(n * n, sizeof *to), *plain = calloc(n * n, sizeof *plain);
    if (from == NULL || to == NULL || plain == NULL)
        return 2;
    for (size_t i = 0; i < n * n; i++)
        from[i] = (double)(i % 1021);
    bj_lib_core core = ask_profile();
    unsigned rows = choose_rows(&core);
    size_t width = choose_width(&core, rows);
    double blocked_s = 1e30, plain_s = 1e30;
    for (int round = 0; round < rounds; round++) {
        double start = now_s();
        run_blocked(from, plain, n, n, 1);
        double middle = now_s();
        run_blocked(from, to, n, width, rows);
        double end = now_s();
        plain_s = middle - start < plain_s ? middle - start : plain_s;
        blocked_s = end - middle < blocked_s ? end - middle : blocked_s;
    }
    if (memcmp(to, plain, n * n * sizeof *to) != 0) {
        printf("the blocked stencil is wrong\n");
        return 1;
    }
    printf("%zu x %zu doubles\nplain                         %8.3f ms\n", n, n, 1e3 * plain_s);
    printf("%u rows at once, %5zu wide    %8.3f ms, %.2f times as fast\n", rows, width, 1e3 * blocked_s,
           plain_s / blocked_s);
    for (unsigned r = 1; r <= MOST_ROWS; r++)
        printf("  %u rows: %.2f cycles a vector of a row\n", r, cycles_of_row(&core, r));
    free(from);
    free(to);
    free(plain);
    return 0;
}
