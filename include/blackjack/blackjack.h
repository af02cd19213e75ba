/* libblackjack: what this machine effectively gives a C program, for programs.
 *
 * Open a profile that `blackjack run` wrote, or measure one, and ask it by key ("cache.L1.size_bytes"; `blackjack list
 * --keys` names them all). Every answer has a status and a confidence, and the getters refuse what has too
 * little confidence, so that a program falls back to its own default instead of tuning for a wrong number:
 *
 *     bj_lib_profile *profile;
 *     size_t block = 32768;
 *     if (bj_lib_open_profile(NULL, &profile, NULL) == BJ_LIB_OK) {
 *         bj_lib_get_size(profile, "cache.L1.size_bytes", BJ_LIB_CONFIDENCE_MEDIUM, &block, NULL);
 *         bj_lib_close_profile(profile);
 *     }
 *
 * The library has no global state, prints nothing, and never ends the process. A profile that is open does not change:
 * any number of threads may ask it at once. Texts that are handed out live as long as their profile.
 *
 * NULL is safe everywhere. For a profile, an answer or a timer it is one that has nothing: NULL, 0, false,
 * `undetermined`; functions with a result say BJ_LIB_ERR_USAGE where something that they need is NULL. Errors and what
 * is called optional may always be NULL. errno stays as it was, and a thread is not cancelled inside a call (only after
 * it). A stack of 32 KiB is enough for all but what measures (bj_lib_run_probes, the timer), which refuses less than 96
 * KiB with BJ_LIB_ERR_SYSTEM. */
#ifndef BLACKJACK_BLACKJACK_H
#define BLACKJACK_BLACKJACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <blackjack/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BJ_LIB_API __attribute__((visibility("default")))
#else
#define BJ_LIB_API
#endif

typedef enum {
    BJ_LIB_OK = 0,
    BJ_LIB_ERR_NOT_FOUND,   /* no such file, no profile in any place; no answer of that key */
    BJ_LIB_ERR_UNANSWERED,  /* the key is there, without a value of enough confidence */
    BJ_LIB_ERR_TYPE,        /* the value is no number, or none that fits */
    BJ_LIB_ERR_INPUT,       /* the file is no profile */
    BJ_LIB_ERR_USAGE,       /* asked for something that does not exist */
    BJ_LIB_ERR_SYSTEM,      /* reading, writing, permission, memory */
    BJ_LIB_ERR_INTERRUPTED, /* the progress function said stop */
    BJ_LIB_ERR_FAILED       /* a measurement went wrong */
} bj_lib_result;

/* As in the profile: only `ok` and `unstable` (it moved while it was measured) have a value. */
typedef enum {
    BJ_LIB_STATUS_OK,
    BJ_LIB_STATUS_UNSTABLE,
    BJ_LIB_STATUS_UNDETERMINED,
    BJ_LIB_STATUS_UNSUPPORTED,
    BJ_LIB_STATUS_FAILED
} bj_lib_status;

/* high is meant to be right 99 times in 100, medium 90, low less. Right is within 12.5% of a capacity, 15% of a size,
 * 10% of a latency. */
typedef enum {
    BJ_LIB_CONFIDENCE_NONE,
    BJ_LIB_CONFIDENCE_LOW,
    BJ_LIB_CONFIDENCE_MEDIUM,
    BJ_LIB_CONFIDENCE_HIGH
} bj_lib_confidence;

/* One line: what and where. Wherever one is taken, NULL will do. */
typedef struct {
    char text[400];
} bj_lib_error;

typedef struct bj_lib_profile bj_lib_profile;
typedef struct bj_lib_answer bj_lib_answer;

/* "0.1.0" */
BJ_LIB_API const char *bj_lib_version(void);

/* Opens the profile at `path`. NULL: the first of these that is there:
 *   1. $BLACKJACK_PROFILE, which must be one if it is set and not empty;
 *   2. blackjack-profile.json in the current folder, where `blackjack run` writes it;
 *   3. $XDG_DATA_HOME/blackjackbench/profile.json, where XDG_DATA_HOME is $HOME/.local/share unless set: where
 *      `blackjack run --save` keeps it;
 *   4. /var/lib/blackjackbench/profile.json (or what the build chose).
 * The program looks in the same places. A file that is there but no profile is an error: no later place is tried. One
 * in the second or third place that may not be read counts as not there. Where the process runs with somebody else's
 * rights, only the last place counts. On failure *profile is NULL. */
