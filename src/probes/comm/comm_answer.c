/* From times of messages to layers: groups, curve with protocols, scaling, and how sure all that is. */
#include "probes/comm/comm_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "probes/comm/comm_fit.h"
#include "probes/comm/comm_pairs.h"
#include "probes/kit/estimate.h"
#include "probes/kit/structured.h"

typedef struct {
    const bj_curves *samples;
    bj_comm_table table;
    size_t *group_of, *below; /* by rank: groups of a layer and of the one below it */
    int *members;
    double differs;    /* the most that a representative and its check differ */
    size_t differs_in; /* that layer */
} answering;

/* Whether pairs of the layer are inside hosts (1), between them (2), or both (3). */
static unsigned find_reach(const answering *answering, size_t layer) {
    unsigned reach = 0;
    for (size_t i = 0; i < answering->table.pair_count; i++) {
        const bj_comm_pair *pair = &answering->table.pairs[i];
        if (answering->table.layer[i] == layer)
            reach |=
                bj_comm_find_host(&answering->table, pair->a) == bj_comm_find_host(&answering->table, pair->b) ? 1 : 2;
    }
    return reach;
}

/* "host", "network", numbered where there are several such; "layer 2" where pairs of both kinds cost the same. */
static void name_layer(const answering *answering, size_t layer, char *name, size_t room) {
    static const char *const words[] = {"layer", "host", "network", "layer"};
    unsigned reach = find_reach(answering, layer), alike = 0, before = 0;
    for (size_t i = 0; i < answering->table.layer_count; i++)
        if (find_reach(answering, i) == reach) {
            alike++;
            before += i < layer;
        }
    if (alike > 1 || reach == 3)
        snprintf(name, room, "%s %u", words[reach], reach == 3 ? (unsigned)layer + 1 : before + 1);
    else
        snprintf(name, room, "%s", words[reach]);
}

/* Groups that have pairs of exactly this layer: those that the layer below has in parts. */
static void add_groups(answering *answering, size_t layer, bj_structured *value) {
    const bj_comm_table *table = &answering->table;
    bj_comm_join_ranks(table, (int)layer, answering->group_of);
    bj_comm_join_ranks(table, (int)layer - 1, answering->below);
    bj_structured_open(value, "groups", '[');
    for (size_t lead = 0; lead < table->rank_count; lead++) {
        size_t count = 0, parts = 0;
        if (answering->group_of[lead] != lead)
            continue;
        for (size_t i = lead; i < table->rank_count; i++)
            if (answering->group_of[i] == lead) {
                answering->members[count++] = (int)i;
                parts += answering->below[i] == i;
            }
        if (parts > 1)
            bj_structured_add_cpus(value, NULL, answering->members, count);
    }
    bj_structured_close(value, ']');
}

/* The curve of a pair of that layer; `other` (may be NULL) is passed over. */
static const bj_curve *find_curve(const answering *answering, const char *shows, size_t layer, const bj_curve *other) {
    for (size_t i = 0; i < answering->samples->count; i++) {
        const bj_curve *curve = &answering->samples->items[i];
        double a, b;
        if (curve == other || !bj_data_has_attribute_text(curve, "shows", shows) || curve->round_count == 0 ||
            !bj_data_get_attribute_number(curve, "rank_a", &a) || !bj_data_get_attribute_number(curve, "rank_b", &b) ||
            !(a >= 0 && b >= 0 && a < 1e7 && b < 1e7))
            continue;
        size_t pair = bj_comm_find_pair(&answering->table, (size_t)a, (size_t)b);
        /* Pairs at once need not be among the measured ones: then the id says which layer they were planned for. */
        char id[48];
        snprintf(id, sizeof id, "comm.scaling.%zu", layer + 1);
        if (pair < answering->table.pair_count ? answering->table.layer[pair] == layer : strcmp(curve->id, id) == 0)
            return curve;
    }
    return NULL;
}

