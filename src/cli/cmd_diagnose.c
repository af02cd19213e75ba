#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/cpu_list.h"
#include "cli/diagnose_machine.h"
#include "cli/diagnose_output.h"
#include "cli/diagnose_progress.h"
#include "cli/stop.h"
#include "cli/values.h"
#include "platform/process.h"
#include "runner/open_machine.h"

/* A copy that takes longer hangs, unless it is told otherwise. */
#define LIMIT_SECONDS 600.0
/* Ends of copies are seen to two milliseconds, which are 5% of this. */
#define LEAST_SECONDS 0.04
/* Building a variant. */
#define MAKE_SECONDS 1800.0

typedef struct {
    const bj_cli_arguments *arguments;
    bj_cli_diagnosis *d;
    bj_machine *machine;
    bj_command command;
    char **words; /* of it */
    int *cpus;    /* that are allowed */
    size_t cpu_count;
    size_t threads; /* of a load, that one copy has; 1: not said */
    size_t asked[BJ_DIAGNOSE_DENSITIES], asked_count;
    double deadline_s;
    size_t parts_done, fewest_rounds; /* variants and the diagnosis share the time; of a part */
    bj_effort effort;
    const char *makes[BJ_CLI_VARIANTS_MOST];
    bj_cli_diagnose_progress progress;
} session;

/* ---- what is asked for */

static bj_status read_densities(session *s, bj_error *error) {
    const char *list = bj_cli_find_value(s->arguments, "density"), *at = list;
    while (at != NULL) {
        char *end;
        unsigned long count = *at >= '1' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (count == 0 || (*end != ',' && *end != '\0') ||
            (s->asked_count > 0 && count <= s->asked[s->asked_count - 1]))
            return bj_base_set_error(error, BJ_ERR_USAGE,
                                     "--density: expected numbers of cores that rise, as in 1,2,4, found '%.40s'",
                                     list);
        if (s->asked_count == BJ_DIAGNOSE_DENSITIES)
            return bj_base_set_error(error, BJ_ERR_USAGE, "--density: at most %d", BJ_DIAGNOSE_DENSITIES);
        s->asked[s->asked_count++] = count;
        at = *end == ',' ? end + 1 : NULL;
    }
    return BJ_OK;
}

static bj_status read_positive(const session *s, const char *option, const char *what, double otherwise, double *value,
                               bj_error *error) {
    const char *text = bj_cli_find_value(s->arguments, option);
    *value = otherwise;
    if (text != NULL && (!bj_base_parse_double(text, value) || !(*value > 0)))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--%s: expected %s above 0, found '%.40s'", option, what, text);
    return BJ_OK;
}

static bj_status list_makes(session *s, bj_error *error) {
    for (size_t i = 0; i < s->arguments->given_count; i++) {
        if (strcmp(s->arguments->given[i].option->name, "make") != 0)
            continue;
        if (s->d->variant_count == BJ_CLI_VARIANTS_MOST)
            return bj_base_set_error(error, BJ_ERR_USAGE, "--make: at most %d", BJ_CLI_VARIANTS_MOST);
        s->d->variants[s->d->variant_count++].make = s->arguments->given[i].value;
    }
    return BJ_OK;
}

static bool names_cpus(const bj_cli_arguments *arguments) {
    bool names = false;
    for (size_t i = 0; i < arguments->operand_count; i++)
        names = names || strstr(arguments->operands[i], "{cpus}") != NULL;
    return names;
}

