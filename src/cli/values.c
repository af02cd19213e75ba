#include "cli/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "runner/header.h"
#include "runner/keys.h"
#include "runner/open_machine.h"

bj_status bj_cli_read_seed(const bj_cli_arguments *arguments, uint64_t *seed, bj_error *error) {
    const char *text = bj_cli_find_value(arguments, "seed");
    *seed = 1;
    if (text != NULL && (!bj_base_parse_u64(text, seed) || *seed > BJ_SEED_MOST))
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "--seed: expected a whole number from 0 to %" PRIu64 ", found '%.40s'", BJ_SEED_MOST,
                                 text);
    return BJ_OK;
}

static void append_name(char *list, size_t room, const char *name) {
    size_t used = strlen(list);
    if (used + 2 < room)
        snprintf(list + used, room - used, "%s%s", used > 0 ? ", " : "", name);
}

bj_status bj_cli_read_effort(const bj_cli_arguments *arguments, bj_effort *effort, bj_error *error) {
    const char *text = bj_cli_find_value(arguments, "effort");
    *effort = BJ_EFFORT_NORMAL;
    if (text != NULL && !bj_runner_parse_effort(text, effort))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--effort: expected quick, normal or thorough, found '%.40s'",
                                 text);
    return BJ_OK;
}

bj_status bj_cli_read_budget(const bj_cli_arguments *arguments, double *seconds, bj_error *error) {
    const char *text = bj_cli_find_value(arguments, "budget");
    *seconds = INFINITY;
    if (text != NULL && (!bj_base_parse_double(text, seconds) || !(*seconds > 0)))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--budget: expected seconds above 0, found '%.40s'", text);
    return BJ_OK;
}

bj_status bj_cli_read_method(const bj_cli_arguments *arguments, const bj_probe *const *probes, size_t count,
                             const char **method, bj_error *error) {
    char valid[400] = "";
    static const char *const ways[] = {BJ_METHOD_PAPER, BJ_METHOD_SERVET};
    *method = bj_cli_find_value(arguments, "method");
    for (size_t i = 0; i < count; i++) {
        if (bj_runner_has_method(probes[i], *method))
            return BJ_OK;
        for (size_t m = 0; probes[i]->methods != NULL && probes[i]->methods[m] != NULL; m++)
            append_name(valid, sizeof valid, probes[i]->methods[m]);
    }
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        bool here = false;
        for (size_t i = 0; i < count; i++)
            here = here || bj_runner_has_method(probes[i], ways[way]);
        if (here)
            append_name(valid, sizeof valid, ways[way]);
    }
    return bj_base_set_error(error, BJ_ERR_USAGE, "--method: no method '%.40s' here; expected one of %s", *method,
                             valid[0] != '\0' ? valid : "none");
}

bj_status bj_cli_read_probe(const char *name, const bj_probe **probe, bj_error *error) {
    *probe = bj_probe_find(name);
    if (*probe != NULL)
        return BJ_OK;
    bj_cli_guess guess = {.word = name};
    for (size_t i = 0; i < bj_probe_count; i++)
        bj_cli_offer_name(&guess, bj_probes[i]->name);
    return bj_base_set_error(error, BJ_ERR_USAGE, "no probe '%.60s'%s; see 'blackjack list'", name, guess.text);
}

/* A file is replaced by renaming, so its folder must take new files. Only trying tells, on every file system and for
 * every user; with several times the size of a profile of all probes (0.4 MB). */
enum { TRIAL_BYTES = 2 * 1024 * 1024 };

static bj_status open_output(const char *path, bj_output_rules rules, bj_output **output, bj_error *error) {
    *output = NULL;
    if (strcmp(path, "-") == 0)
        return BJ_OK;
    rules.trial_bytes = TRIAL_BYTES;
    return bj_base_open_output(path, &rules, output, error);
}

bj_status bj_cli_open_output(const char *path, bool replace, const char *otherwise, bj_output **output,
                             bj_error *error) {
    return open_output(path, (bj_output_rules){.replace = replace, .otherwise = otherwise}, output, error);
}

bj_status bj_cli_open_journal(const char *path, bool replace, const char *otherwise, bj_output **output,
                              bj_error *error) {
    return open_output(path, (bj_output_rules){.replace = replace, .otherwise = otherwise, .is_alone = true}, output,
                       error);
}

/* What lacks something is not written over what is whole. */
static bj_status check_memory(bj_error *error) {
    return bj_base_take_no_memory() ? bj_base_set_error(error, BJ_ERR_RESOURCE, "out of memory: nothing is written")
                                    : BJ_OK;
}

bj_status bj_cli_write_output(bj_output *output, const char *text, size_t length, bj_error *error) {
    BJ_TRY(check_memory(error));
    if (output != NULL)
        return bj_base_write_output(output, text, length, error);
    fwrite(text, 1, length, stdout); /* main looks for errors of the stream */
    return BJ_OK;
}

bj_status bj_cli_write_profile(bj_output *output, const bj_profile *profile, bj_error *error) {
    BJ_TRY(check_memory(error));
    return output != NULL ? bj_profile_write_output(profile, output, error) : bj_profile_write(profile, "-", error);
}

bool bj_cli_is_file_name(const char *word) {
    size_t length = strlen(word);
    return strcmp(word, "-") == 0 || strchr(word, '/') != NULL ||
           (length > 5 && strcmp(word + length - 5, ".json") == 0) || access(word, F_OK) == 0;
}
