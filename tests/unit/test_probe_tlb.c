/* The TLB probe: its answers on made-up curves, and what it measures of a small simulated machine. */
#include "measure_fixture.h"

#include "base/random.h"

#define SPREAD "tlb.spread"
#define PACKED "tlb.packed"
#define HUGE_SPREAD "tlb.huge.spread"
#define HUGE_PACKED "tlb.huge.packed"
#define INSIDE_SPREAD "tlb.huge.inside.spread"
#define INSIDE_PACKED "tlb.huge.inside.packed"

enum { ROUNDS = 12, FAR = 8192 };

/* Fully associative levels; a miss of the second costs its own on top of the first's. 0 entries: no such level. */
typedef struct {
    double entries[2], miss_ns[2];
    double differ;       /* shares by which the costs of a round are more or less */
    double wanders;      /* octaves by which the first level's entries of a round are */
    double twin_rise_ns; /* of the caches, at the first level's edge */
} made_up_tlb;

static const made_up_tlb one_level = {.entries = {64}, .miss_ns = {10}};
static const made_up_tlb two_levels = {.entries = {64, 1024}, .miss_ns = {6, 30}};

/* As it is measured: two lines a page where there are few, eight where there are many. */
static double count_twin_pages(double pages) {
    return ceil(pages / (pages >= 256 ? 8 : 2));
}

/* Powers of two, and finer around the edges. */
static double next_pages(const made_up_tlb *tlb, double pages) {
    for (int i = 0; i < 2; i++)
        if (pages >= tlb->entries[i] / 2 && pages < 2 * tlb->entries[i])
            return pages + tlb->entries[i] / 16;
    return 2 * pages;
}

static double cost_of(const made_up_tlb *tlb, double pages, double first_entries, double factor) {
    double ns = 0;
    if (tlb->entries[0] > 0 && pages > first_entries)
        ns += tlb->miss_ns[0] * factor;
    if (tlb->entries[1] > 0 && pages > tlb->entries[1])
        ns += tlb->miss_ns[1] * factor;
    return ns;
}

static void put_twins(fixture *made, const char *const ids[2], const made_up_tlb *tlb, size_t rounds, double last) {
    bj_random random;
    bj_random_seed(&random, 1);
    for (size_t round = 0; round < rounds; round++) {
        double factor = 1 + tlb->differ * (2 * bj_random_unit(&random) - 1);
        double first = tlb->entries[0] * exp2(tlb->wanders * (2 * bj_random_unit(&random) - 1));
        for (double pages = 8; pages <= last; pages = next_pages(tlb, pages)) {
            double caches = 4 + (pages > tlb->entries[0]) * tlb->twin_rise_ns;
            double spread = caches + cost_of(tlb, pages, first, factor);
            double packed = caches + cost_of(tlb, count_twin_pages(pages), first, factor);
            put_sample(made, ids[0], "tlb", pages, round, spread + 0.004 * bj_random_unit(&random));
            put_sample(made, ids[1], "tlb", pages, round, packed + 0.004 * bj_random_unit(&random));
        }
    }
}

static void put_base(fixture *made, const made_up_tlb *tlb, size_t rounds, double last) {
    put_twins(made, (const char *const[]){SPREAD, PACKED}, tlb, rounds, last);
}

static void open_base(fixture *made, const made_up_tlb *tlb, size_t rounds, double last) {
    open_fixture(made);
    put_base(made, tlb, rounds, last);
    run_analysis(made, "tlb");
}

static void test_one_level(void **state) {
    (void)state;
    fixture made;
    open_base(&made, &one_level, ROUNDS, FAR);
    expect_answer(&made, "tlb.levels", 1, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, "tlb.L1.entries", 64, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, "tlb.L1.miss_ns", 10, 0.01, BJ_CONFIDENCE_HIGH);
    assert_null(bj_data_find_answer(&made.answers, "tlb.L2.entries"));
    close_fixture(&made);
}

static void test_two_levels(void **state) {
    (void)state;
    fixture made;
    open_base(&made, &two_levels, ROUNDS, FAR);
    expect_answer(&made, "tlb.levels", 2, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, "tlb.L1.entries", 64, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, "tlb.L1.miss_ns", 6, 0.01, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, "tlb.L2.entries", 1024, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, "tlb.L2.miss_ns", 30, 0.01, BJ_CONFIDENCE_HIGH);
    const bj_answer *entries = get_answer(&made, "tlb.L2.entries");
    assert_int_equal(entries->evidence_count, 2);
    assert_string_equal(entries->evidence[0], SPREAD);
    assert_string_equal(entries->evidence[1], PACKED);
    close_fixture(&made);
}

/* How many entries there are may be as plain as can be where what a miss costs is not. */
static void test_a_cost_that_moves_is_not_high(void **state) {
    (void)state;
    fixture made;
    made_up_tlb moving = one_level;
    moving.differ = 0.5;
    open_base(&made, &moving, ROUNDS, FAR);
    expect_answer(&made, "tlb.L1.entries", 64, 0, BJ_CONFIDENCE_HIGH);
    const bj_answer *miss = get_answer(&made, "tlb.L1.miss_ns");
    assert_true(miss->interval[0] <= 10 && miss->interval[1] >= 5);
    assert_true(miss->interval[1] > 1.3 * miss->interval[0]);
    assert_int_equal(miss->confidence, BJ_CONFIDENCE_MEDIUM);
    close_fixture(&made);
}

