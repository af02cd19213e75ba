/* `comm.layers`, read back: what a message costs by layer, size and how many there are at once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct {
    double us;    /* one way */
    double error; /* share of it that it may be off: of the fitted lines, and between two pairs of the layer */
} bj_comm_estimate;

/* `json` is the answer's text, which may come from anywhere; `layer` counts from 0, near to far. Between measured sizes
 * and numbers of pairs straight lines are taken; beyond the last, the last line goes on. BJ_ERR_INPUT: it has no such
 * layer, or none with a curve. */
bj_status bj_profile_estimate_message(const char *json, size_t layer, double bytes, double at_once,
                                      bj_comm_estimate *estimate, bj_error *error) BJ_WARN_UNUSED;
/* Every layer with its time in one line; what does not fit is left out. False: the text is no list of layers. */
bool bj_profile_describe_layers(const char *json, char *text, size_t room);
