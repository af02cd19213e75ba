#include "tune/model.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tune/parts.h"
#include "tune/tune_constants.h"

size_t bj_tune_size_of(bj_tune_type type) {
    return type == BJ_TUNE_FLOAT ? sizeof(float) : sizeof(double);
}

const char *bj_tune_name_type(bj_tune_type type) {
    return type == BJ_TUNE_FLOAT ? "float" : "double";
}

double bj_tune_step_cycles(const bj_tune_machine *machine, unsigned rows, unsigned columns) {
    return bj_tune_loop_cycles(machine,
                               &(bj_tune_loop){.arithmetic = rows * columns, .loads = rows + columns, .chain = 1});
}

/* Registers besides sums and a column of A. */
static unsigned count_spare(const bj_tune_machine *machine) {
    return (machine->fused ? BJ_TUNE_SPARE_FUSED : BJ_TUNE_SPARE_UNFUSED) + machine->registers / BJ_TUNE_FREE_ONE_IN;
}

/* Whether the sums, a column of A and one broadcast element live in registers together. */
static bool has_registers(const bj_tune_machine *machine, unsigned rows, unsigned columns) {
    return rows * columns + rows + count_spare(machine) <= machine->registers;
}

unsigned bj_tune_most_columns(const bj_tune_machine *machine, unsigned rows) {
    unsigned columns = 0;
    while (columns < BJ_TUNE_COLUMNS_MAX && has_registers(machine, rows, columns + 1))
        columns++;
    return columns;
}

/* Loads and stores of C by themselves. Those of a tile that leaves as many registers as it has sums overlap with the
 * arithmetic of the tiles before and behind it. */
static double exposed_cycles(const bj_tune_machine *machine, size_t sums) {
    double moves = (double)sums * (1 / machine->loads_per_cycle + 1 / machine->stores_per_cycle);
    return BJ_TUNE_TILE_CYCLES + (2 * sums > machine->registers ? moves : 0);
}

/* Cycles in which the lines of one column of A come from the next cache, where the first does not keep A. */
static double stream_cycles(const bj_tune_machine *machine, size_t rows, bool streams) {
    double bytes = (double)(rows * machine->lanes * bj_tune_size_of(machine->type));
    if (!streams || machine->line_bytes == 0)
        return 0;
    return ceil(bytes / (double)machine->line_bytes) * machine->l2_latency / BJ_TUNE_LINES_AT_ONCE;
}

static double tile_cycles(const bj_tune_machine *machine, size_t rows, size_t columns, size_t k, bool streams) {
    double loads = (double)(rows + columns) / machine->loads_per_cycle;
    double step = bj_tune_step_cycles(machine, (unsigned)rows, (unsigned)columns);
    double lines = stream_cycles(machine, rows, streams);
    return (double)k * (fmax(step, lines) + BJ_TUNE_LOAD_SHARE * (loads + lines)) +
           exposed_cycles(machine, rows * columns);
}

/* Cycles that the whole of an m × n × k update takes in tiles, m in vectors, with operands in the first cache. */
static double update_cycles(const bj_tune_machine *machine, size_t row_vectors, size_t columns, size_t k, unsigned rows,
                            unsigned most_columns) {
    if (rows == 0 || most_columns == 0 || row_vectors == 0 || columns == 0)
        return INFINITY;
    /* Blocks differ by one at most: so many have the larger size, the others the smaller one. */
    size_t down = (row_vectors + rows - 1) / rows, across = (columns + most_columns - 1) / most_columns;
    size_t r = row_vectors / down, c = columns / across, tall = row_vectors % down, wide = columns % across;
    bool streams = row_vectors * machine->lanes * k * bj_tune_size_of(machine->type) > machine->l1_bytes;
    double sum = (double)((down - tall) * (across - wide)) * tile_cycles(machine, r, c, k, streams);
    if (tall > 0)
        sum += (double)(tall * (across - wide)) * tile_cycles(machine, r + 1, c, k, streams);
    if (wide > 0)
        sum += (double)((down - tall) * wide) * tile_cycles(machine, r, c + 1, k, streams);
    if (tall > 0 && wide > 0)
        sum += (double)(tall * wide) * tile_cycles(machine, r + 1, c + 1, k, streams);
    return sum;
}

unsigned bj_tune_choose_rows(const bj_tune_machine *machine, size_t row_vectors, size_t columns, size_t k,
                             unsigned *most_columns) {
    unsigned best = 1;
    double least = INFINITY;
    *most_columns = bj_tune_most_columns(machine, 1);
    for (unsigned rows = 1; rows <= BJ_TUNE_ROWS_MAX && rows <= row_vectors; rows++) {
        unsigned most = bj_tune_most_columns(machine, rows);
        for (unsigned c = 1; c <= most; c++) {
            double cycles = update_cycles(machine, row_vectors, columns, k, rows, c);
            if (cycles < least) {
                least = cycles;
                best = rows;
                *most_columns = c;
            }
        }
    }
    return best;
}

unsigned bj_tune_choose_unroll(unsigned rows, unsigned columns, size_t k) {
    size_t tile = (size_t)rows * columns;
    unsigned unroll = 1;
    while (tile > 0 && unroll < BJ_TUNE_UNROLL_MOST && unroll * tile < BJ_TUNE_BODY_LEAST)
        unroll *= 2;
    return k > 0 && unroll > k ? (unsigned)k : unroll;
}

