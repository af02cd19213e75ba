#include "cli/diagnose_machine.h"

#include <math.h>
#include <stdlib.h>

#include "cli/progress.h"
#include "cli/stop.h"
#include "profile/cpu_values.h"
#include "profile/places.h"
#include "runner/former.h"
#include "runner/runner.h"

/* Who shares what, quickly: where no profile tells. */
static bj_status measure_profile(bj_machine *machine, bj_cli_diagnosis *d, bj_profile *profile, bj_error *error) {
    static const char *const probes[] = {"sharing"};
    bj_cli_progress progress;
    bj_run_plan plan = {.probes = probes,
                        .probe_count = 1,
                        .effort = BJ_EFFORT_QUICK,
                        .budget_s = INFINITY,
                        .seed = d->seed,
                        .cpu = machine->facts.cpus[0],
                        .report = bj_cli_report_progress,
                        .context = &progress};
    if (!d->quiet)
        bj_cli_complain("no profile of this machine is at hand: measuring its caches and who shares them first "
                        "('blackjack run --save' does it once)");
    d->measured_profile = true;
    bj_cli_start_progress(&progress, d->quiet, bj_cli_stop_flag());
    bj_status status = bj_runner_run(machine, &plan, profile, error);
    bj_cli_end_progress(&progress);
    return status;
}

/* Of another machine, it would have the antagonists fill the wrong cache on the wrong cpus. */
static bj_status read_profile(const bj_machine *machine, const char *path, bj_profile *profile, bool *is_other,
                              bj_error *error) {
    BJ_TRY(bj_profile_read_answers(path, profile, error));
    bj_status status = bj_runner_check_former(machine, profile, false, path, error);
    *is_other = status != BJ_OK;
    return status;
}

static bj_status find_profile(const bj_cli_arguments *arguments, bj_machine *machine, bj_cli_diagnosis *d,
                              bj_profile *profile, bj_error *error) {
    const char *path = bj_cli_find_value(arguments, "profile");
    char *used = NULL;
    bool is_other = false;
    if (path != NULL)
        return read_profile(machine, path, profile, &is_other, error);
    if (!machine->facts.simulated && bj_profile_find_default(&used, NULL) == BJ_OK) {
        bj_status status = read_profile(machine, used, profile, &is_other, error);
        if (status == BJ_OK && !d->quiet)
            bj_cli_complain("what the machine is like: %s", used);
        free(used);
        if (!is_other)
            return status;
        if (!d->quiet)
            bj_cli_complain("warning: %s", error->text);
        bj_profile_free(profile);
        bj_profile_init(profile);
    }
    return measure_profile(machine, d, profile, error);
}

/* From `memory.streams`: the entry with most cpus. */
static void read_streams(const bj_answers *answers, bj_cli_diagnosis *d) {
    const bj_answer *answer = bj_data_find_answer(answers, "memory.streams");
    bj_stream_table table;
    d->useful_streams = d->streams_cpus = NAN;
    if (answer == NULL || !bj_data_has_value(answer) || answer->structured == NULL ||
        bj_profile_read_streams(answer->key, answer->structured, &table, NULL) != BJ_OK)
        return;
    for (size_t i = 0; i < table.count; i++)
        if (table.items[i].useful > 0 && !(table.items[i].cpus <= d->streams_cpus)) {
            d->streams_cpus = table.items[i].cpus;
            d->useful_streams = table.items[i].useful;
        }
    bj_profile_free_streams(&table);
}

bj_status bj_cli_know_chip(const bj_cli_arguments *arguments, bj_machine *machine, const int *cpus, size_t cpu_count,
                           bj_cli_diagnosis *d, bj_error *error) {
    bj_profile profile;
    bj_profile_init(&profile);
    bj_status status = find_profile(arguments, machine, d, &profile, error);
    if (status == BJ_OK)
        status = bj_diagnose_find_chip(&profile.answers, cpus, cpu_count, &d->chip, error);
    if (status == BJ_OK)
        bj_diagnose_find_peaks(&profile.answers, machine->facts.cpu_count, &d->peaks);
    read_streams(&profile.answers, d);
    bj_profile_free(&profile);
    return status;
}
