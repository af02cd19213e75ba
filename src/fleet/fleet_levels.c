/* Which level of a host is which of the others. A level that one measurement saw and the rest did not would otherwise
 * shift the names of all after it, and half of the host's numbers would look wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_parts.h"
#include "report/compare_levels.h"

static double find_value(const bj_fleet *fleet, const bj_fleet_host *host, const char *name) {
    for (size_t i = 0; i < host->count; i++)
        if (strcmp(fleet->keys[host->values[i].key].name, name) == 0)
            return host->values[i].value;
    return NAN;
}

/* The host's answers about levels of the family, as the matching wants them. */
static bj_status list_levels(const bj_fleet *fleet, const bj_fleet_host *host, const bj_level_family *family,
                             bj_answers *answers, bj_error *error) {
    for (size_t i = 0; i < host->count; i++) {
        const bj_fleet_key *key = &fleet->keys[host->values[i].key];
        if (strncmp(key->name, family->prefix, strlen(family->prefix)) != 0 &&
            strcmp(key->name, family->count_key) != 0)
            continue;
        bj_answer *answer;
        BJ_TRY(bj_data_put_answer(answers, key->name, key->unit, &answer, error));
        answer->status = BJ_ANSWER_OK;
        answer->value = host->values[i].value;
    }
    return BJ_OK;
}

/* Levels of `host`, which is side b, get the numbers of their partners. */
static bj_status rename_levels(bj_fleet *fleet, bj_fleet_host *host, const bj_level_match *match, bj_error *error) {
    size_t kept = 0;
    for (size_t i = 0; i < host->count; i++) {
        bj_fleet_value value = host->values[i];
        const bj_fleet_key key = fleet->keys[value.key];
        unsigned level;
        const char *rest;
        if (bj_report_find_level(key.name, &level, &rest) == match->family) {
            char name[96];
            unsigned partner = level <= BJ_LEVELS_MOST ? match->partner_of_b[level] : 0;
            if (partner == 0)
                continue;
            snprintf(name, sizeof name, "%s%u%s", match->family->prefix, partner, rest);
            BJ_TRY(bj_fleet_find_key(fleet, name, key.unit, &value.key, error));
        }
        host->values[kept++] = value;
    }
    host->count = kept;
    return BJ_OK;
}

static bj_status align_host(bj_fleet *fleet, const bj_fleet_host *usual, bj_fleet_host *host,
                            const bj_level_family *family, bj_error *error) {
    bj_answers a = {0}, b = {0};
    bj_level_match match;
    bj_status status = list_levels(fleet, usual, family, &a, error);
    if (status == BJ_OK)
        status = list_levels(fleet, host, family, &b, error);
    if (status == BJ_OK) {
        bj_report_match_levels(family, &a, &b, &match);
        status = rename_levels(fleet, host, &match, error);
    }
    bj_data_free_answers(&a);
    bj_data_free_answers(&b);
    return status;
}

/* The number of levels that most hosts of a kind saw; 0: none says. */
static unsigned find_usual_count(const bj_fleet *fleet, size_t kind, const double *counts) {
    size_t votes[BJ_LEVELS_MOST + 1] = {0};
    unsigned usual = 0;
    for (size_t i = 0; i < fleet->count; i++)
        if (fleet->hosts[i].kind == kind && counts[i] >= 1 && counts[i] <= BJ_LEVELS_MOST)
            votes[(unsigned)counts[i]]++;
    for (unsigned level = 1; level <= BJ_LEVELS_MOST; level++)
        if (votes[level] > votes[usual])
            usual = level;
    return usual;
}

static bj_status align_kind(bj_fleet *fleet, size_t kind, const bj_level_family *family, const double *counts,
                            bj_error *error) {
    unsigned usual = find_usual_count(fleet, kind, counts);
    const bj_fleet_host *example = NULL;
    for (size_t i = 0; i < fleet->count && example == NULL; i++)
        if (fleet->hosts[i].kind == kind && counts[i] == usual)
            example = &fleet->hosts[i];
    for (size_t i = 0; i < fleet->count && example != NULL; i++)
        if (fleet->hosts[i].kind == kind && isfinite(counts[i]) && counts[i] != usual)
            BJ_TRY(align_host(fleet, example, &fleet->hosts[i], family, error));
    return BJ_OK;
}

bj_status bj_fleet_align_levels(bj_fleet *fleet, bj_error *error) {
    double *counts = malloc((fleet->count + 1) * sizeof *counts);
    if (counts == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu hosts", fleet->count);
    bj_status status = BJ_OK;
    for (size_t f = 0; f < bj_level_family_count && status == BJ_OK; f++) {
        const bj_level_family *family = &bj_level_families[f];
        for (size_t i = 0; i < fleet->count; i++)
            counts[i] = find_value(fleet, &fleet->hosts[i], family->count_key);
        for (size_t kind = 0; kind < fleet->kind_count && status == BJ_OK; kind++)
            status = align_kind(fleet, kind, family, counts, error);
    }
    free(counts);
    return status;
}
