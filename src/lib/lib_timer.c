/* The kernel timer in the caller's process. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"
#include "runner/known_machine.h"
#include "runner/open_machine.h"
#include "timer/tune.h"

_Static_assert((int)BJ_LIB_IN == (int)BJ_DIRECTION_IN && (int)BJ_LIB_OUT == (int)BJ_DIRECTION_OUT &&
                   (int)BJ_LIB_INOUT == (int)BJ_DIRECTION_INOUT && (int)BJ_LIB_UP == (int)BJ_ACCESS_UP &&
                   (int)BJ_LIB_DOWN == (int)BJ_ACCESS_DOWN && (int)BJ_LIB_RANDOM == (int)BJ_ACCESS_RANDOM,
               "direction and access");

struct bj_lib_timer {
    bj_timer_bench *bench;
};

/* Copies what both sides know. A newer caller's further fields must be zero, their default. */
static bool copy_options(void *to, size_t size, const void *given) {
    size_t theirs = 0;
    if (given == NULL)
        return true;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs || theirs > 4096)
        return false;
    for (size_t i = size; i < theirs; i++)
        if (((const unsigned char *)given)[i] != 0)
            return false;
    memcpy(to, given, theirs < size ? theirs : size);
    return true;
}

static bj_status find_caches(const bj_lib_profile *given, bj_timer_caches *caches, bj_error *error) {
    bj_profile profile;
    bool measured;
    if (given != NULL)
        return bj_timer_read_caches(&given->whole.answers, caches, error);
    bj_profile_init(&profile);
    bj_status status = bj_runner_know_machine(NULL, NULL, NULL, NULL, &profile, &measured, error);
    if (status == BJ_OK)
        status = bj_timer_read_caches(&profile.answers, caches, error);
    bj_profile_free(&profile);
    return status;
}

static bj_status open_timer(const bj_lib_timer_options *options, bj_lib_timer *timer, bj_error *error) {
    bj_timer_bench_options bench = {.threads = options->threads, .seed = options->seed != 0 ? options->seed : 1};
    const char *clock = options->clock;
    if (clock != NULL && strcmp(clock, "wall") != 0 && strcmp(clock, "cpu") != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "clock: expected wall or cpu, found '%.40s'", clock);
    if (bench.seed > BJ_SEED_MOST)
        return bj_base_set_error(error, BJ_ERR_USAGE, "the seed must be below 2^53");
    bench.clock = clock == NULL ? BJ_TIME_CHOOSE : clock[0] == 'w' ? BJ_TIME_WALL : BJ_TIME_CPU;
    BJ_TRY(find_caches(options->profile, &bench.caches, error));
    return bj_timer_open_bench(&bench, &timer->bench, error);
}

/* Before each timing, too: the timer may have been opened by a thread with a larger stack. */
static bj_lib_result check_stack(bj_lib_error *error) {
    if (bj_inside_has_stack(BJ_INSIDE_STACK_BYTES))
        return BJ_LIB_OK;
    return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "the stack of this thread is too small to measure in");
}

bj_lib_result bj_lib_open_timer(const bj_lib_timer_options *given, bj_lib_timer **timer, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    bj_lib_timer_options options;
    bj_error trouble = {""};
    if (timer == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "no place for the timer");
    *timer = NULL;
    bj_lib_result result = check_stack(error);
    if (result != BJ_LIB_OK)
        return result;
    memset(&options, 0, sizeof options);
    if (!copy_options(&options, sizeof options, given))
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "struct_size must be sizeof(bj_lib_timer_options)");
    bj_lib_timer *made = calloc(1, sizeof *made);
    if (made == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "no memory for a timer");
    bj_status status = open_timer(&options, made, &trouble);
    if (status != BJ_OK) {
        free(made);
        return bj_inside_translate(status, &trouble, error);
    }
    *timer = made;
    return BJ_LIB_OK;
}

