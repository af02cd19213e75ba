#include "timer/timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "probes/kit/estimate.h"
#include "stats/quantile.h"
#include "timer/run.h"
#include "timer/timer_constants.h"

typedef struct {
    bj_timer_bench *bench;
    const bj_timing_request *request;
    bj_timer_run run;
    size_t calls;
    double *raw[BJ_TIMING_KERNELS_MAX], *empty[BJ_TIMING_KERNELS_MAX];
    size_t count, room;
    size_t judge_at; /* samples before the next look at the interval */
    uint64_t begin_ns, sampling_ns;
    double reference_ns; /* the least read of the reference since sampling began; infinite: none */
} session;

static bool is_stopped(const session *s, size_t kernel) {
    const bj_timing_request *request = s->request;
    return request->report != NULL && request->report(request->report_context, kernel);
}

static bj_status stop(bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted");
}

static bj_timer_request plan_request(const session *s, int context) {
    return (bj_timer_request){.operands = s->request->operands,
                              .operand_count = s->request->operand_count,
                              .context = context,
                              .caches = &s->bench->caches,
                              .flush_bytes = s->bench->flush_bytes,
                              .sets_bytes = s->bench->sets_bytes,
                              .threads = s->bench->threads};
}

/* Calls every kernel on operands of its own, which loads its code, and finds the least time of a warm call. */
static bj_status try_kernels(session *s, double *least_ns, bj_error *error) {
    enum { TRIES = 3 };
    bj_timer_operand warm[BJ_TIMER_OPERANDS_MAX];
    bj_timer_request plain = plan_request(s, BJ_RESIDENT_WARM);
    bj_timer_plan plan;
    *least_ns = INFINITY;
    for (size_t i = 0; i < plain.operand_count && i < BJ_TIMER_OPERANDS_MAX; i++) {
        warm[i] = s->request->operands[i];
        warm[i].residency = BJ_RESIDENT_WARM;
    }
    plain.operands = warm;
    BJ_TRY(bj_timer_make_plan(&plain, &plan, error));
    BJ_TRY(bj_timer_open_run(s->bench, &plan, s->request->n, &s->run, error));
    for (size_t k = 0; k < s->request->kernel_count; k++) {
        for (int i = 0; i < TRIES; i++) {
            if (is_stopped(s, k))
                return stop(error);
            bj_timer_prepare(&s->run);
            double ns = bj_timer_take_sample(&s->run, s->request->kernels[k], 1);
            /* The first call loads code and is a dummy. A call that is long enough already need not be tried again. */
            *least_ns = i > 0 || ns > 2 * s->bench->timing_ns ? fmin(*least_ns, ns) : *least_ns;
            if (ns > 2 * s->bench->timing_ns)
                break;
        }
    }
    bj_timer_close_run(&s->run);
    return BJ_OK;
}

/* One call is timed where it is long enough for the clock, or where the caches must be prepared for each. */
static bj_status choose_plan(session *s, bj_error *error) {
    bj_timer_request request = plan_request(s, s->request->context);
    bj_timer_plan plan;
    double call_ns;
    BJ_TRY(bj_timer_make_plan(&request, &plan, error));
    bool has_level = bj_timer_has_level(&plan);
    if (has_level && s->bench->threads > 1)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED,
                                 "in a level and no nearer: not with threads, whose caches nobody settles");
    BJ_TRY(try_kernels(s, &call_ns, error));
    s->calls = 1;
    if (!has_level && call_ns < s->bench->timing_ns) {
        request.many_calls = true;
        double least = fmax(call_ns - s->bench->step_ns, 0.001 * s->bench->timing_ns);
        s->calls = (size_t)ceil(s->bench->timing_ns / least);
        BJ_TRY(bj_timer_make_plan(&request, &plan, error));
    }
    return bj_timer_open_run(s->bench, &plan, s->request->n, &s->run, error);
}

static bj_status make_room(session *s, bj_error *error) {
    if (s->count < s->room)
        return BJ_OK;
    size_t room = s->room > 0 ? 2 * s->room : 16;
    for (size_t k = 0; k < s->request->kernel_count; k++) {
        double **lists[] = {&s->raw[k], &s->empty[k]};
        for (size_t i = 0; i < 2; i++) {
            double *grown = realloc(*lists[i], room * sizeof *grown);
            if (grown == NULL)
                return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu samples", room);
            *lists[i] = grown;
        }
    }
    s->room = room;
    return BJ_OK;
}

