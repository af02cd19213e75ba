/* The contract of a probe: measure (asks the machine) and analyse (pure), tied by one descriptor.
 *
 * `measure` records every sample; `analyse` sees samples and earlier answers, nothing else: no clock,
 * no I/O, no claims. The split is what makes simulation, replay and `blackjack analyze` possible.
 * To add a probe: write <name>/probe_<name>.c with the descriptor last, add its line to probe_list.h. The kit
 * (kit/rounds.h, kit/estimate.h) has what probes share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "data/answer.h"
#include "data/curve.h"
#include "machine/machine.h"

typedef enum { BJ_EFFORT_QUICK, BJ_EFFORT_NORMAL, BJ_EFFORT_THOROUGH, BJ_EFFORT_COUNT } bj_effort;

/* For more_rounds: as many as the probe plans for itself. */
#define BJ_ROUNDS_AS_PLANNED ((unsigned)-1)

typedef struct {
    bj_machine *machine;
    int cpu; /* the cpu to measure on, OS number */
    bj_effort effort;
    uint64_t seed;
    double deadline_s;     /* by the machine's clock; INFINITY: none. A probe that reaches it returns what it has */
    uint64_t memory_bytes; /* what the probe may map and allocate in all */
    const char *method;    /* as for analyse; those of a paper measure as it does */
    bool all_pairs;        /* every pair of cpus or ranks is wanted, however many there are */
    const size_t *message_bytes; /* sizes that layers of messages are told apart by; count 0: the probe's own */
    size_t message_count;
    size_t message_most; /* the longest message of a curve; 0: the probe's own */
    /* 0: samples are empty. Else they hold what this probe measured earlier, and so many rounds more are wanted (or
     * BJ_ROUNDS_AS_PLANNED), of the same points on the same kind of pages, or none; the seed is another one then. */
    unsigned more_rounds;
    const bj_answers *earlier;
    /* Called often, never inside a timed region. True: stop now, with BJ_ERR_INTERRUPTED. */
    bool (*report_progress)(void *context, double fraction);
    void *progress_context;
} bj_measure_request;

typedef struct {
    const char *method;        /* one of the probe's own; NULL: the default */
    const bj_answers *earlier; /* answers of other probes, and what --known handed over */
    uint64_t seed;             /* of the resampling */
    const char *y_unit_given;  /* analyze --unit: "ns", "cycles" or NULL (latencies not answered); NULL in a run too */
    unsigned level;            /* analyze --level; 0: not given */
    bool from_table;           /* somebody's curve (analyze): answers are among its x */
} bj_analyse_request;

/* The tolerance of numbers that count something. Not zero, for the last digit of what was computed. */
#define BJ_SAME_NUMBER 1e-9

typedef struct {
    const char *key;        /* "<n>" stands for the level */
    const char *unit;       /* as in the profile */
    double lowest, highest; /* plausible range: outside it the answer is turned into `failed` */
    const char *meaning;
    /* What `high` promises: right within this share of the value, or within `tolerance_least` of it in its unit where
     * that is more. BJ_SAME_NUMBER for what is right or wrong; 0: nothing is promised, as of structured values. The
     * runner lowers what is `high` beside a wider interval, so an analysis judges by the same number. */
    double tolerance, tolerance_least;
} bj_probe_key;

typedef struct {
    const char *name;
    const char *question;                     /* one line */
    unsigned revision;                        /* of the method; part of "method" in every answer */
    const bj_probe_key *provides;             /* the last one has no key */
    const char *const *needs;                 /* probes whose answers it uses, NULL-terminated; NULL: none */
    const char *const *methods;               /* names that --method takes, default first, NULL-terminated */
    const char *paper_method, *servet_method; /* those of them that `paper` (2012) and `servet` stand for; NULL: none */
    const char *const *literal_methods; /* others of them that do as a paper prints, NULL-terminated; NULL: none */
    const char *const *own_methods;     /* that it names in answers and nobody selects, NULL-terminated; NULL: none */
    unsigned requires_cpus;             /* 0: one will do */
    bool compares_cpus;                 /* answers hold for where the cpus are; a hypervisor may move them */
    bool on_request;                    /* runs only where it is named: most machines have nothing for it */
    bool uses_compiler;                 /* it measures generated kernels, which --cc has another compiler build */
    double cost_s[BJ_EFFORT_COUNT];     /* rough; of two cpus where several are compared */
    double cost_cpu_s[BJ_EFFORT_COUNT]; /* what each further cpu adds to it; 0: nothing */
    uint64_t memory_bytes[BJ_EFFORT_COUNT]; /* rough, at most */
    bj_status (*measure)(const bj_measure_request *request, bj_curves *samples, bj_error *error);
    bj_status (*analyse)(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error);
    /* How `blackjack analyze` files a CSV's rows for analyse: the curve id; NULL: analyze does not take this probe. */
    const char *analyze_curve;
    const char *analyze_x_name, *analyze_x_unit;
    bool analyze_one_column; /* rows hold y only, x is their number */
    bool analyze_level;      /* a table is about one level, which --level names */
    bool analyze_matrix;     /* a square or lower triangle: a curve a row, whose number is its attribute `cpu` */
    bool analyze_beside;     /* likewise, with each alone on the diagonal; matrices below each other are rounds */
} bj_probe;

extern const bj_probe *const bj_probes[];
extern const size_t bj_probe_count;
const bj_probe *bj_probe_find(const char *name);

/* Whether the method, which may be NULL, is that one. */
bool bj_probe_is_method(const char *method, const char *name);
/* Between batches of a measurement: says how far it is; BJ_ERR_INTERRUPTED when it shall stop. */
bj_status bj_probe_report(const bj_measure_request *request, double fraction, bj_error *error) BJ_WARN_UNUSED;
/* Whether its share of the budget is spent. */
bool bj_probe_is_late(const bj_measure_request *request);
