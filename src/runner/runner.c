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
#include "runner/header.h"
#include "runner/keys.h"
#include "runner/pace.h"

/* What is to be measured: run after run, each of all probes in order and then late rounds. */
typedef struct {
    unsigned run, late_round; /* late_round 0: the probes by their own plan */
    size_t index;             /* of the probe */
} run_step;

typedef struct {
    bj_machine *machine;
    const bj_run_plan *plan;
    bj_profile *profile;
    const bj_probe **order;
    size_t count;
    unsigned runs;
    run_step step;
    double start_s, done_cost_s, fraction;
    bj_pace pace;
    bj_disturbance disturbance;
    bool stop; /* the report said so */
} run_state;

static double read_elapsed(const run_state *state) {
    return state->machine->verbs->read_clock(state->machine) - state->start_s;
}

static const bj_probe *current_probe(const run_state *state) {
    return state->order[state->step.index];
}

/* Whether the profile lacks what the step measures. Failures and what an older method measured are not kept. */
static bool is_wanted(const run_state *state, const run_step *step) {
    const bj_probe *probe = state->order[step->index];
    const bj_probe_record *record = bj_profile_find_probe(state->profile, probe->name);
    if (record != NULL && step->late_round > 0)
        return record->late_rounds < step->run * state->plan->late_rounds + step->late_round;
    return record == NULL || record->runs <= step->run || record->status != BJ_ANSWER_OK ||
           record->revision != probe->revision;
}

static bool next_step(const run_state *state, run_step *step) {
    if (++step->index < state->count)
        return true;
    step->index = 0;
    if (++step->late_round <= state->plan->late_rounds)
        return true;
    step->late_round = 0;
    return ++step->run < state->runs;
}

/* Never zero, so that shares and estimates are defined for probes that cost nothing: those that call themselves free
 * and those that cannot run here. */
static double cost_of(const run_state *state, const run_step *step) {
    double cost = bj_runner_estimate_probe(state->order[step->index], state->plan, state->machine->facts.cpu_count);
    return fmax(cost, 1e-3) * (step->late_round > 0 ? BJ_LATE_COST : 1);
}

/* Of the step and all that are to come. */
static double cost_from(const run_state *state, run_step step) {
    double sum = 0;
    do
        sum += is_wanted(state, &step) ? cost_of(state, &step) : 0;
    while (next_step(state, &step));
    return sum;
}

static void report(run_state *state, bool done) {
    if (state->plan->report == NULL)
        return;
    const run_step *step = &state->step;
    double elapsed = read_elapsed(state);
    double done_s = state->done_cost_s + (done ? 0 : state->fraction * cost_of(state, step));
    bj_progress progress = {
        .probe = current_probe(state)->name,
        .index = step->run * state->count + step->index,
        .count = state->runs * state->count,
        .fraction = state->fraction,
        .elapsed_s = elapsed,
        .remaining_s = bj_runner_estimate_remaining(&state->pace, done_s, elapsed),
        .probe_done = done && step->late_round == 0,
        .late_round = step->late_round > 0 ? step->run * state->plan->late_rounds + step->late_round : 0,
        .late_rounds = state->runs * state->plan->late_rounds,
    };
    const bj_probe_record *record = bj_profile_find_probe(state->profile, progress.probe);
    if (progress.probe_done && record != NULL) {
        progress.outcome = record->status;
        progress.reason = record->reason;
    }
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
    if (status == BJ_OK && state->plan->output != NULL)
        status = bj_profile_write_output(state->profile, state->plan->output, error);
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
    return left * cost_of(state, &state->step) / cost_from(state, state->step);
}

/* A quarter in all: a control group kills where an allocation would never fail. What the process holds already counts.
 * Where that is most of the quarter, a small part still answers for small caches. */
