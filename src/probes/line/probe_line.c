/* How long is a cache line, and how much arrives from memory at once?
 *
 * Pairs of accesses (2012 paper, 3.1.1): the second is free as long as both lie in one line. The paper's pairs, beyond
 * all caches, give the effective fetch size, prefetchers included. For the line itself they are made prefetcher-proof:
 * inside the next level, in random directions, anywhere in the two halves of an aligned extent, and with decoys in
 * place of half of the seconds. A pair has its slot of pages whatever the extent, so the TLB costs the same at all of
 * them. Where there are two cpus, increments of words that far apart are a second witness: false sharing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/kit/known_caches.h"
#include "probes/kit/walks.h"
#include "probes/line/line_answer.h"
#include "probes/probe.h"
#include "stats/bootstrap.h"

#define RANDOM_PURPOSE 0x6c696e65u
#define MIB 1048576.0
#define FIRST_EXTENT 16u
/* Twice the longest line that we look for. */
#define LEVEL_LAST_EXTENT 512u
#define MEMORY_LAST_LINES 32u
#define SHARING_LAST_EXTENT 1024u
#define EXTENTS_MAX 8u
/* Lines that a walk touches at least, by those of the level: so many do not fit under any replacement. With all seconds
 * in lines of their own it is a third more, which must still fit into the next. */
#define OVER_LEVEL 2.1
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
/* An increment of a word that two cpus share costs at least so many times one of their own. */
#define LEAST_BOUNCE 1.5

