/* What the model is made of, for any kernel: a matrix product, a stencil, a transpose. */
#pragma once

#include "tune/model.h"

/* What one turn of a loop does; operations on vectors. */
typedef struct {
    double arithmetic; /* multiply-adds, or additions and products that cost as much */
    double loads, stores;
    double chain; /* operations of which each waits for the one before, from turn to turn; 0: none */
} bj_tune_loop;

/* The slowest of what a core can start and of what it must wait for. */
double bj_tune_loop_cycles(const bj_tune_machine *machine, const bj_tune_loop *loop);
/* Independent sums that hide the latency of a multiply-add. */
size_t bj_tune_least_sums(const bj_tune_machine *machine);
/* Steps of so many cycles that pass while something comes from the second cache; 0: its latency is not known. */
size_t bj_tune_steps_ahead(const bj_tune_machine *machine, double step_cycles);

/* What must stay in a cache while a block of n × n is worked on, in elements: n*n for each of `squares`, n for each of
 * `rows`, and a line for each of n elements that are a stride apart, for each of `strided`. */
typedef struct {
    size_t element_bytes, line_bytes;
    size_t squares, rows, strided;
    size_t multiple; /* that n must be of; 0: any */
    size_t most;     /* of n, for a reason of its own, such as pages; 0: none */
} bj_tune_footprint;

/* The largest n of which all fits into so many bytes; 0: none does. */
size_t bj_tune_fit_block(size_t cache_bytes, const bj_tune_footprint *footprint);
