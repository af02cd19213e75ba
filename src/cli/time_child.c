#include "cli/time_child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/news.h"
#include "cli/progress.h"
#include "platform/child.h"
#include "platform/clock.h"
#include "platform/library.h"
#include "timer/check_call.h"

/* Seconds of silence beyond the limit of a call: while operands are put in place for a sample, and while the bench or
 * large areas are. */
#define PREPARING_SECONDS 10.0
#define RESTING_SECONDS 600.0

/* Both sides. */
typedef struct {
    bj_time_results *results;
    int parent; /* the child's way to it */
    size_t job; /* that the child is at */
    /* The parent: */
    size_t kernel, done;
    bj_time_news trouble;
    bool has_trouble, is_spoilt, in_terminal, line_shown;
    double limit_s; /* of silence, for what the child is at */
    uint64_t begin_ns, drawn_ns;
} session;

static void tell(session *s, bj_time_news *message) {
    message->job = s->job;
    bj_platform_tell_parent(s->parent, message, sizeof *message);
}

static void tell_failure(session *s, bj_time_news_kind kind, bj_status status, const bj_error *error, size_t kernel) {
    bj_time_news message = {.kind = kind, .status = status, .kernel = kernel, .error = *error};
    tell(s, &message);
}

static void tell_begin(session *s, bj_time_news_kind kind, size_t kernel) {
    bj_time_news message = {.kind = kind, .kernel = kernel};
    tell(s, &message);
}

static bool report_sample(void *context, size_t kernel) {
    tell_begin(context, BJ_TIME_NEWS_SAMPLE, kernel);
    return false;
}

static bj_status load_kernels(session *s, bj_kernel_function **kernels, bj_error *error) {
    const bj_time_request *request = s->results->request;
    for (size_t k = 0; k < request->kernel_count; k++) {
        bj_error why;
        bj_any_function *found = NULL;
        report_sample(s, k);
        if (bj_platform_load_function(request->kernels[k].library, request->kernels[k].symbol, &found, &why) != BJ_OK)
            return bj_base_set_error(error, BJ_ERR_INPUT, "%.100s: %.250s", request->kernels[k].file, why.text);
        kernels[k] = (bj_kernel_function *)found;
    }
    return BJ_OK;
}

/* What is left of the budget, shared by the jobs that are left. */
static double share_budget(const session *s, uint64_t begin_ns) {
    const bj_time_results *results = s->results;
    if (results->request->budget_s <= 0)
        return 0;
    double left = results->request->budget_s - (double)(bj_platform_read_ns() - begin_ns) / 1e9;
    double share = left / (double)(results->job_count - s->job);
    return share > 1e-3 ? share : 1e-3;
}

static bj_status time_job(session *s, bj_timer_bench *bench, bj_kernel_function *const *kernels, uint64_t begin_ns,
                          size_t *at, bj_error *error) {
    const bj_time_request *request = s->results->request;
    const bj_time_job *job = &s->results->jobs[s->job];
    const size_t most = BJ_TIME_KERNELS_MAX, kernel_count = request->kernel_count < most ? request->kernel_count : most;
    bj_timer_operand operands[BJ_TIMER_OPERANDS_MAX];
    BJ_TRY(bj_cli_size_operands(request, job->n, operands, error));
    for (*at = 0; *at < kernel_count; ++*at) {
        tell_begin(s, BJ_TIME_NEWS_CHECK, *at);
        BJ_TRY(bj_timer_check_call(bench, kernels[*at], (size_t)job->n, operands, request->operand_count, s->parent,
                                   error));
    }
    *at = 0;
    tell_begin(s, BJ_TIME_NEWS_RESTS, 0);
    bj_timing_request timing = {.kernel_count = kernel_count,
                                .n = (size_t)job->n,
                                .operands = operands,
                                .operand_count = request->operand_count,
                                .context = job->context,
                                .samples = request->samples,
                                .budget_s = share_budget(s, begin_ns),
                                .report = report_sample,
                                .report_context = s};
    bj_timing timings[2];
    bj_time_news message = {.kind = BJ_TIME_NEWS_RATIO};
    for (size_t k = 0; k < kernel_count; k++)
        timing.kernels[k] = kernels[k];
    BJ_TRY(bj_timer_time_kernels(bench, &timing, timings, &message.ratio, error));
    if (kernel_count == 2)
        tell(s, &message);
    for (size_t k = 0; k < kernel_count; k++) {
        bj_time_news one = {.kind = BJ_TIME_NEWS_TIMING, .kernel = k, .timing = timings[k]};
        tell(s, &one);
    }
    return BJ_OK;
}

