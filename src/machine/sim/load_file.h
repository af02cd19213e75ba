/* What one copy of a program does in one unit of its work, as a load file describes it (docs/machines.md). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    char name[64], summary[512];
    double compute_ns;
    double units;     /* of work, in all; 0: as many as take a second alone */
    uint64_t threads; /* that share the work of a copy at most; 1: as many as it is given cpus */
    struct {
        uint64_t bytes, accesses; /* dependent, at random */
    } reuse;
    struct {
        uint64_t arrays, bytes; /* sequential, and never again */
    } stream;
} bj_sim_load;

bj_status bj_sim_read_load(const char *path, bj_sim_load *load, bj_error *error) BJ_WARN_UNUSED;
/* The same from text; `name` stands for the file in errors. */
bj_status bj_sim_parse_load(const char *name, const char *text, size_t length, bj_sim_load *load,
                            bj_error *error) BJ_WARN_UNUSED;
