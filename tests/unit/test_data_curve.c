/* Numbers, curves and characteristics: what the probes write into. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "data/answer.h"
#include "data/curve.h"
#include "data/number.h"

static void assert_formats(double value, const char *expected) {
    char text[BJ_NUMBER_ROOM];
    bj_data_format_number(value, text);
    assert_string_equal(text, expected);
}

static void numbers_are_short(void **state) {
    (void)state;
    assert_formats(32768, "32768");
    assert_formats(0, "0");
    assert_formats(-0.0, "0");
    assert_formats(-3, "-3");
    assert_formats(0.1, "0.1");
    assert_formats(1.0 / 3, "0.33333333333333331");
    assert_formats(0.333333333, "0.333333333");
    assert_formats(17592186044416, "17592186044416");
    assert_formats(1e300, "1e+300");
    assert_formats(NAN, "null");
    assert_formats(INFINITY, "null");
}

static void numbers_read_back_the_same(void **state) {
    (void)state;
    bj_random random;
    bj_random_seed(&random, 7);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = bj_random_next(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[BJ_NUMBER_ROOM];
        bj_data_format_number(value, text);
        assert_true(strtod(text, NULL) == value);
        assert_true(strlen(text) < BJ_NUMBER_ROOM);
    }
}

static void rounding_keeps_integers_and_order(void **state) {
    (void)state;
    assert_true(bj_data_round_number(1234567890123, 6) == 1234567890123);
    assert_true(bj_data_round_number(1234567.4, 6) == 1234567);
    assert_true(bj_data_round_number(3.14159265, 6) == 3.14159);
    assert_true(bj_data_round_number(-2.5e-9, 6) == -2.5e-9);
    assert_true(isnan(bj_data_round_number(NAN, 6)));
    bj_random random;
    bj_random_seed(&random, 3);
    for (int i = 0; i < 5000; i++) {
        double a = exp(20 * bj_random_unit(&random)), b = a * (1 + 1e-6 * bj_random_unit(&random));
        assert_true(bj_data_round_number(a, 6) <= bj_data_round_number(b, 6));
        assert_true(bj_data_round_number(a, 6) >= floor(a));
        assert_true(bj_data_round_number(a, 6) <= ceil(a));
    }
}

static void a_curve_sorts_and_leaves_gaps(void **state) {
    (void)state;
    bj_curves curves = {0};
    bj_curve *curve;
    assert_int_equal(bj_data_add_curve(&curves, "cache.walk", "cache", &curve, NULL), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 20, 0, 2.5, NULL), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 10, 1, 1.5, NULL), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 30, 2, 3.5, NULL), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 20, 0, 2.75, NULL), BJ_OK);
    assert_int_equal(curve->x_count, 3);
    assert_int_equal(curve->round_count, 3);
    assert_true(curve->x[0] == 10 && curve->x[1] == 20 && curve->x[2] == 30);
    assert_true(curve->rounds[0][1] == 2.75 && isnan(curve->rounds[0][0]) && isnan(curve->rounds[1][2]));
    assert_int_equal(bj_data_record_sample(curve, NAN, 0, 1, NULL), BJ_ERR_FAILED);
    assert_int_equal(bj_data_record_sample(curve, 1, 0, INFINITY, NULL), BJ_ERR_FAILED);
    assert_int_equal(bj_data_record_sample(curve, 1, BJ_CURVE_MAX_CELLS, 1, NULL), BJ_ERR_INPUT);
    assert_int_equal(bj_data_add_curve(&curves, "cache.walk", "cache", &curve, NULL), BJ_ERR_FAILED);
    bj_data_free_curves(&curves);
}

static void samples_are_rounded_when_recorded(void **state) {
    (void)state;
    bj_curves curves = {0};
    bj_curve *curve;
    assert_int_equal(bj_data_add_curve(&curves, "a", "p", &curve, NULL), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 1.0 / 3, 0, 2.0 / 3, NULL), BJ_OK);
    assert_true(curve->x[0] == 1.0 / 3);
    assert_true(curve->rounds[0][0] == 0.666666667);
    bj_data_free_curves(&curves);
}

static void all_at_once_is_the_same_as_one_by_one(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static double x[COUNT], y[COUNT];
    unsigned repeats[101] = {0};
    bj_random random;
    bj_random_seed(&random, 11);
    bj_curves curves = {0};
    bj_curve *one, *all;
    assert_int_equal(bj_data_add_curve(&curves, "one", "p", &one, NULL), BJ_OK);
    for (size_t i = 0; i < COUNT; i++) {
        size_t place = bj_random_below(&random, 101);
        x[i] = (double)(place + 1) / 7;
        y[i] = 1 + bj_random_unit(&random);
        assert_int_equal(bj_data_record_sample(one, x[i], repeats[place]++, y[i], NULL), BJ_OK);
    }
    assert_int_equal(bj_data_add_curve(&curves, "all", "p", &all, NULL), BJ_OK);
    assert_int_equal(bj_data_record_table(all, x, y, COUNT, NULL), BJ_OK);
    one = (bj_curve *)bj_data_find_curve(&curves, "one");
    assert_int_equal(one->x_count, all->x_count);
    assert_int_equal(one->round_count, all->round_count);
    assert_memory_equal(one->x, all->x, one->x_count * sizeof *one->x);
    for (size_t r = 0; r < one->round_count; r++)
        assert_memory_equal(one->rounds[r], all->rounds[r], one->x_count * sizeof *one->x);
    bj_data_free_curves(&curves);
}

static void a_million_samples_in_falling_order(void **state) {
    (void)state;
    enum { COUNT = 1000000 };
    double *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    assert_non_null(x);
    assert_non_null(y);
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = (double)(COUNT - i);
        y[i] = 1;
    }
    bj_curves curves = {0};
    bj_curve *curve;
    assert_int_equal(bj_data_add_curve(&curves, "a", "p", &curve, NULL), BJ_OK);
    assert_int_equal(bj_data_record_table(curve, x, y, COUNT, NULL), BJ_OK);
    assert_int_equal(curve->x_count, COUNT);
    assert_true(curve->x[0] == 1);
    bj_data_free_curves(&curves);

    /* Half of them at one x: the grid would take the product. */
    for (size_t i = 0; i < COUNT / 2; i++)
        x[i] = 7;
    bj_error error;
    assert_int_equal(bj_data_add_curve(&curves, "a", "p", &curve, NULL), BJ_OK);
    assert_int_equal(bj_data_record_table(curve, x, y, COUNT, &error), BJ_ERR_INPUT);
    assert_non_null(strstr(error.text, "uneven"));
    bj_data_free_curves(&curves);
    free(x);
    free(y);
}

