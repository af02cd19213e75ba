#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/profile_folder.h"
#include "cli/tolerance.h"
#include "fleet/fleet.h"

/* Files that are no profiles are named one by one up to so many. */
enum { COMPLAINTS_MOST = 5 };

typedef struct {
    bj_fleet fleet;
    size_t unread;
} reading;

/* One file that cannot be read must not hide what thousands of others say. */
static bj_status take_profile(void *context, const char *name, const bj_profile *profile, bj_status status,
                              bj_error *error) {
    reading *reading = context;
    if (status == BJ_OK)
        return bj_fleet_add(&reading->fleet, name, profile, error);
    if (status == BJ_ERR_RESOURCE)
        return status;
    if (reading->unread++ < COMPLAINTS_MOST)
        bj_cli_complain("left out: %s", error->text);
    return BJ_OK;
}

static bj_status read_folder(reading *reading, const char *folder, bj_error *error) {
    BJ_TRY(bj_cli_read_profiles(folder, take_profile, reading, error));
    if (reading->unread > COMPLAINTS_MOST)
        bj_cli_complain("left out: %zu files in all", reading->unread);
    if (reading->fleet.count == 0)
        return bj_base_set_error(error, BJ_ERR_INPUT, "%.200s: no profile in it (*.json, *.json.gz)", folder);
    return BJ_OK;
}

static bj_status print(const bj_cli_arguments *arguments, const bj_fleet *fleet, bj_error *error) {
    if (!bj_cli_is_given(arguments, "json")) {
        bj_fleet_print(stdout, fleet);
        return BJ_OK;
    }
    char *text = NULL;
    BJ_TRY(bj_fleet_to_json(fleet, &text, error));
    fputs(text, stdout);
    free(text);
    return BJ_OK;
}

static int run(const bj_cli_arguments *arguments) {
    bj_error error;
    reading reading = {0};
    bj_fleet *fleet = &reading.fleet;
    bj_status status = read_folder(&reading, arguments->operands[0], &error);
    if (status == BJ_OK)
        status = bj_fleet_judge(fleet, bj_cli_find_tolerance, &error);
    bool judged = false;
    for (size_t i = 0; i < fleet->kind_count; i++)
        judged = judged || fleet->kinds[i].judged;
    if (status == BJ_OK && !judged)
        status = bj_base_set_error(&error, BJ_ERR_FAILED, "%.200s: nothing to judge: %s", arguments->operands[0],
                                   fleet->notes.items[0]);
    if (status == BJ_OK)
        status = print(arguments, fleet, &error);
    int result = fleet->certain_count == 0 ? BJ_EXIT_OK : BJ_EXIT_FAILED;
    if (status != BJ_OK) {
        bj_cli_complain("%s", error.text);
        result = bj_cli_trouble_status(status); /* as of compare: 1 would mean different */
    }
    bj_fleet_free(fleet);
    return result;
}

static const bj_cli_option options[] = {
    {"json", 0, NULL, "the outliers as JSON (blackjack-fleet/1)"},
};

const bj_cli_command bj_cli_command_fleet = {
    .name = "fleet",
    .synopsis = "FOLDER [--json]",
    .summary = "Which of many machines differ from the rest",
    .details =
        "FOLDER holds a profile of each machine, *.json or *.json.gz; 'run --no-curves' writes small ones. The\n"
        "name of the file is the name of the host.\n"
        "\n"
        "Hosts are compared within their kind: processor, number of cpus, effort. A number differs when it is\n"
        "further from the median than the robust spread between hosts and its own interval explain, by a rule\n"
        "that aims at one false alarm in a hundred fleets of equals, however many hosts and keys there\n"
        "are. Hosts come in the order of how far off they are. Fewer than eight hosts of a kind are not judged.\n"
        "\n"
        "Exit status: 0 none differs, 1 some do, 2 trouble, also when there is nothing to judge.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 1,
    .most_operands = 1,
    .unwritten_status = BJ_EXIT_USAGE,
    .run = run,
};
