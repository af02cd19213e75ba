#include "probes/kit/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "probes/kit/together.h"
#include "probes/kit/walks.h"
#include "stats/bootstrap.h"

void bj_kit_open_rounds(bj_rounds *rounds, const bj_measure_request *request, const char *probe, bj_curves *samples,
                        uint64_t purpose) {
    *rounds = (bj_rounds){.request = request, .probe = probe, .samples = samples};
    bj_random_seed(&rounds->random, bj_random_mix(request->seed, purpose));
}

void bj_kit_close_rounds(bj_rounds *rounds) {
    bj_kit_close_arena(rounds);
    bj_kit_free_orders(rounds);
    free(rounds->places);
    rounds->places = NULL;
    rounds->places_room = 0;
}

double bj_kit_read_clock(const bj_rounds *rounds) {
    bj_machine *machine = rounds->request->machine;
    return machine->verbs->read_clock(machine);
}

unsigned bj_kit_count_wanted(const bj_measure_request *request, unsigned planned) {
    unsigned more = request->more_rounds;
    return more == 0 || more == BJ_ROUNDS_AS_PLANNED ? planned : more;
}

size_t bj_kit_count_rounds(const bj_curves *samples, const char *id) {
    const bj_curve *curve = bj_data_find_curve(samples, id);
    return curve != NULL ? curve->round_count : 0;
}

bj_status bj_kit_keep_fact(bj_rounds *rounds, const char *id, const char *name, double number, bj_error *error) {
    bj_curve *curve = (bj_curve *)bj_data_find_curve(rounds->samples, id);
    return curve != NULL ? bj_data_set_attribute_number(curve, name, number, error) : BJ_OK;
}

double bj_kit_recall_fact(const bj_curves *samples, const char *id, const char *name) {
    const bj_curve *curve = bj_data_find_curve(samples, id);
    double number = NAN;
    return curve != NULL && bj_data_get_attribute_number(curve, name, &number) ? number : NAN;
}

bj_status bj_kit_open_curve(bj_rounds *rounds, const bj_curve_axes *axes, bj_curve **curve, bj_error *error) {
    *curve = (bj_curve *)bj_data_find_curve(rounds->samples, axes->id);
    if (*curve != NULL)
        return BJ_OK;
    BJ_TRY(bj_data_add_curve(rounds->samples, axes->id, rounds->probe, curve, error));
    bj_data_name_axes(*curve, axes->x_name, axes->x_unit, axes->y_name, axes->y_unit);
    return BJ_OK;
}

bj_status bj_kit_record(bj_rounds *rounds, const bj_curve_axes *axes, double x, double y, bj_error *error) {
    bj_curve *curve;
    BJ_TRY(bj_kit_open_curve(rounds, axes, &curve, error));
    return bj_data_record_sample(curve, x, rounds->round, y, error);
}

bj_status bj_kit_keep_outcome(bj_curve *curve, bj_status tried, const bj_error *trouble, bj_error *error) {
    if (tried == BJ_ERR_UNSUPPORTED)
        return bj_data_set_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED, error);
    if (tried == BJ_ERR_FAILED)
        return bj_data_set_attribute_text(curve, BJ_OUTCOME, BJ_OUTCOME_WRONG, error);
    return tried == BJ_OK ? BJ_OK : bj_base_set_error(error, tried, "%s", trouble->text);
}

/* A run of rounds, as far as it got. */
typedef struct {
    bj_rounds *rounds;
    bj_round_plan *plan;
    unsigned wanted, done;
    double started_s;
    bool is_over;    /* no further round */
    uint32_t *order; /* of the points */
    size_t order_room;
} run_state;

static bj_status shuffle_points(run_state *run, bj_error *error) {
    size_t count = run->plan->point_count;
    if (count > run->order_room) {
        uint32_t *grown = realloc(run->order, count * sizeof *grown);
        if (grown == NULL)
            return bj_base_lack_memory(error, "no memory for %zu points", count);
        run->order = grown;
        run->order_room = count;
    }
    for (size_t i = 0; i < count; i++)
        run->order[i] = (uint32_t)i;
    if (!run->plan->in_order)
        bj_random_shuffle_u32(&run->rounds->random, run->order, count);
    return BJ_OK;
}

static bj_status report(const run_state *run, double share_of_round, bj_error *error) {
    const bj_round_plan *plan = run->plan;
    double to = plan->progress_to > 0 ? plan->progress_to : 1;
    double share = (run->done + share_of_round) / run->wanted;
    return bj_probe_report(run->rounds->request, plan->progress_from + (to - plan->progress_from) * share, error);
}

static bj_status measure_points(run_state *run, bj_error *error) {
    const bj_round_plan *plan = run->plan;
    size_t count = plan->point_count, batch = plan->batch > 0 ? plan->batch : 1;
    bj_status status = shuffle_points(run, error);
    for (size_t i = 0; i < count && status == BJ_OK; i += batch) {
        size_t part = count - i < batch ? count - i : batch;
        status = plan->measure(plan->context, run->order + i, part, error);
        if (status == BJ_OK)
            status = report(run, (double)(i + part) / (double)count, error);
        run->is_over = run->rounds->round > 0 && bj_probe_is_late(run->rounds->request);
        if (run->is_over)
            break;
    }
    return status;
}

static bj_status measure_round(run_state *run, bj_error *error) {
    const bj_round_plan *plan = run->plan;
    bj_status status = BJ_OK;
    if (plan->least_bytes > 0) {
        status = bj_kit_open_arena(run->rounds, plan->least_bytes, error);
        run->rounds->pages_fixed = true;
        /* No more of the pages, or of the memory, that the rounds before had: those rounds are the curve. */
        if ((status == BJ_ERR_UNSUPPORTED || status == BJ_ERR_RESOURCE) && run->rounds->round > 0) {
            run->is_over = true;
            return BJ_OK;
        }
    }
    if (status == BJ_OK && plan->prepare != NULL)
        status = plan->prepare(plan->context, error);
    if (status == BJ_OK)
        status = measure_points(run, error);
    if (status == BJ_OK && plan->after_round != NULL && !run->is_over)
        status = plan->after_round(plan->context, error);
    return status;
}

/* Whether a further round, as long as those before, is wanted and has time. */
static bool may_go_on(const run_state *run) {
    double now_s = bj_kit_read_clock(run->rounds), passed_s = now_s - run->started_s;
    if (run->is_over || run->done == run->wanted)
        return false;
    if (run->done == 0)
        return true;
    if (run->plan->seconds > 0 && run->done >= BJ_BOOTSTRAP_ROUNDS_NEEDED && passed_s > run->plan->seconds)
        return false;
    return now_s + passed_s / run->done <= run->rounds->request->deadline_s;
}

bj_status bj_kit_run_rounds(bj_rounds *rounds, bj_round_plan *plan, bj_error *error) {
    run_state run = {.rounds = rounds, .plan = plan, .wanted = bj_kit_count_wanted(rounds->request, plan->count)};
    bj_status status = BJ_OK;
    run.started_s = bj_kit_read_clock(rounds);
    while (status == BJ_OK && may_go_on(&run)) {
        rounds->round = plan->first_round + run.done;
        status = measure_round(&run, error);
        run.done++;
    }
    free(run.order);
    return status;
}
