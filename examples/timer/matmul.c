/* A blocked matrix product whose block is chosen twice: by timings in the caches, and out of them.
 *
 * As figure 2 of Whaley and Castaldo (2008): two tunings, each timed by two timers. Matrices are stored block by block,
 * so that the product of two blocks is the same code in a tuning and in the whole product. Times in GFLOP/s. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <blackjack/blackjack.h>

enum { ROWS = 4, COLUMNS = 4 }; /* of c that stay in registers; blocks are multiples of both */
typedef double row __attribute__((vector_size(COLUMNS * sizeof(double)), aligned(sizeof(double)), may_alias));

static void multiply_blocks(size_t block, const double *restrict a, const double *restrict b, double *restrict c) {
    for (size_t i = 0; i < block; i += ROWS)
        for (size_t j = 0; j < block; j += COLUMNS) {
            row sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
            const double *from = a + i * block;
            for (size_t k = 0; k < block; k++) {
                row of_b = *(const row *)(b + k * block + j);
                sum0 += from[k] * of_b;
                sum1 += from[block + k] * of_b;
                sum2 += from[2 * block + k] * of_b;
                sum3 += from[3 * block + k] * of_b;
            }
            double *to = c + i * block + j;
            *(row *)to += sum0;
            *(row *)(to + block) += sum1;
            *(row *)(to + 2 * block) += sum2;
            *(row *)(to + 3 * block) += sum3;
        }
}

/* One product of two blocks: what is tuned. */
static double block_product(size_t block, void *const *operands) {
    double *c = operands[2];
    multiply_blocks(block, operands[0], operands[1], c);
    return c[0];
}

/* The whole product, of n × n blocks. */
static size_t whole_block;
static double whole_product(size_t n, void *const *operands) {
    const double *a = operands[0], *b = operands[1];
    double *c = operands[2];
    size_t block = whole_block, size = block * block;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < n; k++)
                multiply_blocks(block, a + (i * n + k) * size, b + (k * n + j) * size, c + (i * n + j) * size);
    return c[0];
}

/* ns of a kernel over three square matrices of so many elements; NaN: it could not be timed. */
static double time_product(bj_lib_timer *timer, bj_lib_kernel *kernel, size_t n, size_t elements, const char *context) {
    size_t bytes = elements * sizeof(double);
    const bj_lib_operand operands[] = {{.name = "a", .bytes = bytes},
                                       {.name = "b", .bytes = bytes},
                                       {.name = "c", .bytes = bytes, .direction = BJ_LIB_INOUT}};
    bj_lib_timing_options options = {.struct_size = sizeof options,
                                     .n = n,
                                     .operands = operands,
                                     .operand_count = 3,
                                     .context = context,
                                     .samples = 3};
    bj_lib_timing timing = {.struct_size = sizeof timing};
    bj_lib_error error;
    if (bj_lib_time_kernel(timer, kernel, &options, &timing, &error) == BJ_LIB_OK)
        return timing.time_ns;
    fprintf(stderr, "%s\n", error.text);
    return NAN;
}

static double rate(double size, double ns) {
    return 2 * size * size * size / ns;
}

/* The block with the highest rate in that context. */
static size_t choose_block(bj_lib_timer *timer, const char *context) {
    static const size_t blocks[] = {16, 32, 48, 64, 96, 128, 192, 256};
    size_t best = 0;
    double best_rate = 0;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        size_t block = blocks[i];
        double now = rate((double)block, time_product(timer, block_product, block, block * block, context));
        printf("  %s, block %3zu: %6.2f GFLOP/s\n", context, block, now);
        if (now > best_rate) {
            best_rate = now;
            best = block;
        }
    }
    return best;
}

int main(int count, char **words) {
    size_t most = count > 1 ? strtoul(words[1], NULL, 10) : 2048;
    static const char *const contexts[] = {"warm", "cold"};
    bj_lib_timer *timer;
    bj_lib_error error;
    if (bj_lib_open_timer(NULL, &timer, &error) != BJ_LIB_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    size_t tuned[2];
    double last[2] = {0, 0};
    for (size_t t = 0; t < 2; t++)
        tuned[t] = choose_block(timer, contexts[t]);
    printf("block by warm timing %zu, by cold timing %zu\n", tuned[0], tuned[1]);
    if (tuned[0] == tuned[1])
        printf("both timings choose the same block on this machine\n");
    printf("%8s %14s %14s %14s %14s   (tuned by / timed by)\n", "n", "warm/warm", "warm/cold", "cold/warm",
           "cold/cold");
    for (size_t n = 128; n <= most; n *= 2) {
        printf("%8zu", n);
        for (size_t t = 0; t < 2; t++)
            for (size_t c = 0; c < 2; c++) {
                whole_block = tuned[t];
                size_t blocks = (n + whole_block - 1) / whole_block, size = blocks * whole_block;
                double now = rate((double)size, time_product(timer, whole_product, blocks, size * size, contexts[c]));
                printf(" %14.2f", now);
                last[t] = c == 1 ? now : last[t];
            }
        printf("\n");
    }
    printf("on the largest problem, cold: the block of cold timing gives %.3f of the speed of the other\n",
           last[1] / last[0]);
    bj_lib_close_timer(timer);
    return 0;
}