/* Sets that move flush themselves from sample to sample. All else is put in order again, outputs too: what a kernel
 * adds up or multiplies grows for one timing only. */
static void prepare(session *s) {
    if (s->run.plan.sets == 1 || !s->run.prepared)
        bj_timer_prepare(&s->run);
}

/* One sample of each kernel, in turns: the last goes first every other time. */
static bj_status take_samples(session *s, bj_error *error) {
    size_t kernels = s->request->kernel_count;
    BJ_TRY(make_room(s, error));
    for (size_t turn = 0; turn < kernels; turn++) {
        size_t k = s->count % 2 == 0 ? turn : kernels - 1 - turn;
        if (is_stopped(s, k))
            return stop(error);
        prepare(s);
        s->raw[k][s->count] = bj_timer_take_sample(&s->run, s->request->kernels[k], s->calls);
        s->empty[k][s->count] = bj_timer_time_nothing(&s->run, s->calls);
    }
    s->count++;
    return BJ_OK;
}

static bj_timing_samples samples_of(const session *s, size_t kernel) {
    return (bj_timing_samples){.raw_ns = s->raw[kernel],
                               .empty_ns = s->empty[kernel],
                               .count = s->count,
                               .calls = s->calls,
                               .cpu_time = s->bench->clock == BJ_CLOCK_CPU,
                               .step_ns = s->bench->step_ns,
                               .seed = s->bench->seed};
}

/* Whether the intervals of all kernels are narrow. */
static bj_status see_narrow(const session *s, bj_timing *timings, bool *narrow, bj_error *error) {
    *narrow = true;
    for (size_t k = 0; k < s->request->kernel_count; k++) {
        bj_timing_samples samples = samples_of(s, k);
        BJ_TRY(bj_timer_answer_time(&samples, &timings[k], error));
        *narrow = *narrow && bj_timer_is_narrow(&timings[k], &samples);
    }
    return BJ_OK;
}

static bool has_cold(const session *s) {
    for (size_t i = 0; i < s->run.plan.operand_count; i++)
        if (s->run.plan.operands[i].residency == BJ_RESIDENT_COLD)
            return true;
    return false;
}

/* By how much memory was slower than it has been, all the time that this timing took; 0: it was not. */
static double find_slowdown(const session *s) {
    double least_ns = s->bench->reference.least_ns;
    return isfinite(s->reference_ns) && s->reference_ns > least_ns * (1 + BJ_REFERENCE_TOLERANCE)
               ? s->reference_ns / least_ns - 1
               : 0;
}

static void look_at_memory(session *s) {
    if (has_cold(s))
        s->reference_ns = fmin(s->reference_ns, bj_timer_read_reference(&s->bench->reference));
}

/* Whether there are samples enough, or no time for more. */
static bj_status judge(session *s, bj_timing *timings, bool *enough, bj_error *error) {
    const bj_timing_request *request = s->request;
    uint64_t now_ns = bj_platform_read_ns();
    double spent_s = (double)(now_ns - s->begin_ns) / 1e9;
    double budget_s = request->budget_s > 0 ? request->budget_s : BJ_TIMING_SECONDS;
    uint64_t least_ns = s->bench->clock == BJ_CLOCK_CPU ? BJ_SAMPLING_LOADED_NS : BJ_SAMPLING_NS;
    bool out_of_time = spent_s > budget_s && (request->budget_s > 0 || s->count >= BJ_SAMPLES_USUAL);
    *enough = request->samples > 0 ? s->count >= request->samples
                                   : s->count >= BJ_SAMPLES_MOST || (s->count >= BJ_SAMPLES_LEAST && out_of_time);
    /* Frames of memory differ, and the least of a few sets is a matter of luck: each set at least once. */
    bool all_sets = s->count * s->calls * request->kernel_count >= s->run.plan.sets;
    if (request->samples > 0 || *enough || s->count < BJ_SAMPLES_USUAL || s->count < s->judge_at ||
        now_ns - s->sampling_ns < least_ns || !all_sets)
        return BJ_OK;
    /* Resampling takes time that grows with the samples: not after each. */
    s->judge_at = s->count + s->count / 4 + 1;
    look_at_memory(s);
    BJ_TRY(see_narrow(s, timings, enough, error));
    *enough = *enough && find_slowdown(s) == 0;
    return BJ_OK;
}

