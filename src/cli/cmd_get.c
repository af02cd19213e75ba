#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "profile/profile.h"

static int refuse_key(const char *file, const char *key, const bj_answers *answers) {
    bj_cli_guess guess = {.word = key};
    for (size_t i = 0; i < answers->count; i++)
        bj_cli_offer_name(&guess, answers->items[i].key);
    bj_cli_complain("%.200s: no such key: '%.80s'%s", file, key, guess.text);
    return BJ_EXIT_USAGE;
}

static int print_field(const bj_answer *answer, const char *field) {
    bj_error error;
    char *text = NULL;
    /* The value is printed only where it can be relied on; other fields as they are. */
    if ((field == NULL || strcmp(field, "value") == 0) && answer->status != BJ_ANSWER_OK) {
        bj_cli_complain("%s: %s: %s", answer->key, bj_data_name_status(answer->status), answer->reason);
        return BJ_EXIT_FAILED;
    }
    bj_status status = bj_profile_field_to_text(answer, field != NULL ? field : "value", &text, &error);
    if (status != BJ_OK)
        return bj_cli_fail(status, &error);
    bj_base_hide_controls(text); /* a script reads one line */
    puts(text);
    free(text);
    return BJ_EXIT_OK;
}

static int run(const bj_cli_arguments *arguments) {
    bj_error error;
    bj_profile profile;
    bj_profile_init(&profile);
    bj_status status = bj_profile_read(arguments->operands[0], &profile, &error);
    if (status != BJ_OK)
        return bj_cli_fail(status, &error);
    const char *key = arguments->operands[1];
    const bj_answer *answer = bj_data_find_answer(&profile.answers, key);
    int result = answer == NULL ? refuse_key(arguments->operands[0], key, &profile.answers)
                                : print_field(answer, arguments->operand_count > 2 ? arguments->operands[2] : NULL);
    bj_profile_free(&profile);
    return result;
}

const bj_cli_command bj_cli_command_get = {
    .name = "get",
    .synopsis = "FILE KEY [FIELD]",
    .summary = "One value of a profile, for a script",
    .details =
        "FIELD is one of " BJ_ANSWER_FIELDS ".\n"
        "Numbers and texts are printed plain, lists and objects as one line of JSON.\n"
        "\n"
        "The value (without FIELD, too) is printed only when the status is ok: otherwise nothing is printed, the\n"
        "reason goes to standard error and the exit status is 1. Of the other fields whatever the profile holds\n"
        "is printed ('interval' of an unstable answer, 'reason' of a failed one); exit status 1 when it holds\n"
        "nothing. A key that is not in the profile is a mistake in usage: exit status 2.",
    .least_operands = 2,
    .most_operands = 3,
    .run = run,
};
