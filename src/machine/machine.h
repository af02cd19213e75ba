/* The machine seam: the one place where probes meet hardware, real or simulated.
 *
 * A probe asks for a whole experiment and gets samples back, so the seam costs a native run nothing.
 * The machine also owns the clock, the cpu list and the memory limit. What the operating system
 * claims about the hardware is read by the runner only, after `analyse`: no probe asks for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct bj_machine bj_machine;

/* A fresh mapping: its page frames are drawn when it is opened, and stay until it is closed. Probes
 * open one a round, since the frames a mapping happened to get decide which cache sets it can use. */
typedef struct bj_arena bj_arena;

typedef enum { BJ_PAGES_BASE, BJ_PAGES_HUGE } bj_pages;

/* Offsets are counted in pointers, which is what a walk stores at each place it visits. */
#define BJ_WALK_WORD_BYTES 8u

/* Chains that one thread can walk side by side. */
#define BJ_WALK_CHAINS_MAX 64u

/* One pointer walk: visits places[0], places[1], …, and goes round for as long as it is timed. Several chains: the
 * places are cut into so many equal parts, and one thread goes round all of them side by side, so that misses of
 * different chains overlap. */
typedef struct {
    bj_arena *arena;
    int cpu;                /* OS number */
    const uint32_t *places; /* word offsets into the arena, in visiting order, each at most once */
    size_t count;           /* a multiple of chains */
    unsigned chains;        /* up to BJ_WALK_CHAINS_MAX; 0 means 1 */
} bj_walk;

typedef struct {
    unsigned repetitions; /* timed batches; each goes on where the last stopped */
    size_t min_accesses;  /* of one batch; the machine takes more where its clock is coarse */
} bj_walk_effort;

/* How machines warm up. Building the chain in visiting order is a lap by itself. Further ones settle the replacement
 * state where the walk may fit a cache: one that replaces at random finds room for all lines only after several. Walks
 * of more places than this, 16 MiB of 64-byte lines, would cost more time than that changes. */
#define BJ_WALK_WARM_PLACES (256u * 1024u)
#define BJ_WALK_WARM_LAPS 4u
/* A lap that saves less than this over the one before is the last. */
#define BJ_WALK_WARM_GAIN 0.03

/* Two ways to get rid of what is not the chain. Times are of one step, so 2 · twice − once is without it. */
typedef enum {
    /* One loop, a long one, and so many turns of it or twice as many: cancels the call and the clock. Only the
     * yardstick: one chain of int32 add. */
    BJ_WORK_ONCE,
    BJ_WORK_TWICE,
    /* As many turns, and the body written out once or twice: cancels what the loop itself costs. */
    BJ_UNROLL_ONCE,
    BJ_UNROLL_TWICE
} bj_unroll;

/* Chains that one thread can run side by side. */
#define BJ_CHAIN_ABREAST_MAX 20u
/* Of vectors there are kernels for 1, 2, 3, 4, 6, 8, 10, 12, 16 and 20 chains, one bit each: all would take long to
 * compile and to measure. */
#define BJ_CHAIN_SPARSE 0x88AAFu

/* Chains of dependent operations: `abreast` independent ones side by side. A step of one is an operation, or two in
 * turn. */
typedef struct {
    int cpu;
    const char *type;      /* "int32", …; "doublex4", …: vectors of so many */
    const char *operation; /* "add", …; of vectors also "load" and "store", which wait for nothing */
    const char *then;      /* the second operation of a step; NULL: none */
    unsigned abreast;      /* up to BJ_CHAIN_ABREAST_MAX */
    bj_unroll unroll;
} bj_chain;

/* The fewest and most variables that can be asked for to live at once. */
#define BJ_LIVE_LEAST 3u
#define BJ_LIVE_MOST 132u
/* Of vectors: no processor has more than 64 registers for them. */
#define BJ_LIVE_VECTORS_MOST 80u

