/* A simulated machine as its file describes it (docs/machines.md): plain data, checked, defaults filled in.
 *
 * The model reads caches, TLBs, pages, memory, operations, registers, exchange, scheduler and noise; the rest is kept
 * for the probes of messages. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    BJ_SIM_MAX_CPUS = 4096,
    BJ_SIM_MAX_CACHES = 6,
    BJ_SIM_MAX_TLBS = 4,
    BJ_SIM_MAX_DOMAINS = 8,
    BJ_SIM_MAX_OPS = 128,
    BJ_SIM_MAX_REGISTERS = 16,
    BJ_SIM_MAX_UNITS = 8,
    BJ_SIM_MAX_EXCHANGES = 16,
    BJ_SIM_MAX_KINDS = 8,
    BJ_SIM_MAX_NODES = 64, /* of `links` */
    BJ_SIM_MAX_LAYERS = 8,
    BJ_SIM_MAX_RANKS = 16384,
    BJ_SIM_MAX_SEGMENTS = 16,
    BJ_SIM_MAX_CLAIMS = 128,
    BJ_SIM_CLOCKS = 3,
    BJ_SIM_MAX_WAYS = 256,
    BJ_SIM_MAX_TLB_ENTRIES = 16384,
    BJ_SIM_NAME_ROOM = 64,
    BJ_SIM_SUMMARY_ROOM = 512
};

typedef enum { BJ_SIM_LRU, BJ_SIM_PLRU, BJ_SIM_RANDOM } bj_sim_replacement;
typedef enum { BJ_SIM_NEITHER, BJ_SIM_INCLUSIVE, BJ_SIM_EXCLUSIVE } bj_sim_policy;
typedef enum { BJ_SIM_PLAIN, BJ_SIM_HASHED } bj_sim_index;
typedef enum { BJ_SIM_VIRTUAL, BJ_SIM_PHYSICAL } bj_sim_mapped;
typedef enum { BJ_SIM_FRAMES_RANDOM, BJ_SIM_FRAMES_CONTIGUOUS, BJ_SIM_FRAMES_COLOURED } bj_sim_frames_kind;
typedef enum { BJ_SIM_COMPACT, BJ_SIM_SCATTER, BJ_SIM_EXPLICIT } bj_sim_numbering;
typedef enum { BJ_SIM_BALANCED, BJ_SIM_STICKY } bj_sim_balance;

typedef enum {
    BJ_SIM_NEXT_LINE = 1,
    BJ_SIM_ADJACENT = 2,
    BJ_SIM_STRIDE = 4,
    BJ_SIM_REGION = 8
} bj_sim_prefetchers; /* bits */

typedef struct {
    uint64_t level; /* its place in the list, from 1 */
    uint64_t size_bytes, line_bytes, ways, sets;
    double latency_cycles; /* load to use */
    uint64_t shared_by;    /* hardware threads, consecutive in tree order */
    int index, mapped, replacement, policy;
    double gbs; /* one cpu; 0: not given */
} bj_sim_cache_spec;

typedef struct {
    uint64_t entries, ways; /* ways = entries: fully associative */
    double latency_cycles;  /* added on a hit here, but for the first level */
} bj_sim_tlb_spec;

typedef struct {
    uint64_t shared_by;
    double gbs;
} bj_sim_domain_spec;

/* Cpus that differ from others: a run of them in tree order. */
typedef struct {
    uint64_t first, cpus;
    double clock_ghz;
    bj_sim_cache_spec caches[BJ_SIM_MAX_CACHES]; /* all levels: the near ones its own, the others the machine's */
} bj_sim_kind_spec;

typedef struct {
    char name[BJ_SIM_NAME_ROOM]; /* "int32.add" */
    double latency_cycles, per_cycle, in_flight;
} bj_sim_op_spec;

typedef struct {
    char name[BJ_SIM_NAME_ROOM];
    double value;
} bj_sim_named_number;

/* A clock that programs read. */
typedef struct {
    bool is_there;
    double read_ns;       /* what one read costs */
    double resolution_ns; /* the least difference above zero between two reads in a row */
} bj_sim_clock_spec;

