/* Walks and streams on many cpus at once, each in an arena of its own: for probes that see what cpus do to each other.
 */
#pragma once

#include "machine/walk_order.h"
#include "probes/kit/rounds.h"

/* One cpu and the range that it walks or streams. */
typedef struct {
    int cpu;
    int touched_by; /* whose memory it is: mostly its own */
    size_t bytes;   /* of all walkers the same; of a stream a multiple of BJ_STREAM_MULTIPLE_BYTES */
} bj_partaker;

typedef struct {
    const bj_partaker *walkers;
    size_t walk_count;
    const bj_partaker *streamers; /* none of them is a walker */
    size_t stream_count;
    bj_walk_order order;
    size_t grain_bytes;
    bj_stream_kind kind;
    unsigned arrays;      /* of each stream; 0 means 1 */
    double *alone_ns;     /* not NULL: each walker by itself first, in the same arena and order */
    unsigned repetitions; /* the median of them is the sample: what disturbs others is no spike to be left out */
} bj_party;

/* Huge pages for arenas of so many bytes on so many cpus at once, where the machine grants them and they take no more
 * memory than the probe may use; base pages otherwise. Sets rounds->pages. */
void bj_kit_choose_pages(bj_rounds *rounds, size_t bytes, size_t count);
/* The same for arenas of different sizes; false: not even base pages find room. */
bool bj_kit_choose_pages_for(bj_rounds *rounds, const bj_partaker *partakers, size_t count);
/* How many arenas of so many bytes the probe may have at once. */
size_t bj_kit_count_affordable(const bj_rounds *rounds, size_t bytes);
/* A sample of each walker and each streamer. Opens the arenas and closes them. A machine that refuses huge pages is
 * asked for base pages, once and for all. */
bj_status bj_kit_run_together(bj_rounds *rounds, const bj_party *party, double *walk_ns, double *stream_gbs,
                              bj_error *error) BJ_WARN_UNUSED;
/* Orders of walks last from experiment to experiment of a round; those of the last one are freed with the rounds. */
void bj_kit_free_orders(bj_rounds *rounds);
