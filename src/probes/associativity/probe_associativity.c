/* How many lines of one set does each cache hold?
 *
 * Lines at a stride that is a multiple of the way size meet in one set; one more than there are ways, and they begin to
 * miss (2012 paper, 3.1.3). The paper's stride is the cache size, which makes no collisions when it is a tenth off, so
 * strides are powers of two from the way size up: found where doubling the stride no longer halves what fits. Several
 * sets at once, against victim caches; from the second level on sets that coincide in the nearer level, so that this
 * one can neither hide the step nor add its own ways. Physically indexed levels want huge pages. */
#include <math.h>

#include "probes/associativity/associativity_answer.h"
#include "probes/associativity/associativity_constants.h"
#include "probes/associativity/associativity_paper.h"
#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "probes/kit/walks.h"

#define RANDOM_PURPOSE 0x77617973u
#define MIB 1048576.0
#define USUAL_LINE_BYTES 64u
#define LINES_MAX 64u
/* Sets at once; twice as many where the most are in use. */
#define SETS_MAX 32u
/* Of the first level: apart by more than lines that are fetched in pairs. */
#define SET_LINES_APART 4u
/* Where to begin: most caches have more ways than this. */
#define FIRST_WAYS 8u
/* A capacity may be found a little too small. */
#define CAPACITY_MARGIN 1.1
#define ARENA_OVER_CAPACITY 5.0
#define LEAST_OVER_CAPACITY 2.5
#define LEAST_ARENA_BYTES (2 * MIB)
/* More pages than this may meet in one set of a TLB: their cost is taken off. Base pages, also under huge ones, which a
 * host may back with small ones. */
#define FEW_PAGES 3u
/* Something else may use the cache for a while, a program on the same core's other thread all the while: so many more
 * tries, each in other sets, where only a few lines seem to miss. */
#define MORE_TRIES 12u
#define REPETITIONS 1u
/* Numbers of sets that rounds look at before the level is given up. */
#define CONFIRM_MAX 3u
/* Lines beyond those that fit which a round walks too: what fits may be more than exploring saw. */
#define LINES_BEYOND 2u
#define TRIED_MAX 128u
#define POINTS_MAX 32u
#define NO_STEP 0u

typedef struct {
    unsigned rounds; /* the first is exploring */
    double most_bytes;
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 64 * MIB}, {7, 128 * MIB}, {16, 512 * MIB}};

/* So many lines at that stride, in each of so many sets. */
typedef struct {
    size_t stride, sets, lines;
} conflict;

typedef struct {
    bj_rounds rounds;
    bj_known_caches caches;
    size_t line_bytes, level;
    size_t set_stride;         /* distance of the sets that are used at once; 0: not known */
    double progress;           /* so far */
    conflict tries[TRIED_MAX]; /* with the most lines that fit */
    size_t tried_count;
    conflict points[POINTS_MAX];
} ways_run;

/* The walk's twin (level 0) has the same pages, each line in a set of its own as far as possible. */
static bj_status walk_lines(ways_run *run, size_t level, const conflict *point, double *ns, bj_error *error) {
    const bj_conflict_walk walk = {level, point->stride, point->sets, run->set_stride};
    size_t page = run->rounds.request->machine->facts.page_bytes, line = run->line_bytes, count = 0;
    size_t used = (point->lines - 1) * point->stride + (point->sets - 1) * run->set_stride;
    size_t room = (run->rounds.arena_bytes - used - (level > 0 ? line : 2 * page)) / line;
    bj_curve *curve;
    BJ_TRY(bj_kit_reserve_places(&run->rounds, point->lines * point->sets, error));
    /* Any sets: others may hold more of some than of others. */
    size_t first_byte = (size_t)bj_random_below(&run->rounds.random, room + 1) * line;
    for (size_t k = 0; k < point->lines; k++)
        for (size_t j = 0; j < point->sets; j++) {
            size_t at = k * point->stride + j * run->set_stride;
            at = level > 0 ? first_byte + at : (first_byte / page + at / page) * page + count * line % page;
            run->rounds.places[count++] = (uint32_t)(at / BJ_WALK_WORD_BYTES);
        }
    bj_random_shuffle_u32(&run->rounds.random, run->rounds.places, count);
    BJ_TRY(bj_kit_walk_places(&run->rounds, run->rounds.places, count, ns, error));
    BJ_TRY(bj_associativity_open_curve(run->rounds.samples, &walk, &curve, error));
    BJ_TRY(bj_kit_keep_arena(&run->rounds, curve, error));
    return bj_data_record_sample(curve, (double)point->lines, run->rounds.round, *ns, error);
}

