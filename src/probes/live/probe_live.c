/* How many variables can live in registers at once?
 *
 * Loops over 3 to 132 variables (kit/live.h), of every scalar type. */
#include "probes/kit/live.h"
#include "probes/live/live_answer.h"

#define RANDOM_PURPOSE 1u

static const char *const types[] = {"int32", "int64", "float", "double"};
/* Of the visits of a point in one round a low one is kept, since disturbance adds time; not the least, which is often
 * one whose yardstick met a slower clock. */
#define LOW_OF_VISITS 0.25

static const bj_live_set set = {.probe = "live",
                                .types = types,
                                .count = sizeof types / sizeof types[0],
                                .most = BJ_LIVE_MOST,
                                .rounds = {6, 8, 30},
                                .visits = 5,
                                .low_of_visits = LOW_OF_VISITS};

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    return bj_kit_measure_live(&set, request, samples, RANDOM_PURPOSE, error);
}

bj_status bj_live_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                         bj_error *error) {
    if (request->from_table)
        return bj_kit_answer_live(samples, BJ_LIVE_TABLE, request, answers, error);
    bj_status status = BJ_OK;
    for (size_t t = 0; t < set.count && status == BJ_OK; t++) {
        char key[BJ_LIVE_KEY_ROOM];
        bj_kit_name_live(&set, t, key);
        status = bj_kit_answer_live(samples, key, request, answers, error);
    }
    return status;
}

const bj_probe bj_probe_live = {
    .name = "live",
    .question = "How many variables can live in registers at once?",
    .revision = 2,
    .provides = (const bj_probe_key[]){{"live.<type>", "count", 1, 1024, "variables that can live in registers at once",
                                        .tolerance = BJ_SAME_NUMBER},
                                       {0}},
    .methods = (const char *const[]){"spill_onset", "biggest_step", NULL},
    .paper_method = "biggest_step",
    .uses_compiler = true,
    .cost_s = {3, 5, 15},
    .memory_bytes = {2u << 20, 2u << 20, 2u << 20},
    .measure = measure,
    .analyse = bj_live_answer,
    .analyze_curve = BJ_LIVE_TABLE,
    .analyze_x_name = "variables",
    .analyze_x_unit = "count",
};
