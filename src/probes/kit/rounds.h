/* Rounds of points: the one way in which probes measure.
 *
 * A round opens one fresh arena where walks need one, and visits all points in random order, so that a minute of
 * somebody else's noise falls on scattered points of one round instead of making a false step. Rounds count on from
 * those that the samples hold already: a probe can be continued later in the run (request->more_rounds). */
#pragma once

#include "base/random.h"
#include "probes/probe.h"

/* What a probe measures with. Zeroed or opened, it can be closed. */
typedef struct {
    const bj_measure_request *request;
    const char *probe;
    bj_curves *samples;
    bj_random random;
    size_t round; /* being measured; samples are recorded there */
    /* For walks, see walks.h. */
    bj_pages pages;     /* what the arenas get: huge until the machine refuses */
    bool pages_fixed;   /* rounds were measured: a refusal now ends them */
    size_t arena_bytes; /* of the arenas to come; shrinks when memory is short */
    bj_arena *arena;
    uint32_t *places; /* scratch of the walk being built */
    size_t places_room;
    unsigned repetitions;          /* of each walk, more of small ones; the least of them is the sample */
    struct bj_kept_orders *orders; /* of walks at once, see together.h; NULL: none yet */
} bj_rounds;

/* `purpose` keeps the random streams of probes, and of parts of one, apart. */
void bj_kit_open_rounds(bj_rounds *rounds, const bj_measure_request *request, const char *probe, bj_curves *samples,
                        uint64_t purpose);
/* Closes the arena and frees the places and orders. */
void bj_kit_close_rounds(bj_rounds *rounds);

typedef struct {
    unsigned count;     /* rounds, unless the request asks for so many more */
    size_t first_round; /* those before are recorded: bj_kit_count_rounds() */
    double seconds;     /* no round begins after so long, once there are enough for an interval; 0: no limit */
    double progress_from, progress_to; /* shares of the probe; both 0: all of it */
    size_t least_bytes;                /* a fresh arena of so many bytes at least for each round; 0: none */
    bool in_order;                     /* points are visited as they are numbered */
    size_t point_count;                /* prepare and after_round may change it */
    size_t batch;                      /* points of one call of measure, at most; 0: 1 */
    void *context;
    /* Before the points of a round, in its fresh arena. NULL: nothing to do. */
    bj_status (*prepare)(void *context, bj_error *error);
    /* Measures and records these points. */
    bj_status (*measure)(void *context, const uint32_t *points, size_t count, bj_error *error);
    /* After all points of a round: adaptive probes plan the next. NULL: nothing to do. */
    bj_status (*after_round)(void *context, bj_error *error);
} bj_round_plan;

/* Ends early, with BJ_OK, where the deadline leaves no time for a further round or the pages of the rounds before are
 * no longer granted. A first round is finished whatever the deadline: half a curve answers nothing. */
bj_status bj_kit_run_rounds(bj_rounds *rounds, bj_round_plan *plan, bj_error *error) BJ_WARN_UNUSED;

typedef struct {
    const char *id, *x_name, *x_unit, *y_name, *y_unit;
} bj_curve_axes;

/* The curve of that id, added where it is not there yet. The pointer lives until the next curve is added. */
bj_status bj_kit_open_curve(bj_rounds *rounds, const bj_curve_axes *axes, bj_curve **curve,
                            bj_error *error) BJ_WARN_UNUSED;
/* A sample of the round that is being measured. */
bj_status bj_kit_record(bj_rounds *rounds, const bj_curve_axes *axes, double x, double y,
                        bj_error *error) BJ_WARN_UNUSED;
/* After a try to measure what a machine may not have: without it, or with a kernel that computes something else, the
 * curve gets that as its outcome (data/curve.h). Other trouble is returned as it is. */
bj_status bj_kit_keep_outcome(bj_curve *curve, bj_status tried, const bj_error *trouble,
                              bj_error *error) BJ_WARN_UNUSED;
/* Rounds of the curve so far; 0: there is no such curve. */
size_t bj_kit_count_rounds(const bj_curves *samples, const char *id);
/* What a curve was measured with, as a number among its attributes: so late rounds know what the first ones chose. No
 * such curve: nothing is kept, and NaN is recalled. */
bj_status bj_kit_keep_fact(bj_rounds *rounds, const char *id, const char *name, double number,
                           bj_error *error) BJ_WARN_UNUSED;
double bj_kit_recall_fact(const bj_curves *samples, const char *id, const char *name);
/* The rounds that a request wants of a probe that plans so many. */
unsigned bj_kit_count_wanted(const bj_measure_request *request, unsigned planned);
/* Seconds by the machine's clock. */
double bj_kit_read_clock(const bj_rounds *rounds);