static size_t most_lines(const ways_run *run, size_t stride, size_t sets) {
    size_t beside = sets * run->set_stride + run->rounds.request->machine->facts.page_bytes;
    size_t most = run->rounds.arena_bytes > beside ? (run->rounds.arena_bytes - beside) / stride : 0;
    return most < LINES_MAX ? most : LINES_MAX;
}

/* The sample is the last try: the first that fits or clearly misses. */
static bj_status try_lines(ways_run *run, const conflict *point, bool *fits, bj_error *error) {
    const bj_conflict_walk walk = {run->level, point->stride, point->sets, run->set_stride};
    double least = INFINITY, lines = (double)point->lines, ns = 0;
    *fits = false;
    for (unsigned i = 0; i <= MORE_TRIES; i++) {
        if (point->lines > FEW_PAGES)
            BJ_TRY(walk_lines(run, 0, point, &ns, error));
        BJ_TRY(walk_lines(run, run->level, point, &ns, error));
        least = fmin(least, ns);
        bj_associativity_limits limits =
            bj_associativity_find_limits(run->rounds.samples, run->rounds.request->earlier, &walk, lines);
        *fits = least <= limits.fits;
        if (!(least > limits.fits && least <= limits.misses))
            break;
    }
    return BJ_OK;
}

/* The most lines that fit at this stride; NO_STEP: all that were tried do, or not even one. */
static bj_status find_fits(ways_run *run, size_t stride, size_t sets, size_t *found, bj_error *error) {
    for (size_t i = 0; i < run->tried_count; i++)
        if (run->tries[i].stride == stride && run->tries[i].sets == sets) {
            *found = run->tries[i].lines;
            return BJ_OK;
        }
    size_t most = most_lines(run, stride, sets), low = 0, high = most + 1;
    while (high - low > 1) {
        bool fits, bisect = high <= most;
        size_t twice = low == 0 ? 1 : 2 * low;
        conflict point = {stride, sets, bisect ? (low + high) / 2 : twice < most ? twice : most};
        BJ_TRY(try_lines(run, &point, &fits, error));
        if (fits)
            low = point.lines;
        else
            high = point.lines;
    }
    *found = high <= most ? low : NO_STEP;
    if (run->tried_count < TRIED_MAX)
        run->tries[run->tried_count++] = (conflict){stride, sets, *found};
    return bj_probe_report(run->rounds.request, run->progress, error);
}

/* As far as single tries can tell: a full set is the first to lose a line to something else. Rounds decide. */
static bool is_about(size_t one, size_t other) {
    size_t less = one < other ? one : other, more = one < other ? other : one;
    size_t tolerance = less > 12 ? 2 : less > 6 ? 1 : 0;
    return less != NO_STEP && more - less <= tolerance;
}

/* The shortest stride from which on what fits stays the same, with as many sets as `found` says. stride 0: none. */
static bj_status find_plateau(ways_run *run, conflict *found, bj_error *error) {
    double capacity = run->caches.holds_bytes[run->level - 1];
    size_t least = LEAST_STRIDE_BYTES, twice = 0;
    while (run->level > 1 && least < 2 * found->sets * run->set_stride)
        least *= 2;
    size_t at = ((size_t)1 << (unsigned)floor(log2(capacity * CAPACITY_MARGIN))) / FIRST_WAYS;
    at = at > least ? at : least;
    BJ_TRY(find_fits(run, at, found->sets, &found->lines, error));
    for (;;) {
        BJ_TRY(find_fits(run, 2 * at, found->sets, &twice, error));
        if (is_about(twice, found->lines))
            found->stride = at;
        /* No step at the longer stride: perhaps only no room for one. */
        if (found->stride != 0 || twice == NO_STEP || (double)at > 2 * capacity)
            break;
        at *= 2;
        found->lines = twice;
    }
    for (; at / 2 >= least; at /= 2) {
        BJ_TRY(find_fits(run, at / 2, found->sets, &twice, error));
        if (!is_about(twice, found->lines))
            break;
        found->stride = at / 2;
    }
    return BJ_OK;
}

/* What twice as many sets agree on, at the stride and its double, with the most lines of the four; stride 0: nothing.
 */
