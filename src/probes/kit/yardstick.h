/* The yardstick in a probe's own rounds: a dependent 32-bit addition, timed between what is divided by it.
 *
 * A clock that moves, or a cpu that is shared, is not the same a minute later; so what is told in cycles carries its
 * own yardstick. T(w) and T(2w), the times of so many additions and of twice as many, are kept apart, each as time of
 * one addition: curves `<probe>.yardstick.once` and `<probe>.yardstick`. Disturbance only adds time, so an addition is
 * (least T(2w) - least T(w)) / w, never the least of differences: one whose T(w) was disturbed is too small. */
#pragma once

#include "probes/kit/rounds.h"

typedef struct {
    const bj_curve *twice, *once;
} bj_yardstick;

/* Times it on the cpu of the probe, some milliseconds, and records it in the round that is being measured. To be called
 * several times a round, between the points. */
bj_status bj_kit_time_yardstick(bj_rounds *rounds, bj_error *error) BJ_WARN_UNUSED;

/* False: the probe has not timed it (a profile of an older version, a table). The curves stay the samples'. */
bool bj_kit_find_yardstick(const bj_curves *samples, const char *probe, bj_yardstick *yardstick);
/* ns of an addition, one cycle as far as we know, over rounds chosen by `index` (NULL: the first `count`): a resample
 * of rounds hands over the index that it draws the dividend by. NaN: these rounds do not tell. */
double bj_kit_read_yardstick(const bj_yardstick *yardstick, const size_t *index, size_t count);
/* Names its curves as evidence. */
void bj_kit_cite_yardstick(bj_answer *answer, const bj_yardstick *yardstick);