BJ_LIB_API bj_lib_result bj_lib_open_profile(const char *path, bj_lib_profile **profile, bj_lib_error *error);
/* The same from text, which is not kept. */
BJ_LIB_API bj_lib_result bj_lib_parse_profile(const char *text, size_t length, bj_lib_profile **profile,
                                              bj_lib_error *error);
/* NULL does nothing. */
BJ_LIB_API void bj_lib_close_profile(bj_lib_profile *profile);
/* Writes it, atomically: a reader sees the old file or the new one, never half. What is there is replaced; links of
 * other users in folders where everybody may make files (/tmp) are not followed. */
BJ_LIB_API bj_lib_result bj_lib_write_profile(const bj_lib_profile *profile, const char *path, bj_lib_error *error);
/* The file that it came from; "" for one that was parsed or measured. */
BJ_LIB_API const char *bj_lib_profile_path(const bj_lib_profile *profile);
/* How it was measured: "created", "machine", "cpu", "os", "effort", "version". NULL: no such name. */
BJ_LIB_API const char *bj_lib_profile_info(const bj_lib_profile *profile, const char *name);

/* A number whose status is ok and whose confidence is `least` or more. With BJ_LIB_CONFIDENCE_LOW or below, unstable
 * ones and those of which no confidence is told are taken, too. *value stays as it is unless the result is BJ_LIB_OK.
 */
BJ_LIB_API bj_lib_result bj_lib_get_number(const bj_lib_profile *profile, const char *key, bj_lib_confidence least,
                                           double *value, bj_lib_error *error);
/* The same for bytes and counts, rounded down. */
BJ_LIB_API bj_lib_result bj_lib_get_size(const bj_lib_profile *profile, const char *key, bj_lib_confidence least,
                                         size_t *value, bj_lib_error *error);

/* Answers, to look at whole: by key (NULL: there is none), or by index in the order of the file. */
BJ_LIB_API const bj_lib_answer *bj_lib_find_answer(const bj_lib_profile *profile, const char *key);
BJ_LIB_API size_t bj_lib_count_answers(const bj_lib_profile *profile);
/* NULL: the index is too large. */
BJ_LIB_API const bj_lib_answer *bj_lib_answer_at(const bj_lib_profile *profile, size_t index);

BJ_LIB_API const char *bj_lib_answer_key(const bj_lib_answer *answer);
BJ_LIB_API const char *bj_lib_answer_unit(const bj_lib_answer *answer);
BJ_LIB_API bj_lib_status bj_lib_answer_status(const bj_lib_answer *answer);
BJ_LIB_API bj_lib_confidence bj_lib_answer_confidence(const bj_lib_answer *answer);
/* Why it is not ok; "" when it is, or when nothing is told. */
BJ_LIB_API const char *bj_lib_answer_reason(const bj_lib_answer *answer);
/* "levels/1": method and revision; "" when it is not told. */
BJ_LIB_API const char *bj_lib_answer_method(const bj_lib_answer *answer);
/* These return false, and leave the numbers, where there is none. */
BJ_LIB_API bool bj_lib_answer_number(const bj_lib_answer *answer, double *value);
BJ_LIB_API bool bj_lib_answer_interval(const bj_lib_answer *answer, double *low, double *high);
/* What the operating system says. Never a measurement. */
BJ_LIB_API bool bj_lib_answer_claimed(const bj_lib_answer *answer, double *value);
/* JSON text of a value that is not one number (groups of cpus, a tree); NULL: it is none. */
BJ_LIB_API const char *bj_lib_answer_json(const bj_lib_answer *answer);

typedef enum {
    BJ_LIB_PLACE_NEAR,  /* close together, for threads that share data: the smallest parts of the tree that hold them */
    BJ_LIB_PLACE_SPREAD /* far apart, for threads that each need caches and memory: one a core, siblings last */
} bj_lib_placement;

/* Fills `cpus`, which has room for `count`, with the operating system's number of the cpu that each thread is to run
 * on; threads are pinned by the caller. By `topology.tree`, with `cache.L1.sharing` for cores and `cpu.kinds` where
 * cpus differ: slower ones are used only when the faster ones are full. More threads than cpus begin again from the
 * front. BJ_LIB_ERR_UNANSWERED: there is no tree of at least medium confidence, or it makes no sense, and `cpus` has
 * those that the run was allowed in the system's order; the error says why. After other errors `cpus` is as it was:
 * BJ_LIB_ERR_NOT_FOUND, the profile names no cpus at all. What the process may use now is not asked. */