static void curves_of_a_probe_are_copied_and_dropped(void **state) {
    (void)state;
    bj_curves from = {0}, to = {0};
    bj_curve *curve;
    for (int i = 0; i < 20; i++) {
        char id[16];
        snprintf(id, sizeof id, "c%d", i);
        assert_int_equal(bj_data_add_curve(&from, id, i % 2 ? "odd" : "even", &curve, NULL), BJ_OK);
        bj_data_name_axes(curve, "x", "bytes", "y", "a unit that is far too long");
        assert_int_equal(bj_data_record_sample(curve, i, 0, i, NULL), BJ_OK);
        assert_int_equal(bj_data_set_attribute_number(curve, "level", i, NULL), BJ_OK);
    }
    assert_int_equal(bj_data_copy_curves(&from, "odd", &to, NULL), BJ_OK);
    bj_data_drop_curves(&from, "odd");
    assert_int_equal(from.count, 10);
    assert_int_equal(to.count, 10);
    assert_null(bj_data_find_curve(&from, "c3"));
    assert_true(bj_data_find_curve(&to, "c3")->rounds[0][0] == 3);
    double level;
    assert_true(bj_data_get_attribute_number(bj_data_find_curve(&to, "c3"), "level", &level) && level == 3);
    assert_string_equal(bj_data_find_curve(&to, "c3")->y_unit, "a unit that is ");
    bj_data_free_curves(&from);
    bj_data_free_curves(&to);
}

static void rounds_have_spells(void **state) {
    (void)state;
    bj_curves curves = {0}, copy = {0};
    bj_curve *curve;
    bj_error error;
    assert_int_equal(bj_data_add_curve(&curves, "c", "p", &curve, &error), BJ_OK);
    for (size_t r = 0; r < 3; r++)
        assert_int_equal(bj_data_record_sample(curve, 1, r, 1, &error), BJ_OK);
    assert_int_equal(bj_data_find_spell(curve, 2), 0);
    assert_int_equal(bj_data_mark_spell(curve, 3, 1, &error), BJ_OK); /* no such round yet */
    assert_int_equal(curve->spell_count, 0);
    assert_int_equal(bj_data_record_sample(curve, 1, 3, 1, &error), BJ_OK);
    assert_int_equal(bj_data_mark_spell(curve, 3, 1, &error), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 1, 5, 1, &error), BJ_OK);
    assert_int_equal(bj_data_mark_spell(curve, 4, 4, &error), BJ_OK);
    assert_int_equal(bj_data_copy_curves(&curves, "p", &copy, &error), BJ_OK);
    static const unsigned expected[] = {0, 0, 0, 1, 4, 4};
    for (size_t r = 0; r < 6; r++)
        assert_int_equal(bj_data_find_spell(bj_data_find_curve(&copy, "c"), r), expected[r]);
    bj_data_free_curves(&curves);
    bj_data_free_curves(&copy);
}

