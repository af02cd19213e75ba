/* A machine of ranks that a launcher of MPI started: rank 0 runs the probe, the others serve. The only room with mpi.h.
 *
 * Every wait has a limit, and ranks that are not measured sleep between looks at their orders. */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "machine/machine.h"
#include "profile/profile.h"

/* Joins the other ranks. *is_first: this is rank 0, and *machine is to be used and closed by it; otherwise *machine is
 * NULL and bj_comm_serve is to be called. `stop` is looked at while waiting: not 0 ends the experiment. */
bj_status bj_comm_open(int *count, char ***words, const volatile sig_atomic_t *stop, bool *is_first,
                       bj_machine **machine, bj_error *error) BJ_WARN_UNUSED;
/* Obeys rank 0 until it says that all is done, or is not heard of for long. */
bj_status bj_comm_serve(bj_error *error) BJ_WARN_UNUSED;
/* Ends all ranks after a failure: does not return. */
void bj_comm_abort(int status);
/* Ends MPI in good order; of rank 0 after closing the machine. */
void bj_comm_leave(void);
int bj_comm_rank(void);
/* This rank among those of its host, from 0: the first one runs the probes of the node. */
int bj_comm_count_before(void);
const char *bj_comm_host_name(void);
/* What the launcher did that spoils a measurement (unbound ranks, more ranks than cpus), by name. */
const bj_strings *bj_comm_warnings(void);
/* To be called several times a second by a rank that measures its node: ranks that give no sign of life are lost. */
void bj_comm_keep_touch(void);
/* By all ranks once the first of each host has measured its node; rank 0 waits for them, or until they are lost. */
bj_status bj_comm_meet_after_nodes(bj_error *error) BJ_WARN_UNUSED;
/* Why the last experiment failed, with the name of the rank; "": none did. */
const char *bj_comm_trouble(void);
