#include "probes/vector/vector_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probes/kit/estimate.h"
#include "probes/vector/vector_constants.h"
#include "probes/vector/vector_families.h"

static bool lacks(const bj_curve *curve) {
    return curve == NULL || bj_data_has_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED);
}

/* Whether the machine has vectors of the type at all: one operation, or registers. A width that it lacks has no keys.
 */
static bool has_type(const bj_curves *samples, const bj_vector_type *type) {
    char key[BJ_LIVE_KEY_ROOM];
    for (size_t i = 0; i < BJ_VECTOR_ANSWERED; i++) {
        const bj_chain_family *family = &bj_vector_chains.families[i];
        if (strcmp(family->type, type->name) == 0 && !lacks(bj_kit_find_chain(samples, family, BJ_UNROLL_TWICE)))
            return true;
    }
    snprintf(key, sizeof key, "live.%s", type->name);
    return !lacks(bj_data_find_curve(samples, key));
}

static bj_status answer_operations(bj_chain_analysis *analysis, const bj_curves *samples, bj_answers *answers,
                                   bj_error *error) {
    bj_status status = BJ_OK;
    for (size_t i = 0; i < BJ_VECTOR_ANSWERED && status == BJ_OK; i++)
        if (has_type(samples, &bj_vector_types[i / BJ_VECTOR_OPERATIONS]))
            status = bj_kit_answer_chain(analysis, &bj_vector_chains.families[i], answers, error);
    return status;
}

static bj_status answer_registers(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                                  bj_error *error) {
    bj_analyse_request asked = *request;
    asked.method = "spill_hinge";
    for (size_t t = 0; t < BJ_VECTOR_TYPES; t++) {
        char key[BJ_LIVE_KEY_ROOM];
        bj_answer *answer;
        if (!has_type(samples, &bj_vector_types[t]))
            continue;
        bj_kit_name_live(&bj_vector_live, t, key);
        BJ_TRY(bj_kit_answer_live(samples, key, &asked, answers, error));
        answer = (bj_answer *)bj_data_find_answer(answers, key);
        snprintf(answer->method, sizeof answer->method, "%s/%u", asked.method, BJ_VECTOR_REVISION);
    }
    return BJ_OK;
}

static const bj_answer *find_rate(const bj_answers *answers, const bj_vector_type *type, const char *operation) {
    char key[sizeof answers->items->key];
    snprintf(key, sizeof key, "op.%s.%s.throughput", type->name, operation);
    const bj_answer *answer = bj_data_find_answer(answers, key);
    return answer != NULL && bj_data_has_value(answer) ? answer : NULL;
}

static bj_vector_rate scale_rate(const bj_answer *answer, const bj_vector_type *type) {
    return (bj_vector_rate){type->width_bytes, answer->value * type->lanes, answer->interval[0] * type->lanes,
                            answer->interval[1] * type->lanes};
}

/* A fused operation where there is one; else a product and a sum, as many as the scarcer one allows. What its answer
 * rests on is the least sure of both. */
static bj_vector_rate find_width_rate(const bj_answers *answers, const bj_vector_type *type, bj_confidence *surest) {
    const bj_answer *fma = find_rate(answers, type, "fma"), *mul = find_rate(answers, type, "mul");
    const bj_answer *add = find_rate(answers, type, "add");
    if (fma == NULL && (mul == NULL || add == NULL))
        return (bj_vector_rate){type->width_bytes, NAN, NAN, NAN};
    const bj_answer *scarcer = fma != NULL ? fma : mul->value < add->value ? mul : add;
    *surest = bj_kit_least(*surest, scarcer->confidence);
    return scale_rate(scarcer, type);
}

/* Index of the narrowest width whose rate is within a twentieth of the highest; count: none is known. Widths ascend. */
static size_t choose_width(const bj_vector_rate *rates, size_t count) {
    double highest = NAN;
    for (size_t i = 0; i < count; i++)
        highest = fmax(highest, rates[i].rate); /* fmax passes over NaN */
    for (size_t i = 0; i < count; i++)
        if (rates[i].rate >= (1 - PAYS) * highest)
            return i;
    return count;
}

