/* From rows of latencies to nodes: who has the same memory nearest, and how far the others' is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "probes/kit/cpu_groups.h"
#include "probes/kit/estimate.h"
#include "probes/kit/structured.h"
#include "probes/numa/numa_constants.h"
#include "probes/numa/numa_samples.h"

enum { SITES = BJ_NUMA_SITES_MAX };

typedef struct {
    const bj_curves *samples;
    const bj_curve *latency[SITES], *rate[SITES]; /* rows */
    int cpus[SITES];                              /* that asked, ascending */
    size_t count, rounds;
    double *scratch;
} numa_table;

/* The row of a cpu, of either kind; NULL: there is none. */
static const bj_curve *find_row(const bj_curves *samples, const char *kind, int cpu) {
    char id[48];
    bj_numa_name_row(kind, cpu, id, sizeof id);
    return bj_data_find_curve(samples, id);
}

/* Rows by their attribute, whatever their names; each with a point for every one of them. */
static void read_table(const bj_curves *samples, numa_table *table) {
    for (size_t i = 0; i < samples->count; i++) {
        const bj_curve *curve = &samples->items[i];
        double cpu = NAN;
        if (strcmp(curve->probe, "numa") != 0 || strcmp(curve->y_unit, "ns") != 0 || table->count == SITES ||
            !bj_data_get_attribute_number(curve, "cpu", &cpu) || !(cpu >= 0 && cpu < 65536))
            continue;
        size_t at = table->count++;
        for (; at > 0 && table->cpus[at - 1] > (int)cpu; at--) {
            table->cpus[at] = table->cpus[at - 1];
            table->latency[at] = table->latency[at - 1];
        }
        table->cpus[at] = (int)cpu;
        table->latency[at] = curve;
    }
    for (size_t i = 0; i < table->count; i++) {
        table->rate[i] = find_row(samples, BJ_NUMA_RATE, table->cpus[i]);
        bool whole = table->rate[i] != NULL && table->rate[i]->x_count == table->count &&
                     table->latency[i]->x_count == table->count &&
                     table->rate[i]->round_count == table->latency[i]->round_count;
        for (size_t j = 0; whole && j < table->count; j++)
            whole = table->latency[i]->x[j] == table->cpus[j] && table->rate[i]->x[j] == table->cpus[j];
        table->rounds =
            i == 0 || table->latency[i]->round_count < table->rounds ? table->latency[i]->round_count : table->rounds;
        if (!whole)
            table->rounds = 0;
    }
}

static double read_cell(const numa_table *table, const bj_curve *row, size_t column, const size_t *index) {
    return bj_kit_quantile_of_point(row, column, index, table->rounds, OF_ROUNDS, table->scratch);
}

/* Sites are one node where each finds the other's memory as near as its own. */
static void find_nodes(const numa_table *table, const size_t *index, size_t *node_of) {
    bj_kit_part_all(node_of, table->count);
    for (size_t i = 0; i < table->count; i++)
        for (size_t j = 0; j < i; j++) {
            double there =
                read_cell(table, table->latency[i], j, index) / read_cell(table, table->latency[i], i, index);
            double back = read_cell(table, table->latency[j], i, index) / read_cell(table, table->latency[j], j, index);
            if (there < AS_NEAR && back < AS_NEAR)
                bj_kit_join(node_of, table->count, i, j);
        }
}

static double count_support(const numa_table *table, const size_t *node_of, uint64_t seed) {
    size_t alike = 0, other[SITES], *drawn = malloc((table->rounds + 1) * sizeof *drawn);
    bj_random random;
    if (drawn == NULL)
        bj_base_note_no_memory();
    bj_random_seed(&random, seed);
    for (unsigned i = 0; drawn != NULL && i < RESAMPLES; i++) {
        for (size_t r = 0; r < table->rounds; r++)
            drawn[r] = bj_random_below(&random, table->rounds);
        find_nodes(table, drawn, other);
        alike += memcmp(other, node_of, table->count * sizeof *other) == 0;
    }
    free(drawn);
    return (double)alike / RESAMPLES;
}

/* The greatest ratio of a high to a low quantile of any cell's rounds. */
static double find_scatter(const numa_table *table, const bj_curve *const *rows) {
    double most = 1;
    for (size_t i = 0; i < table->count; i++)
        for (size_t j = 0; j < table->count; j++)
            most = fmax(most, bj_kit_quantile_of_point(rows[i], j, NULL, table->rounds, 0.9, table->scratch) /
                                  bj_kit_quantile_of_point(rows[i], j, NULL, table->rounds, 0.1, table->scratch));
    return most;
}

