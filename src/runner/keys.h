/* Keys of a probe: "cache.L<n>.size_bytes" in its descriptor stands for cache.L1.size_bytes and so on. */
#pragma once

#include <stdbool.h>

#include "probes/probe.h"

/* "<n>" and "<lanes>" take digits, any other "<...>" one part between points, without the lanes of a vector type: so
 * "op.<type>.add" is not "op.doublex4.add", but "op.<type>x<lanes>.add" is. */
bool bj_runner_match_key(const char *pattern, const char *key);
/* The entry of the descriptor that the key belongs to; NULL: this probe does not provide it. */
const bj_probe_key *bj_runner_find_key(const bj_probe *probe, const char *key);
/* Whether the probe takes that method; NULL stands for the default, which all do. */
bool bj_runner_has_method(const bj_probe *probe, const char *method);
