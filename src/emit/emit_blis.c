/* For BLIS and its like: the block sizes of the matrix product by the analytical model (blis_model.h), with the
 * reasoning.
 *
 * Latency and throughput of the operations are relative to a 32-bit addition, which takes one cycle, so they count
 * cycles. The width of the vectors is the one that pays, as measured, unless the reader gives another. Sizes are the
 * effective ones: what a program can count on. What is only claimed is named. */
#include <math.h>
#include <string.h>

#include "emit/blis_model.h"
#include "emit/emit.h"

typedef struct {
    bj_blis_machine machine;
    bool fused; /* one multiply-add instruction; otherwise a multiplication and an addition */
    bool given; /* the kernel was handed over, operations were not looked at */
    unsigned vector_bytes;
    bool is_measured; /* the width; otherwise it is the reader's or a guess */
    char type[32];    /* whose operations are taken: of vectors where they were measured */
} blis_input;

/* The width where nothing is known: what every 64-bit processor has. */
#define LEAST_VECTOR_BYTES 16u

static bool find_operation(const bj_emit_request *request, const char *type, const char *operation, double *latency,
                           double *throughput, char *why) {
    static const char *const whats[] = {"latency", "throughput"};
    bj_emit_value values[2];
    for (int i = 0; i < 2; i++) {
        char key[64];
        snprintf(key, sizeof key, "op.%.31s.%s.%s", type, operation, whats[i]);
        if (!bj_emit_find(request, key, &values[i], why))
            return false;
    }
    for (int i = 0; i < 2; i++)
        bj_emit_note_claim(request, &values[i]);
    *latency = fmax(1, floor(values[0].value + 0.5)); /* a pipeline has whole cycles */
    /* A pipe takes one operation every cycle or every second, third, fourth one: what lies between is noise. */
    double rate = values[1].value;
    *throughput = rate >= 0.75 ? floor(rate + 0.5) : 1 / floor(1 / fmax(rate, 0.01) + 0.5);
    return true;
}

/* A fused operation if there is one; the paper counts a multiplication and an addition as one of both latencies. How
 * the two share pipes is not known, so as many pairs as the scarcer one allows: more accumulators than needed do no
 * harm, fewer do. */
static bool take_type(const bj_emit_request *request, const char *type, blis_input *input, char *why) {
    bj_blis_machine *machine = &input->machine;
    double add[2] = {0}, mul[2] = {0};
    snprintf(input->type, sizeof input->type, "%s", type);
    input->fused = find_operation(request, type, "fma", &machine->latency_cycles, &machine->per_cycle, NULL);
    if (input->fused)
        return true;
    if (!find_operation(request, type, "mul", &mul[0], &mul[1], why) ||
        !find_operation(request, type, "add", &add[0], &add[1], why))
        return false;
    machine->latency_cycles = mul[0] + add[0];
    machine->per_cycle = fmin(mul[1], add[1]);
    return true;
}

/* Those of the vectors; else of scalars, which take as long on most machines. */
static bj_status take_operations(const bj_emit_request *request, blis_input *input, bj_error *error) {
    char why[BJ_EMIT_REASON_ROOM], vectors[32], key[64];
    bj_emit_value registers;
    snprintf(vectors, sizeof vectors, "%sx%u", request->options.type, input->machine.vector_elements);
    snprintf(key, sizeof key, "live.%s", vectors);
    if (bj_emit_find(request, key, &registers, NULL)) {
        bj_emit_note_claim(request, &registers);
        input->machine.registers = (unsigned)floor(registers.value + 0.5);
    }
    if (take_type(request, vectors, input, why) || take_type(request, request->options.type, input, why))
        return BJ_OK;
    return bj_base_set_error(error, BJ_ERR_FAILED,
                             "%s: all blocks follow from the kernel: %.260s; --kernel MRxNR does without",
                             request->emitter->name, why);
}

/* What the reader gives, else what was measured, else what is everywhere, and that is said. */
static void take_width(const bj_emit_request *request, blis_input *input) {
    bj_emit_value width;
    char why[BJ_EMIT_REASON_ROOM];
    input->vector_bytes = request->options.vector_bytes;
    if (input->vector_bytes != 0)
        return;
    input->is_measured = bj_emit_find(request, "vector.width_bytes", &width, why) && width.value >= 8 &&
                         width.value <= 1024 && fmod(width.value, 8) == 0;
    input->vector_bytes = input->is_measured ? (unsigned)width.value : LEAST_VECTOR_BYTES;
    if (input->is_measured)
        bj_emit_note_claim(request, &width);
    else
        bj_emit_note_unsure(request, "vectors wider than 16 bytes", why);
}

/* Outer levels are hashed as often as not, and the model has a rule without ways. */
static bool take_outer(const bj_emit_request *request, const char *what, unsigned level, bj_blis_cache *cache) {
    bj_emit_value size, ways;
    if (!bj_emit_want_cache(request, what, level, "size_bytes", &size))
        return false;
    cache->size_bytes = size.value;
    if (bj_emit_use_cache(request, level, "associativity", &ways))
        cache->ways = floor(ways.value + 0.5);
    return true;
}

