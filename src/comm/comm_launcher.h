/* What is asked of the launcher when a rank is lost. */
#pragma once

/* Has the launcher end all ranks, where it can be asked without MPI. */
void bj_comm_end_job(int exit_status);
/* Returns when the launcher has read what was written on standard error, or after a while: some drop what they have not
 * read once they end the job. */
void bj_comm_let_launcher_read(void);
/* Before the end of a job with a host that is lost: Open MPI's launcher waits for its daemon there without a limit. So
 * a process of its own stays behind, and where the launcher, if it is above us on this host, is still there after some
 * seconds, it is interrupted twice, as one would by hand. */
void bj_comm_press_launcher(void);