static void work(void *context, int parent) {
    session *s = context;
    const bj_time_request *request = s->results->request;
    bj_kernel_function *kernels[2] = {NULL, NULL};
    bj_timer_bench_options options = {
        .caches = s->results->caches, .clock = request->clock, .threads = request->threads, .seed = request->seed};
    bj_timer_bench *bench = NULL;
    bj_error error = {""};
    uint64_t begin_ns = bj_platform_read_ns();
    s->parent = parent;
    bj_platform_watch_faults(parent, NULL, 0);
    bj_status status = load_kernels(s, kernels, &error);
    tell_begin(s, BJ_TIME_NEWS_RESTS, 0);
    if (status == BJ_OK)
        status = bj_timer_open_bench(&options, &bench, &error);
    if (status != BJ_OK) {
        tell_failure(s, BJ_TIME_NEWS_FAILED, status, &error, 0);
        return;
    }
    bj_time_news open = {.kind = BJ_TIME_NEWS_BENCH, .flush_bytes = bench->flush_bytes};
    memcpy(open.clock_reason, bench->clock_reason, sizeof open.clock_reason);
    tell(s, &open);
    for (; s->job < s->results->job_count; s->job++) {
        size_t kernel = 0;
        status = time_job(s, bench, kernels, begin_ns, &kernel, &error);
        /* A kernel that writes outside of its operands may have spoiled anything. */
        if (status == BJ_ERR_FAILED) {
            tell_failure(s, BJ_TIME_NEWS_FAILED, status, &error, kernel);
            break;
        }
        if (status != BJ_OK)
            tell_failure(s, BJ_TIME_NEWS_REFUSED, status, &error, 0);
    }
    bj_timer_close_bench(bench);
}

/* A line that is redrawn, on a terminal only: what is timed, and how long the rest will take. */
static void show_progress(session *s) {
    enum { EVERY_NS = 200000000 };
    const bj_time_results *results = s->results;
    uint64_t now = bj_platform_read_ns();
    if (!s->in_terminal || results->request->quiet || now - s->drawn_ns < EVERY_NS || !bj_cli_await_reader(0))
        return;
    char left[40] = "", context[8];
    s->drawn_ns = now;
    s->line_shown = true;
    if (s->done > 0)
        bj_cli_format_duration((double)(now - s->begin_ns) / 1e9 * (double)(results->job_count - s->done) /
                                   (double)s->done,
                               left, sizeof left);
    bj_timer_name_residency(results->jobs[s->job].context, context, sizeof context);
    fprintf(stderr, "\r%.30s, n = %llu, %s (%zu of %zu)%s%s%s\x1b[K", results->request->kernels[s->kernel].symbol,
            (unsigned long long)results->jobs[s->job].n, context, s->done + 1, results->job_count,
            left[0] != '\0' ? ", about " : "", left, left[0] != '\0' ? " left" : "");
    fflush(stderr);
}

static void take(void *context, const void *bytes, size_t count) {
    session *s = context;
    bj_time_results *results = s->results;
    bj_time_news message;
    if (!bj_cli_read_time_news(bytes, count, results->job_count, results->request->kernel_count, &message)) {
        s->is_spoilt = true;
        return;
    }
    bj_time_job *job = &results->jobs[message.job];
    double call_s = results->request->limit_s;
    s->job = message.job;
    s->kernel = message.kernel;
    s->limit_s = message.kind == BJ_TIME_NEWS_CHECK    ? call_s
                 : message.kind == BJ_TIME_NEWS_SAMPLE ? call_s + PREPARING_SECONDS
                                                       : call_s + RESTING_SECONDS;
    if (message.kind == BJ_TIME_NEWS_BENCH) {
        memcpy(results->clock_reason, message.clock_reason, sizeof results->clock_reason);
        results->flush_bytes = message.flush_bytes;
    } else if (message.kind == BJ_TIME_NEWS_TIMING) {
        job->timings[message.kernel] = message.timing;
        job->is_done[message.kernel] = true;
        s->done = message.job + 1;
    } else if (message.kind == BJ_TIME_NEWS_RATIO) {
        job->ratio = message.ratio;
        job->has_ratio = true;
    } else if (message.kind == BJ_TIME_NEWS_REFUSED) {
        for (size_t k = 0; k < results->request->kernel_count; k++) {
            bj_timer_refuse(&job->timings[k], BJ_ANSWER_UNSUPPORTED, message.error.text);
            job->is_done[k] = true;
        }
        s->done = message.job + 1;
    } else if (message.kind == BJ_TIME_NEWS_FAILED) {
        s->trouble = message;
        s->has_trouble = true;
    }
    show_progress(s);
}

