#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/values.h"
#include "profile/places.h"
#include "profile/profile.h"
#include "runner/keys.h"

typedef struct {
    bj_profile profile;
    char *file;
    const char *const *keys; /* or patterns */
    size_t key_count;
    const char *field;
    const char *otherwise; /* --default; NULL: none */
    bj_confidence least;
    bool named; /* lines of "KEY VALUE" instead of a value alone */
} query;

static bool is_pattern(const char *key) {
    return strpbrk(key, "*?[") != NULL;
}

/* Keys have points in them and fields have none, so the second of two words says by itself what it is. */
static bool is_field(const char *word) {
    return strchr(word, '.') == NULL && !is_pattern(word);
}

static bj_status read_query(const bj_cli_arguments *arguments, query *query, bj_error *error) {
    const char *const *operands = arguments->operands;
    bool has_file = bj_cli_is_file_name(operands[0]);
    query->keys = operands + has_file;
    query->key_count = arguments->operand_count - has_file;
    query->field = bj_cli_find_value(arguments, "field");
    query->otherwise = bj_cli_find_value(arguments, "default");
    const char *least = bj_cli_find_value(arguments, "min-confidence");
    if (least != NULL && !bj_data_parse_confidence(least, &query->least))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--min-confidence: expected low, medium or high, found '%.40s'",
                                 least);
    if (query->key_count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "get: expected a key after '%.80s'; see 'blackjack help get'",
                                 operands[0]);
    if (query->field == NULL && query->key_count == 2 && is_field(query->keys[1]))
        query->field = query->keys[--query->key_count];
    if (query->field == NULL)
        query->field = "value";
    query->named = query->key_count > 1 || is_pattern(query->keys[0]);
    return bj_profile_read_default(has_file ? operands[0] : NULL, &query->profile, &query->file, error);
}

static bool is_known_key(const char *key) {
    for (size_t i = 0; i < bj_probe_count; i++)
        if (bj_runner_find_key(bj_probes[i], key) != NULL)
            return true;
    return false;
}

static size_t count_matches(const query *query, const char *pattern) {
    size_t count = 0;
    for (size_t i = 0; i < query->profile.answers.count; i++)
        count += fnmatch(pattern, query->profile.answers.items[i].key, 0) == 0;
    return count;
}

static bj_status refuse_key(const query *query, const char *key, bj_error *error) {
    const bj_answers *answers = &query->profile.answers;
    if (is_pattern(key))
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: no key matches '%.80s'", query->file, key);
    if (query->key_count > 2 && is_field(key))
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: no such key: '%.80s'; a field of several keys: --field",
                                 query->file, key);
    bj_cli_guess guess = {.word = key};
    for (size_t i = 0; i < answers->count; i++)
        bj_cli_offer_name(&guess, answers->items[i].key);
    return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: no such key: '%.80s'%s", query->file, key, guess.text);
}

/* Before anything is printed: a slip in one of several keys must not look like half an answer. A level that this
 * machine does not have is no slip where there is a default for it. */
static bj_status check_keys(const query *query, bj_error *error) {
    for (size_t i = 0; i < query->key_count; i++) {
        const char *key = query->keys[i];
        bool here = is_pattern(key) ? count_matches(query, key) > 0
                                    : bj_data_find_answer(&query->profile.answers, key) != NULL ||
                                          (query->otherwise != NULL && is_known_key(key));
        if (!here)
            return refuse_key(query, key, error);
    }
    return BJ_OK;
}

static bj_status find_text(const query *query, const char *key, const bj_answer *answer, char **text, bj_error *error) {
    if (answer == NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: not in this profile", key);
    /* The value is printed only where it can be relied on; other fields as they are. */
    if (strcmp(query->field, "value") == 0 && answer->status != BJ_ANSWER_OK)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: %s: %s", key, bj_data_name_status(answer->status),
                                 answer->reason);
    bj_confidence confidence = answer->confidence != BJ_CONFIDENCE_NONE ? answer->confidence : BJ_CONFIDENCE_LOW;
    if (confidence < query->least)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: confidence is %s, asked for is %s", key,
                                 bj_data_name_confidence(confidence), bj_data_name_confidence(query->least));
    return bj_profile_field_to_text(answer, query->field, text, error);
}

