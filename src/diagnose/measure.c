/* Rounds of trials: the program and three references on the first cpu of the chip, beside every kind of company on the
 * others, in random order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "diagnose/diagnose.h"
#include "diagnose/diagnose_constants.h"
#include "diagnose/reading.h"
#include "stats/quantile.h"

const double bj_diagnose_cache_shares[BJ_DIAGNOSE_LEVELS] = {0.5, 1, 2, 4};

/* A cell of the table, or a density of the program. */
typedef struct {
    bj_subject subject;
    bj_company company;
    size_t density; /* index + 1; 0: a cell */
} task;

enum { TASKS_MOST = BJ_SUBJECTS * BJ_COMPANIES + BJ_DIAGNOSE_DENSITIES };

typedef struct {
    const bj_diagnose_request *request;
    double twin_share, twin_gbs, full_gbs; /* of each; full: what one actor of many gets, 0: not known yet */
    bj_actor *actors;
    bj_copy *copies;
    int *cpus;
    double *seconds, *achieved, *medians;
    bj_random random;
    size_t done, planned; /* trials */
} session;

/* ---- one trial */

static bj_actor lines_on(int cpu, double gbs, unsigned places) {
    return (bj_actor){.cpu = cpu, .act = BJ_ACT_LINES, .bytes = LINES_BYTES, .gbs = gbs, .places = places};
}

static bj_actor company_on(const session *s, int cpu, bj_company company) {
    const bj_diagnose_chip *chip = s->request->chip;
    switch (company) {
    case BJ_BESIDE_HALF:
        return lines_on(cpu, s->full_gbs / 2, 1);
    case BJ_BESIDE_HALF_SCATTERED:
        return lines_on(cpu, s->full_gbs / 2, SCATTERED_PLACES);
    case BJ_BESIDE_FULL:
        return lines_on(cpu, 0, 1);
    case BJ_BESIDE_FULL_SCATTERED:
        return lines_on(cpu, 0, SCATTERED_PLACES);
    case BJ_BESIDE_TWINS:
        return lines_on(cpu, s->twin_gbs, 1);
    case BJ_BESIDE_TWINS_SCATTERED:
        return lines_on(cpu, s->twin_gbs, SCATTERED_PLACES);
    default:
        break;
    }
    bool steps = company >= BJ_BESIDE_CACHE && company <= BJ_BESIDE_CACHE_LAST;
    if (!steps && company != BJ_BESIDE_TWIN_WALKS)
        return (bj_actor){.cpu = cpu, .act = BJ_ACT_NOTHING};
    /* Of those who share the first cpu's cache; where none does, each by itself. */
    double sharers = chip->cache_sharers > 1 ? (double)chip->cache_sharers - 1 : 1;
    double share = steps ? bj_diagnose_cache_shares[company - BJ_BESIDE_CACHE] : s->twin_share;
    double bytes = share * chip->cache_bytes / sharers;
    /* All of them together leave the program most of the memory there is. */
    bytes =
        fmin(bytes, WALKS_MEMORY_SHARE * (double)s->request->machine->facts.memory_limit_bytes / (double)chip->count);
    size_t whole = (size_t)fmax(bytes, LEAST_WALK_BYTES) / BJ_STREAM_MULTIPLE_BYTES * BJ_STREAM_MULTIPLE_BYTES;
    return (bj_actor){.cpu = cpu, .act = BJ_ACT_WALK, .bytes = whole};
}

static bj_actor subject_on(const session *s, bj_subject subject) {
    int cpu = s->request->chip->cpus[0];
    size_t walk = (size_t)fmax(s->request->chip->cache_bytes * REFERENCE_SHARE, LEAST_WALK_BYTES);
    switch (subject) {
    case BJ_SUBJECT_WALK:
        walk = walk / BJ_STREAM_MULTIPLE_BYTES * BJ_STREAM_MULTIPLE_BYTES;
        return (bj_actor){.cpu = cpu, .act = BJ_ACT_WALK, .bytes = walk};
    case BJ_SUBJECT_LINES:
        return lines_on(cpu, 0, 1);
    case BJ_SUBJECT_SCATTERED:
        return lines_on(cpu, 0, SCATTERED_PLACES);
    default:
        return (bj_actor){.cpu = cpu, .act = BJ_ACT_NOTHING};
    }
}

/* Copies on cpus[0 .. count): one over all of them where the work is to stay the same, else one each. */
static size_t lay_copies(const session *s, const int *cpus, size_t count, bj_copy *copies) {
    if (s->request->strong && count > 0) {
        copies[0] = (bj_copy){cpus, count};
        return 1;
    }
    for (size_t i = 0; i < count; i++)
        copies[i] = (bj_copy){cpus + i, 1};
    return count;
}