BJ_LIB_API bj_lib_result bj_lib_place_threads(const bj_lib_profile *profile, size_t count, bj_lib_placement how,
                                              int *cpus, bj_lib_error *error);

/* The microseconds, one way, of a message of so many bytes between two ranks of a layer of `comm.layers` (0: the
 * nearest), while `at_once` pairs of the layer send (1: alone). *relative_error (may be NULL): the share of it that it
 * may be off. BJ_LIB_ERR_NOT_FOUND: nobody ran blackjack-comm; BJ_LIB_ERR_USAGE: there is no such layer. */
BJ_LIB_API bj_lib_result bj_lib_comm_estimate(const bj_lib_profile *profile, size_t layer, size_t bytes, size_t at_once,
                                              double *us, double *relative_error, bj_lib_error *error);

typedef enum {
    BJ_LIB_TALK_NEIGHBOURS, /* each rank with the one before and the one after it */
    BJ_LIB_TALK_ALL,        /* each with every other */
    BJ_LIB_TALK_LITTLE      /* hardly at all */
} bj_lib_talk;

/* Fills `places`, which has room for `count`, with the measured rank (its host and cpu are in `comm.ranks`) whose place
 * each of a program's ranks is best put in, where they send messages of so many bytes by that pattern: near each other
 * or spread, whichever `comm.layers` says costs less. `reason` (may be NULL) gets a sentence that says why.
 * BJ_LIB_ERR_NOT_FOUND: nobody ran blackjack-comm; BJ_LIB_ERR_UNANSWERED: its answer is not sure;
 * BJ_LIB_ERR_USAGE: fewer than two ranks, or more than were measured. */
BJ_LIB_API bj_lib_result bj_lib_place_ranks(const bj_lib_profile *profile, size_t count, bj_lib_talk talk, size_t bytes,
                                            size_t *places, char *reason, size_t reason_room, bj_lib_error *error);
/* The advice that `blackjack show` prints: where to put ranks, how many cpus are of use, which messages to join, how
 * many to send at once, through how many arrays a loop may go, each with its reason, by index. BJ_LIB_ERR_NOT_FOUND:
 * there is no more. */
BJ_LIB_API bj_lib_result bj_lib_get_advice(const bj_lib_profile *profile, size_t index, char *text, size_t room,
                                           bj_lib_error *error);

/* The names of enum values, as the profile has them: "ok", "high". */
BJ_LIB_API const char *bj_lib_status_name(bj_lib_status status);
BJ_LIB_API const char *bj_lib_confidence_name(bj_lib_confidence confidence);

/* The probes that can be run, by index; NULL: the index is too large. */
BJ_LIB_API const char *bj_lib_probe_name(size_t index);
BJ_LIB_API const char *bj_lib_probe_question(size_t index);

typedef struct {
    const char *probe;             /* being measured */
    size_t index, count;           /* of the probes to run, from 0; again while late rounds are measured */
    double fraction;               /* of this probe */
    double elapsed_s, remaining_s; /* of the whole run; remaining is an estimate */
    bool probe_done;               /* sent once when a probe's answers are there */
} bj_lib_progress;

/* Set all to zero, then `struct_size` to its sizeof, then what is wanted: fields may be added at the end later.
 * A library that does not know a field yet refuses it unless it is zero. */
typedef struct {
    size_t struct_size;
    const char *const *probes; /* names; those that they need run first. count 0: all */
    size_t probe_count;
    const char *effort;  /* "quick", "normal" or "thorough"; NULL: normal */
    const char *machine; /* "native", or "sim:FILE" for a simulated one, or "sim:NAME"; NULL: native */
    double budget_s;     /* end after about this time with what there is; 0: no limit; never negative */
    uint64_t seed;       /* of everything random; 0: 1 */
    /* Called often, between batches, in the calling thread. True: stop. NULL: none. */
    bool (*report)(void *context, const bj_lib_progress *progress);
    void *context;
} bj_lib_run_options;