/* A loop of additions over `variables` variables, each of which is needed until the next turn: those that find no
 * register are kept in memory. Variable i is added the one half of them away, so that half of all additions can
 * overlap. */
typedef struct {
    int cpu;
    const char *type;
    unsigned variables; /* BJ_LIVE_LEAST to BJ_LIVE_MOST, or BJ_LIVE_VECTORS_MOST */
} bj_live;

typedef enum { BJ_STREAM_READ, BJ_STREAM_WRITE, BJ_STREAM_COPY, BJ_STREAM_UPDATE } bj_stream_kind;

/* Streams begin at and move multiples of this: a block of the widest kernel in either half of a copy. */
#define BJ_STREAM_MULTIPLE_BYTES 2048u

/* Arrays that one update can pass through side by side. */
#define BJ_STREAM_ARRAYS_MAX 128u
/* Each of several arrays has at least so many bytes of the range. */
#define BJ_STREAM_ARRAY_LEAST 65536u

/* A sequential pass over a range of an arena, again and again. A copy goes from the first half of the range to the
 * second, so that all kinds touch the same bytes. An update reads every word and writes it back changed, and counts its
 * bytes twice; its range may be cut into several arrays of equal length, which it passes through side by side, a line
 * of each in turn. */
typedef struct {
    bj_arena *arena;
    int cpu; /* OS number */
    bj_stream_kind kind;
    unsigned arrays;          /* of an update, up to BJ_STREAM_ARRAYS_MAX; 0 means 1. Else 0 or 1 */
    bool past_caches;         /* stores go past them and fetch nothing; BJ_ERR_UNSUPPORTED where there are none */
    size_t first_byte, bytes; /* multiples of BJ_STREAM_MULTIPLE_BYTES */
} bj_stream;

typedef struct {
    unsigned repetitions; /* timed batches of whole passes */
    size_t min_bytes;     /* that one batch moves; the machine takes more where its clock is coarse */
} bj_stream_effort;

/* Walks and streams that are timed together. */
typedef struct {
    const bj_walk *walks;
    size_t walk_count;
    const bj_walk_effort *walk_effort;
    const bj_stream *streams;
    size_t stream_count;
    const bj_stream_effort *stream_effort; /* as many repetitions as of the walks */
} bj_mix;

/* Two cpus that each count up a word of their own as fast as they can: false sharing if the words share a line. */
typedef struct {
    bj_arena *arena;
    int cpu_a, cpu_b;
    uint32_t word_a, word_b; /* word offsets into the arena, as of a walk */
} bj_bounce;

/* A block that two cpus update in turn: one adds one to every word of it, hands over by a flag in a line of its own,
 * and waits until the other has done the same. Its pages are fresh and first touched by one side, whose memory they
 * are. */
typedef struct {
    int cpu_a, cpu_b;
    bool touched_by_b; /* else by cpu_a */
    size_t bytes;      /* a multiple of BJ_WALK_WORD_BYTES */
} bj_exchange;

/* Ranks of a parallel program: where the launcher put each. */
typedef struct {
    unsigned host;    /* hosts are numbered as ranks first name them */
    int cpu;          /* OS number that it is bound to; -1: free to move */
    const char *name; /* of the host, for messages to people; never NULL */
} bj_rank;

/* A message from one rank to another, and one of the same size back. */
typedef struct {
    size_t rank_a, rank_b;
    size_t bytes;
} bj_message;

/* The largest message that can be asked for. */
#define BJ_MESSAGE_MOST_BYTES ((size_t)64 << 20)

/* What threads may compete for: divisions that keep the divider busy, or loads from the first cache. */
typedef enum { BJ_WORK_INT, BJ_WORK_FP, BJ_WORK_MEMORY, BJ_WORK_COUNT } bj_work;

/* Threads that do the same work at once, each free to run on any of the cpus: where they do is the scheduler's
 * business. */
typedef struct {
    bj_work work;
    const int *cpus; /* OS numbers */
    size_t cpu_count;
    size_t threads;
    uint64_t steps; /* divisions or loads of each thread, at least; the same number on every call with the same steps */
} bj_crowd;

