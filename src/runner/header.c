#include "runner/header.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bj_build.h"
#include "data/number.h"
#include "platform/clock.h"
#include "platform/environment.h"
#include "platform/limits.h"
#include "platform/pages.h"
#include "runner/former.h"

/* Above this many cpus a machine with other people on it is taken for a shared one. */
enum { MANY_CPUS = 16 };

static const char *const effort_names[BJ_EFFORT_COUNT] = {"quick", "normal", "thorough"};

const char *bj_runner_effort_name(bj_effort effort) {
    return effort < BJ_EFFORT_COUNT ? effort_names[effort] : NULL;
}

unsigned bj_runner_count_late_rounds(bj_effort effort) {
    return effort == BJ_EFFORT_QUICK ? 0 : BJ_LATE_ROUNDS;
}

bool bj_runner_parse_effort(const char *name, bj_effort *effort) {
    for (int i = 0; i < BJ_EFFORT_COUNT; i++)
        if (strcmp(name, effort_names[i]) == 0) {
            *effort = (bj_effort)i;
            return true;
        }
    return false;
}

static bj_status warn(bj_profile *profile, bj_error *error, const char *format, ...) BJ_PRINTF(3, 4);
static bj_status warn(bj_profile *profile, bj_error *error, const char *format, ...) {
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* A run that goes on keeps the warnings of the part before, and says each but once. */
    return bj_strings_add_once(&profile->environment.warnings, text, error);
}

static bj_status warn_of_load(const bj_environment *system, size_t cpus, bj_profile *profile, bj_error *error) {
    bool loaded = system->load > 0.5 * (double)cpus;
    bj_status status = BJ_OK;
    if (loaded)
        status = warn(profile, error, "the machine is busy: load %.1f on %zu cpus; wait until it is quiet",
                      system->load, cpus);
    bool shared = system->login_users > 1 || (cpus >= MANY_CPUS && system->load > 1.5);
    if (status == BJ_OK && shared)
        status = warn(profile, error,
                      "this may be a shared login node (other sessions: %d, load %.1f): measure where the programs "
                      "will run",
                      system->login_users > 0 ? system->login_users : 0, fmax(system->load, 0));
    return status;
}

static bj_status warn_of_disturbance(const bj_environment *system, size_t cpus, bj_profile *profile, bj_error *error) {
    bj_status status = warn_of_load(system, cpus, profile, error);
    if (status == BJ_OK && system->emulator[0] != '\0')
        status = warn(profile, error, "%s runs this program: what is timed is that emulator, not a processor",
                      system->emulator);
    if (status == BJ_OK && strcmp(system->governor, "powersave") == 0)
        status = warn(profile, error, "the frequency governor is powersave: the clock may be low or wander");
    if (status == BJ_OK && !isnan(profile->run.cpu_quota))
        status = warn(profile, error, "a quota of %.2f cpus may stop us in the middle of a measurement",
                      profile->run.cpu_quota);
    if (status == BJ_OK && cpus == 1)
        status = warn(profile, error, "only one cpu may be used: whatever else runs there disturbs us");
    return status;
}

static void copy_text(char *field, size_t room, const char *text) {
    snprintf(field, room, "%s", text);
}
#define COPY_TEXT(field, text) copy_text(field, sizeof(field), text)

static const char simulated_date[] = "1970-01-01T00:00:00Z";

void bj_runner_date_record(const bj_machine *machine, bj_probe_record *record) {
    COPY_TEXT(record->version, BJ_VERSION);
    if (machine->facts.simulated)
        COPY_TEXT(record->measured, simulated_date);
    else
        bj_platform_format_utc(record->measured);
}

static bj_status fill_native(const bj_machine *machine, bj_profile *profile, bj_error *error) {
    bj_environment system;
    bj_platform_read_environment("", &system);
    bj_platform_format_utc(profile->created);
    profile->run.cpu_quota = bj_data_round_number(bj_platform_cpu_quota(""), BJ_ANSWER_DIGITS);
    COPY_TEXT(profile->environment.os, system.os);
    COPY_TEXT(profile->environment.cpu, system.cpu);
    COPY_TEXT(profile->environment.huge_pages, system.huge_pages);
    profile->environment.memory_bytes = system.memory_bytes;
    profile->environment.page_bytes = bj_platform_page_bytes();
    profile->environment.virtualised = system.virtualised;
    COPY_TEXT(profile->environment.emulator, system.emulator);
    profile->environment.load_before = system.load;
    /* A launcher binds ranks on purpose: then it is the host that may be busy. */
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    bool is_rank = machine->facts.rank_count > 0 && online > 0;
    return warn_of_disturbance(&system, is_rank ? (size_t)online : machine->facts.cpu_count, profile, error);
}

static void fill_simulated(const bj_machine *machine, bj_profile *profile) {
    COPY_TEXT(profile->created, simulated_date);
    profile->run.cpu_quota = NAN;
    profile->run.steal = 0;
    COPY_TEXT(profile->environment.os, "simulated");
    COPY_TEXT(profile->environment.cpu, machine->facts.name);
    COPY_TEXT(profile->environment.huge_pages, machine->facts.huge_bytes > 0 ? "madvise" : "none");
    profile->environment.memory_bytes = machine->facts.memory_limit_bytes;
    profile->environment.virtualised = 0;
    profile->environment.load_before = 0;
}

bj_status bj_runner_fill_header(const bj_machine *machine, const bj_run_plan *plan, bj_profile *profile,
                                bj_error *error) {
    const bj_machine_facts *facts = &machine->facts;
    if (!plan->keep_done)
        bj_strings_free(&profile->environment.warnings);
    BJ_TRY(bj_runner_warn_of_versions(profile, error));
    COPY_TEXT(profile->tool.version, BJ_VERSION);
    COPY_TEXT(profile->tool.compiler, BJ_COMPILER);
    COPY_TEXT(profile->tool.flags, BJ_FLAGS);
    profile->run.seed = plan->seed;
    COPY_TEXT(profile->run.effort, bj_runner_effort_name(plan->effort));
    COPY_TEXT(profile->run.method, plan->method != NULL ? plan->method : "");
    profile->run.cpu_measured = plan->cpu;
    profile->run.repeat = plan->repeats;
    profile->run.memory_limit_bytes = facts->memory_limit_bytes;
    COPY_TEXT(profile->run.machine, facts->where);
    int *cpus = malloc((facts->cpu_count + 1) * sizeof *cpus);
    if (cpus == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", facts->cpu_count);
    memcpy(cpus, facts->cpus, facts->cpu_count * sizeof *cpus);
    free(profile->environment.cpus_allowed);
    profile->environment.cpus_allowed = cpus;
    profile->environment.cpus_allowed_count = facts->cpu_count;
    if (!facts->simulated)
        return fill_native(machine, profile, error);
    fill_simulated(machine, profile);
    return BJ_OK;
}
