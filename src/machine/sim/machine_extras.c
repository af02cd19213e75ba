/* The sections of a machine file about operations, registers, scheduler, clocks, exchange, messages, claims and noise.
 */
#include <math.h>
#include <string.h>

#include "machine/sim/machine_sections.h"

#define FIELD_COUNT(fields) (sizeof(fields) / sizeof(fields)[0])

/* An object of free names, each with a number in the range. */
static bj_status read_named(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value, double lowest,
                            double highest, bj_sim_named_number *numbers, size_t room, size_t *count) {
    if (!json_is_object(value) || json_object_size(value) > room)
        return bj_sim_expected(reader, place, "an object of at most %zu names with numbers", room);
    const char *name;
    json_t *item;
    *count = 0;
    json_object_foreach(value, name, item) {
        bj_sim_named_number *number = &numbers[*count];
        bj_sim_place inner = bj_sim_place_in(place, name);
        if (name[0] == '\0' || strlen(name) >= sizeof number->name)
            return bj_sim_expected(reader, &inner, "a name of 1 to %zu bytes", sizeof number->name - 1);
        strcpy(number->name, name);
        const bj_sim_field field = {"", BJ_SIM_FIELD_NUMBER, &number->value, lowest, highest, NULL, 0, false};
        bj_status status = bj_sim_read_value(reader, &inner, item, &field);
        if (status != BJ_OK)
            return status;
        ++*count;
    }
    return BJ_OK;
}

static bj_status read_op(const bj_sim_reader *reader, const bj_sim_place *place, const char *name, json_t *value,
                         bj_sim_op_spec *op) {
    if (strchr(name, '.') == NULL || strlen(name) >= sizeof op->name)
        return bj_sim_expected(reader, place, "a name like \"int32.add\"");
    *op = (bj_sim_op_spec){.latency_cycles = 1, .per_cycle = 1};
    strcpy(op->name, name);
    const bj_sim_field fields[] = {
        {"latency", BJ_SIM_FIELD_NUMBER, &op->latency_cycles, 0.01, 1e5, NULL, 0, true},
        {"per_cycle", BJ_SIM_FIELD_NUMBER, &op->per_cycle, 1e-5, 64, NULL, 0, false},
        {"in_flight", BJ_SIM_FIELD_NUMBER, &op->in_flight, 1, 1e4, NULL, 0, false},
    };
    bj_status status = bj_sim_read_fields(reader, place, value, fields, FIELD_COUNT(fields));
    if (status == BJ_OK && op->in_flight == 0)
        op->in_flight = op->latency_cycles * op->per_cycle;
    return status;
}

bj_status bj_sim_read_ops(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value, bj_sim_spec *spec) {
    const size_t room = BJ_SIM_MAX_OPS - 1; /* one is kept for the yardstick */
    if (value != NULL && (!json_is_object(value) || json_object_size(value) > room))
        return bj_sim_expected(reader, place, "an object of at most %zu operations", room);
    const char *name;
    json_t *item;
    bool has_yardstick = false;
    json_object_foreach(value, name, item) {
        bj_sim_place inner = bj_sim_place_in(place, name);
        bj_status status = read_op(reader, &inner, name, item, &spec->ops[spec->op_count]);
        if (status != BJ_OK)
            return status;
        has_yardstick = has_yardstick || strcmp(name, "int32.add") == 0;
        spec->op_count++;
    }
    if (!has_yardstick)
        spec->ops[spec->op_count++] =
            (bj_sim_op_spec){.name = "int32.add", .latency_cycles = 1, .per_cycle = 4, .in_flight = 4};
    return BJ_OK;
}

bj_status bj_sim_read_registers(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                                bj_sim_spec *spec) {
    static const bj_sim_named_number usual[] = {{"int32", 13}, {"int64", 13}, {"float", 15}, {"double", 15}};
    if (value == NULL) {
        memcpy(spec->registers, usual, sizeof usual);
        spec->register_count = sizeof usual / sizeof usual[0];
        return BJ_OK;
    }
    return read_named(reader, place, value, 1, 1024, spec->registers, BJ_SIM_MAX_REGISTERS, &spec->register_count);
}

