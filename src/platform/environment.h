/* What kind of system this is and what on it would spoil a measurement. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct {
    char os[128];        /* "Linux 6.1.0 x86_64" */
    char cpu[128];       /* model name */
    char huge_pages[32]; /* always, madvise, never; "none" where the system has none */
    uint64_t memory_bytes;
    int virtualised;   /* 1, 0, -1 unknown */
    double load;       /* one-minute load average; NaN unknown */
    char governor[32]; /* of the first cpu; "" unknown */
    int login_users;   /* logged-in sessions other than ours; -1 unknown */
    char emulator[64]; /* name of the program that runs ours, as qemu-user does; "" when none is seen */
} bj_environment;

/* Reads /proc and /sys below `root` ("" in production). Never fails: what cannot be read stays unknown. Texts are
 * plain ASCII. Not from two threads at once: the list of sessions is read through the C library's one cursor. */
void bj_platform_read_environment(const char *root, bj_environment *environment);

/* Jiffies of these cpus (of none: of all) in all states, and of them stolen by the hypervisor; both 0 when unknown. */
void bj_platform_read_steal(const char *root, const int *cpus, size_t cpu_count, uint64_t *total, uint64_t *stolen);