/* As many levels as are known, from the first. Their number only matters where a third one is not to be seen. */
static void take_caches(const bj_emit_request *request, bj_blis_machine *machine) {
    bj_emit_value size, ways, levels;
    char why[BJ_EMIT_REASON_ROOM];
    machine->more_levels = true;
    if (!bj_emit_want_cache(request, "KC (with MC, NC)", 1, "size_bytes", &size) ||
        !bj_emit_want_cache(request, "KC (with MC, NC)", 1, "associativity", &ways))
        return;
    machine->caches[0] = (bj_blis_cache){size.value, floor(ways.value + 0.5)};
    machine->levels = 1;
    unsigned count = bj_emit_count_levels(request, &levels, why);
    if (count == 1) {
        bj_emit_note_claim(request, &levels);
        bj_emit_note_left_out(request, "MC (with NC)", "there is no second level");
        return;
    }
    if (!take_outer(request, "MC (with NC)", 2, &machine->caches[1]))
        return;
    machine->levels = 2;
    machine->more_levels = count != 2;
    if (count == 2)
        bj_emit_note_claim(request, &levels);
    else if (count == 0 && bj_data_find_answer(&request->profile->answers, "cache.L3.size_bytes") == NULL)
        bj_emit_note_left_out(request, "NC", why);
    else if (take_outer(request, "NC", 3, &machine->caches[2]))
        machine->levels = 3;
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
            "#   The width of the vectors is %s.\n",
            input->fused ? "fused" : "a multiplication, then an addition", machine->latency_cycles, machine->per_cycle,
            input->vector_bytes, machine->vector_elements, machine->vector_elements, machine->latency_cycles,
            machine->per_cycle, blocks->in_flight,
            input->is_measured           ? "the one that pays, vector.width_bytes"
            : options->vector_bytes != 0 ? "the one of --vector-bytes: it is not measured"
                                         : "the least that there is: it is not measured");
    if (machine->registers != 0)
        fprintf(out, "#   %u vectors live in registers; accumulators, a column of A and one of B take %u.\n",
                machine->registers, blocks->registers);
    if (blocks->is_bounded)
        fprintf(out, "#   That is all that fits: fewer than should be in work.\n");
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

static void print_head(const bj_emit_request *request, FILE *out) {
    const bj_emit_notes *notes = request->notes;
    const bj_strings *lists[] = {&notes->left_out, &notes->unsure};
    fprintf(out,
            "# Blocks of the matrix product for elements of %s, by the analytical model of Low et al.,\n"
            "# \"Analytical Modeling Is Enough for High-Performance BLIS\"; sizes are the effective ones%s.\n",
            strcmp(request->options.type, "float") == 0 ? "4 bytes (float)" : "8 bytes (double)",
            notes->claimed.count > 0 ? ", but for the claimed" : "");
    for (size_t i = 0; i < notes->claimed.count; i++)
        fprintf(out, "# %s: claimed by the operating system, not measured.\n", notes->claimed.items[i]);
    for (size_t list = 0; list < 2; list++)
        for (size_t i = 0; i < lists[list]->count; i++) {
            fputs("# ", out);
            bj_emit_print_safely(out, lists[list]->items[i], "");
            putc('\n', out);
        }
}

static void print_blocks(const blis_input *input, const bj_blis_blocks *blocks, const bj_emit_options *options,
                         FILE *out) {
    const bj_blis_machine *machine = &input->machine;
    const bj_blis_cache *first = &machine->caches[0];
    print_kernel(input, blocks, options, out);
    fprintf(out, "MR=%u\nNR=%u\n", blocks->mr, blocks->nr);
    if (blocks->kc != 0)
        fprintf(out,
                "# KC: of the %.0f ways of L1 (%.0f bytes) one is for C; a micro-panel of A gets %.0f of the rest, as\n"
                "#   MR is to NR.\n"
                "KC=%u\n",
                first->ways, first->size_bytes, blocks->ways_of_a, blocks->kc);
    if (blocks->mc != 0) {
        print_outer(machine, blocks, 2, "MC", "B's micro-panel", out);
        fprintf(out, "MC=%u\n", blocks->mc);
    }
    if (blocks->nc != 0 && machine->levels > 2)
        print_outer(machine, blocks, 3, "NC", "A's block", out);
    else if (blocks->nc != 0)
        fputs("# NC: no third level bounds it; wide enough that packing A costs little.\n", out);
    if (blocks->nc != 0)
        fprintf(out, "NC=%u\n", blocks->nc);
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    const bj_emit_options *options = &request->options;
    blis_input input = {.given = options->kernel_rows != 0};
    bj_blis_machine *machine = &input.machine;
    machine->element_bytes = strcmp(options->type, "float") == 0 ? 4 : 8;
    if (!input.given)
        take_width(request, &input);
    machine->vector_elements = input.vector_bytes / machine->element_bytes;
    machine->rows = options->kernel_rows;
    machine->columns = options->kernel_columns;
    if (!input.given)
        BJ_TRY(take_operations(request, &input, error));
    take_caches(request, machine);
    bj_blis_blocks blocks;
    bool found = bj_blis_find_blocks(machine, &blocks);
    if (!found && blocks.mr == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: no kernel of at most %d x %d would do",
                                 request->emitter->name, BJ_BLIS_KERNEL_MOST, BJ_BLIS_KERNEL_MOST);
    if (!found)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: the caches are too small for a kernel of %u x %u",
                                 request->emitter->name, blocks.mr, blocks.nr);
    if (input.given && blocks.kc == 0)
        return bj_emit_refuse(request, error);
    print_head(request, out);
    print_blocks(&input, &blocks, options, out);
    return BJ_OK;
}

const bj_emitter bj_emitter_blis = {
    .name = "blis",
    .summary = "MR, NR, KC, MC, NC of the matrix product by an analytical model, with the reasoning",
    .has_comments = true,
    .emit = emit,
};