static void attributes_are_set_replaced_and_limited(void **state) {
    (void)state;
    bj_curve curve = {.id = "c"};
    bj_error error;
    double number = 0;
    assert_int_equal(bj_data_set_attribute_number(&curve, "level", 1, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(&curve, "level", 2, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_text(&curve, "pages", "huge", &error), BJ_OK);
    assert_int_equal(curve.attribute_count, 2);
    assert_true(bj_data_get_attribute_number(&curve, "level", &number) && number == 2);
    assert_true(bj_data_has_attribute_text(&curve, "pages", "huge"));
    /* A text is no number, a number no text. */
    assert_false(bj_data_get_attribute_number(&curve, "pages", &number));
    assert_false(bj_data_has_attribute_text(&curve, "level", "2"));
    assert_false(bj_data_get_attribute_number(&curve, "sets", &number));
    assert_int_equal(bj_data_set_attribute_number(&curve, "", 1, &error), BJ_ERR_FAILED);
    assert_int_equal(bj_data_set_attribute_number(&curve, "sets", NAN, &error), BJ_ERR_FAILED);
    assert_int_equal(bj_data_set_attribute_text(&curve, "a name that is far too long to be kept", "x", &error),
                     BJ_ERR_FAILED);
    for (char name[] = "a"; curve.attribute_count < BJ_ATTRIBUTES_MAX; name[0]++)
        assert_int_equal(bj_data_set_attribute_number(&curve, name, 1, &error), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(&curve, "one_more", 1, &error), BJ_ERR_FAILED);
    assert_int_equal(bj_data_set_attribute_number(&curve, "level", 3, &error), BJ_OK);
}

static void answers_are_put_found_replaced(void **state) {
    (void)state;
    bj_answers answers = {0};
    bj_answer *answer;
    double value;
    for (int i = 0; i < 40; i++) {
        char key[16];
        snprintf(key, sizeof key, "k.%d", i);
        assert_int_equal(bj_data_put_answer(&answers, key, "ns", &answer, NULL), BJ_OK);
        answer->value = i;
    }
    assert_true(bj_data_get_number(&answers, "k.7", &value) && value == 7);
    assert_int_equal(bj_data_put_answer(&answers, "k.7", "bytes", &answer, NULL), BJ_OK);
    assert_ptr_equal(answer, &answers.items[7]);
    answer->structured = strdup("[]");
    assert_false(bj_data_get_number(&answers, "k.7", &value));
    assert_int_equal(bj_data_put_answer(&answers, answers.items[7].key, answers.items[7].unit, &answer, NULL), BJ_OK);
    assert_string_equal(answer->unit, "bytes");
    assert_null(answer->structured);
    answer->status = BJ_ANSWER_FAILED;
    assert_false(bj_data_get_number(&answers, "k.7", &value));
    assert_int_equal(bj_data_put_answer(&answers, "", "ns", &answer, NULL), BJ_ERR_FAILED);
    assert_int_equal(bj_data_put_answer(&answers, "k", "a unit far too long", &answer, NULL), BJ_ERR_FAILED);
    bj_data_free_answers(&answers);
}

static void evidence_is_cited_once(void **state) {
    (void)state;
    bj_answer answer = {0};
    bj_data_cite_curve(&answer, "a");
    bj_data_cite_curve(&answer, "a");
    for (int i = 0; i < 9; i++) {
        char id[16];
        snprintf(id, sizeof id, "b%d", i);
        bj_data_cite_curve(&answer, id);
    }
    assert_int_equal(answer.evidence_count, 4);
    assert_string_equal(answer.evidence[1], "b0");
}

static void names_of_states_go_both_ways(void **state) {
    (void)state;
    for (int i = BJ_ANSWER_OK; i <= BJ_ANSWER_FAILED; i++) {
        bj_answer_status status;
        assert_true(bj_data_parse_status(bj_data_name_status((bj_answer_status)i), &status));
        assert_int_equal(status, i);
    }
    bj_confidence confidence;
    assert_true(bj_data_parse_confidence("medium", &confidence));
    assert_int_equal(confidence, BJ_CONFIDENCE_MEDIUM);
    assert_false(bj_data_parse_confidence("none", &confidence));
    bj_answer_status status;
    assert_false(bj_data_parse_status("OK", &status));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_short),
        cmocka_unit_test(numbers_read_back_the_same),
        cmocka_unit_test(rounding_keeps_integers_and_order),
        cmocka_unit_test(a_curve_sorts_and_leaves_gaps),
        cmocka_unit_test(samples_are_rounded_when_recorded),
        cmocka_unit_test(all_at_once_is_the_same_as_one_by_one),
        cmocka_unit_test(a_million_samples_in_falling_order),
        cmocka_unit_test(curves_of_a_probe_are_copied_and_dropped),
        cmocka_unit_test(rounds_have_spells),
        cmocka_unit_test(attributes_are_set_replaced_and_limited),
        cmocka_unit_test(answers_are_put_found_replaced),
        cmocka_unit_test(evidence_is_cited_once),
        cmocka_unit_test(names_of_states_go_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
