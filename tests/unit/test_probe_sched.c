/* The contexts and slot probes: their analyses on made-up samples, and what they measure of simulated machines. */
#include "measure_fixture.h"

#include "base/random.h"
#include "probes/contexts/contexts_answer.h"
#include "probes/slot/slot_answer.h"

enum { ROUNDS = 8 };

/* The same scatter for every test. */
static bj_random scatter;

static int seed_scatter(void **state) {
    (void)state;
    bj_random_seed(&scatter, 5);
    return 0;
}

static bj_curve *add_curve(fixture *made, const char *id) {
    bj_curve *curve = NULL;
    bj_error error = {""};
    assert_int_equal(bj_data_add_curve(&made->samples, id, "made up", &curve, &error), BJ_OK);
    return curve;
}

static void record(bj_curve *curve, double x, size_t round, double y) {
    bj_error error = {""};
    assert_int_equal(bj_data_record_sample(curve, x, round, y, &error), BJ_OK);
}

/* Time of m threads in a round, in units of one thread's. */
typedef double (*made_up_time)(double m, size_t round);

static void put_times(fixture *made, bj_work work, made_up_time time) {
    bj_curve *curve = add_curve(made, bj_contexts_axes[work].id);
    for (size_t round = 0; round < ROUNDS; round++)
        for (double m = 1; m <= 6; m++)
            record(curve, m, round, 25 * time(m, round) * (1 + 0.02 * bj_random_unit(&scatter)));
}

static const bj_answer *analyse_contexts(fixture *made, const char *method) {
    bj_analyse_request request = {.method = method, .seed = 1};
    bj_error error = {""};
    assert_int_equal(bj_contexts_analyse(&made->samples, &request, &made->answers, &error), BJ_OK);
    const bj_answer *answer = bj_data_find_answer(&made->answers, "contexts.int");
    assert_non_null(answer);
    return answer;
}

static double balanced_two(double m, size_t round) {
    (void)round;
    return fmax(1, m / 2);
}

static double sticky_two(double m, size_t round) {
    (void)round;
    return ceil(m / 2);
}

/* In three rounds of eight, two threads were put on one cpu for the whole time. */
static double stacked(double m, size_t round) {
    return m == 2 && round % 3 == 0 ? 2 : balanced_two(m, round);
}

/* Somebody else runs on the two cpus now and then, also while one thread of ours is alone. */
static double crowded_two(double m, size_t round) {
    return balanced_two(m, round) * (round % 3 == 0 ? 1 : 1.7);
}

static void test_others_use_the_cpus(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_times(&made, BJ_WORK_INT, crowded_two);
    const bj_answer *answer = analyse_contexts(&made, BJ_CONTEXTS_FIRST_DELAY);
    assert_int_equal(answer->status, BJ_ANSWER_UNSTABLE);
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_LOW);
    assert_non_null(strstr(answer->reason, "others use the cpus"));
    close_fixture(&made);
}

static void test_contexts(void **state) {
    (void)state;
    static const made_up_time times[] = {balanced_two, sticky_two, stacked};
    static const char *const methods[] = {BJ_CONTEXTS_FIRST_DELAY, BJ_CONTEXTS_FIRST_STEP};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 2; j++) {
            fixture made;
            open_fixture(&made);
            put_times(&made, BJ_WORK_INT, times[i]);
            const bj_answer *answer = analyse_contexts(&made, methods[j]);
            assert_int_equal(answer->status, BJ_ANSWER_OK);
            assert_true(answer->value == 2);
            assert_true(answer->interval[0] <= 2 && answer->interval[1] >= 2);
            if (i < 2 && j == 0)
                assert_true(answer->confidence == BJ_CONFIDENCE_HIGH && answer->interval[1] == 2);
            /* The others were not measured, and say so. */
            const bj_answer *missing = bj_data_find_answer(&made.answers, "contexts.fp");
            assert_true(missing != NULL && missing->status == BJ_ANSWER_UNDETERMINED && missing->reason[0] != '\0');
            close_fixture(&made);
        }
    }
}

/* A cpu and a half: a round in three is over before the quota ends. */
static double quota(double m, size_t round) {
    return m == 1 || round % 3 == 0 ? balanced_two(m, round) : m / 1.5;
}

