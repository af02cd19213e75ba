/* Signs of life where ranks do work of their own or wait for orders: who is not heard of for BJ_COMM_SILENCE_S is lost,
 * and nobody waits longer. Internal to src/comm. */
#pragma once

#include <mpi.h>
#include <signal.h>
#include <stdbool.h>

/* Rank 0 is at most some seconds at its analyses; the rest is for a system that has stopped for a while. */
#define BJ_COMM_SILENCE_S 60.0

/* False: no memory. */
bool bj_comm_open_touch(MPI_Comm orders, int rank, int count);
void bj_comm_close_touch(void);
/* bj_comm_keep_touch (comm_machine.h): rank 0 tells the others that it is there, one that measures its node tells rank
 * 0, and both read what they are told. */
/* This rank, not rank 0, has measured its node. */
void bj_comm_tell_node_done(void);
/* Of rank 0: a rank whose node is measured and that was silent for too long, or is done. */
typedef enum { BJ_COMM_NODE_BUSY, BJ_COMM_NODE_DONE, BJ_COMM_NODE_SILENT } bj_comm_node_state;
bj_comm_node_state bj_comm_look_at_node(int rank);
/* Of another rank, which waits for orders: nothing was heard of rank 0 for too long. */
bool bj_comm_has_lost_first(void);
/* An order came. */
void bj_comm_note_first(void);