/* Threads that do nothing but read the clock, dealt out to the cpus in turn and kept there: left alone (`free`), three
 * may share one cpu while the fourth has another for itself, and what they see is how long that lasts. */
typedef struct {
    const int *cpus;
    size_t cpu_count;
    size_t threads;
    bool free; /* to run on any of the cpus. A simulated scheduler deals them out all the same */
    double seconds;
    double least_gap_ns; /* shorter ones are the loop itself */
    size_t room;         /* gaps of one thread that are kept: the first ones */
} bj_watch;

/* What a cpu does beside the copies of a program, for as long as these run. It presses on one resource, and what it
 * achieves tells how hard, and what the others left it. */
typedef enum {
    BJ_ACT_NOTHING, /* works in registers */
    BJ_ACT_WALK,    /* dependent loads at random through `bytes` */
    BJ_ACT_LINES    /* lines written past the caches where that is known, else through them */
} bj_act;

typedef struct {
    int cpu;
    bj_act act;
    size_t bytes;    /* of a walk: that it goes through; of lines: the range, which need not exceed any cache */
    double gbs;      /* of lines: at most so many; 0: as many as it can */
    unsigned places; /* of lines: arrays that are passed side by side, up to BJ_STREAM_ARRAYS_MAX; 1: in order */
} bj_actor;

/* One copy of the program that is attached to the machine, on cpus of its own. */
typedef struct {
    const int *cpus; /* OS numbers */
    size_t cpu_count;
} bj_copy;

/* Copies and actors that start together. The copies run to their end. No cpu is named twice. */
typedef struct {
    const bj_copy *copies;
    size_t copy_count;
    const bj_actor *actors;
    size_t actor_count;
    double seconds; /* without copies: for so long */
} bj_trial;

/* A program as a list of words, the first of which is looked for in PATH. */
typedef struct {
    char *const *words;                /* "{cpus}" in any of them becomes the number of its cpus; NULL at the end */
    double limit_s;                    /* a copy that takes longer is ended */
    bool (*is_stopped)(void *context); /* asked several times a second; true: end all, with BJ_ERR_INTERRUPTED */
    void *context;
} bj_command;

/* By the processor's own counters: loads that the first level of the cache was asked for, misses of the last one. */
typedef enum { BJ_COUNT_CYCLES, BJ_COUNT_INSTRUCTIONS, BJ_COUNT_LOADS, BJ_COUNT_MISSES, BJ_COUNTS } bj_count;

/* What else is known of the copies of a trial; NaN: the machine cannot tell. */
typedef struct {
    double row_hits;          /* share of lines that found their DRAM row open */
    double counts[BJ_COUNTS]; /* of the first copy, with all its threads */
} bj_trial_notes;

/* Clocks that a program can read: the time that passes, the thread's cpu time, the processor's own counter. */
typedef enum { BJ_TIMER_WALL, BJ_TIMER_CPU, BJ_TIMER_CYCLES, BJ_TIMER_COUNT } bj_timer;

/* What the system took from all threads while an experiment lasted. NaN: not known. */
typedef struct {
    double stolen;    /* share of the cpus' time that the hypervisor gave to others */
    double throttled; /* times that a quota stopped us */
} bj_taken;

typedef struct {
    const char *name;  /* "native", or the simulated machine's */
    const char *where; /* "native" or "sim:NAME", as the profile records it */
    const int *cpus;   /* that we may use, OS numbers */
    size_t cpu_count;
    size_t page_bytes;           /* what the system allocates by */
    size_t huge_bytes;           /* 0: none to be had */
    uint64_t memory_limit_bytes; /* what the process may use in all */
    bool simulated;
    const bj_rank *ranks; /* that can send messages to each other */
    size_t rank_count;    /* 0: none, as where no launcher started us */
    /* Why the processor's counters tell nothing of copies, once something is attached; "": they do. */
    const char *no_counters;
} bj_machine_facts;

