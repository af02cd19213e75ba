/* blackjack-comm: what messages between the ranks of a launcher cost. Only rank 0 speaks. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "bj_build.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "cli/stop.h"
#include "cli/values.h"
#include "comm/comm_keeper.h"
#include "comm/comm_machine.h"
#include "comm/comm_merge.h"
#include "comm/comm_nodes.h"
#include "platform/clock.h"
#include "profile/places.h"
#include "runner/former.h"
#include "runner/header.h"
#include "runner/open_machine.h"
#include "runner/runner.h"

enum { SIZES_MOST = 4 };

static int word_count;
static char **all_words;

typedef struct {
    const bj_cli_arguments *arguments;
    const char *path;
    bool quiet, journal, resume, lacked; /* memory or threads, as the probe said */
    bj_output *output;                   /* NULL: standard output, or not ours to write */
    bj_run_plan plan;
    size_t sizes[SIZES_MOST];
    bj_machine *machine;
    bj_profile profile;
    bool uses_mpi;
} session;

/* Before MPI is started, so that a wrong option is told once. */
static bool is_first_rank(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        if (text != NULL)
            return strcmp(text, "0") == 0;
    }
    return true;
}

static bj_status read_sizes(session *session, bj_error *error) {
    const char *text = bj_cli_find_value(session->arguments, "bytes");
    while (text != NULL && *text != '\0') {
        char word[32];
        uint64_t bytes;
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
        if (!bj_base_parse_u64(word, &bytes) || bytes > BJ_MESSAGE_MOST_BYTES ||
            session->plan.message_count == SIZES_MOST)
            return bj_base_set_error(error, BJ_ERR_USAGE, "--bytes: expected up to %d sizes up to %zu, found '%.40s'",
                                     SIZES_MOST, BJ_MESSAGE_MOST_BYTES, text);
        session->sizes[session->plan.message_count++] = (size_t)bytes;
        text += length + (text[length] == ',');
    }
    session->plan.message_bytes = session->sizes;
    text = bj_cli_find_value(session->arguments, "longest");
    uint64_t longest = 0;
    if (text != NULL && (!bj_base_parse_u64(text, &longest) || longest < 64 || longest > BJ_MESSAGE_MOST_BYTES))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--longest: expected bytes from 64 to %zu, found '%.40s'",
                                 BJ_MESSAGE_MOST_BYTES, text);
    session->plan.message_most = (size_t)longest;
    return BJ_OK;
}

static bj_status read_options(session *session, bj_error *error) {
    const bj_cli_arguments *arguments = session->arguments;
    static const char *const probes[] = {"comm"};
    const bj_probe *probe = bj_probe_find("comm");
    bool force = bj_cli_is_given(arguments, "force");
    session->plan.probes = probes;
    session->plan.probe_count = 1;
    session->plan.all_pairs = bj_cli_is_given(arguments, "all-pairs");
    session->quiet = bj_cli_is_given(arguments, "quiet");
    session->resume = bj_cli_is_given(arguments, "resume");
    session->path = bj_cli_find_value(arguments, "output");
    if (force && session->resume)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--force replaces a profile, --resume adds to it: not both");
    BJ_TRY(bj_cli_read_effort(arguments, &session->plan.effort, error));
    BJ_TRY(bj_cli_read_budget(arguments, &session->plan.budget_s, error));
    BJ_TRY(bj_cli_read_seed(arguments, &session->plan.seed, error));
    BJ_TRY(bj_cli_read_method(arguments, &probe, 1, &session->plan.method, error));
    BJ_TRY(read_sizes(session, error));
    if (session->path == NULL)
        session->path = BJ_PROFILE_HERE;
    if (!is_first_rank() || (bj_cli_is_given(arguments, "profiles") && !bj_cli_is_given(arguments, "output")))
        return BJ_OK;
    BJ_TRY(bj_cli_open_journal(session->path, force || session->resume,
                               "--force replaces it, --resume adds the messages to it", &session->output, error));
    session->journal = session->output != NULL && bj_base_output_is_file(session->output);
    return BJ_OK;
}

/* With --resume the file keeps its header: it is the profile of this node, with messages added. */
static bj_status prepare_profile(session *session, bj_error *error) {
    bj_machine *machine = session->machine;
    session->plan.cpu = machine->facts.cpus[0];
    session->plan.late_rounds = bj_runner_count_late_rounds(session->plan.effort);
    if (!session->resume || !session->journal || access(session->path, F_OK) != 0)
        return bj_runner_fill_header(machine, &session->plan, &session->profile, error);
    BJ_TRY(bj_profile_read(session->path, &session->profile, error));
    if (strcmp(session->profile.run.machine, machine->facts.where) != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%.120s: is of machine '%.60s', cannot add '%.60s'",
                                 session->path, session->profile.run.machine, machine->facts.where);
    /* A launcher may bind us to fewer cpus than the node's profile had. */
    return bj_runner_check_former(machine, &session->profile, false, session->path, error);
}

