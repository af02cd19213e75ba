/* What the readers of structured values share: pieces of JSON that was parsed already. */
#pragma once

#include <jansson.h>

#include "profile/cpu_tree.h"

/* More rows than anybody has nodes, or than anybody reads. */
#define BJ_CPU_MATRIX_MOST 1024u

/* These fill in what was zeroed; on failure the caller frees what is there, but for groups, of which nothing is left.
 */
bj_status bj_profile_take_cpu_set(const char *key, const json_t *list, bj_cpu_set *set, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_profile_take_cpu_matrix(const char *key, const json_t *rows, bj_cpu_matrix *matrix,
                                     bj_error *error) BJ_WARN_UNUSED;
/* `member`: the groups are objects, with the cpus under that name; NULL: they are lists. */
bj_status bj_profile_take_cpu_groups(const char *key, const json_t *value, const char *member, bj_cpu_groups *groups,
                                     bj_error *error) BJ_WARN_UNUSED;
/* NaN: there is none that is 0 or more. */
double bj_profile_take_number(const json_t *object, const char *member);
