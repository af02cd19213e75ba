/* How long is a cache line, and how much arrives from memory at once?
 *
 * Pairs of accesses (2012 paper, 3.1.1): the second is free as long as both lie in one line. The paper's pairs, beyond
 * all caches, give the effective fetch size, prefetchers included. For the line itself they are made prefetcher-proof:
 * inside the next level, in random directions, anywhere in the two halves of an aligned extent, and with decoys in
 * place of half of the seconds. A pair has a cell of its own whatever the extent, so the TLB costs the same at all of
 * them. Where there are two cpus, increments of words that far apart are a second witness: false sharing. */
#include <math.h>
#include <stdio.h>

#include "probes/kit/known_caches.h"
#include "probes/kit/walks.h"
#include "probes/line/line_answer.h"
#include "probes/line/line_constants.h"
#include "probes/line/line_paper.h"

#define RANDOM_PURPOSE 0x6c696e65u
#define MIB 1048576.0
#define FIRST_EXTENT 16u
/* A pair's cell: twice the longest line that we look for. */
#define CELL_BYTES 512u
#define MEMORY_LAST_LINES 32u
#define SHARING_LAST_EXTENT 1024u
#define EXTENTS_MAX 8u
/* Lines that a walk touches at least, by those of the level: so many do not fit under any replacement. With all seconds
 * in lines of their own it is a third more, which must still fit into the next. */
#define OVER_LEVEL 2.1
/* The usual line, for the first look. */
#define FIRST_LINE_BYTES 64u
/* The paper's pairs touch half of the buffer's lines whatever their extent, or what is cached of it would differ: they
 * begin at every second line where one line holds them, at every fourth where they take two. */
#define LINES_APART_IN_ONE 2u
#define LINES_APART_IN_TWO 4u
/* What they touch, by the last cache. */
#define OVER_LAST 1.4
#define LEAST_OVER_LAST 1.2
#define LEAST_MEMORY_BYTES (16 * MIB)
#define REPETITIONS 3u
#define PARTNERS_MAX 5u
#define BOUNCES 3u
/* Of the probe's time, what is spent on levels and false sharing where memory is measured too. */
#define SHARE_OF_LEVELS 0.6
/* Attributes that tell late rounds what the first ones found. */
#define LINE_BYTES "line_bytes"
#define PARTNER_CPU "partner_cpu"

