/* The verdict from made-up rounds, of which every slowdown is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "diagnose/diagnose.h"

/* Slowdowns; 0 means 1. */
typedef struct {
    double cache, twins, scattered; /* of the program, by what stands for each resource; scattered against twins */
    double full, idle;              /* at full density, and null actors against idle cpus */
    double walk_seen, lines_seen, scattered_seen; /* of the references, by the copies */
    double noise;                                 /* of each sample, a logarithm */
    bool twins_rest;
    double walk_traffic; /* of the scattered reference, by walks; 0: 1.1 */
    double exposed;      /* of the program, by as many scattered lines as there can be, which cost the reference 4 */
} story;

enum { ROUNDS = 10 };

static double at_least_one(double slowdown) {
    return slowdown > 0 ? slowdown : 1;
}

/* What stands for the resources slows the references down by this much: walk, lines, scattered. */
static const double by_walks[] = {2, 1, 1.1}, by_twins[] = {1, 1.6, 1.5}, by_rows[] = {1, 1.2, 1.6};

static void fill(bj_diagnose_round *round, const story *s, bj_random *random) {
    memset(round, 0, sizeof *round);
    for (int i = 0; i < BJ_SUBJECTS; i++)
        for (int j = 0; j < BJ_COMPANIES; j++)
            round->cells[i][j] = (bj_diagnose_sample){1, 10};
    bj_diagnose_sample *program = round->cells[BJ_SUBJECT_PROGRAM];
    program[BJ_BESIDE_NULL].own = at_least_one(s->idle);
    for (int j = BJ_BESIDE_CACHE; j < BJ_COMPANIES; j++)
        program[j].own = program[BJ_BESIDE_NULL].own;
    program[BJ_BESIDE_TWIN_WALKS].own *= at_least_one(s->cache);
    program[BJ_BESIDE_TWINS].own *= at_least_one(s->twins);
    program[BJ_BESIDE_TWINS_SCATTERED].own *= at_least_one(s->twins) * at_least_one(s->scattered);
    program[BJ_BESIDE_COPIES].own *= at_least_one(s->full);
    const double seen[] = {at_least_one(s->walk_seen), at_least_one(s->lines_seen), at_least_one(s->scattered_seen)};
    for (int i = 0; i < 3; i++) {
        bj_diagnose_sample *reference = round->cells[BJ_SUBJECT_WALK + i];
        reference[BJ_BESIDE_TWIN_WALKS].own = by_walks[i];
        reference[BJ_BESIDE_TWINS].own = by_twins[i];
        reference[BJ_BESIDE_TWINS_SCATTERED].own = by_twins[i] * by_rows[i];
        reference[BJ_BESIDE_COPIES].own = seen[i];
    }
    if (s->walk_traffic > 0)
        round->cells[BJ_SUBJECT_SCATTERED][BJ_BESIDE_TWIN_WALKS].own = s->walk_traffic;
    round->cells[BJ_SUBJECT_SCATTERED][BJ_BESIDE_FULL_SCATTERED].own = 4;
    program[BJ_BESIDE_FULL_SCATTERED].own *= at_least_one(s->exposed);
    for (int i = 0; i < BJ_SUBJECTS; i++)
        for (int j = 0; j < BJ_COMPANIES; j++)
            round->cells[i][j].own *= exp(s->noise * bj_random_normal(random));
    round->densities[0] = 1;
    round->densities[1] = program[BJ_BESIDE_COPIES].own;
    round->notes[0] = round->notes[1] = (bj_trial_notes){NAN, {NAN, NAN, NAN, NAN}};
}

