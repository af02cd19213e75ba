/* The analysis of the line probe, and the names of its curves. */
#pragma once

#include "probes/probe.h"

#define BJ_LINE_REVISION 4u
/* Pairs beyond the level and inside the next; x is the extent that a pair spans. */
#define BJ_LINE_LEVEL "line.L%zu"
#define BJ_LINE_FIRST "line.L1"
/* The paper's pairs, beyond all caches. */
#define BJ_LINE_MEMORY "line.memory"
/* Increments by two cpus at words that far apart. */
#define BJ_LINE_SHARING "line.sharing"
/* Somebody's curve; x is the distance of the two reads. */
#define BJ_LINE_TABLE "line.table"

/* Of the accesses of a level's walk so many are the second of a pair: half of the seconds are decoys. */
#define BJ_LINE_SECONDS 0.25

/* The extent before the rise of a level's curve (from 1), from all of its rounds; NaN: none. */
double bj_line_find_extent(const bj_curve *curve, size_t level, const bj_answers *earlier);

bj_status bj_line_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error);
