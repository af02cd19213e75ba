#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/compared.h"
#include "cli/style.h"
#include "report/compare_print.h"

static bj_status print(const bj_cli_arguments *arguments, const bj_comparison *comparison, bj_error *error) {
    if (!bj_cli_is_given(arguments, "json")) {
        bj_terminal_style style = bj_cli_find_style();
        bj_report_print_comparison(stdout, comparison, &style);
        return BJ_OK;
    }
    char *text = NULL;
    bj_status status = bj_report_comparison_to_json(comparison, &text, error);
    if (status == BJ_OK)
        fputs(text, stdout);
    free(text);
    return status;
}

static int run(const bj_cli_arguments *given) {
    bj_error error;
    bj_cli_compared compared;
    const bj_cli_arguments *arguments = &compared.arguments;
    bj_profile a, b;
    bj_comparison comparison = {0};
    bj_profile_init(&a);
    bj_profile_init(&b);
    bj_status status = bj_cli_complete_compared(given, &compared, &error);
    if (status == BJ_OK)
        status = bj_profile_read(arguments->operands[0], &a, &error);
    if (status == BJ_OK)
        status = bj_profile_read(arguments->operands[1], &b, &error);
    if (status == BJ_OK)
        status = bj_report_compare(&a, &b, &comparison, &error);
    /* Nothing was compared, so "same" would be false. */
    if (status == BJ_OK && comparison.compared == 0 && comparison.certain_count == 0)
        status = bj_base_set_error(&error, BJ_ERR_FAILED, "nothing to compare: no answer has a value in both profiles");
    if (status == BJ_OK)
        status = print(arguments, &comparison, &error);
    int result = comparison.certain_count == 0 ? BJ_EXIT_OK : BJ_EXIT_FAILED;
    if (status != BJ_OK) {
        bj_cli_complain("%s", error.text);
        result = BJ_EXIT_USAGE; /* as of diff: 1 would mean different */
    }
    bj_report_free_comparison(&comparison);
    bj_cli_free_compared(&compared);
    bj_profile_free(&a);
    bj_profile_free(&b);
    return result;
}

static const bj_cli_option options[] = {
    {"json", 0, NULL, "the comparison as JSON"},
};

const bj_cli_command bj_cli_command_compare = {
    .name = "compare",
    .synopsis = "[A [B]] [--json]",
    .summary = "What differs between two profiles by more than measuring twice would",
    .details = "Without B the default profile, which 'run --save' keeps; without A, too, the newest of those that it\n"
               "replaced, which are beside it as profile-YYYY-MM-DD-HHMMSS.json.\n"
               "\n"
               "An answer counts as different when the intervals are apart, by more than chance gives among so many\n"
               "answers, and by more than two runs on one machine differ: 5% where both are high, 25% where one is\n"
               "medium, 40% for times and rates of virtual machines. What is low or\n"
               "unstable is mentioned and does not count, and so is an answer that only one side could give, unless\n"
               "the other says that the machine does not support it. Levels are matched by size. Claims are not\n"
               "compared, and the environment is only noted.\n"
               "\n"
               "Exit status, as of diff: 0 same, 1 different, 2 trouble, also when there is nothing to compare.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 0,
    .most_operands = 2,
    .unwritten_status = BJ_EXIT_USAGE,
    .run = run,
};
