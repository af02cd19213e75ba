#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/cpu_list.h"
#include "cli/profile_folder.h"
#include "cli/stop.h"
#include "cli/values.h"
#include "profile/places.h"
#include "runner/header.h"
#include "runner/open_machine.h"
#include "verify/verify.h"

#define BUDGET_S 5.0
/* Of a fleet so many say what is usual: the error of a median of them is an eighth of the spread. */
enum { PROFILES_MOST = 64, COMPLAINTS_MOST = 5 };

typedef struct {
    const bj_cli_arguments *arguments;
    bool quiet;
    uint64_t seed;
    double budget_s;
    bj_machine *machine;
    bj_cli_cpus cpus;
    bj_profile here;
    bj_profile *profiles;
    size_t count;
    char *default_path; /* NULL: a baseline was named */
    bj_verification verification;
} session;

static bj_status open_machine(session *session, bj_error *error) {
    BJ_TRY(bj_runner_open_machine(bj_cli_find_value(session->arguments, "machine"), session->seed, &session->machine,
                                  error));
    BJ_TRY(bj_cli_keep_to_cpus(session->machine, bj_cli_find_value(session->arguments, "cpus"), &session->cpus, error));
    bj_run_plan plan = {.cpu = session->machine->facts.cpus[0], .seed = session->seed};
    return bj_runner_fill_header(session->machine, &plan, &session->here, error);
}

/* Files of a folder that are no baseline, by reason. */
typedef struct {
    size_t unread, of_others, bare;
} left_out;

/* Of a folder: a profile of a machine like this one, with samples, is kept. */
static bj_status take_file(session *session, const char *path, left_out *left_out, bj_error *error) {
    bj_profile *profile = &session->profiles[session->count];
    bj_profile_init(profile);
    BJ_TRY(bj_profile_read(path, profile, error));
    bool is_alike = bj_verify_is_alike(profile, &session->here), has_samples = profile->curves.count > 0;
    left_out->of_others += !is_alike;
    left_out->bare += is_alike && !has_samples;
    session->count += is_alike && has_samples;
    if (!is_alike || !has_samples)
        bj_profile_free(profile);
    return BJ_OK;
}

static bj_status refuse_folder(const char *folder, const left_out *left_out, bj_error *error) {
    if (left_out->bare > 0)
        return bj_base_set_error(error, BJ_ERR_INPUT,
                                 "%.200s: no samples in %s%zu profile%s of machines like this one: measured with "
                                 "--no-curves, which leaves out what verify needs",
                                 folder, left_out->bare > 1 ? "all " : "the ", left_out->bare,
                                 left_out->bare > 1 ? "s" : "");
    return bj_base_set_error(error, BJ_ERR_INPUT,
                             "%.200s: no profile of a machine like this one (*.json, *.json.gz; %zu of other machines)",
                             folder, left_out->of_others);
}

static void tell_left_out(const session *session, const left_out *left_out) {
    if (session->quiet)
        return;
    if (left_out->of_others > 0)
        bj_cli_complain("left out: %zu of other machines", left_out->of_others);
    if (left_out->bare > 0)
        bj_cli_complain("left out: %zu without samples (--no-curves)", left_out->bare);
}

/* One file that cannot be read must not keep a node from its job; one that is out of memory must. */
static bj_status read_folder(session *session, const char *folder, bj_error *error) {
    bj_strings names = {0};
    left_out left_out = {0};
    bj_status status = bj_cli_list_profiles(folder, &names, error);
    for (size_t i = 0; status == BJ_OK && i < names.count && session->count < PROFILES_MOST; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", folder, names.items[i]) < 0) {
            status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
            break;
        }
        status = take_file(session, path, &left_out, error);
        free(path);
        if (status == BJ_OK || status == BJ_ERR_RESOURCE)
            continue;
        status = BJ_OK;
        if (left_out.unread++ < COMPLAINTS_MOST && !session->quiet)
            bj_cli_complain("left out: %s", error->text);
    }
    bj_strings_free(&names);
    if (status == BJ_OK && session->count == 0)
        return refuse_folder(folder, &left_out, error);
    if (status == BJ_OK)
        tell_left_out(session, &left_out);
    return status;
}

