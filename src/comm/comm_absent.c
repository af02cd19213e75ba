/* In place of comm_machine.c where the build found no MPI: simulated machines and files still work. */
#include "comm/comm_machine.h"

bj_status bj_comm_open(int *count, char ***words, const volatile sig_atomic_t *stop, bool *is_first,
                       bj_machine **machine, bj_error *error) {
    (void)count;
    (void)words;
    (void)stop;
    *is_first = true;
    *machine = NULL;
    return bj_base_set_error(error, BJ_ERR_UNSUPPORTED,
                             "this blackjack-comm was built without MPI: only --machine sim:FILE and --merge work; "
                             "build it where mpicc is found");
}

bj_status bj_comm_serve(bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "built without MPI");
}

void bj_comm_abort(int status) {
    (void)status;
}

void bj_comm_leave(void) {
}

int bj_comm_rank(void) {
    return 0;
}

int bj_comm_count_before(void) {
    return 0;
}

const char *bj_comm_host_name(void) {
    return "";
}

const bj_strings *bj_comm_warnings(void) {
    static const bj_strings none;
    return &none;
}

void bj_comm_keep_touch(void) {
}

bj_status bj_comm_meet_after_nodes(bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "built without MPI");
}

const char *bj_comm_trouble(void) {
    return "";
}
