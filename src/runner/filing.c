#include "runner/filing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

bj_status bj_runner_list_earlier(const bj_answers *all, const bj_probe *probe, bj_answers *earlier, bj_error *error) {
    *earlier = (bj_answers){0};
    earlier->items = malloc((all->count + 1) * sizeof *earlier->items);
    if (earlier->items == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for earlier answers");
    earlier->room = all->count + 1;
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].probe, probe->name) != 0)
            earlier->items[earlier->count++] = all->items[i];
    return BJ_OK;
}

uint64_t bj_runner_seed_probe(uint64_t seed, const char *name) {
    /* FNV-1a: the name, not its place in the list, so that adding a probe changes no other's numbers. */
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return bj_random_mix(seed, hash);
}

bj_status bj_runner_fill_answers(const bj_probe *probe, bj_answer_status status, const char *reason,
                                 bj_answers *answers, bj_error *error) {
    for (size_t i = 0; probe->provides[i].key != NULL; i++) {
        const bj_probe_key *key = &probe->provides[i];
        if (strchr(key->key, '<') != NULL || bj_data_find_answer(answers, key->key) != NULL)
            continue;
        bj_answer *answer;
        bj_status put = bj_data_put_answer(answers, key->key, key->unit, &answer, error);
        if (put != BJ_OK)
            return put;
        answer->status = status;
        snprintf(answer->reason, sizeof answer->reason, "%s", reason);
        snprintf(answer->probe, sizeof answer->probe, "%s", probe->name);
    }
    return BJ_OK;
}

/* A hypervisor may move virtual cpus, to one chip or to two: what is between them is sure for this run alone. */
static void cap_by_hypervisor(const bj_profile *profile, const bj_probe *probe, bj_answers *answers) {
    for (size_t i = 0; probe->compares_cpus && profile->environment.virtualised == 1 && i < answers->count; i++)
        if (answers->items[i].confidence > BJ_CONFIDENCE_MEDIUM)
            answers->items[i].confidence = BJ_CONFIDENCE_MEDIUM;
}

/* Rounds of an emulator agree as those of a processor do, and say nothing of one. */
static void cap_by_emulator(const bj_profile *profile, bj_answers *answers) {
    for (size_t i = 0; profile->environment.emulator[0] != '\0' && i < answers->count; i++) {
        bj_answer *answer = &answers->items[i];
        if (!bj_data_has_value(answer))
            continue;
        answer->confidence = BJ_CONFIDENCE_LOW;
        snprintf(answer->caveat, sizeof answer->caveat,
                 "%s ran this program: what was timed is that emulator, not a processor",
                 profile->environment.emulator);
    }
}

bj_status bj_runner_file_answers(bj_profile *profile, const bj_probe *probe, bj_answers *answers, bj_error *error) {
    cap_by_hypervisor(profile, probe, answers);
    cap_by_emulator(profile, answers);
    bj_answers *old = &profile->answers;
    size_t room = old->count + answers->count + 1, count = 0;
    bj_answer *items = malloc(room * sizeof *items);
    if (items == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu answers", room);
    /* In the place of the first that goes, so that reanalysis keeps the order of the file. */
    bool placed = false;
    for (size_t i = 0; i <= old->count; i++) {
        bool ends = i == old->count;
        /* A key that another probe had answered changes hands: a profile holds each key once. */
        bool own = !ends && (strcmp(old->items[i].probe, probe->name) == 0 ||
                             bj_data_find_answer(answers, old->items[i].key) != NULL);
        if ((ends || own) && !placed) {
            if (answers->count > 0)
                memcpy(items + count, answers->items, answers->count * sizeof *items);
            count += answers->count;
            placed = true;
        }
        if (own)
            free(old->items[i].structured);
        else if (!ends)
            items[count++] = old->items[i];
    }
    free(old->items);
    *old = (bj_answers){items, count, room};
    free(answers->items);
    *answers = (bj_answers){0};
    return BJ_OK;
}

bj_status bj_runner_file_record(bj_profile *profile, const bj_probe *probe, bj_answer_status status, const char *reason,
                                bj_error *error) {
    bj_probe_record *record;
    bj_status made = bj_profile_record_probe(profile, probe->name, &record, error);
    if (made != BJ_OK)
        return made;
    record->revision = probe->revision;
    record->status = status;
    snprintf(record->reason, sizeof record->reason, "%s", reason);
    for (size_t i = 0; i < profile->answers.count && record->status == BJ_ANSWER_OK; i++) {
        const bj_answer *answer = &profile->answers.items[i];
        if (answer->status != BJ_ANSWER_FAILED || strcmp(answer->probe, probe->name) != 0)
            continue;
        record->status = BJ_ANSWER_FAILED;
        snprintf(record->reason, sizeof record->reason, "%s: %.160s", answer->key, answer->reason);
    }
    return BJ_OK;
}
