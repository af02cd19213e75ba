/* Who shares a first level with whom, by group tests: in each experiment about half of the cpus walk two thirds of the
 * level at once, and each sees by its own time whether a sharer was among them.
 *
 * Every cpu has a random code; in one experiment all walk whose bit is set, in the next all whose bit is not. A cpu is
 * slow where its sharer has the same bit, so that the sharer's code can be read off: with one sharer exactly. Larger
 * groups are nearly always slow. There a regular numbering orders the questions: one experiment with one cpu of each
 * supposed group, which nobody may find slow, and then each member against the first of its group. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "probes/kit/walks.h"
#include "probes/topology/topology_constants.h"
#include "probes/topology/topology_kinds.h"
#include "probes/topology/topology_run.h"

#define REPETITIONS 2u
/* Of a level: two walks of it do not fit together, and one surely does. */
#define SHARE_OF_LEVEL (2.0 / 3)
/* With a sharer four thirds of the level are walked: a third of the lines misses at least, each at twice the time or
 * more. Noise of the least of some batches stays well below half of that. */
#define SLOW 1.25
/* Bits of a code beyond what numbers the cpus: one since none may be the complement of another, one so that few codes
 * are next to each other. Two experiments a bit, and a few for other questions. */
#define SPARE_BITS 2.0
/* Cpus that may be slow by chance where no sharers run. */
#define SLOW_BY_CHANCE 0.02
/* A cpu with one sharer is slow in half of the experiments, one of a group of four in 7/8, of eight in nearly all: up
 * to what share it is taken for one of two, or of four. */
#define SLOW_SHARE_OF_TWO 0.7
#define SLOW_SHARE_OF_FOUR 0.94
/* Walks of a first level on so many cpus to learn what a lone walk of the second takes. */
#define LONE_WALKS 3u
/* The lines of an arena for all must be worth a test. */
#define MOST_ARENA_SHARE 0.5

typedef struct {
    bj_topology_run *run;
    double bytes;        /* of a walk */
    size_t region_bytes; /* of a walk in the arena */
    bj_walk *walks;
    uint32_t *places;
    double *samples;
    double *alone_ns; /* by cpu: the walk without others */
    uint32_t *active; /* cpus of the experiment */
    size_t active_count;
    bool *slow; /* by cpu, after an experiment */
    uint64_t *codes, *seen;
    unsigned bits;
} group_test;

static void close_test(group_test *test) {
    bj_kit_close_arena(&test->run->rounds);
    free(test->walks);
    free(test->places);
    free(test->samples);
    free(test->alone_ns);
    free(test->active);
    free(test->slow);
    free(test->codes);
    free(test->seen);
}

static bj_status open_test(group_test *test, bj_topology_run *run, double level_bytes, bj_error *error) {
    size_t cpus = run->cpu_count, page = run->request->machine->facts.page_bytes;
    *test = (group_test){.run = run, .bytes = SHARE_OF_LEVEL * level_bytes};
    size_t places = bj_topology_count_places(run, test->bytes);
    test->region_bytes = ((size_t)test->bytes / page + 1) * page;
    test->walks = malloc(cpus * sizeof *test->walks);
    test->places = malloc(cpus * places * sizeof *test->places);
    test->samples = malloc(cpus * REPETITIONS * sizeof *test->samples);
    test->alone_ns = malloc(cpus * sizeof *test->alone_ns);
    test->active = malloc(cpus * sizeof *test->active);
    test->slow = calloc(cpus, sizeof *test->slow);
    test->codes = calloc(cpus, sizeof *test->codes);
    test->seen = calloc(cpus, sizeof *test->seen);
    if (!test->walks || !test->places || !test->samples || !test->alone_ns || !test->active || !test->slow ||
        !test->codes || !test->seen)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for walks on %zu cpus", cpus);
    bj_kit_plan_whole_pages(&run->rounds, (double)(cpus * test->region_bytes), INFINITY, 1);
    return bj_kit_open_arena(&run->rounds, cpus * test->region_bytes, error);
}

/* All active cpus walk at once, each in a region of its own; who was slow. */
static bj_status walk_together(group_test *test, bj_error *error) {
    bj_topology_run *run = test->run;
    bj_machine *machine = run->request->machine;
    bj_walk_effort effort = {.repetitions = REPETITIONS};
    size_t places = bj_topology_count_places(run, test->bytes);
    if (test->active_count == 0)
        return BJ_OK;
    for (size_t i = 0; i < test->active_count; i++)
        BJ_TRY(bj_topology_make_walk(run, test->active[i], i * test->region_bytes, test->bytes,
                                     test->places + i * places, &test->walks[i], error));
    BJ_TRY(machine->verbs->run_walks(machine, test->walks, test->active_count, &effort, test->samples, error));
    char id[48];
    snprintf(id, sizeof id, "topology.together.%zu", ++run->walks_together);
    bj_curve_axes axes = {id, "cpu", "", "time_per_access", "ns"};
    run->rounds.round = 0;
    for (size_t i = 0; i < test->active_count; i++) {
        double ns = fmin(test->samples[i * REPETITIONS], test->samples[i * REPETITIONS + 1]);
        test->slow[test->active[i]] = ns > SLOW * test->alone_ns[test->active[i]];
        BJ_TRY(bj_kit_record(&run->rounds, &axes, run->cpus[test->active[i]], ns, error));
    }
    BJ_TRY(bj_kit_keep_fact(&run->rounds, id, "working_set_bytes", test->bytes, error));
    return bj_probe_report(run->request, 0.2, error);
}

