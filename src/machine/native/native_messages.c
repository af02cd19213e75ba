/* One process has nobody to send to: messages are for the machine that a launcher of MPI starts (src/comm/). */
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"

bj_status bj_native_run_messages(bj_machine *machine, const bj_message *messages, size_t count, unsigned repetitions,
                                 double *ns_one_way, bj_error *error) {
    (void)machine;
    (void)messages;
    bj_machine_clear_samples(ns_one_way, count * repetitions);
    return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "one process has no other rank to send to");
}