static bj_diagnosis diagnose_rounds(const story *s, size_t rounds) {
    bj_diagnose_round *made = calloc(rounds, sizeof *made);
    bj_diagnose_chip chip = {.count = 4, .chips = 1, .cache_bytes = 1 << 20, .cache_sharers = 4};
    bj_diagnose_request request = {.chip = &chip, .densities = {1, 4}, .density_count = 2, .seed = 3};
    bj_diagnose_samples samples = {
        .rounds = made, .round_count = rounds, .twin_gbs = 2, .twin_share = 1, .twins_rest = s->twins_rest};
    bj_diagnosis diagnosis;
    bj_error error = {""};
    bj_random random;
    bj_random_seed(&random, 7);
    for (size_t i = 0; i < rounds; i++)
        fill(&made[i], s, &random);
    if (bj_diagnose_analyse(&request, &samples, &diagnosis, &error) != BJ_OK)
        fail_msg("%s", error.text);
    free(made);
    return diagnosis;
}

static void expect(story s, bj_verdict verdict, bj_confidence confidence) {
    s.noise = s.noise > 0 ? s.noise : 0.003;
    bj_diagnosis d = diagnose_rounds(&s, ROUNDS);
    if (d.verdict != verdict || d.confidence != confidence)
        fail_msg("%s, %s: %s", bj_diagnose_name_verdict(d.verdict), bj_data_name_confidence(d.confidence), d.reason);
    assert_true(strlen(d.reason) > 20);
}

static void names_each_resource(void **state) {
    (void)state;
    expect((story){.cache = 1.5, .full = 1.5, .walk_seen = 2}, BJ_VERDICT_CACHE, BJ_CONFIDENCE_HIGH);
    expect((story){.twins = 1.4, .full = 1.4, .lines_seen = 1.6, .scattered_seen = 1.5}, BJ_VERDICT_BANDWIDTH,
           BJ_CONFIDENCE_HIGH);
    expect((story){.scattered = 1.4, .full = 1.4, .lines_seen = 1.92, .scattered_seen = 2.4}, BJ_VERDICT_ROWS,
           BJ_CONFIDENCE_HIGH);
    expect((story){.idle = 1.5, .full = 1}, BJ_VERDICT_OTHER, BJ_CONFIDENCE_HIGH);
    expect((story){.full = 1.01}, BJ_VERDICT_NONE, BJ_CONFIDENCE_HIGH);
}

/* Sensitive, but its copies do not press on that: scattered lines would hurt it, and its copies' are in order. */
static void wants_pressure_beside_sensitivity(void **state) {
    (void)state;
    expect((story){.twins = 1.4, .scattered = 1.5, .full = 1.4, .lines_seen = 1.6, .scattered_seen = 1.5},
           BJ_VERDICT_BANDWIDTH, BJ_CONFIDENCE_HIGH);
    expect((story){.cache = 1.6, .full = 1}, BJ_VERDICT_NONE, BJ_CONFIDENCE_HIGH);
}

/* A loss that nothing predicts, and a prediction that does not come. */
static void does_not_name_what_does_not_close(void **state) {
    (void)state;
    expect((story){.full = 1.5}, BJ_VERDICT_UNDETERMINED, BJ_CONFIDENCE_NONE);
    /* Walks that are mostly traffic hurt what uses no cache even more: no sign of a lack of cache. */
    expect((story){.cache = 4, .full = 4.5, .walk_seen = 2, .walk_traffic = 9, .exposed = 3.5}, BJ_VERDICT_UNDETERMINED,
           BJ_CONFIDENCE_NONE);
    expect((story){.cache = 4, .full = 4, .walk_seen = 2, .walk_traffic = 9}, BJ_VERDICT_CACHE, BJ_CONFIDENCE_HIGH);
    /* Twins that moved nothing can be no cause, whatever happened beside them. */
    expect((story){.twins = 1.4, .full = 1.4, .lines_seen = 1.6, .scattered_seen = 1.5, .twins_rest = true},
           BJ_VERDICT_UNDETERMINED, BJ_CONFIDENCE_NONE);
    expect((story){.scattered = 1.4, .full = 1.4, .lines_seen = 1.92, .scattered_seen = 2.4, .twins_rest = true},
           BJ_VERDICT_UNDETERMINED, BJ_CONFIDENCE_NONE);
    expect((story){.cache = 1.2, .full = 1.6, .walk_seen = 2}, BJ_VERDICT_UNDETERMINED, BJ_CONFIDENCE_NONE);
    expect((story){.cache = 2, .full = 1.2, .walk_seen = 2}, BJ_VERDICT_UNDETERMINED, BJ_CONFIDENCE_NONE);
}

