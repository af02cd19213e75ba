/* Rounds of points: order, deadline, progress, arenas, and going on where others stopped. */
#include "measure_fixture.h"

#include "probes/kit/walks.h"
#include "stats/bootstrap.h"

enum { POINTS = 12 };

static const bj_curve_axes axes = {"kit.curve", "point", "count", "order", "count"};

typedef struct {
    bj_rounds rounds;
    bj_round_plan plan;
    unsigned visits; /* of the points of all rounds */
    unsigned prepared, ended;
    double seconds; /* that a visit takes by the clock */
    bj_status status;
} made_up;

static bj_status prepare(void *context, bj_error *unused) {
    made_up *made = context;
    (void)unused;
    made->prepared++;
    return BJ_OK;
}

static bj_status visit(void *context, const uint32_t *points, size_t count, bj_error *unused) {
    made_up *made = context;
    bj_status status = made->status;
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        status = bj_kit_record(&made->rounds, &axes, points[i], made->visits++, unused);
    self_of(made->rounds.request->machine)->clock_s += made->seconds;
    return status;
}

static bj_status end_round(void *context, bj_error *unused) {
    made_up *made = context;
    (void)unused;
    made->ended++;
    return BJ_OK;
}

static void open_rounds(measuring *m, made_up *made) {
    open_measuring(m, small_machine, 64 * TESTED_MIB);
    *made = (made_up){.status = BJ_OK};
    bj_kit_open_rounds(&made->rounds, &m->request, "kit", &m->made.samples, 1);
    made->plan = (bj_round_plan){.count = 3,
                                 .point_count = POINTS,
                                 .context = made,
                                 .prepare = prepare,
                                 .measure = visit,
                                 .after_round = end_round};
}

static bj_status run(made_up *made) {
    bj_error error = {""};
    return bj_kit_run_rounds(&made->rounds, &made->plan, &error);
}

static void close_rounds(measuring *m, made_up *made) {
    bj_kit_close_rounds(&made->rounds);
    assert_int_equal(m->open_bytes, 0);
    close_measuring(m);
}

static void every_round_has_every_point_in_an_order_of_its_own(void **state) {
    (void)state;
    measuring m;
    made_up made;
    open_rounds(&m, &made);
    assert_int_equal(run(&made), BJ_OK);
    const bj_curve *curve = get_curve(&m, "kit.curve");
    assert_string_equal(curve->probe, "kit");
    assert_string_equal(curve->y_name, "order");
    assert_int_equal(curve->x_count, POINTS);
    assert_int_equal(curve->round_count, 3);
    bool moved = false, sorted = true;
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t r = 0; r < 3; r++)
            assert_true(curve->rounds[r][i] >= POINTS * (double)r && curve->rounds[r][i] < POINTS * (r + 1.0));
        moved = moved || curve->rounds[1][i] != curve->rounds[0][i] + POINTS;
        sorted = sorted && curve->rounds[0][i] == (double)i;
    }
    assert_true(moved && !sorted);
    assert_int_equal(made.prepared, 3);
    assert_int_equal(made.ended, 3);
    assert_false(m.fell || m.left_range);
    assert_true(m.last_fraction == 1);
    close_rounds(&m, &made);
}

static void in_order_and_in_batches(void **state) {
    (void)state;
    measuring m;
    made_up made;
    open_rounds(&m, &made);
    made.plan.in_order = true;
    made.plan.batch = 5;
    made.plan.progress_from = 0.2;
    made.plan.progress_to = 0.6;
    assert_int_equal(run(&made), BJ_OK);
    for (size_t i = 0; i < POINTS; i++)
        assert_true(get_curve(&m, "kit.curve")->rounds[0][i] == (double)i);
    assert_int_equal(m.reports, 9); /* 5, 5 and 2 points, three times */
    assert_true(fabs(m.last_fraction - 0.6) < 1e-12);
    close_rounds(&m, &made);
}

static void rounds_go_on_where_others_stopped(void **state) {
    (void)state;
    measuring m;
    made_up made;
    open_rounds(&m, &made);
    assert_int_equal(run(&made), BJ_OK);
    m.request.more_rounds = 2;
    made.plan.first_round = bj_kit_count_rounds(&m.made.samples, "kit.curve");
    assert_int_equal(made.plan.first_round, 3);
    assert_int_equal(run(&made), BJ_OK);
    assert_int_equal(get_curve(&m, "kit.curve")->round_count, 5);
    assert_int_equal(bj_kit_count_rounds(&m.made.samples, "kit.none"), 0);
    close_rounds(&m, &made);
}

static void a_first_round_is_finished_whatever_the_deadline(void **state) {
    (void)state;
    measuring m;
    made_up made;
    open_rounds(&m, &made);
    made.seconds = 1;
    m.request.deadline_s = clock_of(&m) + 3;
    assert_int_equal(run(&made), BJ_OK);
    const bj_curve *curve = get_curve(&m, "kit.curve");
    assert_int_equal(curve->round_count, 1);
    assert_int_equal(made.visits, POINTS);
    close_rounds(&m, &made);
}

