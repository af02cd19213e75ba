#include "emit/variables.h"

#include <stdlib.h>
#include <string.h>

#include "data/number.h"

bj_status bj_emit_check_any(const bj_emit_request *request, bj_error *error) {
    const bj_answers *answers = &request->profile->answers;
    bj_emit_value value;
    for (size_t i = 0; i < answers->count; i++)
        if (bj_emit_accepts(request, &answers->items[i], &value))
            return BJ_OK;
    return bj_base_set_error(error, BJ_ERR_FAILED, "%s: none of the profile's %zu answers is ok with %s confidence",
                             request->emitter->name, answers->count,
                             bj_data_name_confidence(request->options.least_confidence));
}

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

/* a.b and a_b would both become A_B, and one would silently win. */
static bj_status check_names(const bj_emit_request *request, bj_error *error) {
    const bj_answers *answers = &request->profile->answers;
    char(*names)[BJ_EMIT_NAME_ROOM] = calloc(answers->count + 1, sizeof *names);
    if (names == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu names", answers->count);
    bj_status status = BJ_OK;
    for (size_t i = 0; i < answers->count; i++)
        bj_emit_name_variable(answers->items[i].key, names[i]);
    qsort(names, answers->count, sizeof *names, compare_names);
    for (size_t i = 1; i < answers->count && status == BJ_OK; i++)
        if (strcmp(names[i], names[i - 1]) == 0)
            status = bj_base_set_error(error, BJ_ERR_FAILED, "%s: two keys of the profile would both become %s",
                                       request->emitter->name, names[i]);
    free(names);
    return status;
}

static void print_comment(const bj_emit_language *language, FILE *out, const char *label, const char *text) {
    fprintf(out, "%s%s", language->comment_begin, label);
    bj_emit_print_safely(out, text, language->comment_unsafe);
    fprintf(out, "%s\n", language->comment_end);
}

void bj_emit_print_origin(const bj_emit_request *request, const bj_emit_language *language, FILE *out) {
    const bj_profile *profile = request->profile;
    char line[400];
    snprintf(line, sizeof line, "Made by 'blackjack emit %s' from a profile of %s, %s (%s).", request->emitter->name,
             profile->environment.cpu[0] != '\0' ? profile->environment.cpu : "an unnamed cpu",
             profile->environment.os[0] != '\0' ? profile->environment.os : "an unnamed system",
             profile->created[0] != '\0' ? profile->created : "no date");
    print_comment(language, out, "", line);
}

/* What comes in whole numbers by its nature; all else is measured on a scale and is whole by chance. */
static bool is_counted(const char *unit) {
    static const char *const units[] = {"", "bytes", "count", "ways", "entries", "lines", "pages", "levels", "cpus"};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return false;
}

static void print_answer(const bj_emit_request *request, const bj_emit_language *language, const bj_answer *answer,
                         FILE *out) {
    char name[BJ_EMIT_NAME_ROOM], note[BJ_EMIT_NOTE_ROOM], line[BJ_EMIT_NOTE_ROOM + 32], number[BJ_NUMBER_ROOM + 2];
    char reason[BJ_EMIT_REASON_ROOM];
    bj_emit_value value;
    bj_emit_name_variable(answer->key, name);
    if (!bj_emit_accepts(request, answer, &value)) {
        bj_emit_describe_refusal(request, answer, reason);
        fprintf(out, "%s%s is left out: ", language->comment_begin, name);
        bj_emit_print_safely(out, reason, language->comment_unsafe);
        fprintf(out, "%s\n", language->comment_end);
        return;
    }
    bj_emit_describe_value(&value, note);
    snprintf(line, sizeof line, "%s%s%s", answer->unit, answer->unit[0] != '\0' ? "; " : "", note);
    print_comment(language, out, "", line);
    if (!value.claimed && answer->structured != NULL) {
        language->print_text(out, name, answer->structured);
        return;
    }
    bj_data_format_number(value.value, number);
    if (language->reals_have_point && !is_counted(answer->unit) && number[strspn(number, "-0123456789")] == '\0')
        strcat(number, ".0");
    language->print_number(out, name, number);
}

bj_status bj_emit_print_variables(const bj_emit_request *request, const bj_emit_language *language, FILE *out,
                                  bj_error *error) {
    const bj_answers *answers = &request->profile->answers;
    bj_status status = bj_emit_check_any(request, error);
    if (status == BJ_OK)
        status = check_names(request, error);
    if (status != BJ_OK)
        return status;
    bj_emit_print_origin(request, language, out);
    for (size_t i = 0; i < answers->count; i++)
        print_answer(request, language, &answers->items[i], out);
    return BJ_OK;
}
