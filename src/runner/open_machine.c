#include "runner/open_machine.h"

#include <string.h>

bj_status bj_runner_open_machine(const char *name, uint64_t seed, bj_machine **machine, bj_error *error) {
    bj_status status;
    if (name == NULL || strcmp(name, "native") == 0)
        status = bj_machine_open_native(seed, machine, error);
    else if (strncmp(name, "sim:", 4) == 0 && name[4] != '\0')
        status = bj_machine_open_simulated(name + 4, seed, machine, error);
    else
        return bj_base_set_error(error, BJ_ERR_USAGE, "machine: expected native or sim:FILE, found '%.60s'", name);
    if (status == BJ_OK && (*machine)->facts.cpu_count == 0) {
        (*machine)->verbs->close(*machine);
        *machine = NULL;
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "there is no cpu that we may use");
    }
    return status;
}
