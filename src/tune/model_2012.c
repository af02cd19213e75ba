/* Section 6 of the paper of 2012: blocks from the number of registers, or of values in the first cache. */
#include "tune/model.h"
#include "tune/parts.h"

/* The share of arithmetic in all operations grows with this: products by values moved. */
static double reuse(size_t m, size_t n, size_t k) {
    return (double)(m * n * k) / (double)(m * n + m * k + n * k);
}

static size_t count_2012(size_t m, size_t n) {
    return m * n + m + n;
}

bj_tune_block bj_tune_fit_2012(size_t places) {
    bj_tune_block best = {0, 0, 0};
    double most = 0;
    /* m >= n: the measure does not change when both are exchanged. */
    for (size_t n = 1; count_2012(n, n) <= places; n++) {
        size_t m = (places - n) / (n + 1);
        /* Equal measures: the later n is the squarer block. */
        if (m >= n && reuse(m, n, 1) >= most) {
            most = reuse(m, n, 1);
            best = (bj_tune_block){(unsigned)m, (unsigned)n, 1};
        }
    }
    return best;
}

bj_tune_block bj_tune_fit_2012_printed(size_t places) {
    /* A sum is best shared evenly; what is left over goes to m, then to n. */
    unsigned share = (unsigned)(places / 3), left = (unsigned)(places % 3);
    if (share == 0)
        return (bj_tune_block){0, 0, 0};
    return (bj_tune_block){share + (left > 0), share + (left > 1), share};
}

bj_tune_block bj_tune_practical_2012(size_t registers) {
    bj_tune_block best = {0, 0, 0};
    double most = 0;
    for (size_t n = 2; n <= registers; n += 2)
        for (size_t m = 4; count_2012(m, n) <= registers; m += 4)
            if (m >= n && reuse(m, n, 1) > most) {
                most = reuse(m, n, 1);
                best = (bj_tune_block){(unsigned)m, (unsigned)n, 1};
            }
    return best;
}

size_t bj_tune_cache_block_2012(size_t cache_bytes, size_t element_bytes, size_t line_bytes, size_t multiple) {
    bj_tune_footprint footprint = {.element_bytes = element_bytes,
                                   .line_bytes = line_bytes,
                                   .squares = 1,
                                   .rows = 1,
                                   .strided = 1,
                                   .multiple = multiple};
    return multiple > 0 ? bj_tune_fit_block(cache_bytes, &footprint) : 0;
}
