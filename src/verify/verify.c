#include "verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "runner/filing.h"
#include "runner/header.h"
#include "runner/keys.h"
#include "runner/runner.h"
#include "verify/verify_parts.h"

/* Of all parts together: each in turn may go on for as many rounds as a number may have. */
enum { ROUNDS_MOST = BJ_VERIFY_PARTS * BJ_VERIFY_ROUNDS_MOST };

typedef struct {
    double seconds; /* that the last round took */
    bool is_over;   /* no further round: no time, or the machine does not let us */
} part_state;

typedef struct {
    const bj_verify_request *request;
    bj_verification *verification;
    const bj_profile *lead;
    part_state parts[BJ_VERIFY_PARTS];
    double start_s;
    unsigned round;
    bj_error *error;
} run_state;

bool bj_verify_is_open(const bj_verify_check *check) {
    return (check->state == BJ_VERIFY_UNMEASURED || check->state == BJ_VERIFY_UNSURE ||
            check->state == BJ_VERIFY_BEYOND) &&
           check->count < BJ_VERIFY_ROUNDS_MOST;
}

double bj_verify_find_shift(const bj_verify_check *check) {
    return check->count > 0 ? bj_verify_find_quartile(check->values, check->count) - check->norm.centre : NAN;
}

static double read_clock(const run_state *state) {
    bj_machine *machine = state->request->machine;
    return machine->verbs->read_clock(machine) - state->start_s;
}

static bool take_progress(void *context, double fraction) {
    const bj_verify_request *request = context;
    (void)fraction;
    return request->is_stopped != NULL && request->is_stopped(request->context);
}

/* The part's probe, unless today's measures its points otherwise than the baseline's did. */
static const bj_probe *find_probe(const run_state *state, bj_verify_part part) {
    const bj_probe *probe = bj_probe_find(bj_verify_probes[part]);
    const bj_probe_record *record = probe != NULL ? bj_profile_find_probe(state->lead, probe->name) : NULL;
    return record != NULL && record->revision == probe->revision ? probe : NULL;
}

static bj_effort find_effort(const bj_profile *lead) {
    bj_effort effort = BJ_EFFORT_NORMAL;
    return bj_runner_parse_effort(lead->run.effort, &effort) ? effort : BJ_EFFORT_NORMAL;
}

static bj_measure_request make_request(const run_state *state, const bj_probe *probe, bj_verify_part part) {
    const bj_verify_request *request = state->request;
    const char *method = state->lead->run.method;
    uint64_t seed = bj_random_mix(bj_runner_seed_probe(request->seed, probe->name), part);
    return (bj_measure_request){
        .machine = request->machine,
        .cpu = state->verification->cpu,
        .effort = find_effort(state->lead),
        .seed = bj_random_mix(seed, state->round),
        .deadline_s = state->start_s + request->budget_s,
        .memory_bytes = bj_runner_limit_memory(&request->machine->facts),
        .method = method[0] != '\0' && bj_runner_has_method(probe, method) ? method : NULL,
        .more_rounds = 1,
        .earlier = &state->lead->answers,
        .report_progress = take_progress,
        .progress_context = (void *)request,
    };
}

/* Of one that went beyond its limit. */
static void confirm(bj_verification *verification, bj_verify_check *check, bool is_last) {
    check->state = bj_verify_confirm(check->values, check->count, check->beyond, check->limit, is_last);
    if (check->state != BJ_VERIFY_WORSE)
        return;
    verification->worse_count++;
    if (verification->worst == NULL)
        verification->worst = check;
}

static void judge_check(run_state *state, bj_verify_check *check) {
    bj_verification *verification = state->verification;
    if (check->state != BJ_VERIFY_BEYOND) {
        check->beyond = 0;
        check->state = bj_verify_judge(&check->norm, check->values, check->count, verification->count);
        if (check->state != BJ_VERIFY_BEYOND)
            return;
        check->limit = bj_verify_find_limit(&check->norm, check->count, verification->count);
        check->beyond = check->count;
        check->beyond_s = read_clock(state);
    }
    confirm(verification, check,
            check->count == BJ_VERIFY_ROUNDS_MOST ||
                read_clock(state) - check->beyond_s >= BJ_VERIFY_LASTS * state->request->budget_s);
}

