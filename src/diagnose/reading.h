/* What a set of rounds says, read once: the arithmetic of a diagnosis. Private to this room. */
#pragma once

#include "diagnose/diagnose.h"

typedef struct {
    bj_diagnose_closure closure;
    double pressure[BJ_RESOURCES];
    double talk[3][BJ_RESOURCES], seen[3]; /* logarithms of slowdowns of the references */
    double condition;
    double cache_share; /* times the cache that the copies press on like walks; NaN: beyond what was tried */
    bj_verdict verdict;
    bool rivals;  /* the references cannot tell bandwidth from rows, and the answer depends on it */
    bool is_past; /* the copies press harder on the cache than any antagonist did */
} bj_reading;

/* `index`: rounds; NULL: the first `count`. */
bj_reading bj_diagnose_read(const bj_diagnose_request *request, const bj_diagnose_samples *samples, const size_t *index,
                            size_t count);
/* The verdict in words, with the paper's advice (3.4). */
void bj_diagnose_tell_reason(const bj_diagnose_request *request, const bj_reading *reading, bj_diagnosis *diagnosis);
