/* The run itself: probe after probe, the profile journalled after each. */
#include "runner/runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/number.h"
#include "platform/limits.h"
#include "runner/disturbance.h"
#include "runner/filing.h"
#include "runner/keys.h"
#include "runner/pace.h"

/* Late rounds draw from a random stream of their own. */
#define LATE_STREAM 1u
/* Of what a probe cost: three late rounds beside some ten, without exploring. */
#define LATE_COST 0.3

typedef struct {
    bj_machine *machine;
    const bj_run_plan *plan;
    bj_profile *profile;
    const bj_probe **order;
    size_t count, index;
    double start_s, done_cost_s, fraction;
    bj_pace pace;
    bj_disturbance disturbance;
    bool stop;    /* the report said so */
    bool is_late; /* all probes have run, and are being continued */
} run_state;

static double read_elapsed(const run_state *state) {
    return state->machine->verbs->read_clock(state->machine) - state->start_s;
}

/* Never zero, so that shares and estimates are defined for probes that cost nothing: those that call themselves free
 * and those that cannot run here. */
static double cost_of(const run_state *state, size_t index) {
    double cost = bj_runner_estimate_probe(state->order[index], state->plan, state->machine->facts.cpu_count);
    return fmax(cost, 1e-3) * (state->is_late ? LATE_COST : 1);
}

/* Of the probes from `first` on, and of what is to come after all. */
static double cost_from(const run_state *state, size_t first) {
    double sum = 0;
    bool late_to_come = state->plan->late_rounds > 0 && !state->is_late;
    for (size_t i = 0; i < state->count; i++)
        sum += cost_of(state, i) * ((i >= first) + (late_to_come ? LATE_COST : 0));
    return sum;
}

static void report(run_state *state, bool probe_done) {
    if (state->plan->report == NULL)
        return;
    double elapsed = read_elapsed(state);
    double done = state->done_cost_s + (probe_done ? 0 : state->fraction * cost_of(state, state->index));
    bj_progress progress = {
        .probe = state->order[state->index]->name,
        .index = state->index,
        .count = state->count,
        .fraction = state->fraction,
        .elapsed_s = elapsed,
        .remaining_s = bj_runner_estimate_remaining(&state->pace, done, elapsed),
        .probe_done = probe_done,
    };
    if (state->plan->report(state->plan->context, &progress))
        state->stop = true;
}

/* What probes call. Fractions that run backwards or out of range are theirs, not the reader's, to bear. */
static bool take_progress(void *context, double fraction) {
    run_state *state = context;
    if (fraction > state->fraction)
        state->fraction = fmin(fraction, 1);
    report(state, false);
    return state->stop;
}

static bj_status write_journal(run_state *state, bj_error *error) {
    bj_status status = bj_runner_note_disturbance(&state->disturbance, state->profile, error);
    const char *output = state->plan->output;
    if (status == BJ_OK && output != NULL && strcmp(output, "-") != 0)
        status = bj_profile_write(state->profile, output, error);
    return status;
}

static void attach_claims(run_state *state, bj_answers *answers) {
    bj_machine *machine = state->machine;
    for (size_t i = 0; machine->verbs->read_claim != NULL && i < answers->count; i++) {
        bj_answer *answer = &answers->items[i];
        answer->has_claimed = machine->verbs->read_claim(machine, answer->key, state->plan->cpu, &answer->claimed);
    }
}

/* The probe's part of the budget that is left, in proportion to cost; INFINITY without a budget. */
static double share_s(const run_state *state) {
    if (isinf(state->plan->budget_s))
        return INFINITY;
    double left = state->plan->budget_s - read_elapsed(state);
    return left * cost_of(state, state->index) / cost_from(state, state->index);
}

/* A quarter in all: a control group kills where an allocation would never fail. What the process holds already counts.
 * Where that is most of the quarter, a small part still answers for small caches. */
static uint64_t memory_for_probe(const bj_machine_facts *facts) {
    /* Stacks of threads, the samples, and the rest of the last huge page. */
    const uint64_t reserve = 4 << 20;
    uint64_t quarter = facts->memory_limit_bytes / 4;
    if (facts->simulated)
        return quarter;
    uint64_t held = bj_platform_resident_bytes("") + reserve;
    uint64_t least = facts->memory_limit_bytes / 16;
    return quarter > held && quarter - held > least ? quarter - held : least;
}

/* more_rounds 0: the probe's own plan. */
static bj_measure_request make_request(run_state *state, const bj_probe *probe, const bj_answers *earlier,
                                       unsigned more_rounds) {
    double share = share_s(state);
    uint64_t seed = bj_runner_seed_probe(state->plan->seed, probe->name);
    return (bj_measure_request){
        .machine = state->machine,
        .cpu = state->plan->cpu,
        .effort = state->plan->effort,
        .seed = more_rounds > 0 ? bj_random_mix(seed, LATE_STREAM) : seed,
        .more_rounds = more_rounds,
        .deadline_s = state->machine->verbs->read_clock(state->machine) + share,
        .memory_bytes = memory_for_probe(&state->machine->facts),
        .method = bj_runner_has_method(probe, state->plan->method) ? state->plan->method : NULL,
        .all_pairs = state->plan->all_pairs,
        .earlier = earlier,
        .report_progress = take_progress,
        .progress_context = state,
    };
}

