/* Analysis under supervision: what a probe answers is checked before anyone reads it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/number.h"
#include "runner/filing.h"
#include "runner/keys.h"
#include "runner/runner.h"

static void fail_answer(bj_answer *answer, const char *reason) {
    answer->status = BJ_ANSWER_FAILED;
    snprintf(answer->reason, sizeof answer->reason, "%s", reason);
}

static void check_range(const bj_probe_key *key, bj_answer *answer) {
    char reason[sizeof answer->reason];
    if (!bj_data_has_value(answer) || answer->structured != NULL)
        return;
    if (!isfinite(answer->value)) {
        fail_answer(answer, "the analysis gave no finite number");
    } else if (key->highest > key->lowest && (answer->value < key->lowest || answer->value > key->highest)) {
        char value[BJ_NUMBER_ROOM], lowest[BJ_NUMBER_ROOM], highest[BJ_NUMBER_ROOM];
        bj_data_format_number(bj_data_round_number(answer->value, BJ_ANSWER_DIGITS), value);
        bj_data_format_number(key->lowest, lowest);
        bj_data_format_number(key->highest, highest);
        snprintf(reason, sizeof reason, "implausible: %s %s, expected from %s to %s", value, key->unit, lowest,
                 highest);
        fail_answer(answer, reason);
    }
}

/* A sampled x is reported as it was measured, whatever its digits. */
static bool is_sampled_x(const bj_curves *samples, double value) {
    for (size_t c = 0; c < samples->count; c++)
        for (size_t i = 0; i < samples->items[c].x_count; i++)
            if (samples->items[c].x[i] == value)
                return true;
    return false;
}

static double round_answer(const bj_curves *samples, double value) {
    return is_sampled_x(samples, value) ? value : bj_data_round_number(value, BJ_ANSWER_DIGITS);
}

static void round_numbers(const bj_curves *samples, bj_answer *answer) {
    if (bj_data_has_value(answer) && answer->structured == NULL) {
        bool inside = answer->interval[0] <= answer->value && answer->value <= answer->interval[1];
        answer->value = round_answer(samples, answer->value);
        for (int end = 0; end < 2; end++)
            answer->interval[end] = round_answer(samples, answer->interval[end]);
        if (inside) {
            answer->interval[0] = fmin(answer->interval[0], answer->value);
            answer->interval[1] = fmax(answer->interval[1], answer->value);
        }
    } else {
        answer->has_interval = false;
    }
    if (!bj_data_has_value(answer)) {
        answer->confidence = BJ_CONFIDENCE_NONE;
        free(answer->structured);
        answer->structured = NULL;
        answer->value = 0;
    }
    if (!isfinite(answer->interval[0]) || !isfinite(answer->interval[1]))
        answer->has_interval = false;
    answer->p = bj_data_round_number(answer->p, BJ_ANSWER_DIGITS);
    answer->has_p = answer->has_p && answer->p >= 0 && answer->p <= 1;
}

/* The part of a key that names a level, "cache.L2." of "cache.L2.read_gbs"; 0: it names none. Memory is the level
 * behind the last cache: who took a cache for it has measured that cache's rate. */
static size_t measure_level_part(const char *key) {
    static const char memory[] = "memory.";
    if (strncmp(key, memory, strlen(memory)) == 0)
        return strlen(memory);
    const char *at = strstr(key, ".L");
    size_t digits = at != NULL ? strspn(at + 2, "0123456789") : 0;
    return digits > 0 && at[2 + digits] == '.' ? (size_t)(at - key) + 3 + digits : 0;
}

static bool is_needed(const bj_probe *probe, const char *name) {
    for (size_t i = 0; probe->needs != NULL && probe->needs[i] != NULL; i++)
        if (strcmp(probe->needs[i], name) == 0)
            return true;
    return false;
}

/* What is said of a level is no surer than that there is such a level, which is told by the surest answer about it of
 * the probes that this one needs. Others rest on this one, and must not come back to it. */
static void cap_by_level(const bj_probe *probe, const bj_answers *earlier, bj_answer *answer) {
    size_t length = measure_level_part(answer->key);
    bj_confidence surest = BJ_CONFIDENCE_NONE;
    for (size_t i = 0; length > 0 && i < earlier->count; i++) {
        const bj_answer *other = &earlier->items[i];
        if (strncmp(other->key, answer->key, length) == 0 && is_needed(probe, other->probe) &&
            bj_data_has_value(other) && other->confidence > surest)
            surest = other->confidence;
    }
    if (surest != BJ_CONFIDENCE_NONE && answer->confidence > surest)
        answer->confidence = surest;
}

/* No probe is surer than its interval, however it came by it: wider than the tolerance that the key promises is
 * `medium` at most. */
static void cap_by_width(const bj_probe_key *key, bj_answer *answer) {
    double tolerance = fmax(key->tolerance, key->tolerance_least / fabs(answer->value));
    if (answer->has_interval && key->tolerance > 0 && answer->confidence > BJ_CONFIDENCE_MEDIUM &&
        bj_data_is_wide(answer->interval, tolerance))
        answer->confidence = BJ_CONFIDENCE_MEDIUM;
}

/* A paper's method as printed may be off by a quarter in all rounds alike, and resampling them cannot show it. */
static void cap_literal(const bj_probe *probe, const char *method, bj_answer *answer) {
    if (!bj_data_has_value(answer) || !bj_runner_is_literal(probe, method))
        return;
    if (answer->confidence > BJ_CONFIDENCE_LOW)
        answer->confidence = BJ_CONFIDENCE_LOW;
    snprintf(answer->caveat, sizeof answer->caveat, "%s", BJ_LITERAL_CAVEAT);
}

