#include "probes/slot/slot_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/estimate.h"
#include "probes/slot/gap_mode.h"
#include "probes/slot/slot_constants.h"

/* What is resampled: rounds, or parts of a table, which has none. */
typedef struct {
    const bj_curve *curve;
    size_t *rounds; /* of each group */
    size_t count;
    size_t every; /* a group has every x of its round; of a table: one in so many */
    bool paper;
    double *scratch;
} gap_groups;

static double taken_in_round(const bj_curve *curve, size_t round) {
    double sum = 0;
    for (size_t i = 0; curve != NULL && round < curve->round_count && i < curve->x_count; i++)
        sum += curve->rounds[round][i] > 0 ? curve->rounds[round][i] : 0;
    return sum;
}

/* Rounds that a quota did not stop if these are enough, else all. */
static void choose_groups(const bj_curve *throttled, bool from_table, gap_groups *groups) {
    size_t rounds = groups->curve->round_count;
    groups->every = from_table && rounds == 1 ? TABLE_GROUPS : 1;
    for (size_t i = 0; i < groups->every * rounds; i++)
        if (taken_in_round(throttled, i) == 0)
            groups->rounds[groups->count++] = i / groups->every;
    if (groups->count >= BJ_BOOTSTRAP_ROUNDS_NEEDED)
        return;
    for (groups->count = 0; groups->count < rounds; groups->count++)
        groups->rounds[groups->count] = groups->count;
}

