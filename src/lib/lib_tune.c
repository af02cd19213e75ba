/* The parts of the tuning model, for programs. */
#include <math.h>
#include <string.h>

#include "lib/lib.h"
#include "tune/parts.h"

static bool has_size(const void *given, size_t size) {
    size_t theirs = 0;
    memcpy(&theirs, given, sizeof theirs);
    return theirs >= size && theirs <= 4096;
}

static bj_tune_machine make_machine(const bj_lib_core *core) {
    return (bj_tune_machine){.type = core->element_bytes == sizeof(float) ? BJ_TUNE_FLOAT : BJ_TUNE_DOUBLE,
                             .lanes = core->lanes,
                             .registers = core->registers,
                             .fma_latency = core->latency,
                             .fma_per_cycle = core->per_cycle,
                             .loads_per_cycle = core->loads_per_cycle,
                             .stores_per_cycle = core->stores_per_cycle,
                             .l1_bytes = core->l1_bytes,
                             .l2_bytes = core->l2_bytes,
                             .line_bytes = core->line_bytes,
                             .l2_latency = core->l2_latency,
                             .fused = true};
}

static bool has_throughputs(const bj_lib_core *core) {
    return core->latency > 0 && core->per_cycle > 0 && core->loads_per_cycle > 0 && core->stores_per_cycle > 0;
}

bj_lib_result bj_lib_read_core(const bj_lib_profile *profile, const bj_lib_core_options *given, bj_lib_core *core,
                               bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    bj_lib_core_options options = {.struct_size = sizeof options};
    bj_tune_machine machine;
    bj_tune_inputs inputs;
    bj_error trouble = {""};
    if (profile == NULL || core == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a profile and a place for the core are needed");
    if (!has_size(core, sizeof *core))
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "struct_size must be sizeof(bj_lib_core)");
    if (given != NULL && !has_size(given, sizeof *given))
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "struct_size must be sizeof(bj_lib_core_options)");
    if (given != NULL)
        memcpy(&options, given, sizeof options);
    *core = (bj_lib_core){.struct_size = core->struct_size};
    const char *type = options.type != NULL ? options.type : "double";
    if (strcmp(type, "double") != 0 && strcmp(type, "float") != 0)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "type: expected double or float, found '%.40s'", type);
    bj_tune_target target = {.vector_bytes = options.vector_bytes > 0 ? options.vector_bytes : 4096,
                             .registers = options.registers,
                             .fused = !options.separate};
    if (bj_tune_read_machine(&profile->whole.answers, type[0] == 'f' ? BJ_TUNE_FLOAT : BJ_TUNE_DOUBLE, &target,
                             &machine, &inputs, &trouble) != BJ_OK)
        return bj_inside_fail(error, BJ_LIB_ERR_UNANSWERED, "%s", trouble.text);
    core->element_bytes = bj_tune_size_of(machine.type);
    core->lanes = machine.lanes;
    core->registers = machine.registers;
    core->latency = machine.fma_latency;
    core->per_cycle = machine.fma_per_cycle;
    core->loads_per_cycle = machine.loads_per_cycle;
    core->stores_per_cycle = machine.stores_per_cycle;
    core->l1_bytes = machine.l1_bytes;
    core->l2_bytes = machine.l2_bytes;
    core->line_bytes = machine.line_bytes;
    core->l2_latency = machine.l2_latency;
    return BJ_LIB_OK;
}

double bj_lib_loop_cycles(const bj_lib_core *core, const bj_lib_loop *loop) {
    BJ_INSIDE_BE_GUEST();
    if (core == NULL || loop == NULL)
        return NAN;
    bj_tune_machine machine = make_machine(core);
    bj_tune_loop inside = {
        .arithmetic = loop->arithmetic, .loads = loop->loads, .stores = loop->stores, .chain = loop->chain};
    return has_throughputs(core) ? bj_tune_loop_cycles(&machine, &inside) : NAN;
}

size_t bj_lib_least_sums(const bj_lib_core *core) {
    BJ_INSIDE_BE_GUEST();
    if (core == NULL)
        return 1;
    bj_tune_machine machine = make_machine(core);
    return has_throughputs(core) ? bj_tune_least_sums(&machine) : 1;
}

size_t bj_lib_steps_ahead(const bj_lib_core *core, double step_cycles) {
    BJ_INSIDE_BE_GUEST();
    if (core == NULL)
        return 0;
    bj_tune_machine machine = make_machine(core);
    return bj_tune_steps_ahead(&machine, step_cycles);
}

bj_lib_result bj_lib_fit_tile(const bj_lib_core *core, unsigned *rows, unsigned *columns, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    if (core == NULL || rows == NULL || columns == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a core and places for rows and columns are needed");
    bj_tune_machine machine = make_machine(core);
    bj_tune_model model;
    bj_error trouble = {""};
    if (core->lanes == 0 || core->l1_bytes == 0 || bj_tune_make_model(&machine, &model, &trouble) != BJ_OK)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "%s",
                              trouble.text[0] != '\0' ? trouble.text : "the core has no lanes or no first cache");
    *rows = model.rows;
    *columns = model.columns;
    return BJ_LIB_OK;
}

size_t bj_lib_fit_block(const bj_lib_core *core, size_t cache_bytes, const bj_lib_footprint *footprint) {
    BJ_INSIDE_BE_GUEST();
    if (core == NULL || footprint == NULL)
        return 0;
    return bj_tune_fit_block(cache_bytes, &(bj_tune_footprint){.element_bytes = core->element_bytes,
                                                               .line_bytes = core->line_bytes,
                                                               .squares = footprint->squares,
                                                               .rows = footprint->rows,
                                                               .strided = footprint->strided,
                                                               .multiple = footprint->multiple,
                                                               .most = footprint->most});
}

void bj_lib_fit_places(size_t places, unsigned *m, unsigned *n) {
    BJ_INSIDE_BE_GUEST();
    bj_tune_block block = bj_tune_fit_2012(places);
    if (m != NULL)
        *m = block.m;
    if (n != NULL)
        *n = block.n;
}
