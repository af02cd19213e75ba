/* How many lines of one set does each cache hold?
 *
 * Lines at a stride that is a multiple of the way size meet in one set; one more than there are ways, and they begin to
 * miss (2012 paper, 3.1.3). The paper's stride is the cache size, which makes no collisions when it is a tenth off, so
 * strides are powers of two from the way size up: found where doubling the stride no longer halves what fits. Several
 * sets at once, against victim caches; from the second level on sets that coincide in the nearer level, so that this
 * one can neither hide the step nor add its own ways. Physically indexed levels want huge pages. */
#include <math.h>
#include <stdlib.h>

#include "probes/associativity/associativity_answer.h"
#include "probes/kit/known_caches.h"
#include "probes/kit/walks.h"
#include "probes/probe.h"

#define RANDOM_PURPOSE 0x77617973u
#define MIB 1048576.0
/* Prefetchers do not look beyond a page. */
#define LEAST_STRIDE 4096u
#define LINES_MAX 64u
/* Sets at once; twice as many where the most are in use. */
#define SETS_MAX 32u
/* Of the first level: apart by more than lines that are fetched in pairs. */
#define SET_LINES_APART 4u
/* Where to begin: most caches have more ways than this. */
#define FIRST_WAYS 8u
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
#define CONFIRM_MAX 3u
#define TRIED_MAX 128u
#define NO_STEP 0u

typedef struct {
    unsigned rounds;
    double most_bytes;
} effort_plan;

static const effort_plan plans[BJ_EFFORT_COUNT] = {{6, 64 * MIB}, {7, 128 * MIB}, {16, 512 * MIB}};

typedef struct {
    size_t stride, sets, fits;
} tried;

typedef struct {
    const bj_measure_request *request;
    bj_known_caches caches;
    bj_rounds rounds;
    bj_curves *samples;
    size_t line_bytes;
    size_t level, round;
    size_t set_stride; /* distance of the sets that are used at once */
    tried tries[TRIED_MAX];
    size_t tried_count;
    uint32_t places[LINES_MAX * 2 * SETS_MAX];
} ways_run;

static bj_status record(ways_run *run, const bj_conflict_walk *walk, double lines, double ns, bj_error *error) {
    bj_curve *curve;
    bj_status status = bj_associativity_open_curve(run->samples, walk, &curve, error);
    return status == BJ_OK ? bj_data_record_sample(curve, lines, run->round, ns, error) : status;
}

static size_t pick_base(ways_run *run, size_t used_bytes) {
    size_t room = (run->rounds.arena_bytes - used_bytes) / run->line_bytes;
    return (size_t)bj_random_below(&run->rounds.random, room + 1) * run->line_bytes;
}

static bj_status walk_lines(ways_run *run, size_t stride, size_t sets, size_t lines, double *ns, bj_error *error) {
    size_t count = 0;
    /* Any sets: others may hold more of some than of others. */
    size_t base = pick_base(run, (lines - 1) * stride + (sets - 1) * run->set_stride + run->line_bytes);
    for (size_t k = 0; k < lines; k++)
        for (size_t j = 0; j < sets; j++)
            run->places[count++] = (uint32_t)((base + k * stride + j * run->set_stride) / BJ_WALK_WORD_BYTES);
    bj_random_shuffle_u32(&run->rounds.random, run->places, count);
    return bj_kit_walk_places(&run->rounds, run->places, count, ns, error);
}

/* The same pages, each line in a set of its own as far as possible. */
static bj_status walk_twin(ways_run *run, size_t stride, size_t sets, size_t lines, bj_error *error) {
    double ns = 0;
    size_t count = 0, page = run->request->machine->facts.page_bytes;
    size_t base = pick_base(run, (lines - 1) * stride + (sets - 1) * run->set_stride + 2 * page) / page * page;
    for (size_t k = 0; k < lines; k++)
        for (size_t j = 0; j < sets; j++) {
            size_t at = base + (k * stride + j * run->set_stride) / page * page + count * run->line_bytes % page;
            run->places[count++] = (uint32_t)(at / BJ_WALK_WORD_BYTES);
        }
    bj_random_shuffle_u32(&run->rounds.random, run->places, count);
    bj_status status = bj_kit_walk_places(&run->rounds, run->places, count, &ns, error);
    const bj_conflict_walk twin = {0, stride, sets};
    return status == BJ_OK ? record(run, &twin, (double)lines, ns, error) : status;
}

