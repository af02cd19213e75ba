#include "probes/kit/yardstick.h"

#include <math.h>
#include <stdio.h>

/* Batches of each length in a call. Short ones, and many: most of them fall between two disturbances. */
enum { BATCHES = 4 };

enum { ONCE, TWICE, LENGTHS };

static const char *const id_ends[LENGTHS] = {".once", ""};

static void name_curve(const char *probe, int length, char *id, size_t room) {
    snprintf(id, room, "%s.yardstick%s", probe, id_ends[length]);
}

/* As the next of the round's calls. */
static bj_status record_least(bj_rounds *rounds, int length, double ns, bj_error *error) {
    char id[sizeof((bj_curve *)NULL)->id];
    bj_curve *curve;
    name_curve(rounds->probe, length, id, sizeof id);
    const bj_curve_axes axes = {id, "call", "count", "time_of_addition", "ns"};
    BJ_TRY(bj_kit_open_curve(rounds, &axes, &curve, error));
    double call = 1;
    if (rounds->round < curve->round_count)
        for (size_t i = 0; i < curve->x_count; i++)
            call += !isnan(curve->rounds[rounds->round][i]);
    return bj_data_record_sample(curve, call, rounds->round, ns, error);
}

bj_status bj_kit_time_yardstick(bj_rounds *rounds, bj_error *error) {
    bj_machine *machine = rounds->request->machine;
    uint32_t order[LENGTHS * BATCHES];
    bj_chain chains[LENGTHS * BATCHES];
    double ns[LENGTHS * BATCHES], least[LENGTHS] = {NAN, NAN};
    for (uint32_t i = 0; i < LENGTHS * BATCHES; i++)
        order[i] = i % LENGTHS;
    /* In random order: what comes and goes at regular times would else meet one length only. */
    bj_random_shuffle_u32(&rounds->random, order, LENGTHS * BATCHES);
    for (size_t i = 0; i < LENGTHS * BATCHES; i++)
        chains[i] = (bj_chain){.cpu = rounds->request->cpu,
                               .type = "int32",
                               .operation = "add",
                               .abreast = 1,
                               .unroll = order[i] == TWICE ? BJ_WORK_TWICE : BJ_WORK_ONCE};
    BJ_TRY(machine->verbs->run_chains(machine, chains, LENGTHS * BATCHES, 1, ns, error));
    for (size_t i = 0; i < LENGTHS * BATCHES; i++)
        least[order[i]] = fmin(least[order[i]], ns[i]); /* fmin passes over NaN */
    BJ_TRY(record_least(rounds, TWICE, least[TWICE], error));
    return record_least(rounds, ONCE, least[ONCE], error);
}

bool bj_kit_find_yardstick(const bj_curves *samples, const char *probe, bj_yardstick *yardstick) {
    char id[sizeof((bj_curve *)NULL)->id];
    name_curve(probe, TWICE, id, sizeof id);
    yardstick->twice = bj_data_find_curve(samples, id);
    name_curve(probe, ONCE, id, sizeof id);
    yardstick->once = bj_data_find_curve(samples, id);
    return yardstick->twice != NULL && yardstick->once != NULL;
}

/* Over all calls of these rounds. */
static double find_least(const bj_curve *curve, const size_t *index, size_t count) {
    double least = NAN;
    for (size_t i = 0; i < count; i++) {
        size_t round = index != NULL ? index[i] : i;
        for (size_t x = 0; round < curve->round_count && x < curve->x_count; x++)
            least = fmin(least, curve->rounds[round][x]);
    }
    return least;
}

double bj_kit_read_yardstick(const bj_yardstick *yardstick, const size_t *index, size_t count) {
    double twice = find_least(yardstick->twice, index, count), once = find_least(yardstick->once, index, count);
    /* What does not grow with the work weighs less on twice as much: without disturbance `twice` is never above `once`.
     * Where it is, the truth is below both, and the difference would lie above. */
    double ns = once < twice ? once : 2 * twice - once;
    return ns > 0 ? ns : NAN;
}

void bj_kit_cite_yardstick(bj_answer *answer, const bj_yardstick *yardstick) {
    bj_data_cite_curve(answer, yardstick->twice->id);
    bj_data_cite_curve(answer, yardstick->once->id);
}
