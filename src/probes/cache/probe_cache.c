/* How many data caches are there, how large and how fast?
 *
 * Random pointer walks over growing working sets (2012 paper, 3.1.2), fully random since region prefetchers learn
 * pages, on huge pages where they are granted since those calm the TLB. A first look finds where memory begins, then
 * interleaved rounds on a coarse grid, with more points around the edges once they are seen, the TLB's among them.
 * Twins of the walks, spread over many pages and packed into few, give its cost. The analysis is
 * probes/cache/hierarchy.h;
 * --method selects a paper's instead. */
#include <math.h>
#include <stdlib.h>

#include "probes/cache/cache_answer.h"
#include "probes/kit/walks.h"
#include "probes/probe.h"

#define RANDOM_PURPOSE 0x63616368u

/* The distance of neighbouring places is the line, which is not known yet: too small smears the edges, since further
 * visits to a line may hit; too large leaves sets of hashed caches unused. It starts here and doubles while pairs of
 * places are seen to share a line. */
#define FIRST_GRAIN_BYTES 32u
#define LAST_GRAIN_BYTES 256u
#define PAIR_TRIES 5u
/* Missing the first level adds this share of its time at least. */
#define MISS_ADDS 0.5
/* Beyond any line, within any page. */
#define FAR_PAIR_BYTES 1024u
/* Pairs that share a line save 0.29 (of twice the first level, where a line's second visit hits by itself now and then)
 * to 0.5 (far beyond) of the cost of missing the first level, others nothing: halfway. */
#define PAIR_SAVES 0.2
/* Half of the smallest first level that is worth a thought. */
#define FIRST_BYTES 2048.0
/* Beyond any first level. */
#define LAST_FIRST_BYTES (8 * MIB)
/* The packed twin needs two grains of the longest line in each eighth. */
#define LEAST_SPREAD_BYTES 4096u
/* Twins of fewer lines than this, which no TLB misses. */
#define TWIN_FIRST_LINES 8.0
#define MIB 1048576.0
/* Beyond this a coarser grid until an edge is seen: building a walk costs as much as its size. */
#define COARSE_FROM_BYTES (1 * MIB)
/* The first look begins here, and memory is not believed to begin below. */
#define LOOK_FIRST_BYTES (1 * MIB)
#define LEAST_TOP_BYTES (32 * MIB)
#define LEAST_ARENA_BYTES (256 * 1024.0)
/* Less than this share of the last time is not memory yet. */
#define LOOK_BELOW_MEMORY 0.75
#define GRID_PER_OCTAVE 16u
#define GRID_MULTIPLE 512.0
/* Strides in that grid. Sixteenths of an octave around edges: they tell an L1 of 11 ways from one of 12. */
#define STRIDE_FINE 1u
#define STRIDE_MEDIUM 2u
#define STRIDE_GRID 4u
#define STRIDE_COARSE 8u
/* Larger levels are shared, and move more than an eighth of an octave between rounds. */
#define FINE_BELOW_BYTES (1 * MIB)
#define MEDIUM_BELOW_BYTES (32 * MIB)
#define POINTS_MAX 512u
/* Walks with several visits a line are as many times longer: fewer of them the larger the level, none of the largest.
 * Two leave a seventh open between the replacements. */
static const double revisit_below_bytes[BJ_REVISIT_CURVES] = {1 * MIB, 12 * MIB, 64 * MIB};
/* Where a line is visited v times a lap, what hits is told best a little beyond the capacity, which is not known yet:
 * up to so many times the begin of the ramp, and with two visits up to less, where most of them hit once more. */
#define REVISIT_LAST 5.0
#define REVISIT_TWICE_LAST 3.0

typedef struct {
    double top_bytes;
    unsigned rounds, repetitions;
} effort_plan;

/* Tops: quick sees a last level of some 16 MiB, normal one of 100 within 600 MiB of memory, thorough one of 300. */
static const effort_plan plans[BJ_EFFORT_COUNT] = {{64 * MIB, 6, 2}, {448 * MIB, 12, 3}, {1536 * MIB, 32, 4}};

/* The look upwards of normal effort takes some two seconds, that of quick effort a third of one; a round as long. */
#define SHORT_BUDGET_S 4.0
#define TINY_BUDGET_S 1.0
#define TINY_TOP_BYTES (16 * MIB)
/* One round is the least that answers anything. Below this, one without twins and repetitions: a third of the time. */
#define HASTE_BUDGET_S 0.5

