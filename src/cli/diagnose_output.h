/* What `diagnose` asks for and found, and its output. */
#pragma once

#include "diagnose/diagnose.h"
#include "diagnose/peaks.h"

enum { BJ_CLI_VARIANTS_MOST = 16 };

/* A way to build the program. */
typedef struct {
    const char *make; /* the command line */
    bj_diagnose_density densities[BJ_DIAGNOSE_DENSITIES];
} bj_cli_variant;

typedef struct {
    const char *machine, *program; /* as people name them */
    const char *no_counters;       /* why */
    bool quiet, measured_profile;  /* there was none, and the probes ran first */
    uint64_t seed;
    size_t round_count;
    bool out_of_time;
    bj_diagnose_chip chip;
    bj_diagnose_request request;
    bj_diagnosis diagnosis;
    bj_cli_variant variants[BJ_CLI_VARIANTS_MOST];
    size_t variant_count, chosen; /* the one that was built last and diagnosed */
    bj_peaks peaks;
    double useful_streams, streams_cpus; /* of the probe streams, with most cpus at work; NaN: not known */
    bool has_work;                       /* --flops, --bytes or --loads */
    bj_peak_work work;
} bj_cli_diagnosis;

/* What the counters point to, in a line or two; `text` has room for 240. */
void bj_cli_tell_witness(const bj_diagnose_witness *witness, double share_gbs, char *text, size_t room);
void bj_cli_print_diagnosis(const bj_cli_diagnosis *d);
bj_status bj_cli_print_diagnosis_json(const bj_cli_diagnosis *d, bj_error *error) BJ_WARN_UNUSED;
/* Variants by their time at a density, fastest first; `order` has room for variant_count. */
void bj_cli_rank_variants(const bj_cli_diagnosis *d, size_t density, size_t *order);
