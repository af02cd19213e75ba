/* Pairs of accesses as the 2012 paper has them (3.1.1), and the line that it reads off them (4.2.2).
 *
 * A segment of some extent is touched at its first and at its last word, segments in random order over a buffer much
 * larger than the caches. As long as the extent is within a line, the second access hits. What a prefetcher brings
 * along counts as line: the answer is the effective one. */
#pragma once

#include "probes/kit/estimate.h"
#include "probes/kit/rounds.h"

/* What segments are aligned to: "safely larger than the cache line". */
#define BJ_PAPER_SEGMENT_BYTES 512u
/* Extents double from two words on. Beyond the alignment only a prefetcher could have an effect. */
#define BJ_PAPER_FIRST_EXTENT 16u
#define BJ_PAPER_LAST_EXTENT 1024u
#define BJ_PAPER_EXTENTS 7u

/* Times the pairs of one extent, point 0 being the first one, over the whole of the open arena, and records the ns of
 * an access. */
bj_status bj_kit_measure_paper_pairs(bj_rounds *rounds, const bj_curve_axes *axes, uint32_t point,
                                     bj_error *error) BJ_WARN_UNUSED;
/* The last extent before the biggest relative step of the monotone curve, in these rounds (NULL: the first ones); NaN:
 * nothing rises. */
double bj_kit_find_paper_line(bj_point_summary *summary, const size_t *index, size_t count);
