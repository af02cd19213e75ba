#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/cpu_list.h"
#include "cli/progress.h"
#include "cli/save.h"
#include "cli/stop.h"
#include "cli/style.h"
#include "cli/values.h"
#include "machine/native/native_compiler.h"
#include "profile/places.h"
#include "runner/former.h"
#include "runner/header.h"
#include "runner/open_machine.h"
#include "runner/runner.h"

/* A closed pipe or a file that may not grow (ulimit -f) would kill us without a word. Ignored, the write fails, and we
 * can say what became of the answers. */
static void ignore_write_signals(void) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

typedef struct {
    const bj_cli_arguments *arguments;
    const char *path;
    bool quiet, resume;
    bool journal;      /* the output is a file, and holds what was done after each probe */
    bj_output *output; /* NULL: standard output */
    bj_cli_save save;
    bj_run_plan plan;
    bool lacked; /* memory or threads, as a probe said */
    const bj_probe **order;
    size_t order_count;
    bj_machine *machine;
    bj_cli_cpus cpus;
    bj_profile profile;
} session;

static bj_status read_repeats(session *session, bj_error *error) {
    const char *text = bj_cli_find_value(session->arguments, "repeat");
    uint64_t number = 1;
    if (text != NULL && (!bj_base_parse_u64(text, &number) || number < 1 || number > BJ_REPEATS_MAX))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--repeat: expected a number from 1 to %u, found '%.40s'",
                                 BJ_REPEATS_MAX, text);
    session->plan.repeats = (unsigned)number;
    return BJ_OK;
}

static bj_status read_probes(session *session, bj_error *error) {
    session->plan.probes = session->arguments->operands;
    session->plan.probe_count = session->arguments->operand_count;
    for (size_t i = 0; i < session->plan.probe_count; i++) {
        const bj_probe *probe;
        BJ_TRY(bj_cli_read_probe(session->plan.probes[i], &probe, error));
    }
    return bj_runner_order_probes(&session->plan, &session->order, &session->order_count, error);
}

static bj_status check_compiler(const session *session, bj_error *error) {
    const char *command = bj_cli_find_value(session->arguments, "cc");
    bool is_used = false;
    for (size_t i = 0; i < session->order_count; i++)
        is_used = is_used || session->order[i]->uses_compiler;
    if (command != NULL && !is_used)
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "--cc: no probe that runs measures compiled kernels: op, live and vector do");
    if (command != NULL && strlen(command) >= sizeof session->profile.run.cc)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--cc: more than %zu bytes", sizeof session->profile.run.cc - 1);
    return BJ_OK;
}

static bj_status choose_output(session *session, bool replace, bj_error *error) {
    session->path = bj_cli_find_value(session->arguments, "output");
    BJ_TRY(bj_cli_prepare_save(session->arguments, session->path, &session->save, error));
    if (session->save.unfinished != NULL)
        session->path = session->save.unfinished;
    else if (session->path == NULL)
        session->path = BJ_PROFILE_HERE;
    BJ_TRY(bj_cli_open_journal(session->path, replace || session->save.unfinished != NULL,
                               "--force replaces it, --resume goes on with it", &session->output, error));
    session->journal = session->output != NULL && bj_base_output_is_file(session->output);
    return BJ_OK;
}

static bj_status read_options(session *session, bj_error *error) {
    const bj_cli_arguments *arguments = session->arguments;
    bool force = bj_cli_is_given(arguments, "force");
    session->resume = bj_cli_is_given(arguments, "resume");
    session->quiet = bj_cli_is_given(arguments, "quiet");
    session->plan.all_pairs = bj_cli_is_given(arguments, "all-pairs");
    if (force && session->resume)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--force replaces a profile, --resume goes on with it: not both");
    BJ_TRY(bj_cli_read_effort(arguments, &session->plan.effort, error));
    BJ_TRY(bj_cli_read_budget(arguments, &session->plan.budget_s, error));
    BJ_TRY(read_repeats(session, error));
    BJ_TRY(bj_cli_read_seed(arguments, &session->plan.seed, error));
    BJ_TRY(read_probes(session, error));
    BJ_TRY(bj_cli_read_method(arguments, session->order, session->order_count, &session->plan.method, error));
    BJ_TRY(check_compiler(session, error));
    return choose_output(session, force || session->resume, error);
}