static void test_quota(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_times(&made, BJ_WORK_INT, quota);
    record(add_curve(&made, bj_contexts_axes[BJ_CONTEXTS_THROTTLED].id), BJ_WORK_INT + 1, 1, 3);
    const bj_answer *answer = analyse_contexts(&made, NULL);
    assert_int_equal(answer->status, BJ_ANSWER_UNSTABLE);
    assert_non_null(strstr(answer->reason, "throttled"));
    assert_true(answer->interval[0] == 1 && answer->interval[1] == 2);
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

static double never_delayed(double m, size_t round) {
    (void)m;
    (void)round;
    return 1;
}

/* Half of the rounds saw one cpu only. */
static double torn(double m, size_t round) {
    return round < 7 ? m : balanced_two(m, round);
}

static void test_unsure_contexts(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_times(&made, BJ_WORK_INT, never_delayed);
    const bj_answer *answer = analyse_contexts(&made, NULL);
    assert_int_equal(answer->status, BJ_ANSWER_UNDETERMINED);
    assert_true(answer->reason[0] != '\0');
    close_fixture(&made);

    open_fixture(&made);
    put_times(&made, BJ_WORK_INT, torn);
    answer = analyse_contexts(&made, NULL);
    assert_true(answer->interval[0] == 1 && answer->interval[1] == 2);
    assert_true(answer->confidence != BJ_CONFIDENCE_HIGH);
    close_fixture(&made);
}

typedef struct {
    size_t count;
    double from, to;
} part;

/* Gaps of several kinds, in every round a share of them. */
static void put_gaps(fixture *made, const part *parts, size_t part_count, size_t rounds) {
    bj_curve *curve = add_curve(made, BJ_SLOT_GAPS);
    for (size_t round = 0; round < rounds; round++) {
        double number = 1;
        for (size_t i = 0; i < part_count; i++)
            for (size_t j = round; j < parts[i].count; j += rounds)
                record(curve, number++, round,
                       parts[i].from + (parts[i].to - parts[i].from) * bj_random_unit(&scatter));
    }
}

static const bj_answer *analyse_slot(fixture *made, const char *method, bool from_table) {
    bj_analyse_request request = {.method = method, .seed = 1, .from_table = from_table, .earlier = &made->answers};
    bj_error error = {""};
    assert_int_equal(bj_slot_analyse(&made->samples, &request, &made->answers, &error), BJ_OK);
    const bj_answer *answer = bj_data_find_answer(&made->answers, "scheduler.slot_ms");
    assert_non_null(answer);
    return answer;
}

static const part seen[] = {{633, 0.02, 0.1}, {555, 4.0, 4.1}, {72, 8.0, 8.05}, {361, 0.1, 8}};
#define SEEN_COUNT (sizeof seen / sizeof seen[0])

static void test_slot(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    put_gaps(&made, seen, SEEN_COUNT, ROUNDS);
    const bj_answer *answer = analyse_slot(&made, NULL, false);
    assert_int_equal(answer->status, BJ_ANSWER_OK);
    assert_true(answer->value > 4 && answer->value < 4.1);
    assert_true(answer->interval[0] < 4 && answer->interval[1] > 4.1);
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_HIGH);
    answer = analyse_slot(&made, BJ_SLOT_MODE, false);
    assert_true(answer->value < 0.1);
    close_fixture(&made);

    /* The same as a table of one column. */
    open_fixture(&made);
    put_gaps(&made, seen, SEEN_COUNT, 1);
    answer = analyse_slot(&made, NULL, true);
    assert_true(answer->status == BJ_ANSWER_OK && answer->value > 4 && answer->value < 4.1);
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_MEDIUM);
    close_fixture(&made);
}

/* Two rounds in eight were stopped and are left out; if all were, that is said. */
static void test_throttled_slot(void **state) {
    (void)state;
    static const part parts[] = {{400, 0.02, 0.1}, {600, 4.0, 4.1}, {160, 49, 51}};
    for (size_t stopped = 2; stopped <= ROUNDS; stopped += ROUNDS - 2) {
        fixture made;
        open_fixture(&made);
        put_gaps(&made, parts, 3, ROUNDS);
        bj_curve *throttled = add_curve(&made, BJ_SLOT_THROTTLED);
        for (size_t round = 0; round < stopped; round++)
            record(throttled, 4, round, 3);
        const bj_answer *answer = analyse_slot(&made, NULL, false);
        assert_true(answer->value > 4 && answer->value < 4.1);
        assert_int_equal(answer->status, stopped == ROUNDS ? BJ_ANSWER_UNSTABLE : BJ_ANSWER_OK);
        assert_true(stopped < ROUNDS || strstr(answer->reason, "throttled") != NULL);
        close_fixture(&made);
    }
}