static void remark(bj_timing *timing, const char *text) {
    size_t used = strlen(timing->remark);
    snprintf(timing->remark + used, sizeof timing->remark - used, "%s%s", used > 0 ? "; " : "", text);
}

/* Whether lines can be dropped for comparison: cold operands, and one call is long beside the clock's step. */
static bool can_compare(const session *s, const bj_timing *timings) {
    bool any = has_cold(s);
    for (size_t k = 0; k < s->request->kernel_count; k++)
        any = any && timings[k].time_ns.value > s->bench->step_ns / BJ_FLUSHES_STEP;
    return any && bj_kernel_can_drop_lines() && s->bench->threads == 1 && !bj_timer_has_level(&s->run.plan);
}

/* Cold operands by an instruction that drops lines, one call at a time. */
static bj_status time_by_lines(session *s, bj_timing *by_lines, bj_error *error) {
    bj_timer_request request = plan_request(s, s->request->context);
    bj_timer_plan plan;
    size_t calls = s->calls;
    request.by_lines = true;
    BJ_TRY(bj_timer_make_plan(&request, &plan, error));
    bj_timer_close_run(&s->run);
    BJ_TRY(bj_timer_open_run(s->bench, &plan, s->request->n, &s->run, error));
    s->count = 0;
    s->calls = 1;
    bj_status status = BJ_OK;
    while (status == BJ_OK && s->count < BJ_SAMPLES_USUAL)
        status = take_samples(s, error);
    for (size_t k = 0; k < s->request->kernel_count && status == BJ_OK; k++) {
        bj_timing_samples samples = samples_of(s, k);
        status = bj_timer_answer_time(&samples, &by_lines[k], error);
    }
    s->calls = calls;
    return status;
}

/* The area that this timing flushes by: doubled, where it may be. */
static bool grow_area(session *s, bool many_sets) {
    size_t *bytes = many_sets ? &s->bench->sets_bytes : &s->bench->flush_bytes;
    if (2 * *bytes > s->bench->flush_most)
        return false;
    *bytes *= 2;
    return true;
}

/* Lines that were dropped are in no cache: a kernel that takes longer after that found some of its operands in one, and
 * the area must grow. */
static bj_status compare_flushes(session *s, bj_timing *timings, bool *grew, bj_error *error) {
    bj_timing by_lines[BJ_TIMING_KERNELS_MAX] = {0};
    bool many_sets = s->run.plan.sets > 1, slower = false;
    *grew = false;
    if (!can_compare(s, timings))
        return BJ_OK;
    BJ_TRY(time_by_lines(s, by_lines, error));
    for (size_t k = 0; k < s->request->kernel_count; k++) {
        timings[k].has_lines = true;
        timings[k].lines_ratio = by_lines[k].time_ns.value / timings[k].time_ns.value;
        slower = slower || timings[k].lines_ratio > 1 + BJ_FLUSHES_AGREE;
    }
    *grew = slower && grow_area(s, many_sets);
    for (size_t k = 0; k < s->request->kernel_count && !*grew; k++) {
        char text[80];
        snprintf(text, sizeof text, "flushed by lines it takes %.2f times as long", timings[k].lines_ratio);
        if (fabs(timings[k].lines_ratio - 1) > BJ_FLUSHES_AGREE)
            remark(&timings[k], text);
    }
    return BJ_OK;
}

/* The witness of the operand that is farthest from where it should be. */
static bj_status see_residency(session *s, bj_timing *timings, bj_error *error) {
    double worst = -1;
    bj_timing found = {.seen_ns = NAN, .expected_ns = NAN};
    for (size_t i = 0; i < s->run.plan.operand_count; i++) {
        int level = s->run.plan.operands[i].residency;
        double seen;
        if (level <= 0)
            continue;
        BJ_TRY(bj_timer_ask_witness(&s->run, i, &seen, error));
        double expected = s->bench->caches.latency_ns[level - 1];
        double off = isnan(seen) || isnan(expected) ? INFINITY : fabs(seen / expected - 1);
        if (off <= worst)
            continue;
        worst = off;
        found.has_residency = true;
        found.seen_ns = seen;
        found.expected_ns = expected;
        bj_timer_name_residency(level, found.asked, sizeof found.asked);
    }
    for (size_t k = 0; k < s->request->kernel_count && found.has_residency; k++) {
        timings[k].has_residency = true;
        memcpy(timings[k].asked, found.asked, sizeof found.asked);
        timings[k].seen_ns = found.seen_ns;
        timings[k].expected_ns = found.expected_ns;
        if (worst <= BJ_WITNESS_TOLERANCE)
            continue;
        if (isnan(found.seen_ns))
            bj_kit_call_unstable(&timings[k].time_ns, "the operand is too small for a witness that it was in %s",
                                 found.asked);
        else
            bj_kit_call_unstable(&timings[k].time_ns, "the witness saw %.2f ns, but %s has %.2f", found.seen_ns,
                                 found.asked, found.expected_ns);
    }
    return BJ_OK;
}