/* What the round gave, and what is known by now. *grew: it gave anything. */
static void take_values(run_state *state, bj_verify_part part, const bj_curves *samples, bool *grew) {
    bj_verification *verification = state->verification;
    for (size_t i = 0; i < verification->count; i++) {
        bj_verify_check *check = &verification->checks[i];
        const bj_curve *curve = bj_data_find_curve(samples, check->curve);
        if (check->part != part || !bj_verify_is_open(check) || curve == NULL || curve->round_count < 2)
            continue;
        double value = bj_verify_read_point(curve, 1, check->x, 1) / check->times_longer;
        if (!(value > 0) || !isfinite(value))
            continue;
        *grew = true;
        check->values[check->count++] = check->is_rate ? -log(value) : log(value);
        judge_check(state, check);
    }
}

/* A machine that does not grant what the baseline had (pages, memory) ends the part, not the run. */
static bj_status measure_part(run_state *state, bj_verify_part part) {
    const bj_probe *probe = find_probe(state, part);
    part_state *own = &state->parts[part];
    bj_curves samples = {0};
    bool grew = false;
    double before_s = read_clock(state);
    bj_error trouble = {""};
    bj_status status = BJ_OK;
    if (probe != NULL) {
        size_t huge_bytes = state->request->machine->facts.huge_bytes;
        bj_measure_request request = make_request(state, probe, part);
        status = bj_verify_thin_curves(state->verification, state->lead, huge_bytes, part, &samples, state->error);
        if (status == BJ_OK) {
            bj_status measured = probe->measure(&request, &samples, &trouble);
            if (measured == BJ_ERR_INTERRUPTED)
                status = bj_base_set_error(state->error, measured, "interrupted");
            else if (measured == BJ_OK)
                take_values(state, part, &samples, &grew);
        }
    } else {
        (void)bj_base_set_error(&trouble, BJ_ERR_FAILED, "the baseline's was measured in another way");
    }
    if (status == BJ_OK && !grew) {
        own->is_over = true;
        status = bj_strings_add_note(&state->verification->notes, state->error, "%s: not measured: %.200s",
                                     bj_verify_probes[part],
                                     trouble.text[0] != '\0' ? trouble.text : "no time, or no such pages as it had");
    }
    bj_data_free_curves(&samples);
    own->seconds = read_clock(state) - before_s;
    return status;
}

static bool is_part_open(const run_state *state, bj_verify_part part) {
    bool open = false;
    for (size_t i = 0; i < state->verification->count; i++)
        open =
            open || (state->verification->checks[i].part == part && bj_verify_is_open(&state->verification->checks[i]));
    return open && !state->parts[part].is_over;
}

/* After a first round it is known what one costs: what finds no time for a judgement is given up, the dearest first, so
 * that the others have it. */
static bj_status drop_what_takes_too_long(run_state *state) {
    for (;;) {
        double sum = 0;
        int dearest = -1;
        for (int part = 0; part < BJ_VERIFY_PARTS; part++) {
            if (!is_part_open(state, (bj_verify_part)part))
                continue;
            sum += state->parts[part].seconds;
            if (dearest < 0 || state->parts[part].seconds > state->parts[dearest].seconds)
                dearest = part;
        }
        if (dearest < 0 || read_clock(state) + (BJ_VERIFY_ROUNDS_LEAST - 1) * sum <= state->request->budget_s)
            return BJ_OK;
        state->parts[dearest].is_over = true;
        BJ_TRY(bj_strings_add_note(&state->verification->notes, state->error,
                                   "%s of %s: not measured, a round takes %.2g s; a longer --budget has time for it",
                                   dearest == BJ_VERIFY_MEMORY ? "the walk in memory" : "the points",
                                   bj_verify_probes[dearest], state->parts[dearest].seconds));
    }
}

/* Parts with a number that is beyond its limit, else all that are open. */
static bool is_wanted(const run_state *state, bj_verify_part part) {
    bool any = false, own = false;
    for (size_t i = 0; i < state->verification->count; i++) {
        const bj_verify_check *check = &state->verification->checks[i];
        bool beyond = check->state == BJ_VERIFY_BEYOND && is_part_open(state, check->part);
        any = any || beyond;
        own = own || (beyond && check->part == part);
    }
    return (own || !any) && is_part_open(state, part);
}

