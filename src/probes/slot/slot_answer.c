#include "probes/slot/slot_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/slot/gap_mode.h"
#include "stats/bootstrap.h"

#define KEY "scheduler.slot_ms"
#define RESAMPLES 400u
#define RESAMPLES_LEAST 20u
#define RESAMPLED_GAPS 4000000u
/* A table has no rounds: its gaps are dealt out to so many groups, whether they are sorted or not. */
#define TABLE_GROUPS 10u
/* The paper's most common measurement: of measurements in tenths of a millisecond. */
#define PLAIN_BIN_MS 0.1
/* Rounds whose own answer is within this agree. */
#define AGREE 0.1
#define SHARE_HIGH 0.9
#define SHARE_STABLE 0.6
/* Switching between threads, and the tick that ends a slot, are part of a gap. */
#define SYSTEMATIC 0.05
#define STOLEN_MUCH 0.1

/* The gaps by groups: rounds, or parts of a table. */
typedef struct {
    double *gaps;    /* group by group */
    size_t *offsets; /* group_count + 1 */
    size_t group_count, gap_count;
    double *scratch;
    size_t scratch_room;
    bool paper;
} gap_groups;

static void free_groups(gap_groups *groups) {
    free(groups->gaps);
    free(groups->offsets);
    free(groups->scratch);
}

static size_t largest_group(const gap_groups *groups) {
    size_t largest = 0;
    for (size_t i = 0; i < groups->group_count; i++) {
        size_t size = groups->offsets[i + 1] - groups->offsets[i];
        largest = size > largest ? size : largest;
    }
    return largest;
}

static double taken_in_round(const bj_curve *curve, size_t round) {
    double sum = 0;
    for (size_t i = 0; curve != NULL && round < curve->round_count && i < curve->x_count; i++)
        sum += curve->rounds[round][i] > 0 ? curve->rounds[round][i] : 0;
    return sum;
}

static void take_gap(gap_groups *groups, double gap) {
    if (gap > BJ_SLOT_LEAST_MS && isfinite(gap))
        groups->gaps[groups->gap_count++] = gap;
}

/* Rounds that a quota did not stop, if these are enough, else all of them. */
static void take_rounds(const bj_curve *curve, const bj_curve *throttled, bool all, gap_groups *groups) {
    groups->group_count = groups->gap_count = 0;
    for (size_t round = 0; round < curve->round_count; round++) {
        if (!all && taken_in_round(throttled, round) > 0)
            continue;
        groups->offsets[groups->group_count++] = groups->gap_count;
        for (size_t i = 0; i < curve->x_count; i++)
            take_gap(groups, curve->rounds[round][i]);
    }
    groups->offsets[groups->group_count] = groups->gap_count;
}

static void deal_out_table(const bj_curve *curve, gap_groups *groups) {
    groups->group_count = TABLE_GROUPS;
    for (size_t group = 0; group < TABLE_GROUPS; group++) {
        groups->offsets[group] = groups->gap_count;
        for (size_t i = group; i < curve->x_count; i += TABLE_GROUPS)
            take_gap(groups, curve->rounds[0][i]);
    }
    groups->offsets[TABLE_GROUPS] = groups->gap_count;
}