static void add_segments(const bj_curve *curve, const bj_comm_fit *fit, bj_structured *value) {
    bj_structured_open(value, "segments", '[');
    for (size_t i = 0; i < fit->count; i++) {
        const bj_comm_segment *segment = &fit->segments[i];
        bj_structured_open(value, NULL, '{');
        bj_structured_add_number(value, "from_bytes", curve->x[segment->first]);
        bj_structured_add_number(value, "us", segment->us);
        bj_structured_add_number(value, "gbs", segment->us_per_byte > 0 ? 1e-3 / segment->us_per_byte : NAN);
        bj_structured_close(value, '}');
    }
    bj_structured_close(value, ']');
    bj_structured_open(value, "switches", '[');
    for (size_t i = 1; i < fit->count; i++) {
        double from = curve->x[fit->segments[i].first];
        bj_structured_open(value, NULL, '{');
        bj_structured_add_number(value, "after_bytes", curve->x[fit->segments[i].first - 1]);
        bj_structured_add_number(value, "at_bytes", from);
        bj_structured_add_number(
            value, "jump", bj_comm_predict(&fit->segments[i], from) / bj_comm_predict(&fit->segments[i - 1], from));
        bj_structured_close(value, '}');
    }
    bj_structured_close(value, ']');
}

/* Low quantiles of all sizes, and how much their rounds scatter. */
static bj_status sum_up(const bj_curve *curve, double **us, double *scatter, bj_error *error) {
    double *rounds = calloc(curve->round_count + curve->x_count + 1, sizeof *rounds), sum = 0;
    *us = calloc(curve->x_count + 1, sizeof **us);
    if (rounds == NULL || *us == NULL) {
        free(rounds);
        free(*us);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a curve");
    }
    for (size_t i = 0; i < curve->x_count; i++) {
        (*us)[i] = fmax(bj_kit_quantile_of_point(curve, i, NULL, curve->round_count, OF_PAIR, rounds), 1e-9);
        sum += bj_kit_quantile_of_point(curve, i, NULL, curve->round_count, 0.5, rounds) / (*us)[i] - 1;
    }
    *scatter = sum / (double)curve->x_count;
    free(rounds);
    return BJ_OK;
}

static bj_status add_check(answering *answering, size_t layer, const bj_curve *curve, const double *us,
                           bj_structured *value, bj_error *error) {
    const bj_curve *check = find_curve(answering, "sizes", layer, curve);
    double *other, scatter, most = 0, a = 0, b = 0;
    if (check == NULL)
        return BJ_OK;
    BJ_TRY(sum_up(check, &other, &scatter, error));
    for (size_t i = 0; i < curve->x_count && i < check->x_count && check->x[i] == curve->x[i]; i++)
        most = fmax(most, fmax(us[i] / other[i], other[i] / us[i]) - 1);
    free(other);
    (void)bj_data_get_attribute_number(check, "rank_a", &a);
    (void)bj_data_get_attribute_number(check, "rank_b", &b);
    bj_structured_open(value, "check", '{');
    bj_structured_add_cpus(value, "pair", (int[]){(int)a, (int)b}, 2);
    bj_structured_add_number(value, "difference", most);
    bj_structured_close(value, '}');
    if (most > answering->differs) {
        answering->differs = most;
        answering->differs_in = layer;
    }
    return BJ_OK;
}

static bj_status add_curve(answering *answering, size_t layer, bj_structured *value, bj_error *error) {
    const bj_curve *curve = find_curve(answering, "sizes", layer, NULL);
    double *us = NULL, scatter = 0;
    bj_comm_fit fit, line;
    bj_structured_open(value, "curve", '[');
    if (curve != NULL)
        BJ_TRY(sum_up(curve, &us, &scatter, error));
    for (size_t i = 0; curve != NULL && i < curve->x_count; i++) {
        bj_structured_open(value, NULL, '[');
        bj_structured_add_number(value, NULL, curve->x[i]);
        bj_structured_add_number(value, NULL, us[i]);
        bj_structured_add_number(value, NULL, curve->x[i] / us[i] / 1000);
        bj_structured_close(value, ']');
    }
    bj_structured_close(value, ']');
    if (curve == NULL || curve->x_count < SEGMENT_POINTS) {
        free(us);
        return BJ_OK;
    }
    bj_comm_fit_segments(curve->x, us, curve->x_count, scatter, &fit);
    bj_comm_fit_line(curve->x, us, curve->x_count, &line);
    add_segments(curve, &fit, value);
    bj_structured_add_number(value, "error", fit.error);
    bj_structured_open(value, "hockney", '{');
    bj_structured_add_number(value, "us", line.segments[0].us);
    bj_structured_add_number(value, "gbs",
                             line.segments[0].us_per_byte > 0 ? 1e-3 / line.segments[0].us_per_byte : NAN);
    bj_structured_add_number(value, "error", line.error);
    bj_structured_close(value, '}');
    bj_status status = add_check(answering, layer, curve, us, value, error);
    free(us);
    return status;
}

