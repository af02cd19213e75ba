#include "profile/profile_upgrade.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* All keys of version 0.1; the first pattern that matches decides. */
static const struct {
    const char *keys, *probe;
} owners[] = {
    {"op.int32.add.latency_ns", "clock"},
    {"cpu.clock_ghz", "clock"},
    {"cache.*line_bytes", "line"},
    {"cache.fetch_bytes", "line"},
    {"cache.*.associativity", "associativity"},
    {"*_gbs", "bandwidth"},
    {"memory.parallelism", "parallelism"},
    {"memory.latency_ns", "cache"},
    {"cache.*", "cache"},
    {"page.*", "page"},
    {"tlb.*", "tlb"},
    {"op.*", "op"},
    {"live.*", "live"},
    {"contexts.*", "contexts"},
    {"scheduler.slot_ms", "slot"},
};

/* By its key, or by the curves that it rests on. */
static void name_probe(const bj_curves *curves, bj_answer *answer) {
    for (size_t i = 0; answer->probe[0] == '\0' && i < sizeof owners / sizeof owners[0]; i++)
        if (fnmatch(owners[i].keys, answer->key, 0) == 0)
            snprintf(answer->probe, sizeof answer->probe, "%s", owners[i].probe);
    for (size_t i = 0; answer->probe[0] == '\0' && i < answer->evidence_count; i++) {
        const bj_curve *curve = bj_data_find_curve(curves, answer->evidence[i]);
        if (curve != NULL)
            snprintf(answer->probe, sizeof answer->probe, "%s", curve->probe);
    }
}

/* The cache probe told its pages by the name of the y axis. */
static bj_status upgrade_pages(bj_curve *curve, bj_error *error) {
    if (strcmp(curve->y_name, "latency_huge_pages") == 0)
        return bj_data_set_attribute_text(curve, "pages", "huge", error);
    if (strcmp(curve->y_name, "latency_base_pages") == 0)
        return bj_data_set_attribute_text(curve, "pages", "base", error);
    return BJ_OK;
}

/* The associativity probe told level, stride and number of sets by the curve's id. */
static bj_status upgrade_conflicts(bj_curve *curve, bj_error *error) {
    unsigned level = 0;
    size_t stride_bytes, sets;
    bool twin = sscanf(curve->id, "associativity.twin.s%zu.m%zu", &stride_bytes, &sets) == 2;
    if (!twin && sscanf(curve->id, "associativity.L%u.s%zu.m%zu", &level, &stride_bytes, &sets) != 3)
        return BJ_OK;
    bj_status status = bj_data_set_attribute_number(curve, "stride_bytes", (double)stride_bytes, error);
    if (status == BJ_OK)
        status = bj_data_set_attribute_number(curve, "sets", (double)sets, error);
    if (status == BJ_OK && !twin)
        status = bj_data_set_attribute_number(curve, "level", level, error);
    return status;
}

/* Outcomes were samples of a curve of their own: 1 unsupported, 2 wrong, by the number of the operation or type. Those
 * come in the order of their curves, each of which is told by its y; the shorter loops of operations have none. What
 * has samples was measured: somebody may have sorted the file. */
static bj_status upgrade_outcomes(bj_profile *profile, const char *probe, const char *y_name, bj_error *error) {
    char id[32];
    snprintf(id, sizeof id, "%s.verdicts", probe);
    const bj_curve *verdicts = bj_data_find_curve(&profile->curves, id);
    bj_status status = BJ_OK;
    double number = 0;
    for (size_t i = 0; verdicts != NULL && i < profile->curves.count && status == BJ_OK; i++) {
        bj_curve *curve = &profile->curves.items[i];
        if (strcmp(curve->probe, probe) != 0 || strcmp(curve->y_name, y_name) != 0 ||
            strstr(curve->id, ".once") != NULL)
            continue;
        number++;
        for (size_t k = 0; verdicts->round_count > 0 && k < verdicts->x_count && status == BJ_OK; k++)
            if (verdicts->x[k] == number && verdicts->rounds[0][k] > 0 && curve->round_count == 0)
                status = bj_data_set_attribute_text(
                    curve, BJ_OUTCOME, verdicts->rounds[0][k] == 1 ? BJ_OUTCOME_UNSUPPORTED : BJ_OUTCOME_WRONG, error);
    }
    return status;
}

bj_status bj_profile_upgrade(bj_profile *profile, bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t i = 0; i < profile->answers.count; i++)
        name_probe(&profile->curves, &profile->answers.items[i]);
    for (size_t i = 0; i < profile->curves.count && status == BJ_OK; i++) {
        bj_curve *curve = &profile->curves.items[i];
        if (curve->attribute_count > 0)
            continue;
        status = strcmp(curve->probe, "cache") == 0           ? upgrade_pages(curve, error)
                 : strcmp(curve->probe, "associativity") == 0 ? upgrade_conflicts(curve, error)
                                                              : BJ_OK;
    }
    if (status == BJ_OK)
        status = upgrade_outcomes(profile, "op", "time_of_step", error);
    if (status == BJ_OK)
        status = upgrade_outcomes(profile, "live", "time_of_addition", error);
    return status;
}