bj_status bj_sim_read_shared_units(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                                   bj_sim_spec *spec) {
    json_t *list = NULL;
    const bj_sim_field field = {"", BJ_SIM_FIELD_LIST, &list, 0, BJ_SIM_MAX_UNITS, NULL, 0, false};
    bj_status status = value == NULL ? BJ_OK : bj_sim_read_value(reader, place, value, &field);
    for (size_t i = 0; status == BJ_OK && i < json_array_size(list); i++) {
        bj_sim_place inner = bj_sim_place_at(place, i);
        const bj_sim_field text = {
            .kind = BJ_SIM_FIELD_TEXT, .target = spec->shared_units[i], .room = sizeof spec->shared_units[i]};
        status = bj_sim_read_value(reader, &inner, json_array_get(list, i), &text);
        spec->shared_unit_count = i + 1;
    }
    return status;
}

bj_status bj_sim_read_scheduler(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                                bj_sim_spec *spec) {
    static const char *const balances[] = {"balanced", "sticky", NULL};
    const bj_sim_field fields[] = {
        {"slot_ms", BJ_SIM_FIELD_NUMBER, &spec->slot_ms, 0.001, 1e4, NULL, 0, false},
        {"interrupt_us", BJ_SIM_FIELD_NUMBER, &spec->interrupt_us, 0, 1e5, NULL, 0, false},
        {"interrupts_per_slot", BJ_SIM_FIELD_NUMBER, &spec->interrupts_per_slot, 0, 1e3, NULL, 0, false},
        {"balance", BJ_SIM_FIELD_CHOICE, &spec->balance, 0, 0, balances, 0, false},
    };
    return value == NULL ? BJ_OK : bj_sim_read_fields(reader, place, value, fields, FIELD_COUNT(fields));
}

/* One of the clocks; null: the machine has none of the kind. */
static bj_status read_clock(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                            bj_sim_clock_spec *clock) {
    const bj_sim_field fields[] = {
        {"read_ns", BJ_SIM_FIELD_NUMBER, &clock->read_ns, 0.01, 1e9, NULL, 0, false},
        {"resolution_ns", BJ_SIM_FIELD_NUMBER, &clock->resolution_ns, 0.001, 1e9, NULL, 0, false},
    };
    clock->is_there = !json_is_null(value);
    return value == NULL || !clock->is_there ? BJ_OK
                                             : bj_sim_read_fields(reader, place, value, fields, FIELD_COUNT(fields));
}

bj_status bj_sim_read_clocks(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value, bj_sim_spec *spec) {
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
    bj_sim_field fields[BJ_SIM_CLOCKS];
    for (size_t i = 0; i < BJ_SIM_CLOCKS; i++)
        fields[i] = (bj_sim_field){.name = names[i], .kind = BJ_SIM_FIELD_ANY, .target = &values[i]};
    bj_status status = value == NULL ? BJ_OK : bj_sim_read_fields(reader, place, value, fields, BJ_SIM_CLOCKS);
    for (size_t i = 0; status == BJ_OK && i < BJ_SIM_CLOCKS; i++) {
        bj_sim_place inner = bj_sim_place_in(place, names[i]);
        spec->clocks[i] = usual[i];
        status = read_clock(reader, &inner, values[i], &spec->clocks[i]);
    }
    return status;
}

bj_status bj_sim_read_exchange(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                               bj_sim_spec *spec) {
    if (value == NULL)
        return BJ_OK;
    bj_status status =
        read_named(reader, place, value, 0.01, 1e6, spec->exchange_ns, BJ_SIM_MAX_EXCHANGES, &spec->exchange_count);
    for (size_t i = 0; status == BJ_OK && i < spec->exchange_count; i++) {
        const char *name = spec->exchange_ns[i].name;
        bool is_level = name[0] == 'L' && name[1] >= '1' && (size_t)(name[1] - '0') <= spec->cache_count && !name[2];
        if (!is_level && strcmp(name, "smt") != 0 && strcmp(name, "node") != 0 && strcmp(name, "socket") != 0 &&
            strcmp(name, "remote") != 0) {
            bj_sim_place inner = bj_sim_place_in(place, name);
            status = bj_sim_expected(reader, &inner, "smt, L1 to L%zu, node, socket or remote", spec->cache_count);
        }
    }
    return status;
}