/* Measures on the first cpu that the calling thread may use, in threads of its own; the calling thread stays as it is.
 * A probe that fails does not end the run: its answers say so. BJ_LIB_ERR_INTERRUPTED: stopped by `report`, and
 * *profile holds what was done; after other errors it is NULL. NULL options: all probes. Asks hwloc in a child process,
 * so the process must be able to fork. */
BJ_LIB_API bj_lib_result bj_lib_run_probes(const bj_lib_run_options *options, bj_lib_profile **profile,
                                           bj_lib_error *error);

/* The kernel timer: a function of the caller's, timed the way it will be called. What it times runs in the caller's
 * process; `blackjack time` does the same in a child, and finds kernels that write outside of their operands. */
typedef struct bj_lib_timer bj_lib_timer;

/* Set to zero, then struct_size, as of bj_lib_run_options. */
typedef struct {
    size_t struct_size;
    const bj_lib_profile *profile; /* with the cache sizes; NULL: the default profile, or a look at the caches, which
                                      takes a minute or so */
    const char *clock;             /* "wall", "cpu"; NULL: wall time on a quiet machine, cpu time on a loaded one */
    unsigned threads;              /* that the kernel starts; 0: one */
    uint64_t seed;                 /* of everything random; 0: 1 */
} bj_lib_timer_options;

/* Takes some tenths of a second: measures the clock and finds how much must be read to empty the caches. One thread
 * uses a timer at a time: it pins the calling thread to its first cpu while a timing lasts, unless the kernel has
 * threads. */
BJ_LIB_API bj_lib_result bj_lib_open_timer(const bj_lib_timer_options *options, bj_lib_timer **timer,
                                           bj_lib_error *error);
/* NULL does nothing. */
BJ_LIB_API void bj_lib_close_timer(bj_lib_timer *timer);
/* Which clock it reads, and why. */
BJ_LIB_API const char *bj_lib_timer_clock(const bj_lib_timer *timer);

typedef enum { BJ_LIB_IN, BJ_LIB_OUT, BJ_LIB_INOUT } bj_lib_direction;
typedef enum { BJ_LIB_UP, BJ_LIB_DOWN, BJ_LIB_RANDOM } bj_lib_access;

/* Memory that the kernel gets; it is the timer's, and holds numbers of both signs. All but name and bytes may be zero.
 */
typedef struct {
    const char *name;
    size_t bytes;
    const char *residency; /* "cold", "warm", or in a level and no nearer: "L2"; NULL: as the context says */
    size_t align;          /* a power of two; 0: the line */
    size_t misalign;       /* a power of two above align that its address is no multiple of; 0: any */
    bj_lib_direction direction;
    bj_lib_access access; /* in which order the kernel walks over it */
} bj_lib_operand;

/* Set to zero, then struct_size, as above. */
typedef struct {
    size_t struct_size;
    size_t n;
    const bj_lib_operand *operands;
    size_t operand_count;
    const char *context; /* where operands are that do not say: "cold", "warm", "L2"; NULL: cold */
    unsigned samples;    /* exactly so many, three at least; 0: seven, and more while they differ */
    double budget_s;     /* 0: a second beyond the usual samples */
} bj_lib_timing_options;

/* struct_size is set by the caller; fields may be added at the end later. */
typedef struct {
    size_t struct_size;
    double time_ns, low_ns, high_ns; /* of one call, with its 95% interval */
    bj_lib_status status;
    bj_lib_confidence confidence;
    size_t calls_per_timing, samples;
    double seen_ns, expected_ns; /* witness of an operand in a level, and that level's latency; NaN: none */
    char reason[240];            /* when the status is not ok */
} bj_lib_timing;

BJ_LIB_API bj_lib_result bj_lib_time_kernel(bj_lib_timer *timer, bj_lib_kernel *kernel,
                                            const bj_lib_timing_options *options, bj_lib_timing *timing,
                                            bj_lib_error *error);
/* Two kernels over the same operands, in turns. *ratio is the second's time by the first's, with its interval: an
 * interval that holds 1 shows no difference. */
BJ_LIB_API bj_lib_result bj_lib_time_pair(bj_lib_timer *timer, bj_lib_kernel *first, bj_lib_kernel *second,
                                          const bj_lib_timing_options *options, double *ratio, double *low,
                                          double *high, bj_lib_error *error);

/* What two-phase tuning saw of a candidate; NaN: it was not timed so. */
typedef struct {
    double warm_ns, cold_ns;
} bj_lib_candidate;

