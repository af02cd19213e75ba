/* The analysis of the TLB probe on made-up curves. */
#include "probe_fixture.h"

#include "base/random.h"
#include "probes/tlb/tlb_answer.h"
#include "probes/tlb/tlb_walks.h"

enum { ROUNDS = 12, ENTRIES = 64 };

static void put_time(fixture *made, const char *id, double pages, size_t round, double ns) {
    bj_error error = {""};
    bj_curve *curve = (bj_curve *)bj_data_find_curve(&made->samples, id);
    if (curve == NULL)
        assert_int_equal(bj_data_add_curve(&made->samples, id, "tlb", &curve, &error), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, pages, round, ns, &error), BJ_OK);
}

/* Fully associative, 10 ns a miss: in each round all misses cost `spread` of that more or less. */
static void put_rounds(fixture *made, double spread) {
    bj_random random;
    bj_random_seed(&random, 1);
    for (size_t round = 0; round < ROUNDS; round++) {
        double miss_ns = 10 * (1 + spread * (2 * bj_random_unit(&random) - 1));
        for (double pages = 8; pages <= 8192; pages *= pages < ENTRIES || pages >= 2 * ENTRIES ? 2 : 1.125) {
            double twin_misses = bj_tlb_count_twin_pages(pages) > ENTRIES ? 1 : 0;
            put_time(made, BJ_TLB_SPREAD, pages, round,
                     4 + 0.01 * bj_random_unit(&random) + (pages > ENTRIES) * miss_ns);
            put_time(made, BJ_TLB_PACKED, pages, round, 4 + 0.01 * bj_random_unit(&random) + twin_misses * miss_ns);
        }
    }
}

static void expect_cost(double spread, bj_confidence confidence) {
    fixture made;
    open_fixture(&made);
    put_rounds(&made, spread);
    bj_analyse_request request = {.earlier = &made.earlier, .seed = 1};
    bj_error error = {""};
    assert_int_equal(bj_tlb_analyse(&made.samples, &request, &made.answers, &error), BJ_OK);
    const bj_answer *entries = bj_data_find_answer(&made.answers, "tlb.L1.entries");
    const bj_answer *miss = bj_data_find_answer(&made.answers, "tlb.L1.miss_ns");
    assert_non_null(entries);
    assert_non_null(miss);
    assert_true(entries->value == ENTRIES);
    assert_int_equal(entries->confidence, BJ_CONFIDENCE_HIGH);
    assert_true(miss->interval[0] <= 10 && miss->interval[1] >= 10 * (1 - spread));
    assert_int_equal(miss->confidence, confidence);
    close_fixture(&made);
}

/* How many entries there are may be as plain as can be where what a miss costs is not. */
static void test_a_cost_that_moves_is_not_high(void **state) {
    (void)state;
    expect_cost(0.01, BJ_CONFIDENCE_HIGH);
    expect_cost(0.5, BJ_CONFIDENCE_MEDIUM);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_cost_that_moves_is_not_high)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