/* Takes half a minute or so, so it can be interrupted. */
static bj_status use_compiler(session *session, bj_error *error) {
    const char *command = bj_cli_find_value(session->arguments, "cc");
    bj_native_compiler compiler = {.command = command, .is_stopped = bj_cli_is_stopped};
    bj_native_build build;
    if (command == NULL)
        return BJ_OK;
    if (!session->quiet)
        bj_cli_complain("building the kernels with %.80s", command);
    bj_cli_catch_signals();
    bj_status status = bj_machine_use_compiler(session->machine, &compiler, &build, error);
    bj_cli_release_signals();
    if (status != BJ_OK)
        return status;
    snprintf(session->profile.run.cc, sizeof session->profile.run.cc, "%s", command);
    snprintf(session->profile.run.cc_version, sizeof session->profile.run.cc_version, "%s", build.version);
    snprintf(session->profile.run.cc_flags, sizeof session->profile.run.cc_flags, "%s", build.flags);
    return BJ_OK;
}

static bj_status choose_cpus(session *session, bj_error *error) {
    const char *text = bj_cli_find_value(session->arguments, "cpus");
    BJ_TRY(bj_cli_keep_to_cpus(session->machine, text, &session->cpus, error));
    session->plan.cpu = session->machine->facts.cpus[0];
    return BJ_OK;
}

static bj_status refuse_mix(const session *session, const char *option, const char *begun, bj_error *error) {
    const char *blank = begun[0] != '\0' ? " " : "";
    return bj_base_set_error(error, BJ_ERR_USAGE, "%.120s: was begun with %s--%s%s%.30s; go on with the same",
                             session->path, begun[0] != '\0' ? "" : "no ", option, blank, begun);
}

/* One file has one seed, effort, method and compiler, since its readers take them for those of all answers. --resume
 * takes the file's seed and effort where they are not given, and refuses others. */
static bj_status adopt_former(session *session, bj_error *error) {
    const bj_profile *profile = &session->profile;
    bool mixes = profile->probe_count > 0;
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, profile->run.seed);
    if (!bj_cli_is_given(session->arguments, "seed"))
        session->plan.seed = profile->run.seed;
    else if (mixes && session->plan.seed != profile->run.seed)
        return refuse_mix(session, "seed", seed, error);
    for (int effort = 0; effort < BJ_EFFORT_COUNT; effort++) {
        if (strcmp(bj_runner_effort_name((bj_effort)effort), profile->run.effort) != 0)
            continue;
        if (!bj_cli_is_given(session->arguments, "effort"))
            session->plan.effort = (bj_effort)effort;
        else if (mixes && session->plan.effort != (bj_effort)effort)
            return refuse_mix(session, "effort", profile->run.effort, error);
    }
    if (!bj_cli_is_given(session->arguments, "repeat") && profile->run.repeat <= BJ_REPEATS_MAX)
        session->plan.repeats = (unsigned)profile->run.repeat;
    const char *cc = bj_cli_find_value(session->arguments, "cc");
    if (mixes && strcmp(profile->run.cc, cc != NULL ? cc : "") != 0)
        return refuse_mix(session, "cc", profile->run.cc, error);
    const char *method = session->plan.method != NULL ? session->plan.method : "";
    return mixes && strcmp(profile->run.method, method) != 0 ? refuse_mix(session, "method", profile->run.method, error)
                                                             : BJ_OK;
}

static bj_status read_former(session *session, bj_error *error) {
    const char *former = session->path;
    if (session->save.unfinished != NULL && access(former, F_OK) != 0)
        former = session->save.kept; /* a run that was finished may lack a probe */
    if (!session->resume || !session->journal || access(former, F_OK) != 0)
        return BJ_OK;
    BJ_TRY(bj_profile_read(former, &session->profile, error));
    session->plan.keep_done = true;
    return adopt_former(session, error);
}

/* Answers of another machine or cpu must not end up beside ours. */
static bj_status check_former(const session *session, bj_error *error) {
    const bj_profile *profile = &session->profile;
    if (!session->plan.keep_done)
        return BJ_OK;
    if (strcmp(profile->run.machine, session->machine->facts.where) != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.120s: is of machine '%.60s', cannot go on with '%.60s'",
                                 session->path, profile->run.machine, session->machine->facts.where);
    if (profile->run.cpu_measured != session->plan.cpu)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.120s: was measured on cpu %d, cannot go on with cpu %d",
                                 session->path, profile->run.cpu_measured, session->plan.cpu);
    return bj_runner_check_former(session->machine, profile, true, session->path, error);
}

/* Where the profile goes and how much we print has nothing to do with what was measured. */
static bool is_recorded(const char *option) {
    static const char *const left_out[] = {"output", "force", "resume", "save", "quiet"};
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        if (strcmp(option, left_out[i]) == 0)
            return false;
    return true;
}

