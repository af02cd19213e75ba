/* The sections of a machine file about operations, registers, scheduler, clocks, exchange, messages, claims and noise.
 */
#include <math.h>
#include <string.h>

#include "machine/sim/machine_sections.h"

#define FIELD_COUNT(fields) (sizeof(fields) / sizeof(fields)[0])

/* An object of free names, each with a number in the range. */
static bj_status read_named(const bj_json_place *at, json_t *value, double lowest, double highest,
                            bj_sim_named_number *numbers, size_t room, size_t *count) {
    if (!json_is_object(value) || json_object_size(value) > room)
        return bj_json_expected(at, NULL, "an object of at most %zu names with numbers", room);
    const char *name;
    json_t *item;
    *count = 0;
    json_object_foreach(value, name, item) {
        bj_sim_named_number *number = &numbers[*count];
        bj_json_place inner = bj_json_enter(at, name);
        if (name[0] == '\0' || strlen(name) >= sizeof number->name)
            return bj_json_expected(&inner, NULL, "a name of 1 to %zu bytes", sizeof number->name - 1);
        strcpy(number->name, name);
        const bj_json_field field = {"", BJ_JSON_NUMBER, &number->value, lowest, highest, NULL, 0, false};
        BJ_TRY(bj_json_read_value(&inner, item, &field));
        ++*count;
    }
    return BJ_OK;
}

static bj_status read_op(const bj_json_place *at, const char *name, json_t *value, bj_sim_op_spec *op) {
    if (strchr(name, '.') == NULL || strlen(name) >= sizeof op->name)
        return bj_json_expected(at, NULL, "a name like \"int32.add\"");
    *op = (bj_sim_op_spec){.latency_cycles = 1, .per_cycle = 1};
    strcpy(op->name, name);
    const bj_json_field fields[] = {
        {"latency", BJ_JSON_NUMBER, &op->latency_cycles, 0.01, 1e5, NULL, 0, true},
        {"per_cycle", BJ_JSON_NUMBER, &op->per_cycle, 1e-5, 64, NULL, 0, false},
        {"in_flight", BJ_JSON_NUMBER, &op->in_flight, 1, 1e4, NULL, 0, false},
    };
    bj_status status = bj_json_read_fields(at, value, fields, FIELD_COUNT(fields));
    if (status == BJ_OK && op->in_flight == 0)
        op->in_flight = op->latency_cycles * op->per_cycle;
    return status;
}

bj_status bj_sim_read_ops(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    const size_t room = BJ_SIM_MAX_OPS - 1; /* one is kept for the yardstick */
    if (value != NULL && (!json_is_object(value) || json_object_size(value) > room))
        return bj_json_expected(at, NULL, "an object of at most %zu operations", room);
    const char *name;
    json_t *item;
    bool has_yardstick = false;
    json_object_foreach(value, name, item) {
        bj_json_place inner = bj_json_enter(at, name);
        BJ_TRY(read_op(&inner, name, item, &spec->ops[spec->op_count]));
        has_yardstick = has_yardstick || strcmp(name, "int32.add") == 0;
        spec->op_count++;
    }
    if (!has_yardstick)
        spec->ops[spec->op_count++] =
            (bj_sim_op_spec){.name = "int32.add", .latency_cycles = 1, .per_cycle = 4, .in_flight = 4};
    return BJ_OK;
}

bj_status bj_sim_read_registers(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    static const bj_sim_named_number usual[] = {{"int32", 13}, {"int64", 13}, {"float", 15}, {"double", 15}};
    if (value == NULL) {
        memcpy(spec->registers, usual, sizeof usual);
        spec->register_count = sizeof usual / sizeof usual[0];
        return BJ_OK;
    }
    return read_named(at, value, 1, 1024, spec->registers, BJ_SIM_MAX_REGISTERS, &spec->register_count);
}

static bj_status read_unit(const bj_json_place *at, json_t *value, size_t index, void *target) {
    bj_sim_spec *spec = target;
    char *unit = spec->shared_units[index];
    const bj_json_field text = {.kind = BJ_JSON_TEXT, .target = unit, .room = sizeof spec->shared_units[0]};
    spec->shared_unit_count = index + 1;
    return bj_json_read_value(at, value, &text);
}

