#include "cli/tolerance.h"

#include "runner/keys.h"

bj_tolerance bj_cli_find_tolerance(const char *key) {
    for (size_t i = 0; i < bj_probe_count; i++) {
        const bj_probe_key *described = bj_runner_find_key(bj_probes[i], key);
        if (described != NULL)
            return (bj_tolerance){described->tolerance, described->tolerance_least, bj_probes[i]->compares_cpus};
    }
    return (bj_tolerance){0};
}
