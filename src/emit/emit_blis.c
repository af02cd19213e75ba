/* For BLIS and its like: the block sizes of the matrix product by the analytical model (blis_model.h), with the
 * reasoning.
 *
 * Latency and throughput of the operations are relative to a 32-bit addition, which takes one cycle, so they count
 * cycles. Sizes are the effective ones: what a program can count on. What is only claimed is named. */
#include <math.h>
#include <string.h>

#include "emit/blis_model.h"
#include "emit/emit.h"

/* Levels, size and ways of three of them, latency and throughput of two operations. */
enum { CLAIMED_MOST = 11 };

typedef struct {
    bj_blis_machine machine;
    bool fused;                        /* one multiply-add instruction; otherwise a multiplication and an addition */
    bool given;                        /* the kernel was handed over, operations were not looked at */
    const char *claimed[CLAIMED_MOST]; /* keys of what was not measured */
    size_t claimed_count;
} blis_input;

static void note_claim(blis_input *input, const bj_emit_value *value) {
    if (value->claimed && input->claimed_count < CLAIMED_MOST)
        input->claimed[input->claimed_count++] = value->answer->key;
}

static bj_status take_operation(const bj_emit_request *request, const char *operation, blis_input *input,
                                double *latency, double *throughput, bj_error *error) {
    static const char *const whats[] = {"latency", "throughput"};
    bj_emit_value values[2];
    for (int i = 0; i < 2; i++) {
        char key[64];
        snprintf(key, sizeof key, "op.%s.%s.%s", request->options.type, operation, whats[i]);
        BJ_TRY(bj_emit_take(request, key, &values[i], error));
        note_claim(input, &values[i]);
    }
    *latency = fmax(1, floor(values[0].value + 0.5)); /* a pipeline has whole cycles */
    /* A pipe takes one operation every cycle or every second, third, fourth one: what lies between is noise. */
    double rate = values[1].value;
    *throughput = rate >= 0.75 ? floor(rate + 0.5) : 1 / floor(1 / fmax(rate, 0.01) + 0.5);
    return BJ_OK;
}

/* A fused operation if there is one; the paper counts a multiplication and an addition as one of both latencies. How
 * the two share pipes is not known, so as many pairs as the scarcer one allows: more accumulators than needed do no
 * harm, fewer do. */
static bj_status take_operations(const bj_emit_request *request, blis_input *input, bj_error *error) {
    bj_blis_machine *machine = &input->machine;
    double add[2] = {0}, mul[2] = {0};
    size_t claimed_before = input->claimed_count;
    input->fused = take_operation(request, "fma", input, &machine->latency_cycles, &machine->per_cycle, NULL) == BJ_OK;
    if (input->fused)
        return BJ_OK;
    input->claimed_count = claimed_before;
    bj_status status = take_operation(request, "mul", input, &mul[0], &mul[1], error);
    if (status == BJ_OK)
        status = take_operation(request, "add", input, &add[0], &add[1], error);
    if (status != BJ_OK) {
        bj_error why = *error;
        return bj_base_set_error(error, status, "%.330s; --kernel MRxNR does without", why.text);
    }
    machine->latency_cycles = mul[0] + add[0];
    machine->per_cycle = fmin(mul[1], add[1]);
    return BJ_OK;
}

static bj_status take_caches(const bj_emit_request *request, blis_input *input, bj_error *error) {
    bj_blis_machine *machine = &input->machine;
    bj_emit_value levels, size, ways;
    bj_status status = bj_emit_take_levels(request, 2, &levels, error);
    if (status != BJ_OK)
        return status;
    note_claim(input, &levels);
    machine->levels = levels.value < 3 ? 2 : 3;
    for (unsigned level = 1; level <= machine->levels; level++) {
        status = bj_emit_take_cache(request, level, "size_bytes", &size, error);
        if (status != BJ_OK)
            return status;
        note_claim(input, &size);
        machine->caches[level - 1].size_bytes = size.value;
        /* Outer levels are hashed as often as not, and the model has a rule without them; the first it cannot do
         * without. */
        if (level == 1)
            status = bj_emit_take_cache(request, level, "associativity", &ways, error);
        else if (bj_emit_take_cache(request, level, "associativity", &ways, NULL) != BJ_OK)
            continue;
        if (status != BJ_OK)
            return status;
        note_claim(input, &ways);
        machine->caches[level - 1].ways = floor(ways.value + 0.5);
    }
    return status;
}

