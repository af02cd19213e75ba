/* `comm.layers`, read back: what a message costs by layer, size and how many there are at once, and which ranks are
 * near to which. The text may come from anywhere, so everything is checked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "profile/cpu_tree.h"

#define BJ_COMM_LAYERS_MOST 64u

/* x ascending. */
typedef struct {
    double *x, *y;
    size_t count;
} bj_comm_series;

/* Numbers that are not told are NaN. */
typedef struct {
    char name[32];
    double latency_us, bytes;                      /* at that size */
    double least_us, most_us;                      /* of its pairs */
    double error, check;                           /* shares: of the fitted lines, and between two of its pairs */
    double start_us, gbs;                          /* of the line through its short messages */
    double hockney_us, hockney_gbs, hockney_error; /* of one line through all */
    double switches[8];                            /* bytes at which another protocol takes over */
    size_t switch_count;
    bj_comm_series curve;   /* microseconds by bytes */
    bj_comm_series scaling; /* times as long, by pairs at once */
    bj_cpu_groups groups;   /* of ranks that are no farther from each other */
} bj_comm_layer;

typedef struct {
    bj_comm_layer *items; /* near to far */
    size_t count;
    size_t rank_count; /* one more than the highest rank of a group */
} bj_comm_layers;

/* Freed with bj_profile_free_comm_layers; on failure nothing is left to free. BJ_ERR_INPUT: it is no list of layers. */
bj_status bj_profile_read_comm_layers(const char *json, bj_comm_layers *layers, bj_error *error) BJ_WARN_UNUSED;
void bj_profile_free_comm_layers(bj_comm_layers *layers);

/* `comm.ranks`: where each rank was. */
typedef struct {
    int *hosts, *cpus; /* hosts from 0, without a gap; cpu -1: not bound to one */
    size_t count, host_count;
} bj_rank_places;
bj_status bj_profile_read_comm_ranks(const char *json, bj_rank_places *ranks, bj_error *error) BJ_WARN_UNUSED;
void bj_profile_free_comm_ranks(bj_rank_places *ranks);

typedef struct {
    double us;    /* one way */
    double error; /* share of it that it may be off: of the fitted lines, and between two pairs of the layer */
} bj_comm_estimate;

/* Between measured sizes and numbers of pairs straight lines are taken; beyond the last, the last line goes on unless
 * it falls. us is NaN where the layer has no curve. */
bj_comm_estimate bj_profile_estimate_in_layer(const bj_comm_layer *layer, double bytes, double at_once);
/* The same from the answer's text; `layer` counts from 0. BJ_ERR_INPUT: it has no such layer, or none with a curve. */
bj_status bj_profile_estimate_message(const char *json, size_t layer, double bytes, double at_once,
                                      bj_comm_estimate *estimate, bj_error *error) BJ_WARN_UNUSED;
/* Every layer with its time in one line; what does not fit is left out. False: the text is no list of layers. */
bool bj_profile_describe_layers(const char *json, char *text, size_t room);

/* Two answers beside each other. */
typedef struct {
    bool same_groups; /* as many layers, each with the same ranks together */
    double ratio;     /* then: of the layer whose times differ most, the second's over the first's */
    bool apart;       /* of that layer: the times of all pairs of one lie beyond those of the other */
} bj_comm_comparison;
bj_status bj_profile_compare_comm_layers(const char *json_a, const char *json_b, bj_comm_comparison *comparison,
                                         bj_error *error) BJ_WARN_UNUSED;