static bj_status read_options(session *s, bj_error *error) {
    static const unsigned rounds[BJ_EFFORT_COUNT] = {6, 10, 20};
    const bj_cli_arguments *arguments = s->arguments;
    bj_cli_diagnosis *d = s->d;
    double budget;
    if (bj_cli_is_given(arguments, "weak") && bj_cli_is_given(arguments, "strong"))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--weak and --strong exclude each other");
    d->request.strong =
        bj_cli_is_given(arguments, "strong") || (names_cpus(arguments) && !bj_cli_is_given(arguments, "weak"));
    d->quiet = bj_cli_is_given(arguments, "quiet");
    BJ_TRY(bj_cli_read_seed(arguments, &d->seed, error));
    BJ_TRY(bj_cli_read_effort(arguments, &s->effort, error));
    BJ_TRY(bj_cli_read_budget(arguments, &budget, error));
    BJ_TRY(read_positive(s, "limit", "seconds", LIMIT_SECONDS, &s->command.limit_s, error));
    BJ_TRY(read_positive(s, "flops", "operations", NAN, &d->work.flops, error));
    BJ_TRY(read_positive(s, "bytes", "bytes", NAN, &d->work.bytes, error));
    BJ_TRY(read_positive(s, "loads", "loads", NAN, &d->work.loads, error));
    BJ_TRY(read_densities(s, error));
    BJ_TRY(list_makes(s, error));
    d->has_work = !isnan(d->work.flops) || !isnan(d->work.bytes) || !isnan(d->work.loads);
    d->request.rounds = rounds[s->effort];
    d->request.seed = d->seed;
    s->deadline_s = budget;
    return BJ_OK;
}

/* ---- the machine, and what runs on it */