static void print_kernel(const blis_input *input, const bj_blis_blocks *blocks, const bj_emit_options *options,
                         FILE *out) {
    const bj_blis_machine *machine = &input->machine;
    if (input->given) {
        fprintf(out, "# MR, NR: given with --kernel.\n");
        return;
    }
    fprintf(out,
            "# MR, NR: a multiply-add (%s) takes %.4g cycles and %.4g can start in one; vectors of %u bytes hold %u.\n"
            "#   So %u * %.4g * %.4g = %.4g elements are in work at once; MR * NR must be no less, MR whole vectors.\n"
            "#   The width of the vectors is the one of --vector-bytes: it is not measured.\n",
            input->fused ? "fused" : "a multiplication, then an addition", machine->latency_cycles, machine->per_cycle,
            options->vector_bytes, machine->vector_elements, machine->vector_elements, machine->latency_cycles,
            machine->per_cycle, blocks->in_flight);
}

static void print_outer(const bj_blis_machine *machine, const bj_blis_blocks *blocks, unsigned level, const char *what,
                        const char *inner, FILE *out) {
    const bj_blis_cache *cache = &machine->caches[level - 1];
    if (blocks->half_rule[level - 1])
        fprintf(out, "# %s: half of the %.0f bytes of L%u, since its ways are not known.\n", what, cache->size_bytes,
                level);
    else
        fprintf(out, "# %s: the %.0f ways of L%u (%.0f bytes) but one that streams and those of %s.\n", what,
                cache->ways, level, cache->size_bytes, inner);
}

static void print_blocks(const blis_input *input, const bj_blis_blocks *blocks, const bj_emit_options *options,
                         FILE *out) {
    const bj_blis_machine *machine = &input->machine;
    const bj_blis_cache *first = &machine->caches[0];
    fprintf(out,
            "# Blocks of the matrix product for elements of %u bytes (%s), by the analytical model of Low et al.,\n"
            "# \"Analytical Modeling Is Enough for High-Performance BLIS\"; sizes are the effective ones%s.\n",
            machine->element_bytes, options->type, input->claimed_count > 0 ? ", but for the claimed" : "");
    for (size_t i = 0; i < input->claimed_count; i++)
        fprintf(out, "# %s: claimed by the operating system, not measured.\n", input->claimed[i]);
    print_kernel(input, blocks, options, out);
    fprintf(out, "MR=%u\nNR=%u\n", blocks->mr, blocks->nr);
    fprintf(out,
            "# KC: of the %.0f ways of L1 (%.0f bytes) one is for C; a micro-panel of A gets %.0f of the rest, as\n"
            "#   MR is to NR.\n"
            "KC=%u\n",
            first->ways, first->size_bytes, blocks->ways_of_a, blocks->kc);
    print_outer(machine, blocks, 2, "MC", "B's micro-panel", out);
    fprintf(out, "MC=%u\n", blocks->mc);
    if (machine->levels > 2)
        print_outer(machine, blocks, 3, "NC", "A's block", out);
    else
        fputs("# NC: no third level bounds it; wide enough that packing A costs little.\n", out);
    fprintf(out, "NC=%u\n", blocks->nc);
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    const bj_emit_options *options = &request->options;
    blis_input input = {.given = options->kernel_rows != 0};
    bj_blis_machine *machine = &input.machine;
    machine->element_bytes = strcmp(options->type, "float") == 0 ? 4 : 8;
    machine->vector_elements = options->vector_bytes / machine->element_bytes;
    machine->rows = options->kernel_rows;
    machine->columns = options->kernel_columns;
    bj_status status = take_caches(request, &input, error);
    if (status == BJ_OK && !input.given)
        status = take_operations(request, &input, error);
    if (status != BJ_OK)
        return status;
    bj_blis_blocks blocks;
    bool found = bj_blis_find_blocks(machine, &blocks);
    if (!found && blocks.mr == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: no kernel of at most %d x %d would do",
                                 request->emitter->name, BJ_BLIS_KERNEL_MOST, BJ_BLIS_KERNEL_MOST);
    if (!found)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: the caches are too small for a kernel of %u x %u",
                                 request->emitter->name, blocks.mr, blocks.nr);
    print_blocks(&input, &blocks, options, out);
    return BJ_OK;
}

const bj_emitter bj_emitter_blis = {
    .name = "blis",
    .summary = "MR, NR, KC, MC, NC of the matrix product by an analytical model, with the reasoning",
    .emit = emit,
};
