/* What counts of a copy point to: made-up counts of programs of one kind, as a processor of 3 GHz would give them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "diagnose/diagnose.h"

enum { ROUNDS = 10 };

/* At least density and with all four cores: seconds, and thousands of millions of instructions and misses. */
typedef struct {
    double seconds[2], instructions, misses[2], noise;
} story;

static bj_diagnose_witness hear(const story *s, bool strong) {
    static bj_diagnose_round rounds[ROUNDS];
    bj_diagnose_chip chip = {.count = 4, .chips = 1, .line_bytes = 64};
    bj_diagnose_request request = {.chip = &chip, .densities = {1, 4}, .density_count = 2, .strong = strong, .seed = 5};
    bj_diagnose_samples samples = {.rounds = rounds, .round_count = ROUNDS};
    bj_diagnosis diagnosis = {.density_count = 2, .share_gbs = 5, .point_count = {1}};
    bj_error error = {""};
    bj_random random;
    bj_random_seed(&random, 11);
    diagnosis.points[BJ_RESOURCE_CACHE][0].achieved = 90;
    for (size_t d = 0; d < 2; d++) {
        for (size_t r = 0; r < ROUNDS; r++) {
            double *counts = rounds[r].notes[d].counts;
            counts[BJ_COUNT_CYCLES] = s->seconds[d] * 3e9;
            counts[BJ_COUNT_INSTRUCTIONS] = s->instructions * 1e9;
            counts[BJ_COUNT_LOADS] = NAN;
            counts[BJ_COUNT_MISSES] = s->misses[d] * 1e9 * exp(s->noise * bj_random_normal(&random));
            rounds[r].densities[d] = s->seconds[d];
        }
        diagnosis.densities[d].seconds.value = s->seconds[d];
        memcpy(diagnosis.densities[d].notes.counts, rounds[0].notes[d].counts,
               sizeof diagnosis.densities[d].notes.counts);
    }
    if (bj_diagnose_hear_witness(&request, &samples, &diagnosis, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return diagnosis.witness;
}

static void expect(story s, bj_verdict wanted) {
    bj_diagnose_witness w = hear(&s, false);
    assert_true(w.counted);
    if (w.points_to != wanted)
        fail_msg("%s; growth %g (%g..%g), %g GB/s (%g..%g)", bj_diagnose_name_verdict(w.points_to), w.miss_growth.value,
                 w.miss_growth.interval[0], w.miss_growth.interval[1], w.miss_gbs.value, w.miss_gbs.interval[0],
                 w.miss_gbs.interval[1]);
}

static void points_where_the_recipe_does(void **state) {
    (void)state;
    /* Fits the cache alone, misses a hundredth of its instructions beside others. */
    expect((story){{1, 1.9}, 1, {0.0001, 0.01}, 0.02}, BJ_VERDICT_CACHE);
    /* 8 GB/s where its share is 5. */
    expect((story){{1, 1.6}, 1, {0.125, 0.125}, 0.02}, BJ_VERDICT_BANDWIDTH);
    /* 1.6 GB/s, however many there are: rows, or nothing. */
    expect((story){{1, 1.4}, 1, {0.025, 0.025}, 0.02}, BJ_VERDICT_NONE);
    /* Both: what does not fit comes first, since it becomes traffic. */
    expect((story){{1, 3}, 1, {0.1, 0.3}, 0.02}, BJ_VERDICT_CACHE);
}

static void few_misses_are_no_growth(void **state) {
    (void)state;
    /* Ten times as often, and all of them together take a hundredth of a percent of the time. */
    expect((story){{1, 1}, 3, {1e-7, 1e-6}, 0.02}, BJ_VERDICT_NONE);
}

static void uneven_counts_point_nowhere(void **state) {
    (void)state;
    expect((story){{1, 1.5}, 1, {0.05, 0.055}, 0.5}, BJ_VERDICT_UNDETERMINED);
    expect((story){{1, 1.5}, 1, {0.078, 0.078}, 0.03}, BJ_VERDICT_UNDETERMINED);
    /* Misses that this processor does not count. */
    expect((story){{1, 1.5}, 1, {NAN, NAN}, 0}, BJ_VERDICT_UNDETERMINED);
}

static void knows_when_nothing_was_counted(void **state) {
    (void)state;
    bj_diagnose_witness w = hear(&(story){{NAN, NAN}, NAN, {NAN, NAN}, 0}, false);
    assert_false(w.counted);
    assert_int_equal(w.points_to, BJ_VERDICT_UNDETERMINED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_where_the_recipe_does),
        cmocka_unit_test(few_misses_are_no_growth),
        cmocka_unit_test(uneven_counts_point_nowhere),
        cmocka_unit_test(knows_when_nothing_was_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
