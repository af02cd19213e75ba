/* Published curves: reading one, and the analysis of a probe over it as `blackjack analyze` does it. */
#ifndef BJ_TESTS_REPLAY_CURVE_FIXTURE_H
#define BJ_TESTS_REPLAY_CURVE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "probes/probe.h"

#define FOLDER BJ_SOURCE_DIR "/tests/replay/"
#define POINTS_MAX 128

/* Lines x,y after comments and one header line. Numbers of a test of ours: no locale, no surprises. */
static inline size_t read_curve(const char *name, double *x, double *y) {
    char path[512], line[256];
    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    size_t count = 0;
    bool header = false, source = false, licence = false;
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#') {
            source = source || strncmp(line, "# Source: ", 10) == 0;
            licence = licence || strncmp(line, "# Licence: ", 11) == 0;
        } else if (!header) {
            header = true;
        } else {
            assert_true(count < POINTS_MAX);
            if (sscanf(line, "%lf,%lf", &x[count], &y[count]) != 2)
                fail_msg("%s: not a row: %s", name, line);
            count++;
        }
    }
    fclose(file);
    if (!source || !licence)
        fail_msg("%s does not say where it comes from", name);
    return count;
}

static inline json_t *read_expected(const char *name) {
    char path[512];
    json_error_t trouble;
    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    json_t *cases = json_load_file(path, 0, &trouble);
    if (cases == NULL)
        fail_msg("%s: %s", name, trouble.text);
    return cases;
}

static inline bj_answers analyse_curve(const char *probe_name, const double *x, const double *y, size_t count,
                                       const char *unit, const bj_answers *known) {
    const bj_probe *probe = bj_probe_find(probe_name);
    assert_non_null(probe);
    bj_curves samples = {0};
    bj_curve *curve;
    bj_error error = {""};
    assert_int_equal(bj_data_add_curve(&samples, probe->analyze_curve, probe->name, &curve, &error), BJ_OK);
    bj_data_name_axes(curve, probe->analyze_x_name, probe->analyze_x_unit, "time", unit != NULL ? unit : "");
    assert_int_equal(bj_data_record_table(curve, x, y, count, &error), BJ_OK);
    bj_analyse_request request = {.earlier = known, .seed = 1, .y_unit_given = unit, .from_table = true};
    bj_answers answers = {0};
    if (probe->analyse(&samples, &request, &answers, &error) != BJ_OK)
        fail_msg("%s", error.text);
    bj_data_free_curves(&samples);
    return answers;
}

/* The file's curve, with times by `scale`. */
static inline bj_answers analyse_file(const char *probe_name, const char *file, double scale, const bj_answers *known) {
    double x[POINTS_MAX], y[POINTS_MAX];
    size_t count = read_curve(file, x, y);
    assert_in_range(count, 10, POINTS_MAX);
    for (size_t i = 0; i < count; i++)
        y[i] *= scale;
    return analyse_curve(probe_name, x, y, count, NULL, known);
}

#endif
