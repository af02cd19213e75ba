#include "stats/nnls.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Of a pivot, relative to its column: less is rounding. */
static const double SINGULAR = 1e-12;
enum { SWEEPS = 50 };

typedef struct {
    double cells[BJ_NNLS_COLUMNS][BJ_NNLS_COLUMNS];
    double right[BJ_NNLS_COLUMNS];
    size_t columns[BJ_NNLS_COLUMNS]; /* of the problem */
    size_t count;
} normal;

static double dot(const double *matrix, size_t rows, size_t columns, size_t a, const double *other, size_t step) {
    double sum = 0;
    for (size_t r = 0; r < rows; r++)
        sum += matrix[r * columns + a] * other[r * step];
    return sum;
}

static normal make_normal(const double *matrix, const double *seen, size_t rows, size_t columns, unsigned subset) {
    normal n = {.count = 0};
    for (size_t c = 0; c < columns; c++)
        if (subset >> c & 1)
            n.columns[n.count++] = c;
    for (size_t i = 0; i < n.count; i++) {
        for (size_t j = 0; j < n.count; j++)
            n.cells[i][j] = dot(matrix, rows, columns, n.columns[i], matrix + n.columns[j], columns);
        n.right[i] = dot(matrix, rows, columns, n.columns[i], seen, 1);
    }
    return n;
}

/* Elimination without exchanges, which a positive definite matrix does not need. False: it is none. */
static bool solve_normal(normal *n, double *solution) {
    for (size_t i = 0; i < n->count; i++) {
        double whole = n->cells[i][i];
        for (size_t j = 0; j < i; j++) {
            double factor = n->cells[i][j] / n->cells[j][j];
            for (size_t k = j; k < n->count; k++)
                n->cells[i][k] -= factor * n->cells[j][k];
            n->right[i] -= factor * n->right[j];
        }
        if (!(n->cells[i][i] > SINGULAR * whole))
            return false;
    }
    for (size_t i = n->count; i-- > 0;) {
        double value = n->right[i];
        for (size_t k = i + 1; k < n->count; k++)
            value -= n->cells[i][k] * solution[k];
        solution[i] = value / n->cells[i][i];
        if (solution[i] < 0)
            return false;
    }
    return true;
}

void bj_stats_solve_nonnegative(const double *matrix, const double *seen, size_t rows, size_t columns,
                                double *solution) {
    double least = INFINITY;
    memset(solution, 0, columns * sizeof *solution);
    for (unsigned subset = 0; subset < 1u << columns; subset++) {
        double part[BJ_NNLS_COLUMNS] = {0}, whole[BJ_NNLS_COLUMNS] = {0}, squares = 0;
        normal n = make_normal(matrix, seen, rows, columns, subset);
        if (!solve_normal(&n, part))
            continue;
        for (size_t i = 0; i < n.count; i++)
            whole[n.columns[i]] = part[i];
        for (size_t r = 0; r < rows; r++) {
            double off = seen[r];
            for (size_t c = 0; c < columns; c++)
                off -= matrix[r * columns + c] * whole[c];
            squares += off * off;
        }
        if (squares < least) {
            least = squares;
            memcpy(solution, whole, columns * sizeof *solution);
        }
    }
}

/* Jacobi's rotations: the diagonal becomes the eigenvalues. */
static void diagonalise(normal *n) {
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t p = 0; p < n->count; p++)
            for (size_t q = p + 1; q < n->count; q++) {
                if (fabs(n->cells[p][q]) < 1e-300)
                    continue;
                double theta = (n->cells[q][q] - n->cells[p][p]) / (2 * n->cells[p][q]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (size_t k = 0; k < n->count; k++) {
                    double a = n->cells[k][p], b = n->cells[k][q];
                    n->cells[k][p] = c * a - s * b;
                    n->cells[k][q] = s * a + c * b;
                }
                for (size_t k = 0; k < n->count; k++) {
                    double a = n->cells[p][k], b = n->cells[q][k];
                    n->cells[p][k] = c * a - s * b;
                    n->cells[q][k] = s * a + c * b;
                }
            }
}

double bj_stats_find_condition(const double *matrix, size_t rows, size_t columns) {
    double scale[BJ_NNLS_COLUMNS], least = INFINITY, most = 0;
    double nothing[BJ_NNLS_ROWS] = {0};
    normal n = make_normal(matrix, nothing, rows, columns, (1u << columns) - 1);
    for (size_t i = 0; i < columns; i++)
        scale[i] = sqrt(n.cells[i][i]);
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j < columns; j++)
            n.cells[i][j] = scale[i] > 0 && scale[j] > 0 ? n.cells[i][j] / scale[i] / scale[j] : 0;
    diagonalise(&n);
    for (size_t i = 0; i < columns; i++) {
        least = fmin(least, n.cells[i][i]);
        most = fmax(most, n.cells[i][i]);
    }
    return least > SINGULAR * most ? sqrt(most / least) : INFINITY;
}