/* A round of all parts that are wanted; *more: there was any, and none is worse. */
static bj_status measure_round(run_state *state, bool *more) {
    bool any = false;
    for (int part = 0; part < BJ_VERIFY_PARTS; part++) {
        if (!is_wanted(state, (bj_verify_part)part))
            continue;
        if (read_clock(state) + state->parts[part].seconds > state->request->budget_s)
            continue;
        BJ_TRY(measure_part(state, (bj_verify_part)part));
        any = true;
        if (state->verification->worst != NULL)
            break;
    }
    *more = any && state->verification->worst == NULL;
    return *more && state->round == 0 ? drop_what_takes_too_long(state) : BJ_OK;
}

bool bj_verify_is_alike(const bj_profile *baseline, const bj_profile *here) {
    const char *before = baseline->environment.cpu, *now = here->environment.cpu;
    return strcmp(baseline->run.machine, here->run.machine) == 0 &&
           (before[0] == '\0' || now[0] == '\0' || strcmp(before, now) == 0);
}

static bj_status check_machine(run_state *state) {
    const bj_profile *lead = state->lead, *here = state->request->here;
    if (bj_verify_is_alike(lead, here))
        return BJ_OK;
    bool same_kind = strcmp(lead->run.machine, here->run.machine) == 0;
    return bj_base_set_error(
        state->error, BJ_ERR_INPUT, "another machine: the baseline is of '%.100s', this is '%.100s'",
        same_kind ? lead->environment.cpu : lead->run.machine, same_kind ? here->environment.cpu : here->run.machine);
}

/* The baseline's cpu where we may use it. */
static bj_status choose_cpu(run_state *state) {
    const bj_machine_facts *facts = &state->request->machine->facts;
    int *cpu = &state->verification->cpu, before = state->lead->run.cpu_measured;
    *cpu = facts->cpus[0];
    for (size_t i = 0; i < facts->cpu_count; i++)
        if (facts->cpus[i] == before)
            *cpu = before;
    return *cpu == before ? BJ_OK
                          : bj_strings_add_note(&state->verification->notes, state->error,
                                                "measured on cpu %d, the baseline was on cpu %d", *cpu, before);
}

static bj_status judge_whole(run_state *state) {
    bj_verification *verification = state->verification;
    size_t looked = 0;
    for (size_t i = 0; i < verification->count; i++) {
        looked += verification->checks[i].state != BJ_VERIFY_UNMEASURED;
        if (verification->checks[i].state == BJ_VERIFY_BEYOND && verification->worst == NULL)
            confirm(verification, &verification->checks[i], true); /* the time ended, or the part's */
    }
    verification->seconds = read_clock(state);
    if (looked > 0)
        return BJ_OK;
    return bj_base_set_error(
        state->error, BJ_ERR_FAILED,
        "nothing could be measured %u times within %.3g s: a longer --budget, or a machine that is "
        "less busy, is needed",
        BJ_VERIFY_ROUNDS_LEAST, state->request->budget_s);
}

bj_status bj_verify_run(const bj_verify_request *request, bj_verification *verification, bj_error *error) {
    *verification = (bj_verification){.profile_count = request->profile_count};
    run_state state = {.request = request, .verification = verification, .lead = &request->profiles[0], .error = error};
    bool more = true;
    state.start_s = request->machine->verbs->read_clock(request->machine);
    BJ_TRY(choose_cpu(&state));
    BJ_TRY(check_machine(&state));
    BJ_TRY(bj_verify_plan(request, verification, error));
    if (verification->count == 0)
        return bj_base_set_error(
            error, BJ_ERR_INPUT, "the baseline has nothing to go by: %.250s",
            verification->notes.count > 0
                ? verification->notes.items[verification->notes.count - 1]
                : "no samples of clock, cache, bandwidth or contexts (run --no-curves drops them)");
    for (; more && state.round < ROUNDS_MOST; state.round++)
        BJ_TRY(measure_round(&state, &more));
    return judge_whole(&state);
}

void bj_verify_free(bj_verification *verification) {
    bj_strings_free(&verification->notes);
    *verification = (bj_verification){0};
}
