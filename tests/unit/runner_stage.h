/* A stage for tests of the runner: made-up probes on a made-up machine, whose deeds each test
 * sets. It has the list of probes, so one file of a program includes it. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "runner/runner.h"

/* The machine: a clock that probes push, and claims. */
static double now_s;
static double read_clock(bj_machine *machine) {
    (void)machine;
    return now_s;
}
static bool read_claim(bj_machine *machine, const char *key, int cpu, double *value) {
    (void)machine;
    *value = 1000 + cpu;
    return strcmp(key, "alpha.size_bytes") == 0 || strcmp(key, "gamma.x") == 0;
}
static const int cpus[] = {4, 6};
static const bj_machine_verbs verbs = {.read_clock = read_clock, .read_claim = read_claim};
static bj_machine machine;

/* What the probes do, set by each test. */
static struct {
    bj_status measured, analysed;
    double value; /* of alpha.size_bytes */
    double seconds;
    bool forget, ask_progress, stray_key, fail_late;
    const char *log[16];
    size_t log_count;
    bj_measure_request seen; /* the last request */
    bool saw_own_answer;
    const char *analysed_with;
} script;

static bj_status measure_as(const char *name, const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    script.log[script.log_count++] = name;
    script.seen = *request;
    double own;
    script.saw_own_answer = bj_data_get_number(request->earlier, "alpha.size_bytes", &own);
    for (int i = 1; i <= 4; i++) {
        now_s += script.seconds / 4;
        if (script.ask_progress && request->report_progress(request->progress_context, i / 4.0))
            return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "stopped");
    }
    if (script.fail_late && request->more_rounds > 0)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory");
    if (script.measured != BJ_OK)
        return bj_base_set_error(error, script.measured, "the wheel came off");
    char id[32];
    snprintf(id, sizeof id, "%s.curve", name);
    bj_curve *curve = (bj_curve *)bj_data_find_curve(samples, id);
    bj_status status = curve == NULL ? bj_data_add_curve(samples, id, name, &curve, error) : BJ_OK;
    size_t first = curve->round_count,
           rounds =
               request->more_rounds == BJ_ROUNDS_AS_PLANNED || request->more_rounds == 0 ? 1 : request->more_rounds;
    for (size_t r = first; r < first + rounds; r++)
        for (int i = 0; i < 5 && status == BJ_OK; i++)
            status = bj_data_record_sample(curve, 1024 << i, r, 1.0 / (i + 1), error);
    return status;
}

static bj_status measure_alpha(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    return measure_as("alpha", request, samples, error);
}
static bj_status measure_beta(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    return measure_as("beta", request, samples, error);
}
static bj_status measure_gamma(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    return measure_as("gamma", request, samples, error);
}

static bj_status put(bj_answers *answers, const char *key, const char *unit, double value, bj_error *error) {
    bj_answer *answer;
    bj_status status = bj_data_put_answer(answers, key, unit, &answer, error);
    if (status != BJ_OK)
        return status;
    answer->value = value;
    answer->confidence = BJ_CONFIDENCE_HIGH;
    answer->has_interval = true;
    answer->interval[0] = value * 0.9999999;
    answer->interval[1] = value * 1.0000001;
    return BJ_OK;
}

static bj_status analyse_alpha(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    script.analysed_with = request->method;
    if (samples->count != 1)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%zu curves", samples->count);
    if (script.analysed != BJ_OK)
        return bj_base_set_error(error, script.analysed, "cannot divide");
    if (script.forget)
        return BJ_OK;
    bj_status status = put(answers, script.stray_key ? "other.key" : "alpha.size_bytes", "bytes", script.value, error);
    if (status == BJ_OK)
        status = put(answers, "alpha.L1.latency_ns", "ns", samples->items[0].rounds[0][2], error);
    return status;
}
static bj_status analyse_beta(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                              bj_error *error) {
    double size = 0;
    (void)samples;
    (void)bj_data_get_number(request->earlier, "alpha.size_bytes", &size);
    return put(answers, "beta.double", "bytes", 2 * size, error);
}
static bj_status analyse_gamma(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                               bj_error *error) {
    (void)samples;
    (void)request;
    return put(answers, "gamma.x", "count", 3, error);
}