static bj_status run(session *s, const bj_trial *trial, bj_trial_notes *notes, bj_error *error) {
    bj_machine *machine = s->request->machine;
    BJ_TRY(machine->verbs->run_trial(machine, trial, s->seconds, s->achieved, notes, error));
    s->done++;
    if (s->request->report != NULL &&
        s->request->report(s->request->context, fmin((double)s->done / (double)s->planned, 1)))
        return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted");
    return BJ_OK;
}

static double median_seconds(session *s, size_t copies) {
    memcpy(s->medians, s->seconds, copies * sizeof *s->medians);
    return bj_stats_median(s->medians, copies);
}

/* What the company achieved: rates add up, of walks the mean counts. */
static double sum_up(const bj_actor *actors, const double *achieved, size_t count) {
    double sum = 0, known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(achieved[i])) {
            sum += achieved[i];
            known++;
        }
    if (known == 0)
        return NAN;
    return actors[0].act == BJ_ACT_WALK ? sum / known : sum;
}

static bj_status fill_cell(session *s, const task *what, bj_diagnose_sample *sample, bj_error *error) {
    const bj_diagnose_chip *chip = s->request->chip;
    bool program = what->subject == BJ_SUBJECT_PROGRAM, copies = what->company == BJ_BESIDE_COPIES;
    bj_trial trial = {.copies = s->copies, .actors = s->actors, .seconds = REFERENCE_SECONDS};
    if (program)
        trial.copy_count = lay_copies(s, chip->cpus, 1, s->copies);
    else
        s->actors[trial.actor_count++] = subject_on(s, what->subject);
    size_t company_from = trial.actor_count;
    if (copies)
        trial.copy_count += lay_copies(s, chip->cpus + 1, chip->count - 1, s->copies + trial.copy_count);
    for (size_t i = 1; !copies && what->company != BJ_BESIDE_IDLE && i < chip->count; i++)
        s->actors[trial.actor_count++] = company_on(s, chip->cpus[i], what->company);
    BJ_TRY(run(s, &trial, NULL, error));
    sample->own = program ? s->seconds[0] : s->achieved[0];
    if (what->subject == BJ_SUBJECT_LINES || what->subject == BJ_SUBJECT_SCATTERED)
        sample->own = 1 / sample->own;
    sample->theirs = sum_up(s->actors + company_from, s->achieved + company_from, trial.actor_count - company_from);
    return BJ_OK;
}

/* The cpus of a density: so many of the first chip, or of as many chips as hold the copy's cpus at that density. */
static size_t choose_cpus(const session *s, size_t density, int *cpus) {
    const bj_diagnose_chip *chip = s->request->chip;
    size_t chips = s->request->total_cpus > 0 ? s->request->total_cpus / density : 1, count = 0;
    for (size_t c = 0; c < chips; c++)
        for (size_t i = 0; i < density; i++)
            cpus[count++] = c == 0 ? chip->cpus[i] : chip->others[(c - 1) * chip->count + i];
    return count;
}

static bj_status fill_density(session *s, size_t index, bj_diagnose_round *round, bj_error *error) {
    bj_trial trial = {.copies = s->copies};
    size_t count = choose_cpus(s, s->request->densities[index], s->cpus);
    trial.copy_count = lay_copies(s, s->cpus, count, s->copies);
    BJ_TRY(run(s, &trial, &round->notes[index], error));
    round->densities[index] = median_seconds(s, trial.copy_count);
    return BJ_OK;
}

/* ---- rounds */

static void clear_round(bj_diagnose_round *round) {
    for (size_t i = 0; i < BJ_SUBJECTS; i++)
        for (size_t j = 0; j < BJ_COMPANIES; j++)
            round->cells[i][j] = (bj_diagnose_sample){NAN, NAN};
    for (size_t i = 0; i < BJ_DIAGNOSE_DENSITIES; i++)
        round->densities[i] = NAN;
}

static const task exploring[] = {
    {BJ_SUBJECT_PROGRAM, BJ_BESIDE_NULL, 0},
    {BJ_SUBJECT_PROGRAM, BJ_BESIDE_FULL, 0},
    {BJ_SUBJECT_LINES, BJ_BESIDE_FULL, 0},
    {BJ_SUBJECT_NULL, BJ_BESIDE_FULL, 0},
    {BJ_SUBJECT_PROGRAM, BJ_BESIDE_FULL_SCATTERED, 0},
    {BJ_SUBJECT_SCATTERED, BJ_BESIDE_FULL_SCATTERED, 0},
    {BJ_SUBJECT_NULL, BJ_BESIDE_FULL_SCATTERED, 0},
    {BJ_SUBJECT_WALK, BJ_BESIDE_NULL, 0},
    {BJ_SUBJECT_WALK, BJ_BESIDE_COPIES, 0},
};
enum { EXPLORING_TASKS = sizeof exploring / sizeof exploring[0] };