bj_status bj_sim_read_shared_units(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    return bj_json_read_items(at, value, 0, BJ_SIM_MAX_UNITS, read_unit, spec);
}

bj_status bj_sim_read_scheduler(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    static const char *const balances[] = {"balanced", "sticky", NULL};
    const bj_json_field fields[] = {
        {"slot_ms", BJ_JSON_NUMBER, &spec->slot_ms, 0.001, 1e4, NULL, 0, false},
        {"interrupt_us", BJ_JSON_NUMBER, &spec->interrupt_us, 0, 1e5, NULL, 0, false},
        {"interrupts_per_slot", BJ_JSON_NUMBER, &spec->interrupts_per_slot, 0, 1e3, NULL, 0, false},
        {"balance", BJ_JSON_CHOICE, &spec->balance, 0, 0, balances, 0, false},
    };
    return bj_json_read_fields(at, value, fields, FIELD_COUNT(fields));
}

/* One of the clocks; null: the machine has none of the kind. */
static bj_status read_clock(const bj_json_place *at, json_t *value, bj_sim_clock_spec *clock) {
    const bj_json_field fields[] = {
        {"read_ns", BJ_JSON_NUMBER, &clock->read_ns, 0.01, 1e9, NULL, 0, false},
        {"resolution_ns", BJ_JSON_NUMBER, &clock->resolution_ns, 0.001, 1e9, NULL, 0, false},
    };
    clock->is_there = !json_is_null(value);
    return !clock->is_there ? BJ_OK : bj_json_read_fields(at, value, fields, FIELD_COUNT(fields));
}

bj_status bj_sim_read_clocks(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    static const char *const names[BJ_SIM_CLOCKS] = {"wall", "cpu", "cycles"};
    /* Wall and cpu time as Linux gives them: without a system call and with one. A counter of cycles to the picosecond,
     * so that the default is a number that a person would write. */
    const double cycle_ns = fmax(round(1000 / spec->clock_ghz) / 1000, 0.001);
    const bj_sim_clock_spec usual[BJ_SIM_CLOCKS] = {
        {.read_ns = 25, .resolution_ns = 1},
        {.read_ns = 200, .resolution_ns = 1},
        {.read_ns = 8, .resolution_ns = cycle_ns},
    };
    json_t *values[BJ_SIM_CLOCKS] = {NULL};
    bj_json_field fields[BJ_SIM_CLOCKS];
    for (size_t i = 0; i < BJ_SIM_CLOCKS; i++)
        fields[i] = (bj_json_field){.name = names[i], .kind = BJ_JSON_ANY, .target = &values[i]};
    bj_status status = bj_json_read_fields(at, value, fields, BJ_SIM_CLOCKS);
    for (size_t i = 0; status == BJ_OK && i < BJ_SIM_CLOCKS; i++) {
        bj_json_place inner = bj_json_enter(at, names[i]);
        spec->clocks[i] = usual[i];
        status = read_clock(&inner, values[i], &spec->clocks[i]);
    }
    return status;
}

bj_status bj_sim_read_exchange(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    if (value == NULL)
        return BJ_OK;
    bj_status status = read_named(at, value, 0.01, 1e6, spec->exchange_ns, BJ_SIM_MAX_EXCHANGES, &spec->exchange_count);
    for (size_t i = 0; status == BJ_OK && i < spec->exchange_count; i++) {
        const char *name = spec->exchange_ns[i].name;
        bool is_level = name[0] == 'L' && name[1] >= '1' && (size_t)(name[1] - '0') <= spec->cache_count && !name[2];
        if (!is_level && strcmp(name, "smt") != 0 && strcmp(name, "node") != 0 && strcmp(name, "socket") != 0 &&
            strcmp(name, "remote") != 0) {
            bj_json_place inner = bj_json_enter(at, name);
            status = bj_json_expected(&inner, NULL, "smt, L1 to L%zu, node, socket or remote", spec->cache_count);
        }
    }
    return status;
}