static bj_status answer(session *s, bj_timing *timings, bj_answer *ratio, bj_error *error) {
    for (size_t k = 0; k < s->request->kernel_count; k++) {
        bj_timing_samples samples = samples_of(s, k);
        BJ_TRY(bj_timer_answer_time(&samples, &timings[k], error));
        double steps = timings[k].time_ns.value / s->bench->step_ns;
        /* Each call was timed by itself, however short. */
        if (bj_timer_has_level(&s->run.plan) && steps < 10)
            bj_kit_call_unstable(&timings[k].time_ns, "a call is only %.1f steps of the clock", steps);
        if (!isfinite(s->run.calls.sum))
            bj_kit_call_unstable(&timings[k].time_ns,
                                 "the kernel's results overflowed, and such numbers may take longer");
        if (find_slowdown(s) > 0)
            bj_kit_call_unstable(&timings[k].time_ns, "memory was %.0f%% slower all the while than at other times",
                                 100 * find_slowdown(s));
        if (s->bench->flush_capped)
            remark(&timings[k], "the flush area could not grow for lack of memory");
    }
    if (ratio != NULL && s->request->kernel_count == 2) {
        bj_timing_samples a = samples_of(s, 0), b = samples_of(s, 1);
        BJ_TRY(bj_timer_answer_ratio(&a, &b, ratio, error));
    }
    return BJ_OK;
}

static bj_status time_once(session *s, bj_timing *timings, bj_answer *ratio, bj_error *error) {
    bool enough = false;
    s->count = s->judge_at = 0;
    BJ_TRY(choose_plan(s, error));
    s->sampling_ns = bj_platform_read_ns();
    s->reference_ns = INFINITY;
    while (!enough) {
        BJ_TRY(take_samples(s, error));
        BJ_TRY(judge(s, timings, &enough, error));
    }
    memset(timings, 0, s->request->kernel_count * sizeof *timings);
    BJ_TRY(answer(s, timings, ratio, error));
    return see_residency(s, timings, error);
}

/* Again where the area had to grow; it stays so for the timings that follow. */
static bj_status time_all(session *s, bj_timing *timings, bj_answer *ratio, bj_error *error) {
    bool grew = true;
    while (grew) {
        BJ_TRY(time_once(s, timings, ratio, error));
        BJ_TRY(compare_flushes(s, timings, &grew, error));
        bj_timer_close_run(&s->run);
        if (!(s->request->budget_s > 0)) /* which is for all tries together */
            s->begin_ns = bj_platform_read_ns();
    }
    return BJ_OK;
}

bj_status bj_timer_time_kernels(bj_timer_bench *bench, const bj_timing_request *request, bj_timing *timings,
                                bj_answer *ratio, bj_error *error) {
    session s = {.bench = bench, .request = request, .begin_ns = bj_platform_read_ns()};
    if (request->kernel_count > BJ_TIMING_KERNELS_MAX)
        return bj_base_set_error(error, BJ_ERR_USAGE, "at most %d kernels are timed in turns", BJ_TIMING_KERNELS_MAX);
    memset(timings, 0, request->kernel_count * sizeof *timings);
    BJ_TRY(bj_timer_pin(bench, error));
    bj_status status = time_all(&s, timings, ratio, error);
    bj_timer_let_go(bench);
    bj_timer_close_run(&s.run);
    for (size_t k = 0; k < BJ_TIMING_KERNELS_MAX; k++) {
        free(s.raw[k]);
        free(s.empty[k]);
    }
    return status;
}
