#include "probes/topology/topology_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "probes/kit/estimate.h"
#include "probes/kit/structured.h"
#include "probes/topology/topology_constants.h"
#include "probes/topology/topology_kinds.h"
#include "probes/topology/topology_picture.h"
#include "stats/quantile.h"

/* A turn at one line moves two of them, the block and the flag. */
#define LINES_OF_A_TURN 2.0
#define SUPPORT_STREAM 0x737570u
#define KIND_RESAMPLES 100u

static const char *const keys[] = {"topology.tree", "topology.pairs", "cpu.kinds"};

static bj_status refuse_all(bj_answers *answers, size_t count, const char *reason, bj_error *error) {
    for (size_t i = 0; i < count; i++) {
        bj_answer *answer;
        BJ_TRY(bj_data_put_answer(answers, keys[i], "", &answer, error));
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s", reason);
    }
    return BJ_OK;
}

/* By the rule for latencies: what all but a tenth of a sample of pairs earn. */
static bj_status judge_latencies(const bj_topology_data *data, uint64_t seed, bj_confidence *confidence,
                                 bj_error *error) {
    double *values = malloc((data->rounds + 1) * sizeof *values);
    if (values == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", data->rounds);
    size_t judged = data->first_large < JUDGED_PAIRS ? data->first_large : JUDGED_PAIRS;
    size_t earned[BJ_CONFIDENCE_HIGH + 1] = {0};
    bj_status status = BJ_OK;
    for (size_t i = 0; i < judged && status == BJ_OK; i++) {
        const bj_topology_pair *pair = &data->pairs[i * data->first_large / judged];
        bj_estimate estimate;
        size_t count = 0;
        for (size_t r = 0; r < data->rounds; r++)
            if (!isnan(pair->ns[r]))
                values[count++] = pair->ns[r];
        if (count > 0)
            status = bj_kit_estimate_values(values, count, 0.5, SAME_LATENCY, seed, &estimate, error);
        earned[status == BJ_OK && count > 0 ? bj_kit_judge(&estimate, BJ_CONFIDENCE_HIGH) : BJ_CONFIDENCE_LOW]++;
    }
    size_t less = earned[BJ_CONFIDENCE_LOW];
    *confidence = (double)less > JUDGED_SHARE * (double)judged                                    ? BJ_CONFIDENCE_LOW
                  : (double)(less + earned[BJ_CONFIDENCE_MEDIUM]) > JUDGED_SHARE * (double)judged ? BJ_CONFIDENCE_MEDIUM
                                                                                                  : BJ_CONFIDENCE_HIGH;
    free(values);
    return status;
}

/* What the probe allows at most. */
static bj_confidence limit_tree(const bj_topology_data *data, const bj_topology_groups *groups, bool from_table) {
    double astray = bj_topology_limit_astray(groups);
    if (!from_table && data->rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        return BJ_CONFIDENCE_LOW;
    if (astray > 3 * MOST_ASTRAY)
        return BJ_CONFIDENCE_LOW;
    /* One sample a pair cannot show what another hour would have given. */
    return from_table || groups->not_a_tree || astray > MOST_ASTRAY ? BJ_CONFIDENCE_MEDIUM : BJ_CONFIDENCE_HIGH;
}

typedef struct {
    const bj_curves *samples;
    const bj_analyse_request *request;
    bj_topology_data data;
    bj_topology_groups groups;
    bj_topology_picture picture;
    double scatter;
    bj_topology_disturbance disturbance;
    bj_confidence latencies; /* how sure they are */
} analysis;

static void cite(const analysis *all, bj_answer *answer) {
    int cpu;
    for (size_t i = 0; i < all->samples->count && answer->evidence_count < 3; i++)
        if (bj_topology_is_part(&all->samples->items[i], BJ_TOPOLOGY_PAIRS, &cpu))
            bj_data_cite_curve(answer, all->samples->items[i].id);
    if (all->data.sweep_count > 0)
        bj_data_cite_curve(answer, all->data.sweeps[0].curve->id);
}

static void note_scatter(const analysis *all, bj_answer *answer) {
    if (all->scatter > STABLE_SCATTER)
        bj_kit_call_unstable(answer, "rounds of the same pair differ by a factor of %.1f: cpus were moved or disturbed",
                             all->scatter);
    else if ((double)all->disturbance.disturbed > MOST_DISTURBED * (double)all->disturbance.samples)
        bj_kit_call_unstable(answer,
                             "%zu of %zu samples are up to %.1f times from their pair's median: cpus were moved or "
                             "disturbed",
                             all->disturbance.disturbed, all->disturbance.samples, all->disturbance.most);
}

static bj_status answer_tree(const analysis *all, bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    double support = 1;
    uint64_t seed = bj_random_mix(all->request->seed, SUPPORT_STREAM);
    BJ_TRY(bj_data_put_answer(answers, keys[0], "", &answer, error));
    cite(all, answer);
    if (all->picture.by_blocks) { /* a literal method earns no more, and its rounds are not resampled */
        answer->confidence = BJ_CONFIDENCE_LOW;
        note_scatter(all, answer);
        answer->has_p = all->picture.p > 0;
        answer->p = all->picture.p;
        return bj_topology_write_tree(&all->picture, answer, error);
    }
    /* Of two cpus the one pair is the tree. */
    if (all->data.cpu_count > 2)
        BJ_TRY(bj_topology_find_support(&all->data, &all->groups, seed, &support, error));
    bj_confidence most = limit_tree(&all->data, &all->groups, all->request->from_table);
    for (size_t i = 0; i < all->picture.tree.count; i++) /* splits of the largest block were measured once */
        if (all->picture.tree.nodes[i].large)
            most = bj_kit_least(most, BJ_CONFIDENCE_MEDIUM);
    if (all->data.cpu_count == 2 && !all->request->from_table)
        most = bj_kit_least(most, all->latencies);
    answer->confidence = bj_kit_least(bj_kit_judge_support(support), most);
    for (size_t i = 0; i < all->groups.nested.level_count; i++) {
        answer->has_p = true;
        answer->p = fmax(answer->p, all->groups.nested.levels[i].p);
    }
    note_scatter(all, answer); /* which lowers the confidence */
    return bj_topology_write_tree(&all->picture, answer, error);
}

static bj_status answer_pairs(const analysis *all, bj_answers *answers, bj_error *error) {
    bj_answer *answer;
    BJ_TRY(bj_data_put_answer(answers, keys[1], "", &answer, error));
    cite(all, answer);
    answer->confidence = all->latencies;
    note_scatter(all, answer);
    return bj_topology_write_pairs(&all->picture, answer, error);
}

/* How often other rounds give the same kinds. */
static bj_status find_kind_support(const analysis *all, const size_t *kind_of, size_t cpus, size_t rounds,
                                   size_t *scratch, double *support, bj_error *error) {
    bj_random random;
    size_t alike = 0, *index = scratch + cpus;
    bj_random_seed(&random, all->request->seed);
    for (unsigned s = 0; s < KIND_RESAMPLES; s++) {
        size_t kinds;
        for (size_t r = 0; r < rounds; r++)
            index[r] = bj_random_below(&random, rounds);
        BJ_TRY(bj_topology_group_kinds(all->samples, index, rounds, scratch, &kinds, error));
        alike += memcmp(scratch, kind_of, cpus * sizeof *scratch) == 0;
    }
    *support = (double)alike / KIND_RESAMPLES;
    return BJ_OK;
}

static double find_kind_ghz(const bj_curve *yardstick, const size_t *kind_of, size_t kind, double *values) {
    size_t count = 0;
    for (size_t i = 0; i < yardstick->x_count; i++)
        for (size_t r = 0; r < yardstick->round_count && kind_of[i] == kind; r++)
            values[count++] = yardstick->rounds[r][i];
    return 1 / bj_stats_low_quantile(values, count);
}

static bj_status write_kinds(const analysis *all, const bj_curve *yardstick, const size_t *kind_of, size_t kinds,
                             bj_answer *answer, bj_error *error) {
    size_t cpus = yardstick->x_count;
    int *members = malloc((cpus + 1) * sizeof *members);
    double *values = malloc((cpus * yardstick->round_count + 1) * sizeof *values);
    bj_structured value = {.failed = members == NULL || values == NULL};
    bj_structured_open(&value, NULL, '[');
    for (size_t kind = 0; kind < kinds && !value.failed; kind++) {
        double l1_bytes = NAN;
        size_t count = 0;
        for (size_t i = 0; i < cpus; i++) {
            if (kind_of[i] != kind)
                continue;
            members[count++] = (int)yardstick->x[i];
            double told = bj_topology_find_l1_bytes(all->samples, (int)yardstick->x[i]);
            l1_bytes = isnan(l1_bytes) ? told : l1_bytes;
        }
        if (kinds == 1)
            l1_bytes = bj_kit_find_number(all->request->earlier, "cache.L1.size_bytes");
        bj_structured_open(&value, NULL, '{');
        bj_structured_add_cpus(&value, "cpus", members, count);
        bj_structured_add_number(&value, "clock_ghz", find_kind_ghz(yardstick, kind_of, kind, values));
        bj_structured_add_number(&value, "l1_bytes", l1_bytes);
        bj_structured_close(&value, '}');
    }
    bj_structured_close(&value, ']');
    free(values);
    free(members);
    return bj_structured_finish(&value, answer, error);
}

static bj_status answer_kinds(const analysis *all, bj_answers *answers, bj_error *error) {
    const bj_curve *yardstick = bj_data_find_curve(all->samples, BJ_TOPOLOGY_YARDSTICK);
    bj_answer *answer;
    BJ_TRY(bj_data_put_answer(answers, keys[2], "", &answer, error));
    size_t cpus = yardstick->x_count, rounds = yardstick->round_count, kinds = 0;
    size_t *kind_of = malloc((2 * cpus + rounds + 1) * sizeof *kind_of);
    double support = 0;
    if (kind_of == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", cpus);
    bj_status status = bj_topology_group_kinds(all->samples, NULL, 0, kind_of, &kinds, error);
    if (status == BJ_OK)
        status = find_kind_support(all, kind_of, cpus, rounds, kind_of + cpus, &support, error);
    if (status == BJ_OK)
        status = write_kinds(all, yardstick, kind_of, kinds, answer, error);
    free(kind_of);
    bj_data_cite_curve(answer, BJ_TOPOLOGY_YARDSTICK);
    for (unsigned w = 0; w < BJ_TOPOLOGY_WALKS; w++)
        bj_data_cite_curve(answer, bj_topology_walk_ids[w]);
    answer->confidence = rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED ? BJ_CONFIDENCE_LOW : bj_kit_judge_support(support);
    return status;
}

static bj_status answer_all(analysis *all, bj_answers *answers, bj_error *error) {
    const bj_analyse_request *request = all->request;
    bool in_ns = request->y_unit_given != NULL && strcmp(request->y_unit_given, "ns") == 0;
    BJ_TRY(bj_topology_find_groups(&all->data, request->from_table, request->seed, &all->groups, error));
    all->picture = (bj_topology_picture){.data = &all->data,
                                         .groups = &all->groups,
                                         .by_blocks = bj_probe_is_method(request->method, BJ_TOPOLOGY_ALL_PAIRS),
                                         .distance_factor = !request->from_table ? 1 / LINES_OF_A_TURN
                                                            : in_ns              ? 1
                                                                                 : NAN};
    BJ_TRY(bj_topology_draw(&all->picture, request->seed, error));
    if (request->from_table)
        return answer_tree(all, answers, error);
    BJ_TRY(bj_topology_find_scatter(&all->data, &all->scatter, error));
    all->disturbance = bj_topology_find_disturbed(&all->data);
    BJ_TRY(judge_latencies(&all->data, request->seed, &all->latencies, error));
    BJ_TRY(answer_tree(all, answers, error));
    BJ_TRY(answer_pairs(all, answers, error));
    return answer_kinds(all, answers, error);
}

bj_status bj_topology_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                              bj_error *error) {
    const bj_curve *yardstick = bj_data_find_curve(samples, BJ_TOPOLOGY_YARDSTICK);
    double compared = 0;
    if (!request->from_table) {
        if (yardstick == NULL || yardstick->x_count == 0)
            return refuse_all(answers, 3, "the time budget ended before this was measured", error);
        if (yardstick->x_count == 1)
            return refuse_all(answers, 3, "only one cpu may be used: there is nothing to compare", error);
        if (!bj_data_get_attribute_number(yardstick, BJ_TOPOLOGY_COMPARED, &compared))
            return refuse_all(answers, 3, "the time budget ended before all cpus were compared", error);
    }
    analysis all = {.samples = samples, .request = request};
    BJ_TRY(bj_topology_gather(samples, &all.data, error));
    bj_status status;
    if (all.data.cpu_count < 2 || all.data.first_large == 0)
        status = refuse_all(answers, request->from_table ? 1 : 3, "there is no pair of cpus to compare", error);
    else
        status = answer_all(&all, answers, error);
    bj_topology_free_picture(&all.picture);
    bj_topology_free_groups(&all.groups);
    bj_topology_free(&all.data);
    return status;
}
