/* Which cpus make a chip, one of each core, and what they share: from answers of `topology`, `sharing` and `cache`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnose.h"
#include "profile/cpu_tree.h"

enum { LEVELS_MOST = 8, USUAL_LINE_BYTES = 64 };

static bool has_cpu(const int *cpus, size_t count, int cpu) {
    for (size_t i = 0; i < count; i++)
        if (cpus[i] == cpu)
            return true;
    return false;
}

static bj_status read_groups(const bj_answers *answers, int level, bj_cpu_groups *groups, bj_error *error) {
    char key[40];
    snprintf(key, sizeof key, "cache.L%d.sharing", level);
    const bj_answer *answer = bj_data_find_answer(answers, key);
    *groups = (bj_cpu_groups){0};
    if (answer == NULL || !bj_data_has_value(answer) || answer->structured == NULL)
        return BJ_OK;
    return bj_profile_read_cpu_groups(key, answer->structured, groups, error);
}

static const bj_cpu_set *group_of(const bj_cpu_groups *groups, int cpu) {
    for (size_t i = 0; i < groups->count; i++)
        if (has_cpu(groups->items[i].items, groups->items[i].count, cpu))
            return &groups->items[i];
    return NULL;
}

/* The allowed ones of a set, but of cpus that share a first level only one. */
static size_t list_cores(const bj_cpu_set *set, const int *allowed, size_t allowed_count, const bj_cpu_groups *siblings,
                         int *cores) {
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        const bj_cpu_set *core = group_of(siblings, set->items[i]);
        bool taken = false;
        for (size_t j = 0; core != NULL && j < core->count; j++)
            taken = taken || has_cpu(cores, count, core->items[j]);
        if (!taken && has_cpu(allowed, allowed_count, set->items[i]))
            cores[count++] = set->items[i];
    }
    return count;
}

/* Whether some cache is of all these cpus: then they are one chip, whatever clusters the tree has within it. */
static bj_status share_cache(const bj_answers *answers, const int *allowed, size_t allowed_count, bool *shared,
                             bj_error *error) {
    *shared = false;
    for (int level = 1; level < LEVELS_MOST && !*shared; level++) {
        bj_cpu_groups groups;
        BJ_TRY(read_groups(answers, level, &groups, error));
        const bj_cpu_set *sharers = allowed_count > 0 ? group_of(&groups, allowed[0]) : NULL;
        *shared = sharers != NULL;
        for (size_t i = 0; i < allowed_count && *shared; i++)
            *shared = has_cpu(sharers->items, sharers->count, allowed[i]);
        bj_profile_free_cpu_groups(&groups);
    }
    return BJ_OK;
}

/* Those parts of the tree's root that have two cores or more; without a tree, or where none has, all cores. */
static void split_chips(const bj_cpu_node *tree, const bj_cpu_set *all, const int *allowed, size_t allowed_count,
                        const bj_cpu_groups *siblings, bj_diagnose_chip *chip) {
    int *cores = chip->others;
    chip->count = 0;
    chip->chips = 0;
    for (size_t i = 0; tree != NULL && i < tree->child_count; i++) {
        size_t count = list_cores(&tree->children[i].cpus, allowed, allowed_count, siblings,
                                  chip->chips == 0 ? chip->cpus : cores);
        if (count < 2)
            continue;
        if (chip->chips == 0)
            chip->count = count;
        else if (count >= chip->count)
            cores += chip->count;
        else
            continue;
        chip->chips++;
    }
    if (chip->chips == 0) {
        chip->count = list_cores(all, allowed, allowed_count, siblings, chip->cpus);
        chip->chips = 1;
    }
}

static double find_bytes(const bj_answers *answers, int level) {
    static const char *const names[] = {"capacity", "size"};
    double bytes = 0;
    for (size_t i = 0; i < 2 && !(bytes > 0); i++) {
        char key[40];
        snprintf(key, sizeof key, "cache.L%d.%s_bytes", level, names[i]);
        if (!bj_data_get_number(answers, key, &bytes))
            bytes = 0;
    }
    return bytes;
}