/* What the launcher did stands in the profile as well. */
static bj_status keep_warnings(session *session, bj_error *error) {
    const bj_strings *warnings = bj_comm_warnings();
    for (size_t i = 0; session->uses_mpi && i < warnings->count; i++)
        BJ_TRY(bj_strings_add(&session->profile.environment.warnings, warnings->items[i], error));
    return BJ_OK;
}

static void announce(const session *session) {
    const bj_machine_facts *facts = &session->machine->facts;
    size_t hosts = 0, pairs = facts->rank_count * (facts->rank_count - 1) / 2;
    char duration[40];
    for (size_t i = 0; i < facts->rank_count; i++)
        hosts = facts->ranks[i].host >= hosts ? facts->ranks[i].host + 1 : hosts;
    if (session->quiet)
        return;
    for (size_t i = 0; i < session->profile.environment.warnings.count; i++)
        bj_cli_complain("warning: %s", session->profile.environment.warnings.items[i]);
    /* Some milliseconds a pair and round; of many ranks some leaders of each host, all hosts at once. */
    double asked = session->plan.all_pairs || pairs <= 300
                       ? (double)pairs
                       : 6.0 * (double)facts->rank_count / (double)hosts + 5.0 * (double)hosts;
    double rounds = (session->plan.effort == BJ_EFFORT_THOROUGH ? 12 : 6) + session->plan.late_rounds;
    double curves = session->plan.effort == BJ_EFFORT_QUICK ? 5 : 15;
    bj_cli_format_duration(fmin(asked * rounds * 1.5e-3 + curves, session->plan.budget_s), duration, sizeof duration);
    bj_cli_complain("measuring messages between %zu ranks on %zu host%s: about %s%s; times are half of round trips",
                    facts->rank_count, hosts, hosts == 1 ? "" : "s", duration,
                    facts->simulated ? " of simulated time" : "");
}

static int conclude(session *session, bj_status status, bj_error *error) {
    const char *trouble = session->uses_mpi ? bj_comm_trouble() : "";
    bj_error problem;
    if (trouble[0] != '\0' && bj_strings_add(&session->profile.environment.warnings, trouble, &problem) != BJ_OK)
        bj_cli_complain("%s", problem.text);
    if ((status == BJ_OK || status == BJ_ERR_INTERRUPTED) && (!session->journal || trouble[0] != '\0')) {
        bj_status written = bj_cli_write_profile(session->output, &session->profile, &problem);
        if (written != BJ_OK)
            return bj_cli_fail(written, &problem);
    }
    if (trouble[0] != '\0') {
        bj_cli_complain("%s; %s holds what was done", trouble, session->path);
        return BJ_EXIT_FAILED;
    }
    if (status == BJ_ERR_INTERRUPTED) {
        bj_cli_complain("%s; %s holds what was done", error->text, session->path);
        return BJ_EXIT_INTERRUPTED;
    }
    if (status != BJ_OK)
        return bj_cli_fail(status, error);
    const bj_probe_record *record = bj_profile_find_probe(&session->profile, "comm");
    if (record != NULL && record->status != BJ_ANSWER_OK)
        bj_cli_complain("comm: %s", record->reason);
    else if (!session->quiet && strcmp(session->path, "-") != 0)
        bj_cli_complain("the profile is in %s; 'blackjack show' shows it", session->path);
    if (record == NULL || record->status != BJ_ANSWER_FAILED)
        return BJ_EXIT_OK;
    return session->lacked ? BJ_EXIT_RESOURCE : BJ_EXIT_FAILED;
}

static int measure(session *session) {
    bj_error error = {""};
    bj_cli_progress progress;
    bj_status status = BJ_OK;
    /* Else a profile without an answer would stand where others look for theirs. */
    if (session->machine->facts.rank_count < 2)
        status = bj_base_set_error(&error, BJ_ERR_USAGE, "%s",
                                   session->machine->facts.simulated
                                       ? "this machine has no ranks: its file needs 'messages', as sim:finis_terrae has"
                                       : "a message needs two ranks: mpirun -n 2 blackjack-comm, or srun");
    if (status == BJ_OK)
        status = prepare_profile(session, &error);
    if (status == BJ_OK)
        status = keep_warnings(session, &error);
    if (status != BJ_OK)
        return bj_cli_fail(status, &error);
    announce(session);
    bj_cli_start_progress(&progress, session->quiet, bj_cli_stop_flag());
    session->plan.output = session->journal ? session->output : NULL;
    session->plan.lacked = &session->lacked;
    session->plan.report = bj_cli_report_progress;
    session->plan.context = &progress;
    status = bj_runner_run(session->machine, &session->plan, &session->profile, &error);
    bj_cli_end_progress(&progress);
    return conclude(session, status, &error);
}