/* Tries all candidates with operands in the caches, which is cheap and shows how well they compute; then the best
 * `finalists` of them (0: three) in the context of the options, and returns the best of those. The operands must leave
 * their residency to the context. `seen`, one a candidate, receives the evidence; may be NULL. */
BJ_LIB_API bj_lib_result bj_lib_tune_kernel(bj_lib_timer *timer, bj_lib_kernel *const *candidates, size_t count,
                                            const bj_lib_timing_options *options, size_t finalists, size_t *best,
                                            bj_lib_candidate *seen, bj_lib_error *error);

/* ---- blocks by arithmetic: what `blackjack tune` is made of, for kernels of your own (docs/tuning.md). Cycles are
 * additions of 32-bit integers, which take one on most machines. */

/* Set to zero, then struct_size = sizeof it. */
typedef struct {
    size_t struct_size;
    const char *type;      /* "float", "double"; NULL: double */
    unsigned vector_bytes; /* widest that your compiler's flags allow; 0: as wide as pays; of one element: no vectors */
    unsigned registers;    /* that its instruction set names; 0: as many as were found */
    bool separate;         /* it has no multiply-add: a product and a sum instead */
} bj_lib_core_options;

/* One core, as a loop sees it; set struct_size before. Fields may be changed: a core that nobody measured will do. */
typedef struct {
    size_t struct_size;
    size_t element_bytes;
    unsigned lanes, registers; /* of a vector; vectors that live in registers at once */
    double latency, per_cycle; /* of a multiply-add, vectors of them started */
    double loads_per_cycle, stores_per_cycle;
    size_t l1_bytes, l2_bytes, line_bytes; /* l2_bytes 0: not known */
    double l2_latency;                     /* in cycles; 0: not known */
} bj_lib_core;

/* From the probes vector, op, live, cache and line. BJ_LIB_ERR_UNANSWERED names the first answer that is missing and
 * the probe that gives it; *core is zero then but for its size. */
BJ_LIB_API bj_lib_result bj_lib_read_core(const bj_lib_profile *profile, const bj_lib_core_options *options,
                                          bj_lib_core *core, bj_lib_error *error);

/* What one turn of a loop does with vectors. */
typedef struct {
    double arithmetic; /* multiply-adds, or what costs as much */
    double loads, stores;
    double chain; /* operations of which each waits for the one before, from turn to turn; 0: none */
} bj_lib_loop;

/* Cycles of a turn with operands in the first cache: the slowest of what can be started and of what must be waited for.
 * NaN: the core has no throughputs. */
BJ_LIB_API double bj_lib_loop_cycles(const bj_lib_core *core, const bj_lib_loop *loop);
/* Independent sums that hide the latency of a multiply-add; 1: the core has no throughputs. */
BJ_LIB_API size_t bj_lib_least_sums(const bj_lib_core *core);
/* Steps of so many cycles that pass while something comes from the second cache: how far ahead to ask for it. 0: its
 * latency is not known. */
BJ_LIB_API size_t bj_lib_steps_ahead(const bj_lib_core *core, double step_cycles);
/* The tile of a matrix product with the fewest cycles a multiply-add, in vectors by columns. BJ_LIB_ERR_USAGE: the
 * registers hold none, or the core has no throughputs. */
BJ_LIB_API bj_lib_result bj_lib_fit_tile(const bj_lib_core *core, unsigned *rows, unsigned *columns,
                                         bj_lib_error *error);

/* What must stay in a cache while a block of n x n is worked on, in elements. */
typedef struct {
    size_t squares;  /* blocks of n * n */
    size_t rows;     /* rows or columns of n */
    size_t strided;  /* rows of n of which each element is in a line of its own */
    size_t multiple; /* that n must be of; 0: any */
    size_t most;     /* of n, for a reason of its own, such as pages; 0: none */
} bj_lib_footprint;

/* The largest n of which all fits into so many bytes of a cache; 0: none does. */
BJ_LIB_API size_t bj_lib_fit_block(const bj_lib_core *core, size_t cache_bytes, const bj_lib_footprint *footprint);
/* The block of 2012 (section 6 of the paper): m and n of the largest share of arithmetic with mn + m + n <= places. */
BJ_LIB_API void bj_lib_fit_places(size_t places, unsigned *m, unsigned *n);

#ifdef __cplusplus
}
#endif

#endif
