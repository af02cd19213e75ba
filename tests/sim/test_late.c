/* A neighbour that takes part of the machine for as long as the probes run for the first time, and is gone when the
 * late rounds come: what the first rounds agree on is not the machine. */
#include "zoo_fixture.h"

#include "runner/runner.h"

/* While the neighbour is there, and without it. */
enum { BUSY, QUIET, MOMENTS };

static bj_machine *machines[MOMENTS];
static int moment;

static double read_clock(bj_machine *machine) {
    (void)machine;
    return machines[BUSY]->verbs->read_clock(machines[BUSY]) + machines[QUIET]->verbs->read_clock(machines[QUIET]);
}

static bj_status open_arena_now(bj_machine *machine, size_t bytes, bj_pages pages, int cpu, bj_arena **arena,
                                bj_error *error) {
    (void)machine;
    return machines[moment]->verbs->open_arena(machines[moment], bytes, pages, cpu, arena, error);
}

static void close_arena_now(bj_machine *machine, bj_arena *arena) {
    (void)machine;
    machines[moment]->verbs->close_arena(machines[moment], arena);
}

static bj_status run_walks_now(bj_machine *machine, const bj_walk *walks, size_t count, const bj_walk_effort *effort,
                               double *ns, bj_error *error) {
    (void)machine;
    return machines[moment]->verbs->run_walks(machines[moment], walks, count, effort, ns, error);
}

static bj_status run_streams_now(bj_machine *machine, const bj_stream *streams, size_t count,
                                 const bj_stream_effort *effort, double *gbs, bj_error *error) {
    (void)machine;
    return machines[moment]->verbs->run_streams(machines[moment], streams, count, effort, gbs, error);
}

static bj_status run_chains_now(bj_machine *machine, const bj_chain *chains, size_t count, unsigned repetitions,
                                double *ns, bj_error *error) {
    (void)machine;
    return machines[moment]->verbs->run_chains(machines[moment], chains, count, repetitions, ns, error);
}

static const bj_machine_verbs verbs = {.read_clock = read_clock,
                                       .open_arena = open_arena_now,
                                       .close_arena = close_arena_now,
                                       .run_walks = run_walks_now,
                                       .run_streams = run_streams_now,
                                       .run_chains = run_chains_now};

static bool leave_when_late(void *context, const bj_progress *progress) {
    (void)context;
    moment = progress->late_round > 0 ? QUIET : BUSY;
    return false;
}

/* Zen 4's first TLB of 72 entries, of which others take eight, and its 35 GB/s, of which they take eight too. */
static bj_machine *open_moment(int which, uint64_t seed) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"name\": \"shared\", \"clock_ghz\": 4.0, \"caches\": ["
             "{\"size\": 32768, \"ways\": 8, \"latency\": 4, \"gbs\": 250}, "
             "{\"size\": 524288, \"ways\": 8, \"latency\": 14, \"gbs\": 120}], "
             "\"memory\": {\"latency\": 300, \"cpu_gbs\": %s}, \"page\": {\"base\": 4096}, "
             "\"tlbs\": [{\"entries\": %d, \"ways\": 0}, {\"entries\": 1024, \"ways\": 8, \"latency\": 7}], "
             "\"walk\": 35, \"noise\": {\"jitter\": 0.01}}",
             which == BUSY ? "26.8" : "35", which == BUSY ? 64 : 72);
    return open_text(text, seed);
}

static void measure_shared(unsigned late_rounds, bool busy, uint64_t seed, bj_profile *profile) {
    static const char *const names[] = {"tlb", "bandwidth"};
    bj_error error = {""};
    machines[BUSY] = open_moment(busy ? BUSY : QUIET, seed);
    machines[QUIET] = open_moment(QUIET, seed + 1);
    moment = BUSY;
    bj_machine shared = {.verbs = &verbs, .facts = machines[BUSY]->facts};
    bj_run_plan plan = {.probes = names,
                        .probe_count = 2,
                        .effort = BJ_EFFORT_QUICK,
                        .budget_s = INFINITY,
                        .seed = seed,
                        .cpu = shared.facts.cpus[0],
                        .late_rounds = late_rounds,
                        .report = leave_when_late};
    bj_profile_init(profile);
    profile->run.seed = seed;
    if (bj_runner_run(&shared, &plan, profile, &error) != BJ_OK)
        fail_msg("%s", error.text);
    close_machine(machines[BUSY]);
    close_machine(machines[QUIET]);
}

typedef struct {
    const char *key;
    double truth;
    bj_confidence sure; /* where rounds agree: a quick run does not look far enough to be sure that it met memory */
} known;
static const known knowns[] = {{"tlb.L1.entries", 72, BJ_CONFIDENCE_HIGH},
                               {"memory.read_gbs", 35, BJ_CONFIDENCE_MEDIUM}};

static const bj_answer *find(const bj_profile *profile, const char *key) {
    const bj_answer *answer = bj_data_find_answer(&profile->answers, key);
    assert_non_null(answer);
    return answer;
}

static bool covers(const bj_answer *answer, double truth) {
    return answer->interval[0] <= truth && truth <= answer->interval[1];
}

/* The rounds of one visit agree, and are wrong. */
static void without_late_rounds_a_neighbour_is_believed(void **state) {
    (void)state;
    bj_profile profile;
    measure_shared(0, true, 1, &profile);
    for (size_t i = 0; i < sizeof knowns / sizeof knowns[0]; i++) {
        assert_int_equal(find(&profile, knowns[i].key)->confidence, knowns[i].sure);
        assert_false(covers(find(&profile, knowns[i].key), knowns[i].truth));
    }
    bj_profile_free(&profile);
}

static void late_rounds_see_that_the_neighbour_left(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        bj_profile profile;
        measure_shared(BJ_LATE_ROUNDS, true, seed, &profile);
        for (size_t i = 0; i < sizeof knowns / sizeof knowns[0]; i++) {
            const bj_answer *answer = find(&profile, knowns[i].key);
            if (answer->confidence == BJ_CONFIDENCE_HIGH || answer->status != BJ_ANSWER_UNSTABLE ||
                !covers(answer, knowns[i].truth))
                fail_msg("%s: %g [%g, %g] %s %s", answer->key, answer->value, answer->interval[0], answer->interval[1],
                         bj_data_name_status(answer->status), answer->reason);
        }
        bj_profile_free(&profile);
    }
}

/* Where nobody came or went, late rounds cost no answer its confidence. */
static void late_rounds_of_a_quiet_machine_agree(void **state) {
    (void)state;
    bj_profile profile;
    measure_shared(BJ_LATE_ROUNDS, false, 3, &profile);
    for (size_t i = 0; i < sizeof knowns / sizeof knowns[0]; i++) {
        assert_int_equal(find(&profile, knowns[i].key)->confidence, knowns[i].sure);
        assert_int_equal(find(&profile, knowns[i].key)->status, BJ_ANSWER_OK);
    }
    bj_profile_free(&profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_late_rounds_a_neighbour_is_believed),
        cmocka_unit_test(late_rounds_see_that_the_neighbour_left),
        cmocka_unit_test(late_rounds_of_a_quiet_machine_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