static bj_status ask_twice_the_sets(ways_run *run, conflict *found, bj_error *error) {
    const conflict first = *found;
    for (unsigned i = 0; found->stride != 0 && i < BJ_ASSOCIATIVITY_AGREEING; i++) {
        size_t here = 0;
        BJ_TRY(find_fits(run, first.stride << (i & 1), first.sets << (i >> 1), &here, error));
        found->stride = is_about(here, first.lines) ? first.stride : 0;
        found->lines = here > found->lines ? here : found->lines;
    }
    return BJ_OK;
}

/* An odd factor of the number of sets shows as one of the ways at powers of two; at that multiple, fewer fit. */
static bj_status try_odd_factors(ways_run *run, conflict *found, bj_error *error) {
    const conflict first = *found;
    for (size_t factor = 3; factor <= first.lines; factor += 2) {
        size_t most = most_lines(run, factor * first.stride, first.sets);
        conflict other = {factor * first.stride, first.sets, first.lines < most ? first.lines : most};
        bool same;
        if (first.lines % factor != 0 || most < first.lines / factor + 1)
            continue;
        BJ_TRY(try_lines(run, &other, &same, error));
        if (same)
            continue;
        BJ_TRY(find_fits(run, other.stride, other.sets, &other.lines, error));
        BJ_TRY(ask_twice_the_sets(run, &other, error));
        if (other.stride != 0 && other.lines < found->lines)
            *found = other;
    }
    return BJ_OK;
}

/* What so many sets, and twice as many, seem to agree on; stride 0: nothing, lines NO_STEP: nor will more sets. */
static bj_status explore(ways_run *run, conflict *found, bj_error *error) {
    run->rounds.round = 0;
    BJ_TRY(find_plateau(run, found, error));
    if (found->stride < 2 * found->sets * run->set_stride || found->lines == NO_STEP)
        found->stride = 0;
    BJ_TRY(ask_twice_the_sets(run, found, error));
    return found->stride != 0 ? try_odd_factors(run, found, error) : BJ_OK;
}

/* What a round has to confirm: the four that agree, and that odd multiples show no fewer. How many. */
static size_t list_points(ways_run *run, const conflict *found) {
    size_t count = 0;
    for (unsigned i = 0; i < 4 * (1 + LINES_BEYOND); i++) {
        conflict point = {found->stride << (i & 1), found->sets << (i >> 1 & 1), found->lines + (i >> 2)};
        if (point.lines <= most_lines(run, point.stride, point.sets))
            run->points[count++] = point;
    }
    for (size_t factor = 3; factor <= found->lines && count < POINTS_MAX; factor += 2) {
        size_t most = most_lines(run, factor * found->stride, found->sets);
        if (found->lines % factor == 0 && most > found->lines / factor)
            run->points[count++] =
                (conflict){factor * found->stride, found->sets, most < found->lines ? most : found->lines};
    }
    return count;
}

static bj_status measure_point(void *context, const uint32_t *points, size_t count, bj_error *error) {
    ways_run *run = context;
    bool fits;
    (void)count;
    return try_lines(run, &run->points[*points], &fits, error);
}

static bj_status confirm(ways_run *run, const conflict *found, size_t first_round, bj_error *error) {
    double from = run->progress;
    run->progress += 1.0 / (double)(CONFIRM_MAX * run->caches.count);
    bj_round_plan plan = {.count = plans[run->rounds.request->effort].rounds - 1,
                          .first_round = first_round,
                          .progress_from = from,
                          .progress_to = run->progress,
                          .least_bytes = run->rounds.arena_bytes,
                          .point_count = list_points(run, found),
                          .context = run,
                          .measure = measure_point};
    return bj_kit_run_rounds(&run->rounds, &plan, error);
}

/* More and more sets, until rounds confirm what exploring suggests. */
static bj_status search(ways_run *run, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    bj_associativity_found found = {0};
    unsigned confirmed = 0;
    BJ_TRY(bj_kit_open_arena(&run->rounds, run->rounds.arena_bytes, error));
    run->rounds.pages_fixed = true;
    bool goes_on = run->level == 1 || run->rounds.pages == BJ_PAGES_HUGE;
    for (size_t sets = 1; goes_on && sets <= SETS_MAX / 2; sets *= 2) {
        conflict about = {0, sets, NO_STEP};
        BJ_TRY(explore(run, &about, error));
        if (about.stride != 0) {
            BJ_TRY(confirm(run, &about, 1, error));
            confirmed++;
            bj_associativity_find(run->rounds.samples, request->earlier, run->level, &found);
        }
        goes_on = found.ways == 0 && about.lines != NO_STEP && confirmed < CONFIRM_MAX && run->rounds.arena != NULL &&
                  !bj_probe_is_late(request);
    }
    /* The way size of this level is the distance of the next one's sets. */
    run->set_stride = found.ways > 0 && !found.contradicted ? found.walk.stride_bytes : 0;
    return BJ_OK;
}