static size_t most_lines(const ways_run *run, size_t stride, size_t sets) {
    size_t beside = sets * run->set_stride + run->request->machine->facts.page_bytes;
    size_t most = run->rounds.arena_bytes > beside ? (run->rounds.arena_bytes - beside) / stride : 0;
    return most < LINES_MAX ? most : LINES_MAX;
}

static bj_status measure_point(ways_run *run, size_t stride, size_t sets, size_t lines, double *ns, bj_error *error) {
    const bj_conflict_walk walk = {run->level, stride, sets};
    bj_status status = BJ_OK;
    if (lines > FEW_PAGES)
        status = walk_twin(run, stride, sets, lines, error);
    if (status == BJ_OK)
        status = walk_lines(run, stride, sets, lines, ns, error);
    return status == BJ_OK ? record(run, &walk, (double)lines, *ns, error) : status;
}

/* The sample is the last try: the first that fits or clearly misses. */
static bj_status try_lines(ways_run *run, size_t stride, size_t sets, size_t lines, bool *fits, bj_error *error) {
    const bj_conflict_walk walk = {run->level, stride, sets};
    bj_status status = BJ_OK;
    double least = INFINITY;
    bj_associativity_limits limits = {0};
    for (unsigned i = 0; status == BJ_OK && i <= MORE_TRIES; i++) {
        double ns = 0;
        status = measure_point(run, stride, sets, lines, &ns, error);
        least = fmin(least, ns);
        limits = bj_associativity_find_limits(run->samples, run->request->earlier, &walk, (double)lines);
        if (!(least > limits.fits && least <= limits.misses))
            break;
    }
    *fits = status == BJ_OK && least <= limits.fits;
    return status;
}

/* The most lines that fit at this stride; NO_STEP: all that were tried do, or not even one. */
static bj_status find_fits(ways_run *run, size_t stride, size_t sets, size_t *found, bj_error *error) {
    for (size_t i = 0; i < run->tried_count; i++)
        if (run->tries[i].stride == stride && run->tries[i].sets == sets) {
            *found = run->tries[i].fits;
            return BJ_OK;
        }
    size_t most = most_lines(run, stride, sets), low = 0, high = most + 1;
    bj_status status = BJ_OK;
    for (size_t lines = 1; status == BJ_OK && lines < high;
         lines = lines * 2 <= most || lines == most ? lines * 2 : most) {
        bool fits = false;
        status = try_lines(run, stride, sets, lines, &fits, error);
        if (fits)
            low = lines;
        else
            high = lines;
    }
    size_t missed = high;
    while (status == BJ_OK && high - low > 1 && missed <= most) {
        bool fits = false;
        size_t middle = (low + high) / 2;
        status = try_lines(run, stride, sets, middle, &fits, error);
        if (fits)
            low = middle;
        else
            high = middle;
    }
    *found = missed <= most ? low : NO_STEP;
    if (run->tried_count < TRIED_MAX)
        run->tries[run->tried_count++] = (tried){stride, sets, *found};
    return status;
}

static size_t power_below(double bytes) {
    return (size_t)1 << (unsigned)floor(log2(bytes));
}

/* As far as single tries can tell: a full set is the first to lose a line to something else. Rounds decide. */
static bool is_about(size_t one, size_t other) {
    size_t less = one < other ? one : other, more = one < other ? other : one;
    size_t tolerance = less > 12 ? 2 : less > 6 ? 1 : 0;
    return less != NO_STEP && more - less <= tolerance;
}

/* With so many sets: the shortest stride from which on what fits stays the same. 0: none. */
static bj_status find_plateau(ways_run *run, size_t sets, size_t *stride, size_t *fits, bj_error *error) {
    double capacity = run->caches.holds_bytes[run->level - 1];
    size_t least = LEAST_STRIDE, twice = 0;
    while (run->level > 1 && least < 2 * sets * run->set_stride)
        least *= 2;
    size_t at = power_below(capacity * 1.1) / FIRST_WAYS;
    at = at > least ? at : least;
    *stride = 0;
    bj_status status = find_fits(run, at, sets, fits, error);
    while (status == BJ_OK) {
        status = find_fits(run, 2 * at, sets, &twice, error);
        if (status == BJ_OK && is_about(twice, *fits))
            *stride = at;
        /* No step at the longer stride: perhaps only no room for one. */
        if (*stride != 0 || twice == NO_STEP || (double)at > 2 * capacity)
            break;
        at *= 2;
        *fits = twice;
    }
    while (status == BJ_OK && at / 2 >= least) {
        status = find_fits(run, at / 2, sets, &twice, error);
        if (!is_about(twice, *fits))
            break;
        at /= 2;
        *stride = at;
    }
    return status;
}