/* Whether the probe can run at all here; otherwise the outcome and its reason. */
static bool may_run(const run_state *state, const bj_probe *probe, bj_answer_status *outcome, bj_error *trouble) {
    size_t cpus = state->machine->facts.cpu_count;
    if (probe->requires_cpus > cpus) {
        *outcome = BJ_ANSWER_UNSUPPORTED;
        (void)bj_base_set_error(trouble, BJ_ERR_UNSUPPORTED, "needs %u cpus, may use %zu", probe->requires_cpus, cpus);
        return false;
    }
    if (!(share_s(state) > 0)) {
        *outcome = BJ_ANSWER_UNDETERMINED;
        (void)bj_base_set_error(trouble, BJ_ERR_FAILED, "the time budget ended before this was measured");
        return false;
    }
    return true;
}

static bj_answer_status outcome_of(bj_status status) {
    return status == BJ_OK ? BJ_ANSWER_OK : status == BJ_ERR_UNSUPPORTED ? BJ_ANSWER_UNSUPPORTED : BJ_ANSWER_FAILED;
}

/* Measures and analyses. BJ_ERR_INTERRUPTED: neither samples nor answers are to be used. Other trouble of the probe
 * is an outcome, not an error. */
static bj_status question_probe(run_state *state, const bj_probe *probe, bj_curves *samples, bj_answers *answers,
                                bj_answer_status *outcome, bj_error *trouble, bj_error *error) {
    bj_answers earlier;
    bj_status status = bj_runner_list_earlier(&state->profile->answers, probe, &earlier, error);
    if (status != BJ_OK)
        return status;
    bool runs = may_run(state, probe, outcome, trouble);
    bj_measure_request request = make_request(state, probe, &earlier, 0);
    if (runs) {
        bj_status measured = probe->measure(&request, samples, trouble);
        if (measured == BJ_ERR_INTERRUPTED || (measured != BJ_OK && state->stop)) {
            status = bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted during %s", probe->name);
            goto done;
        }
        *outcome = outcome_of(measured);
        if (measured != BJ_OK && trouble->text[0] == '\0')
            (void)bj_base_set_error(trouble, measured, "the measurement failed");
    }
    if (*outcome == BJ_ANSWER_OK) {
        bj_analyse_request analysis = {.method = request.method, .earlier = &earlier, .seed = request.seed};
        status = bj_runner_conclude_probe(probe, samples, &analysis, answers, trouble, error);
        *outcome = trouble->text[0] == '\0' ? BJ_ANSWER_OK : BJ_ANSWER_FAILED;
    } else {
        /* Half a measurement must not look like a whole one to a later analysis. */
        bj_data_free_curves(samples);
        status = bj_runner_fill_answers(probe, *outcome, trouble->text, answers, error);
    }
done:
    free(earlier.items);
    return status;
}

static bj_status file_probe(run_state *state, const bj_probe *probe, const bj_curves *samples, bj_answers *answers,
                            bj_answer_status outcome, const char *reason, double seconds, bj_error *error) {
    bj_profile *profile = state->profile;
    attach_claims(state, answers);
    bj_data_drop_curves(&profile->curves, probe->name);
    bj_status status = bj_data_copy_curves(samples, probe->name, &profile->curves, error);
    if (status == BJ_OK)
        status = bj_runner_file_answers(profile, probe, answers, error);
    if (status == BJ_OK)
        status = bj_runner_file_record(profile, probe, outcome, reason, error);
    bj_probe_record *record;
    if (status == BJ_OK)
        status = bj_profile_record_probe(profile, probe->name, &record, error);
    if (status == BJ_OK)
        record->seconds = bj_data_round_number(seconds, BJ_ANSWER_DIGITS);
    return status;
}

static bj_status run_probe(run_state *state, bj_error *error) {
    const bj_probe *probe = state->order[state->index];
    bj_curves samples = {0};
    bj_answers answers = {0};
    bj_error trouble = {""};
    bj_answer_status outcome = BJ_ANSWER_OK;
    double before = read_elapsed(state);
    state->fraction = 0;
    report(state, false);
    bj_status status = BJ_OK;
    if (state->stop)
        status = bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted before %s", probe->name);
    if (status == BJ_OK)
        status = question_probe(state, probe, &samples, &answers, &outcome, &trouble, error);
    if (status == BJ_OK)
        status =
            file_probe(state, probe, &samples, &answers, outcome, trouble.text, read_elapsed(state) - before, error);
    bj_data_free_curves(&samples);
    bj_data_free_answers(&answers);
    return status;
}