/* What is walked at an x of a curve. */
typedef struct {
    const char *curve;
    size_t one_in, grain_bytes;
    double extent; /* of the walk, as a share of x */
} walk_kind;

typedef struct {
    double x;
    walk_kind kind;
} planned_point;

typedef struct {
    const bj_measure_request *request;
    const bj_cache_method *method;
    effort_plan plan;
    bj_rounds rounds;
    bj_curves *samples;
    size_t grain_bytes;
    /* A page of the spread twin: the system's, also under huge pages, which a host may back with small ones. More than
     * one line a page would come back to a page within a lap, as the dense walk does. */
    size_t spread_bytes;
    planned_point points[POINTS_MAX];
    size_t point_count;
    double started_s;
    bool in_haste; /* no time for twins */
} cache_run;

static double clock_of(const cache_run *run) {
    bj_machine *machine = run->request->machine;
    return machine->verbs->read_clock(machine);
}

static bj_walk_point dense_point(const cache_run *run, double bytes) {
    return (bj_walk_point){.bytes = bytes, .order = run->method->order, .grain_bytes = run->grain_bytes};
}

static walk_kind dense_kind(const cache_run *run) {
    return (walk_kind){BJ_CACHE_WALK, 0, run->grain_bytes, 1};
}

static walk_kind spread_kind(const cache_run *run) {
    return (walk_kind){BJ_CACHE_SPREAD, run->spread_bytes / run->grain_bytes, run->grain_bytes, 1};
}

static walk_kind packed_kind(const cache_run *run) {
    size_t one_in = run->spread_bytes / run->grain_bytes / BJ_CACHE_PACKING;
    return (walk_kind){BJ_CACHE_PACKED, one_in, run->grain_bytes, 1.0 / BJ_CACHE_PACKING};
}

static void add_point(cache_run *run, double x, walk_kind kind) {
    for (size_t i = 0; i < run->point_count; i++)
        if (run->points[i].x == x && run->points[i].kind.curve == kind.curve)
            return;
    if (run->point_count < POINTS_MAX && x <= (double)run->rounds.arena_bytes)
        run->points[run->point_count++] = (planned_point){x, kind};
}

/* Points of one grid for all purposes, FIRST_BYTES × 2^(k / 16): every `stride`-th of it between first and last. Two
 * refinements of one edge thus meet in the same points instead of lying side by side. */
static void add_grid(cache_run *run, double first, double last, unsigned stride, walk_kind kind) {
    unsigned from = (unsigned)ceil(fmax(0, GRID_PER_OCTAVE * log2(first / FIRST_BYTES) - 0.01) / stride) * stride;
    for (unsigned k = from;; k += stride) {
        double bytes = FIRST_BYTES * exp2(k / (double)GRID_PER_OCTAVE);
        if (bytes > last * 1.0001)
            return;
        add_point(run, floor(bytes / GRID_MULTIPLE + 0.5) * GRID_MULTIPLE, kind);
    }
}

/* Both of an extent, or neither says anything. */
static void add_twins(cache_run *run, double first, double last, unsigned stride) {
    add_grid(run, first, last, stride, spread_kind(run));
    add_grid(run, first, last, stride, packed_kind(run));
}

/* What an access takes: in random order; in pairs, side by side; and in pairs on a page that no line holds both of. */
typedef struct {
    double apart_ns, near_ns, far_ns;
} pair_times;

/* On the same frames, since those decide what the next level hits. */
static bj_status time_pairs(cache_run *run, double bytes, pair_times *times, bj_error *error) {
    bj_walk_point apart = dense_point(run, bytes);
    apart.placed = true;
    apart.first_byte = bj_kit_choose_first_byte(&run->rounds, bytes);
    bj_walk_point near = apart, far = apart;
    near.order = far.order = BJ_ORDER_PAIRS;
    near.pair_bytes = run->grain_bytes;
    far.pair_bytes = FAR_PAIR_BYTES;
    bj_status status = bj_kit_walk_point(&run->rounds, &apart, &times->apart_ns, error);
    if (status == BJ_OK)
        status = bj_kit_walk_point(&run->rounds, &near, &times->near_ns, error);
    if (status == BJ_OK)
        status = bj_kit_walk_point(&run->rounds, &far, &times->far_ns, error);
    return status;
}

/* What missing the first level adds, without the TLB's part: of that, any pair on one page saves half. */
static double cost_of_miss(const pair_times *times, double first_ns) {
    return 2 * times->far_ns - times->apart_ns - first_ns;
}