typedef struct {
    unsigned rounds, memory_rounds;
    double most_bytes;       /* of the buffer beyond all caches */
    double most_level_bytes; /* of a level's walk */
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {
    {6, 1, 48 * MIB, 8 * MIB}, {6, 2, 128 * MIB, 32 * MIB}, {24, 8, 512 * MIB, 128 * MIB}};

typedef struct {
    const bj_measure_request *request;
    const effort_plan *plan;
    bj_known_caches caches;
    bj_rounds rounds;
    bj_curves *samples;
    uint32_t *places;
    size_t line_bytes; /* as far as it is known */
    int partner;       /* cpu for false sharing; -1: none */
} line_run;

/* Huge pages that are larger than all that we want are too much of a good thing. */
static void open_sweep(line_run *run, uint64_t purpose, double bytes, double most, unsigned repetitions) {
    double huge = (double)run->request->machine->facts.huge_bytes;
    bool base = huge > most;
    double whole = base ? MIB : fmax(huge, MIB);
    bj_kit_open_rounds(&run->rounds, run->request, "line", run->samples, purpose);
    bj_kit_plan_arena(&run->rounds, (size_t)(ceil(bytes / whole) * whole), repetitions);
    if (base)
        run->rounds.pages = BJ_PAGES_BASE;
}

static double clock_of(const line_run *run) {
    return run->request->machine->verbs->read_clock(run->request->machine);
}

static bj_status record(line_run *run, const char *id, const char *y_name, double extent, size_t round, double ns,
                        bj_error *error) {
    bj_curve *curve = (bj_curve *)bj_data_find_curve(run->samples, id);
    if (curve == NULL) {
        bj_status status = bj_data_add_curve(run->samples, id, "line", &curve, error);
        if (status != BJ_OK)
            return status;
        bj_data_name_axes(curve, "extent", "bytes", y_name, "ns");
    }
    return bj_data_record_sample(curve, extent, round, ns, error);
}

static size_t count_slots(const line_run *run, size_t level) {
    return (size_t)(OVER_LEVEL * run->caches.holds_bytes[level - 1] / (double)run->line_bytes);
}

static double walk_bytes(const line_run *run, size_t level) {
    return (double)count_slots(run, level) * LEVEL_LAST_EXTENT;
}

/* A word in one half of some aligned extent of the slot: two of them, one from each half, are in one line or not
 * whatever their distance, which thus need not be the same twice; and they use all sets of a cache. */
static uint32_t pick_word(bj_random *random, size_t block_byte, size_t extent, bool upper) {
    size_t half = extent / 2;
    size_t word = (size_t)bj_random_below(random, half / BJ_WALK_WORD_BYTES);
    return (uint32_t)((block_byte + (upper ? half : 0)) / BJ_WALK_WORD_BYTES + word);
}

static size_t pick_block(line_run *run, uint32_t slot, size_t extent) {
    size_t blocks = LEVEL_LAST_EXTENT / extent;
    return slot * (size_t)LEVEL_LAST_EXTENT + (size_t)bj_random_below(&run->rounds.random, blocks) * extent;
}

/* One in three slots gets a pair; of the others two make a pair whose second is a decoy. Returns how many places. */
static size_t order_pairs(line_run *run, size_t slots, size_t extent) {
    bj_random *random = &run->rounds.random;
    uint32_t *slot = run->places + 2 * slots;
    for (size_t i = 0; i < slots; i++)
        slot[i] = (uint32_t)i;
    bj_random_shuffle_u32(random, slot, slots);
    size_t count = 0, used = 0, pairs = 0, decoys = 0;
    while (used + 2 <= slots) {
        bool upper = bj_random_below(random, 2) != 0;
        /* As many of each, but nobody can tell which is next. */
        bool decoy = bj_random_below(random, 2 + pairs + decoys) < 1 + pairs;
        size_t block = pick_block(run, slot[used++], extent);
        run->places[count++] = pick_word(random, block, extent, upper);
        if (decoy)
            block = pick_block(run, slot[used++], extent);
        run->places[count++] = pick_word(random, block, extent, !upper);
        pairs += !decoy;
        decoys += decoy;
    }
    return count;
}

static bj_status measure_level(line_run *run, size_t level, size_t extent, size_t round, bj_error *error) {
    char id[48];
    double ns = 0;
    size_t count = order_pairs(run, count_slots(run, level), extent);
    bj_status status = bj_kit_walk_places(&run->rounds, run->places, count, &ns, error);
    snprintf(id, sizeof id, BJ_LINE_LEVEL, level);
    return status == BJ_OK ? record(run, id, "time_per_access", (double)extent, round, ns, error) : status;
}

static bj_status bounce(line_run *run, int partner, size_t extent, double *ns, bj_error *error) {
    bj_machine *machine = run->request->machine;
    double samples[BOUNCES];
    size_t blocks = run->rounds.arena_bytes / (2 * SHARING_LAST_EXTENT);
    size_t first = (size_t)bj_random_below(&run->rounds.random, blocks) * 2 * SHARING_LAST_EXTENT;
    bj_bounce words = {.arena = run->rounds.arena,
                       .cpu_a = run->request->cpu,
                       .cpu_b = partner,
                       .word_a = (uint32_t)(first / BJ_WALK_WORD_BYTES),
                       .word_b = (uint32_t)((first + extent) / BJ_WALK_WORD_BYTES - 1)};
    bj_status status = machine->verbs->run_bounce(machine, &words, BOUNCES, samples, error);
    if (status != BJ_OK)
        return status;
    /* The greatest: two cpus that a hypervisor runs by turns do not meet. */
    *ns = fmax(samples[0], fmax(samples[1], samples[2]));
    return BJ_OK;
}

/* Cpus that share all caches never bounce a line; of some that are spread over the list, the one that takes longest. */
static bj_status find_partner(line_run *run, bj_error *error) {
    const bj_machine_facts *facts = &run->request->machine->facts;
    size_t count = facts->cpu_count;
    const size_t places[PARTNERS_MAX] = {1, count / 2, count - 1, count / 4, 0};
    double dearest = 0;
    bj_status status = BJ_OK;
    run->partner = -1;
    for (size_t i = 0; status == BJ_OK && i < PARTNERS_MAX && count > 1; i++) {
        int cpu = facts->cpus[places[i]];
        bool again = cpu == run->request->cpu;
        for (size_t k = 0; k < i; k++)
            again = again || facts->cpus[places[k]] == cpu;
        double together = 0, apart = 0;
        if (again)
            continue;
        status = bounce(run, cpu, FIRST_EXTENT, &together, error);
        if (status == BJ_OK)
            status = bounce(run, cpu, 2 * SHARING_LAST_EXTENT, &apart, error);
        if (status == BJ_OK && together > LEAST_BOUNCE * apart && together > dearest) {
            dearest = together;
            run->partner = cpu;
        }
    }
    return status;
}

static bj_status measure_sharing(line_run *run, size_t extent, size_t round, bj_error *error) {
    double ns = 0;
    bj_status status = bounce(run, run->partner, extent, &ns, error);
    return status == BJ_OK ? record(run, BJ_LINE_SHARING, "time_per_increment", (double)extent, round, ns, error)
                           : status;
}

typedef struct {
    size_t level; /* 0: false sharing */
    size_t extent;
} line_point;

static size_t list_points(const line_run *run, line_point *points) {
    size_t count = 0;
    for (size_t level = 1; level <= run->caches.count; level++)
        if (run->caches.holds_bytes[level - 1] > 0 && walk_bytes(run, level) <= (double)run->rounds.arena_bytes)
            /* An outer level's line is no shorter than the first's. */
            for (size_t extent = level > 1 ? run->line_bytes : FIRST_EXTENT; extent <= LEVEL_LAST_EXTENT; extent *= 2)
                points[count++] = (line_point){level, extent};
    for (size_t extent = FIRST_EXTENT; extent <= SHARING_LAST_EXTENT && run->partner >= 0; extent *= 2)
        points[count++] = (line_point){0, extent};
    return count;
}

static bj_status measure_round(line_run *run, size_t round, bj_error *error) {
    line_point points[(BJ_KNOWN_CACHES_MAX + 1) * EXTENTS_MAX];
    uint32_t order[(BJ_KNOWN_CACHES_MAX + 1) * EXTENTS_MAX];
    size_t count = list_points(run, points);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    bj_random_shuffle_u32(&run->rounds.random, order, count);
    bj_status status = BJ_OK;
    for (size_t i = 0; status == BJ_OK && i < count; i++) {
        const line_point *point = &points[order[i]];
        status = point->level > 0 ? measure_level(run, point->level, point->extent, round, error)
                                  : measure_sharing(run, point->extent, round, error);
    }
    return status;
}

/* As far as the rounds have shown it. */
static void learn_line(line_run *run) {
    const bj_curve *curve = bj_data_find_curve(run->samples, "line.L1");
    double unit = curve != NULL ? bj_line_find_unit(curve, 1, run->request->earlier) : NAN;
    if (!isnan(unit))
        run->line_bytes = (size_t)unit;
}

/* A first look with the usual line, so that the walks touch as much as they should with the real one. */
static bj_status find_line(line_run *run, bj_error *error) {
    bj_curves kept = *run->samples;
    *run->samples = (bj_curves){0};
    bj_status status = BJ_OK;
    for (size_t extent = FIRST_EXTENT; status == BJ_OK && extent <= LEVEL_LAST_EXTENT; extent *= 2)
        status = measure_level(run, 1, extent, 0, error);
    learn_line(run);
    bj_data_free_curves(run->samples);
    *run->samples = kept;
    return status;
}

static bj_status measure_levels(line_run *run, bj_error *error) {
    const effort_plan *plan = run->plan;
    run->line_bytes = FIRST_LINE_BYTES;
    /* A line of half that length takes twice as many. */
    double most = fmin(plan->most_level_bytes, (double)run->request->memory_bytes / 4), wanted = 0;
    for (size_t level = 1; level <= run->caches.count; level++)
        if (level == 1 || 2 * walk_bytes(run, level) <= most)
            wanted = fmax(wanted, 2 * walk_bytes(run, level));
    open_sweep(run, RANDOM_PURPOSE, wanted, most, REPETITIONS);
    size_t slots = run->rounds.arena_bytes / LEVEL_LAST_EXTENT;
    run->places = malloc(3 * slots * sizeof *run->places);
    if (run->places == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", slots);
    bj_status status = bj_kit_open_arena(&run->rounds, run->rounds.arena_bytes, error);
    if (status == BJ_OK)
        status = find_line(run, error);
    if (status == BJ_OK)
        status = find_partner(run, error);
    for (size_t round = 0; status == BJ_OK && round < plan->rounds; round++) {
        if (round > 0)
            status = bj_kit_open_arena(&run->rounds, run->rounds.arena_bytes, error);
        run->rounds.pages_fixed = true;
        if (status == BJ_ERR_UNSUPPORTED && round > 0)
            return BJ_OK; /* no more of the pages that the rounds before had */
        if (status == BJ_OK)
            status = measure_round(run, round, error);
        if (status == BJ_OK)
            status = bj_probe_report(run->request, 0.6 * (round + 1.0) / plan->rounds, error);
        if (clock_of(run) > run->request->deadline_s)
            break;
    }
    return status;
}

static size_t order_paper_pairs(line_run *run, size_t bytes, size_t extent) {
    size_t apart = (extent > run->line_bytes ? LINES_APART_IN_TWO : LINES_APART_IN_ONE) * run->line_bytes;
    size_t pairs = bytes / apart;
    uint32_t *first = run->places + pairs;
    for (size_t i = 0; i < pairs; i++)
        first[i] = (uint32_t)(i * apart / BJ_WALK_WORD_BYTES);
    bj_random_shuffle_u32(&run->rounds.random, first, pairs);
    uint32_t all = (uint32_t)(pairs * apart / BJ_WALK_WORD_BYTES);
    /* From the front, which never overtakes what is still to be read. */
    for (size_t i = 0; i < pairs; i++) {
        uint32_t at = first[i];
        run->places[2 * i] = at;
        run->places[2 * i + 1] = (at + (uint32_t)(extent / BJ_WALK_WORD_BYTES) - 1) % all;
    }
    return 2 * pairs;
}

static bj_status measure_memory(line_run *run, bj_error *error) {
    const effort_plan *plan = run->plan;
    learn_line(run);
    double last = bj_known_caches_largest(&run->caches);
    double bytes = fmin(fmax(2 * OVER_LAST * last, LEAST_MEMORY_BYTES), plan->most_bytes);
    bytes = fmin(bytes, (double)run->request->memory_bytes / 1.2);
    if (bytes < 2 * LEAST_OVER_LAST * last)
        return BJ_OK;
    open_sweep(run, RANDOM_PURPOSE + 1, floor(bytes / MIB) * MIB, plan->most_bytes, REPETITIONS);
    size_t pairs = run->rounds.arena_bytes / (LINES_APART_IN_ONE * run->line_bytes);
    run->places = malloc(2 * pairs * sizeof *run->places);
    if (run->places == NULL || pairs == 0)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu pairs", pairs);
    bj_status status = BJ_OK;
    for (size_t round = 0; status == BJ_OK && round < plan->memory_rounds; round++) {
        if (round > 0 && clock_of(run) > run->request->deadline_s)
            break;
        status = bj_kit_open_arena(&run->rounds, run->rounds.arena_bytes, error);
        run->rounds.pages_fixed = true;
        uint32_t order[EXTENTS_MAX];
        size_t count = 0;
        for (size_t extent = run->line_bytes; extent <= MEMORY_LAST_LINES * run->line_bytes; extent *= 2)
            order[count++] = (uint32_t)extent;
        bj_random_shuffle_u32(&run->rounds.random, order, count);
        for (size_t i = 0; status == BJ_OK && i < count; i++) {
            double ns = 0;
            size_t places = order_paper_pairs(run, run->rounds.arena_bytes, order[i]);
            status = bj_kit_walk_places(&run->rounds, run->places, places, &ns, error);
            if (status == BJ_OK)
                status = record(run, BJ_LINE_MEMORY, "time_per_access", order[i], round, ns, error);
        }
        if (status == BJ_OK)
            status = bj_probe_report(run->request, 0.6 + 0.4 * (round + 1.0) / plan->memory_rounds, error);
    }
    /* No such buffer to be had: the other answers stand. */
    return status == BJ_ERR_RESOURCE || status == BJ_ERR_UNSUPPORTED ? BJ_OK : status;
}

static void close_walks(line_run *run) {
    bj_kit_close_rounds(&run->rounds);
    free(run->places);
    run->places = NULL;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    line_run run = {.request = request, .plan = &plans[request->effort], .samples = samples};
    bj_known_caches_read(request->earlier, &run.caches);
    if (run.caches.count == 0 || !(run.caches.holds_bytes[0] > 0))
        return BJ_OK;
    bj_status status = measure_levels(&run, error);
    close_walks(&run);
    if (status == BJ_OK && clock_of(&run) <= request->deadline_s) {
        status = measure_memory(&run, error);
        close_walks(&run);
    }
    return status;
}

const bj_probe bj_probe_line = {
    .name = "line",
    .question = "How long is a cache line, and how much arrives from memory at once?",
    .revision = BJ_LINE_REVISION,
    .provides =
        (const bj_probe_key[]){
            {"cache.line_bytes", "bytes", 8, 4096, "the first level's line"},
            {"cache.L<n>.line_bytes", "bytes", 8, 4096, "line of that level, where it can be told"},
            {"cache.fetch_bytes", "bytes", 8, 65536, "what arrives from memory at once, prefetch included"},
            {0}},
    .needs = (const char *const[]){"cache", NULL},
    .methods = (const char *const[]){"pairs", NULL},
    .cost_s = {1, 4, 20},
    .memory_bytes = {64u << 20, 160u << 20, 640u << 20},
    .measure = measure,
    .analyse = bj_line_analyse,
    .analyze_curve = BJ_LINE_TABLE,
    .analyze_x_name = "distance",
    .analyze_x_unit = "bytes",
};