/* What a reference needs: undisturbed, by cache, by twins and by copies; of lines what memory gives in all. */
static bool is_needed(bj_subject subject, bj_company company) {
    bool half = company == BJ_BESIDE_HALF || company == BJ_BESIDE_HALF_SCATTERED;
    bool full = company == BJ_BESIDE_FULL || company == BJ_BESIDE_FULL_SCATTERED;
    if (subject == BJ_SUBJECT_PROGRAM)
        return true;
    if (subject == BJ_SUBJECT_NULL)
        return full;
    bool steps = company >= BJ_BESIDE_CACHE && company <= BJ_BESIDE_CACHE_LAST;
    if (steps)
        return false;
    if (subject == BJ_SUBJECT_WALK)
        return company != BJ_BESIDE_IDLE && !half && !full;
    if (full)
        return (subject == BJ_SUBJECT_LINES) == (company == BJ_BESIDE_FULL);
    return company != BJ_BESIDE_IDLE && !half;
}

static size_t plan_round(const bj_diagnose_request *request, task *tasks) {
    size_t count = 0;
    for (int subject = 0; !request->times_only && subject < BJ_SUBJECTS; subject++)
        for (int company = 0; company < BJ_COMPANIES; company++)
            if (is_needed((bj_subject)subject, (bj_company)company))
                tasks[count++] = (task){(bj_subject)subject, (bj_company)company, 0};
    for (size_t i = 0; i < request->density_count; i++)
        tasks[count++] = (task){.density = i + 1};
    return count;
}

static bj_status run_round(session *s, const task *tasks, size_t count, bj_diagnose_round *round, bj_error *error) {
    uint32_t order[TASKS_MOST];
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    bj_random_shuffle_u32(&s->random, order, count);
    clear_round(round);
    for (size_t i = 0; i < count; i++) {
        const task *what = &tasks[order[i]];
        if (what->density > 0)
            BJ_TRY(fill_density(s, what->density - 1, round, error));
        else
            BJ_TRY(fill_cell(s, what, &round->cells[what->subject][what->company], error));
    }
    return BJ_OK;
}

/* Alone, so that one that cannot be timed is told at once. A busy machine may hold up what is short: the least of some
 * tries counts. */
static bj_status try_program(session *s, bj_error *error) {
    bj_trial trial = {.copies = s->copies};
    double least = INFINITY;
    trial.copy_count = lay_copies(s, s->request->chip->cpus, 1, s->copies);
    for (unsigned i = 0; i < FIRST_TRIES && (i == 0 || least < SHORT_TIMES * s->request->least_s); i++) {
        BJ_TRY(run(s, &trial, NULL, error));
        least = fmin(least, s->seconds[0]);
    }
    if (least < s->request->least_s)
        return bj_base_set_error(error, BJ_ERR_FAILED,
                                 "the program ends after %.3g ms: too short to be timed beside others; give it work "
                                 "for %.3g ms or more",
                                 least * 1e3, s->request->least_s * 1e3);
    return BJ_OK;
}

/* The reference walk's slowdown in some trials: the median. */
static bj_status try_walk(session *s, const bj_diagnose_round *rounds, bj_company company, double *slowdown,
                          bj_error *error) {
    const task what = {BJ_SUBJECT_WALK, company, 0};
    double tries[EXPLORING_ROUNDS];
    for (unsigned i = 0; i < EXPLORING_ROUNDS; i++) {
        bj_diagnose_sample sample;
        BJ_TRY(fill_cell(s, &what, &sample, error));
        tries[i] = sample.own;
    }
    double alone = bj_diagnose_cell(rounds, NULL, EXPLORING_ROUNDS, BJ_SUBJECT_WALK, BJ_BESIDE_NULL, false);
    *slowdown = log(bj_stats_median(tries, EXPLORING_ROUNDS) / alone);
    return BJ_OK;
}

/* The walks that hurt the reference walk as much as the copies do by taking cache, which is without what their traffic
 * alone does: by halving, since more pressure hurts no less. */