static void test_few_rounds_are_low(void **state) {
    (void)state;
    fixture made;
    open_base(&made, &one_level, 4, FAR);
    expect_answer(&made, "tlb.levels", 1, 0, BJ_CONFIDENCE_LOW);
    expect_answer(&made, "tlb.L1.entries", 64, 0, BJ_CONFIDENCE_LOW);
    expect_answer(&made, "tlb.L1.miss_ns", 10, 0.01, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

/* Where the first level may be none, the second is another than its number says. */
static void test_after_a_low_level_all_are_low(void **state) {
    (void)state;
    fixture made;
    made_up_tlb wandering = two_levels;
    wandering.wanders = 0.8;
    open_base(&made, &wandering, ROUNDS, FAR);
    const bj_answer *first = get_answer(&made, "tlb.L1.entries");
    assert_int_equal(first->confidence, BJ_CONFIDENCE_LOW);
    assert_true(first->interval[1] > 1.1 * first->interval[0]);
    assert_int_equal(get_answer(&made, "tlb.levels")->confidence, BJ_CONFIDENCE_LOW);
    assert_int_equal(get_answer(&made, "tlb.L1.miss_ns")->confidence, BJ_CONFIDENCE_LOW);
    expect_answer(&made, "tlb.L2.entries", 1024, 0, BJ_CONFIDENCE_LOW);
    expect_answer(&made, "tlb.L2.miss_ns", 30, 0.05, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

/* A cache that fills up where the pages do, by more than they cost: the difference may be the cache's. */
static void test_a_cache_at_the_edge_leaves_doubt(void **state) {
    (void)state;
    fixture made;
    made_up_tlb beside_cache = one_level;
    beside_cache.twin_rise_ns = 30;
    open_base(&made, &beside_cache, ROUNDS, FAR);
    expect_answer(&made, "tlb.L1.entries", 64, 0, BJ_CONFIDENCE_MEDIUM);
    close_fixture(&made);
}

/* A level is no surer than that those before it are there. */
static void test_after_a_medium_level_all_are_medium(void **state) {
    (void)state;
    fixture made;
    made_up_tlb beside_cache = two_levels;
    beside_cache.twin_rise_ns = 30;
    open_base(&made, &beside_cache, ROUNDS, FAR);
    expect_answer(&made, "tlb.L1.entries", 64, 0, BJ_CONFIDENCE_MEDIUM);
    expect_answer(&made, "tlb.L2.entries", 1024, 0, BJ_CONFIDENCE_MEDIUM);
    expect_answer(&made, "tlb.L2.miss_ns", 30, 0.01, BJ_CONFIDENCE_MEDIUM);
    expect_answer(&made, "tlb.levels", 2, 0, BJ_CONFIDENCE_MEDIUM);
    close_fixture(&made);
}

/* What lies beyond has not been looked at: the level is sure, but not that it is the last. */
static void test_looked_not_far_enough(void **state) {
    (void)state;
    fixture made;
    open_base(&made, &one_level, ROUNDS, 1024);
    expect_answer(&made, "tlb.levels", 1, 0, BJ_CONFIDENCE_LOW);
    assert_true(get_answer(&made, "tlb.levels")->interval[1] == 2);
    expect_answer(&made, "tlb.L1.entries", 64, 0, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

static void test_no_level(void **state) {
    (void)state;
    fixture made;
    made_up_tlb nothing = one_level;
    nothing.miss_ns[0] = 0;
    open_base(&made, &nothing, ROUNDS, FAR);
    expect_undetermined(&made, "tlb.levels", "up to 8192 pages cost no more");
    assert_null(bj_data_find_answer(&made.answers, "tlb.L1.entries"));
    close_fixture(&made);
    /* Less than the caches differ by. */
    nothing.miss_ns[0] = 0.1;
    open_base(&made, &nothing, ROUNDS, FAR);
    expect_undetermined(&made, "tlb.levels", "cost no more");
    close_fixture(&made);
    open_base(&made, &one_level, 1, FAR);
    expect_undetermined(&made, "tlb.levels", "too few rounds");
    close_fixture(&made);
    open_fixture(&made);
    run_analysis(&made, "tlb");
    expect_undetermined(&made, "tlb.levels", "too few pages");
    expect_undetermined(&made, "tlb.huge.levels", "huge pages are not granted");
    close_fixture(&made);
}

/* Base pages cost 10 ns a miss, huge ones 20, and small ones inside few huge ones so much. */
static void open_huge(fixture *made, double inside_ns) {
    static const made_up_tlb huge = {.entries = {32}, .miss_ns = {20}};
    open_fixture(made);
    put_base(made, &one_level, ROUNDS, FAR);
    put_twins(made, (const char *const[]){HUGE_SPREAD, HUGE_PACKED}, &huge, ROUNDS, 128);
    for (size_t round = 0; round < ROUNDS; round++)
        for (double pages = 128; pages <= 512; pages *= 2) {
            put_sample(made, INSIDE_SPREAD, "tlb", pages, round, (4 + inside_ns) * agree(round));
            put_sample(made, INSIDE_PACKED, "tlb", pages, round, 4 * agree(round));
        }
    run_analysis(made, "tlb");
}

static void test_huge_pages(void **state) {
    (void)state;
    fixture made;
    open_huge(&made, 0);
    expect_answer(&made, "tlb.huge.levels", 1, 0, BJ_CONFIDENCE_LOW);
    expect_answer(&made, "tlb.huge.L1.entries", 32, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, "tlb.huge.L1.miss_ns", 20, 0.01, BJ_CONFIDENCE_HIGH);
    expect_answer(&made, "tlb.L1.entries", 64, 0, BJ_CONFIDENCE_HIGH);
    assert_string_equal(get_answer(&made, "tlb.huge.L1.entries")->evidence[0], HUGE_SPREAD);
    close_fixture(&made);
}

/* A TLB that splits huge pages into small ones misses inside them as well: their number means nothing. */
static void test_huge_pages_held_as_small_ones(void **state) {
    (void)state;
    fixture made;
    open_huge(&made, 10);
    expect_undetermined(&made, "tlb.huge.levels", "inside few huge ones");
    assert_null(bj_data_find_answer(&made.answers, "tlb.huge.L1.entries"));
    expect_answer(&made, "tlb.L1.entries", 64, 0, BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

static const char *const paged_machine =
    "{\"name\": \"paged\", \"cpus\": 1, \"clock_ghz\": 2.0, \"page\": {\"base\": 4096, \"huge\": 2097152}, "
    "\"tlbs\": [{\"entries\": 16}], \"walk\": 40, \"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": 4}, "
    "{\"size\": 262144, \"ways\": 8, \"latency\": 12}], \"memory\": {\"latency\": 100}}";

static void expect_paged_machine(measuring *m) {
    run_analysis(&m->made, "tlb");
    expect_answer(&m->made, "tlb.L1.entries", 16, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&m->made, "tlb.L1.miss_ns", 20, 0.05, BJ_CONFIDENCE_HIGH);
    expect_answer(&m->made, "tlb.huge.L1.entries", 16, 0, BJ_CONFIDENCE_HIGH);
}

/* Three rounds more, later in the run and by another seed: the points of the last rounds, and the same answers. */
static void test_more_rounds(void **state) {
    (void)state;
    static const char *const ids[] = {SPREAD, PACKED, HUGE_SPREAD, HUGE_PACKED, INSIDE_SPREAD, INSIDE_PACKED};
    measuring m;
    bj_curves before = {0};
    bj_error error = {""};
    open_measuring(&m, paged_machine, 64 * TESTED_MIB);
    assert_int_equal(measure_probe(&m, "tlb"), BJ_OK);
    expect_paged_machine(&m);
    assert_int_equal(bj_data_copy_curves(&m.made.samples, "tlb", &before, &error), BJ_OK);
    m.request.more_rounds = 3;
    m.request.seed = 4711;
    assert_int_equal(measure_probe(&m, "tlb"), BJ_OK);
    for (size_t c = 0; c < sizeof ids / sizeof ids[0]; c++) {
        const bj_curve *old = bj_data_find_curve(&before, ids[c]), *now = get_curve(&m, ids[c]);
        assert_int_equal(old->round_count, 6);
        assert_int_equal(now->round_count, 9);
        for (size_t i = 0; i < old->x_count; i++)
            assert_true(has_point(now, old->x[i], 8) || isnan(old->rounds[5][i]));
    }
    expect_paged_machine(&m);
    bj_data_free_curves(&before);
    close_measuring(&m);
}

static void test_behaves(void **state) {
    (void)state;
    expect_steady_progress("tlb", paged_machine, 64 * TESTED_MIB);
    expect_steady_progress("tlb", paged_machine, 16 * TESTED_MIB);
    expect_interruption("tlb", paged_machine, 16 * TESTED_MIB);
    expect_deadline("tlb", SPREAD, paged_machine, 16 * TESTED_MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_level),
        cmocka_unit_test(test_two_levels),
        cmocka_unit_test(test_a_cost_that_moves_is_not_high),
        cmocka_unit_test(test_few_rounds_are_low),
        cmocka_unit_test(test_after_a_low_level_all_are_low),
        cmocka_unit_test(test_after_a_medium_level_all_are_medium),
        cmocka_unit_test(test_a_cache_at_the_edge_leaves_doubt),
        cmocka_unit_test(test_looked_not_far_enough),
        cmocka_unit_test(test_no_level),
        cmocka_unit_test(test_huge_pages),
        cmocka_unit_test(test_huge_pages_held_as_small_ones),
        cmocka_unit_test(test_more_rounds),
        cmocka_unit_test(test_behaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
