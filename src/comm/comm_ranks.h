/* What each rank tells of itself, and what follows of how the launcher placed them. No MPI. */
#pragma once

#include <stdint.h>

#include "machine/machine.h"
#include "profile/profile.h"

enum { BJ_COMM_NAME_ROOM = 64, BJ_COMM_CPUS_MOST = 1024 };

/* Sent as it is: all ranks are the same program. */
typedef struct {
    char host[BJ_COMM_NAME_ROOM];
    long pid;
    uint64_t pid_space;                    /* of which the pid is a number, as its host tells it; 0: not known */
    int cpu;                               /* the one that it is bound to; -1: several */
    uint64_t cpus[BJ_COMM_CPUS_MOST / 64]; /* that it may use, by bit */
} bj_comm_introduction;

void bj_comm_introduce(bj_comm_introduction *mine);
/* Whether the pid of the one means the same process to the other: containers of one host name count on their own. */
bool bj_comm_share_pids(const bj_comm_introduction *a, const bj_comm_introduction *b);
/* Hosts are numbered as they come. facts has room for `count`; the names stay the introductions'. */
void bj_comm_number_hosts(const bj_comm_introduction *ranks, size_t count, bj_rank *facts);
/* What spoils a measurement, by name: ranks that are not bound, hosts with more ranks than cpus, ranks that are bound
 * to the same cpu. `facts` are the same ranks with their hosts numbered. */
bj_status bj_comm_warn_of_placement(const bj_comm_introduction *ranks, const bj_rank *facts, size_t count,
                                    bj_strings *warnings, bj_error *error) BJ_WARN_UNUSED;
/* Ranks that each think to be alone were started by a launcher of another MPI, or by one that does not speak to ours.
 */
bj_status bj_comm_check_count(int count, bj_error *error) BJ_WARN_UNUSED;
