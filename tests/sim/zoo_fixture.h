/* Probes over the machines of the zoo, each by itself: what others would find is taken from the truth (truth.json). */
#ifndef BJ_TESTS_ZOO_FIXTURE_H
#define BJ_TESTS_ZOO_FIXTURE_H

#include "../unit/sim_fixture.h"

#include <jansson.h>
#include <math.h>

#include "probes/probe.h"

enum { SEED = 7 };

static inline bool never_stop(void *context, double fraction) {
    (void)context;
    (void)fraction;
    return false;
}

static inline void put_number(bj_answers *answers, const char *key, double value) {
    bj_answer *answer = NULL;
    bj_error error = {""};
    if (bj_data_put_answer(answers, key, "", &answer, &error) != BJ_OK)
        fail_msg("%s", error.text);
    answer->value = value;
}

/* With little effort. `earlier` may be NULL. */
static inline void measure_samples(const char *method, const char *name, bj_machine *machine, const bj_answers *earlier,
                                   bj_curves *samples) {
    static const bj_answers none = {0};
    const bj_probe *probe = bj_probe_find(name);
    assert_non_null(probe);
    bj_measure_request measuring = {.machine = machine,
                                    .cpu = machine->facts.cpus[0],
                                    .effort = BJ_EFFORT_QUICK,
                                    .seed = SEED,
                                    .deadline_s = INFINITY,
                                    .memory_bytes = machine->facts.memory_limit_bytes / 4,
                                    .method = method,
                                    .earlier = earlier != NULL ? earlier : &none,
                                    .report_progress = never_stop};
    bj_error error = {""};
    if (probe->measure(&measuring, samples, &error) != BJ_OK)
        fail_msg("%s on %s: %s", name, machine->facts.name, error.text);
}

/* The answers are earlier ones, too. */
static inline void analyse_samples(const char *method, const char *name, const bj_curves *samples,
                                   bj_answers *answers) {
    bj_analyse_request analysing = {.earlier = answers, .seed = SEED, .method = method};
    bj_error error = {""};
    if (bj_probe_find(name)->analyse(samples, &analysing, answers, &error) != BJ_OK)
        fail_msg("%s: %s", name, error.text);
}

/* Measures with little effort and analyses; the answers are earlier ones of the next. */
static inline void run_probe_by(const char *method, const char *name, bj_machine *machine, bj_answers *answers) {
    bj_curves samples = {0};
    measure_samples(method, name, machine, answers, &samples);
    analyse_samples(method, name, &samples, answers);
    bj_data_free_curves(&samples);
}

static inline void run_probe(const char *name, bj_machine *machine, bj_answers *answers) {
    run_probe_by(NULL, name, machine, answers);
}

/* The file of a machine, to be changed before it is opened with open_changed. */
static inline json_t *load_machine(const char *name) {
    char path[600];
    snprintf(path, sizeof path, "%s/machines/%s.json", BJ_SOURCE_DIR, name);
    json_error_t trouble;
    json_t *file = json_load_file(path, 0, &trouble);
    if (file == NULL)
        fail_msg("%s: %s", path, trouble.text);
    return file;
}

static inline bj_machine *open_changed(json_t *file) {
    char *text = json_dumps(file, 0);
    bj_machine *machine = open_text(text, SEED);
    free(text);
    json_decref(file);
    return machine;
}

static inline bj_machine *open_zoo_machine(const char *name) {
    return open_changed(load_machine(name));
}

/* What follows from all machine files; the caller's to json_decref. */
static inline json_t *load_truths(void) {
    json_error_t trouble;
    json_t *truths = json_load_file(BJ_SOURCE_DIR "/tests/sim/truth.json", 0, &trouble);
    if (truths == NULL)
        fail_msg("truth.json: %s", trouble.text);
    return truths;
}

#endif
