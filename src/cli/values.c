#include "cli/values.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
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

static bj_status refuse_output(const char *path, int number, bj_error *error) {
    bool permission = number == EACCES || number == EPERM || number == EROFS;
    return bj_base_set_error(error, permission ? BJ_ERR_PERMISSION : BJ_ERR_IO, "%.200s: cannot write: %s", path,
                             strerror(number));
}

/* A file is replaced by renaming, so its folder must take new files. Only trying tells, on every file system and for
 * every user; with several times the size of a profile of all probes (0.4 MB). */
enum { TRIAL_BYTES = 2 * 1024 * 1024 };

bj_status bj_cli_check_output(const char *path, bool replace, const char *otherwise, bool *is_file, bj_error *error) {
    struct stat about;
    bool unused;
    is_file = is_file != NULL ? is_file : &unused;
    *is_file = false;
    if (strcmp(path, "-") == 0 || bj_base_is_stream(path)) /* wherever it leads, it was asked for */
        return BJ_OK;
    if (stat(path, &about) != 0) {
        *is_file = true;
        return errno == ENOENT ? bj_base_prepare_path(path, TRIAL_BYTES, error) : refuse_output(path, errno, error);
    }
    if (S_ISDIR(about.st_mode))
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: is a folder, expected a file", path);
    if (S_ISFIFO(about.st_mode))
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: is a named pipe; use '-' and redirect standard output",
                                 path);
    if (!S_ISREG(about.st_mode))
        return BJ_OK; /* a device: written once, at the end */
    if (!replace)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.200s: exists already; %s", path, otherwise);
    *is_file = true;
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return refuse_output(path, errno, error);
    close(file);
    return bj_base_prepare_path(path, TRIAL_BYTES, error);
}

bool bj_cli_is_file_name(const char *word) {
    size_t length = strlen(word);
    return strcmp(word, "-") == 0 || strchr(word, '/') != NULL ||
           (length > 5 && strcmp(word + length - 5, ".json") == 0) || access(word, F_OK) == 0;
}