/* More rounds of a probe that has samples, filed with them. Trouble is no reason to lose what there is. */
static bj_status continue_probe(run_state *state, const bj_probe *probe, bj_error *error) {
    bj_profile *profile = state->profile;
    bj_curves samples = {0};
    bj_answers earlier = {0};
    bj_error trouble = {""};
    state->fraction = 0;
    bj_status status = bj_data_copy_curves(&profile->curves, probe->name, &samples, error);
    if (status == BJ_OK && samples.count > 0 && share_s(state) > 0) {
        status = bj_runner_list_earlier(&profile->answers, probe, &earlier, error);
        bj_measure_request request = make_request(state, probe, &earlier, state->plan->late_rounds);
        bj_status measured = status == BJ_OK ? probe->measure(&request, &samples, &trouble) : status;
        if (measured == BJ_ERR_INTERRUPTED || (measured != BJ_OK && state->stop)) {
            status = bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted during late rounds of %s", probe->name);
        } else if (measured == BJ_OK) {
            bj_data_drop_curves(&profile->curves, probe->name);
            status = bj_data_copy_curves(&samples, probe->name, &profile->curves, error);
        }
    }
    free(earlier.items);
    bj_data_free_curves(&samples);
    return status;
}

/* Rounds at the other end of the run: what a neighbour did for a minute falls on the first or on these, not on both. */
static bj_status run_late_rounds(run_state *state, bj_error *error) {
    bj_status status = BJ_OK;
    state->is_late = true;
    for (state->index = 0; state->index < state->count && status == BJ_OK; state->index++) {
        status = continue_probe(state, state->order[state->index], error);
        state->done_cost_s += cost_of(state, state->index);
    }
    return status == BJ_OK ? bj_runner_reanalyse(state->profile, error) : status;
}

/* With --resume: what the profile holds is not asked again. */
static void skip_done(run_state *state) {
    size_t kept = 0;
    for (size_t i = 0; i < state->count; i++) {
        const bj_probe *probe = state->order[i];
        const bj_probe_record *record = bj_profile_find_probe(state->profile, probe->name);
        if (record == NULL || record->status != BJ_ANSWER_OK || record->revision != probe->revision)
            state->order[kept++] = probe;
    }
    state->count = kept;
}

static bj_status check_plan(const run_state *state, bj_error *error) {
    const bj_machine_facts *facts = &state->machine->facts;
    bool here = false, method_known = false;
    for (size_t i = 0; i < facts->cpu_count; i++)
        here = here || facts->cpus[i] == state->plan->cpu;
    if (!here)
        return bj_base_set_error(error, BJ_ERR_USAGE, "cpu %d is not one that we may use", state->plan->cpu);
    for (size_t i = 0; i < state->count; i++)
        method_known = method_known || bj_runner_has_method(state->order[i], state->plan->method);
    if (!method_known)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no probe of this run has a method '%s'", state->plan->method);
    return BJ_OK;
}

static bj_status run_all(run_state *state, bj_error *error) {
    bj_status status = BJ_OK;
    for (state->index = 0; state->index < state->count && status == BJ_OK; state->index++) {
        status = run_probe(state, error);
        if (status != BJ_OK)
            break;
        state->done_cost_s += cost_of(state, state->index);
        state->fraction = 1;
        bj_error trouble;
        status = write_journal(state, &trouble);
        if (status == BJ_OK)
            report(state, true);
        else
            (void)bj_base_set_error(error, status, "%.300s; %s was measured and is lost", trouble.text,
                                    state->order[state->index]->name);
    }
    if (status == BJ_OK && state->plan->late_rounds == 0)
        return BJ_OK;
    if (status == BJ_OK)
        status = run_late_rounds(state, error);
    if (status != BJ_OK && status != BJ_ERR_INTERRUPTED)
        return status;
    bj_error trouble;
    bj_status journal = write_journal(state, &trouble);
    return journal == BJ_OK ? status : bj_base_set_error(error, journal, "%s", trouble.text);
}

bj_status bj_runner_run(bj_machine *machine, const bj_run_plan *plan, bj_profile *profile, bj_error *error) {
    run_state state = {.machine = machine, .plan = plan, .profile = profile};
    bj_status status = bj_runner_order_probes(plan, &state.order, &state.count, error);
    if (status != BJ_OK)
        return status;
    status = check_plan(&state, error);
    if (status == BJ_OK) {
        if (plan->keep_done)
            skip_done(&state);
        bj_runner_start_disturbance(&state.disturbance, machine->facts.simulated);
        state.start_s = machine->verbs->read_clock(machine);
        state.pace = (bj_pace){.total_cost_s = cost_from(&state, 0), .budget_s = plan->budget_s};
        /* From the first moment the file is this run's: nobody measures for minutes to find that it cannot be written,
         * and --resume after a kill does not go on with what --force was to replace. */
        status = write_journal(&state, error);
        if (status == BJ_OK)
            status = run_all(&state, error);
    }
    free(state.order);
    return status;
}
