/* Measuring in the caller's process. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"
#include "machine/machine.h"
#include "probes/probe.h"
#include "runner/header.h"
#include "runner/open_machine.h"
#include "runner/runner.h"

const char *bj_lib_probe_name(size_t index) {
    return index < bj_probe_count ? bj_probes[index]->name : NULL;
}

const char *bj_lib_probe_question(size_t index) {
    return index < bj_probe_count ? bj_probes[index]->question : NULL;
}

static bool report(void *context, const bj_progress *progress) {
    const bj_lib_run_options *options = context;
    bj_lib_progress news = {
        .probe = progress->probe,
        .index = progress->index,
        .count = progress->count,
        .fraction = progress->fraction,
        .elapsed_s = progress->elapsed_s,
        .remaining_s = progress->remaining_s,
        .probe_done = progress->probe_done,
    };
    return options->report(options->context, &news);
}

/* The struct of an older caller ends where one of our fields begins. That of a newer caller is longer, and what we do
 * not know of it must be zero, the default. */
static bool is_size_known(const bj_lib_run_options *given) {
    static const size_t ends[] = {
        offsetof(bj_lib_run_options, probes),   offsetof(bj_lib_run_options, probe_count),
        offsetof(bj_lib_run_options, effort),   offsetof(bj_lib_run_options, machine),
        offsetof(bj_lib_run_options, budget_s), offsetof(bj_lib_run_options, seed),
        offsetof(bj_lib_run_options, report),   offsetof(bj_lib_run_options, context),
    };
    size_t size = given->struct_size;
    if (size > 4096)
        return false;
    for (size_t i = sizeof *given; i < size; i++)
        if (((const unsigned char *)given)[i] != 0)
            return false;
    bool known = size >= sizeof *given;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        known = known || size == ends[i];
    return known;
}

/* Fields that a caller of an older version does not know stay zero, which is their default. */
static bj_lib_result read_options(const bj_lib_run_options *given, bj_lib_run_options *options, bj_lib_error *error) {
    memset(options, 0, sizeof *options);
    if (given != NULL) {
        if (!is_size_known(given))
            return bj_inside_fail(error, BJ_LIB_ERR_USAGE,
                                  "struct_size must be sizeof(bj_lib_run_options), and what this version does not "
                                  "know must be zero");
        memcpy(options, given, given->struct_size < sizeof *options ? given->struct_size : sizeof *options);
    }
    if (options->probe_count > 0 && options->probes == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "probe_count without probes");
    for (size_t i = 0; i < options->probe_count; i++)
        if (options->probes[i] == NULL)
            return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "the name of probe %zu is missing", i);
    if (!(options->budget_s >= 0)) /* also when it is not a number */
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "budget_s must be 0 (no limit) or more");
    return BJ_LIB_OK;
}

static bj_status make_plan(bj_lib_run_options *options, bj_run_plan *plan, bj_error *error) {
    *plan = (bj_run_plan){
        .probes = options->probes,
        .probe_count = options->probe_count,
        .effort = BJ_EFFORT_NORMAL,
        .budget_s = options->budget_s > 0 ? options->budget_s : INFINITY,
        .seed = options->seed != 0 ? options->seed : 1,
        .report = options->report != NULL ? report : NULL,
        .context = options,
    };
    if (plan->seed > BJ_SEED_MOST)
        return bj_base_set_error(error, BJ_ERR_USAGE, "the seed must be below 2^53");
    if (options->effort != NULL && !bj_runner_parse_effort(options->effort, &plan->effort))
        return bj_base_set_error(error, BJ_ERR_USAGE, "effort: expected quick, normal or thorough, found '%.40s'",
                                 options->effort);
    plan->late_rounds = bj_runner_count_late_rounds(plan->effort);
    return BJ_OK;
}

bj_lib_result bj_lib_run_probes(const bj_lib_run_options *given, bj_lib_profile **profile, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    bj_lib_run_options options;
    bj_run_plan plan;
    bj_machine *machine = NULL;
    bj_error trouble = {""};
    bj_profile whole;
    if (profile == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "no place for the profile");
    *profile = NULL;
    if (!bj_inside_has_stack(BJ_INSIDE_STACK_BYTES))
        return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "the stack of this thread is too small to measure in");
    bj_lib_result result = read_options(given, &options, error);
    if (result != BJ_LIB_OK)
        return result;
    bj_profile_init(&whole);
    bj_status status = make_plan(&options, &plan, &trouble);
    if (status == BJ_OK)
        status = bj_runner_open_machine(options.machine, plan.seed, &machine, &trouble);
    if (status == BJ_OK) {
        plan.cpu = machine->facts.cpus[0];
        status = bj_runner_fill_header(machine, &plan, &whole, &trouble);
        if (status == BJ_OK)
            status = bj_runner_run(machine, &plan, &whole, &trouble);
        machine->verbs->close(machine);
    }
    if (status != BJ_OK && status != BJ_ERR_INTERRUPTED) {
        bj_profile_free(&whole);
        return bj_inside_translate(status, &trouble, error);
    }
    result = bj_inside_wrap_profile(&whole, "", NULL, 0, profile, error);
    return result == BJ_LIB_OK ? bj_inside_translate(status, &trouble, error) : result;
}