static bj_status attach(session *s, bj_error *error) {
    const bj_cli_arguments *arguments = s->arguments;
    const char *load = bj_cli_find_value(arguments, "load");
    if (s->machine->facts.simulated) {
        if (load == NULL || arguments->operand_count > 0 || s->d->variant_count > 0)
            return bj_base_set_error(error, BJ_ERR_USAGE,
                                     "a simulated machine runs a load and no command: --load FILE is needed");
        s->d->program = load;
        BJ_TRY(bj_machine_attach_load(s->machine, load, &s->threads, error));
        s->d->request.strong = s->d->request.strong || (s->threads > 1 && !bj_cli_is_given(arguments, "weak"));
        return BJ_OK;
    }
    if (load != NULL)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--load is for simulated machines");
    if (arguments->operand_count == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "diagnose: expected a command after --; see 'blackjack help diagnose'");
    s->d->program = arguments->operands[0];
    s->d->request.least_s = LEAST_SECONDS;
    char **words = s->words = calloc(arguments->operand_count + 1, sizeof *words);
    if (words == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a command");
    for (size_t i = 0; i < arguments->operand_count; i++)
        words[i] = (char *)(size_t)arguments->operands[i];
    s->command.words = words;
    s->command.is_stopped = bj_cli_is_stopped;
    return bj_machine_attach_command(s->machine, &s->command, error);
}

static bj_status choose_cpus(session *s, bj_error *error) {
    const bj_machine_facts *facts = &s->machine->facts;
    const char *text = bj_cli_find_value(s->arguments, "cpus");
    if (text != NULL)
        return bj_cli_parse_cpus(text, facts->cpus, facts->cpu_count, &s->cpus, &s->cpu_count, error);
    s->cpus = malloc((facts->cpu_count + 1) * sizeof *s->cpus);
    if (s->cpus == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", facts->cpu_count);
    memcpy(s->cpus, facts->cpus, facts->cpu_count * sizeof *s->cpus);
    s->cpu_count = facts->cpu_count;
    return BJ_OK;
}

/* One copy: no more cpus than it has threads, and where there are as many chips, as many cpus at each density. */
static void spread_copy(session *s) {
    bj_diagnose_request *request = &s->d->request;
    bj_diagnose_chip *chip = &s->d->chip;
    if (!request->strong)
        return;
    if (s->threads > 1 && s->threads < chip->count)
        bj_diagnose_narrow_chip(chip, s->threads);
    if (chip->chips >= chip->count)
        request->total_cpus = chip->count;
}

static bj_status choose_densities(session *s, bj_error *error) {
    bj_diagnose_request *request = &s->d->request;
    spread_copy(s);
    size_t most = s->d->chip.count;
    if (s->asked_count == 0) {
        for (size_t d = 1; d < most; d *= 2)
            if (request->total_cpus == 0 || most % d == 0)
                s->asked[s->asked_count++] = d;
        s->asked[s->asked_count++] = most;
    }
    if (s->asked[s->asked_count - 1] > most)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--density: at most %zu, the cores of a chip that it can use",
                                 most);
    for (size_t i = 0; i < s->asked_count; i++) {
        if (request->total_cpus > 0 && most % s->asked[i] != 0)
            return bj_base_set_error(error, BJ_ERR_USAGE, "--density: %zu does not divide the %zu cpus of the copy",
                                     s->asked[i], most);
        request->densities[request->density_count++] = s->asked[i];
    }
    return BJ_OK;
}

/* ---- measuring */

static bj_status diagnose(session *s, bj_diagnosis *diagnosis, bj_error *error) {
    bj_diagnose_samples samples;
    bj_diagnose_request *request = &s->d->request;
    request->machine = s->machine;
    request->chip = &s->d->chip;
    request->report = bj_cli_report_trials;
    request->context = &s->progress;
    double now = s->machine->verbs->read_clock(s->machine);
    request->deadline_s = now + (s->deadline_s - now) / (double)(s->d->variant_count + 1 - s->parts_done);
    bj_status status = bj_diagnose_measure(request, &samples, error);
    bj_cli_end_trials(&s->progress);
    if (status != BJ_OK)
        return status;
    s->parts_done++;
    s->d->round_count = samples.round_count;
    s->d->out_of_time = s->d->out_of_time || samples.out_of_time;
    if (s->parts_done == 1 || samples.round_count < s->fewest_rounds)
        s->fewest_rounds = samples.round_count;
    status = bj_diagnose_analyse(request, &samples, diagnosis, error);
    bj_diagnose_free_samples(&samples);
    return status;
}

static bj_status build(const char *make, bj_error *error) {
    char **words = NULL;
    size_t count;
    BJ_TRY(bj_platform_split_words(make, &words, &count, error));
    bj_process process = {.words = words};
    const bj_process_rules rules = {.jobs = 1, .limit_s = MAKE_SECONDS, .is_stopped = bj_cli_is_stopped};
    bj_status status = count > 0 ? bj_platform_run_processes(&process, 1, &rules, error)
                                 : bj_base_set_error(error, BJ_ERR_USAGE, "--make: expected a command");
    if (status == BJ_OK && process.exit_status != 0)
        status = bj_base_set_error(error, BJ_ERR_FAILED, "'%.80s' failed with status %d: %s", make, process.exit_status,
                                   process.output);
    bj_platform_free_words(words);
    return status;
}

/* Each variant by itself; then the one that is fastest at full density stays built. */
static bj_status compare_variants(session *s, bj_error *error) {
    bj_cli_diagnosis *d = s->d;
    size_t order[BJ_CLI_VARIANTS_MOST];
    d->request.times_only = true;
    for (size_t i = 0; i < d->variant_count; i++) {
        bj_diagnosis *times = calloc(1, sizeof *times);
        char name[64];
        snprintf(name, sizeof name, "variant %zu of %zu", i + 1, d->variant_count);
        bj_cli_begin_trials(&s->progress, name);
        bj_status status = times != NULL ? build(d->variants[i].make, error)
                                         : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a variant");
        if (status == BJ_OK)
            status = diagnose(s, times, error);
        if (status == BJ_OK)
            memcpy(d->variants[i].densities, times->densities, sizeof times->densities);
        free(times);
        if (status != BJ_OK)
            return status;
    }
    d->request.times_only = false;
    if (d->variant_count == 0)
        return BJ_OK;
    bj_cli_rank_variants(d, d->request.density_count - 1, order);
    d->chosen = order[0];
    return build(d->variants[d->chosen].make, error);
}

static bj_status run_all(session *s, bj_error *error) {
    BJ_TRY(read_options(s, error));
    BJ_TRY(bj_runner_open_machine(bj_cli_find_value(s->arguments, "machine"), s->d->seed, &s->machine, error));
    s->d->machine = s->machine->facts.where;
    BJ_TRY(attach(s, error));
    const char *none = s->machine->facts.no_counters;
    s->d->no_counters = none[0] != '\0' ? none : "they were taken by others";
    BJ_TRY(choose_cpus(s, error));
    BJ_TRY(bj_cli_know_chip(s->arguments, s->machine, s->cpus, s->cpu_count, s->d, error));
    BJ_TRY(choose_densities(s, error));
    s->deadline_s += s->machine->verbs->read_clock(s->machine);
    BJ_TRY(compare_variants(s, error));
    bj_cli_begin_trials(&s->progress, "diagnose");
    return diagnose(s, &s->d->diagnosis, error);
}

static int run(const bj_cli_arguments *arguments) {
    bj_error error = {""};
    session s = {.arguments = arguments, .d = calloc(1, sizeof *s.d)};
    bj_status status = s.d != NULL ? BJ_OK : bj_base_set_error(&error, BJ_ERR_RESOURCE, "no memory for a diagnosis");
    if (status == BJ_OK) {
        bj_cli_open_trials(&s.progress, bj_cli_is_given(arguments, "quiet"));
        bj_cli_catch_signals();
        bj_cli_end_soon("blackjack: interrupted\n");
        status = run_all(&s, &error);
        bj_cli_release_signals();
    }
    if (status == BJ_OK && s.d->out_of_time && !s.d->quiet)
        bj_cli_complain("the budget ended after %zu of %u rounds", s.fewest_rounds, s.d->request.rounds);
    if (status == BJ_OK && bj_cli_is_given(arguments, "json"))
        status = bj_cli_print_diagnosis_json(s.d, &error);
    else if (status == BJ_OK)
        bj_cli_print_diagnosis(s.d);
    int result = status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
    if (s.d != NULL)
        bj_diagnose_free_chip(&s.d->chip);
    if (s.machine != NULL)
        s.machine->verbs->close(s.machine);
    free(s.words);
    free(s.cpus);
    free(s.d);
    return result;
}

static const bj_cli_option options[] = {
    {"density", 0, "LIST", "cores of the chip that are used, as 1,2,4 (default: 1, 2, 4, ... and all)"},
    {"weak", 0, NULL, "a copy on each core (the default where the command does not say {cpus})"},
    {"strong", 0, NULL, "one copy over all cores, the work staying the same"},
    {"flops", 0, "N", "floating-point operations of one copy, to be held against what is attainable"},
    {"bytes", 0, "N", "bytes that it moves to and from memory"},
    {"loads", 0, "N", "loads that it makes"},
    {"make", 0, "COMMAND", "builds a variant; may be repeated: ranks them at each density"},
    {"machine", 0, "native|sim:FILE", "this machine (default), or a simulated one"},
    {"load", 0, "FILE", "what runs on a simulated machine"},
    {"profile", 0, "FILE", "of this machine (default: the default profile, else what is needed is measured)"},
    {"cpus", 0, "LIST", "only these cpus, as 0,2-3"},
    {"effort", 0, "quick|normal|thorough", "6, 10 or 20 rounds (default normal)"},
    {"budget", 0, "SECONDS", "no further round after so long"},
    {"limit", 0, "SECONDS", "a copy that takes longer hangs (default 600)"},
    {"seed", 0, "N", "of orders and resampling (default 1)"},
    {"json", 0, NULL, "JSON, for programs (format blackjack-diagnosis/1)"},
    {"quiet", 'q', NULL, "no progress and no remarks on standard error"},
};

const bj_cli_command bj_cli_command_diagnose = {
    .name = "diagnose",
    .synopsis = "[--density LIST] [--weak | --strong] [--flops N] [--bytes N] [--loads N]\n"
                "[--make COMMAND]... [--machine sim:FILE --load FILE] [--profile FILE]\n"
                "[--cpus LIST] [--effort quick|normal|thorough] [--budget SECONDS]\n"
                "[--limit SECONDS] [--seed N] [--json] [--quiet] -- COMMAND...",
    .summary = "What a program collides with as the chip fills up",
    .details =
        "Runs the command again and again: alone on a core, with copies on the other cores of the chip, and beside\n"
        "antagonists there that press on the shared cache, on memory's bandwidth, or on its open rows. What slows it\n"
        "down, and what its own copies press on, must together explain what it loses when the chip is full; then the\n"
        "resource is named, with what can be done: cache, bandwidth, dram_rows, other, none, or undetermined.\n"
        "\n"
        "No counters and no rights are needed; a quiet machine and a command that takes some tenths of a second and\n"
        "always does the same work are. '{cpus}' in the command becomes the number of its cores, and so does\n"
        "OMP_NUM_THREADS. 'blackjack help run' says what a profile is; without one the caches are measured first.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 0,
    .most_operands = 4096,
    .run = run,
};
