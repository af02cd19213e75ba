/* More structured values about cpus, read back from an answer's JSON text: kinds, contention, streams, nodes of memory,
 * pairs. The text may come from anywhere, so everything is checked. Numbers that are not told are NaN. `key` stands for
 * the answer in errors; on failure nothing is left to free. */
#pragma once

#include "profile/cpu_tree.h"

/* `cpu.kinds`: cpus that are alike. */
typedef struct {
    bj_cpu_groups cpus;
    double *clock_ghz, *l1_bytes; /* of each group */
} bj_cpu_kinds;

bj_status bj_profile_read_cpu_kinds(const char *key, const char *json, bj_cpu_kinds *kinds,
                                    bj_error *error) BJ_WARN_UNUSED;
void bj_profile_free_cpu_kinds(bj_cpu_kinds *kinds);

/* `memory.contention`: which cpus disturb each other, worst first. */
typedef struct {
    double gbs; /* of one cpu while another of its group streams */
    bj_cpu_groups groups;
    double *scaling_cpus, *scaling_gbs; /* of one group */
    size_t scaling_count;
    double useful_cpus; /* after which one more brings nothing */
} bj_contention_level;

typedef struct {
    double reference_gbs; /* of one cpu alone */
    bj_contention_level *levels;
    size_t level_count;
} bj_contention;

bj_status bj_profile_read_contention(const char *key, const char *json, bj_contention *contention,
                                     bj_error *error) BJ_WARN_UNUSED;
void bj_profile_free_contention(bj_contention *contention);

/* `memory.streams`: what one cpu gets while so many of them each go through several arrays at once. */
typedef struct {
    double cpus;
    double *arrays, *gbs;
    size_t count;
    double useful; /* arrays up to which nothing is lost */
    bool limited;  /* more cost something; false: no number that was tried did */
} bj_stream_series;

typedef struct {
    bj_stream_series *items;
    size_t count;
} bj_stream_table;

bj_status bj_profile_read_streams(const char *key, const char *json, bj_stream_table *table,
                                  bj_error *error) BJ_WARN_UNUSED;
void bj_profile_free_streams(bj_stream_table *table);

/* `numa.latency_ns`, `numa.gbs`: from the cpus of a row's node to the memory of a column's. */
typedef struct {
    bj_cpu_matrix values;
    bj_cpu_groups nodes; /* as many as rows, or none: not told */
} bj_node_matrix;

/* A matrix, or an object with it and the cpus of its "nodes". Where those are not told they are the parts of the tree's
 * root, which is split where the largest block is, if there are as many; `tree` may be NULL. */
bj_status bj_profile_read_node_matrix(const char *key, const char *json, const bj_cpu_node *tree,
                                      bj_node_matrix *matrix, bj_error *error) BJ_WARN_UNUSED;
void bj_profile_free_node_matrix(bj_node_matrix *matrix);

/* `topology.pairs`, summed up. */
typedef struct {
    size_t count;
    double least_ns, most_ns;
} bj_cpu_pairs;

bj_status bj_profile_read_cpu_pairs(const char *key, const char *json, bj_cpu_pairs *pairs,
                                    bj_error *error) BJ_WARN_UNUSED;
