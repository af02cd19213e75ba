/* What came of it, for a person in one line, and for a program. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "data/number.h"
#include "profile/json_text.h"
#include "report/terminal_text.h"
#include "verify/verify.h"

static const char *const state_names[] = {[BJ_VERIFY_UNMEASURED] = "not measured",
                                          [BJ_VERIFY_SAME] = "same",
                                          [BJ_VERIFY_UNSURE] = "unsure",
                                          [BJ_VERIFY_BEYOND] = "unsure",
                                          [BJ_VERIFY_WORSE] = "worse"};

/* In the unit of the point. */
static double find_baseline(const bj_verify_check *check) {
    return exp(check->is_rate ? -check->norm.centre : check->norm.centre);
}

static double find_value(const bj_verify_check *check) {
    return find_baseline(check) * exp(check->is_rate ? -bj_verify_find_shift(check) : bj_verify_find_shift(check));
}

/* "cache.L2.latency_ns 31% up (4.06 ns, was 3.1 ns)" */
static void print_check(FILE *out, const bj_verify_check *check) {
    char now[48], before[48];
    double percent = 100 * (find_value(check) / find_baseline(check) - 1);
    bj_report_format_quantity(find_value(check), check->unit, now);
    bj_report_format_quantity(find_baseline(check), check->unit, before);
    fprintf(out, "%s", check->key);
    if (check->meaning[0] != '\0')
        fprintf(out, ", %s,", check->meaning);
    else if (strcmp(check->unit, "ns") == 0 && strstr(check->key, "size_bytes") != NULL) {
        char size[48];
        bj_report_format_quantity(check->x, "bytes", size);
        fprintf(out, ", a walk of %s,", size);
    }
    fprintf(out, " %.0f%% %s (%s, was %s)", fabs(percent), percent < 0 ? "down" : "up", now, before);
}

static void print_worse(FILE *out, const bj_verification *verification) {
    size_t others = verification->worse_count - 1;
    fprintf(out, "worse: ");
    print_check(out, verification->worst);
    if (others > 0)
        fprintf(out, " and %zu more", others);
    fputc('\n', out);
}

/* Beyond the allowance at least, and not worse. */
static bool is_doubtful(const bj_verify_check *check) {
    return check->state == BJ_VERIFY_UNSURE || check->state == BJ_VERIFY_BEYOND;
}

static void print_same(FILE *out, const bj_verification *verification) {
    size_t looked = 0, unsure = 0;
    const bj_verify_check *doubtful = NULL;
    for (size_t i = 0; i < verification->count; i++) {
        const bj_verify_check *check = &verification->checks[i];
        looked += check->state != BJ_VERIFY_UNMEASURED;
        unsure += is_doubtful(check);
        if (is_doubtful(check) && (doubtful == NULL || bj_verify_find_shift(check) > bj_verify_find_shift(doubtful)))
            doubtful = check;
    }
    fprintf(out, "same: %zu of %zu numbers looked at in %.1f s", looked, verification->count, verification->seconds);
    if (verification->untold > 0)
        fprintf(out, "; %zu cannot be told by this baseline", verification->untold);
    if (doubtful != NULL) {
        fprintf(out, doubtful->beyond > 0 ? "; not seen to last: " : "; not beyond chance: ");
        print_check(out, doubtful);
        if (unsure > 1)
            fprintf(out, " and %zu more", unsure - 1);
    }
    fputc('\n', out);
}

void bj_verify_print(FILE *out, const bj_verification *verification) {
    if (verification->worst != NULL)
        print_worse(out, verification);
    else
        print_same(out, verification);
}

static double rounded(double value) {
    return bj_data_round_number(value, BJ_ANSWER_DIGITS);
}

static void append_check(bj_json_text *json, const bj_verification *verification, const bj_verify_check *check) {
    bj_json_append(json, "\n    {");
    bj_json_append_text_member(json, "key", check->key);
    bj_json_append_text_member(json, "verdict", state_names[check->state]);
    bj_json_append_text_member(json, "curve", check->curve);
    if (check->x > 0)
        bj_json_append_number_member(json, "x", check->x);
    bj_json_append_text_member(json, "unit", check->unit);
    bj_json_append_number_member(json, "baseline", rounded(find_baseline(check)));
    if (check->count > 0) {
        bj_json_append_number_member(json, "value", rounded(find_value(check)));
        bj_json_append_number_member(json, "ratio", rounded(find_value(check) / find_baseline(check)));
    }
    bj_json_append_u64_member(json, "rounds", check->count);
    /* The least change that would be found, as a factor to the worse. */
    bj_json_append_number_member(json, "finds", rounded(bj_verify_find_least_change(verification, check)));
    bj_json_append(json, "}");
}

bj_status bj_verify_to_json(const bj_verification *verification, char **text, bj_error *error) {
    bj_json_text json = {0};
    bj_json_append(&json, "{\n  \"format\": \"" BJ_VERIFY_FORMAT "\",\n  \"verdict\": ");
    bj_json_append_string(&json, verification->worst != NULL ? "worse" : "same");
    bj_json_append(&json, ",\n  \"key\": ");
    if (verification->worst != NULL)
        bj_json_append_string(&json, verification->worst->key);
    else
        bj_json_append(&json, "null");
    bj_json_append(&json, ",\n  \"seconds\": ");
    bj_json_append_number(&json, rounded(verification->seconds));
    bj_json_append(&json, ",\n  \"false_alarms\": ");
    bj_json_append_number(&json, BJ_VERIFY_FALSE_ALARM);
    bj_json_append(&json, ",\n  \"profiles\": ");
    bj_json_append_u64(&json, verification->profile_count);
    bj_json_append(&json, ",\n  \"cpu\": ");
    bj_json_append_u64(&json, (uint64_t)verification->cpu);
    bj_json_append(&json, ",\n  \"numbers\": [");
    for (size_t i = 0; i < verification->count; i++) {
        bj_json_append(&json, i == 0 ? "" : ",");
        append_check(&json, verification, &verification->checks[i]);
    }
    bj_json_append(&json, "\n  ],\n  \"notes\": [");
    for (size_t i = 0; i < verification->notes.count; i++) {
        bj_json_append(&json, i == 0 ? "" : ", ");
        bj_json_append_string(&json, verification->notes.items[i]);
    }
    bj_json_append(&json, "]\n}\n");
    bj_status status = bj_json_finish(&json, text, NULL, error);
    bj_json_discard(&json);
    return status;
}
