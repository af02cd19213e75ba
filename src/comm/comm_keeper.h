/* Each rank has a keeper: the process that the launcher started stays behind as the parent of the one that talks MPI.
 *
 * A launcher ends all of a job when one of its processes dies, with a status of its own and, with some, without a word.
 * Here the process that may be killed is not the launcher's child: the keeper lives on, says which rank is lost, and
 * leaves rank 0 the time to find out, to write what was done and to end all with exit status 1. Environment, binding
 * and open files are inherited, so MPI starts in the child as it would have in the parent; a launcher that follows the
 * end of a file sees it open as long as the keeper lives. */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Forks. True in the child, which goes on as the rank; false in the keeper after the child's end, with the status to
 * exit with. Without a process to be had, or where `stop` is raised already, the caller is the rank itself: true. The
 * keeper's words are blanked, so that lists of processes tell it from the rank. */
bool bj_comm_keep(int count, char **words, const volatile sig_atomic_t *stop, int *exit_status);
/* In the child: MPI is there, and this is our rank. Until then the keeper waits for a limited time. */
void bj_comm_tell_started(int rank);
/* In the child: all is done but the end of MPI, which may hang. The keeper exits with this status whatever becomes of
 * us. */
void bj_comm_tell_done(int exit_status);