typedef struct {
    uint64_t from_bytes;
    double us, gbs;
} bj_sim_segment_spec;

typedef struct {
    char within[BJ_SIM_NAME_ROOM];
    uint64_t ranks;
    double share; /* slowdown of n messages at once: 1 + share * (n - 1) */
    bj_sim_segment_spec segments[BJ_SIM_MAX_SEGMENTS];
    size_t segment_count;
} bj_sim_layer_spec;

/* Rows that one memory controller keeps open, and what others cost. open_rows 0: no such cost. */
typedef struct {
    uint64_t open_rows, row_bytes, banks;
    double conflict_ns;
} bj_sim_dram_spec;

typedef struct {
    char name[BJ_SIM_NAME_ROOM];
    char summary[BJ_SIM_SUMMARY_ROOM];
    double clock_ghz;
    uint64_t cpus, smt, numa_nodes, sockets;
    int numbering;
    int os_number[BJ_SIM_MAX_CPUS]; /* by tree position */

    bj_sim_cache_spec caches[BJ_SIM_MAX_CACHES];
    size_t cache_count;
    double memory_latency_cycles, memory_remote_latency_cycles;
    double memory_cpu_gbs;
    bj_sim_domain_spec domains[BJ_SIM_MAX_DOMAINS];
    size_t domain_count;
    uint64_t misses_in_flight;
    bj_sim_kind_spec kinds[BJ_SIM_MAX_KINDS];
    size_t kind_count; /* 0: all cpus are alike */

    uint64_t page_bytes, huge_bytes;
    int frames;
    bj_sim_tlb_spec tlbs[BJ_SIM_MAX_TLBS];
    size_t tlb_count;
    double page_walk_cycles;
    uint64_t own_pages; /* of the program, which every access uses */
    unsigned prefetchers;

    bj_sim_op_spec ops[BJ_SIM_MAX_OPS];
    size_t op_count;
    bj_sim_named_number registers[BJ_SIM_MAX_REGISTERS];
    size_t register_count;
    double spill_cycles;
    char shared_units[BJ_SIM_MAX_UNITS][BJ_SIM_NAME_ROOM];
    size_t shared_unit_count;
    double slot_ms, interrupt_us, interrupts_per_slot;
    int balance;
    bj_sim_clock_spec clocks[BJ_SIM_CLOCKS]; /* by bj_timer: wall, cpu, cycles */
    bj_sim_named_number exchange_ns[BJ_SIM_MAX_EXCHANGES];
    size_t exchange_count;
    double exchange_overlap;
    double links_ns[BJ_SIM_MAX_NODES][BJ_SIM_MAX_NODES]; /* node by node */
    size_t link_count;                                   /* nodes that have links; 0: none given */
    bj_sim_layer_spec layers[BJ_SIM_MAX_LAYERS];
    size_t layer_count;
    uint32_t rank_at[BJ_SIM_MAX_RANKS]; /* by place: which rank sits there */
    size_t rank_count;                  /* of all layers; 0: no messages */
    bj_sim_dram_spec dram;

    bj_sim_named_number claims[BJ_SIM_MAX_CLAIMS];
    size_t claim_count;
    double jitter, spike_rate, spike_factor, drift, neighbour;
} bj_sim_spec;

/* The kind that a cpu is of; 0 where all are alike. */
size_t bj_sim_find_kind(const bj_sim_spec *spec, size_t position);
/* The machine as a cpu of that kind sees it: clock, caches, and latencies behind them in cycles of its own. */
void bj_sim_see_as_kind(const bj_sim_spec *spec, size_t kind, bj_sim_spec *seen);

/* Reads and checks the file; *spec is the caller's to free(). An error is one line: file, place, what was expected. */
bj_status bj_sim_load_spec(const char *path, bj_sim_spec **spec, bj_error *error) BJ_WARN_UNUSED;
/* The same from text; `name` stands for the file in errors. */
bj_status bj_sim_parse_spec(const char *name, const char *text, size_t length, bj_sim_spec **spec,
                            bj_error *error) BJ_WARN_UNUSED;