/* The smallest working set, an octave apart, that the first level clearly misses, and at most half of what there is
 * room for; 0: none. And the time within the first level. */
static bj_status find_beyond_first(cache_run *run, double *bytes, double *first_ns, bj_error *error) {
    bj_status status = BJ_OK;
    *bytes = *first_ns = 0;
    double most = fmin((double)run->rounds.arena_bytes / 2, LAST_FIRST_BYTES);
    for (double at = FIRST_BYTES; at <= most && status == BJ_OK; at *= 2) {
        pair_times times;
        status = time_pairs(run, at, &times, error);
        if (status != BJ_OK)
            break;
        if (*first_ns == 0)
            *first_ns = times.apart_ns;
        if (cost_of_miss(&times, *first_ns) > MISS_ADDS * *first_ns) {
            *bytes = at;
            break;
        }
    }
    return status;
}

/* Is a line longer than the grain? Walks beyond the first level, inside the next: what spills over into a third level
 * hides what is saved, so the try counts that took the least, with the luckiest frames and undisturbed. */
static bj_status share_a_line(cache_run *run, double bytes, double first_ns, bool *share, bj_error *error) {
    pair_times best = {0};
    double least_ns = INFINITY;
    for (unsigned i = 0; i < PAIR_TRIES; i++) {
        pair_times times;
        bj_status status = time_pairs(run, bytes, &times, error);
        if (status != BJ_OK)
            return status;
        double all_ns = times.apart_ns + times.near_ns + times.far_ns;
        if (all_ns < least_ns) {
            least_ns = all_ns;
            best = times;
        }
    }
    double miss_ns = fmax(cost_of_miss(&best, first_ns), MISS_ADDS * first_ns);
    *share = best.far_ns - best.near_ns > PAIR_SAVES * miss_ns;
    return BJ_OK;
}

static bj_status find_grain(cache_run *run, bj_error *error) {
    double beyond = 0, first_ns = 0;
    bj_status status = find_beyond_first(run, &beyond, &first_ns, error);
    bool share = status == BJ_OK && beyond > 0;
    while (share && run->grain_bytes < LAST_GRAIN_BYTES && status == BJ_OK) {
        status = share_a_line(run, 2 * beyond, first_ns, &share, error);
        if (status == BJ_OK && share)
            run->grain_bytes *= 2;
    }
    return status;
}

static bj_status record(cache_run *run, const char *id, double bytes, size_t round, double ns, bj_error *error) {
    bj_curve *curve = (bj_curve *)bj_data_find_curve(run->samples, id);
    bj_status status = BJ_OK;
    if (curve == NULL) {
        status = bj_data_add_curve(run->samples, id, "cache", &curve, error);
        if (status != BJ_OK)
            return status;
        bool huge = run->rounds.pages == BJ_PAGES_HUGE;
        bj_data_name_axes(curve, "working_set", "bytes", huge ? "latency_huge_pages" : "latency_base_pages", "ns");
        status =
            bj_data_set_attribute_text(curve, BJ_CACHE_PAGES, huge ? BJ_CACHE_PAGES_HUGE : BJ_CACHE_PAGES_BASE, error);
        if (status != BJ_OK)
            return status;
    }
    return bj_data_record_sample(curve, bytes, round, ns, error);
}

/* Where does memory begin? One walk an octave up to the top; the sweep then need not go four times beyond. */
static bj_status find_top(cache_run *run, double *top, bj_error *error) {
    double bytes[64], ns[64];
    double most = (double)run->rounds.arena_bytes;
    size_t count = 0;
    bj_status status = BJ_OK;
    for (double at = most; at >= LOOK_FIRST_BYTES && count < 64; at /= 2)
        bytes[count++] = floor(at / 4096) * 4096;
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        bj_walk_point point = dense_point(run, bytes[i]);
        status = bj_kit_walk_point(&run->rounds, &point, &ns[i], error);
        if (status == BJ_OK)
            status = record(run, BJ_CACHE_LOOK, bytes[i], 0, ns[i], error);
        if (status == BJ_OK)
            status = bj_probe_report(run->request, 0.1 * (double)(i + 1) / (double)count, error);
        if (clock_of(run) > run->request->deadline_s)
            count = i + 1;
    }
    *top = fmin(most, LEAST_TOP_BYTES);
    for (size_t i = 1; i < count && status == BJ_OK; i++)
        if (ns[i] < LOOK_BELOW_MEMORY * ns[0]) {
            *top = fmin(most, fmax(LEAST_TOP_BYTES, 4 * bytes[i]));
            break;
        }
    return status;
}

