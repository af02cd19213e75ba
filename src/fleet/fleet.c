#include "fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/fleet_parts.h"
#include "report/compare_judge.h"

enum { LEAST_ROOM = 64, LEAST_SLOTS = 1024 };

bj_status bj_fleet_grow(void **items, size_t *room, size_t count, size_t size, bj_error *error) {
    if (count < *room)
        return BJ_OK;
    size_t wanted = *room == 0 ? LEAST_ROOM : *room * 2;
    void *grown = realloc(*items, wanted * size);
    if (grown == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a fleet of that size");
    *items = grown;
    *room = wanted;
    return BJ_OK;
}

static size_t hash(const char *text) {
    uint64_t sum = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text != '\0'; text++)
        sum = (sum ^ (unsigned char)*text) * 0x100000001b3u;
    return (size_t)(sum ^ sum >> 32);
}

/* The slot of the key, or the free one where it belongs. */
static unsigned *find_slot(const bj_fleet *fleet, const char *name) {
    size_t at = hash(name) & (fleet->slot_count - 1);
    while (fleet->slots[at] != 0 && strcmp(fleet->keys[fleet->slots[at] - 1].name, name) != 0)
        at = (at + 1) & (fleet->slot_count - 1);
    return &fleet->slots[at];
}

/* At most half full, so that a search ends soon. */
static bj_status grow_slots(bj_fleet *fleet, bj_error *error) {
    if (fleet->key_count * 2 < fleet->slot_count)
        return BJ_OK;
    free(fleet->slots);
    fleet->slot_count = fleet->slot_count == 0 ? LEAST_SLOTS : fleet->slot_count * 2;
    fleet->slots = calloc(fleet->slot_count, sizeof *fleet->slots);
    if (fleet->slots == NULL) {
        fleet->slot_count = 0;
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu keys", fleet->key_count);
    }
    for (size_t i = 0; i < fleet->key_count; i++)
        *find_slot(fleet, fleet->keys[i].name) = (unsigned)i + 1;
    return BJ_OK;
}

bj_status bj_fleet_find_key(bj_fleet *fleet, const char *name, const char *unit, unsigned *key, bj_error *error) {
    BJ_TRY(grow_slots(fleet, error));
    unsigned *slot = find_slot(fleet, name);
    if (*slot == 0) {
        BJ_TRY(bj_fleet_grow((void **)&fleet->keys, &fleet->key_room, fleet->key_count, sizeof *fleet->keys, error));
        bj_fleet_key *made = &fleet->keys[fleet->key_count++];
        snprintf(made->name, sizeof made->name, "%s", name);
        snprintf(made->unit, sizeof made->unit, "%s", unit);
        *slot = (unsigned)fleet->key_count;
    }
    *key = *slot - 1;
    return BJ_OK;
}

/* Machines are of one kind if they are the same model with as many cpus, measured alike: else what is usual for one
 * says nothing of the other. */
static bj_status find_kind(bj_fleet *fleet, const bj_profile *profile, size_t *kind, bj_error *error) {
    bj_fleet_kind wanted = {.hosts = 0};
    const char *cpu = profile->environment.cpu[0] != '\0' ? profile->environment.cpu : "unknown processor";
    snprintf(wanted.name, sizeof wanted.name, "%s, %zu cpus%s%s%s%s", cpu, profile->environment.cpus_allowed_count,
             profile->run.effort[0] != '\0' ? ", effort " : "", profile->run.effort,
             profile->run.method[0] != '\0' ? ", method " : "", profile->run.method);
    for (*kind = 0; *kind < fleet->kind_count; (*kind)++)
        if (strcmp(fleet->kinds[*kind].name, wanted.name) == 0)
            return BJ_OK;
    bj_fleet_kind *grown = realloc(fleet->kinds, (fleet->kind_count + 1) * sizeof *grown);
    if (grown == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu kinds of machines", fleet->kind_count);
    fleet->kinds = grown;
    fleet->kinds[fleet->kind_count++] = wanted;
    return BJ_OK;
}

/* Numbers of which a logarithm exists, sure enough to say something: what is low or unstable moves by itself. */
static bool is_taken(const bj_answer *answer) {
    size_t length = strlen(answer->key);
    bool derived = length >= 7 && strcmp(answer->key + length - 7, "_cycles") == 0; /* follows from time and clock */
    return answer->status == BJ_ANSWER_OK && answer->structured == NULL && answer->confidence != BJ_CONFIDENCE_LOW &&
           answer->value > 0 && isfinite(answer->value) && !derived;
}

/* Most answers of a fleet have the same: none tells its rounds. Working it out for each would take as long as reading.
 */
static double find_reach(bj_fleet *fleet, double freedom) {
    if (freedom != fleet->freedom) {
        fleet->freedom = freedom;
        fleet->reach = bj_report_find_interval_reach(freedom);
    }
    return fleet->reach;
}

static bj_status take_values(bj_fleet *fleet, const bj_profile *profile, bj_fleet_host *host, bj_error *error) {
    host->values = calloc(profile->answers.count + 1, sizeof *host->values);
    if (host->values == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu answers", profile->answers.count);
    for (size_t i = 0; i < profile->answers.count; i++) {
        const bj_answer *answer = &profile->answers.items[i];
        if (!is_taken(answer))
            continue;
        bj_fleet_value *value = &host->values[host->count];
        BJ_TRY(bj_fleet_find_key(fleet, answer->key, answer->unit, &value->key, error));
        if (strcmp(fleet->keys[value->key].unit, answer->unit) != 0)
            continue;
        value->value = answer->value;
        value->error = bj_report_find_log_error(answer, find_reach(fleet, bj_report_find_freedom(profile, answer)));
        value->high = answer->confidence == BJ_CONFIDENCE_HIGH;
        host->count++;
    }
    return BJ_OK;
}

bj_status bj_fleet_add(bj_fleet *fleet, const char *file, const bj_profile *profile, bj_error *error) {
    BJ_TRY(bj_fleet_grow((void **)&fleet->hosts, &fleet->room, fleet->count, sizeof *fleet->hosts, error));
    bj_fleet_host *host = &fleet->hosts[fleet->count];
    *host = (bj_fleet_host){.file = strdup(file)};
    fleet->count++;
    if (host->file == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the name of a file");
    BJ_TRY(find_kind(fleet, profile, &host->kind, error));
    fleet->kinds[host->kind].hosts++;
    return take_values(fleet, profile, host, error);
}

void bj_fleet_free(bj_fleet *fleet) {
    for (size_t i = 0; i < fleet->count; i++) {
        free(fleet->hosts[i].file);
        free(fleet->hosts[i].values);
    }
    free(fleet->hosts);
    free(fleet->keys);
    free(fleet->slots);
    free(fleet->kinds);
    free(fleet->outliers);
    bj_strings_free(&fleet->notes);
    *fleet = (bj_fleet){0};
}