void bj_lib_close_timer(bj_lib_timer *timer) {
    BJ_INSIDE_BE_GUEST();
    if (timer != NULL)
        bj_timer_close_bench(timer->bench);
    free(timer);
}

const char *bj_lib_timer_clock(const bj_lib_timer *timer) {
    return timer != NULL ? timer->bench->clock_reason : NULL;
}

static bj_status read_residency(const char *text, int unsaid, int *residency, bj_error *error) {
    *residency = unsaid;
    if (text != NULL && !bj_timer_parse_residency(text, residency))
        return bj_base_set_error(error, BJ_ERR_USAGE, "expected cold, warm or L1 to L8, found '%.40s'", text);
    return BJ_OK;
}

static bj_status read_operand(const bj_lib_operand *given, size_t index, bj_timer_operand *operand, bj_error *error) {
    *operand = (bj_timer_operand){.bytes = given->bytes,
                                  .align = given->align,
                                  .misalign = given->misalign,
                                  .direction = (bj_timer_direction)given->direction,
                                  .access = (bj_timer_access)given->access};
    if (given->name != NULL)
        snprintf(operand->name, sizeof operand->name, "%s", given->name);
    else
        snprintf(operand->name, sizeof operand->name, "%zu", index);
    if ((unsigned)given->direction > BJ_LIB_INOUT || (unsigned)given->access > BJ_LIB_RANDOM)
        return bj_base_set_error(error, BJ_ERR_USAGE, "operand %s: no such direction or access", operand->name);
    return read_residency(given->residency, BJ_RESIDENT_UNSAID, &operand->residency, error);
}

/* `operands` has room for all that a plan takes. */
static bj_status read_request(const bj_lib_timing_options *given, bj_timer_operand *operands,
                              bj_timing_request *request, bj_error *error) {
    bj_lib_timing_options options;
    memset(&options, 0, sizeof options);
    if (!copy_options(&options, sizeof options, given))
        return bj_base_set_error(error, BJ_ERR_USAGE, "struct_size must be sizeof(bj_lib_timing_options)");
    if (options.operand_count > BJ_TIMER_OPERANDS_MAX || (options.operand_count > 0 && options.operands == NULL))
        return bj_base_set_error(error, BJ_ERR_USAGE, "operand_count without operands, or more than %d",
                                 BJ_TIMER_OPERANDS_MAX);
    if (!(options.budget_s >= 0) || options.samples == 1 || options.samples == 2)
        return bj_base_set_error(error, BJ_ERR_USAGE, "budget_s must be 0 or more, samples 0 or three and more");
    *request = (bj_timing_request){.kernel_count = 1,
                                   .n = options.n,
                                   .operands = operands,
                                   .operand_count = options.operand_count,
                                   .samples = options.samples,
                                   .budget_s = options.budget_s};
    for (size_t i = 0; i < options.operand_count; i++)
        BJ_TRY(read_operand(&options.operands[i], i, &operands[i], error));
    return read_residency(options.context, BJ_RESIDENT_COLD, &request->context, error);
}

static void fill_timing(const bj_timing *from, bj_lib_timing *to) {
    size_t size = to->struct_size;
    bj_lib_timing made;
    memset(&made, 0, sizeof made);
    made.struct_size = size;
    made.time_ns = from->time_ns.value;
    made.low_ns = from->time_ns.interval[0];
    made.high_ns = from->time_ns.interval[1];
    made.status = (bj_lib_status)from->time_ns.status;
    made.confidence = (bj_lib_confidence)from->time_ns.confidence;
    made.calls_per_timing = from->calls_per_timing;
    made.samples = from->samples;
    made.seen_ns = from->has_residency ? from->seen_ns : NAN;
    made.expected_ns = from->has_residency ? from->expected_ns : NAN;
    snprintf(made.reason, sizeof made.reason, "%s", from->time_ns.reason);
    memcpy(to, &made, size < sizeof made ? size : sizeof made);
}