static bj_status find_twin_walks(session *s, bj_diagnose_samples *samples, bj_error *error) {
    const bj_diagnose_round *rounds = samples->explored;
    double wanted = bj_diagnose_slowed(rounds, NULL, EXPLORING_ROUNDS, BJ_SUBJECT_WALK, BJ_BESIDE_COPIES);
    double slowdown, low = log(LEAST_TWIN_WALKS), high = log(MOST_TWIN_WALKS);
    BJ_TRY(try_walk(s, rounds, BJ_BESIDE_TWINS, &slowdown, error));
    wanted -= fmax(slowdown, 0);
    s->twin_share = MOST_TWIN_WALKS;
    BJ_TRY(try_walk(s, rounds, BJ_BESIDE_TWIN_WALKS, &slowdown, error));
    samples->walk_is_past = wanted > slowdown + GAUGE_LEAST;
    for (unsigned i = 0; i < TWIN_HALVINGS; i++) {
        s->twin_share = exp((low + high) / 2);
        BJ_TRY(try_walk(s, rounds, BJ_BESIDE_TWIN_WALKS, &slowdown, error));
        *(slowdown < wanted ? &low : &high) = log(s->twin_share);
    }
    samples->twin_share = s->twin_share;
    return BJ_OK;
}

static bj_status explore(session *s, bj_diagnose_samples *samples, bj_error *error) {
    double n = (double)s->request->chip->count;
    for (unsigned i = 0; i < EXPLORING_ROUNDS; i++) {
        BJ_TRY(run_round(s, exploring, EXPLORING_TASKS, &samples->explored[i], error));
        samples->explored_count++;
    }
    const bj_diagnose_round *rounds = samples->explored;
    double full = bj_diagnose_cell(rounds, NULL, EXPLORING_ROUNDS, BJ_SUBJECT_NULL, BJ_BESIDE_FULL, true);
    double demand = bj_diagnose_find_demand(rounds, NULL, EXPLORING_ROUNDS);
    s->full_gbs = full / (n - 1);
    double least = full * LEAST_TWIN_SHARE / n;
    samples->twins_rest = !(demand > least);
    s->twin_gbs = samples->twin_gbs = samples->twins_rest ? least : demand;
    return find_twin_walks(s, samples, error);
}

static bj_status measure_all(session *s, bj_diagnose_samples *samples, bj_error *error) {
    const bj_diagnose_request *request = s->request;
    task tasks[TASKS_MOST];
    size_t count = plan_round(request, tasks);
    s->planned = 1 + request->rounds * count +
                 (request->times_only ? 0 : EXPLORING_ROUNDS * (EXPLORING_TASKS + TWIN_HALVINGS + 2));
    BJ_TRY(try_program(s, error));
    if (!request->times_only)
        BJ_TRY(explore(s, samples, error));
    double begun = request->machine->verbs->read_clock(request->machine), longest = 0;
    for (unsigned i = 0; i < request->rounds; i++) {
        double now = request->machine->verbs->read_clock(request->machine);
        longest = fmax(longest, now - begun);
        if (i > 0 && now + longest > request->deadline_s) {
            samples->out_of_time = true;
            return BJ_OK;
        }
        begun = now;
        BJ_TRY(run_round(s, tasks, count, &samples->rounds[i], error));
        samples->round_count++;
    }
    return BJ_OK;
}

bj_status bj_diagnose_measure(const bj_diagnose_request *request, bj_diagnose_samples *samples, bj_error *error) {
    size_t cpus = request->chip->count * request->chip->chips + 1;
    session s = {.request = request,
                 .actors = calloc(cpus, sizeof *s.actors),
                 .copies = calloc(cpus, sizeof *s.copies),
                 .cpus = calloc(cpus, sizeof *s.cpus),
                 .seconds = calloc(cpus, sizeof *s.seconds),
                 .achieved = calloc(cpus, sizeof *s.achieved),
                 .medians = calloc(cpus, sizeof *s.medians)};
    *samples = (bj_diagnose_samples){.rounds = calloc(request->rounds + 1, sizeof *samples->rounds),
                                     .explored = calloc(EXPLORING_ROUNDS, sizeof *samples->explored),
                                     .twin_gbs = NAN,
                                     .twin_share = NAN};
    bj_status status = BJ_OK;
    if (!s.actors || !s.copies || !s.cpus || !s.seconds || !s.achieved || !s.medians || !samples->rounds ||
        !samples->explored)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the samples of %u rounds", request->rounds);
    bj_random_seed(&s.random, request->seed);
    if (status == BJ_OK)
        status = measure_all(&s, samples, error);
    if (status != BJ_OK)
        bj_diagnose_free_samples(samples);
    free(s.actors);
    free(s.copies);
    free(s.cpus);
    free(s.seconds);
    free(s.achieved);
    free(s.medians);
    return status;
}

void bj_diagnose_free_samples(bj_diagnose_samples *samples) {
    free(samples->rounds);
    free(samples->explored);
    *samples = (bj_diagnose_samples){0};
}
