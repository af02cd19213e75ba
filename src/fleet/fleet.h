/* A fleet: many profiles of machines that should be alike, and which of them are not.
 *
 * Profiles are handed in one by one; of each only the numbers stay, so that ten thousand fit. Hosts are compared within
 * their kind (processor, number of cpus, how they were measured). How a host is judged is in fleet_judge.c. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "profile/profile.h"
#include "report/compare.h"

#define BJ_FLEET_FORMAT "blackjack-fleet/1"

typedef struct {
    unsigned key; /* index into bj_fleet.keys */
    double value;
    double error; /* of its logarithm, by its own interval; 0: it has none */
    bool high;    /* confidence */
} bj_fleet_value;

typedef struct {
    char *file;
    size_t kind;
    bj_fleet_value *values;
    size_t count;
} bj_fleet_host;

typedef struct {
    char name[64], unit[16];
} bj_fleet_key;

typedef struct {
    char name[200]; /* "AMD EPYC 7543, 64 cpus, effort normal" */
    size_t hosts;
    bool judged; /* enough hosts */
} bj_fleet_kind;

/* One number of one host that is not like the others of its kind. */
typedef struct {
    size_t host, key, kind;
    double value, median, ratio, p;
    size_t of;         /* hosts that the median is of */
    double weight;     /* how much it matters: octaves from the median */
    bool certain;      /* beyond chance over all hosts and keys; otherwise it is only mentioned */
    bool may_count;    /* sure enough to */
    const char *doubt; /* why it does not count; NULL: it may */
} bj_fleet_outlier;

typedef struct {
    bj_fleet_host *hosts;
    size_t count, room;
    bj_fleet_key *keys;
    size_t key_count, key_room;
    unsigned *slots; /* hash of keys: index + 1, 0 is free */
    size_t slot_count;
    bj_fleet_kind *kinds;
    size_t kind_count;
    double freedom, reach; /* of the interval that was taken last */
    /* After bj_fleet_judge(). */
    bj_fleet_outlier *outliers; /* by host, the one that matters most first; certain ones before all others */
    size_t outlier_count, outlier_room, certain_count;
    size_t odd_hosts; /* with a certain one */
    size_t judged;    /* numbers that could count */
    bj_strings notes; /* what was not judged */
} bj_fleet;

/* Takes what is needed of the profile; `file` names it. */
bj_status bj_fleet_add(bj_fleet *fleet, const char *file, const bj_profile *profile, bj_error *error) BJ_WARN_UNUSED;
/* Once, after all are added. find_tolerance may be NULL. */
bj_status bj_fleet_judge(bj_fleet *fleet, bj_find_tolerance find_tolerance, bj_error *error) BJ_WARN_UNUSED;
void bj_fleet_free(bj_fleet *fleet);

/* A profile's file name without its ending, and safe for a terminal. */
void bj_fleet_name_host(const char *file, char *name, size_t room);
/* For a person; write errors are the caller's to find on `out`. */
void bj_fleet_print(FILE *out, const bj_fleet *fleet);
/* blackjack-fleet/1; *text is the caller's to free. */
bj_status bj_fleet_to_json(const bj_fleet *fleet, char **text, bj_error *error) BJ_WARN_UNUSED;