static bj_status read_baseline(session *session, bj_error *error) {
    const char *path = session->arguments->operand_count > 0 ? session->arguments->operands[0] : NULL;
    struct stat information;
    session->profiles = calloc(PROFILES_MOST, sizeof *session->profiles);
    if (session->profiles == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for profiles");
    if (path != NULL && stat(path, &information) == 0 && S_ISDIR(information.st_mode))
        return read_folder(session, path, error);
    bj_profile_init(&session->profiles[0]);
    BJ_TRY(bj_profile_read_default(path, &session->profiles[0], path == NULL ? &session->default_path : NULL, error));
    session->count = 1;
    if (session->default_path != NULL && !session->quiet)
        bj_cli_complain("the baseline is %s, measured %.10s", session->default_path, session->profiles[0].created);
    return BJ_OK;
}

static bj_status print(const session *session, bj_error *error) {
    const bj_verification *verification = &session->verification;
    if (!bj_cli_is_given(session->arguments, "json")) {
        for (size_t i = 0; i < verification->notes.count && !session->quiet; i++)
            bj_cli_complain("note: %s", verification->notes.items[i]);
        bj_verify_print(stdout, verification);
        return BJ_OK;
    }
    char *text = NULL;
    BJ_TRY(bj_verify_to_json(verification, &text, error));
    fputs(text, stdout);
    free(text);
    return BJ_OK;
}

static bj_status verify(session *session, bj_error *error) {
    BJ_TRY(bj_cli_read_seed(session->arguments, &session->seed, error));
    BJ_TRY(bj_cli_read_budget(session->arguments, &session->budget_s, error));
    if (isinf(session->budget_s))
        session->budget_s = BUDGET_S;
    BJ_TRY(open_machine(session, error));
    BJ_TRY(read_baseline(session, error));
    bj_verify_request request = {.machine = session->machine,
                                 .here = &session->here,
                                 .profiles = session->profiles,
                                 .profile_count = session->count,
                                 .budget_s = session->budget_s,
                                 .seed = session->seed,
                                 .is_stopped = bj_cli_is_stopped};
    bj_cli_catch_signals();
    bj_cli_end_soon("blackjack: interrupted\n");
    bj_status status = bj_verify_run(&request, &session->verification, error);
    bj_cli_release_signals();
    return status == BJ_OK ? print(session, error) : status;
}

static int run(const bj_cli_arguments *arguments) {
    session session = {.arguments = arguments, .quiet = bj_cli_is_given(arguments, "quiet")};
    bj_error error;
    bj_profile_init(&session.here);
    bj_status status = verify(&session, &error);
    int result = session.verification.worst == NULL ? BJ_EXIT_OK : BJ_EXIT_FAILED;
    if (status != BJ_OK) {
        bj_cli_name_default(session.default_path, &error);
        bj_cli_complain("%s", error.text);
        /* As of compare: 1 would mean worse. */
        result = status == BJ_ERR_INTERRUPTED ? BJ_EXIT_INTERRUPTED : bj_cli_trouble_status(status);
    }
    bj_cli_close_machine(session.machine, &session.cpus);
    for (size_t i = 0; i < session.count; i++)
        bj_profile_free(&session.profiles[i]);
    free(session.profiles);
    free(session.default_path);
    bj_profile_free(&session.here);
    bj_verify_free(&session.verification);
    return result;
}

static const bj_cli_option options[] = {
    {"budget", 0, "SECONDS", "at most about this time (default 5); it ends sooner where it is sure"},
    {"machine", 0, "native|sim:FILE", "this machine (default), or a simulated one"},
    {"cpus", 0, "LIST", "use only these, such as 0,2-3"},
    {"seed", 0, "N", "of everything random (default 1)"},
    {"json", 0, NULL, "what was looked at, as JSON (blackjack-verification/1)"},
    {"quiet", 'q', NULL, "no notes on standard error"},
};

const bj_cli_command bj_cli_command_verify = {
    .name = "verify",
    .synopsis =
        "[BASELINE] [--budget SECONDS] [--machine native|sim:FILE] [--cpus LIST]\n[--seed N] [--json] [--quiet]",
    .summary = "Is this machine still as its baseline says? For a job's prolog",
    .details =
        "BASELINE is a profile with samples, best one of several runs (run --repeat), or a folder with profiles of\n"
        "machines that are alike; without it the default profile, which 'run --save' keeps.\n"
        "\n"
        "Only what tells most is measured again, point by point of the baseline's own curves: the clock, all cpus\n"
        "at once, each cache's latency and size, rates, memory. A number is worse when even its better rounds are\n"
        "beyond the tolerance of its key and beyond what the baseline's rounds explain; all numbers of a run\n"
        "together give at most one false alarm in a thousand, as long as the machine behaves as it did while the\n"
        "baseline was measured. It ends as soon as that is sure. What is better is not worse.\n"
        "\n"
        "One line on standard output says what is worse and by how much, or how much was looked at. What the\n"
        "baseline is too noisy to tell is noted on standard error.\n"
        "\n"
        "Exit status: 0 same, 1 worse, 2 trouble: nothing could be measured, or the baseline is none or of\n"
        "another machine; 130 interrupted.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = 1,
    .unwritten_status = BJ_EXIT_USAGE,
    .run = run,
};