/* Distinct, and none the complement of another, whose owners would never walk at once. */
static void draw_codes(group_test *test) {
    size_t cpus = test->run->cpu_count;
    bj_random *random = &test->run->rounds.random;
    uint64_t half = (uint64_t)1 << (test->bits - 1), all = 2 * half - 1;
    for (size_t i = 0; i < cpus; i++) {
        bool taken = true;
        while (taken) {
            test->codes[i] = bj_random_below(random, half);
            taken = false;
            for (size_t j = 0; j < i && !taken; j++)
                taken = (test->codes[j] < half ? test->codes[j] : all - test->codes[j]) == test->codes[i];
        }
        if (bj_random_below(random, 2) == 1)
            test->codes[i] = all - test->codes[i];
    }
}

/* Both polarities of each bit; `seen` has a bit set where the cpu was slow. */
static bj_status run_codes(group_test *test, bj_error *error) {
    size_t cpus = test->run->cpu_count;
    for (unsigned experiment = 0; experiment < 2 * test->bits; experiment++) {
        unsigned bit = experiment / 2;
        test->active_count = 0;
        for (size_t i = 0; i < cpus; i++)
            if ((test->codes[i] >> bit & 1) == experiment % 2)
                test->active[test->active_count++] = (uint32_t)i;
        BJ_TRY(walk_together(test, error));
        for (size_t i = 0; i < test->active_count; i++)
            test->seen[test->active[i]] |= (uint64_t)test->slow[test->active[i]] << bit;
    }
    return BJ_OK;
}

static unsigned count_bits(uint64_t bits) {
    unsigned count = 0;
    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

/* The one cpu whose code explains what this one saw, but for a single disturbed walk; none: its own number. */
static size_t decode(const group_test *test, size_t cpu) {
    uint64_t all = ((uint64_t)1 << test->bits) - 1, wanted = test->codes[cpu] ^ (~test->seen[cpu] & all);
    size_t best = cpu;
    unsigned least = 2;
    for (size_t i = 0; i < test->run->cpu_count && test->seen[cpu] != 0; i++) {
        unsigned wrong = count_bits(test->codes[i] ^ wanted);
        if (i == cpu || wrong > least)
            continue;
        best = wrong < least ? i : cpu; /* two that explain it alike: neither */
        least = wrong;
    }
    return best;
}

/* The share of the experiments with a like bit in which a cpu that has sharers was slow: the median of such cpus, whose
 * numbers are left in `active`. */
static double share_slow(group_test *test) {
    size_t of_count[65] = {0}, below = 0;
    test->active_count = 0;
    for (size_t i = 0; i < test->run->cpu_count; i++) {
        if (test->seen[i] == 0)
            continue;
        test->active[test->active_count++] = (uint32_t)i;
        of_count[count_bits(test->seen[i])]++;
    }
    unsigned count = 0;
    while (count < test->bits && (below += of_count[count]) * 2 < test->active_count)
        count++;
    return (double)count / test->bits;
}

/* Pairs that name each other. */
static void take_pairs(group_test *test, uint32_t *leader_of) {
    for (size_t i = 0; i < test->run->cpu_count; i++) {
        size_t other = decode(test, i);
        if (other < i && decode(test, other) == i)
            leader_of[i] = (uint32_t)other;
    }
}

/* The first of the group that cpu number i of n would be in. */
static size_t suppose_leader(size_t i, size_t n, size_t group, bool compact) {
    return compact ? i / group * group : i % (n / group);
}

/* Members that are as near to the first of their group as the nearest of all are. */
static bj_status ask_members(bj_topology_run *run, const uint32_t *cpus, size_t count, size_t group, bool compact,
                             uint32_t *leader_of, bj_error *error) {
    double nearest = INFINITY, ns;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            size_t leader = suppose_leader(i, count, group, compact);
            if (leader == i)
                continue;
            BJ_TRY(bj_topology_ask(run, cpus[leader], cpus[i], BJ_TOPOLOGY_PAIRS, &ns, error));
            nearest = fmin(nearest, ns);
            if (pass == 1 && ns <= nearest * (1 + SAME_LATENCY))
                leader_of[cpus[i]] = cpus[leader];
        }
    return BJ_OK;
}

