#include "runner/former.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bj_build.h"
#include "platform/environment.h"
#include "platform/pages.h"

/* What tells machines apart, of a profile or of where we are. */
typedef struct {
    const char *cpu, *os;
    uint64_t page_bytes;
    const int *cpus; /* NULL: not to be compared */
    size_t cpu_count;
} host;

static host host_of(const bj_profile *profile) {
    return (host){
        .cpu = profile->environment.cpu, .os = profile->environment.os, .page_bytes = profile->environment.page_bytes};
}

static bool differ_in_text(const char *a, const char *b) {
    return a[0] != '\0' && b[0] != '\0' && strcmp(a, b) != 0;
}

static bool has_cpu(const host *host, int cpu) {
    for (size_t i = 0; i < host->cpu_count; i++)
        if (host->cpus[i] == cpu)
            return true;
    return false;
}

static bool differ_in_cpus(const host *a, const host *b) {
    if (a->cpus == NULL || b->cpus == NULL || a->cpu_count == 0 || b->cpu_count == 0)
        return false;
    for (size_t i = 0; i < a->cpu_count; i++)
        if (!has_cpu(b, a->cpus[i]))
            return true;
    return a->cpu_count != b->cpu_count;
}

/* Says in `what` how they differ; false: they do not. */
static bool find_difference(const host *then, const host *now, char *what, size_t room) {
    if (differ_in_text(then->cpu, now->cpu))
        snprintf(what, room, "the processor was '%.60s', is '%.60s'", then->cpu, now->cpu);
    else if (differ_in_text(then->os, now->os))
        snprintf(what, room, "the system was '%.60s', is '%.60s'", then->os, now->os);
    else if (then->page_bytes > 0 && now->page_bytes > 0 && then->page_bytes != now->page_bytes)
        snprintf(what, room, "pages were %" PRIu64 " bytes, are %" PRIu64, then->page_bytes, now->page_bytes);
    else if (differ_in_cpus(then, now))
        snprintf(what, room, "other cpus: %zu then, %zu now, or other numbers", then->cpu_count, now->cpu_count);
    else
        return false;
    bj_base_hide_controls(what);
    return true;
}

bj_status bj_runner_check_former(const bj_machine *machine, const bj_profile *former, bool same_cpus, const char *path,
                                 bj_error *error) {
    const bj_machine_facts *facts = &machine->facts;
    bj_environment system;
    char what[200];
    host then = host_of(former), now = {.cpu = facts->name != NULL ? facts->name : "", .os = ""};
    if (!facts->simulated) {
        bj_platform_read_environment("", &system);
        now = (host){.cpu = system.cpu, .os = system.os, .page_bytes = bj_platform_page_bytes()};
    }
    if (same_cpus) {
        then.cpus = former->environment.cpus_allowed;
        then.cpu_count = former->environment.cpus_allowed_count;
        now.cpus = facts->cpus;
        now.cpu_count = facts->cpu_count;
    }
    if (!find_difference(&then, &now, what, sizeof what))
        return BJ_OK;
    return bj_base_set_error(error, BJ_ERR_USAGE, "%.120s: is of another machine, cannot go on with it: %s", path,
                             what);
}

bj_status bj_runner_check_same_host(const bj_profile *profile, const bj_profile *other, const char *path_of_other,
                                    bj_error *error) {
    host first = host_of(profile), second = host_of(other);
    char what[200];
    if (!find_difference(&first, &second, what, sizeof what))
        return BJ_OK;
    return bj_base_set_error(error, BJ_ERR_INPUT, "%.120s: is of another machine than the first: %s", path_of_other,
                             what);
}

bj_status bj_runner_warn_of_versions(bj_profile *profile, bj_error *error) {
    char text[300];
    size_t used = 0;
    for (size_t i = 0; i < profile->probe_count; i++) {
        const bj_probe_record *record = &profile->probes[i];
        if (record->version[0] == '\0' || strcmp(record->version, BJ_VERSION) == 0 || used + 80 > sizeof text)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s by %.31s",
                                 used > 0 ? ", " : "measured: ", record->name, record->version);
    }
    if (used == 0)
        return BJ_OK;
    snprintf(text + used, sizeof text - used, "; this is version %s", BJ_VERSION);
    return bj_strings_add_once(&profile->environment.warnings, text, error);
}
