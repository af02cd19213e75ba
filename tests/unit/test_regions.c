/* Reading and judging what regions recorded, on files that are made up here: 1 tick is 1 ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "regions/regions.h"

typedef struct {
    unsigned threads, bins;
    double calls;        /* of each bin */
    double ticks;        /* of a call */
    double start_factor; /* of the first `start_bins` */
    unsigned start_bins;
    double late;  /* ns by which each thread is behind the one before it */
    double noise; /* relative, uniform */
    bool rising;  /* it gets slower all the time */
    bool uneven;  /* the last thread does half of the calls */
} made_up;

#define BIN_NS 1e6

static char *make_text(const made_up *how) {
    char *text = NULL;
    size_t length;
    bj_random random;
    bj_random_seed(&random, 7);
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    fprintf(out,
            "{\"format\": \"blackjack-regions/1\", \"counter\": {\"name\": \"made up\", \"ticks\": 1000000000, \"ns\": "
            "1000000000}, \"period_ticks\": 500000, \"costs\": {\"reads\": 10, \"read_ticks\": 200, \"pairs\": 10, "
            "\"pair_ticks\": 500, \"empty_ticks\": 20}, \"threads\": %u, \"refused\": 0, \"regions\": [{\"name\": "
            "\"r\"}], \"records\": [",
            how->threads);
    for (unsigned thread = 0; thread < how->threads; thread++) {
        double calls = 0, ticks = 0, first = thread * how->late;
        bool is_half = how->uneven && thread == how->threads - 1;
        fprintf(out, "%s{\"region\": 0, \"process\": 1, \"thread\": %u, \"first\": %.0f, \"series\": [",
                thread > 0 ? ", " : "", thread, first);
        for (unsigned i = 0; i < how->bins; i++) {
            double these = is_half ? how->calls / 2 : how->calls;
            double mean = how->ticks * (i < how->start_bins ? how->start_factor : 1) *
                          (1 + how->noise * (bj_random_unit(&random) - 0.5)) *
                          (how->rising ? 1 + (double)i / how->bins : 1);
            fprintf(out, "%s[%.0f, %.0f, %.0f, 2, %.3f, %.3f]", i > 0 ? ", " : "", first + (i + 1) * BIN_NS, these,
                    these * mean, mean, mean);
            calls += these;
            ticks += (double)(uint64_t)(these * mean + 0.5);
        }
        fprintf(out, "], \"lengths\": [[10, %.0f, %.0f]]}", calls, ticks);
    }
    fprintf(out, "]}");
    fclose(out);
    return text;
}