static void BJ_PRINTF(2, 3) reason(bj_tune_model *model, const char *format, ...) {
    if (model->reason_count == BJ_TUNE_REASONS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(model->reasons[model->reason_count++], sizeof model->reasons[0], format, arguments);
    va_end(arguments);
}

/* The tile of a large problem: fewest cycles a multiply-add; among equals fewest loads, then fewest registers. */
static bool choose_tile(const bj_tune_machine *machine, bj_tune_model *model) {
    double least = INFINITY, least_loads = INFINITY;
    for (unsigned rows = 1; rows <= BJ_TUNE_ROWS_MAX; rows++)
        for (unsigned columns = 1; columns <= bj_tune_most_columns(machine, rows); columns++) {
            double tile = rows * columns;
            double cycles = bj_tune_step_cycles(machine, rows, columns) / tile, loads = (rows + columns) / tile;
            if (cycles < least - 1e-9 || (cycles < least + 1e-9 && loads < least_loads - 1e-9)) {
                least = cycles;
                least_loads = loads;
                model->rows = rows;
                model->columns = columns;
            }
        }
    return isfinite(least);
}

static void explain_tile(const bj_tune_machine *machine, const bj_tune_model *model_in, bj_tune_model *model) {
    unsigned rows = model_in->rows, columns = model_in->columns, sums = rows * columns;
    unsigned spare = count_spare(machine);
    reason(model,
           "mr x nr = %u x %u: %u sums of %u lanes cover latency %.3g x throughput %.3g = %.3g; with %u of A and %u "
           "spare they are %u of %u registers",
           model->mr, model->nr, sums, machine->lanes, machine->fma_latency, machine->fma_per_cycle,
           machine->fma_latency * machine->fma_per_cycle, rows, spare, sums + rows + spare, machine->registers);
    reason(model, "a step of k takes %u multiply-adds (%.3g cycles) and %u loads (%.3g cycles)", sums,
           sums / machine->fma_per_cycle, rows + columns, (rows + columns) / machine->loads_per_cycle);
    reason(model, "kr = %u: %u multiply-adds in the loop's body hide its own instructions", model->kr,
           model->kr * sums);
}

static void choose_blocks(const bj_tune_machine *machine, bj_tune_model *model) {
    size_t element = bj_tune_size_of(machine->type);
    double half = BJ_TUNE_CACHE_SHARE * (double)machine->l1_bytes / (double)element;
    size_t l2 = machine->l2_bytes > 0 ? machine->l2_bytes : BJ_TUNE_L2_BY_L1 * machine->l1_bytes;
    model->kc = (size_t)(half / (model->mr + model->nr));
    model->kc = model->kc >= 8 ? model->kc - model->kc % 8 : (model->kc > 0 ? model->kc : 1);
    reason(model, "kc = %zu: panels of %u + %u columns of that length are half of the first cache (%zu bytes)",
           model->kc, model->mr, model->nr, machine->l1_bytes);
    model->mc = (size_t)(BJ_TUNE_CACHE_SHARE * (double)l2 / (double)(element * model->kc));
    model->mc = model->mc > model->mr ? model->mc - model->mc % model->mr : model->mr;
    reason(model, "mc = %zu: a packed block of A, %zu x %zu, is half of the second cache (%s%zu bytes)", model->mc,
           model->mc, model->kc, machine->l2_bytes > 0 ? "" : "not known, taken as ", l2);
    model->pack_from = (size_t)sqrt((double)l2 / (double)(3 * element));
    reason(model,
           "packed from n = %zu on: until there A, B and C fit into the second cache, and its copy would cost "
           "more than it saves",
           model->pack_from);
    double step = bj_tune_step_cycles(machine, model->rows, model->columns);
    size_t steps = bj_tune_steps_ahead(machine, step);
    model->prefetch_bytes = steps * model->mr * element;
    if (steps > 0)
        reason(model, "prefetch %zu bytes ahead: %zu steps of %.3g cycles cover the second cache's latency of %.3g",
               model->prefetch_bytes, steps, step, machine->l2_latency);
}

bj_status bj_tune_make_model(const bj_tune_machine *machine, bj_tune_model *model, bj_error *error) {
    size_t element = bj_tune_size_of(machine->type);
    memset(model, 0, sizeof *model);
    if (!(machine->fma_per_cycle > 0) || !(machine->loads_per_cycle > 0) || !(machine->stores_per_cycle > 0) ||
        !(machine->fma_latency > 0) || machine->lanes == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "the model needs throughputs and a latency above zero");
    if (!choose_tile(machine, model))
        return bj_base_set_error(error, BJ_ERR_FAILED, "%u registers hold no tile: a sum, one of A and one of B are 3",
                                 machine->registers);
    model->mr = model->rows * machine->lanes;
    model->nr = model->columns;
    model->kr = bj_tune_choose_unroll(model->rows, model->columns, 0);
    explain_tile(machine, model, model);
    if (machine->registers_named)
        reason(model, "%u registers: what the compiler names; no spill was seen that costs", machine->registers);
    model->block = bj_tune_cache_block_2012(machine->l1_bytes, element, machine->line_bytes, 4);
    choose_blocks(machine, model);
    size_t registers = machine->scalars > 0 ? machine->scalars : machine->registers;
    model->registers_2012 = bj_tune_fit_2012(registers);
    model->practical_2012 = bj_tune_practical_2012(registers);
    model->cache_2012 = bj_tune_fit_2012(machine->l1_bytes / element);
    model->block_2012 = model->block;
    reason(model, "2012: registers %u,%u,1 of %zu (practical %u,%u,1); cache %u,%u,1 of %zu values",
           model->registers_2012.m, model->registers_2012.n, registers, model->practical_2012.m,
           model->practical_2012.n, model->cache_2012.m, model->cache_2012.n, machine->l1_bytes / element);
    reason(model,
           "2012: matrix size %zu: n*n + n + %zu*n values, a line for each of the strided operand, fit the first "
           "cache",
           model->block_2012, machine->line_bytes / element);
    return BJ_OK;
}
