#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bj_build.h"
#include "cli/cli.h"
#include "cli/values.h"
#include "probes/probe.h"
#include "report/page.h"

enum { MOST_FILES = 2 };

static bj_status make_page(const bj_document *files, size_t count, char **text, size_t *length, bj_error *error) {
    bj_page_probe *probes = calloc(bj_probe_count + 1, sizeof *probes);
    if (probes == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "out of memory");
    for (size_t i = 0; i < bj_probe_count; i++)
        probes[i] = (bj_page_probe){bj_probes[i]->name, bj_probes[i]->question};
    bj_page_content content = {.shell = &bj_page_built_shell,
                               .files = files,
                               .file_count = count,
                               .probes = probes,
                               .probe_count = bj_probe_count,
                               .version = BJ_VERSION};
    bj_status status = bj_report_make_web_page(&content, text, length, error);
    free(probes);
    return status;
}

static int run(const bj_cli_arguments *arguments) {
    const char *path = bj_cli_find_value(arguments, "output");
    bj_document files[MOST_FILES] = {{0}};
    size_t count = arguments->operand_count > 0 ? arguments->operand_count : 1, read = 0;
    char *text = NULL;
    size_t length = 0;
    bj_error error;
    bj_output *output;
    if (path == NULL)
        path = "blackjack-report.html";
    bj_status status =
        bj_cli_open_output(path, bj_cli_is_given(arguments, "force"), "--force replaces it", &output, &error);
    while (status == BJ_OK && read < count) {
        const char *name = read < arguments->operand_count ? arguments->operands[read] : NULL;
        status = bj_profile_read_document(name, &files[read++], &error);
    }
    if (status == BJ_OK)
        status = make_page(files, count, &text, &length, &error);
    if (status == BJ_OK)
        status = bj_cli_write_output(output, text, length, &error);
    if (status == BJ_OK && output != NULL && !bj_cli_is_given(arguments, "quiet"))
        bj_cli_complain("the page is in %s; any browser opens it, no network is needed", path);
    bj_base_close_output(output);
    for (size_t i = 0; i < read; i++)
        bj_profile_free_document(&files[i]);
    free(text);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"output", 'o', "FILE", "write there (default blackjack-report.html); '-' is standard output"},
    {"force", 0, NULL, "replace the file if it exists"},
    {"quiet", 'q', NULL, "do not say where the page is"},
};

const bj_cli_command bj_cli_command_report = {
    .name = "report",
    .synopsis = "[FILE] [FILE2] [-o FILE.html] [--force] [--quiet]",
    .summary = "A page with plots for a browser, in one file that needs no network",
    .details = "FILE is a profile, or what 'time', 'tune', 'diagnose' or 'fleet' wrote with --json. Two profiles are\n"
               "compared side by side; a profile and another file are shown one after the other. Without FILE the\n"
               "default profile, which 'run --save' keeps.\n"
               "\n"
               "The page holds the files whole: whoever gets it can save them from it, and every curve as CSV.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = 2,
    .run = run,
};