uint64_t bj_runner_limit_memory(const bj_machine_facts *facts) {
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
    uint64_t stream = state->step.run * (uint64_t)(state->plan->late_rounds + 1) + state->step.late_round;
    return (bj_measure_request){
        .machine = state->machine,
        .cpu = state->plan->cpu,
        .effort = state->plan->effort,
        .seed = more_rounds > 0 ? bj_random_mix(seed, stream) : seed,
        .more_rounds = more_rounds,
        .deadline_s = state->machine->verbs->read_clock(state->machine) + share,
        .memory_bytes = bj_runner_limit_memory(&state->machine->facts),
        .method = bj_runner_find_method(probe, state->plan->method),
        .all_pairs = state->plan->all_pairs,
        .message_bytes = state->plan->message_bytes,
        .message_count = state->plan->message_count,
        .message_most = state->plan->message_most,
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
        if (measured == BJ_ERR_RESOURCE && state->plan->lacked != NULL)
            *state->plan->lacked = true;
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
    if (status == BJ_OK) {
        record->seconds = bj_data_round_number(seconds, BJ_ANSWER_DIGITS);
        record->runs = state->step.run + 1;
        record->late_rounds = 0;
        bj_runner_date_record(state->machine, record);
    }
    return status;
}

static bj_status run_probe(run_state *state, bj_error *error) {
    const bj_probe *probe = current_probe(state);
    bj_curves samples = {0};
    bj_answers answers = {0};
    bj_error trouble = {""};
    bj_answer_status outcome = BJ_ANSWER_OK;
    double before = read_elapsed(state);
    bj_status status = question_probe(state, probe, &samples, &answers, &outcome, &trouble, error);
    if (status == BJ_OK)
        status =
            file_probe(state, probe, &samples, &answers, outcome, trouble.text, read_elapsed(state) - before, error);
    bj_data_free_curves(&samples);
    bj_data_free_answers(&answers);
    return status;
}

/* Puts the samples in the place of those that the profile has, whose rounds they begin with. Further ones are another
 * spell: even ones are of probes by their own plan, odd ones of late rounds. */
static bj_status file_spell(run_state *state, bj_probe_record *record, bj_curves *samples, bj_error *error) {
    bj_profile *profile = state->profile;
    const run_step *step = &state->step;
    bool grew = false;
    for (size_t i = 0; i < samples->count; i++) {
        bj_curve *curve = &samples->items[i];
        const bj_curve *old = bj_data_find_curve(&profile->curves, curve->id);
        size_t first = old != NULL ? old->round_count : 0;
        grew = grew || curve->round_count > first;
        BJ_TRY(bj_data_mark_spell(curve, first, 2 * step->run + (step->late_round > 0), error));
    }
    if (!grew)
        return BJ_OK;
    if (step->late_round > 0)
        record->late_rounds++;
    else
        record->runs = step->run + 1;
    bj_data_drop_curves(&profile->curves, record->name);
    return bj_data_copy_curves(samples, record->name, &profile->curves, error);
}

/* More rounds of a probe that has samples, filed with them. Trouble is no reason to lose what there is. */
static bj_status continue_probe(run_state *state, unsigned more_rounds, bj_error *error) {
    const bj_probe *probe = current_probe(state);
    bj_profile *profile = state->profile;
    bj_curves samples = {0};
    bj_answers earlier = {0};
    bj_error trouble = {""};
    double before = read_elapsed(state);
    bj_probe_record *record;
    bj_status status = bj_data_copy_curves(&profile->curves, probe->name, &samples, error);
    if (status == BJ_OK)
        status = bj_runner_list_earlier(&profile->answers, probe, &earlier, error);
    if (status == BJ_OK)
        status = bj_profile_record_probe(profile, probe->name, &record, error);
    if (status != BJ_OK || samples.count == 0 || !(share_s(state) > 0))
        goto done;
    bj_measure_request request = make_request(state, probe, &earlier, more_rounds);
    bj_status measured = probe->measure(&request, &samples, &trouble);
    record->seconds = bj_data_round_number(record->seconds + read_elapsed(state) - before, BJ_ANSWER_DIGITS);
    if (measured == BJ_ERR_INTERRUPTED || (measured != BJ_OK && state->stop))
        status = bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted during %s%s",
                                   more_rounds == 1 ? "a late round of " : "", probe->name);
    else if (measured == BJ_OK)
        status = file_spell(state, record, &samples, error);
done:
    free(earlier.items);
    bj_data_free_curves(&samples);
    return status;
}

static bool has_samples(const run_state *state, const bj_probe *probe) {
    for (size_t i = 0; i < state->profile->curves.count; i++)
        if (strcmp(state->profile->curves.items[i].probe, probe->name) == 0)
            return true;
    return false;
}

