#include "cli/run_header.h"

#include <stdio.h>
#include <string.h>

/* Where the profile goes and how much we say on the way does not belong to what was measured. */
static bool is_recorded(const char *option) {
    static const char *const left_out[] = {"output", "force", "resume", "quiet"};
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        if (strcmp(option, left_out[i]) == 0)
            return false;
    return true;
}

bj_status bj_cli_record_arguments(const bj_cli_arguments *arguments, bj_profile *profile, bj_error *error) {
    bj_strings *list = &profile->run.arguments;
    bj_strings_free(list);
    bj_status status = BJ_OK;
    for (size_t i = 0; i < arguments->operand_count && status == BJ_OK; i++)
        status = bj_strings_add(list, arguments->operands[i], error);
    for (size_t i = 0; i < arguments->given_count && status == BJ_OK; i++) {
        const bj_cli_given *given = &arguments->given[i];
        if (!is_recorded(given->option->name))
            continue;
        char option[48];
        snprintf(option, sizeof option, "--%s", given->option->name);
        status = bj_strings_add(list, option, error);
        if (status == BJ_OK && given->value != NULL)
            status = bj_strings_add(list, given->value, error);
    }
    return status;
}
