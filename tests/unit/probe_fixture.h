/* A made-up run for the analysis of a probe: curves, and what the cache probe found. */
#ifndef BJ_TESTS_UNIT_PROBE_FIXTURE_H
#define BJ_TESTS_UNIT_PROBE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probes/probe.h"

typedef struct {
    bj_curves samples;
    bj_answers earlier, answers;
} fixture;

static inline void put_number(bj_answers *answers, const char *key, double value) {
    bj_answer *answer = NULL;
    bj_error error = {""};
    assert_int_equal(bj_data_put_answer(answers, key, "", &answer, &error), BJ_OK);
    answer->value = value;
}

/* Two levels: 4 and 12 ns, 32 and 256 KiB, and memory at 100 ns. */
static inline void open_fixture(fixture *made) {
    *made = (fixture){0};
    put_number(&made->earlier, "cache.levels", 2);
    put_number(&made->earlier, "cache.L1.latency_ns", 4);
    put_number(&made->earlier, "cache.L2.latency_ns", 12);
    put_number(&made->earlier, "memory.latency_ns", 100);
    put_number(&made->earlier, "cache.L1.capacity_bytes", 32768);
    put_number(&made->earlier, "cache.L2.capacity_bytes", 262144);
}

static inline void close_fixture(fixture *made) {
    bj_data_free_curves(&made->samples);
    bj_data_free_answers(&made->earlier);
    bj_data_free_answers(&made->answers);
}

#endif
