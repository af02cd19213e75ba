/* What do arithmetic operations cost, relative to a 32-bit addition?
 *
 * Chains of dependent operations, 1 to 20 side by side (kit/chains.h), of every scalar type. */
#include "probes/kit/chains.h"
#include "probes/op/op_answer.h"
#include "probes/op/op_families.h"

#define RANDOM_PURPOSE 1u

static const bj_chain_set set = {
    .probe = "op", .families = bj_op_families, .count = BJ_OP_FAMILIES, .rounds = {6, 6, 20}, .repetitions = {2, 6, 6}};

static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    return bj_kit_measure_chains(&set, request, samples, RANDOM_PURPOSE, error);
}

bj_status bj_op_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                       bj_error *error) {
    bj_chain_analysis *analysis;
    BJ_TRY(bj_kit_open_chain_analysis(&set, samples, request, &analysis, error));
    bj_status status = BJ_OK;
    for (size_t i = 0; i < BJ_OP_ANSWERED && status == BJ_OK; i++)
        status = bj_kit_answer_chain(analysis, &bj_op_families[i], answers, error);
    bj_kit_close_chain_analysis(analysis);
    return status;
}

const bj_probe bj_probe_op = {
    .name = "op",
    .question = "What do arithmetic operations cost, relative to a 32-bit addition?",
    .revision = 3,
    .provides =
        (const bj_probe_key[]){
            {"op.<type>.<op>.latency", "int32 adds", 0.2, 1e5,
             "until the result can be used, relative to a 32-bit addition", .tolerance = BJ_CHAINS_TOLERANCE},
            {"op.<type>.<op>.throughput", "per int32 add", 1e-5, 64,
             "independent ones in the time of a 32-bit addition", .tolerance = BJ_CHAINS_TOLERANCE},
            {"op.<type>.<op>.in_flight", "count", 1, 1e4, "independent ones that overlap: latency times throughput",
             .tolerance = BJ_CHAINS_TOLERANCE},
            {0}},
    .methods = (const char *const[]){"least_ratio", "median_ratio", "second_lowest", NULL},
    .paper_method = "second_lowest",
    .uses_compiler = true,
    .cost_s = {2, 6, 15},
    .memory_bytes = {8u << 20, 8u << 20, 8u << 20},
    .measure = measure,
    .analyse = bj_op_answer,
};