/* Times of n pairs at once over that of one, in the same rounds. */
static bj_status add_scaling(const answering *answering, size_t layer, bj_structured *value, bj_error *error) {
    const bj_curve *curve = find_curve(answering, "scaling", layer, NULL);
    double *rounds = calloc((curve != NULL ? curve->round_count : 0) + 1, sizeof *rounds), alone = NAN;
    if (rounds == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a curve");
    bj_structured_open(value, "scaling", '[');
    for (size_t i = 0; curve != NULL && i < curve->x_count; i++) {
        double us = bj_kit_quantile_of_point(curve, i, NULL, curve->round_count, i == 0 ? OF_PAIR : OF_CROWD, rounds);
        alone = i == 0 ? us : alone;
        bj_structured_open(value, NULL, '[');
        bj_structured_add_number(value, NULL, curve->x[i]);
        bj_structured_add_number(value, NULL, us / alone);
        bj_structured_close(value, ']');
    }
    bj_structured_close(value, ']');
    free(rounds);
    return BJ_OK;
}

static bj_status add_layer(answering *answering, size_t layer, bj_structured *value, bj_error *error) {
    const bj_comm_table *table = &answering->table;
    double least, median, most;
    char name[32];
    size_t chosen[2], pairs = bj_comm_describe_layer(table, layer, &least, &median, &most);
    name_layer(answering, layer, name, sizeof name);
    bj_comm_choose_pairs(table, layer, chosen);
    bj_structured_open(value, NULL, '{');
    bj_structured_add_text(value, "name", name);
    bj_structured_add_number(value, "latency_us", median);
    bj_structured_add_number(value, "bytes", (double)table->bytes[0]);
    bj_structured_open(value, "range_us", '[');
    bj_structured_add_number(value, NULL, least);
    bj_structured_add_number(value, NULL, most);
    bj_structured_close(value, ']');
    bj_structured_add_number(value, "pairs", (double)pairs);
    if (chosen[0] < table->pair_count) {
        const bj_comm_pair *pair = &table->pairs[chosen[0]];
        bj_structured_add_cpus(value, "pair", (int[]){(int)pair->a, (int)pair->b}, 2);
    }
    add_groups(answering, layer, value);
    bj_status status = add_curve(answering, layer, value, error);
    if (status == BJ_OK)
        status = add_scaling(answering, layer, value, error);
    bj_structured_close(value, '}');
    return status;
}

/* Pairs that are farther than a chain of nearer ones: then groups say too much. */
static size_t count_exceptions(answering *answering) {
    const bj_comm_table *table = &answering->table;
    size_t found = 0;
    for (size_t layer = 0; layer + 1 < table->layer_count; layer++) {
        bj_comm_join_ranks(table, (int)layer, answering->group_of);
        for (size_t i = 0; i < table->pair_count; i++)
            found += table->layer[i] == layer + 1 &&
                     answering->group_of[table->pairs[i].a] == answering->group_of[table->pairs[i].b];
    }
    return found;
}

/* The share of resamples that put every pair into the same layer. */
static bj_status count_support(answering *answering, const bj_analyse_request *request, bool first_come,
                               double *support, bj_error *error) {
    bj_comm_table *table = &answering->table;
    size_t rounds = table->least_rounds, alike = 0, *drawn = calloc(rounds + 1, sizeof *drawn);
    size_t *kept = calloc(table->pair_count + 1, sizeof *kept);
    size_t resamples = bj_kit_afford_resamples(table->pair_count * rounds);
    resamples = resamples < RESAMPLES_MOST ? resamples : RESAMPLES_MOST;
    bj_random random;
    bj_random_seed(&random, request->seed);
    bj_status status = BJ_OK;
    if (drawn == NULL || kept == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the layers");
    else
        memcpy(kept, table->layer, table->pair_count * sizeof *kept);
    for (size_t i = 0; i < resamples && status == BJ_OK; i++) {
        for (size_t r = 0; r < rounds; r++)
            drawn[r] = bj_random_below(&random, rounds);
        status = bj_comm_find_layers(table, drawn, rounds, first_come, error);
        alike += status == BJ_OK && memcmp(kept, table->layer, table->pair_count * sizeof *kept) == 0;
    }
    if (status == BJ_OK) /* as it was */
        status = bj_comm_find_layers(table, NULL, 0, first_come, error);
    *support = (double)alike / (double)resamples;
    free(drawn);
    free(kept);
    return status;
}

static void judge(answering *answering, double support, bj_answer *answer) {
    size_t exceptions = count_exceptions(answering);
    answer->confidence = bj_kit_judge_support(support);
    if (answering->table.least_rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        answer->confidence = BJ_CONFIDENCE_LOW;
    const char *lost = "";
    for (size_t i = 0; answering->table.hosts != NULL && i < answering->table.hosts->attribute_count; i++)
        if (strcmp(answering->table.hosts->attributes[i].name, "lost") == 0)
            lost = answering->table.hosts->attributes[i].text;
    if (lost[0] != '\0') {
        bj_kit_call_unstable(answer, "the measurement ended early, %s was lost: from what was done before", lost);
        answer->confidence = BJ_CONFIDENCE_LOW;
    } else if (exceptions > 0)
        bj_kit_call_unstable(answer, "%zu of %zu pairs are farther apart than the groups that they are in say",
                             exceptions, answering->table.pair_count);
    else if (answering->differs > CHECK_AGREES)
        bj_kit_call_unstable(answer, "two pairs of layer %zu differ by %.0f%% at some size", answering->differs_in + 1,
                             100 * answering->differs);
}

static bj_status put_ranks(const answering *answering, bj_answers *answers, bj_error *error) {
    const bj_curve *cpus = bj_data_find_curve(answering->samples, BJ_COMM_CPUS);
    bj_structured value = {0};
    bj_answer *answer;
    BJ_TRY(bj_data_put_answer(answers, "comm.ranks", "", &answer, error));
    if (answering->table.hosts == NULL || answering->table.hosts->round_count == 0 || cpus == NULL ||
        cpus->round_count == 0) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "the samples do not tell where the ranks were");
        return BJ_OK;
    }
    bj_structured_open(&value, NULL, '{');
    for (unsigned which = 0; which < 2; which++) {
        const bj_curve *curve = which == 0 ? answering->table.hosts : cpus;
        bj_structured_open(&value, which == 0 ? "hosts" : "cpus", '[');
        for (size_t i = 0; i < curve->x_count; i++)
            bj_structured_add_number(&value, NULL, curve->rounds[0][i]);
        bj_structured_close(&value, ']');
    }
    bj_structured_close(&value, '}');
    return bj_structured_finish(&value, answer, error);
}

static bj_status put_layers(answering *answering, const bj_analyse_request *request, bj_answers *answers,
                            bj_error *error) {
    bj_comm_table *table = &answering->table;
    bool first_come = bj_probe_is_method(request->method, BJ_COMM_FIRST_COME);
    bj_structured value = {0};
    bj_answer *answer;
    double support = 0;
    BJ_TRY(bj_data_put_answer(answers, "comm.layers", "", &answer, error));
    if (table->pair_count == 0) {
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "no pair of ranks was measured");
        return BJ_OK;
    }
    BJ_TRY(bj_comm_find_layers(table, NULL, 0, first_come, error));
    BJ_TRY(count_support(answering, request, first_come, &support, error));
    bj_data_cite_curve(answer, table->rows[0].of_size[0]->id);
    bj_structured_open(&value, NULL, '[');
    bj_status status = BJ_OK;
    for (size_t layer = 0; layer < table->layer_count && status == BJ_OK; layer++)
        status = add_layer(answering, layer, &value, error);
    bj_structured_close(&value, ']');
    bj_error ignored;
    bj_status finished = bj_structured_finish(&value, answer, status == BJ_OK ? error : &ignored);
    if (status != BJ_OK || finished != BJ_OK)
        return status != BJ_OK ? status : finished;
    judge(answering, support, answer);
    return BJ_OK;
}

bj_status bj_comm_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error) {
    answering answering = {.samples = samples};
    bj_status status = bj_comm_read_table(samples, &answering.table, error);
    size_t ranks = answering.table.rank_count + 1;
    answering.group_of = calloc(ranks, sizeof *answering.group_of);
    answering.below = calloc(ranks, sizeof *answering.below);
    answering.members = calloc(ranks, sizeof *answering.members);
    if (status == BJ_OK && (answering.group_of == NULL || answering.below == NULL || answering.members == NULL))
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu ranks", ranks);
    if (status == BJ_OK)
        status = put_layers(&answering, request, answers, error);
    if (status == BJ_OK)
        status = put_ranks(&answering, answers, error);
    free(answering.group_of);
    free(answering.below);
    free(answering.members);
    bj_comm_free_table(&answering.table);
    return status;
}