/* One row of numbers, as many as there are nodes. */
static bj_status read_link_row(const bj_json_place *at, json_t *value, size_t index, void *target) {
    bj_sim_spec *spec = target;
    if (!json_is_array(value) || json_array_size(value) != spec->numa_nodes)
        return bj_json_expected(at, NULL, "%d times, one for each node", (int)spec->numa_nodes);
    spec->link_count = index + 1;
    for (size_t i = 0; i < spec->numa_nodes; i++) {
        const bj_json_field time = {"", BJ_JSON_NUMBER, &spec->links_ns[index][i], 0.01, 1e6, NULL, 0, false};
        bj_json_place inner = bj_json_enter_item(at, i);
        BJ_TRY(bj_json_read_value(&inner, json_array_get(value, i), &time));
        if (i < index && spec->links_ns[index][i] != spec->links_ns[i][index])
            return bj_json_expected(&inner, NULL, "the same time both ways, %g", spec->links_ns[i][index]);
    }
    return BJ_OK;
}

bj_status bj_sim_read_links(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    if (value == NULL)
        return BJ_OK;
    if (spec->numa_nodes > BJ_SIM_MAX_NODES)
        return bj_json_expected(at, NULL, "at most %d nodes", BJ_SIM_MAX_NODES);
    return bj_json_read_items(at, value, spec->numa_nodes, spec->numa_nodes, read_link_row, spec);
}

static bj_status read_segment(const bj_json_place *at, json_t *value, size_t index, void *target) {
    bj_sim_layer_spec *layer = target;
    bj_sim_segment_spec *segment = &layer->segments[index];
    const bj_json_field fields[] = {
        {"from_bytes", BJ_JSON_COUNT, &segment->from_bytes, 0, 0x1p40, NULL, 0, true},
        {"us", BJ_JSON_NUMBER, &segment->us, 0, 1e9, NULL, 0, true},
        {"gbs", BJ_JSON_NUMBER, &segment->gbs, 1e-6, 1e6, NULL, 0, true},
    };
    layer->segment_count = index + 1;
    bj_status status = bj_json_read_fields(at, value, fields, FIELD_COUNT(fields));
    if (status == BJ_OK && (index == 0 ? segment->from_bytes != 0 : segment->from_bytes <= segment[-1].from_bytes))
        return bj_json_expected(at, NULL, "from_bytes to start at 0 and rise");
    return status;
}

static bj_status read_layer(const bj_json_place *at, json_t *value, size_t index, void *target) {
    bj_sim_spec *spec = target;
    bj_sim_layer_spec *layer = &spec->layers[index];
    json_t *segments = NULL;
    const bj_json_field fields[] = {
        {"within", BJ_JSON_TEXT, layer->within, 0, 0, NULL, sizeof layer->within, true},
        {"ranks", BJ_JSON_COUNT, &layer->ranks, 2, BJ_SIM_MAX_RANKS, NULL, 0, true},
        {"segments", BJ_JSON_ANY, &segments, 0, 0, NULL, 0, true},
        {"share", BJ_JSON_NUMBER, &layer->share, 0, 100, NULL, 0, false},
    };
    spec->layer_count = index + 1;
    bj_status status = bj_json_read_fields(at, value, fields, FIELD_COUNT(fields));
    if (status == BJ_OK && index > 0 && layer->ranks % layer[-1].ranks != 0)
        return bj_json_expected(at, NULL, "ranks to be a multiple of the nearer layer's");
    bj_json_place inner = bj_json_enter(at, "segments");
    return status == BJ_OK ? bj_json_read_items(&inner, segments, 1, BJ_SIM_MAX_SEGMENTS, read_segment, layer) : status;
}

