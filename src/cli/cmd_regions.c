#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "profile/places.h"
#include "regions/regions.h"

typedef struct {
    bj_regions_file file[2];
    bj_regions_report report[2];
    size_t count;
    bj_regions_loss *losses;
    size_t loss_count;
    char *profile; /* the default one, where it was read */
} work;

static bj_status read_all(const bj_cli_arguments *arguments, work *work, bj_error *error) {
    const char *by = bj_cli_find_value(arguments, "by");
    bj_regions_basis basis = by != NULL && strcmp(by, "total") == 0 ? BJ_REGIONS_BY_TOTAL : BJ_REGIONS_BY_CALL;
    if (by != NULL && strcmp(by, "total") != 0 && strcmp(by, "call") != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--by: expected call or total, found '%.40s'", by);
    if (bj_cli_is_given(arguments, "series") && arguments->operand_count == 2)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--series: of one file at a time");
    for (size_t i = 0; i < arguments->operand_count; i++) {
        BJ_TRY(bj_regions_read(arguments->operands[i], &work->file[i], error));
        work->count = i + 1;
        BJ_TRY(bj_regions_analyse(&work->file[i], &work->report[i], error));
        if (work->report[i].count == 0)
            return bj_base_set_error(error, BJ_ERR_FAILED, "%.200s: no region was called", arguments->operands[i]);
    }
    if (work->count == 2)
        BJ_TRY(bj_regions_compare(&work->report[0], &work->report[1], basis, &work->losses, &work->loss_count, error));
    return BJ_OK;
}

static bool declares_work(const work *work) {
    for (size_t f = 0; f < work->count; f++)
        for (size_t i = 0; i < work->file[f].name_count; i++) {
            const bj_regions_name *name = &work->file[f].names[i];
            if (name->flops > 0 || name->bytes > 0 || name->loads > 0)
                return true;
        }
    return false;
}

/* Against what the machine attains, where regions say what they do and a profile is at hand. A default profile that
 * nobody asked for is no reason to refuse: what cannot be read of it is only said. */
static bj_status find_standing(const bj_cli_arguments *arguments, work *work, bj_error *error) {
    const char *path = bj_cli_find_value(arguments, "profile");
    bj_profile profile;
    bj_peaks peaks;
    if (path == NULL && (!declares_work(work) || bj_profile_find_default(&work->profile, NULL) != BJ_OK))
        return BJ_OK;
    bj_profile_init(&profile);
    bj_status status = bj_profile_read_answers(path != NULL ? path : work->profile, &profile, error);
    if (status == BJ_OK) {
        bj_diagnose_find_peaks(&profile.answers, profile.environment.cpus_allowed_count, &peaks);
        for (size_t i = 0; i < work->count; i++)
            bj_regions_compare_to_peaks(&work->report[i], &peaks);
    }
    bj_profile_free(&profile);
    if (status == BJ_OK || path != NULL || status == BJ_ERR_RESOURCE)
        return status;
    bj_cli_complain("warning: nothing is held against what a core attains: %s", error->text);
    free(work->profile);
    work->profile = NULL;
    return BJ_OK;
}

/* Safe for a terminal. */
static void print_path(const char *before, const char *path) {
    char line[PATH_MAX];
    snprintf(line, sizeof line, "%s", path);
    bj_base_hide_controls(line);
    printf("%s%s\n", before, line);
}

static bj_status print(const bj_cli_arguments *arguments, const work *work, bj_error *error) {
    if (bj_cli_is_given(arguments, "json")) {
        char *text = NULL;
        BJ_TRY(bj_regions_to_json(&work->report[0], work->count == 2 ? &work->report[1] : NULL, work->losses,
                                  work->loss_count, &text, error));
        puts(text);
        free(text);
        return BJ_OK;
    }
    if (bj_cli_is_given(arguments, "series")) {
        bj_regions_print_series(stdout, &work->report[0], NULL);
        return BJ_OK;
    }
    if (work->profile != NULL)
        print_path("What a core attains: ", work->profile);
    for (size_t i = 0; i < work->count; i++) {
        if (work->count == 2)
            print_path(i > 0 ? "\n" : "", arguments->operands[i]);
        bj_regions_print(stdout, &work->report[i]);
    }
    if (work->count == 2)
        bj_regions_print_losses(stdout, work->losses, work->loss_count);
    return BJ_OK;
}

static int run(const bj_cli_arguments *arguments) {
    bj_error error;
    work work = {0};
    bj_status status = read_all(arguments, &work, &error);
    if (status == BJ_OK)
        status = find_standing(arguments, &work, &error);
    if (status == BJ_OK)
        status = print(arguments, &work, &error);
    int result = status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
    for (size_t i = 0; i < 2; i++) {
        bj_regions_free_report(&work.report[i]);
        bj_regions_free(&work.file[i]);
    }
    free(work.losses);
    free(work.profile);
    return result;
}

static const bj_cli_option options[] = {
    {"json", 0, NULL, "the report as JSON (format blackjack-region-report/1)"},
    {"by", 0, "call|total", "FILE2: a call does the same work in both files (default), or all calls together do"},
    {"profile", 0, "FILE",
     "of the machine, for what a core attains there (default: the default profile, if there is one)"},
    {"series", 0, NULL, "the time series alone, as CSV: averages over cells of equal time"},
};

const bj_cli_command bj_cli_command_regions = {
    .name = "regions",
    .synopsis = "FILE [FILE2] [--by call|total] [--profile FILE] [--json | --series]",
    .summary = "What a program recorded of its regions",
    .details =
        "FILE is what a program that marks its regions with blackjack/regions.h writes when it ends, where\n"
        "BLACKJACK_REGIONS names the file. Per region: calls, time of a call, what timing it added, how long to skip\n"
        "at the start, how far threads are apart; then how long calls are, and how much of the time went into timing.\n"
        "A region too short for what timing it adds is refused, with the reason.\n"
        "\n"
        "With FILE2, of the same program with more cores of the chip in use, regions are ranked by what they lose\n"
        "between FILE and FILE2. Regions that declare their flops, bytes or loads are held against what a core "
        "attains\n"
        "by the profile of the machine.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 1,
    .most_operands = 2,
    .run = run,
};