/* What the step wants of its probe. */
static bj_status take_step(run_state *state, bj_error *error) {
    const bj_probe *probe = current_probe(state);
    bool continues = state->step.late_round > 0 || (state->step.run > 0 && has_samples(state, probe));
    bj_answer_status outcome;
    bj_error trouble;
    state->fraction = 0;
    if (may_run(state, probe, &outcome, &trouble))
        report(state, false);
    if (state->stop)
        return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted before %s%s",
                                 state->step.late_round > 0 ? "a late round of " : "", probe->name);
    if (!continues)
        return run_probe(state, error);
    return continue_probe(state, state->step.late_round > 0 ? 1 : BJ_ROUNDS_AS_PLANNED, error);
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

/* After a step that was taken: the journal first, then the news of it. Where a probe was continued the journal stays as
 * it was until all are, since its answers are those of the rounds that it holds. */
static bj_status conclude_step(run_state *state, bj_error *error) {
    state->fraction = 1;
    if (state->step.late_round == 0 && state->step.run == 0) {
        bj_error trouble;
        bj_status status = write_journal(state, &trouble);
        if (status != BJ_OK)
            return bj_base_set_error(error, status, "%.300s; %s was measured and is lost", trouble.text,
                                     current_probe(state)->name);
    }
    report(state, true);
    return BJ_OK;
}

/* What probes measured after their answers were found is part of no answer yet. */
static bj_status answer_again(run_state *state, bj_error *error) {
    BJ_TRY(bj_runner_reanalyse(state->profile, error));
    return write_journal(state, error);
}

static bj_status run_steps(run_state *state, bool *continued, bj_error *error) {
    do {
        run_step next = state->step;
        bool is_last = !next_step(state, &next) || next.run > state->step.run;
        if (is_wanted(state, &state->step)) {
            double cost_s = cost_of(state, &state->step);
            *continued = *continued || state->step.late_round > 0 || state->step.run > 0;
            BJ_TRY(take_step(state, error));
            state->done_cost_s += cost_s;
            BJ_TRY(conclude_step(state, error));
        }
        /* The next run plans by what this one found. */
        if (is_last && *continued) {
            *continued = false;
            BJ_TRY(answer_again(state, error));
        }
    } while (next_step(state, &state->step));
    return BJ_OK;
}

static bj_status run_all(run_state *state, bj_error *error) {
    bool continued = false;
    state->profile->run.interrupted = true;
    /* From the first moment the file is this run's: nobody measures for minutes to find that it cannot be written,
     * and --resume after a kill does not go on with what --force was to replace. */
    BJ_TRY(write_journal(state, error));
    bj_status status = state->count > 0 ? run_steps(state, &continued, error) : BJ_OK;
    if (status != BJ_OK && status != BJ_ERR_INTERRUPTED)
        return status;
    state->profile->run.interrupted = status != BJ_OK;
    bj_error trouble;
    bj_status filed = continued ? answer_again(state, &trouble) : write_journal(state, &trouble);
    return filed == BJ_OK ? status : bj_base_set_error(error, filed, "%s", trouble.text);
}

/* Without --resume what the profile holds of probes is measured again. */
static void forget_probes(bj_profile *profile) {
    for (size_t i = 0; i < profile->probe_count; i++)
        profile->probes[i].runs = profile->probes[i].late_rounds = 0;
}

bj_status bj_runner_run(bj_machine *machine, const bj_run_plan *plan, bj_profile *profile, bj_error *error) {
    run_state state = {
        .machine = machine, .plan = plan, .profile = profile, .runs = plan->repeats > 1 ? plan->repeats : 1};
    bj_status status = bj_runner_order_probes(plan, &state.order, &state.count, error);
    if (status != BJ_OK)
        return status;
    status = check_plan(&state, error);
    if (status == BJ_OK) {
        if (!plan->keep_done)
            forget_probes(profile);
        bj_runner_start_disturbance(&state.disturbance, machine->facts.simulated);
        state.start_s = machine->verbs->read_clock(machine);
        state.pace = (bj_pace){.total_cost_s = cost_from(&state, state.step), .budget_s = plan->budget_s};
        status = run_all(&state, error);
    }
    free(state.order);
    return status;
}