/* Whether twice as many sets show about the same at the stride and its double; *fits becomes the most of the four. */
static bj_status agrees_with_twice(ways_run *run, size_t stride, size_t sets, size_t *fits, bool *agrees,
                                   bj_error *error) {
    size_t most = 0;
    *agrees = true;
    bj_status status = BJ_OK;
    for (unsigned i = 0; status == BJ_OK && *agrees && i < 4; i++) {
        size_t here = 0;
        status = find_fits(run, stride << (i & 1), sets << (i >> 1), &here, error);
        *agrees = is_about(here, *fits);
        most = here > most ? here : most;
    }
    if (*agrees)
        *fits = most;
    return status;
}

/* An odd factor of the number of sets shows as one of the ways at powers of two; at that multiple, fewer fit. */
static bj_status try_odd_factors(ways_run *run, size_t sets, size_t *stride, size_t *fits, bj_error *error) {
    size_t first = *stride, all = *fits;
    bj_status status = BJ_OK;
    for (size_t factor = 3; status == BJ_OK && factor <= all; factor += 2) {
        bool same = true, agrees = false;
        if (all % factor != 0 || most_lines(run, factor * first, sets) < all / factor + 1)
            continue;
        size_t lines = most_lines(run, factor * first, sets);
        status = try_lines(run, factor * first, sets, all < lines ? all : lines, &same, error);
        if (same || status != BJ_OK)
            continue;
        size_t fewer = 0;
        status = find_fits(run, factor * first, sets, &fewer, error);
        if (status == BJ_OK)
            status = agrees_with_twice(run, factor * first, sets, &fewer, &agrees, error);
        if (agrees && fewer < *fits && fewer != NO_STEP) {
            *fits = fewer;
            *stride = factor * first;
        }
    }
    return status;
}

/* What so many sets, and twice as many, seem to agree on; *fits NO_STEP: nothing. */
static bj_status explore(ways_run *run, size_t sets, size_t *stride, size_t *fits, bool *agrees, bj_error *error) {
    *agrees = false;
    bj_status status = find_plateau(run, sets, stride, fits, error);
    if (status == BJ_OK && *stride >= 2 * sets * run->set_stride && *fits != NO_STEP)
        status = agrees_with_twice(run, *stride, sets, fits, agrees, error);
    if (status == BJ_OK && *agrees)
        status = try_odd_factors(run, sets, stride, fits, error);
    return status;
}

static bj_status open_arena(ways_run *run, bj_error *error) {
    return bj_kit_open_arena(&run->rounds, run->rounds.arena_bytes, error);
}

typedef struct {
    size_t stride, sets, lines;
} ways_point;

#define POINTS_MAX 32u

/* What a round has to confirm: the four that agree, and that odd multiples show no fewer. */
static size_t list_points(const ways_run *run, size_t stride, size_t sets, size_t fits, ways_point *points) {
    size_t count = 0;
    for (unsigned i = 0; i < 12; i++) {
        ways_point point = {stride << (i & 1), sets << (i >> 1 & 1), fits + (i >> 2)};
        if (point.lines <= most_lines(run, point.stride, point.sets))
            points[count++] = point;
    }
    for (size_t factor = 3; factor <= fits && count < POINTS_MAX; factor += 2) {
        size_t most = most_lines(run, factor * stride, sets);
        if (fits % factor == 0 && most > fits / factor)
            points[count++] = (ways_point){factor * stride, sets, most < fits ? most : fits};
    }
    return count;
}

static bj_status report(const ways_run *run, double share, bj_error *error) {
    double fraction = ((double)run->level - 1 + share) / (double)run->caches.count;
    return bj_probe_report(run->request, fraction, error);
}

static bj_status confirm(ways_run *run, size_t stride, size_t sets, size_t fits, bj_error *error) {
    const effort_plan *plan = &plans[run->request->effort];
    bj_machine *machine = run->request->machine;
    ways_point points[POINTS_MAX];
    size_t count = list_points(run, stride, sets, fits, points);
    uint32_t order[POINTS_MAX];
    bj_status status = BJ_OK;
    for (run->round = 1; status == BJ_OK && run->round < plan->rounds; run->round++) {
        status = open_arena(run, error);
        if (status == BJ_ERR_UNSUPPORTED)
            return BJ_OK; /* no more of the pages that the rounds before had */
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)i;
        bj_random_shuffle_u32(&run->rounds.random, order, count);
        for (size_t i = 0; status == BJ_OK && i < count; i++) {
            const ways_point *point = &points[order[i]];
            bool told;
            status = try_lines(run, point->stride, point->sets, point->lines, &told, error);
        }
        if (status == BJ_OK)
            status = report(run, (run->round + 1.0) / plan->rounds, error);
        if (machine->verbs->read_clock(machine) > run->request->deadline_s)
            break;
    }
    return status;
}

