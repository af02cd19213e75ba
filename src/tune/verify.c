#include "tune/verify.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"

/* Values of C that no kernel may touch. */
#define SENTINEL 12345.0

typedef struct {
    size_t m, n, k, lda, ldb, ldc;
    bj_tune_type type;
    bool subtract;
    void *a, *b, *c;        /* as the kernel reads them */
    double *plain, *margin; /* what C must be, and how far off it may be */
    size_t rooms[3];        /* elements of a, b, c */
} problem;

static double get(const problem *p, const void *matrix, size_t at) {
    return p->type == BJ_TUNE_FLOAT ? (double)((const float *)matrix)[at] : ((const double *)matrix)[at];
}

static void set(const problem *p, void *matrix, size_t at, double value) {
    if (p->type == BJ_TUNE_FLOAT)
        ((float *)matrix)[at] = (float)value;
    else
        ((double *)matrix)[at] = value;
}

static void free_problem(problem *p) {
    free(p->a);
    free(p->b);
    free(p->c);
    free(p->plain);
    free(p->margin);
}

/* What each value must be. An error of 2(k + 2) units in the last place of the sum of magnitudes is what any order of
 * summing may give. */
static void compute(problem *p) {
    double unit = p->type == BJ_TUNE_FLOAT ? FLT_EPSILON : DBL_EPSILON;
    for (size_t at = 0; at < p->rooms[2]; at++) {
        p->plain[at] = get(p, p->c, at);
        p->margin[at] = 0;
    }
    for (size_t j = 0; j < p->n; j++)
        for (size_t i = 0; i < p->m; i++) {
            double sum = 0, size = fabs(p->plain[i + j * p->ldc]);
            for (size_t q = 0; q < p->k; q++) {
                double product = get(p, p->a, i + q * p->lda) * get(p, p->b, q + j * p->ldb);
                sum += product;
                size += fabs(product);
            }
            p->plain[i + j * p->ldc] += p->subtract ? -sum : sum;
            p->margin[i + j * p->ldc] = 2 * unit * size * (double)(p->k + 2);
        }
}

static bj_status make_problem(problem *p, bj_error *error) {
    bj_random random;
    size_t bytes = bj_tune_size_of(p->type);
    bj_random_seed(&random, 1 + p->m + 1000 * p->n + 1000000 * p->k);
    p->rooms[0] = p->lda * p->k;
    p->rooms[1] = p->ldb * p->n;
    p->rooms[2] = p->ldc * p->n;
    /* One more: an empty matrix is no lack of memory. */
    p->a = malloc((p->rooms[0] + 1) * bytes);
    p->b = malloc((p->rooms[1] + 1) * bytes);
    p->c = malloc((p->rooms[2] + 1) * bytes);
    p->plain = malloc((p->rooms[2] + 1) * sizeof(double));
    p->margin = malloc((p->rooms[2] + 1) * sizeof(double));
    if (p->a == NULL || p->b == NULL || p->c == NULL || p->plain == NULL || p->margin == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to verify a kernel");
    for (size_t i = 0; i < p->rooms[0]; i++)
        set(p, p->a, i, 2 * bj_random_unit(&random) - 1);
    for (size_t i = 0; i < p->rooms[1]; i++)
        set(p, p->b, i, 2 * bj_random_unit(&random) - 1);
    for (size_t i = 0; i < p->rooms[2]; i++)
        set(p, p->c, i, i % p->ldc < p->m ? 2 * bj_random_unit(&random) - 1 : SENTINEL);
    set(p, p->c, p->rooms[2], SENTINEL);
    compute(p);
    return BJ_OK;
}

static bj_status compare(const problem *p, const char *name, bj_error *error) {
    for (size_t at = 0; at < p->rooms[2]; at++) {
        double off = fabs(get(p, p->c, at) - p->plain[at]);
        if (!(off <= p->margin[at]))
            return bj_base_set_error(
                error, BJ_ERR_FAILED,
                "%.60s is wrong for %zu x %zu x %zu (columns %zu apart): row %zu, column %zu is %g, "
                "not %g",
                name, p->m, p->n, p->k, p->ldc, at % p->ldc, at / p->ldc, get(p, p->c, at), p->plain[at]);
    }
    if (get(p, p->c, p->rooms[2]) != SENTINEL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%.60s writes behind C for %zu x %zu x %zu", name, p->m, p->n,
                                 p->k);
    return BJ_OK;
}

typedef void general_double(size_t, size_t, size_t, const double *, size_t, const double *, size_t, double *, size_t);
typedef void general_float(size_t, size_t, size_t, const float *, size_t, const float *, size_t, float *, size_t);

static void call(bj_tune_function *function, const problem *p) {
    if (p->type == BJ_TUNE_FLOAT)
        ((general_float *)function)(p->m, p->n, p->k, p->a, p->lda, p->b, p->ldb, p->c, p->ldc);
    else
        ((general_double *)function)(p->m, p->n, p->k, p->a, p->lda, p->b, p->ldb, p->c, p->ldc);
}

static bj_status verify_one(bj_tune_function *function, const bj_tune_kernel *kernel, problem *p, bj_error *error) {
    p->type = kernel->type;
    p->subtract = kernel->subtract;
    bj_status status = make_problem(p, error);
    if (status == BJ_OK) {
        call(function, p);
        status = compare(p, kernel->name, error);
    }
    free_problem(p);
    return status;
}

bj_status bj_tune_verify_general(bj_tune_function *function, const bj_tune_kernel *kernel, bj_error *error) {
    const size_t lanes = kernel->lanes, large = kernel->pack_from;
    const size_t sizes[] = {0, 1, 2, 3, 5, 7, lanes, lanes + 1, 2 * lanes, 17, 31, 40, 67, 97, 17 * lanes + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t pad = 0; pad < 6; pad += 5) {
            size_t s = sizes[i], t = sizes[(i + 3) % 15], u = sizes[(i + 7) % 15];
            problem square = {.m = s, .n = s, .k = s, .lda = s + pad, .ldb = s + 2 * pad, .ldc = s + pad + 1};
            problem oblong = {.m = s, .n = t, .k = u, .lda = s + pad, .ldb = u + pad, .ldc = s + pad};
            BJ_TRY(verify_one(function, kernel, &square, error));
            if (oblong.ldc > 0)
                BJ_TRY(verify_one(function, kernel, &oblong, error));
        }
    /* Packed, with more than one block of k and edges; long in one direction only to be quick. */
    problem packed = {
        .m = large + 3, .n = large + 1, .k = large + 2, .lda = large + 4, .ldb = large + 2, .ldc = large + 3};
    return large > 0 && large < 1000 ? verify_one(function, kernel, &packed, error) : BJ_OK;
}

bj_status bj_tune_verify_timed(double (*function)(size_t n, void *const *operands), const bj_tune_kernel *kernel,
                               size_t n, bool adds, bj_error *error) {
    problem p = {.m = n, .n = n, .k = n, .lda = n, .ldb = n, .ldc = n, .type = kernel->type};
    p.subtract = kernel->subtract && !adds;
    bj_status status = make_problem(&p, error);
    if (status == BJ_OK) {
        void *const operands[3] = {p.a, p.b, p.c};
        function(n, operands);
        status = compare(&p, kernel->name, error);
    }
    free_problem(&p);
    return status;
}