/* False: the deadline does not allow a further round like those before. */
static bool time_for_round(const cache_run *run, size_t done) {
    double now = clock_of(run);
    double each = done > 0 ? (now - run->started_s) / (double)done : 0;
    return done == 0 || now + each <= run->request->deadline_s;
}

static bj_status measure_round(cache_run *run, size_t round, bj_error *error) {
    bj_status status = bj_kit_open_arena(&run->rounds, (size_t)LEAST_ARENA_BYTES, error);
    run->rounds.pages_fixed = true;
    uint32_t order[POINTS_MAX];
    for (size_t i = 0; i < run->point_count; i++)
        order[i] = (uint32_t)i;
    bj_random_shuffle_u32(&run->rounds.random, order, run->point_count);
    for (size_t i = 0; i < run->point_count && status == BJ_OK; i++) {
        const planned_point *point = &run->points[order[i]];
        double ns = 0;
        if (point->x > (double)run->rounds.arena_bytes)
            continue;
        bj_walk_point walked = dense_point(run, point->x * point->kind.extent);
        walked.one_in = point->kind.one_in;
        walked.grain_bytes = point->kind.grain_bytes;
        status = bj_kit_walk_point(&run->rounds, &walked, &ns, error);
        if (status == BJ_OK)
            status = record(run, point->kind.curve, point->x, round, ns, error);
        double share = ((double)round + (double)(i + 1) / (double)run->point_count) / run->plan.rounds;
        if (status == BJ_OK)
            status = bj_probe_report(run->request, 0.1 + 0.9 * share, error);
        /* A first round is finished whatever the deadline: half a curve answers nothing. */
        if (round > 0 && clock_of(run) > run->request->deadline_s)
            break;
    }
    return status;
}

/* Beyond the edges of all levels but the first, which is virtually indexed and has no need of it. */
static void add_revisits(cache_run *run, const bj_hierarchy *found) {
    for (size_t i = 1; i < found->count; i++) {
        double size = found->level[i].level.ramp_first_x;
        /* Up to where the next level begins to miss, and no further than says something. */
        double last = i + 1 < found->count ? found->level[i + 1].level.ramp_first_x / 1.2 : INFINITY;
        walk_kind kind = dense_kind(run);
        size_t k = 0;
        /* Each visit goes to a word of its own. */
        while (k < BJ_REVISIT_CURVES &&
               (size > revisit_below_bytes[k] || kind.grain_bytes < bj_cache_revisits[k].visits * BJ_WALK_WORD_BYTES))
            k++;
        if (k == BJ_REVISIT_CURVES)
            continue;
        unsigned visits = bj_cache_revisits[k].visits;
        kind.curve = bj_cache_revisits[k].curve;
        kind.grain_bytes /= visits;
        double furthest = size * (visits == 2 ? REVISIT_TWICE_LAST : REVISIT_LAST);
        add_grid(run, size * 1.3, fmin(furthest, last), STRIDE_COARSE, kind);
    }
}

/* More points around the edges that the rounds so far have shown. */
static bj_status refine(cache_run *run, bj_error *error) {
    bj_hierarchy found;
    bj_status status = bj_cache_find_hierarchy(run->samples, run->method, run->request->seed, true, &found, error);
    if (status != BJ_OK)
        return status;
    for (size_t i = 0; i < found.count; i++) {
        const bj_level *level = &found.level[i].level;
        double size = level->ramp_first_x;
        unsigned stride = size < FINE_BELOW_BYTES     ? STRIDE_FINE
                          : size < MEDIUM_BELOW_BYTES ? STRIDE_MEDIUM
                                                      : STRIDE_GRID;
        walk_kind dense = dense_kind(run);
        add_grid(run, size / 1.5, fmin(size * 1.7, level->next_first_x * 1.1), stride, dense);
        add_grid(run, size * 1.7, level->next_first_x * 1.1, STRIDE_GRID, dense);
        add_grid(run, level->size_x / 1.2, fmin(level->size_x * 1.2, size), stride, dense);
    }
    for (size_t i = 0; i < found.tlb_step_count && !run->in_haste; i++)
        add_twins(run, found.tlb_step[i].first_x, found.tlb_step[i].last_x, STRIDE_FINE);
    if (run->method->models_capacity && !run->in_haste)
        add_revisits(run, &found);
    return BJ_OK;
}

