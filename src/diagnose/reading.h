/* What a set of rounds says, read once: the arithmetic of a diagnosis. Private to this room. */
#pragma once

#include "diagnose/diagnose.h"

typedef struct {
    bj_diagnose_closure closure;
    double pressure[BJ_RESOURCES];
    double talk[3][BJ_RESOURCES], seen[3]; /* logarithms of slowdowns of the references */
    double condition;
    bj_verdict verdict;
    bool rivals; /* the references cannot tell bandwidth from rows, and the answer depends on it */
} bj_reading;

/* Of some rounds, NULL: the first `count`: the logarithm of a subject's slowdown against null actors. */
double bj_diagnose_slowed(const bj_diagnose_round *rounds, const size_t *index, size_t count, bj_subject subject,
                          bj_company company);

/* `index`: rounds; NULL: the first `count`. */
bj_reading bj_diagnose_read(const bj_diagnose_request *request, const bj_diagnose_samples *samples, const size_t *index,
                            size_t count);
/* The verdict in words, with the paper's advice (3.4). */
void bj_diagnose_tell_reason(const bj_diagnose_request *request, const bj_reading *reading, bj_diagnosis *diagnosis);