/* Those that share it with the first cpu come first, in their order. */
static void sort_sharers(bj_diagnose_chip *chip, const bj_cpu_set *sharers) {
    chip->cache_sharers = 0;
    for (size_t i = 0; i < chip->count; i++)
        if (has_cpu(sharers->items, sharers->count, chip->cpus[i])) {
            int cpu = chip->cpus[i];
            memmove(&chip->cpus[chip->cache_sharers + 1], &chip->cpus[chip->cache_sharers],
                    (i - chip->cache_sharers) * sizeof cpu);
            chip->cpus[chip->cache_sharers++] = cpu;
        }
}

static bj_status find_cache(const bj_answers *answers, bj_diagnose_chip *chip, bj_error *error) {
    chip->cache_sharers = 1;
    for (int level = 1; level < LEVELS_MOST; level++) {
        double bytes = find_bytes(answers, level);
        bj_cpu_groups groups;
        if (!(bytes > 0))
            continue;
        BJ_TRY(read_groups(answers, level, &groups, error));
        const bj_cpu_set *sharers = group_of(&groups, chip->cpus[0]);
        size_t before = chip->cache_sharers;
        if (sharers != NULL)
            sort_sharers(chip, sharers);
        if (chip->cache_sharers > 1 || before == 1) {
            chip->cache_bytes = bytes;
            chip->cache_level = level;
        }
        bj_profile_free_cpu_groups(&groups);
    }
    if (!(chip->cache_bytes > 0))
        return bj_base_set_error(error, BJ_ERR_INPUT,
                                 "the profile has no size of any cache: it needs answers of the probe cache");
    chip->line_bytes = USUAL_LINE_BYTES;
    double line;
    if (bj_data_get_number(answers, "cache.line_bytes", &line) && line > 0)
        chip->line_bytes = line;
    return BJ_OK;
}

bj_status bj_diagnose_find_chip(const bj_answers *answers, const int *allowed, size_t allowed_count,
                                bj_diagnose_chip *chip, bj_error *error) {
    const bj_answer *answer = bj_data_find_answer(answers, "topology.tree");
    bj_cpu_groups siblings = {0};
    bj_cpu_node tree;
    bool is_one = false;
    bool has_tree = answer != NULL && bj_data_has_value(answer) && answer->structured != NULL;
    *chip = (bj_diagnose_chip){.cpus = calloc(allowed_count + 1, sizeof(int)),
                               .others = calloc(allowed_count + 1, sizeof(int))};
    if (chip->cpus == NULL || chip->others == NULL) {
        bj_diagnose_free_chip(chip);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", allowed_count);
    }
    bj_status status = read_groups(answers, 1, &siblings, error);
    if (status == BJ_OK)
        status = share_cache(answers, allowed, allowed_count, &is_one, error);
    has_tree = has_tree && !is_one;
    if (status == BJ_OK && has_tree)
        status = bj_profile_read_cpu_tree("topology.tree", answer->structured, &tree, error);
    if (status == BJ_OK) {
        const bj_cpu_set all = {(int *)(size_t)allowed, allowed_count};
        split_chips(has_tree ? &tree : NULL, &all, allowed, allowed_count, &siblings, chip);
        if (has_tree)
            bj_profile_free_cpu_tree(&tree);
        status = find_cache(answers, chip, error);
    }
    bj_profile_free_cpu_groups(&siblings);
    if (status == BJ_OK && chip->count < 2)
        status = bj_base_set_error(error, BJ_ERR_UNSUPPORTED,
                                   "only one core may be used: a program has nobody there to collide with");
    if (status != BJ_OK)
        bj_diagnose_free_chip(chip);
    return status;
}

void bj_diagnose_narrow_chip(bj_diagnose_chip *chip, size_t count) {
    for (size_t c = 0; c + 1 < chip->chips; c++)
        memmove(chip->others + c * count, chip->others + c * chip->count, count * sizeof *chip->others);
    chip->count = count;
    chip->cache_sharers = chip->cache_sharers < count ? chip->cache_sharers : count;
}

void bj_diagnose_free_chip(bj_diagnose_chip *chip) {
    free(chip->cpus);
    free(chip->others);
    *chip = (bj_diagnose_chip){0};
}