typedef struct {
    unsigned rounds, memory_rounds;
    double most_bytes;       /* of the buffer beyond all caches */
    double most_level_bytes; /* of a level's walk */
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {
    {6, 1, 48 * MIB, 8 * MIB}, {6, 1, 128 * MIB, 32 * MIB}, {24, 8, 512 * MIB, 128 * MIB}};

/* Levels from 1 on, and what is no level. */
enum { SHARING = 0, MEMORY = BJ_KNOWN_CACHES_MAX + 1 };

typedef struct {
    size_t level, extent;
} line_point;

typedef struct {
    bj_rounds rounds;
    bj_round_plan plan;
    const effort_plan *effort;
    bj_known_caches caches;
    size_t line_bytes; /* as far as it is known */
    int partner;       /* cpu for false sharing; -1: none */
    line_point points[(BJ_KNOWN_CACHES_MAX + 1) * EXTENTS_MAX];
} line_run;

static size_t count_cells(const line_run *run, size_t level) {
    return (size_t)(OVER_LEVEL * run->caches.holds_bytes[level - 1] / (double)run->line_bytes);
}

/* A word in one half of some aligned extent of the cell: two of them, one from each half, are in one line or not
 * whatever their distance, which thus need not be the same twice; and they use all sets of a cache. */
static uint32_t pick_word(bj_random *random, size_t block_byte, size_t extent, bool upper) {
    size_t half = extent / 2;
    size_t word = (size_t)bj_random_below(random, half / BJ_WALK_WORD_BYTES);
    return (uint32_t)((block_byte + (upper ? half : 0)) / BJ_WALK_WORD_BYTES + word);
}

static size_t pick_block(bj_random *random, uint32_t cell, size_t extent) {
    return cell * (size_t)CELL_BYTES + (size_t)bj_random_below(random, CELL_BYTES / extent) * extent;
}

/* One in three cells gets a pair; of the others two make a pair whose second is a decoy. Returns how many places. */
static size_t order_pairs(line_run *run, size_t cells, size_t extent) {
    bj_random *random = &run->rounds.random;
    uint32_t *places = run->rounds.places, *cell = places + 2 * cells;
    for (size_t i = 0; i < cells; i++)
        cell[i] = (uint32_t)i;
    bj_random_shuffle_u32(random, cell, cells);
    size_t count = 0, used = 0, pairs = 0, decoys = 0;
    while (used + 2 <= cells) {
        bool upper = bj_random_below(random, 2) != 0;
        /* As many of each, but nobody can tell which is next. */
        bool decoy = bj_random_below(random, 2 + pairs + decoys) < 1 + pairs;
        size_t block = pick_block(random, cell[used++], extent);
        places[count++] = pick_word(random, block, extent, upper);
        if (decoy)
            block = pick_block(random, cell[used++], extent);
        places[count++] = pick_word(random, block, extent, !upper);
        pairs += !decoy;
        decoys += decoy;
    }
    return count;
}

static size_t order_paper_pairs(line_run *run, size_t extent) {
    size_t apart = (extent > run->line_bytes ? LINES_APART_IN_TWO : LINES_APART_IN_ONE) * run->line_bytes;
    size_t pairs = run->rounds.arena_bytes / apart;
    uint32_t *places = run->rounds.places, *first = places + pairs;
    for (size_t i = 0; i < pairs; i++)
        first[i] = (uint32_t)(i * apart / BJ_WALK_WORD_BYTES);
    bj_random_shuffle_u32(&run->rounds.random, first, pairs);
    uint32_t all = (uint32_t)(pairs * apart / BJ_WALK_WORD_BYTES);
    /* From the front, which never overtakes what is still to be read. */
    for (size_t i = 0; i < pairs; i++) {
        uint32_t at = first[i];
        places[2 * i] = at;
        places[2 * i + 1] = (at + (uint32_t)(extent / BJ_WALK_WORD_BYTES) - 1) % all;
    }
    return 2 * pairs;
}

static bj_status walk_pairs(line_run *run, const line_point *point, double *ns, bj_error *error) {
    bool paper = point->level == MEMORY;
    size_t cells = paper ? 0 : count_cells(run, point->level);
    size_t room = paper ? run->rounds.arena_bytes / run->line_bytes : 3 * cells;
    BJ_TRY(bj_kit_reserve_places(&run->rounds, room, error));
    size_t count = paper ? order_paper_pairs(run, point->extent) : order_pairs(run, cells, point->extent);
    return bj_kit_walk_places(&run->rounds, run->rounds.places, count, ns, error);
}

static bj_status bounce(line_run *run, int partner, size_t extent, double *ns, bj_error *error) {
    bj_machine *machine = run->rounds.request->machine;
    double samples[BOUNCES];
    size_t blocks = run->rounds.arena_bytes / (2 * SHARING_LAST_EXTENT);
    size_t first = (size_t)bj_random_below(&run->rounds.random, blocks) * 2 * SHARING_LAST_EXTENT;
    bj_bounce words = {.arena = run->rounds.arena,
                       .cpu_a = run->rounds.request->cpu,
                       .cpu_b = partner,
                       .word_a = (uint32_t)(first / BJ_WALK_WORD_BYTES),
                       .word_b = (uint32_t)((first + extent) / BJ_WALK_WORD_BYTES - 1)};
    BJ_TRY(machine->verbs->run_bounce(machine, &words, BOUNCES, samples, error));
    /* The greatest: two cpus that a hypervisor runs by turns do not meet. */
    *ns = fmax(samples[0], fmax(samples[1], samples[2]));
    return BJ_OK;
}

/* Cpus that share all caches never bounce a line: of some from all over the list, the one that takes longest. */
static bj_status find_partner(line_run *run, bj_error *error) {
    const bj_machine_facts *facts = &run->rounds.request->machine->facts;
    size_t count = facts->cpu_count;
    const size_t candidates[PARTNERS_MAX] = {1, count / 2, count - 1, count / 4, 0};
    double dearest = 0;
    for (size_t i = 0; i < PARTNERS_MAX && count > 1; i++) {
        int cpu = facts->cpus[candidates[i]];
        bool again = cpu == run->rounds.request->cpu;
        for (size_t k = 0; k < i; k++)
            again = again || facts->cpus[candidates[k]] == cpu;
        double together = 0, apart = 0;
        if (again)
            continue;
        BJ_TRY(bounce(run, cpu, FIRST_EXTENT, &together, error));
        BJ_TRY(bounce(run, cpu, 2 * SHARING_LAST_EXTENT, &apart, error));
        if (together > LEAST_BOUNCE * apart && together > dearest) {
            dearest = together;
            run->partner = cpu;
        }
    }
    return BJ_OK;
}

static bj_status measure_point(line_run *run, const line_point *point, bj_error *error) {
    char id[48] = BJ_LINE_SHARING;
    bj_curve_axes axes = {id, "extent", "bytes", "time_per_access", "ns"};
    double ns = 0;
    if (point->level == SHARING)
        axes.y_name = "time_per_increment";
    else if (point->level == MEMORY)
        axes.id = BJ_LINE_MEMORY;
    else
        snprintf(id, sizeof id, BJ_LINE_LEVEL, point->level);
    BJ_TRY(point->level == SHARING ? bounce(run, run->partner, point->extent, &ns, error)
                                   : walk_pairs(run, point, &ns, error));
    return bj_kit_record(&run->rounds, &axes, (double)point->extent, ns, error);
}

static bj_status measure_points(void *context, const uint32_t *points, size_t count, bj_error *error) {
    line_run *run = context;
    (void)count; /* one by one */
    return measure_point(run, &run->points[*points], error);
}

static void add_points(line_run *run, size_t level, size_t first_extent, size_t last_extent) {
    for (size_t extent = first_extent; extent <= last_extent; extent *= 2)
        run->points[run->plan.point_count++] = (line_point){level, extent};
}

/* An outer level's line is no shorter than the first's. */
static void list_points(line_run *run) {
    for (size_t level = 1; level <= run->caches.count; level++) {
        size_t cells = count_cells(run, level);
        if (cells > 0 && cells * CELL_BYTES <= run->rounds.arena_bytes)
            add_points(run, level, level > 1 ? run->line_bytes : FIRST_EXTENT, CELL_BYTES);
    }
    if (run->partner >= 0)
        add_points(run, SHARING, FIRST_EXTENT, SHARING_LAST_EXTENT);
}

/* NaN, or what is no line: nothing new. */
static void take_line(line_run *run, double bytes) {
    if (bytes >= FIRST_EXTENT && bytes <= CELL_BYTES)
        run->line_bytes = (size_t)bytes;
}

static void learn_line(line_run *run, const bj_curves *samples) {
    const bj_curve *curve = bj_data_find_curve(samples, BJ_LINE_FIRST);
    take_line(run, bj_line_find_extent(curve, 1, run->rounds.request->earlier));
}

/* A first look with the usual line, so that the walks touch as much as they should with the real one. */
static bj_status look_for_line(line_run *run, bj_error *error) {
    bj_curves *samples = run->rounds.samples, look = {0};
    bj_status status = BJ_OK;
    run->rounds.samples = &look;
    for (size_t extent = FIRST_EXTENT; status == BJ_OK && extent <= CELL_BYTES; extent *= 2)
        status = measure_point(run, &(line_point){1, extent}, error);
    run->rounds.samples = samples;
    learn_line(run, &look);
    bj_data_free_curves(&look);
    return status;
}

/* In the arena of the first round. */
static bj_status explore(void *context, bj_error *error) {
    line_run *run = context;
    if (run->plan.point_count > 0)
        return BJ_OK;
    BJ_TRY(look_for_line(run, error));
    BJ_TRY(find_partner(run, error));
    list_points(run);
    return BJ_OK;
}

/* What exploring found in the first round, for late ones. */
static void recall(line_run *run) {
    const bj_machine_facts *facts = &run->rounds.request->machine->facts;
    take_line(run, bj_kit_recall_fact(run->rounds.samples, BJ_LINE_FIRST, LINE_BYTES));
    double partner = bj_kit_recall_fact(run->rounds.samples, BJ_LINE_SHARING, PARTNER_CPU);
    for (size_t i = 0; i < facts->cpu_count; i++)
        if (facts->cpus[i] == partner)
            run->partner = facts->cpus[i];
    list_points(run);
}

/* Late rounds have the arenas of the first ones; false: they cannot. */
static bool recall_arena(line_run *run, const char *id) {
    return run->rounds.request->more_rounds == 0 ||
           bj_kit_recall_arena(&run->rounds, bj_data_find_curve(run->rounds.samples, id));
}

static bj_status keep_arena(line_run *run, const char *id, bj_error *error) {
    return bj_kit_keep_arena(&run->rounds, (bj_curve *)bj_data_find_curve(run->rounds.samples, id), error);
}

static bj_status measure_levels(line_run *run, double progress_to, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    double most = fmin(run->effort->most_level_bytes, (double)request->memory_bytes / 4), wanted = 0;
    run->line_bytes = FIRST_LINE_BYTES;
    for (size_t level = 1; level <= run->caches.count; level++) {
        /* A line of half that length takes twice as many. */
        double bytes = 2.0 * CELL_BYTES * (double)count_cells(run, level);
        if (level == 1 || bytes <= most)
            wanted = fmax(wanted, bytes);
    }
    bj_kit_plan_whole_pages(&run->rounds, ceil(wanted / MIB) * MIB, most, REPETITIONS);
    if (!recall_arena(run, BJ_LINE_FIRST) || wanted > (double)run->rounds.arena_bytes)
        return BJ_OK;
    run->plan = (bj_round_plan){.count = run->effort->rounds,
                                .first_round = bj_kit_count_rounds(run->rounds.samples, BJ_LINE_FIRST),
                                .progress_to = progress_to,
                                .least_bytes = run->rounds.arena_bytes,
                                .context = run,
                                .prepare = request->more_rounds > 0 ? NULL : explore,
                                .measure = measure_points};
    if (request->more_rounds > 0)
        recall(run);
    BJ_TRY(bj_kit_run_rounds(&run->rounds, &run->plan, error));
    BJ_TRY(keep_arena(run, BJ_LINE_FIRST, error));
    BJ_TRY(bj_kit_keep_fact(&run->rounds, BJ_LINE_FIRST, LINE_BYTES, (double)run->line_bytes, error));
    return bj_kit_keep_fact(&run->rounds, BJ_LINE_SHARING, PARTNER_CPU, run->partner, error);
}

/* The buffer beyond all caches; 0: none is allowed. */
static double choose_buffer(const line_run *run, const bj_measure_request *request) {
    double last = bj_known_caches_largest(&run->caches);
    double bytes = fmin(fmax(2 * OVER_LAST * last, LEAST_MEMORY_BYTES), run->effort->most_bytes);
    bytes = bj_kit_limit_arena(request, bytes);
    return bytes < 2 * LEAST_OVER_LAST * last ? 0 : floor(bytes / MIB) * MIB;
}

static bj_status measure_memory(line_run *run, double bytes, bj_error *error) {
    const bj_curve *before = bj_data_find_curve(run->rounds.samples, BJ_LINE_MEMORY);
    learn_line(run, run->rounds.samples);
    if (before != NULL && before->x_count > 0)
        take_line(run, before->x[0]);
    bj_kit_plan_whole_pages(&run->rounds, bytes, run->effort->most_bytes, REPETITIONS);
    if (!recall_arena(run, BJ_LINE_MEMORY))
        return BJ_OK;
    run->plan = (bj_round_plan){.count = run->effort->memory_rounds,
                                .first_round = bj_kit_count_rounds(run->rounds.samples, BJ_LINE_MEMORY),
                                .progress_from = SHARE_OF_LEVELS,
                                .progress_to = 1,
                                .least_bytes = run->rounds.arena_bytes,
                                .context = run,
                                .measure = measure_points};
    add_points(run, MEMORY, run->line_bytes, MEMORY_LAST_LINES * run->line_bytes);
    bj_status status = bj_kit_run_rounds(&run->rounds, &run->plan, error);
    if (status == BJ_OK)
        status = keep_arena(run, BJ_LINE_MEMORY, error);
    /* No such buffer to be had: the other answers stand. */
    return status == BJ_ERR_RESOURCE || status == BJ_ERR_UNSUPPORTED ? BJ_OK : status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    line_run run = {.effort = &plans[request->effort], .partner = -1};
    if (bj_probe_is_method(request->method, BJ_LINE_BIGGEST_STEP))
        return bj_line_measure_paper(request, samples, error);
    bj_known_caches_read(request->earlier, &run.caches);
    if (run.caches.count == 0 || !(run.caches.holds_bytes[0] > 0))
        return BJ_OK;
    double buffer_bytes = choose_buffer(&run, request);
    bj_kit_open_rounds(&run.rounds, request, "line", samples, RANDOM_PURPOSE);
    bj_status status = measure_levels(&run, buffer_bytes > 0 ? SHARE_OF_LEVELS : 1, error);
    bj_kit_close_rounds(&run.rounds);
    if (status != BJ_OK || buffer_bytes == 0 || bj_probe_is_late(request))
        return status;
    bj_kit_open_rounds(&run.rounds, request, "line", samples, RANDOM_PURPOSE + 1);
    status = measure_memory(&run, buffer_bytes, error);
    bj_kit_close_rounds(&run.rounds);
    return status;
}

const bj_probe bj_probe_line = {
    .name = "line",
    .question = "How long is a cache line, and how much arrives from memory at once?",
    .revision = BJ_LINE_REVISION,
    .provides =
        (const bj_probe_key[]){
            {"cache.line_bytes", "bytes", 8, 4096, "the first level's line", .tolerance = BJ_SAME_NUMBER},
            {"cache.L<n>.line_bytes", "bytes", 8, 4096, "line of that level, where it can be told",
             .tolerance = BJ_SAME_NUMBER},
            {"cache.fetch_bytes", "bytes", 8, 65536, "what arrives from memory at once, prefetch included",
             .tolerance = BJ_SAME_NUMBER},
            {0}},
    .needs = (const char *const[]){"cache", NULL},
    .methods = (const char *const[]){"pairs", BJ_LINE_BIGGEST_STEP, NULL},
    .own_methods = (const char *const[]){"paper_pairs", NULL},
    .paper_method = BJ_LINE_BIGGEST_STEP,
    .cost_s = {1, 4, 20},
    .memory_bytes = {64u << 20, 160u << 20, 640u << 20},
    .measure = measure,
    .analyse = bj_line_analyse,
    .analyze_curve = BJ_LINE_TABLE,
    .analyze_x_name = "distance",
    .analyze_x_unit = "bytes",
    .analyze_level = true,
};
