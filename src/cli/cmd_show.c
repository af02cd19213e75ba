#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/style.h"
#include "cli/values.h"
#include "probes/probe.h"
#include "profile/places.h"
#include "report/answer_table.h"
#include "report/plot.h"
#include "report/terminal.h"
#include "runner/runner.h"

/* What the operands name: [FILE] [SECTION]. One alone is a file where there is one of that name, else a section. */
typedef struct {
    const char *path;    /* NULL: the default profile */
    const char *section; /* NULL: all */
} subject;

static subject read_operands(const bj_cli_arguments *arguments) {
    const char *const *operands = arguments->operands;
    if (arguments->operand_count == 2)
        return (subject){operands[0], operands[1]};
    if (arguments->operand_count == 0)
        return (subject){NULL, NULL};
    bool is_file = access(operands[0], F_OK) == 0 || bj_probe_find(operands[0]) == NULL;
    return is_file ? (subject){operands[0], NULL} : (subject){NULL, operands[0]};
}

static bj_status check_section(const bj_profile *profile, const char *section, bj_error *error) {
    const bj_probe *probe;
    if (section == NULL)
        return BJ_OK;
    for (size_t i = 0; i < profile->answers.count; i++)
        if (strcmp(profile->answers.items[i].probe, section) == 0)
            return BJ_OK;
    BJ_TRY(bj_cli_read_probe(section, &probe, error));
    return bj_base_set_error(error, BJ_ERR_FAILED, "no answers of %s in this profile; 'blackjack run --resume %s' asks",
                             section, section);
}

/* The probes that the run was asked for and that the profile knows nothing of, with those that they need: "tlb, op". */
static void list_missing(const bj_profile *profile, char *text, size_t room) {
    bj_run_plan plan = {.probes = (const char **)profile->run.arguments.items};
    const bj_probe **order = NULL;
    size_t count = 0, used = 0;
    /* Names come first among the arguments; without any, all probes run. */
    while (plan.probe_count < profile->run.arguments.count && plan.probes[plan.probe_count][0] != '-')
        plan.probe_count++;
    text[0] = '\0';
    if (bj_runner_order_probes(&plan, &order, &count, NULL) != BJ_OK)
        return; /* of a version that has other probes */
    for (size_t i = 0; i < count && used < room; i++)
        if (bj_profile_find_probe(profile, order[i]->name) == NULL)
            used += (size_t)snprintf(text + used, room - used, "%s%s", used > 0 ? ", " : "", order[i]->name);
    free(order);
}

static void say_interrupted(const bj_profile *profile, const subject *subject, char *text, size_t room) {
    char missing[240];
    text[0] = '\0';
    if (!profile->run.interrupted)
        return;
    list_missing(profile, missing, sizeof missing);
    bool native = strcmp(profile->run.machine, "native") == 0;
    snprintf(text, room, "interrupted: %s%s (blackjack run --resume%s%.120s%s%.160s goes on)", missing,
             missing[0] != '\0' ? " not measured" : "some rounds not measured", native ? "" : " --machine ",
             native ? "" : profile->run.machine, subject->path != NULL ? " -o " : "",
             subject->path != NULL ? subject->path : "");
}

static bj_status plot(const bj_profile *profile, const char *what, const bj_terminal_style *style, bj_error *error) {
    const bj_probe *probe;
    if (bj_data_find_curve(&profile->curves, what) == NULL)
        BJ_TRY(bj_cli_read_probe(what, &probe, error));
    return bj_report_plot(stdout, profile, what, style, error);
}

/* One of the three ways to show a profile that has been read. */
static bj_status print(const bj_cli_arguments *arguments, const subject *subject, const bj_profile *profile,
                       bj_error *error) {
    const char *plotted = bj_cli_find_value(arguments, "plot"), *name = bj_cli_find_value(arguments, "format");
    bj_terminal_style style = bj_cli_find_style();
    bj_table_format format = BJ_TABLE_TEXT;
    char notice[600];
    if (name != NULL && !bj_report_parse_table_format(name, &format))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--format: expected text, markdown or csv, found '%.40s'", name);
    if (plotted != NULL)
        return plot(profile, plotted, &style, error);
    if (format != BJ_TABLE_TEXT)
        return bj_report_write_answer_table(stdout, &profile->answers, subject->section, format, &style, error);
    say_interrupted(profile, subject, notice, sizeof notice);
    bj_report_print_page(stdout, profile, &style, &(bj_page_request){subject->section, notice});
    return BJ_OK;
}

static int run(const bj_cli_arguments *arguments) {
    const subject subject = read_operands(arguments);
    bj_error error;
    bj_profile profile;
    char *default_path = NULL;
    bj_profile_init(&profile);
    bj_status status =
        bj_profile_read_default(subject.path, &profile, subject.path == NULL ? &default_path : NULL, &error);
    if (status == BJ_OK)
        status = check_section(&profile, subject.section, &error);
    if (status == BJ_OK)
        status = print(arguments, &subject, &profile, &error);
    if (status != BJ_OK)
        bj_cli_name_default(default_path, &error);
    free(default_path);
    bj_profile_free(&profile);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"format", 0, "text|markdown|csv", "a page (default), or a table with one row an answer"},
    {"plot", 0, "PROBE", "draw the probe's curve with its answers; the id of a curve will do, too"},
};

const bj_cli_command bj_cli_command_show = {
    .name = "show",
    .synopsis = "[FILE] [SECTION] [--format text|markdown|csv] [--plot PROBE]",
    .summary = "A profile on one page, for a person",
    .details = "SECTION is a probe: only its answers. Where a file has that name, it is the file. Without\n"
               "FILE it is the default profile, which 'run --save' keeps.\n"
               "\n"
               "The page begins with what matters and is as wide as the terminal, or 80 columns. Confidence:\n"
               "high is right 99 times in 100, medium 90, low less; right is within 12.5% of a capacity, 15%\n"
               "of a size, 10% of a latency. Colour only on a terminal, and not when NO_COLOR is set.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = 2,
    .run = run,
};
