/* Chains of operations and live variables on a simulated machine: the file's numbers, with noise. What a loop would
 * cost is nothing here, so both unrolls take the same time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_check.h"
#include "machine/sim/sim_machine.h"

static const double STEPS = 20000; /* of a sample: what the virtual clock is charged */

static const bj_sim_op_spec *find_op(const bj_sim_spec *spec, const char *type, const char *operation) {
    char name[2 * BJ_SIM_NAME_ROOM];
    snprintf(name, sizeof name, "%s.%s", type, operation);
    for (size_t i = 0; i < spec->op_count; i++)
        if (strcmp(spec->ops[i].name, name) == 0)
            return &spec->ops[i];
    return NULL;
}

static void take_samples(bj_sim_machine *self, size_t position, double cycles, unsigned repetitions, double *ns) {
    double clock_ghz = self->memory.as_kind[bj_sim_find_kind(self->spec, position)]->clock_ghz;
    for (unsigned i = 0; i < repetitions; i++) {
        ns[i] = bj_sim_add_noise(&self->noise, cycles / clock_ghz, self->clock_s);
        self->clock_s += ns[i] * STEPS * 1e-9;
    }
}

static bool is_memory(const char *operation) {
    return strcmp(operation, "load") == 0 || strcmp(operation, "store") == 0;
}

/* A stream waits for all operations of its step; the streams together wait for the unit that is busiest. Loads and
 * stores wait for nothing. */
static bj_status count_step_cycles(const bj_sim_machine *self, const bj_chain *chain, double *cycles, bj_error *error) {
    const char *operations[] = {chain->operation, chain->then};
    double latency = 0, busiest = 0;
    for (size_t i = 0; i < 2 && operations[i] != NULL; i++) {
        const bj_sim_op_spec *op = find_op(self->spec, chain->type, operations[i]);
        if (op == NULL)
            return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "%s has no operation %s.%s", self->where, chain->type,
                                     operations[i]);
        latency += is_memory(operations[i]) ? 0 : op->latency_cycles;
        busiest = fmax(busiest, fmax(1 / op->per_cycle, op->latency_cycles / op->in_flight));
    }
    *cycles = fmax(latency, chain->abreast * busiest);
    return BJ_OK;
}

bj_status bj_sim_run_chains(bj_machine *machine, const bj_chain *chains, size_t count, unsigned repetitions,
                            double *ns_per_step, bj_error *error) {
    bj_machine_clear_samples(ns_per_step, count * repetitions);
    bj_sim_machine *self = machine->self;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        double cycles = 0;
        size_t position;
        status = bj_sim_find_cpu(self, chains[i].cpu, &position, error);
        if (status == BJ_OK && (chains[i].abreast == 0 || chains[i].abreast > BJ_CHAIN_ABREAST_MAX))
            status = bj_base_set_error(error, BJ_ERR_USAGE, "a chain of %u streams where 1 to %u can be",
                                       chains[i].abreast, BJ_CHAIN_ABREAST_MAX);
        if (status == BJ_OK)
            status = count_step_cycles(self, &chains[i], &cycles, error);
        if (status == BJ_OK)
            take_samples(self, position, cycles, repetitions, ns_per_step + i * repetitions);
    }
    return status;
}

/* Half of the additions of a turn can overlap, as far as the unit goes. Each variable without a register costs a spill
 * a turn, which overlaps with nothing. */
static double count_addition_cycles(const bj_sim_spec *spec, const bj_live *live, double registers) {
    const bj_sim_op_spec *add = find_op(spec, live->type, "add");
    double latency = add != NULL ? add->latency_cycles : 1, per_cycle = add != NULL ? add->per_cycle : 1;
    double cycles = fmax(latency / (live->variables / 2), 1 / per_cycle);
    double spilled = live->variables > registers ? live->variables - registers : 0;
    return cycles + spec->spill_cycles * spilled / live->variables;
}

bj_status bj_sim_run_live(bj_machine *machine, const bj_live *lives, size_t count, unsigned repetitions,
                          double *ns_per_addition, bj_error *error) {
    bj_machine_clear_samples(ns_per_addition, count * repetitions);
    bj_sim_machine *self = machine->self;
    const bj_sim_spec *spec = self->spec;
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        const bj_sim_named_number *registers = NULL;
        for (size_t r = 0; r < spec->register_count; r++)
            if (strcmp(spec->registers[r].name, lives[i].type) == 0)
                registers = &spec->registers[r];
        size_t position;
        status = bj_sim_find_cpu(self, lives[i].cpu, &position, error);
        if (status == BJ_OK && (lives[i].variables < BJ_LIVE_LEAST || lives[i].variables > BJ_LIVE_MOST))
            status = bj_base_set_error(error, BJ_ERR_USAGE, "%u live variables where %u to %u can be",
                                       lives[i].variables, BJ_LIVE_LEAST, BJ_LIVE_MOST);
        if (status == BJ_OK && registers == NULL)
            status = bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "%s has no registers for the type %s", self->where,
                                       lives[i].type);
        if (status == BJ_OK)
            take_samples(self, position, count_addition_cycles(spec, &lives[i], registers->value), repetitions,
                         ns_per_addition + i * repetitions);
    }
    return status;
}
