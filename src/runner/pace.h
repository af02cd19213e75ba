/* How long the rest of a run will take, from what the probes cost by their own word and what they took so far. */
#pragma once

#include <stdbool.h>

/* A late round by what its probe cost: one beside some ten, without exploring. */
#define BJ_LATE_COST 0.08

typedef struct {
    double total_cost_s; /* of all probes to run, by their descriptors */
    double budget_s;
    bool started;
    double elapsed_s, remaining_s; /* of the last call */
} bj_pace;

/* `done_cost_s` is the part of total_cost_s that is behind us. Smoothed, so that the number does not jump. */
double bj_runner_estimate_remaining(bj_pace *pace, double done_cost_s, double elapsed_s);
