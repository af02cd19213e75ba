/* One region's time series over all its threads, in cells of equal time, and what follows from it. Pure. */
#pragma once

#include "regions/regions.h"

/* Cells of a series: half of the bins that a thread keeps, so that a bin is rarely wider than a cell. */
#define BJ_REGIONS_CELLS 128u

typedef struct {
    double from_ns, cell_ns;
    size_t count;
    double calls[BJ_REGIONS_CELLS], ns[BJ_REGIONS_CELLS];
} bj_regions_series;

void bj_regions_collect_series(const bj_regions_file *file, size_t region, bj_regions_series *series);
/* Fills skip, settled, settled_half and swing. */
void bj_regions_judge_start(const bj_regions_file *file, const bj_regions_series *series, bj_regions_summary *summary);
/* Fills skew. */
void bj_regions_judge_skew(const bj_regions_file *file, size_t region, bj_regions_summary *summary);