/* The verbs: what an implementation provides. Times are in nanoseconds. One that fails leaves no sample unset: what was
 * not measured is NaN or, of gaps, not counted. (Unless the number of samples itself was refused.) */
typedef void bj_verb_close(bj_machine *machine);
/* Seconds since the machine was opened; virtual when simulated. */
typedef double bj_verb_read_clock(bj_machine *machine);
/* Maps `bytes`, touched by `cpu`. Asking for huge pages where none are granted is BJ_ERR_UNSUPPORTED, after
 * verification: never a silent fallback. */
typedef bj_status bj_verb_open_arena(bj_machine *machine, size_t bytes, bj_pages pages, int cpu, bj_arena **arena,
                                     bj_error *error);
typedef void bj_verb_close_arena(bj_machine *machine, bj_arena *arena);
/* All walks at once, behind a barrier. ns_per_access holds walk_count × repetitions values, walk by walk; of several
 * chains it is the time over the accesses of all. */
typedef bj_status bj_verb_run_walks(bj_machine *machine, const bj_walk *walks, size_t walk_count,
                                    const bj_walk_effort *effort, double *ns_per_access, bj_error *error);
/* All streams at once, behind a barrier. gbs holds count × repetitions values, stream by stream, in 10⁹ bytes read plus
 * written by the program a second (what a cache fetches before it is written is not counted, as in STREAM). */
typedef bj_status bj_verb_run_streams(bj_machine *machine, const bj_stream *streams, size_t count,
                                      const bj_stream_effort *effort, double *gbs, bj_error *error);
/* ns per increment, the mean of both cpus, `repetitions` values. */
typedef bj_status bj_verb_run_bounce(bj_machine *machine, const bj_bounce *bounce, unsigned repetitions, double *ns,
                                     bj_error *error);
/* All pairs at once, behind a barrier; no cpu is in two of them. ns_per_turn holds count × repetitions values, pair by
 * pair: the time in which one side updates the block and hands it over, the mean of both. A partner that does not come
 * back within seconds ends the experiment with BJ_ERR_FAILED. */
typedef bj_status bj_verb_run_exchanges(bj_machine *machine, const bj_exchange *exchanges, size_t count,
                                        unsigned repetitions, double *ns_per_turn, bj_error *error);
/* Walks and streams at once, behind a barrier; simulated cpus have one of them each. ns_per_access as of run_walks, gbs
 * as of run_streams, each beside all others from its first to its last batch. */
typedef bj_status bj_verb_run_mix(bj_machine *machine, const bj_mix *mix, double *ns_per_access, double *gbs,
                                  bj_error *error);
/* All pairs at once, behind a barrier; no rank is in two of them. ns_one_way holds count × repetitions values, pair by
 * pair: half a round trip, the mean of a batch of them, so that no clock of another host is read. A rank that does not
 * answer within seconds ends the experiment with BJ_ERR_FAILED and its name. */
typedef bj_status bj_verb_run_messages(bj_machine *machine, const bj_message *messages, size_t count,
                                       unsigned repetitions, double *ns_one_way, bj_error *error);
/* One after the other, all on the cpu of the first. ns_per_step holds count × repetitions values, chain by chain: the
 * time in which each chain takes a step. BJ_ERR_UNSUPPORTED: the machine has no such operation; BJ_ERR_FAILED: the
 * kernel does not compute what it should, so its time would mean nothing. */
typedef bj_status bj_verb_run_chains(bj_machine *machine, const bj_chain *chains, size_t count, unsigned repetitions,
                                     double *ns_per_step, bj_error *error);
/* The same for live variables; ns per addition. */
typedef bj_status bj_verb_run_live(bj_machine *machine, const bj_live *lives, size_t count, unsigned repetitions,
                                   double *ns_per_addition, bj_error *error);
/* Fresh threads, which work for a while before they start together. ns holds `threads` values: from the common start to
 * the end of each. */
