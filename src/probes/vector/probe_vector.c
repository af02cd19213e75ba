/* Which vectors pay here, and what do they cost?
 *
 * The chains of the op probe (kit/chains.h) and the live variables of the live probe (kit/live.h), of vectors of float
 * and double, of every width that compiler and processor have; and loads and stores that stay in the first cache. */
#include "probes/vector/vector_answer.h"
#include "probes/vector/vector_families.h"

/* Chains and live vectors draw from streams of their own. */
#define CHAINS_PURPOSE 1u
#define LIVE_PURPOSE 2u

/* The first half must leave time to the second. */
static bj_status measure(const bj_measure_request *request, bj_curves *samples, bj_error *error) {
    bj_measure_request first = *request;
    double now_s = request->machine->verbs->read_clock(request->machine);
    first.deadline_s = now_s + (request->deadline_s - now_s) / 2;
    BJ_TRY(bj_kit_measure_chains(&bj_vector_chains, &first, samples, CHAINS_PURPOSE, error));
    return bj_kit_measure_live(&bj_vector_live, request, samples, LIVE_PURPOSE, error);
}

const bj_probe bj_probe_vector = {
    .name = "vector",
    .question = "Which vectors pay here, and what do their operations cost?",
    .revision = BJ_VECTOR_REVISION,
    .provides =
        (const bj_probe_key[]){
            {"vector.width_bytes", "bytes", 8, 1024, "the narrowest vectors that multiply and add doubles at full rate",
             .tolerance = BJ_SAME_NUMBER},
            {"op.<type>x<lanes>.<op>.latency", "int32 adds", 0.2, 1e5,
             "until the result can be used, relative to a 32-bit addition", .tolerance = BJ_CHAINS_TOLERANCE},
            {"op.<type>x<lanes>.<op>.throughput", "per int32 add", 1e-5, 64,
             "independent ones in the time of a 32-bit addition", .tolerance = BJ_CHAINS_TOLERANCE},
            {"op.<type>x<lanes>.<op>.in_flight", "count", 1, 1e4,
             "independent ones that overlap: latency times throughput", .tolerance = BJ_CHAINS_TOLERANCE},
            {"live.<type>x<lanes>", "count", 1, 1024, "vectors that can live in registers at once",
             .tolerance = BJ_SAME_NUMBER},
            {"op.load.throughput", "per int32 add", 1e-5, 64,
             "first-level loads of the vectors that pay, in the time of a 32-bit addition",
             .tolerance = BJ_CHAINS_TOLERANCE},
            {"op.store.throughput", "per int32 add", 1e-5, 64, "the same of stores", .tolerance = BJ_CHAINS_TOLERANCE},
            {0}},
    .methods = (const char *const[]){"least_ratio", "median_ratio", NULL},
    .own_methods = (const char *const[]){"spill_hinge", NULL},
    .uses_compiler = true,
    .cost_s = {3, 5, 15},
    .memory_bytes = {8u << 20, 8u << 20, 8u << 20},
    .measure = measure,
    .analyse = bj_vector_answer,
};