static bj_status read_segments(const bj_sim_reader *reader, const bj_sim_place *place, json_t *list,
                               bj_sim_layer_spec *layer) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        bj_sim_segment_spec *segment = &layer->segments[i];
        const bj_sim_field fields[] = {
            {"from_bytes", BJ_SIM_FIELD_COUNT, &segment->from_bytes, 0, 0x1p40, NULL, 0, true},
            {"us", BJ_SIM_FIELD_NUMBER, &segment->us, 0, 1e9, NULL, 0, true},
            {"gbs", BJ_SIM_FIELD_NUMBER, &segment->gbs, 1e-6, 1e6, NULL, 0, true},
        };
        bj_sim_place inner = bj_sim_place_at(place, i);
        bj_status status = bj_sim_read_fields(reader, &inner, json_array_get(list, i), fields, FIELD_COUNT(fields));
        if (status != BJ_OK)
            return status;
        if (i == 0 ? segment->from_bytes != 0 : segment->from_bytes <= segment[-1].from_bytes)
            return bj_sim_expected(reader, &inner, "from_bytes to start at 0 and rise");
        layer->segment_count = i + 1;
    }
    return BJ_OK;
}

bj_status bj_sim_read_messages(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value,
                               bj_sim_spec *spec) {
    json_t *layers = NULL;
    const bj_sim_field top[] = {{"layers", BJ_SIM_FIELD_LIST, &layers, 1, BJ_SIM_MAX_LAYERS, NULL, 0, true}};
    bj_status status = value == NULL ? BJ_OK : bj_sim_read_fields(reader, place, value, top, 1);
    bj_sim_place list = bj_sim_place_in(place, "layers");
    uint64_t nearer = 1;
    for (size_t i = 0; status == BJ_OK && i < json_array_size(layers); i++) {
        bj_sim_layer_spec *layer = &spec->layers[i];
        json_t *segments = NULL;
        const bj_sim_field fields[] = {
            {"within", BJ_SIM_FIELD_TEXT, layer->within, 0, 0, NULL, sizeof layer->within, true},
            {"ranks", BJ_SIM_FIELD_COUNT, &layer->ranks, 2, 1e6, NULL, 0, true},
            {"segments", BJ_SIM_FIELD_LIST, &segments, 1, BJ_SIM_MAX_SEGMENTS, NULL, 0, true},
            {"share", BJ_SIM_FIELD_NUMBER, &layer->share, 0, 100, NULL, 0, false},
        };
        bj_sim_place inner = bj_sim_place_at(&list, i);
        status = bj_sim_read_fields(reader, &inner, json_array_get(layers, i), fields, FIELD_COUNT(fields));
        if (status == BJ_OK && layer->ranks % nearer != 0)
            status = bj_sim_expected(reader, &inner, "ranks to be a multiple of the nearer layer's");
        bj_sim_place within = bj_sim_place_in(&inner, "segments");
        if (status == BJ_OK)
            status = read_segments(reader, &within, segments, layer);
        nearer = layer->ranks;
        spec->layer_count = i + 1;
    }
    return status;
}

bj_status bj_sim_read_claims(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value, bj_sim_spec *spec) {
    if (value == NULL)
        return BJ_OK;
    return read_named(reader, place, value, -1e18, 1e18, spec->claims, BJ_SIM_MAX_CLAIMS, &spec->claim_count);
}

bj_status bj_sim_read_noise(const bj_sim_reader *reader, const bj_sim_place *place, json_t *value, bj_sim_spec *spec) {
    const bj_sim_field fields[] = {
        {"jitter", BJ_SIM_FIELD_NUMBER, &spec->jitter, 0, 10, NULL, 0, false},
        {"spike_rate", BJ_SIM_FIELD_NUMBER, &spec->spike_rate, 0, 1, NULL, 0, false},
        {"spike_factor", BJ_SIM_FIELD_NUMBER, &spec->spike_factor, 1, 1e6, NULL, 0, false},
        {"drift", BJ_SIM_FIELD_NUMBER, &spec->drift, 0, 10, NULL, 0, false},
        {"neighbour", BJ_SIM_FIELD_NUMBER, &spec->neighbour, 0, 0.95, NULL, 0, false},
    };
    return value == NULL ? BJ_OK : bj_sim_read_fields(reader, place, value, fields, FIELD_COUNT(fields));
}