static bj_status open_groups(const bj_curve *throttled, bool from_table, gap_groups *groups, bj_error *error) {
    size_t x_count = groups->curve->x_count, most = groups->curve->round_count + TABLE_GROUPS;
    groups->rounds = malloc(most * sizeof *groups->rounds);
    if (groups->rounds != NULL) {
        choose_groups(throttled, from_table, groups);
        groups->scratch = malloc(groups->count * (x_count / groups->every + 1) * sizeof *groups->scratch);
    }
    if (groups->scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the gaps of %zu rounds", most);
    return BJ_OK;
}

/* The gaps of a group, appended to the scratch. */
static size_t append_gaps(const gap_groups *groups, size_t group, size_t used) {
    const double *gaps = groups->curve->rounds[groups->rounds[group]];
    for (size_t i = groups->every > 1 ? group : 0; i < groups->curve->x_count; i += groups->every)
        if (gaps[i] > BJ_SLOT_LEAST_MS && isfinite(gaps[i]))
            groups->scratch[used++] = gaps[i];
    return used;
}

static size_t count_gaps(const gap_groups *groups) {
    size_t count = 0;
    for (size_t i = 0; i < groups->count; i++)
        count = append_gaps(groups, i, count);
    return count;
}

static double find_slot(void *context, const size_t *index, size_t count) {
    const gap_groups *groups = context;
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used = append_gaps(groups, index[i], used);
    return groups->paper ? bj_slot_find_plain_mode(groups->scratch, used, PLAIN_BIN_MS)
                         : bj_slot_find_gap_mode(groups->scratch, used);
}

/* What was taken from the threads meanwhile. */
typedef struct {
    size_t throttled_rounds, rounds;
    double stolen;          /* mean share */
    bj_confidence contexts; /* of the number of cpus that were used */
} circumstances;

/* How sure it is that there are so many contexts: slots of one cpu and of two may differ. Of the answers that say the
 * most, the surest; without any, as where the probe of contexts failed, cpus were taken for them. */
static bj_confidence trust_contexts(const bj_answers *earlier) {
    static const char *const keys[] = {"contexts.int", "contexts.fp", "contexts.memory"};
    double most = 0;
    bool was_asked = false;
    bj_confidence surest = BJ_CONFIDENCE_NONE;
    for (size_t i = 0; earlier != NULL && i < sizeof keys / sizeof keys[0]; i++) {
        const bj_answer *answer = bj_data_find_answer(earlier, keys[i]);
        was_asked = was_asked || answer != NULL;
        if (answer == NULL || !bj_data_has_value(answer) || answer->value < most)
            continue;
        surest = answer->value > most || answer->confidence > surest ? answer->confidence : surest;
        most = answer->value;
    }
    if (surest != BJ_CONFIDENCE_NONE)
        return surest;
    return was_asked && most == 0 ? BJ_CONFIDENCE_MEDIUM : BJ_CONFIDENCE_HIGH;
}

static circumstances look_around(const bj_curves *samples, const bj_curve *throttled, size_t rounds) {
    const bj_curve *stolen = bj_data_find_curve(samples, BJ_SLOT_STOLEN);
    circumstances around = {.rounds = rounds};
    for (size_t round = 0; round < rounds; round++) {
        around.throttled_rounds += taken_in_round(throttled, round) > 0;
        around.stolen += taken_in_round(stolen, round) / (double)rounds;
    }
    return around;
}

static void refuse(size_t gap_count, bj_answer *answer) {
    if (gap_count == 0)
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no gap of more than %g ms", BJ_SLOT_LEAST_MS);
    else
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no length stands out among %zu gaps", gap_count);
}

static void fill_answer(const bj_estimate *slot, const circumstances *around, bool from_table, bj_answer *answer) {
    bool is_stopped =
        around->throttled_rounds > 0 && around->rounds - around->throttled_rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED;
    bool is_stolen = around->stolen > STOLEN_MUCH;
    bj_kit_fill_answer(answer, slot,
                       is_stopped || is_stolen ? BJ_CONFIDENCE_LOW
                       : from_table            ? BJ_CONFIDENCE_MEDIUM
                                               : around->contexts);
    if (is_stopped)
        bj_kit_call_unstable(answer, "throttled: a cpu quota stopped the threads in %zu of %zu rounds",
                             around->throttled_rounds, around->rounds);
    else if (is_stolen)
        bj_kit_call_unstable(answer, "the hypervisor gave %.0f%% of the cpus' time to others", 100 * around->stolen);
    else if (slot->rounds >= BJ_BOOTSTRAP_ROUNDS_NEEDED && slot->support < BJ_SUPPORT_MEDIUM)
        bj_kit_call_unstable(answer, "rounds differ: other ones would answer from %.3g to %.3g ms", slot->interval[0],
                             slot->interval[1]);
}

static bj_status answer_groups(gap_groups *groups, const circumstances *around, const bj_analyse_request *request,
                               bj_answer *answer, bj_error *error) {
    size_t gap_count = count_gaps(groups);
    bj_estimate slot;
    bj_estimate_request resampling = {.rounds = groups->count,
                                      .curve = groups->curve,
                                      .round_of = groups->rounds,
                                      .resamples = bj_kit_afford_resamples(gap_count),
                                      .seed = request->seed,
                                      .tolerance = TOLERANCE,
                                      .statistic = find_slot,
                                      .context = groups};
    bj_status status = bj_kit_estimate(&resampling, &slot, error);
    if (status == BJ_OK && isnan(slot.value)) {
        refuse(gap_count, answer);
    } else if (status == BJ_OK) {
        bj_kit_widen(&slot, SYSTEMATIC, SYSTEMATIC);
        fill_answer(&slot, around, request->from_table, answer);
    }
    return status;
}

bj_status bj_slot_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, BJ_SLOT_GAPS);
    const bj_curve *throttled = bj_data_find_curve(samples, BJ_SLOT_THROTTLED);
    bj_answer *answer = NULL;
    bj_status status = bj_data_put_answer(answers, "scheduler.slot_ms", "ms", &answer, error);
    if (status != BJ_OK)
        return status;
    bj_data_cite_curve(answer, BJ_SLOT_GAPS);
    if (curve == NULL || curve->round_count == 0) {
        refuse(0, answer);
        return BJ_OK;
    }
    circumstances around = look_around(samples, throttled, curve->round_count);
    around.contexts = trust_contexts(request->earlier);
    if (around.throttled_rounds > 0)
        bj_data_cite_curve(answer, BJ_SLOT_THROTTLED);
    gap_groups groups = {.curve = curve,
                         .paper = request->method != NULL && strcmp(request->method, BJ_SLOT_MODE) == 0};
    status = open_groups(throttled, request->from_table, &groups, error);
    if (status == BJ_OK)
        status = answer_groups(&groups, &around, request, answer, error);
    free(groups.rounds);
    free(groups.scratch);
    return status;
}
