#include "comm/comm_nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "cli/values.h"
#include "comm/comm_machine.h"
#include "platform/child.h"
#include "platform/cpu.h"
#include "runner/former.h"
#include "runner/header.h"
#include "runner/open_machine.h"

/* Of one probe at thorough effort on a large node: whoever says nothing for longer has stopped. */
static const double SILENCE_S = 3600;

typedef struct {
    const bj_comm_node_request *request;
    char path[600];
    bj_output *output;
    bj_cli_progress progress;
    int parent; /* in the child */
    bj_status status;
    bj_error trouble;
} node;

/* What the child sends: first how it went, at the end; before that, a byte a piece of news. */
typedef struct {
    bj_status status;
    bj_error error;
} verdict;

static bool report(void *context, const bj_progress *news) {
    node *node = context;
    (void)bj_platform_tell_parent(node->parent, "", 1);
    return bj_cli_report_progress(&node->progress, news);
}

/* The launcher binds ranks to talk; the node has all cpus that it gives us. Where that is not allowed it stays bound.
 */
static void loosen_binding(void) {
    enum { CPUS_MOST = 1024 };
    int cpus[CPUS_MOST];
    bj_error ignored;
    for (int i = 0; i < CPUS_MOST; i++)
        cpus[i] = i;
    if (bj_platform_confine_thread(cpus, CPUS_MOST, &ignored) != BJ_OK)
        return;
}

static bj_status run_probes(node *node, bj_machine *machine, bj_profile *profile, bj_error *error) {
    bj_run_plan plan = *node->request->plan;
    plan.probes = NULL;
    plan.probe_count = 0;
    plan.output = node->output;
    plan.cpu = machine->facts.cpus[0];
    plan.late_rounds = bj_runner_count_late_rounds(plan.effort);
    plan.report = report;
    plan.context = node;
    if (node->request->resume && access(node->path, F_OK) == 0) {
        BJ_TRY(bj_profile_read(node->path, profile, error));
        plan.keep_done = true;
        plan.cpu = profile->run.cpu_measured;
        plan.seed = profile->run.seed;
        if (strcmp(profile->run.machine, machine->facts.where) != 0)
            return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: is of machine '%.60s'", node->path,
                                     profile->run.machine);
        BJ_TRY(bj_runner_check_former(machine, profile, false, node->path, error));
    }
    BJ_TRY(bj_runner_fill_header(machine, &plan, profile, error));
    bj_cli_start_progress(&node->progress, !node->request->tells, bj_cli_stop_flag());
    bj_status status = bj_runner_run(machine, &plan, profile, error);
    bj_cli_end_progress(&node->progress);
    return status;
}

static void work(void *context, int parent) {
    node *node = context;
    verdict verdict = {.status = BJ_OK};
    bj_machine *machine = NULL;
    bj_profile profile;
    node->parent = parent;
    bj_profile_init(&profile);
    loosen_binding();
    verdict.status = bj_runner_open_machine("native", node->request->plan->seed, &machine, &verdict.error);
    if (verdict.status == BJ_OK)
        verdict.status = run_probes(node, machine, &profile, &verdict.error);
    if (machine != NULL)
        machine->verbs->close(machine);
    bj_profile_free(&profile);
    (void)bj_platform_tell_parent(parent, &verdict, sizeof verdict);
}

static bool keep_touch(void *context) {
    (void)context;
    bj_comm_keep_touch();
    return bj_cli_is_stopped(NULL);
}

static void take(void *context, const void *message, size_t bytes) {
    node *node = context;
    verdict verdict;
    (void)keep_touch(context);
    if (bytes != sizeof verdict)
        return;
    memcpy(&verdict, message, sizeof verdict);
    node->status = verdict.status;
    node->trouble = verdict.error;
}

static bj_status judge(const node *node, const bj_child_fate *fate, bj_error *error) {
    char name[64];
    switch (fate->end) {
    case BJ_CHILD_DONE:
        return node->status == BJ_OK ? BJ_OK : bj_base_set_error(error, node->status, "%s", node->trouble.text);
    case BJ_CHILD_KILLED:
        bj_platform_name_signal(fate->number, name, sizeof name);
        return bj_base_set_error(error, BJ_ERR_FAILED, "measuring was ended by %s", name);
    case BJ_CHILD_SILENT:
        return bj_base_set_error(error, BJ_ERR_FAILED, "measuring was silent for %.0f s and was ended", SILENCE_S);
    case BJ_CHILD_STOPPED:
        return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "stopped");
    default:
        return bj_base_set_error(error, BJ_ERR_FAILED, "measuring ended with status %d", fate->number);
    }
}

bj_status bj_comm_measure_node(const bj_comm_node_request *request, const char *host, bj_error *error) {
    node node = {.request = request, .status = BJ_ERR_FAILED};
    bj_child_fate fate;
    if (mkdir(request->folder, 0777) != 0 && errno != EEXIST)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%.200s: %s", request->folder, strerror(errno));
    snprintf(node.path, sizeof node.path, "%.400s/%.100s.json", request->folder, host);
    BJ_TRY(bj_cli_open_journal(node.path, request->force || request->resume,
                               "--force replaces it, --resume goes on with it", &node.output, error));
    bj_child_task task = {
        .work = work, .take = take, .is_stopped = keep_touch, .context = &node, .limit_s = &SILENCE_S};
    bj_status status = bj_platform_run_child(&task, &fate, error);
    if (status == BJ_OK)
        status = judge(&node, &fate, error);
    bj_base_close_output(node.output);
    if (status != BJ_OK && access(node.path, F_OK) == 0 && strlen(error->text) + 40 < sizeof error->text)
        strcat(error->text, "; its profile holds what was done");
    return status;
}