static bj_status try_numbering(group_test *test, size_t group, uint32_t *leader_of, bj_error *error) {
    size_t count = test->active_count, slow = 0;
    if (count < group || count % group != 0)
        return BJ_OK;
    uint32_t *cpus = malloc(count * sizeof *cpus);
    if (cpus == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
    for (size_t i = 0; i < count; i++)
        cpus[i] = test->active[i];
    bj_status status = BJ_OK;
    bool found = false;
    for (int way = 0; way < 2 && status == BJ_OK && !found; way++) {
        test->active_count = 0;
        for (size_t i = 0; i < count; i++)
            if (suppose_leader(i, count, group, way == 0) == i)
                test->active[test->active_count++] = cpus[i];
        status = walk_together(test, error);
        for (size_t i = slow = 0; i < test->active_count; i++)
            slow += test->slow[test->active[i]];
        found = status == BJ_OK && (double)slow <= SLOW_BY_CHANCE * (double)test->active_count;
        if (found)
            status = ask_members(test->run, cpus, count, group, way == 0, leader_of, error);
    }
    free(cpus);
    return status;
}

/* The least of the rounds in which each cpu walked alone. */
static bool know_lone_walks(group_test *test) {
    const bj_curve *curve = bj_data_find_curve(test->run->samples, bj_topology_walk_ids[0]);
    if (curve == NULL || curve->x_count != test->run->cpu_count)
        return false;
    for (size_t i = 0; i < curve->x_count; i++) {
        test->alone_ns[i] = NAN;
        for (size_t r = 0; r < curve->round_count; r++)
            test->alone_ns[i] = fmin(test->alone_ns[i], curve->rounds[r][i]);
    }
    return true;
}

bj_status bj_topology_find_sharers(bj_topology_run *run, uint32_t *leader_of, bool *in_doubt, bj_error *error) {
    for (size_t i = 0; i < run->cpu_count; i++) {
        leader_of[i] = (uint32_t)i;
        in_doubt[i] = false;
    }
    if (!(run->level_bytes[0] > 0))
        return BJ_OK;
    group_test test;
    bj_status status = open_test(&test, run, run->level_bytes[0], error);
    test.bits = (unsigned)(ceil(log2((double)run->cpu_count)) + SPARE_BITS);
    if (status == BJ_OK && know_lone_walks(&test)) {
        draw_codes(&test);
        status = run_codes(&test, error);
        double share = share_slow(&test);
        if (status == BJ_OK && share <= SLOW_SHARE_OF_TWO)
            take_pairs(&test, leader_of);
        else if (status == BJ_OK)
            status = try_numbering(&test, share > SLOW_SHARE_OF_FOUR ? 8 : 4, leader_of, error);
        for (size_t i = 0; i < run->cpu_count; i++)
            in_doubt[i] = test.seen[i] != 0;
        for (size_t i = 0; i < run->cpu_count; i++)
            if (leader_of[i] != i)
                in_doubt[i] = in_doubt[leader_of[i]] = false;
    }
    close_test(&test);
    return status;
}

bj_status bj_topology_find_crowded(bj_topology_run *run, uint32_t *cpus, size_t *count, bj_error *error) {
    size_t crowded = 0, all = *count;
    double most_bytes = MOST_ARENA_SHARE * (double)run->request->memory_bytes;
    *count = 0;
    if (!(run->level_bytes[1] > 0) || (double)run->cpu_count * SHARE_OF_LEVEL * run->level_bytes[1] > most_bytes)
        return BJ_OK;
    group_test test;
    double alone = 0;
    bj_status status = open_test(&test, run, run->level_bytes[1], error);
    for (size_t i = 0; i < LONE_WALKS && i < all && status == BJ_OK; i++) {
        bj_walk_effort effort = {.repetitions = REPETITIONS};
        status = bj_topology_make_walk(run, cpus[i], i * test.region_bytes, test.bytes, test.places, test.walks, error);
        if (status == BJ_OK)
            status = run->request->machine->verbs->run_walks(run->request->machine, test.walks, 1, &effort,
                                                             test.samples, error);
        alone = fmax(alone, fmin(test.samples[0], test.samples[1]));
    }
    for (size_t i = 0; i < all && status == BJ_OK; i++) {
        test.alone_ns[cpus[i]] = alone;
        test.active[test.active_count++] = cpus[i];
    }
    if (status == BJ_OK)
        status = walk_together(&test, error);
    for (size_t i = 0; i < all && status == BJ_OK; i++)
        if (test.slow[test.active[i]] && !test.slow[run->pivot_of[test.active[i]]])
            cpus[crowded++] = test.active[i];
    close_test(&test);
    *count = crowded;
    return status;
}
