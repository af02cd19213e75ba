#include "cli/compare_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/style.h"
#include "fleet/fleet.h"
#include "report/machine_table.h"

/* "profiles/zen3.json.gz" is called zen3. */
static bj_status name_machine(const char *path, bj_strings *names, bj_error *error) {
    char name[100];
    const char *slash = strrchr(path, '/');
    bj_fleet_name_host(slash != NULL && slash[1] != '\0' ? slash + 1 : path, name, sizeof name);
    return bj_strings_add(names, name, error);
}

/* --keys may be given several times, and has several patterns with commas between them. */
static bj_status read_keys(const bj_cli_arguments *arguments, bj_strings *keys, bj_error *error) {
    for (size_t i = 0; i < arguments->given_count; i++) {
        if (strcmp(arguments->given[i].option->name, "keys") != 0)
            continue;
        const char *at = arguments->given[i].value;
        do {
            char key[80];
            size_t length = strcspn(at, ",");
            if (length == 0 || length >= sizeof key)
                return bj_base_set_error(error, BJ_ERR_USAGE, "--keys: expected keys or patterns, found '%.40s'", at);
            snprintf(key, sizeof key, "%.*s", (int)length, at);
            BJ_TRY(bj_strings_add(keys, key, error));
            at += length + (at[length] == ',');
        } while (*at != '\0');
    }
    return BJ_OK;
}

static bj_status print(const bj_cli_arguments *arguments, bj_profile *profiles, bj_strings *names, bj_strings *keys,
                       bj_error *error) {
    const char *name = bj_cli_find_value(arguments, "format");
    bj_table_format format = BJ_TABLE_TEXT;
    if (name != NULL && !bj_report_parse_table_format(name, &format))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--format: expected text, markdown or csv, found '%.40s'", name);
    BJ_TRY(read_keys(arguments, keys, error));
    for (size_t i = 0; i < arguments->operand_count; i++) {
        BJ_TRY(name_machine(arguments->operands[i], names, error));
        BJ_TRY(bj_profile_read_answers(arguments->operands[i], &profiles[i], error));
    }
    bj_terminal_style style = bj_cli_find_style();
    bj_machine_table machines = {profiles, (const char *const *)names->items, names->count,
                                 (const char *const *)keys->items, keys->count};
    return bj_report_write_machine_table(stdout, &machines, format, &style, error);
}

bj_status bj_cli_print_machine_table(const bj_cli_arguments *arguments, bj_error *error) {
    bj_strings names = {0}, keys = {0};
    if (arguments->operand_count == 0 || bj_cli_is_given(arguments, "json"))
        return bj_base_set_error(error, BJ_ERR_USAGE, "compare --table: expected FILE..., and no --json");
    bj_profile *profiles = calloc(arguments->operand_count, sizeof *profiles);
    if (profiles == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu profiles", arguments->operand_count);
    for (size_t i = 0; i < arguments->operand_count; i++)
        bj_profile_init(&profiles[i]);
    bj_status status = print(arguments, profiles, &names, &keys, error);
    for (size_t i = 0; i < arguments->operand_count; i++)
        bj_profile_free(&profiles[i]);
    free(profiles);
    bj_strings_free(&names);
    bj_strings_free(&keys);
    return status;
}