/* What a spoilt child would still find out is of no use. */
static bool is_stopped(void *context) {
    const session *s = context;
    return s->is_spoilt || *s->results->stop != 0;
}

/* How the child's end is told, with the kernel that it was at. */
static bj_status judge_fate(const session *s, const bj_child_fate *fate, bj_error *error) {
    const bj_time_request *request = s->results->request;
    const char *given = request->kernels[s->kernel].given;
    unsigned long long n = s->results->jobs[s->job].n;
    char what[120], name[40];
    if (s->is_spoilt)
        return bj_base_set_error(error, BJ_ERR_FAILED,
                                 "%.80s: the process that called it sent nonsense: it may have written anywhere "
                                 "(n = %llu)",
                                 given, n);
    if (s->has_trouble && s->trouble.status == BJ_ERR_FAILED)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%.80s: %.200s (n = %llu)", given, s->trouble.error.text, n);
    if (s->has_trouble)
        return bj_base_set_error(error, s->trouble.status, "%s", s->trouble.error.text);
    switch (fate->end) {
    case BJ_CHILD_DONE:
        return BJ_OK;
    case BJ_CHILD_STOPPED:
        return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted");
    case BJ_CHILD_SILENT:
        snprintf(what, sizeof what, "did not end within %g s (--limit)", request->limit_s);
        break;
    case BJ_CHILD_EXITED:
        snprintf(what, sizeof what, "exited with status %d", fate->number);
        break;
    case BJ_CHILD_KILLED:
        bj_platform_name_signal(fate->number, name, sizeof name);
        if (fate->has_fault && fate->fault_range >= 0 && (size_t)fate->fault_range / 2 < request->operand_count)
            snprintf(what, sizeof what, "touches memory %s of operand '%s'",
                     fate->fault_range % 2 == 0 ? "before the start" : "past the end",
                     request->operands[fate->fault_range / 2].operand.name);
        else
            snprintf(what, sizeof what, "was ended by %s", name);
        break;
    }
    return bj_base_set_error(error, BJ_ERR_FAILED, "%.80s: %s (n = %llu)", given, what, n);
}

static bj_status list_jobs(bj_time_results *results, bj_error *error) {
    const bj_time_request *request = results->request;
    results->job_count = request->size_count * request->context_count;
    results->jobs = calloc(results->job_count, sizeof *results->jobs);
    if (results->jobs == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu timings", results->job_count);
    for (size_t i = 0; i < results->job_count; i++) {
        results->jobs[i].n = request->sizes[i / request->context_count];
        results->jobs[i].context = request->contexts[i % request->context_count];
    }
    return BJ_OK;
}

bj_status bj_cli_time_in_child(bj_time_results *results, bj_error *error) {
    const char *terminal = getenv("TERM");
    BJ_TRY(list_jobs(results, error));
    session *s = calloc(1, sizeof *s);
    if (s == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the timer");
    s->results = results;
    s->begin_ns = bj_platform_read_ns();
    s->limit_s = RESTING_SECONDS;
    s->in_terminal = isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
    bj_child_task task = {.work = work, .take = take, .is_stopped = is_stopped, .context = s, .limit_s = &s->limit_s};
    bj_child_fate fate;
    bj_status status = bj_platform_run_child(&task, &fate, error);
    if (s->line_shown && bj_cli_await_reader(1000))
        fputs("\r\x1b[K", stderr);
    if (status == BJ_OK)
        status = judge_fate(s, &fate, error);
    if (status == BJ_ERR_FAILED) {
        bj_timer_refuse(&results->jobs[s->job].timings[s->kernel], BJ_ANSWER_FAILED, error->text);
        results->jobs[s->job].is_done[s->kernel] = true;
    }
    free(s);
    return status;
}

void bj_cli_free_time_results(bj_time_results *results) {
    free(results->jobs);
}