static const bj_probe_key alpha_keys[] = {{"alpha.size_bytes", "bytes", 256, 1e6, "", .tolerance = 0.1},
                                          {"alpha.L<n>.latency_ns", "ns", 0.01, 100, "", .tolerance = 0.1},
                                          {0}};
/* A pattern that takes alpha's keys as well: an answer belongs to the probe that gave it. */
static const bj_probe_key beta_keys[] = {{"beta.double", "bytes", 0, 1e9, "", .tolerance = 0.1},
                                         {"alpha.<what>", "bytes", 0, 1e9, "", .tolerance = 0.1},
                                         {0}};
static const bj_probe_key gamma_keys[] = {{"gamma.x", "count", 0, 10, "", .tolerance = 0.1}, {0}};
static const char *beta_needs[] = {"alpha", NULL};
static const char *alpha_needs[] = {NULL, NULL};
static const char *const alpha_methods[] = {"first", "second", NULL};
static const char *const beta_methods[] = {"third", NULL};

/* beta comes first in the list though it needs alpha. */
static const bj_probe beta = {
    .name = "beta",
    .question = "",
    .revision = 1,
    .provides = beta_keys,
    .needs = beta_needs,
    .methods = beta_methods,
    .cost_s = {1, 3, 9},
    .memory_bytes = {100, 200, 300},
    .measure = measure_beta,
    .analyse = analyse_beta,
};
static const bj_probe alpha = {
    .name = "alpha",
    .question = "",
    .revision = 2,
    .provides = alpha_keys,
    .needs = alpha_needs,
    .methods = alpha_methods,
    .cost_s = {1, 1, 1},
    .memory_bytes = {50, 5000, 50},
    .measure = measure_alpha,
    .analyse = analyse_alpha,
};
static const bj_probe gamma_probe = {
    .name = "gamma",
    .question = "",
    .revision = 1,
    .provides = gamma_keys,
    .requires_cpus = 3,
    .cost_s = {1, 1, 1},
    .measure = measure_gamma,
    .analyse = analyse_gamma,
};

/* These stand in for the real list: the linker finds them first. */
const bj_probe *const bj_probes[] = {&beta, &alpha, &gamma_probe};
const size_t bj_probe_count = 3;
const bj_probe *bj_probe_find(const char *name) {
    for (size_t i = 0; i < bj_probe_count; i++)
        if (strcmp(bj_probes[i]->name, name) == 0)
            return bj_probes[i];
    return NULL;
}

static bj_profile profile;
static bj_run_plan plan;
static bj_error error;

static int set_up(void **state) {
    (void)state;
    memset(&script, 0, sizeof script);
    script.value = 32768;
    script.seconds = 1;
    now_s = 100;
    alpha_needs[0] = NULL;
    machine = (bj_machine){.verbs = &verbs,
                           .facts = {.name = "fake",
                                     .where = "sim:fake",
                                     .cpus = cpus,
                                     .cpu_count = 2,
                                     .memory_limit_bytes = 4000,
                                     .simulated = true}};
    plan = (bj_run_plan){.effort = BJ_EFFORT_NORMAL, .budget_s = INFINITY, .seed = 1, .cpu = 6};
    bj_profile_init(&profile);
    profile.run.seed = 1;
    error.text[0] = '\0';
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    bj_profile_free(&profile);
    return 0;
}

static bj_status run(void) {
    return bj_runner_run(&machine, &plan, &profile, &error);
}

static const bj_answer *answer(const char *key) {
    const bj_answer *found = bj_data_find_answer(&profile.answers, key);
    assert_non_null(found);
    return found;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
