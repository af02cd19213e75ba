/* Plots as text: where curve, answers and ticks stand, and which curves are chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile_fixture.h"
#include "report/plot.h"
#include "report/plot_canvas.h"

/* Sizes of 1 KiB to 1 MiB: 1 ns up to 32 KiB, 16 ns beyond; two rounds, the second a little slower. */
static void add_step(bj_profile *profile, const char *id, const char *probe) {
    bj_curve *curve;
    assert_int_equal(bj_data_add_curve(&profile->curves, id, probe, &curve, NULL), BJ_OK);
    bj_data_name_axes(curve, "working_set", "bytes", "latency", "ns");
    for (int octave = 10; octave <= 20; octave++)
        for (size_t round = 0; round < 2; round++)
            assert_int_equal(
                bj_data_record_sample(curve, 1 << octave, round, (octave <= 15 ? 1 : 16) + 0.001 * (double)round, NULL),
                BJ_OK);
}

static bj_answer *put(bj_profile *profile, const char *key, const char *unit, double value, const char *curve) {
    bj_answer *answer;
    assert_int_equal(bj_data_put_answer(&profile->answers, key, unit, &answer, NULL), BJ_OK);
    answer->value = value;
    answer->confidence = BJ_CONFIDENCE_HIGH;
    bj_data_cite_curve(answer, curve);
    return answer;
}

static char *plot(const bj_profile *profile, const char *what, bool utf8, size_t columns) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    bj_error error;
    assert_non_null(out);
    assert_int_equal(bj_report_plot(out, profile, what, &(bj_terminal_style){.utf8 = utf8, .columns = columns}, &error),
                     BJ_OK);
    fclose(out);
    return text;
}

static void step_with_its_answers(void **state) {
    bj_profile *profile = *state;
    add_step(profile, "cache.walk", "cache");
    put(profile, "cache.levels", "count", 1, "cache.walk");
    put(profile, "cache.L1.size_bytes", "bytes", 32768, "cache.walk");
    put(profile, "cache.L1.capacity_bytes", "bytes", 33000, "cache.walk");
    put(profile, "cache.L1.latency_ns", "ns", 1, "cache.walk")->confidence = BJ_CONFIDENCE_LOW;
    put(profile, "memory.latency_ns", "ns", 16, "cache.walk")->status = BJ_ANSWER_UNSTABLE;
    char *text = plot(profile, "cache", false, 60);
    assert_string_equal(text, "cache.walk: latency (ns) by working_set (bytes), median of 2\n"
                              "  rounds, logarithmic\n"
                              "                     L1 32 KiB\n"
                              "        |                :  **************- memory 16 ns!\n"
                              "        |                :  *\n"
                              "      10|                :  *\n"
                              "        |                : *\n"
                              "        |                : *\n"
                              "       5|                : *\n"
                              "        |                : *\n"
                              "        |                :*\n"
                              "        |                :*\n"
                              "       2|                :*\n"
                              "        |                :*\n"
                              "        |*****************                - L1 1 ns?\n"
                              "        +------+------------+------------+\n"
                              "             4 KiB       64 KiB      1 MiB\n"
                              "cache.levels 1, cache.L1.capacity_bytes 32.2 KiB\n"
                              "? low confidence, ! unstable\n");
    free(text);
    text = plot(profile, "cache.walk", true, 60); /* by its id, in braille: U+28xx */
    assert_non_null(strstr(text, "\xe2\xa0"));
    assert_non_null(strstr(text, "\xe2\x94\x8a"));
    assert_null(strchr(text, '*'));
    free(text);
}

/* Twins are drawn together, each with its mark; of too many curves only one. */
static void several_curves(void **state) {
    bj_profile *profile = *state;
    add_step(profile, "tlb.spread", "tlb");
    add_step(profile, "tlb.packed", "tlb");
    add_step(profile, "tlb.look", "tlb");
    bj_data_cite_curve(put(profile, "tlb.L1.entries", "count", 4, "tlb.spread"), "tlb.packed");
    char *text = plot(profile, "tlb", false, 80);
    assert_non_null(strstr(text, "  * tlb.spread   o tlb.packed\n"));
    assert_non_null(strstr(text, "1 more curve of tlb"));
    free(text);
    char id[48];
    for (int i = 0; i < 5; i++) {
        snprintf(id, sizeof id, "tlb.more_%d", i);
        add_step(profile, id, "tlb");
        put(profile, id, "ns", 2, id);
    }
    text = plot(profile, "tlb", false, 80);
    assert_non_null(strstr(text, "7 more curves of tlb"));
    free(text);
}

static void nothing_to_draw(void **state) {
    bj_profile *profile = *state;
    bj_error error;
    bj_curve *curve;
    const bj_terminal_style style = {.utf8 = false};
    assert_int_equal(bj_report_plot(stdout, profile, "cache", &style, &error), BJ_ERR_FAILED);
    assert_int_equal(bj_data_add_curve(&profile->curves, "cache.walk", "cache", &curve, NULL), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 1, 0, 1, NULL), BJ_OK);
    assert_int_equal(bj_report_plot(stdout, profile, "cache", &style, &error), BJ_ERR_FAILED);
    assert_int_equal(bj_report_plot(stdout, profile, "cache.walk", &style, &error), BJ_ERR_FAILED);
    assert_non_null(strstr(error.text, "fewer than two points"));
}

static void check_ticks(bj_plot_axis axis, size_t most, size_t count, const double *expected) {
    double ticks[BJ_PLOT_TICKS];
    assert_int_equal(bj_report_make_ticks(&axis, most, ticks), count);
    for (size_t i = 0; i < count; i++)
        assert_true(ticks[i] > expected[i] - 1e-9 && ticks[i] < expected[i] + 1e-9);
}

static void round_ticks(void **state) {
    (void)state;
    check_ticks(bj_report_make_axis(0, 10, false, 50), 6, 6, (const double[]){0, 2, 4, 6, 8, 10});
    check_ticks(bj_report_make_axis(1, 20, false, 10), 6, 5, (const double[]){1, 2, 5, 10, 20});
    check_ticks(bj_report_make_axis(1024, 1048576, true, 10), 4, 3, (const double[]){4096, 32768, 262144});
    check_ticks(bj_report_make_axis(2, 2, false, 10), 3, 3, (const double[]){1, 2, 3});
    /* What a file may hold must not keep us for ever. */
    double ticks[BJ_PLOT_TICKS];
    bj_plot_axis least = bj_report_make_axis(5e-324, 1e-310, false, 2),
                 most = bj_report_make_axis(-1e308, 1e308, false, 2);
    assert_true(bj_report_make_ticks(&least, 8, ticks) <= 8);
    assert_true(bj_report_make_ticks(&most, 8, ticks) <= 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(step_with_its_answers, setup, teardown),
        cmocka_unit_test_setup_teardown(several_curves, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_to_draw, setup, teardown),
        cmocka_unit_test(round_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