/* ---- --profiles: the first rank of each host measures its node, the others sleep meanwhile */

static int measure_nodes(session *session, const char *folder, bool is_first) {
    const bj_comm_node_request request = {.folder = folder,
                                          .plan = &session->plan,
                                          .force = bj_cli_is_given(session->arguments, "force"),
                                          .resume = session->resume,
                                          .tells = is_first && !session->quiet};
    bj_error error = {""};
    bj_status status = BJ_OK;
    if (is_first && !session->quiet)
        bj_cli_complain("measuring every host by its first rank, all at once; profiles go to %s", folder);
    if (bj_comm_count_before() == 0)
        status = bj_comm_measure_node(&request, bj_comm_host_name(), &error);
    if (status != BJ_OK)
        bj_cli_complain("host %s: %s", bj_comm_host_name(), error.text);
    bj_status met = bj_comm_meet_after_nodes(&error);
    if (met != BJ_OK)
        return bj_cli_fail(met, &error);
    return bj_cli_exit_status(status);
}

/* ---- the three ways to be called */

static int run_ranks(session *session) {
    bj_error error = {""};
    bool is_first = true;
    const char *folder = bj_cli_find_value(session->arguments, "profiles");
    int result = BJ_EXIT_OK;
    session->uses_mpi = true;
    /* Of each host: nobody else knows its clock. */
    bj_status status = bj_platform_check_clock(&error);
    if (status != BJ_OK)
        return bj_cli_fail(status, &error);
    if (!bj_comm_keep(word_count, all_words, bj_cli_stop_flag(), &result))
        return result;
    status = bj_comm_open(&word_count, &all_words, bj_cli_stop_flag(), &is_first, &session->machine, &error);
    if (status == BJ_ERR_USAGE && !is_first_rank()) /* of all ranks alike: one says it */
        return bj_cli_exit_status(status);
    if (status != BJ_OK)
        return bj_cli_fail(status, &error);
    bj_comm_tell_started(bj_comm_rank());
    int of_nodes = folder != NULL ? measure_nodes(session, folder, is_first) : BJ_EXIT_OK;
    /* Also where a node could not be measured. */
    if (!is_first)
        status = bj_comm_serve(&error);
    else if ((folder == NULL || bj_cli_is_given(session->arguments, "output")) && bj_comm_trouble()[0] == '\0')
        result = measure(session);
    /* Where the launcher ends all, or rank 0 is gone, somebody else has said so. */
    if (!is_first && status == BJ_ERR_INTERRUPTED)
        return BJ_EXIT_FAILED;
    if (status != BJ_OK)
        result = bj_cli_fail(status, &error);
    /* Somebody is lost, who would be waited for in vain. */
    if (bj_comm_trouble()[0] != '\0' || status != BJ_OK) {
        result = result == BJ_EXIT_OK ? of_nodes : result;
        bj_comm_tell_done(result);
        bj_comm_abort(result);
    }
    if (session->machine != NULL)
        session->machine->verbs->close(session->machine);
    session->machine = NULL;
    result = result == BJ_EXIT_OK ? of_nodes : result;
    bj_comm_tell_done(result);
    bj_comm_leave();
    return result;
}