static bj_status print_field(const query *query, const char *key, const bj_answer *answer) {
    bj_error error;
    char *text = NULL;
    bj_status status = find_text(query, key, answer, &text, &error);
    bool defaults = status == BJ_ERR_FAILED && query->otherwise != NULL;
    if (status == BJ_OK)
        bj_base_hide_controls(text); /* a script reads one line */
    if (status == BJ_OK || defaults)
        printf("%s%s%s\n", query->named ? key : "", query->named ? " " : "", defaults ? query->otherwise : text);
    else
        bj_cli_complain("%s", error.text);
    free(text);
    return defaults ? BJ_OK : status;
}

/* The first trouble is the result, the others are said, too. */
static bj_status print_fields(const query *query) {
    bj_status result = BJ_OK;
    const bj_answers *answers = &query->profile.answers;
    for (size_t k = 0; k < query->key_count && result != BJ_ERR_USAGE; k++) {
        const char *key = query->keys[k];
        if (!is_pattern(key)) {
            bj_status status = print_field(query, key, bj_data_find_answer(answers, key));
            result = result == BJ_OK ? status : result;
            continue;
        }
        for (size_t i = 0; i < answers->count && result != BJ_ERR_USAGE; i++)
            if (fnmatch(key, answers->items[i].key, 0) == 0) {
                bj_status status = print_field(query, answers->items[i].key, &answers->items[i]);
                result = result == BJ_OK ? status : result;
            }
    }
    return result;
}

static int run(const bj_cli_arguments *arguments) {
    bj_error error;
    query query = {0};
    bj_profile_init(&query.profile);
    bj_status status = read_query(arguments, &query, &error);
    if (status == BJ_OK)
        status = check_keys(&query, &error);
    int result = status == BJ_OK ? bj_cli_exit_status(print_fields(&query)) : bj_cli_fail(status, &error);
    free(query.file);
    bj_profile_free(&query.profile);
    return result;
}

static const bj_cli_option options[] = {
    {"field", 0, "FIELD", "of each key, instead of the value"},
    {"default", 0, "VALUE", "print this instead where there is no such value; then the exit status is 0"},
    {"min-confidence", 0, "low|medium|high", "what is below this counts as not there"},
};

const bj_cli_command bj_cli_command_get = {
    .name = "get",
    .synopsis = "[FILE] KEY [FIELD | KEY...] [--field FIELD] [--default VALUE]\n"
                "[--min-confidence low|medium|high]",
    .summary = "Values of a profile, for a script",
    .details =
        "FIELD is one of " BJ_ANSWER_FIELDS ".\n"
        "Numbers and texts are printed plain, lists and objects as one line of JSON.\n"
        "\n"
        "The value (without FIELD, too) is printed only when the status is ok: otherwise nothing is printed, the\n"
        "reason goes to standard error and the exit status is 1. Of the other fields whatever the profile holds\n"
        "is printed ('interval' of an unstable answer, 'reason' of a failed one); exit status 1 when it holds\n"
        "nothing. A key that is not in the profile is a mistake in usage: exit status 2.\n"
        "\n"
        "KEY may be a pattern as of the shell, such as 'cache.L1.*'. A pattern and several keys give lines\n"
        "'KEY VALUE'; what is not there is left out, and the exit status is 1. A field of several keys needs\n"
        "--field; after one key or pattern a word without a point is the FIELD.\n"
        "\n"
        "With --default a level that this machine does not have gives that value; a key that no probe knows\n"
        "is still a mistake. An answer without a confidence counts as low.\n"
        "\n" BJ_CLI_FILE_HELP,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 1,
    .most_operands = (size_t)-1,
    .run = run,
};