static bool is_timing_known(const bj_lib_timing *timing) {
    return timing != NULL && timing->struct_size >= sizeof timing->struct_size && timing->struct_size <= 4096;
}

bj_lib_result bj_lib_time_kernel(bj_lib_timer *timer, bj_lib_kernel *kernel, const bj_lib_timing_options *options,
                                 bj_lib_timing *timing, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    bj_timer_operand operands[BJ_TIMER_OPERANDS_MAX];
    bj_timing_request request;
    bj_timing found;
    bj_error trouble = {""};
    if (timer == NULL || !is_timing_known(timing) || kernel == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a timer, a kernel, and struct_size of the timing, must be set");
    bj_lib_result result = check_stack(error);
    if (result != BJ_LIB_OK)
        return result;
    bj_status status = read_request(options, operands, &request, &trouble);
    if (status == BJ_OK) {
        request.kernels[0] = kernel;
        status = bj_timer_time_kernels(timer->bench, &request, &found, NULL, &trouble);
    }
    if (status == BJ_OK)
        fill_timing(&found, timing);
    return bj_inside_translate(status, &trouble, error);
}

bj_lib_result bj_lib_time_pair(bj_lib_timer *timer, bj_lib_kernel *first, bj_lib_kernel *second,
                               const bj_lib_timing_options *options, double *ratio, double *low, double *high,
                               bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    bj_timer_operand operands[BJ_TIMER_OPERANDS_MAX];
    bj_timing_request request;
    bj_timing found[2];
    bj_answer answer = {.value = 0};
    bj_error trouble = {""};
    if (timer == NULL || first == NULL || second == NULL || ratio == NULL || low == NULL || high == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a timer, two kernels and places for the results are needed");
    bj_lib_result result = check_stack(error);
    if (result != BJ_LIB_OK)
        return result;
    bj_status status = read_request(options, operands, &request, &trouble);
    if (status == BJ_OK) {
        request.kernels[0] = first;
        request.kernels[1] = second;
        request.kernel_count = 2;
        status = bj_timer_time_kernels(timer->bench, &request, found, &answer, &trouble);
    }
    if (status == BJ_OK && !bj_data_has_value(&answer))
        return bj_inside_fail(error, BJ_LIB_ERR_UNANSWERED, "%s", answer.reason);
    if (status == BJ_OK) {
        *ratio = answer.value;
        *low = answer.interval[0];
        *high = answer.interval[1];
    }
    return bj_inside_translate(status, &trouble, error);
}

bj_lib_result bj_lib_tune_kernel(bj_lib_timer *timer, bj_lib_kernel *const *candidates, size_t count,
                                 const bj_lib_timing_options *options, size_t finalists, size_t *best,
                                 bj_lib_candidate *seen, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    bj_timer_operand operands[BJ_TIMER_OPERANDS_MAX];
    bj_tune_request request = {.candidates = candidates, .count = count, .finalists = finalists};
    bj_error trouble = {""};
    if (timer == NULL || candidates == NULL || best == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a timer, candidates and a place for the best are needed");
    for (size_t i = 0; i < count; i++)
        if (candidates[i] == NULL)
            return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "candidate %zu is none", i);
    bj_lib_result result = check_stack(error);
    if (result != BJ_LIB_OK)
        return result;
    bj_tune_seen *both = calloc(count + 1, sizeof *both);
    bj_status status = both != NULL
                           ? read_request(options, operands, &request.timing, &trouble)
                           : bj_base_set_error(&trouble, BJ_ERR_RESOURCE, "no memory for %zu candidates", count);
    if (status == BJ_OK)
        status = bj_timer_tune(timer->bench, &request, best, both, &trouble);
    for (size_t i = 0; i < count && status == BJ_OK && seen != NULL; i++)
        seen[i] = (bj_lib_candidate){both[i].warm_ns, both[i].cold_ns};
    free(both);
    return bj_inside_translate(status, &trouble, error);
}
