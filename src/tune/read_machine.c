/* The answers of a profile that the model needs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tune/model.h"

typedef struct {
    const bj_answers *answers;
    bj_tune_inputs *inputs;
    bj_error *error;
} reader;

static bool look(const reader *r, const char *key, double *value) {
    if (!bj_data_get_number(r->answers, key, value) || !(*value > 0))
        return false;
    if (r->inputs->count < BJ_TUNE_INPUTS_MAX) {
        bj_tune_input *input = &r->inputs->items[r->inputs->count++];
        snprintf(input->key, sizeof input->key, "%s", key);
        input->value = *value;
    }
    return true;
}

static bj_status need(const reader *r, const char *key, const char *probe, double *value) {
    if (look(r, key, value))
        return BJ_OK;
    const bj_answer *found = bj_data_find_answer(r->answers, key);
    return bj_base_set_error(r->error, BJ_ERR_FAILED,
                             "the profile has no answer to %s (%.120s); 'blackjack run %s' asks", key,
                             found != NULL && found->reason[0] != '\0' ? found->reason : "not measured", probe);
}

/* Latency and throughput of one operation on vectors of so many lanes. */
static bj_status read_operation(const reader *r, const char *type, unsigned lanes, const char *operation,
                                double *latency, double *throughput) {
    char key[64], vector[24];
    const char *probe = lanes > 1 ? "vector" : "op";
    snprintf(vector, sizeof vector, lanes > 1 ? "%sx%u" : "%s", type, lanes);
    snprintf(key, sizeof key, "op.%s.%s.latency", vector, operation);
    BJ_TRY(need(r, key, probe, latency));
    snprintf(key, sizeof key, "op.%s.%s.throughput", vector, operation);
    return need(r, key, probe, throughput);
}

static bj_status read_arithmetic(const reader *r, const char *type, bj_tune_machine *machine) {
    double add_latency, add, mul_latency, mul;
    if (machine->fused)
        return read_operation(r, type, machine->lanes, "fma", &machine->fma_latency, &machine->fma_per_cycle);
    BJ_TRY(read_operation(r, type, machine->lanes, "add", &add_latency, &add));
    BJ_TRY(read_operation(r, type, machine->lanes, "mul", &mul_latency, &mul));
    /* Only the sums wait for one another. Both kinds may share their units, so their times add up. */
    machine->fma_latency = add_latency;
    machine->fma_per_cycle = 1 / (1 / add + 1 / mul);
    return BJ_OK;
}

/* Vectors that the probe's build keeps, but no more than this compiler can name. Where the probe saw no spill however
 * many there were, names are all that limits them. */
static bj_status read_registers(const reader *r, const char *type, const bj_tune_target *target,
                                bj_tune_machine *machine) {
    char key[64];
    double value;
    snprintf(key, sizeof key, machine->lanes > 1 ? "live.%sx%u" : "live.%s", type, machine->lanes);
    const bj_answer *found = bj_data_find_answer(r->answers, key);
    if (found != NULL && found->status == BJ_ANSWER_UNDETERMINED && target->registers > 0) {
        machine->registers = target->registers;
        machine->registers_named = true;
        return BJ_OK;
    }
    BJ_TRY(need(r, key, machine->lanes > 1 ? "vector" : "live", &value));
    machine->registers = (unsigned)value;
    if (target->registers > 0 && machine->registers > target->registers)
        machine->registers = target->registers;
    return BJ_OK;
}

static bj_status read_caches(const reader *r, bj_tune_machine *machine) {
    double value;
    BJ_TRY(need(r, "cache.L1.size_bytes", "cache", &value));
    machine->l1_bytes = (size_t)value;
    BJ_TRY(need(r, "cache.line_bytes", "line", &value));
    machine->line_bytes = (size_t)value;
    machine->l2_bytes = look(r, "cache.L2.size_bytes", &value) ? (size_t)value : 0;
    machine->l2_latency = look(r, "cache.L2.latency_cycles", &value) ? value : 0;
    return BJ_OK;
}

bj_status bj_tune_read_machine(const bj_answers *answers, bj_tune_type type, const bj_tune_target *target,
                               bj_tune_machine *machine, bj_tune_inputs *inputs, bj_error *error) {
    const char *name = bj_tune_name_type(type);
    reader r = {answers, inputs, error};
    double width, value;
    char key[64];
    memset(machine, 0, sizeof *machine);
    inputs->count = 0;
    machine->type = type;
    machine->fused = target->fused;
    BJ_TRY(need(&r, "vector.width_bytes", "vector", &width));
    /* The compiler's flags decide what can be used of what pays. */
    size_t bytes = width < target->vector_bytes ? (size_t)width : target->vector_bytes;
    machine->lanes = (unsigned)(bytes / bj_tune_size_of(type));
    if (machine->lanes == 0)
        machine->lanes = 1;
    BJ_TRY(read_arithmetic(&r, name, machine));
    BJ_TRY(read_registers(&r, name, target, machine));
    snprintf(key, sizeof key, "live.%s", name);
    machine->scalars = look(&r, key, &value) ? (unsigned)value : 0;
    BJ_TRY(need(&r, "op.load.throughput", "vector", &machine->loads_per_cycle));
    BJ_TRY(need(&r, "op.store.throughput", "vector", &machine->stores_per_cycle));
    return read_caches(&r, machine);
}
