/* Messages between ranks: what the innermost layer that holds both asks for a message of that size, and more for each
 * that is under way at once inside the same group of that layer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_check.h"
#include "machine/sim/sim_machine.h"

/* What the virtual clock is charged: a batch lasts at least so long and has at least so many round trips, and telling
 * the ranks what to do takes its time. */
static const double LEAST_BATCH_NS = 200000;
static const double LEAST_TRIPS = 2;
static const double ORDERS_NS = 100000;

/* Layers that lie between hosts, by what the file calls them. */
static bool is_between_hosts(const bj_sim_layer_spec *layer) {
    static const char *const names[] = {"network", "switch", "rack", "cluster"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(layer->within, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

bj_status bj_sim_open_ranks(bj_sim_machine *self, bj_error *error) {
    const bj_sim_spec *spec = self->spec;
    if (spec->rank_count == 0)
        return BJ_OK;
    self->ranks = calloc(spec->rank_count, sizeof *self->ranks);
    self->place_of = calloc(spec->rank_count, sizeof *self->place_of);
    self->at_once = calloc(spec->rank_count * spec->layer_count, sizeof *self->at_once);
    if (self->ranks == NULL || self->place_of == NULL || self->at_once == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu simulated ranks", spec->rank_count);
    uint64_t of_host = 1;
    for (size_t i = 0; i < spec->layer_count && !is_between_hosts(&spec->layers[i]); i++)
        of_host = spec->layers[i].ranks;
    unsigned *number_of = calloc(spec->rank_count, sizeof *number_of); /* of a host, from 1 */
    unsigned hosts = 0;
    if (number_of == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu simulated ranks", spec->rank_count);
    for (size_t place = 0; place < spec->rank_count; place++)
        self->place_of[spec->rank_at[place]] = (uint32_t)place;
    for (size_t rank = 0; rank < spec->rank_count; rank++) {
        size_t place = self->place_of[rank], host = place / of_host;
        if (number_of[host] == 0)
            number_of[host] = ++hosts;
        self->ranks[rank] = (bj_rank){.host = number_of[host] - 1, .cpu = (int)(place % of_host), .name = "simulated"};
    }
    free(number_of);
    return BJ_OK;
}

void bj_sim_close_ranks(bj_sim_machine *self) {
    free(self->ranks);
    free(self->place_of);
    free(self->at_once);
}

static size_t find_layer(const bj_sim_machine *self, const bj_message *message, size_t *group) {
    const bj_sim_spec *spec = self->spec;
    uint64_t a = self->place_of[message->rank_a], b = self->place_of[message->rank_b];
    size_t layer = 0;
    while (layer + 1 < spec->layer_count && a / spec->layers[layer].ranks != b / spec->layers[layer].ranks)
        layer++;
    *group = (size_t)(a / spec->layers[layer].ranks);
    return layer;
}

static double time_alone_ns(const bj_sim_layer_spec *layer, size_t bytes) {
    const bj_sim_segment_spec *segment = &layer->segments[0];
    for (size_t i = 1; i < layer->segment_count; i++)
        if (bytes >= layer->segments[i].from_bytes)
            segment = &layer->segments[i];
    return segment->us * 1000 + (double)bytes / segment->gbs;
}

bj_status bj_sim_run_messages(bj_machine *machine, const bj_message *messages, size_t count, unsigned repetitions,
                              double *ns_one_way, bj_error *error) {
    bj_machine_clear_samples(ns_one_way, count * repetitions);
    bj_sim_machine *self = machine->self;
    const bj_sim_spec *spec = self->spec;
    BJ_TRY(bj_machine_check_messages(machine, messages, count, error));
    size_t group;
    for (size_t i = 0; i < count; i++) {
        size_t layer = find_layer(self, &messages[i], &group);
        self->at_once[layer * spec->rank_count + group]++;
    }
    for (unsigned r = 0; r < repetitions; r++) {
        double longest_ns = 0;
        for (size_t i = 0; i < count; i++) {
            size_t layer = find_layer(self, &messages[i], &group);
            double others = (double)self->at_once[layer * spec->rank_count + group] - 1;
            double ns =
                time_alone_ns(&spec->layers[layer], messages[i].bytes) * (1 + spec->layers[layer].share * others);
            ns_one_way[i * repetitions + r] = bj_sim_add_noise(&self->noise, ns, self->clock_s);
            longest_ns = fmax(longest_ns, fmax(2 * ns * LEAST_TRIPS, LEAST_BATCH_NS));
        }
        self->clock_s += longest_ns * 1e-9;
    }
    self->clock_s += ORDERS_NS * 1e-9;
    for (size_t i = 0; i < count; i++) {
        size_t layer = find_layer(self, &messages[i], &group);
        self->at_once[layer * spec->rank_count + group] = 0;
    }
    return BJ_OK;
}