static void judge(const made_up *how, bj_regions_file *file, bj_regions_report *report) {
    bj_error error = {""};
    char *text = make_text(how);
    if (bj_regions_parse("made up", text, strlen(text), file, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_int_equal(bj_regions_analyse(file, report, &error), BJ_OK);
    assert_int_equal(report->count, 1);
    free(text);
}

static void drop(bj_regions_file *file, bj_regions_report *report) {
    bj_regions_free_report(report);
    bj_regions_free(file);
}

static void test_means(void **state) {
    (void)state;
    bj_regions_file file;
    bj_regions_report report;
    judge(&(made_up){.threads = 2, .bins = 100, .calls = 100, .ticks = 5020}, &file, &report);
    const bj_regions_summary *region = &report.regions[0];
    assert_true(region->calls == 20000 && region->threads == 2);
    assert_float_equal(region->mean_ns, 5000, 1e-6); /* less an empty region's 20 */
    assert_float_equal(region->added, 50.0 / 5000, 1e-9);
    assert_string_equal(region->refused, "");
    assert_true(region->skip.known && region->skip.ns == 0);
    assert_float_equal(region->settled.ns, 5000, 1e-6);
    assert_float_equal(region->settled_half.ns, 0, 1e-3);
    /* 2 threads of 0.1 s; 50 ns a call. */
    assert_float_equal(report.thread_ns, 2e8, 1);
    assert_float_equal(report.overhead_ns, 20000 * 50.0, 1);
    assert_float_equal(report.rows[1].share, 1, 1e-9); /* 2 000 to 10 000 ticks */
    drop(&file, &report);
}

static void test_short_is_refused(void **state) {
    (void)state;
    bj_regions_file file;
    bj_regions_report report;
    judge(&(made_up){.threads = 1, .bins = 30, .calls = 1000, .ticks = 480}, &file, &report);
    assert_non_null(strstr(report.regions[0].refused, "begin and end add 50 ns: more than 10%"));
    drop(&file, &report);
    judge(&(made_up){.threads = 1, .bins = 30, .calls = 1000, .ticks = 530}, &file, &report);
    assert_string_equal(report.regions[0].refused, "");
    drop(&file, &report);
}

static void test_start(void **state) {
    (void)state;
    bj_regions_file file;
    bj_regions_report report;
    judge(&(made_up){.threads = 2,
                     .bins = 100,
                     .calls = 100,
                     .ticks = 5000,
                     .start_factor = 1.5,
                     .start_bins = 17,
                     .noise = 0.02},
          &file, &report);
    const bj_regions_summary *region = &report.regions[0];
    assert_true(region->skip.known);
    assert_true(region->skip.ns >= 16e6 && region->skip.ns <= 19e6);
    assert_true(region->settled.ns > 4930 && region->settled.ns < 5030);
    assert_true(region->settled_half.known && region->settled_half.ns < 50);
    assert_true(region->mean_ns > 5200); /* the start would spoil the mean */
    drop(&file, &report);

    judge(&(made_up){.threads = 1, .bins = 100, .calls = 100, .ticks = 5000, .rising = true}, &file, &report);
    assert_false(report.regions[0].skip.known);
    assert_non_null(strstr(report.regions[0].skip.reason, "had not settled"));
    drop(&file, &report);

    judge(&(made_up){.threads = 1, .bins = 5, .calls = 100, .ticks = 5000}, &file, &report);
    assert_false(report.regions[0].skip.known);
    assert_non_null(strstr(report.regions[0].skip.reason, "too few"));
    drop(&file, &report);
}

static void test_skew(void **state) {
    (void)state;
    bj_regions_file file;
    bj_regions_report report;
    judge(&(made_up){.threads = 4, .bins = 100, .calls = 1, .ticks = 5000, .late = 2.5e6}, &file, &report);
    assert_true(report.regions[0].skew.known);
    assert_float_equal(report.regions[0].skew.ns, 7.5e6, 1);
    drop(&file, &report);
    /* Within a bin of many calls nothing is known. */
    judge(&(made_up){.threads = 4, .bins = 100, .calls = 100, .ticks = 5000, .late = 1e5}, &file, &report);
    assert_false(report.regions[0].skew.known);
    assert_non_null(strstr(report.regions[0].skew.reason, "resolves"));
    drop(&file, &report);
    judge(&(made_up){.threads = 4, .bins = 100, .calls = 100, .ticks = 5000, .uneven = true}, &file, &report);
    assert_non_null(strstr(report.regions[0].skew.reason, "no common step"));
    drop(&file, &report);
    judge(&(made_up){.threads = 2, .bins = 100, .calls = 100, .ticks = 5000, .late = 1e9}, &file, &report);
    assert_non_null(strstr(report.regions[0].skew.reason, "not all there at once"));
    drop(&file, &report);
}

static bj_regions_loss compare(const made_up *least, const made_up *full, bj_regions_basis basis) {
    bj_regions_file files[2];
    bj_regions_report reports[2];
    bj_regions_loss *losses = NULL, loss;
    size_t count = 0;
    judge(least, &files[0], &reports[0]);
    judge(full, &files[1], &reports[1]);
    assert_int_equal(bj_regions_compare(&reports[0], &reports[1], basis, &losses, &count, NULL), BJ_OK);
    assert_int_equal(count, 1);
    loss = losses[0];
    free(losses);
    for (size_t i = 0; i < 2; i++)
        drop(&files[i], &reports[i]);
    return loss;
}

static void test_losses(void **state) {
    (void)state;
    made_up least = {.threads = 2, .bins = 100, .calls = 100, .ticks = 5020, .noise = 0.01};
    made_up full = least;
    full.ticks = 7520;
    bj_regions_loss loss = compare(&least, &full, BJ_REGIONS_BY_CALL);
    assert_true(loss.ranked);
    assert_float_equal(loss.ratio, 1.5, 0.01);
    assert_true(loss.ratio_low > 1.4 && loss.ratio_high < 1.6 && loss.ratio_low <= loss.ratio);
    assert_float_equal(loss.lost_ns, 2500.0 * 20000, 2500.0 * 20000 * 0.02);
    assert_string_equal(loss.remark, "slower");
    loss = compare(&least, &least, BJ_REGIONS_BY_CALL);
    assert_string_equal(loss.remark, "no difference beyond the interval");
    /* Half of the work a call, twice the calls. */
    full = least;
    full.threads = 4;
    full.ticks = 2520;
    loss = compare(&least, &full, BJ_REGIONS_BY_CALL);
    assert_non_null(strstr(loss.remark, "2 times the calls"));
    loss = compare(&least, &full, BJ_REGIONS_BY_TOTAL);
    assert_float_equal(loss.ratio, 1, 0.01);
    /* Too short in one of them. */
    full = least;
    full.ticks = 200;
    loss = compare(&least, &full, BJ_REGIONS_BY_CALL);
    assert_true(!loss.ranked && strstr(loss.remark, "begin and end add") != NULL);
}

static void test_bad_files(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *reason;
    } edits[] = {
        {"blackjack-regions/1", "blackjack-profile/1", "format: expected 'blackjack-regions/1'"},
        {"\"ticks\": 1000000000,", "\"ticks\": 0,", "counter: expected ticks and ns above 0"},
        {"{\"region\": 0,", "{\"region\": 7,", "records[0].region"},
        {"\"thread\": 0,", "\"thread\": \"x\",", "records[0].thread"},
        {"[[10, ", "[[63, ", "records[0].lengths[0]: expected a logarithm"},
        {"[[10, ", "[[-1, ", "records[0].lengths[0]: expected numbers"},
        {"\"series\": [[1000000,", "\"series\": [[9000000,", "records[0].series[1]: expected bins in order"},
        {"\"series\": [[1000000,", "\"series\": [[", "records[0].series[0]: expected a list of 6"},
        {"\"pairs\": 10", "\"pairs\": 0", "costs: expected"},
    };
    made_up how = {.threads = 1, .bins = 3, .calls = 10, .ticks = 5000};
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        bj_regions_file file;
        bj_error error = {""};
        char *text = make_text(&how), *place = strstr(text, edits[i].from);
        assert_non_null(place);
        char *edited = malloc(strlen(text) + 100);
        sprintf(edited, "%.*s%s%s", (int)(place - text), text, edits[i].to, place + strlen(edits[i].from));
        assert_int_equal(bj_regions_parse("f", edited, strlen(edited), &file, &error), BJ_ERR_INPUT);
        if (strstr(error.text, edits[i].reason) == NULL)
            fail_msg("expected '%s', found '%s'", edits[i].reason, error.text);
        free(edited);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means), cmocka_unit_test(test_short_is_refused), cmocka_unit_test(test_start),
        cmocka_unit_test(test_skew),  cmocka_unit_test(test_losses),           cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