/* "block": ranks as they come; "cyclic": dealt out to the outermost layer's parts in turn; or a list, by place. */
static bj_status read_placement(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    static const char *const choices[] = {"block", "cyclic", NULL};
    size_t count = spec->rank_count,
           parts = spec->layer_count > 1 ? count / spec->layers[spec->layer_count - 2].ranks : 1;
    int choice = 0;
    const bj_json_field field = {.kind = BJ_JSON_CHOICE, .target = &choice, .choices = choices};
    if (value != NULL && !json_is_array(value) && bj_json_read_value(at, value, &field) != BJ_OK)
        return bj_json_expected(at, NULL, "\"block\", \"cyclic\" or a list of ranks");
    for (size_t i = 0; i < count; i++)
        spec->rank_at[i] = (uint32_t)(choice == 0 ? i : i % (count / parts) * parts + i / (count / parts));
    if (!json_is_array(value))
        return BJ_OK;
    bool seen[BJ_SIM_MAX_RANKS] = {false};
    for (size_t i = 0; i < count; i++) {
        uint64_t rank = 0;
        bj_json_place inner = bj_json_enter_item(at, i);
        const bj_json_field number = {"", BJ_JSON_COUNT, &rank, 0, (double)count - 1, NULL, 0, false};
        if (json_array_size(value) != count)
            return bj_json_expected(at, NULL, "%zu ranks, one a place", count);
        BJ_TRY(bj_json_read_value(&inner, json_array_get(value, i), &number));
        if (seen[rank])
            return bj_json_expected(&inner, NULL, "each rank once");
        seen[rank] = true;
        spec->rank_at[i] = (uint32_t)rank;
    }
    return BJ_OK;
}

bj_status bj_sim_read_messages(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    json_t *layers = NULL, *placement = NULL;
    const bj_json_field fields[] = {{"layers", BJ_JSON_ANY, &layers, 0, 0, NULL, 0, true},
                                    {"placement", BJ_JSON_ANY, &placement, 0, 0, NULL, 0, false}};
    if (value == NULL)
        return BJ_OK;
    BJ_TRY(bj_json_read_fields(at, value, fields, FIELD_COUNT(fields)));
    bj_json_place inner = bj_json_enter(at, "layers");
    BJ_TRY(bj_json_read_items(&inner, layers, 1, BJ_SIM_MAX_LAYERS, read_layer, spec));
    spec->rank_count = spec->layers[spec->layer_count - 1].ranks;
    inner = bj_json_enter(at, "placement");
    return read_placement(&inner, placement, spec);
}

bj_status bj_sim_read_dram(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    bj_sim_dram_spec *dram = &spec->dram;
    const bj_json_field fields[] = {
        {"open_rows", BJ_JSON_COUNT, &dram->open_rows, 1, 1e6, NULL, 0, true},
        {"row_bytes", BJ_JSON_COUNT, &dram->row_bytes, 64, 0x1p30, NULL, 0, false},
        {"conflict_ns", BJ_JSON_NUMBER, &dram->conflict_ns, 0, 1e6, NULL, 0, false},
        {"banks", BJ_JSON_COUNT, &dram->banks, 1, 1e6, NULL, 0, false},
    };
    *dram = (bj_sim_dram_spec){.row_bytes = 8192, .conflict_ns = 30, .banks = 8};
    return value == NULL ? BJ_OK : bj_json_read_fields(at, value, fields, FIELD_COUNT(fields));
}

bj_status bj_sim_read_claims(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    if (value == NULL)
        return BJ_OK;
    return read_named(at, value, -1e18, 1e18, spec->claims, BJ_SIM_MAX_CLAIMS, &spec->claim_count);
}

bj_status bj_sim_read_noise(const bj_json_place *at, json_t *value, bj_sim_spec *spec) {
    const bj_json_field fields[] = {
        {"jitter", BJ_JSON_NUMBER, &spec->jitter, 0, 10, NULL, 0, false},
        {"spike_rate", BJ_JSON_NUMBER, &spec->spike_rate, 0, 1, NULL, 0, false},
        {"spike_factor", BJ_JSON_NUMBER, &spec->spike_factor, 1, 1e6, NULL, 0, false},
        {"drift", BJ_JSON_NUMBER, &spec->drift, 0, 10, NULL, 0, false},
        {"neighbour", BJ_JSON_NUMBER, &spec->neighbour, 0, 0.95, NULL, 0, false},
    };
    return bj_json_read_fields(at, value, fields, FIELD_COUNT(fields));
}
