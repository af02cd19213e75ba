/* Load files: whatever is accepted runs on a machine, alone and beside its like, in a finite time. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "machine/sim/sim_machine.h"

static const char machine_text[] =
    "{\"name\": \"x\", \"cpus\": 4, \"caches\": [{\"size\": 4096, \"ways\": 8, \"latency\": 4}, {\"size\": 65536, "
    "\"ways\": 16, \"latency\": 20, \"shared_by\": 4, \"policy\": \"exclusive\"}], \"memory\": {\"cpu_gbs\": 10, "
    "\"domains\": [{\"shared_by\": 4, \"gbs\": 20}]}, \"dram\": {\"open_rows\": 8, \"row_bytes\": 8192, "
    "\"conflict_ns\": 32, \"banks\": 10}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bj_sim_load load;
    bj_sim_spec *spec = NULL;
    bj_machine *machine = NULL;
    bj_error error = {""};
    bj_status status = bj_sim_parse_load("input", (const char *)data, size, &load, &error);
    if (status != BJ_OK) {
        require_refusal(status, &error);
        return 0;
    }
    require(bj_sim_parse_spec("machine", machine_text, strlen(machine_text), &spec, &error) == BJ_OK, "a machine");
    require(bj_sim_open_machine(spec, 1, &machine, &error) == BJ_OK, "a machine opens");
    bj_sim_machine *self = machine->self;
    self->load = load;
    self->has_load = true;
    for (size_t count = 1; count <= 4; count++) {
        double seconds[4];
        bj_copy copies[4];
        const bj_trial trial = {.copies = copies, .copy_count = count};
        for (size_t i = 0; i < count; i++)
            copies[i] = (bj_copy){&machine->facts.cpus[i], 1};
        status = machine->verbs->run_trial(machine, &trial, seconds, NULL, NULL, &error);
        require(status == BJ_OK, "an accepted load runs");
        for (size_t i = 0; i < count; i++)
            require(isfinite(seconds[i]) && seconds[i] > 0, "times are finite and positive");
    }
    machine->verbs->close(machine);
    return 0;
}
