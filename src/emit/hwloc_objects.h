/* The objects of a topology for hwloc: sets of cpus that nest, with what they stand for. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "emit/emit.h"
#include "profile/cpu_values.h"

/* hwloc knows no more levels; more cpus than any machine has, since the sets of all of them are written out. */
enum { BJ_HWLOC_LEVELS = 5, BJ_HWLOC_CPUS = 4096, BJ_HWLOC_CPU_NUMBERS = 8192, BJ_HWLOC_INFOS = 7 };
enum { BJ_HWLOC_NODES_MOST = 1024 };                          /* as many as a matrix has rows */
enum { BJ_HWLOC_MACHINE_INDEX = 1, BJ_HWLOC_NODE_INDEX = 2 }; /* of the first node */

typedef struct {
    double size_bytes, line_bytes, ways; /* 0: not known */
    double infos[BJ_HWLOC_INFOS];        /* 0: not measured */
    /* Which instance of the level a cpu is below, by cpu number: 0 none, else from 1. NULL: the level is left out. */
    unsigned *instance;
} bj_hwloc_level;

extern const struct bj_hwloc_info { const char *quantity, *name; } bj_hwloc_level_infos[BJ_HWLOC_INFOS];

typedef struct {
    unsigned level; /* of the cache; 0: a group */
    int *cpus;      /* ascending */
    size_t count;
    size_t parent;     /* index; SIZE_MAX: the machine */
    double latency_ns; /* between its cpus, of a part of the tree; NaN: not known */
    size_t node;       /* of memory that stands here; SIZE_MAX: none */
} bj_hwloc_object;

typedef struct {
    FILE *out;
    const bj_hwloc_level *levels; /* from 1 */
    const bj_cpu_groups *nodes;   /* of memory; none: one for all */
    uint64_t memory_bytes;        /* of that one */
    const int *cpus;              /* all, ascending */
    size_t cpu_count;
    double latency_ns; /* between the machine's parts */
    bj_hwloc_object *objects;
    size_t count, room;
    size_t *innermost; /* object by cpu number; SIZE_MAX: none */
    unsigned next_index;
    unsigned depth;
    bj_error *error;
} bj_hwloc_objects;

/* Adds the caches of all levels, which nest. */
bj_status bj_hwloc_add_caches(bj_hwloc_objects *objects, unsigned level_count) BJ_WARN_UNUSED;
/* Adds a set, or finds the object of the same cpus, and says what is known of it. *crosses: it is neither within nor
 * apart from some object, and was not added. Cpus that the machine does not have are passed over. */
bj_status bj_hwloc_add_set(bj_hwloc_objects *objects, const bj_cpu_set *set, double latency_ns, size_t node,
                           bool *crosses) BJ_WARN_UNUSED;
/* Below the machine. When all have been added. */
bj_status bj_hwloc_print_objects(bj_hwloc_objects *objects) BJ_WARN_UNUSED;
void bj_hwloc_free_objects(bj_hwloc_objects *objects);

/* Of ints, for qsort() and bsearch(). */
int bj_hwloc_compare_cpus(const void *a, const void *b);
/* hwloc's form of sets: words of 32 bits, the highest first. */
void bj_hwloc_print_cpuset(FILE *out, const char *attribute, const int *cpus, size_t count);
/* Cpus, and the nodes that have some of them. */
void bj_hwloc_print_sets(const bj_hwloc_objects *objects, const int *cpus, size_t count);
/* The set of all nodes. */
void bj_hwloc_print_all_nodes(const bj_hwloc_objects *objects, const char *attribute);
void bj_hwloc_print_info(FILE *out, unsigned depth, const char *name, const char *text);
void bj_hwloc_print_number_info(FILE *out, unsigned depth, const char *name, double number);