/* The width if every rate lay at one end of its interval: the one of that index at `own`, all others at the other. */
static unsigned choose_at_ends(const bj_vector_rate *rates, size_t count, bool wide) {
    unsigned chosen = 0;
    for (size_t i = 0; i < count; i++) {
        bj_vector_rate moved[BJ_VECTOR_TYPES];
        for (size_t k = 0; k < count; k++) {
            moved[k] = rates[k];
            moved[k].rate = k == i ? rates[k].highest : rates[k].lowest;
        }
        size_t choice = choose_width(moved, count);
        unsigned width = choice < count ? moved[choice].width_bytes : 0;
        if (width != 0 && (chosen == 0 || (wide ? width > chosen : width < chosen)))
            chosen = width;
    }
    return chosen;
}

static void fill_width(const bj_vector_rate *rates, size_t count, bj_confidence surest, bj_answer *answer) {
    size_t chosen = choose_width(rates, count);
    answer->value = rates[chosen].width_bytes;
    answer->has_interval = true;
    answer->interval[0] = fmin(choose_at_ends(rates, count, false), answer->value);
    answer->interval[1] = fmax(choose_at_ends(rates, count, true), answer->value);
    answer->confidence = surest;
    answer->status = BJ_ANSWER_OK;
}

/* *chosen: the type of doubles that pays; NULL: none is known. */
static bj_status answer_width(const bj_curves *samples, bj_answers *answers, const bj_vector_type **chosen,
                              bj_error *error) {
    bj_vector_rate rates[BJ_VECTOR_TYPES];
    const bj_vector_type *types[BJ_VECTOR_TYPES], *unknown = NULL;
    bj_confidence surest = BJ_CONFIDENCE_HIGH;
    bj_answer *answer;
    size_t count = 0;
    *chosen = NULL;
    for (size_t t = 0; t < BJ_VECTOR_TYPES; t++) {
        const bj_vector_type *type = &bj_vector_types[t];
        if (!type->is_double || !has_type(samples, type))
            continue;
        types[count] = type;
        rates[count] = find_width_rate(answers, type, &surest);
        unknown = isnan(rates[count].rate) ? type : unknown;
        count++;
    }
    BJ_TRY(bj_data_put_answer(answers, "vector.width_bytes", "bytes", &answer, error));
    for (size_t i = 0; i < count; i++) {
        char id[BJ_CHAIN_NAME_ROOM];
        bj_kit_name_chain(bj_vector_find_family(types[i]->name, "fma"), BJ_UNROLL_TWICE, id);
        bj_data_cite_curve(answer, id);
    }
    if (count == 0) {
        bj_kit_refuse(answer, BJ_ANSWER_UNSUPPORTED,
                      "this machine, or this compiler for it, has no vectors of doubles");
        return BJ_OK;
    }
    if (unknown != NULL) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the rate of multiply-adds of %s is not known", unknown->name);
        return BJ_OK;
    }
    fill_width(rates, count, surest, answer);
    *chosen = types[choose_width(rates, count)];
    return BJ_OK;
}

/* Of the width that pays. */
static bj_status answer_moves(bj_chain_analysis *analysis, const bj_vector_type *type, bj_answers *answers,
                              bj_error *error) {
    static const char *const operations[] = {"load", "store"};
    const bj_answer *width = bj_data_find_answer(answers, "vector.width_bytes");
    bj_answer_status why = width->status;
    for (size_t i = 0; i < 2; i++) {
        char key[32];
        bj_answer *answer;
        snprintf(key, sizeof key, "op.%s.throughput", operations[i]);
        if (type != NULL) {
            BJ_TRY(bj_kit_answer_chain_rate(analysis, bj_vector_find_family(type->name, operations[i]), key, answers,
                                            error));
            continue;
        }
        BJ_TRY(bj_data_put_answer(answers, key, "per int32 add", &answer, error));
        bj_kit_refuse(answer, why, "no width of vectors that pays is known");
    }
    return BJ_OK;
}

bj_status bj_vector_answer(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                           bj_error *error) {
    bj_chain_analysis *analysis;
    const bj_vector_type *chosen = NULL;
    BJ_TRY(bj_kit_open_chain_analysis(&bj_vector_chains, samples, request, &analysis, error));
    bj_status status = answer_operations(analysis, samples, answers, error);
    if (status == BJ_OK)
        status = answer_registers(samples, request, answers, error);
    if (status == BJ_OK)
        status = answer_width(samples, answers, &chosen, error);
    if (status == BJ_OK)
        status = answer_moves(analysis, chosen, answers, error);
    bj_kit_close_chain_analysis(analysis);
    return status;
}