static int run_merge(session *session) {
    const bj_cli_arguments *arguments = session->arguments;
    bj_error error;
    bj_status status = BJ_OK;
    if (arguments->operand_count < 1)
        status = bj_base_set_error(&error, BJ_ERR_USAGE, "--merge: expected profiles of several launches");
    for (size_t i = 0; i < arguments->operand_count && status == BJ_OK; i++) {
        bj_profile other;
        if (i == 0) {
            status = bj_profile_read(arguments->operands[0], &session->profile, &error);
            continue;
        }
        bj_profile_init(&other);
        status = bj_profile_read(arguments->operands[i], &other, &error);
        if (status == BJ_OK)
            status = bj_runner_check_same_host(&session->profile, &other, arguments->operands[i], &error);
        if (status == BJ_OK)
            status = bj_comm_merge(&other, arguments->operands[i], &session->profile, &error);
        bj_profile_free(&other);
    }
    if (status == BJ_OK)
        status = bj_runner_reanalyse(&session->profile, &error);
    if (status == BJ_OK)
        status = bj_cli_write_profile(session->output, &session->profile, &error);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static int run(const bj_cli_arguments *arguments) {
    session session = {.arguments = arguments};
    const char *machine = bj_cli_find_value(arguments, "machine");
    bj_error error;
    bj_profile_init(&session.profile);
    bj_cli_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    bj_status status = read_options(&session, &error);
    if (status == BJ_OK && !bj_cli_is_given(arguments, "merge") && arguments->operand_count > 0)
        status = bj_base_set_error(&error, BJ_ERR_USAGE, "'%.60s' is one argument too many: files are for --merge",
                                   arguments->operands[0]);
    int result;
    if (status != BJ_OK) {
        result = is_first_rank() ? bj_cli_fail(status, &error) : bj_cli_exit_status(status);
    } else if (bj_cli_is_given(arguments, "merge")) {
        result = run_merge(&session);
    } else if (machine == NULL) {
        result = run_ranks(&session);
    } else {
        status = bj_runner_open_machine(machine, session.plan.seed, &session.machine, &error);
        result = status == BJ_OK ? measure(&session) : bj_cli_fail(status, &error);
    }
    if (session.machine != NULL)
        session.machine->verbs->close(session.machine);
    bj_base_close_output(session.output);
    bj_profile_free(&session.profile);
    return result;
}

static const bj_cli_option options[] = {
    {"output", 'o', "FILE", "the profile (default blackjack-profile.json); '-': standard output"},
    {"force", 0, NULL, "replace the file if it exists"},
    {"resume", 0, NULL, "add the messages to the file, which holds a node's profile or an earlier measurement"},
    {"machine", 0, "sim:FILE", "ranks of a simulated machine, without MPI"},
    {"profiles", 0, "FOLDER", "the first rank of each host runs the probes of the node; FOLDER gets HOST.json"},
    {"all-pairs", 0, NULL, "every pair of ranks, however many there are"},
    {"bytes", 0, "N,...", "up to four sizes by which layers are told apart (default: the L1 size, or 32768)"},
    {"longest", 0, "BYTES", "the longest message of a curve (default 16 MiB)"},
    {"effort", 0, "quick|normal|thorough", "how much to measure (default normal)"},
    {"budget", 0, "SECONDS", "end after about this time with what there is"},
    {"seed", 0, "N", "of everything random (default 1)"},
    {"method", 0, "NAME", "gaps (default), or first_come (or servet) over all pairs, as in Servet's paper"},
    {"merge", 0, NULL, "measure nothing: join the profiles of several launches into one"},
    {"quiet", 'q', NULL, "only errors on standard error"},
};

static const bj_cli_command command = {
    .name = "comm",
    .program = "blackjack-",
    .synopsis = "[-o FILE] [--force] [--resume] [--profiles FOLDER] [--all-pairs]\n"
                "[--bytes N,...] [--longest BYTES] [--machine sim:FILE]\n"
                "[--effort quick|normal|thorough] [--budget SECONDS] [--seed N] [--method NAME]\n"
                "[--merge FILE...] [--quiet]",
    .summary = "What messages between the ranks of an MPI launcher cost",
    .details = "Started by the launcher of the cluster (mpirun, srun), one process a rank; the launcher's binding is\n"
               "kept and recorded. Rank 0 measures, the others answer, and sleep when they are not asked.\n"
               "\n"
               "Each rank is the child of a keeper, which names it if it is killed. With --profiles the first rank of\n"
               "each host measures its node, on all of its cpus; with -o as well, messages come after that.\n"
               "\n"
               "Exit status: 0 done; 1 a rank was lost (its name is told, the profile holds what was done);\n"
               "2 wrong usage or bad input; 3 no permission or resource; 130 interrupted.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = (size_t)-1,
    .run = run,
};

int main(int count, char **words) {
    bj_cli_arguments arguments;
    bj_error error;
    bj_cli_begin();
    word_count = count;
    all_words = words;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) {
            bj_cli_print_command_help(&command);
            return BJ_EXIT_OK;
        }
        if (strcmp(words[i], "--version") == 0) {
            printf("blackjack-comm %s\n", BJ_VERSION);
            return BJ_EXIT_OK;
        }
    }
    bj_status status = bj_cli_parse_arguments(&command, count, words, &arguments, &error);
    int result = status == BJ_OK   ? run(&arguments)
                 : is_first_rank() ? bj_cli_fail(status, &error)
                                   : bj_cli_exit_status(status);
    bj_cli_free_arguments(&arguments);
    if (result == BJ_EXIT_RESOURCE || !bj_base_take_no_memory())
        return result;
    bj_cli_complain("out of memory: what was written may lack something");
    return BJ_EXIT_RESOURCE;
}
