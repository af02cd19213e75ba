/* Keys of a probe: "cache.L<n>.size_bytes" in its descriptor stands for cache.L1.size_bytes and so on. */
#pragma once

#include <stdbool.h>

#include "probes/probe.h"

/* "<n>" and "<lanes>" take digits, any other "<...>" one part between points, without the lanes of a vector type: so
 * "op.<type>.add" is not "op.doublex4.add", but "op.<type>x<lanes>.add" is. */
bool bj_runner_match_key(const char *pattern, const char *key);
/* The entry of the descriptor that the key belongs to; NULL: this probe does not provide it. */
const bj_probe_key *bj_runner_find_key(const bj_probe *probe, const char *key);
/* The words that stand for a paper's way in every probe that has one: the 2012 paper's, and Servet's. */
#define BJ_METHOD_PAPER "paper"
#define BJ_METHOD_SERVET "servet"
/* What a name that --method takes means to the probe: one of its own methods; NULL: its default, since the name is NULL
 * or nothing to it. */
const char *bj_runner_find_method(const bj_probe *probe, const char *name);
/* Whether one of the probe's methods (NULL: its default) does as a paper prints and is not the default. What such a
 * method gets wrong by itself is in every round alike, where resampling does not see it. */
bool bj_runner_is_literal(const bj_probe *probe, const char *method);
/* The caveat of its answers. */
#define BJ_LITERAL_CAVEAT                                                                                              \
    "by a paper's method to the letter: what it gets wrong by itself is the same in every round, so that rounds that " \
    "agree do not make it surer"
/* Whether the probe takes that name; NULL stands for the default, which all do. */
bool bj_runner_has_method(const bj_probe *probe, const char *name);
