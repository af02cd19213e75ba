/* Cpus in words: numbers as ranges, groups and other structured values in one line. */
#pragma once

#include "data/answer.h"
#include "profile/cpu_values.h"

/* "0-3,8" with "," between; cut with "..." where there is no more room, which is 24 at least. */
void bj_report_format_cpus(const bj_cpu_set *set, const char *between, char *text, size_t room);
/* "0-3; 4-7", the same way. */
void bj_report_format_groups(const bj_cpu_groups *groups, char *text, size_t room);
/* "4 groups of 2 cpus", "2 kinds", "24 cpus, 3 levels". False: the answer is no value that we know, or a broken one. */
bool bj_report_sum_up(const bj_answer *answer, char *text, size_t room);
/* The same, with the groups or kinds where there are any: "2 groups of 4 cpus (0-3; 4-7)". */
bool bj_report_describe(const bj_answer *answer, char *text, size_t room);
/* One of the kinds, each as far as it is known: "0-7: 5.2 GHz, L1 48 KiB"; room for 128 at least. */
void bj_report_format_kind(const bj_cpu_kinds *kinds, size_t kind, char *text, size_t room);
/* Whether the key is of groups of cpus, or of nodes to nodes. */
bool bj_report_is_sharing(const char *key);
bool bj_report_is_matrix(const char *key);
