/* What the fuzz targets share. Each defines LLVMFuzzerTestOneInput, which libFuzzer or replay_main.c calls. */
#ifndef BJ_TESTS_FUZZ_H
#define BJ_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether to do with an accepted input what takes long. A replay does it with all, a fuzzer with one in eight, told by
 * the bytes: else it would see few inputs. */
static inline bool takes_its_time(const uint8_t *data, size_t size) {
#ifdef BJ_FUZZ
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + data[i];
    return sum % 8 == 0;
#else
    (void)data;
    (void)size;
    return true;
#endif
}

/* A promise of the code: a fuzzer knows broken ones by the abort. */
static inline void require(bool kept, const char *promise) {
    if (kept)
        return;
    fprintf(stderr, "fuzz: broken promise: %s\n", promise);
    abort();
}

/* Bad input is BJ_ERR_INPUT, exit status 2, and its error is one line for a terminal. */
static inline void require_refusal(bj_status status, const bj_error *error) {
    if (status != BJ_ERR_INPUT)
        fprintf(stderr, "fuzz: status %d: %s\n", (int)status, error->text);
    require(status == BJ_ERR_INPUT, "bad input is called so");
    size_t length = strlen(error->text);
    require(length > 0 && length + 1 < sizeof error->text, "the error fits its place");
    require(strncmp(error->text, "input:", 6) == 0, "the error begins with the file");
}

#endif
