/* The papers' ways over simulated walks of their machines: what the papers say of them in words. */
#ifndef BJ_TESTS_PAPER_FIXTURE_H
#define BJ_TESTS_PAPER_FIXTURE_H

#include "../sim/zoo_fixture.h"

#include "runner/keys.h"

#define KIB 1024.0
#define MIB 1048576.0

/* `way` as --method takes it. */
static inline void ask(const char *way, const char *probe, bj_machine *machine, bj_answers *answers) {
    run_probe_by(bj_runner_find_method(bj_probe_find(probe), way), probe, machine, answers);
}

/* The number of an answer of one probe on a machine as it is, or as it was changed. */
static inline bj_answers ask_machine(json_t *file, const char *way, const char *const *probes) {
    bj_machine *machine = open_changed(file);
    bj_answers answers = {0};
    for (size_t i = 0; probes[i] != NULL; i++)
        ask(way, probes[i], machine, &answers);
    close_machine(machine);
    return answers;
}

static inline double number_of(const bj_answers *answers, const char *key) {
    double number = NAN;
    const bj_answer *answer = bj_data_find_answer(answers, key);
    if (answer != NULL && bj_data_has_value(answer))
        number = answer->value;
    return number;
}

#define ASK(file, way, ...) ask_machine(file, way, (const char *const[]){__VA_ARGS__, NULL})
#define ASSERT_NUMBER(answers, key, expected)                                                                          \
    do {                                                                                                               \
        double found_number = number_of(answers, key);                                                                 \
        if (!(found_number == (expected)))                                                                             \
            fail_msg("%s is %g, the paper says %g", key, found_number, (double)(expected));                            \
    } while (0)
#define ASSERT_WITHIN(answers, key, least, most)                                                                       \
    do {                                                                                                               \
        double found_number = number_of(answers, key);                                                                 \
        if (!(found_number >= (least) && found_number <= (most)))                                                      \
            fail_msg("%s is %g, expected %g to %g", key, found_number, (double)(least), (double)(most));               \
    } while (0)

#endif