static bj_status open_groups(const bj_curve *curve, const bj_curve *throttled, bool from_table, gap_groups *groups,
                             bj_error *error) {
    size_t cells = curve->x_count * curve->round_count;
    size_t rounds = curve->round_count > TABLE_GROUPS ? curve->round_count : TABLE_GROUPS;
    groups->gaps = malloc((cells + 1) * sizeof *groups->gaps);
    groups->offsets = malloc((rounds + 1) * sizeof *groups->offsets);
    if (groups->gaps == NULL || groups->offsets == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu gaps", cells);
    if (from_table && curve->round_count == 1) {
        deal_out_table(curve, groups);
    } else {
        take_rounds(curve, throttled, false, groups);
        if (groups->group_count < BJ_BOOTSTRAP_ROUNDS_NEEDED)
            take_rounds(curve, throttled, true, groups);
    }
    /* Drawn with repetition, the largest group may come every time. */
    groups->scratch_room = largest_group(groups) * groups->group_count;
    groups->scratch = malloc((groups->scratch_room + 1) * sizeof *groups->scratch);
    if (groups->scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu gaps", groups->scratch_room);
    return BJ_OK;
}

static bj_gap_mode find_mode(const gap_groups *groups, const size_t *index, size_t count) {
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t first = groups->offsets[index[i]], size = groups->offsets[index[i] + 1] - first;
        memcpy(groups->scratch + used, groups->gaps + first, size * sizeof *groups->gaps);
        used += size;
    }
    return groups->paper ? bj_slot_find_plain_mode(groups->scratch, used, PLAIN_BIN_MS)
                         : bj_slot_find_gap_mode(groups->scratch, used);
}

static double find_slot(void *context, const size_t *index, size_t count) {
    return find_mode(context, index, count).value;
}

static bj_gap_mode find_mode_of_all(const gap_groups *groups, bj_error *error, bj_status *status) {
    size_t *index = malloc((groups->group_count + 1) * sizeof *index);
    if (index == NULL) {
        *status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", groups->group_count);
        return (bj_gap_mode){.value = NAN};
    }
    for (size_t i = 0; i < groups->group_count; i++)
        index[i] = i;
    bj_gap_mode mode = find_mode(groups, index, groups->group_count);
    free(index);
    return mode;
}

static double share_of_rounds(const gap_groups *groups, double value) {
    size_t agree = 0;
    for (size_t i = 0; i < groups->group_count; i++)
        agree += fabs(find_mode(groups, &i, 1).value - value) <= AGREE * value;
    return groups->group_count > 0 ? (double)agree / (double)groups->group_count : 0;
}

typedef struct {
    size_t throttled_rounds, rounds;
    double stolen; /* mean share */
} circumstances;

static circumstances look_around(const bj_curves *samples, size_t rounds) {
    const bj_curve *throttled = bj_data_find_curve(samples, BJ_SLOT_THROTTLED);
    const bj_curve *stolen = bj_data_find_curve(samples, BJ_SLOT_STOLEN);
    circumstances around = {.rounds = rounds};
    for (size_t round = 0; round < rounds; round++) {
        around.throttled_rounds += taken_in_round(throttled, round) > 0;
        around.stolen += taken_in_round(stolen, round) / (double)rounds;
    }
    return around;
}

static void judge(const gap_groups *groups, const circumstances *around, bool from_table, bj_answer *answer) {
    double agreement = share_of_rounds(groups, answer->value);
    bool narrow = answer->interval[1] - answer->interval[0] <= 2 * AGREE * answer->value;
    bool few = groups->group_count < BJ_BOOTSTRAP_ROUNDS_NEEDED;
    answer->confidence = few || agreement < SHARE_STABLE                   ? BJ_CONFIDENCE_LOW
                         : agreement < SHARE_HIGH || !narrow || from_table ? BJ_CONFIDENCE_MEDIUM
                                                                           : BJ_CONFIDENCE_HIGH;
    bool stopped =
        around->rounds - around->throttled_rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED && around->throttled_rounds > 0;
    if (stopped)
        snprintf(answer->reason, sizeof answer->reason,
                 "throttled: a cpu quota stopped the threads in %zu of %zu rounds", around->throttled_rounds,
                 around->rounds);
    else if (around->stolen > STOLEN_MUCH)
        snprintf(answer->reason, sizeof answer->reason, "the hypervisor gave %.0f%% of the cpus' time to others",
                 100 * around->stolen);
    else if (agreement < SHARE_STABLE && !few)
        snprintf(answer->reason, sizeof answer->reason, "only %.0f%% of the rounds agree with all of them together",
                 100 * agreement);
    if (answer->reason[0] == '\0')
        return;
    answer->status = BJ_ANSWER_UNSTABLE;
    answer->confidence = BJ_CONFIDENCE_LOW;
}

static void say_why_not(const gap_groups *groups, bj_answer *answer) {
    answer->status = BJ_ANSWER_UNDETERMINED;
    if (groups->gap_count == 0)
        snprintf(answer->reason, sizeof answer->reason, "no gap of more than %g ms", BJ_SLOT_LEAST_MS);
    else
        snprintf(answer->reason, sizeof answer->reason, "no length stands out among %zu gaps", groups->gap_count);
}

static bj_status answer_slot(gap_groups *groups, const circumstances *around, const bj_analyse_request *request,
                             bj_answer *answer, bj_error *error) {
    bj_bootstrap bootstrap = {0};
    size_t resamples = (size_t)fmax(RESAMPLES_LEAST, fmin(RESAMPLES, RESAMPLED_GAPS / ((double)groups->gap_count + 1)));
    bj_status status = BJ_OK;
    bj_gap_mode mode = find_mode_of_all(groups, error, &status);
    if (status == BJ_OK && isnan(mode.value)) {
        say_why_not(groups, answer);
        return BJ_OK;
    }
    if (status == BJ_OK)
        status = bj_stats_bootstrap_rounds(groups->group_count, resamples, request->seed, find_slot, groups, &bootstrap,
                                           error);
    if (status == BJ_OK) {
        answer->value = mode.value;
        answer->has_interval = true;
        answer->interval[0] = fmin(mode.value, bootstrap.low) * (1 - SYSTEMATIC);
        answer->interval[1] = fmax(mode.value, bootstrap.high) * (1 + SYSTEMATIC);
        judge(groups, around, request->from_table, answer);
    }
    bj_stats_free_bootstrap(&bootstrap);
    return status;
}

bj_status bj_slot_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(samples, BJ_SLOT_GAPS);
    const char *method = request->method != NULL ? request->method : BJ_SLOT_WAITING_PEAK;
    bj_answer *answer = NULL;
    bj_status status = bj_data_put_answer(answers, KEY, "ms", &answer, error);
    if (status != BJ_OK)
        return status;
    snprintf(answer->method, sizeof answer->method, "%s/%u", method, BJ_SLOT_REVISION);
    bj_data_cite_curve(answer, BJ_SLOT_GAPS);
    gap_groups groups = {.paper = strcmp(method, BJ_SLOT_MODE) == 0};
    if (curve == NULL || curve->round_count == 0) {
        say_why_not(&groups, answer);
        return BJ_OK;
    }
    circumstances around = look_around(samples, curve->round_count);
    status = open_groups(curve, bj_data_find_curve(samples, BJ_SLOT_THROTTLED), request->from_table, &groups, error);
    if (status == BJ_OK)
        status = answer_slot(&groups, &around, request, answer, error);
    if (around.throttled_rounds > 0)
        bj_data_cite_curve(answer, BJ_SLOT_THROTTLED);
    free_groups(&groups);
    return status;
}
