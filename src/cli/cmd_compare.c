#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/compare_table.h"
#include "cli/compared.h"
#include "cli/style.h"
#include "cli/tolerance.h"
#include "report/compare_print.h"

typedef struct {
    const char *const *paths;
    size_t count;
    bj_profile *profiles;
} side;

/* A... -- B..., or A B. */
static bj_status split_operands(const bj_cli_arguments *arguments, side *a, side *b, bj_error *error) {
    size_t all = arguments->operand_count, first = arguments->before_dashes;
    if (first == all && all > 2)
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "compare: %zu profiles: which belong together? 'compare A... -- B...' says", all);
    if (first == 0 || first == all) /* the dashes tell no two sets apart, or there are none */
        first = 1;
    *a = (side){.paths = arguments->operands, .count = first};
    *b = (side){.paths = arguments->operands + first, .count = all - first};
    return BJ_OK;
}

static bj_status read_side(side *side, bj_error *error) {
    side->profiles = calloc(side->count, sizeof *side->profiles);
    if (side->profiles == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu profiles", side->count);
    for (size_t i = 0; i < side->count; i++)
        bj_profile_init(&side->profiles[i]);
    for (size_t i = 0; i < side->count; i++)
        BJ_TRY(bj_profile_read(side->paths[i], &side->profiles[i], error));
    return BJ_OK;
}

static void free_side(side *side) {
    for (size_t i = 0; i < side->count && side->profiles != NULL; i++)
        bj_profile_free(&side->profiles[i]);
    free(side->profiles);
}

static bj_status compare(side *a, side *b, bj_comparison *comparison, bj_error *error) {
    BJ_TRY(read_side(a, error));
    BJ_TRY(read_side(b, error));
    BJ_TRY(bj_report_compare((bj_profile_set){a->profiles, a->count}, (bj_profile_set){b->profiles, b->count},
                             bj_cli_find_tolerance, comparison, error));
    /* Nothing was compared, so "same" would be false. */
    if (comparison->compared == 0 && comparison->certain_count == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "nothing to compare: no answer has a value in both profiles");
    return BJ_OK;
}

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

static int run_table(const bj_cli_arguments *arguments) {
    bj_error error;
    bj_status status = bj_cli_print_machine_table(arguments, &error);
    if (status == BJ_OK)
        return BJ_EXIT_OK;
    bj_cli_complain("%s", error.text);
    return bj_cli_trouble_status(status);
}

static int run(const bj_cli_arguments *given) {
    if (bj_cli_is_given(given, "table"))
        return run_table(given);
    if (bj_cli_is_given(given, "keys") || bj_cli_is_given(given, "format")) {
        bj_cli_complain("compare: --keys and --format are of a table: --table is missing");
        return BJ_EXIT_USAGE;
    }
    bj_error error;
    bj_cli_compared compared;
    const bj_cli_arguments *arguments = &compared.arguments;
    side a = {0}, b = {0};
    bj_comparison comparison = {0};
    bj_status status = bj_cli_complete_compared(given, &compared, &error);
    if (status == BJ_OK)
        status = split_operands(arguments, &a, &b, &error);
    if (status == BJ_OK)
        status = compare(&a, &b, &comparison, &error);
    if (status == BJ_OK)
        status = print(arguments, &comparison, &error);
    int result = comparison.certain_count == 0 ? BJ_EXIT_OK : BJ_EXIT_FAILED;
    if (status != BJ_OK) {
        bj_cli_complain("%s", error.text);
        result = bj_cli_trouble_status(status); /* as of diff: 1 would mean different */
    }
    bj_report_free_comparison(&comparison);
    free_side(&a);
    free_side(&b);
    bj_cli_free_compared(&compared);
    return result;
}

static const bj_cli_option options[] = {
    {"json", 0, NULL, "the comparison as JSON"},
    {"table", 0, NULL, "no judgement: one row a key, one column a machine"},
    {"keys", 0, "PATTERN,...", "of a table: these keys, in this order; may be given several times"},
    {"format", 0, "text|markdown|csv", "of a table"},
};

const bj_cli_command bj_cli_command_compare = {
    .name = "compare",
    .synopsis = "[A [B]] [--json]\n\nA... [--json] -- B...\n\n"
                "--table A... [--keys PATTERN,...] [--format text|markdown|csv]",
    .summary = "What differs between two profiles by more than measuring again would",
    .details =
        "Without B the default profile, which 'run --save' keeps; without A, too, the\n"
        "newest of those that it replaced, which are beside it as\n"
        "profile-YYYY-MM-DD-HHMMSS.json.\n"
        "\n"
        "A number counts as different when it is beyond chance (by both intervals, the\n"
        "rounds behind them and how many numbers are compared: one false alarm in a\n"
        "hundred comparisons) and beyond what both answers promise (each key has a\n"
        "tolerance; 'blackjack list --keys' has them). What is low or unstable is mentioned\n"
        "under \"perhaps\" and does not count; neither does an answer that only one side\n"
        "could give, unless the other says that the machine does not support it.\n"
        "Levels are matched by size. Claims are not compared, and the environment is\n"
        "only noted.\n"
        "\n"
        "Of several profiles on a side the medians are compared, and the spread between\n"
        "them is in the intervals: 'compare a*.json -- b*.json'.\n"
        "\n"
        "--table puts any number of machines beside each other, each under the name of its file: clock, caches,\n"
        "memory, TLB, registers and contexts, or the keys that --keys names. Behind a value '~' is medium\n"
        "confidence, '?' low, '!' unstable; '-' is not supported there, 'x' has no value. CSV has numbers\n"
        "whole, and a second column a machine with confidence or status.\n"
        "\n"
        "Exit status, as of diff: 0 same, 1 different, 2 trouble, also when there is\n"
        "nothing to compare; 3 out of memory.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 0,
    .most_operands = SIZE_MAX,
    .unwritten_status = BJ_EXIT_USAGE,
    .run = run,
};