/* As sure as the number of cpus that it was measured on: of the kinds of work with the most contexts, the surest. */
static void test_slot_of_unsure_contexts(void **state) {
    (void)state;
    static const struct {
        double contexts[2];
        bj_confidence confidence[2], slot;
    } cases[] = {{{1, 1}, {BJ_CONFIDENCE_LOW, BJ_CONFIDENCE_LOW}, BJ_CONFIDENCE_LOW},
                 {{2, 2}, {BJ_CONFIDENCE_LOW, BJ_CONFIDENCE_MEDIUM}, BJ_CONFIDENCE_MEDIUM},
                 {{1, 2}, {BJ_CONFIDENCE_MEDIUM, BJ_CONFIDENCE_HIGH}, BJ_CONFIDENCE_HIGH},
                 {{1, 2}, {BJ_CONFIDENCE_HIGH, BJ_CONFIDENCE_LOW}, BJ_CONFIDENCE_LOW},
                 /* Asked, and not known. */
                 {{0, 0}, {BJ_CONFIDENCE_NONE, BJ_CONFIDENCE_NONE}, BJ_CONFIDENCE_MEDIUM}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture made;
        open_fixture(&made);
        put_gaps(&made, seen, SEEN_COUNT, ROUNDS);
        for (size_t k = 0; k < 2; k++) {
            bj_answer *answer;
            assert_int_equal(
                bj_data_put_answer(&made.answers, k == 0 ? "contexts.int" : "contexts.fp", "count", &answer, NULL),
                BJ_OK);
            answer->value = cases[i].contexts[k];
            answer->confidence = cases[i].confidence[k];
            if (answer->value == 0)
                answer->status = BJ_ANSWER_UNDETERMINED;
        }
        assert_int_equal(analyse_slot(&made, NULL, false)->confidence, cases[i].slot);
        close_fixture(&made);
    }
}

static void test_unsure_slot(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made);
    assert_int_equal(analyse_slot(&made, NULL, false)->status, BJ_ANSWER_UNDETERMINED);
    put_gaps(&made, (const part[]){{3, 4, 4.1}}, 1, 1);
    const bj_answer *answer = analyse_slot(&made, NULL, false);
    assert_true(answer->status == BJ_ANSWER_UNDETERMINED && answer->reason[0] != '\0');
    close_fixture(&made);

    /* Rounds of a scheduler that changed its mind. */
    open_fixture(&made);
    bj_curve *curve = add_curve(&made, BJ_SLOT_GAPS);
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 1; i <= 40; i++)
            record(curve, (double)i, round, round % 2 == 0 ? 3 : 11);
    answer = analyse_slot(&made, NULL, false);
    assert_int_equal(answer->status, BJ_ANSWER_UNSTABLE);
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_LOW);
    close_fixture(&made);
}

/* A scheduler with slots of 4 ms; balanced, so that contexts are told from the slope. */
static const char *const office = "{\"name\": \"office\", \"cpus\": %s, \"clock_ghz\": 2.0, \"caches\": ["
                                  "{\"size\": 32768, \"ways\": 8, \"latency\": 4}], \"memory\": {\"latency\": 200}, "
                                  "\"scheduler\": {\"slot_ms\": 4}}";
enum { QUICK_ROUNDS = 6, LATE = 3 };

static const char *write_office(const char *cpus) {
    static char text[512];
    snprintf(text, sizeof text, office, cpus);
    return text;
}

static void test_measuring_contexts(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, write_office("2"), 4 * TESTED_MIB);
    expect_late_rounds(&m, "contexts", LATE);
    for (bj_work work = 0; work < BJ_WORK_COUNT; work++)
        assert_int_equal(get_curve(&m, bj_contexts_axes[work].id)->round_count, QUICK_ROUNDS + LATE);
    assert_int_equal(get_curve(&m, "contexts.throttled")->round_count, 0);
    run_analysis(&m.made, "contexts");
    expect_answer(&m.made, "contexts.int", 2, 0, BJ_CONFIDENCE_HIGH);
    expect_answer(&m.made, "contexts.memory", 2, 0, BJ_CONFIDENCE_HIGH);
    close_measuring(&m);
    expect_interruption("contexts", write_office("2"), 4 * TESTED_MIB);
    expect_deadline("contexts", "contexts.int.time", write_office("2"), 4 * TESTED_MIB);
    expect_steady_progress("contexts", write_office("2"), 4 * TESTED_MIB);
}