static void complete_texts(const bj_probe *probe, const char *method, bj_answer *answer) {
    if (answer->status == BJ_ANSWER_OK)
        answer->reason[0] = '\0';
    else if (answer->reason[0] == '\0')
        snprintf(answer->reason, sizeof answer->reason, "the analysis gave no reason");
    if (answer->method[0] == '\0' && probe->methods != NULL && probe->methods[0] != NULL)
        snprintf(answer->method, sizeof answer->method, "%.30s/%u", method != NULL ? method : probe->methods[0],
                 probe->revision);
}

/* A run that was cut short lacks curves which its answers would rest on otherwise: those are no evidence. */
static void drop_missing_evidence(const bj_curves *samples, bj_answer *answer) {
    size_t kept = 0;
    for (size_t i = 0; i < answer->evidence_count; i++)
        if (bj_data_find_curve(samples, answer->evidence[i]) != NULL)
            memmove(answer->evidence[kept++], answer->evidence[i], sizeof answer->evidence[0]);
    answer->evidence_count = kept;
}

bj_status bj_runner_analyse_probe(const bj_probe *probe, const bj_curves *samples, const bj_analyse_request *request,
                                  bj_answers *answers, bj_error *error) {
    bj_analyse_request asked = *request;
    asked.method = bj_runner_find_method(probe, request->method);
    BJ_TRY(probe->analyse(samples, &asked, answers, error));
    for (size_t i = 0; i < answers->count; i++) {
        bj_answer *answer = &answers->items[i];
        const bj_probe_key *key = bj_runner_find_key(probe, answer->key);
        if (key == NULL)
            return bj_base_set_error(error, BJ_ERR_FAILED, "probe %s answered %s, which it does not provide",
                                     probe->name, answer->key);
        check_range(key, answer);
        round_numbers(samples, answer);
        drop_missing_evidence(samples, answer);
        cap_by_level(probe, request->earlier, answer);
        cap_by_width(key, answer);
        cap_literal(probe, asked.method, answer);
        complete_texts(probe, asked.method, answer);
        snprintf(answer->probe, sizeof answer->probe, "%s", probe->name);
    }
    return BJ_OK;
}

bj_status bj_runner_conclude_probe(const bj_probe *probe, const bj_curves *samples, const bj_analyse_request *request,
                                   bj_answers *answers, bj_error *trouble, bj_error *error) {
    trouble->text[0] = '\0';
    bj_status status = bj_runner_analyse_probe(probe, samples, request, answers, trouble);
    /* An analysis asks the machine for nothing but memory: without it the probe has not failed, we have. */
    if (status == BJ_ERR_RESOURCE || bj_base_take_no_memory())
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%s: %s", probe->name,
                                 status == BJ_ERR_RESOURCE ? trouble->text : "out of memory");
    if (status == BJ_OK)
        return bj_runner_fill_answers(probe, BJ_ANSWER_UNDETERMINED, "the analysis gave no answer", answers, error);
    bj_data_free_answers(answers);
    if (trouble->text[0] == '\0')
        (void)bj_base_set_error(trouble, BJ_ERR_FAILED, "the analysis failed");
    return bj_runner_fill_answers(probe, BJ_ANSWER_FAILED, trouble->text, answers, error);
}

/* What the OS said when the samples were taken is not in them: it is carried over. */
static void keep_claims(const bj_answers *old, bj_answers *fresh) {
    for (size_t i = 0; i < fresh->count; i++) {
        const bj_answer *before = bj_data_find_answer(old, fresh->items[i].key);
        if (before == NULL || !before->has_claimed)
            continue;
        fresh->items[i].has_claimed = true;
        fresh->items[i].claimed = before->claimed;
    }
}

static bj_status reanalyse_probe(const bj_probe *probe, bj_profile *profile, bj_error *error) {
    bj_curves samples = {0};
    bj_answers answers = {0}, earlier = {0};
    bj_error trouble;
    bj_status status = bj_data_copy_curves(&profile->curves, probe->name, &samples, error);
    if (status == BJ_OK && samples.count > 0)
        status = bj_runner_list_earlier(&profile->answers, probe, &earlier, error);
    if (status != BJ_OK || samples.count == 0)
        goto done;
    bj_analyse_request request = {
        .earlier = &earlier,
        .seed = bj_runner_seed_probe(profile->run.seed, probe->name),
    };
    if (profile->run.method[0] != '\0')
        request.method = bj_runner_find_method(probe, profile->run.method);
    status = bj_runner_conclude_probe(probe, &samples, &request, &answers, &trouble, error);
    if (status != BJ_OK)
        goto done;
    keep_claims(&profile->answers, &answers);
    status = bj_runner_file_answers(profile, probe, &answers, error);
    if (status == BJ_OK)
        status = bj_runner_file_record(profile, probe, trouble.text[0] == '\0' ? BJ_ANSWER_OK : BJ_ANSWER_FAILED,
                                       trouble.text, error);
done:
    free(earlier.items);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
    return status;
}

bj_status bj_runner_reanalyse(bj_profile *profile, bj_error *error) {
    const bj_run_plan everything = {.on_request = true};
    const bj_probe **order = NULL;
    size_t count = 0;
    bj_status status = bj_runner_order_probes(&everything, &order, &count, error);
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        status = reanalyse_probe(order[i], profile, error);
    free(order);
    return status;
}