static void no_round_begins_that_would_end_too_late(void **state) {
    (void)state;
    measuring m;
    made_up made;
    open_rounds(&m, &made);
    made.seconds = 1;
    m.request.deadline_s = clock_of(&m) + 2.5 * POINTS;
    assert_int_equal(run(&made), BJ_OK);
    assert_int_equal(get_curve(&m, "kit.curve")->round_count, 2);
    /* And with time to spare, none that begins after its share, once there are enough. */
    made.plan.count = 30;
    made.plan.seconds = 0.5;
    m.request.deadline_s = INFINITY;
    made.visits = 0;
    assert_int_equal(run(&made), BJ_OK);
    assert_int_equal(made.visits, BJ_BOOTSTRAP_ROUNDS_NEEDED * POINTS);
    close_rounds(&m, &made);
}

static void interruption_and_trouble_end_it(void **state) {
    (void)state;
    measuring m;
    made_up made;
    open_rounds(&m, &made);
    m.stop_at = 4;
    assert_int_equal(run(&made), BJ_ERR_INTERRUPTED);
    assert_int_equal(made.visits, 4);
    made.status = BJ_ERR_FAILED;
    assert_int_equal(run(&made), BJ_ERR_FAILED);
    assert_int_equal(made.visits, 4);
    close_rounds(&m, &made);
}

/* Huge pages once, then none: the rounds before stand. */
static bj_status refuse_arena(bj_machine *machine, size_t bytes, bj_pages pages, int cpu, bj_arena **arena,
                              bj_error *error) {
    (void)machine, (void)bytes, (void)pages, (void)cpu, (void)arena;
    return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "no huge pages");
}

static bj_status refuse_later(void *context, bj_error *unused) {
    made_up *made = context;
    (void)unused;
    measured->counting.open_arena = refuse_arena;
    made->ended++;
    return BJ_OK;
}

static void pages_that_are_no_longer_granted_end_the_rounds(void **state) {
    (void)state;
    measuring m;
    made_up made;
    open_rounds(&m, &made);
    bj_kit_plan_arena(&made.rounds, 4 * TESTED_MIB, 1);
    made.plan.least_bytes = TESTED_MIB;
    made.plan.after_round = refuse_later;
    assert_int_equal(run(&made), BJ_OK);
    assert_int_equal(get_curve(&m, "kit.curve")->round_count, 1);
    close_rounds(&m, &made);
}

static void walks_fill_the_arena_and_no_more(void **state) {
    (void)state;
    measuring m;
    made_up made;
    bj_error error = {""};
    double small_ns = 0, large_ns = 0;
    open_rounds(&m, &made);
    bj_kit_plan_arena(&made.rounds, 4 * TESTED_MIB, 1);
    assert_int_equal(bj_kit_open_arena(&made.rounds, TESTED_MIB, &error), BJ_OK);
    bj_walk_point point = {.bytes = 8192, .order = BJ_ORDER_RANDOM, .grain_bytes = 64};
    assert_int_equal(bj_kit_walk_point(&made.rounds, &point, &small_ns, &error), BJ_OK);
    point.bytes = 4.0 * TESTED_MIB;
    assert_int_equal(bj_kit_walk_point(&made.rounds, &point, &large_ns, &error), BJ_OK);
    /* The first level takes 4 ns, memory 100. */
    assert_true(small_ns < 4.5 && large_ns > 50);
    point.bytes = 4.0 * TESTED_MIB + 4096;
    assert_int_equal(bj_kit_walk_point(&made.rounds, &point, &large_ns, &error), BJ_ERR_FAILED);
    for (int i = 0; i < 100; i++)
        assert_true(bj_kit_choose_first_byte(&made.rounds, 3.0 * TESTED_MIB) <= TESTED_MIB);
    close_rounds(&m, &made);
}

static void what_is_not_there_becomes_an_outcome(void **state) {
    (void)state;
    const bj_error trouble = {"no memory"};
    bj_error error = {""};
    bj_curves curves = {0};
    bj_curve *curve;
    assert_int_equal(bj_data_add_curve(&curves, "c", "p", &curve, &error), BJ_OK);
    assert_int_equal(bj_kit_keep_outcome(curve, BJ_OK, &trouble, &error), BJ_OK);
    assert_int_equal(curve->attribute_count, 0);
    assert_int_equal(bj_kit_keep_outcome(curve, BJ_ERR_FAILED, &trouble, &error), BJ_OK);
    assert_true(bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_WRONG));
    assert_int_equal(bj_kit_keep_outcome(curve, BJ_ERR_UNSUPPORTED, &trouble, &error), BJ_OK);
    assert_true(bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED));
    assert_int_equal(bj_kit_keep_outcome(curve, BJ_ERR_RESOURCE, &trouble, &error), BJ_ERR_RESOURCE);
    assert_non_null(strstr(error.text, "no memory"));
    bj_data_free_curves(&curves);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_round_has_every_point_in_an_order_of_its_own),
        cmocka_unit_test(in_order_and_in_batches),
        cmocka_unit_test(rounds_go_on_where_others_stopped),
        cmocka_unit_test(a_first_round_is_finished_whatever_the_deadline),
        cmocka_unit_test(no_round_begins_that_would_end_too_late),
        cmocka_unit_test(interruption_and_trouble_end_it),
        cmocka_unit_test(pages_that_are_no_longer_granted_end_the_rounds),
        cmocka_unit_test(walks_fill_the_arena_and_no_more),
        cmocka_unit_test(what_is_not_there_becomes_an_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