static bj_status record_arguments(const bj_cli_arguments *arguments, bj_strings *list, bj_error *error) {
    bj_strings_free(list);
    bj_status status = BJ_OK;
    for (size_t i = 0; i < arguments->operand_count && status == BJ_OK; i++)
        status = bj_strings_add(list, arguments->operands[i], error);
    for (size_t i = 0; i < arguments->given_count && status == BJ_OK; i++) {
        const bj_cli_given *given = &arguments->given[i];
        if (!is_recorded(given->option->name))
            continue;
        char option[48];
        snprintf(option, sizeof option, "--%s", given->option->name);
        status = bj_strings_add(list, option, error);
        if (status == BJ_OK && given->value != NULL)
            status = bj_strings_add(list, given->value, error);
    }
    return status;
}

static void announce(const session *session) {
    if (session->quiet)
        return;
    if (session->save.kept != NULL && session->machine->facts.simulated)
        bj_cli_complain("warning: --save makes a simulated machine the default profile of this one");
    const bj_profile *profile = &session->profile;
    for (size_t i = 0; i < profile->environment.warnings.count; i++)
        bj_cli_complain("warning: %s", profile->environment.warnings.items[i]);
    double seconds;
    uint64_t bytes;
    char duration[40], memory[32];
    const bj_machine_facts *facts = &session->machine->facts;
    bj_runner_estimate_cost(session->order, session->order_count, &session->plan, facts->cpu_count,
                            facts->memory_limit_bytes / 4, &seconds, &bytes);
    bj_cli_format_duration(seconds, duration, sizeof duration);
    bj_base_format_bytes((double)bytes, memory, sizeof memory);
    bj_cli_complain("measuring cpu %d of %s: about %s%s, at most %s of memory", session->plan.cpu, facts->where,
                    duration, facts->simulated ? " of simulated time" : "", memory);
}

/* Writes the profile where there is no journal, and says how the run ended. */
static int conclude(session *session, bj_status status, bj_error *error) {
    bool done = status == BJ_OK || status == BJ_ERR_INTERRUPTED;
    bool drops = bj_cli_is_given(session->arguments, "no-curves") && (status == BJ_OK || !session->journal);
    if (drops) /* not from the journal of a run that --resume may go on with */
        bj_data_free_curves(&session->profile.curves);
    if (done && (!session->journal || drops)) {
        bj_error trouble;
        bj_status written = bj_cli_write_profile(session->output, &session->profile, &trouble);
        if (written != BJ_OK)
            return bj_cli_fail(written, &trouble);
    }
    if (status == BJ_ERR_INTERRUPTED) {
        bj_cli_complain("%s; %s holds what was done%s", error->text,
                        strcmp(session->path, "-") == 0 ? "standard output" : session->path,
                        session->journal ? ", --resume goes on" : "");
        return BJ_EXIT_INTERRUPTED;
    }
    if (status != BJ_OK) {
        bool kept = session->journal && session->profile.probe_count > 0 && access(session->path, F_OK) == 0;
        bj_cli_complain("%s%s", error->text, kept ? "; the file holds what was done before, --resume goes on" : "");
        return bj_cli_exit_status(status);
    }
    int result = BJ_EXIT_OK;
    for (size_t i = 0; i < session->order_count; i++) {
        const bj_probe_record *record = bj_profile_find_probe(&session->profile, session->order[i]->name);
        if (record == NULL || record->status != BJ_ANSWER_FAILED)
            continue;
        bj_cli_complain("probe %s failed: %s", record->name, record->reason);
        result = session->lacked ? BJ_EXIT_RESOURCE : BJ_EXIT_FAILED;
    }
    if (!session->quiet)
        bj_cli_tell_headline(&session->profile);
    if (!session->quiet && session->save.unfinished == NULL && strcmp(session->path, "-") != 0)
        bj_cli_complain("the profile is in %s", session->path);
    status = bj_cli_save_profile(&session->save, &session->profile, session->path, session->quiet, error);
    return status == BJ_OK ? result : bj_cli_fail(status, error);
}

static int measure(session *session) {
    bj_error error = {""};
    bj_cli_progress progress;
    bj_cli_start_progress(&progress, session->quiet, bj_cli_stop_flag());
    session->plan.output = session->journal ? session->output : NULL;
    session->plan.lacked = &session->lacked;
    session->plan.report = bj_cli_report_progress;
    session->plan.context = &progress;
    char last_words[300];
    snprintf(last_words, sizeof last_words, "blackjack: interrupted%.3s%.200s%s\n", session->journal ? "; " : "",
             session->journal ? session->path : "", session->journal ? " holds what was done, --resume goes on" : "");
    bj_base_hide_controls(last_words);
    last_words[strlen(last_words) - 1] = '\n';
    bj_cli_catch_signals();
    bj_cli_end_soon(last_words);
    bj_status status = bj_runner_run(session->machine, &session->plan, &session->profile, &error);
    bj_cli_end_progress(&progress);
    bj_cli_release_signals();
    return conclude(session, status, &error);
}