static void names_the_larger_of_two(void **state) {
    (void)state;
    expect((story){.cache = 1.6, .twins = 1.2, .full = 1.92, .walk_seen = 2, .lines_seen = 1.6, .scattered_seen = 1.5},
           BJ_VERDICT_CACHE, BJ_CONFIDENCE_HIGH);
    expect((story){.cache = 1.3, .twins = 1.3, .full = 1.69, .walk_seen = 2, .lines_seen = 1.6, .scattered_seen = 1.5},
           BJ_VERDICT_UNDETERMINED, BJ_CONFIDENCE_NONE);
}

static void is_less_sure_of_less(void **state) {
    (void)state;
    const story clear = {.cache = 1.5, .full = 1.5, .walk_seen = 2, .noise = 0.003};
    assert_int_equal(diagnose_rounds(&clear, 4).confidence, BJ_CONFIDENCE_LOW);
    story noisy = clear;
    noisy.noise = 0.3;
    bj_diagnosis d = diagnose_rounds(&noisy, ROUNDS);
    assert_true(d.confidence != BJ_CONFIDENCE_HIGH);
    /* One round in ten is wild: medians pass over it. */
    assert_int_equal(diagnose_rounds(&clear, ROUNDS).confidence, BJ_CONFIDENCE_HIGH);
}

/* All there is less what is left to the others, times how much longer it took. */
static void finds_the_demand(void **state) {
    (void)state;
    bj_diagnose_round round;
    bj_random random;
    bj_random_seed(&random, 1);
    fill(&round, &(story){.noise = 0}, &random);
    bj_diagnose_sample *program = round.cells[BJ_SUBJECT_PROGRAM];
    round.cells[BJ_SUBJECT_NULL][BJ_BESIDE_FULL].theirs = 9.5;
    round.cells[BJ_SUBJECT_LINES][BJ_BESIDE_FULL] = (bj_diagnose_sample){1 / 2.4, 7.1};
    program[BJ_BESIDE_FULL] = (bj_diagnose_sample){1.8, 7.1};
    assert_float_equal(bj_diagnose_find_demand(&round, NULL, 1), 2.4 * 1.8, 1e-9);
    /* The others alone do not fill memory; beside the program they do. */
    round.cells[BJ_SUBJECT_NULL][BJ_BESIDE_FULL].theirs = 8;
    assert_float_equal(bj_diagnose_find_demand(&round, NULL, 1), 2.4 * 1.8, 1e-9);
    /* Nor beside the program, in order or scattered: not known. */
    program[BJ_BESIDE_FULL].theirs = 8;
    round.cells[BJ_SUBJECT_NULL][BJ_BESIDE_FULL_SCATTERED].theirs = 5;
    round.cells[BJ_SUBJECT_SCATTERED][BJ_BESIDE_FULL_SCATTERED] = (bj_diagnose_sample){1 / 2.0, 5};
    program[BJ_BESIDE_FULL_SCATTERED] = (bj_diagnose_sample){1, 5};
    assert_true(isnan(bj_diagnose_find_demand(&round, NULL, 1)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_each_resource),
        cmocka_unit_test(wants_pressure_beside_sensitivity),
        cmocka_unit_test(does_not_name_what_does_not_close),
        cmocka_unit_test(names_the_larger_of_two),
        cmocka_unit_test(is_less_sure_of_less),
        cmocka_unit_test(finds_the_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
