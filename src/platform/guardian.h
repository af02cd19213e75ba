/* A process that outlives us for a moment: when we end without tidying up, also by SIGKILL, it ends the programs that
 * we started and removes our temporary folder. One folder at a time has one. */
#pragma once

#include <sys/types.h>

/* Without it, only what we live to see is tidied up: no reason to fail. */
void bj_platform_post_guardian(const char *folder);
/* Called by src/platform/process.c: the process group runs, or is over. */
void bj_platform_tell_guardian(pid_t group, int runs);
/* The folder is removed. */
void bj_platform_dismiss_guardian(void);
