/* Answers that are not one number, as JSON text: lists and groups of cpus, nodes of a tree, matrices.
 *
 * Written piece by piece; commas are seen to. `key` is the name within an object and NULL within a list. Numbers are
 * rounded as answers are; those that are not finite become null. Cpus are OS numbers and come out ascending. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "data/answer.h"

/* Zeroed, it is empty. */
typedef struct {
    char *text;
    size_t length, room;
    bool failed; /* out of memory: further pieces are dropped, and finishing says so */
} bj_structured;

/* Opens an object '{' or a list '['. */
void bj_structured_open(bj_structured *value, const char *key, char bracket);
/* Closes it, with '}' or ']'. */
void bj_structured_close(bj_structured *value, char bracket);
void bj_structured_add_number(bj_structured *value, const char *key, double number);
void bj_structured_add_flag(bj_structured *value, const char *key, bool flag);
/* Plain text of ours: nothing in it is escaped. */
void bj_structured_add_text(bj_structured *value, const char *key, const char *text);
void bj_structured_add_cpus(bj_structured *value, const char *key, const int *cpus, size_t count);
/* Cpus of the same group_of (any numbers below `count`) as lists, by their lowest cpu; who stands alone is left out. */
void bj_structured_add_groups(bj_structured *value, const char *key, const int *cpus, const size_t *group_of,
                              size_t count);
/* Row by row, as lists of a list. */
void bj_structured_add_matrix(bj_structured *value, const char *key, const double *cells, size_t rows, size_t columns);
/* Opens a node of a tree: its cpus, and the typical latency between its children (NaN: left out). The caller adds what
 * else is known of it, opens "children" where there are any, and closes the node. */
void bj_structured_open_node(bj_structured *value, const int *cpus, size_t count, double latency_ns);
/* Hands the text over to the answer; `value` is empty afterwards in any case. */
bj_status bj_structured_finish(bj_structured *value, bj_answer *answer, bj_error *error) BJ_WARN_UNUSED;