/* Where there are many points, late rounds take those around the delay, with one thread. */
static void test_late_rounds_of_many_contexts(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, write_office("40"), 4 * TESTED_MIB);
    assert_int_equal(measure_probe(&m, "contexts"), BJ_OK);
    double operations, again;
    assert_true(bj_data_get_attribute_number(get_curve(&m, "contexts.fp.time"), "operations", &operations));
    m.request.more_rounds = LATE;
    m.request.seed = 2;
    assert_int_equal(measure_probe(&m, "contexts"), BJ_OK);
    const bj_curve *curve = get_curve(&m, "contexts.fp.time");
    assert_int_equal(curve->round_count, QUICK_ROUNDS + LATE);
    assert_true(bj_data_get_attribute_number(curve, "operations", &again) && again == operations);
    assert_true(has_point(curve, 1, QUICK_ROUNDS) && !has_point(curve, 2, QUICK_ROUNDS));
    run_analysis(&m.made, "contexts");
    const bj_answer *answer = get_answer(&m.made, "contexts.fp");
    assert_true(answer->value >= 39 && answer->value <= 41);
    close_measuring(&m);
}

/* A quota that stops every crowd of more than one thread. */
static bj_status run_throttled(bj_machine *machine, const bj_crowd *crowd, double *ns, bj_taken *taken,
                               bj_error *error) {
    bj_status status = measured->verbs->run_crowd(machine, crowd, ns, taken, error);
    taken->throttled = crowd->threads > 1;
    return status;
}

static void test_measuring_under_a_quota(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, write_office("2"), 4 * TESTED_MIB);
    m.counting.run_crowd = run_throttled;
    assert_int_equal(measure_probe(&m, "contexts"), BJ_OK);
    const bj_curve *throttled = get_curve(&m, "contexts.throttled");
    assert_true(throttled->x_count == BJ_WORK_COUNT && throttled->round_count == QUICK_ROUNDS / 2);
    /* Longer work: six times fifteen milliseconds. */
    assert_true(get_curve(&m, "contexts.int.time")->rounds[0][0] > 80);
    run_analysis(&m.made, "contexts");
    assert_int_equal(get_answer(&m.made, "contexts.fp")->status, BJ_ANSWER_UNSTABLE);
    assert_non_null(strstr(get_answer(&m.made, "contexts.fp")->reason, "throttled"));
    close_measuring(&m);
}

/* Samples that do not tell how long the work was cannot be continued. */
static void test_no_late_rounds_without_operations(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, write_office("2"), 4 * TESTED_MIB);
    put_times(&m.made, BJ_WORK_INT, balanced_two);
    m.request.more_rounds = LATE;
    assert_int_equal(measure_probe(&m, "contexts"), BJ_OK);
    assert_int_equal(get_curve(&m, "contexts.int.time")->round_count, ROUNDS);
    close_measuring(&m);
}

static void test_measuring_slot(void **state) {
    (void)state;
    measuring m;
    open_measuring(&m, write_office("4"), 2 * TESTED_MIB);
    put_number(&m.made.earlier, "contexts.int", 2);
    assert_int_equal(measure_probe(&m, "slot"), BJ_OK);
    assert_int_equal(get_curve(&m, BJ_SLOT_GAPS)->round_count, QUICK_ROUNDS);
    /* As many contexts as in the rounds before, whatever is answered by then. */
    put_number(&m.made.earlier, "contexts.int", 3);
    m.request.more_rounds = LATE;
    m.request.seed = 2;
    assert_int_equal(measure_probe(&m, "slot"), BJ_OK);
    const bj_curve *curve = get_curve(&m, BJ_SLOT_GAPS);
    double contexts;
    assert_int_equal(curve->round_count, QUICK_ROUNDS + LATE);
    assert_true(bj_data_get_attribute_number(curve, "contexts", &contexts) && contexts == 2);
    run_analysis(&m.made, "slot");
    expect_answer(&m.made, "scheduler.slot_ms", 4, 0.02, BJ_CONFIDENCE_HIGH);
    close_measuring(&m);
    expect_interruption("slot", write_office("2"), 2 * TESTED_MIB);
    expect_deadline("slot", BJ_SLOT_GAPS, write_office("2"), 2 * TESTED_MIB);
    expect_steady_progress("slot", write_office("2"), 2 * TESTED_MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_contexts, seed_scatter),
        cmocka_unit_test_setup(test_quota, seed_scatter),
        cmocka_unit_test_setup(test_unsure_contexts, seed_scatter),
        cmocka_unit_test_setup(test_slot, seed_scatter),
        cmocka_unit_test_setup(test_throttled_slot, seed_scatter),
        cmocka_unit_test_setup(test_unsure_slot, seed_scatter),
        cmocka_unit_test_setup(test_slot_of_unsure_contexts, seed_scatter),
        cmocka_unit_test(test_others_use_the_cpus),
        cmocka_unit_test(test_measuring_contexts),
        cmocka_unit_test(test_late_rounds_of_many_contexts),
        cmocka_unit_test(test_measuring_under_a_quota),
        cmocka_unit_test_setup(test_no_late_rounds_without_operations, seed_scatter),
        cmocka_unit_test(test_measuring_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