static bj_status measure_rounds(cache_run *run, bj_error *error) {
    double top = 0;
    bj_status status = bj_kit_open_arena(&run->rounds, (size_t)LEAST_ARENA_BYTES, error);
    run->grain_bytes = FIRST_GRAIN_BYTES;
    if (status == BJ_OK && run->method->order == BJ_ORDER_RANDOM)
        status = find_grain(run, error);
    if (status == BJ_OK)
        status = find_top(run, &top, error);
    if (status != BJ_OK)
        return status;
    run->rounds.arena_bytes = (size_t)top;
    run->spread_bytes = run->request->machine->facts.page_bytes;
    if (run->spread_bytes < LEAST_SPREAD_BYTES)
        run->spread_bytes = LEAST_SPREAD_BYTES;
    add_grid(run, FIRST_BYTES, fmin(top, COARSE_FROM_BYTES), STRIDE_GRID, dense_kind(run));
    add_grid(run, COARSE_FROM_BYTES, top, STRIDE_COARSE, dense_kind(run));
    if (run->method->order == BJ_ORDER_RANDOM && !run->in_haste)
        add_twins(run, TWIN_FIRST_LINES * (double)run->spread_bytes, top, STRIDE_GRID);
    run->started_s = clock_of(run);
    for (size_t round = 0; round < run->plan.rounds && status == BJ_OK; round++) {
        if (!time_for_round(run, round))
            break;
        status = measure_round(run, round, error);
        /* No more of the pages that the rounds before had: those rounds are the curve. */
        if (status == BJ_ERR_UNSUPPORTED && round > 0)
            return BJ_OK;
        /* After two rounds an edge is seen, after four it is seen better. */
        if (status == BJ_OK && (round == 1 || round == 3))
            status = refine(run, error);
    }
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    cache_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a sweep");
    run->request = request;
    run->samples = samples;
    run->method = bj_cache_find_method(request->method);
    if (run->method == NULL)
        run->method = bj_cache_find_method(NULL); /* the method is another probe's */
    run->plan = plans[request->effort];
    double remaining = request->deadline_s - clock_of(run);
    if (remaining < SHORT_BUDGET_S)
        run->plan.top_bytes = fmin(run->plan.top_bytes, plans[BJ_EFFORT_QUICK].top_bytes);
    if (remaining < TINY_BUDGET_S)
        run->plan.top_bytes = TINY_TOP_BYTES;
    run->in_haste = remaining < HASTE_BUDGET_S;
    if (run->in_haste)
        run->plan.repetitions = 1;
    /* Places take a sixteenth of the arena beside it. */
    double arena = fmin(run->plan.top_bytes, (double)request->memory_bytes / 1.1);
    bj_kit_open_rounds(&run->rounds, request, "cache", run->samples, RANDOM_PURPOSE);
    bj_kit_plan_arena(&run->rounds, (size_t)(floor(arena / 4096) * 4096), run->plan.repetitions);
    if (run->method->base_pages)
        run->rounds.pages = BJ_PAGES_BASE;
    bj_status status = BJ_OK;
    if (arena < LEAST_ARENA_BYTES)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "only %.0f bytes of memory may be used", arena);
    if (status == BJ_OK)
        status = measure_rounds(run, error);
    bj_kit_close_rounds(&run->rounds);
    free(run);
    return status;
}

const bj_probe bj_probe_cache = {
    .name = "cache",
    .question = "How many data caches are there, how large and how fast?",
    .revision = BJ_CACHE_REVISION,
    .provides =
        (const bj_probe_key[]){
            {"cache.levels", "count", 1, BJ_LEVELS_MAX, "data-cache levels seen"},
            {"cache.L<n>.size_bytes", "bytes", 256, 1e12,
             "largest working set without a real penalty (effective size)"},
            {"cache.L<n>.capacity_bytes", "bytes", 256, 1e12, "the capacity that best explains the ramp"},
            {"cache.L<n>.latency_ns", "ns", 0.05, 1e5, "load to use, random order"},
            {"cache.L<n>.latency_cycles", "cycles", 0.5, 1e5, "the same in additions (see clock)"},
            {"memory.latency_ns", "ns", 1, 1e6, "random access beyond all caches"},
            {0}},
    .needs = (const char *const[]){"clock", NULL},
    .methods = bj_cache_method_names,
    .cost_s = {4, 14, 60},
    .memory_bytes = {72u << 20, 480u << 20, 1640u << 20},
    .measure = measure,
    .analyse = bj_cache_analyse,
    .analyze_curve = BJ_CACHE_WALK,
    .analyze_x_name = "working_set",
    .analyze_x_unit = "bytes",
};