/* Samples may come from a file, with anything in it. */
static bool can_measure(const ways_run *run, const bj_associativity_found *found) {
    const bj_conflict_walk *walk = &found->walk;
    return found->ways >= 1 && found->ways <= LINES_MAX && walk->sets >= 1 && walk->sets <= SETS_MAX &&
           walk->stride_bytes >= 1 && walk->stride_bytes <= run->rounds.arena_bytes && walk->set_stride_bytes >= 1 &&
           walk->set_stride_bytes <= run->rounds.arena_bytes;
}

/* More rounds of what the earlier ones agree on, if they do. */
static bj_status confirm_late(ways_run *run, bj_error *error) {
    bj_associativity_found found;
    bj_associativity_find(run->rounds.samples, run->rounds.request->earlier, run->level, &found);
    if (found.ways == 0 || !bj_kit_recall_arena(&run->rounds, found.curves[0]) || !can_measure(run, &found))
        return BJ_OK;
    run->set_stride = found.walk.set_stride_bytes;
    const conflict agreed = {found.walk.stride_bytes, found.walk.sets, (size_t)found.ways};
    return confirm(run, &agreed, found.curves[0]->round_count, error);
}

static bj_status measure_level(ways_run *run, bj_error *error) {
    const bj_measure_request *request = run->rounds.request;
    double capacity = run->caches.holds_bytes[run->level - 1], most = plans[request->effort].most_bytes;
    double bytes = fmin(fmax(ARENA_OVER_CAPACITY * capacity, LEAST_ARENA_BYTES), most);
    bj_kit_plan_whole_pages(&run->rounds, ceil(bytes / LEAST_ARENA_BYTES) * LEAST_ARENA_BYTES, most, REPETITIONS);
    run->tried_count = 0;
    if (!(capacity > 0) || (double)run->rounds.arena_bytes < LEAST_OVER_CAPACITY * capacity) {
        run->set_stride = 0;
        return BJ_OK;
    }
    return request->more_rounds > 0 ? confirm_late(run, error) : search(run, error);
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    ways_run run = {.line_bytes = USUAL_LINE_BYTES};
    if (bj_probe_is_method(request->method, BJ_ASSOCIATIVITY_BIGGEST_STEP))
        return bj_associativity_measure_paper(request, samples, error);
    double line = bj_kit_find_number(request->earlier, "cache.line_bytes");
    if (!isnan(line))
        run.line_bytes = (size_t)line;
    run.set_stride = SET_LINES_APART * run.line_bytes;
    bj_known_caches_read(request->earlier, &run.caches);
    for (run.level = 1; run.level <= run.caches.count; run.level++) {
        if (run.level > 1 && bj_probe_is_late(request))
            break;
        bj_kit_open_rounds(&run.rounds, request, "associativity", samples, RANDOM_PURPOSE + run.level);
        bj_status status = run.set_stride > 0 ? measure_level(&run, error) : BJ_OK;
        bj_kit_close_rounds(&run.rounds);
        BJ_TRY(status);
        run.progress = (double)run.level / (double)run.caches.count;
        BJ_TRY(bj_probe_report(request, run.progress, error));
    }
    return BJ_OK;
}

const bj_probe bj_probe_associativity = {
    .name = "associativity",
    .question = "How many lines of one set does each cache hold?",
    .revision = BJ_ASSOCIATIVITY_REVISION,
    .provides = (const bj_probe_key[]){{"cache.L<n>.associativity", "ways", 1, 1024,
                                        "lines of one set that the level holds", .tolerance = BJ_SAME_NUMBER},
                                       {0}},
    .needs = (const char *const[]){"cache", "line", NULL},
    .methods = (const char *const[]){"conflicts", BJ_ASSOCIATIVITY_BIGGEST_STEP, NULL},
    .paper_method = BJ_ASSOCIATIVITY_BIGGEST_STEP,
    .cost_s = {1, 2, 8},
    .memory_bytes = {72u << 20, 144u << 20, 560u << 20},
    .measure = measure,
    .analyse = bj_associativity_analyse,
    .analyze_curve = BJ_ASSOCIATIVITY_TABLE,
    .analyze_x_name = "lines_of_a_set",
    .analyze_x_unit = "count",
    .analyze_level = true,
};
