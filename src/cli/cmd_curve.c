#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/style.h"
#include "cli/values.h"
#include "probes/probe.h"
#include "profile/places.h"
#include "report/curve_text.h"

static bj_status find_curve(const bj_profile *profile, const char *file, const char *id, const bj_curve **curve,
                            bj_error *error) {
    *curve = bj_data_find_curve(&profile->curves, id);
    if (*curve != NULL)
        return BJ_OK;
    bj_cli_guess guess = {.word = id};
    for (size_t i = 0; i < profile->curves.count; i++)
        bj_cli_offer_name(&guess, profile->curves.items[i].id);
    return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: no such curve: '%.80s'%s", file, id, guess.text);
}

/* Whether `analyze` reads one column of this curve, which must come first then. */
static bool has_one_column(const bj_curve *curve) {
    const bj_probe *probe = bj_probe_find(curve->probe);
    return probe != NULL && probe->analyze_one_column && strcmp(probe->analyze_curve, curve->id) == 0;
}

static bj_status print(const bj_profile *profile, const char *file, const char *id, bool csv, bj_error *error) {
    bj_terminal_style style = bj_cli_find_style();
    const bj_curve *curve;
    if (id == NULL && profile->curves.count == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%.200s: no curves in this profile", file);
    if (id == NULL)
        return bj_report_list_curves(stdout, &profile->curves, &style, error);
    BJ_TRY(find_curve(profile, file, id, &curve, error));
    if (!csv)
        return bj_report_print_curve(stdout, profile, curve, &style, error);
    bj_report_write_samples(stdout, curve, has_one_column(curve));
    return BJ_OK;
}

static bj_status print_curve(const bj_cli_arguments *arguments, bj_error *error) {
    const char *const *operands = arguments->operands;
    size_t count = arguments->operand_count;
    bool has_file = count > 0 && (count == 2 || bj_cli_is_file_name(operands[0]));
    const char *id = count > has_file ? operands[has_file] : NULL;
    bool csv = bj_cli_is_given(arguments, "csv");
    if (csv && id == NULL)
        return bj_base_set_error(error, BJ_ERR_USAGE, "curve: --csv needs the ID of a curve");
    bj_profile profile;
    char *file = NULL;
    bj_profile_init(&profile);
    bj_status status = bj_profile_read_default(has_file ? operands[0] : NULL, &profile, &file, error);
    if (status == BJ_OK)
        status = print(&profile, file, id, csv, error);
    free(file);
    bj_profile_free(&profile);
    return status;
}

static int run(const bj_cli_arguments *arguments) {
    bj_error error;
    bj_status status = print_curve(arguments, &error);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"csv", 0, NULL, "one row a sample: x, y, round"},
};

const bj_cli_command bj_cli_command_curve = {
    .name = "curve",
    .synopsis = "[FILE] [ID] [--csv]",
    .summary = "The samples behind an answer",
    .details = "Prints for each x what its rounds gave: median, least, greatest. The evidence of an answer\n"
               "('blackjack get FILE KEY evidence') names its curves; without ID all curves are listed.\n"
               "\n"
               "With --csv all samples, in rows that 'blackjack analyze PROBE -' reads. Slot's table has one column,\n"
               "so there y comes first.\n"
               "\n" BJ_CLI_FILE_HELP,
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = 2,
    .run = run,
};