typedef bj_status bj_verb_run_crowd(bj_machine *machine, const bj_crowd *crowd, double *ns, bj_taken *taken,
                                    bj_error *error);
/* gaps_ns holds threads × room values, gap_counts how many of each thread's are set. */
typedef bj_status bj_verb_run_watch(bj_machine *machine, const bj_watch *watch, double *gaps_ns, size_t *gap_counts,
                                    bj_taken *taken, bj_error *error);
/* Reads the timer on that cpu, back to back. read_ns: what one read costs; resolution_ns: the least difference above
 * zero between two reads in a row; `repetitions` values each. BJ_ERR_UNSUPPORTED: there is no such timer. */
typedef bj_status bj_verb_run_timer(bj_machine *machine, bj_timer timer, int cpu, unsigned repetitions, double *read_ns,
                                    double *resolution_ns, bj_error *error);
/* seconds: of each copy, from the common start to its end. achieved: of each actor, until the first copy ended: GB/s of
 * lines, ns an access of a walk, NaN of one that does nothing. notes may be NULL. BJ_ERR_USAGE: copies, and no
 * program is attached; BJ_ERR_FAILED: a copy failed, did not end, or left something running, and the error says what.
 */
typedef bj_status bj_verb_run_trial(bj_machine *machine, const bj_trial *trial, double *seconds, double *achieved,
                                    bj_trial_notes *notes, bj_error *error);
/* What the OS says of `key`; false: nothing. Only the runner calls it. */
typedef bool bj_verb_read_claim(bj_machine *machine, const char *key, int cpu, double *value);

/* Every verb by name. The members of bj_machine_verbs follow from this list, and so do the declarations of
 * bj_native_<name> and bj_sim_<name> (native_machine.h, sim_machine.h) and the tables of both: a new verb is a type
 * above, a name here and a function in each machine. */
#define BJ_MACHINE_VERBS(VERB)                                                                                         \
    VERB(close)                                                                                                        \
    VERB(read_clock)                                                                                                   \
    VERB(open_arena)                                                                                                   \
    VERB(close_arena)                                                                                                  \
    VERB(run_walks)                                                                                                    \
    VERB(run_streams)                                                                                                  \
    VERB(run_bounce)                                                                                                   \
    VERB(run_exchanges)                                                                                                \
    VERB(run_mix)                                                                                                      \
    VERB(run_messages)                                                                                                 \
    VERB(run_chains)                                                                                                   \
    VERB(run_live)                                                                                                     \
    VERB(run_crowd)                                                                                                    \
    VERB(run_watch)                                                                                                    \
    VERB(run_timer)                                                                                                    \
    VERB(run_trial)                                                                                                    \
    VERB(read_claim)

typedef struct {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): it is the name of a member. */
#define BJ_VERB_MEMBER(name) bj_verb_##name *name;
    BJ_MACHINE_VERBS(BJ_VERB_MEMBER)
#undef BJ_VERB_MEMBER
} bj_machine_verbs;

struct bj_machine {
    const bj_machine_verbs *verbs;
    bj_machine_facts facts;
    void *self; /* the implementation's own */
};

/* The seed decides everything random on the machine's side (frames and noise when simulated). */
bj_status bj_machine_open_native(uint64_t seed, bj_machine **machine, bj_error *error) BJ_WARN_UNUSED;
bj_status bj_machine_open_simulated(const char *path, uint64_t seed, bj_machine **machine,
                                    bj_error *error) BJ_WARN_UNUSED;

/* What trials run copies of. A native machine takes a command, whose words must outlive it; a simulated one a load, the
 * file of which docs/machines.md describes. */
bj_status bj_machine_attach_command(bj_machine *native, const bj_command *command, bj_error *error) BJ_WARN_UNUSED;
/* threads (may be NULL): that a copy of the load works with at most; 1: with as many as it is given cpus. */
bj_status bj_machine_attach_load(bj_machine *simulated, const char *path, size_t *threads,
                                 bj_error *error) BJ_WARN_UNUSED;
