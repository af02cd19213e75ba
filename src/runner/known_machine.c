#include "runner/known_machine.h"

#include <math.h>
#include <stdlib.h>

#include "profile/places.h"
#include "runner/open_machine.h"

static bj_status measure(bool (*report)(void *, const bj_progress *), void *context, bj_profile *profile,
                         bj_error *error) {
    static const char *const probes[] = {"cache", "line"};
    bj_machine *machine = NULL;
    BJ_TRY(bj_runner_open_machine(NULL, 1, &machine, error));
    bj_run_plan plan = {.probes = probes,
                        .probe_count = sizeof probes / sizeof probes[0],
                        .effort = BJ_EFFORT_QUICK,
                        .budget_s = INFINITY,
                        .seed = 1,
                        .cpu = machine->facts.cpus[0],
                        .report = report,
                        .context = context};
    bj_status status = bj_runner_run(machine, &plan, profile, error);
    machine->verbs->close(machine);
    return status;
}

bj_status bj_runner_know_machine(const char *path, void (*announce)(void), bool (*report)(void *, const bj_progress *),
                                 void *context, bj_profile *profile, bool *measured, bj_error *error) {
    char *found = NULL;
    *measured = false;
    if (path != NULL || bj_profile_find_default(&found, error) == BJ_OK) {
        bj_status status = bj_profile_read(path != NULL ? path : found, profile, error);
        free(found);
        return status;
    }
    *measured = true;
    if (announce != NULL)
        announce();
    return measure(report, context, profile, error);
}