/* More and more sets, until rounds confirm what exploring suggests. */
static bj_status search(ways_run *run, bj_associativity_found *found, bj_error *error) {
    bj_machine *machine = run->request->machine;
    unsigned confirmed = 0;
    bj_status status = BJ_OK;
    for (size_t sets = 1; status == BJ_OK && sets <= SETS_MAX / 2 && confirmed < CONFIRM_MAX; sets *= 2) {
        size_t stride = 0, fits = NO_STEP;
        bool agrees = false;
        run->round = 0;
        status = explore(run, sets, &stride, &fits, &agrees, error);
        if (status == BJ_OK && agrees) {
            status = confirm(run, stride, sets, fits, error);
            confirmed++;
            bj_associativity_find(run->samples, run->request->earlier, run->level, found);
        }
        if (found->ways > 0 || fits == NO_STEP || machine->verbs->read_clock(machine) > run->request->deadline_s)
            break;
    }
    return status;
}

/* The nearer level's way size becomes the distance of this one's sets; 0 afterwards: this level's is not known. */
static bj_status measure_level(ways_run *run, bj_error *error) {
    const effort_plan *plan = &plans[run->request->effort];
    double capacity = run->caches.holds_bytes[run->level - 1];
    /* Huge pages that are larger than all that we want are too much of a good thing. */
    double huge = (double)run->request->machine->facts.huge_bytes;
    double whole = huge > plan->most_bytes ? LEAST_ARENA_BYTES : fmax(huge, LEAST_ARENA_BYTES);
    double bytes = fmin(fmax(ARENA_OVER_CAPACITY * capacity, LEAST_ARENA_BYTES), plan->most_bytes);
    bytes = fmin(ceil(bytes / whole) * whole, (double)run->request->memory_bytes / 1.1);
    bj_associativity_found found = {0};
    if (bytes < LEAST_OVER_CAPACITY * capacity || !(capacity > 0)) {
        run->set_stride = 0;
        return BJ_OK;
    }
    bj_kit_open_rounds(&run->rounds, run->request, "associativity", run->samples, RANDOM_PURPOSE + run->level);
    bj_kit_plan_arena(&run->rounds, (size_t)bytes, REPETITIONS);
    if (huge > plan->most_bytes)
        run->rounds.pages = BJ_PAGES_BASE;
    run->tried_count = 0;
    bj_status status = open_arena(run, error);
    run->rounds.pages_fixed = true;
    bool chosen = run->level == 1 || run->rounds.pages == BJ_PAGES_HUGE;
    if (status == BJ_OK && chosen)
        status = search(run, &found, error);
    bj_kit_close_rounds(&run->rounds);
    run->set_stride = found.ways > 0 && !found.contradicted ? found.stride : 0;
    return status;
}

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    ways_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a walk");
    *run = (ways_run){.request = request, .samples = samples};
    double line = 64;
    (void)bj_data_get_number(request->earlier, "cache.line_bytes", &line);
    run->line_bytes = (size_t)line;
    run->set_stride = SET_LINES_APART * run->line_bytes;
    bj_known_caches_read(request->earlier, &run->caches);
    bj_machine *machine = request->machine;
    bj_status status = BJ_OK;
    for (run->level = 1; status == BJ_OK && run->level <= run->caches.count && run->set_stride > 0; run->level++) {
        status = measure_level(run, error);
        if (machine->verbs->read_clock(machine) > request->deadline_s)
            break;
    }
    free(run);
    return status;
}

const bj_probe bj_probe_associativity = {
    .name = "associativity",
    .question = "How many lines of one set does each cache hold?",
    .revision = BJ_ASSOCIATIVITY_REVISION,
    .provides =
        (const bj_probe_key[]){{"cache.L<n>.associativity", "ways", 1, 1024, "lines of one set that the level holds"},
                               {0}},
    .needs = (const char *const[]){"cache", "line", NULL},
    .methods = (const char *const[]){"conflicts", NULL},
    .cost_s = {1, 2, 8},
    .memory_bytes = {72u << 20, 144u << 20, 560u << 20},
    .measure = measure,
    .analyse = bj_associativity_analyse,
    .analyze_curve = BJ_ASSOCIATIVITY_TABLE,
    .analyze_x_name = "lines_of_a_set",
    .analyze_x_unit = "count",
};