static int run(const bj_cli_arguments *arguments) {
    session session = {.arguments = arguments};
    bj_error error;
    bj_profile_init(&session.profile);
    ignore_write_signals();
    bj_status status = read_options(&session, &error);
    if (status == BJ_OK)
        status = read_former(&session, &error);
    if (status == BJ_OK)
        status = bj_runner_open_machine(bj_cli_find_value(arguments, "machine"), session.plan.seed, &session.machine,
                                        &error);
    if (status == BJ_OK)
        status = choose_cpus(&session, &error);
    if (status == BJ_OK)
        status = check_former(&session, &error);
    session.plan.late_rounds = bj_runner_count_late_rounds(session.plan.effort);
    if (status == BJ_OK)
        status = use_compiler(&session, &error);
    if (status == BJ_OK)
        status = record_arguments(arguments, &session.profile.run.arguments, &error);
    if (status == BJ_OK)
        status = bj_runner_fill_header(session.machine, &session.plan, &session.profile, &error);
    int result;
    if (status == BJ_OK) {
        announce(&session);
        result = measure(&session);
    } else {
        result = bj_cli_fail(status, &error);
    }
    bj_cli_close_machine(session.machine, &session.cpus);
    bj_base_close_output(session.output);
    free(session.order);
    bj_cli_free_save(&session.save);
    bj_profile_free(&session.profile);
    return result;
}

static const bj_cli_option options[] = {
    {"output", 'o', "FILE", "the profile (default blackjack-profile.json); '-': standard output"},
    {"force", 0, NULL, "replace the file if it exists, from the start"},
    {"resume", 0, NULL, "go on with the file, its seed and effort: probes that are in it are not run again"},
    {"save", 0, NULL, "keep it as the default profile, which all commands and the library find by themselves"},
    {"machine", 0, "native|sim:FILE", "this machine (default), or a simulated one: a file, or a name such as zen3"},
    {"effort", 0, "quick|normal|thorough", "how much to measure (default normal)"},
    {"cpus", 0, "LIST", "use only these, such as 0,2-3; the first is measured"},
    {"budget", 0, "SECONDS", "end after about this time with what there is; a probe takes some tenths at least"},
    {"repeat", 0, "N", "so many whole runs merged into one profile, with the spread between them in the intervals"},
    {"seed", 0, "N", "of everything random (default 1)"},
    {"method", 0, "NAME",
     "for the probes that have it; 'blackjack list' names the methods. paper, servet: as that paper has it"},
    {"all-pairs", 0, NULL, "topology measures every pair of cpus, however many: 32640 of 256 cpus"},
    {"cc", 0, "COMMAND",
     "op, live and vector measure kernels that this compiler builds, such as \"clang -O3 -march=native\""},
    {"no-curves", 0, NULL, "leave the samples out at the end: a small file, enough for 'fleet' and 'get'"},
    {"quiet", 'q', NULL, "only errors on standard error"},
};

const bj_cli_command bj_cli_command_run = {
    .name = "run",
    .synopsis = "[PROBE...] [-o FILE] [--force] [--resume] [--save]\n"
                "[--machine native|sim:FILE] [--effort quick|normal|thorough] [--cpus LIST]\n"
                "[--budget SECONDS] [--seed N] [--repeat N] [--method NAME] [--all-pairs]\n"
                "[--cc COMMAND] [--no-curves] [--quiet]",
    .summary = "Measure this machine and write its profile",
    .details =
        "Without PROBE all probes run; probes that others need run first by themselves. The profile is written\n"
        "at the start and after each probe, before the probe is reported as done, so a run that is interrupted,\n"
        "killed or finds the disk full keeps what it has. A FILE that ends in .gz is compressed.\n"
        "\n"
        "--save keeps the profile where commands without a file name and the library look: in the file that\n"
        "BLACKJACK_PROFILE names, else in $XDG_DATA_HOME/blackjackbench/profile.json (XDG_DATA_HOME is\n"
        "$HOME/.local/share unless set). With -o it is written there as well. The one before stays beside it\n"
        "under its date, profile-YYYY-MM-DD-HHMMSS.json, five of them at most.\n"
        "\n"
        "Exit status: 0 done; 1 some probe failed (the profile says which); 2 wrong usage or bad input;\n"
        "3 no permission or resource, also where a probe failed for want of memory; 130 interrupted.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = (size_t)-1,
    .run = run,
};