/* A cell is the mean of what its sites say. */
static void fill_matrix(const numa_table *table, const bj_curve *const *rows, const size_t *node_of, double *matrix,
                        size_t nodes, const size_t *number_of) {
    for (size_t cell = 0; cell < nodes * nodes; cell++) {
        double sum = 0, count = 0;
        for (size_t i = 0; i < table->count; i++)
            for (size_t j = 0; j < table->count; j++)
                if (number_of[node_of[i]] == cell / nodes && number_of[node_of[j]] == cell % nodes) {
                    sum += read_cell(table, rows[i], j, NULL);
                    count++;
                }
        matrix[cell] = sum / count;
    }
}

static bj_status put_matrix(const numa_table *table, const char *key, const char *unit, const bj_curve *const *rows,
                            const double *matrix, size_t nodes, bj_confidence most, bj_answers *answers,
                            bj_error *error) {
    bj_answer *answer;
    bj_structured value = {0};
    double scatter = find_scatter(table, rows);
    BJ_TRY(bj_data_put_answer(answers, key, unit, &answer, error));
    bj_data_cite_curve(answer, rows[0]->id);
    bj_structured_add_matrix(&value, NULL, matrix, nodes, nodes);
    BJ_TRY(bj_structured_finish(&value, answer, error));
    answer->confidence = most;
    if (scatter > STABLE_SCATTER)
        bj_kit_call_unstable(answer, "rounds differ by up to %.2f times", scatter);
    return BJ_OK;
}

/* Every cpu belongs to the node of the cpu that asked for it. */
static bj_status put_nodes(const numa_table *table, const size_t *node_of, const size_t *number_of, size_t nodes,
                           bj_confidence confidence, bj_answers *answers, bj_error *error) {
    const bj_curve *sites = bj_data_find_curve(table->samples, BJ_NUMA_SITES);
    bj_answer *answer;
    bj_structured value = {0};
    BJ_TRY(bj_data_put_answer(answers, "numa.nodes", "groups", &answer, error));
    bj_data_cite_curve(answer, table->latency[0]->id);
    int *members = malloc(((sites != NULL ? sites->x_count : 0) + 1) * sizeof *members);
    if (members == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the cpus of nodes");
    bj_structured_open(&value, NULL, '[');
    for (size_t node = 0; node < nodes; node++) {
        size_t count = 0;
        for (size_t i = 0; sites != NULL && sites->round_count > 0 && i < sites->x_count; i++)
            for (size_t k = 0; k < table->count; k++)
                if (number_of[node_of[k]] == node && sites->rounds[0][i] == table->cpus[k])
                    members[count++] = (int)sites->x[i];
        bj_structured_add_cpus(&value, NULL, members, count);
    }
    bj_structured_close(&value, ']');
    free(members);
    answer->confidence = confidence;
    return bj_structured_finish(&value, answer, error);
}

static bj_status refuse_all(bj_answers *answers, const char *reason, bj_error *error) {
    static const char *const keys[][2] = {{"numa.nodes", "groups"}, {"numa.latency_ns", "ns"}, {"numa.gbs", "GB/s"}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        bj_answer *answer;
        BJ_TRY(bj_data_put_answer(answers, keys[i][0], keys[i][1], &answer, error));
        bj_kit_refuse(answer, BJ_ANSWER_UNDETERMINED, "%s", reason);
    }
    return BJ_OK;
}

static bj_confidence judge(const numa_table *table, const size_t *node_of, uint64_t seed) {
    if (table->rounds < BJ_BOOTSTRAP_ROUNDS_NEEDED)
        return BJ_CONFIDENCE_LOW;
    return bj_kit_judge_support(count_support(table, node_of, seed));
}

bj_status bj_numa_analyse(const bj_curves *samples, const bj_analyse_request *request, bj_answers *answers,
                          bj_error *error) {
    numa_table table = {.samples = samples};
    size_t node_of[SITES], number_of[SITES], nodes = 0;
    double matrix[SITES * SITES];
    read_table(samples, &table);
    if (table.count == 0 || table.rounds == 0)
        return refuse_all(answers, "only one cpu may be used, or no memory beyond the caches: nothing to compare",
                          error);
    table.scratch = malloc((table.rounds + 1) * sizeof *table.scratch);
    if (table.scratch == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", table.rounds);
    find_nodes(&table, NULL, node_of);
    for (size_t i = 0; i < table.count; i++)
        if (node_of[i] == i)
            number_of[i] = nodes++;
    bj_confidence confidence = judge(&table, node_of, request->seed);
    bj_status status = put_nodes(&table, node_of, number_of, nodes, confidence, answers, error);
    fill_matrix(&table, table.latency, node_of, matrix, nodes, number_of);
    if (status == BJ_OK)
        status = put_matrix(&table, "numa.latency_ns", "ns", table.latency, matrix, nodes, confidence, answers, error);
    fill_matrix(&table, table.rate, node_of, matrix, nodes, number_of);
    if (status == BJ_OK)
        status = put_matrix(&table, "numa.gbs", "GB/s", table.rate, matrix, nodes, confidence, answers, error);
    free(table.scratch);
    return status;
}
