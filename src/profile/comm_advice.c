#include "profile/comm_advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "profile/comm_layers.h"
#include "profile/comm_place.h"
#include "profile/cpu_values.h"

/* Advice is worth a line where following it saves at least a quarter: less is within what launches differ by. */
static const double WORTH_SAYING = 1.25;
/* What is said of joining messages is shown by so many of them: a program that packs does not pack two. */
enum { JOINED = 16, LINE_ROOM = 400 };

/* Half and all of the ranks: all show what the order is worth, half what the choice is. */
static bj_status advise_placement(const bj_comm_layers *layers, bj_strings *advice, bj_error *error) {
    size_t *places = calloc(layers->rank_count + 1, sizeof *places);
    bj_status status = places == NULL ? bj_base_lack_memory(error, "no memory for ranks") : BJ_OK;
    double bytes = layers->items[0].bytes;
    for (unsigned halves = 1; halves <= 2 && status == BJ_OK; halves++)
        for (bj_talk talk = BJ_TALK_NEIGHBOURS; talk <= BJ_TALK_ALL && status == BJ_OK; talk++) {
            size_t count = layers->rank_count * halves / 2;
            bj_comm_placing placing;
            char why[LINE_ROOM - 20], line[LINE_ROOM];
            if (count < 2 || !(bytes >= 0) || (talk == BJ_TALK_ALL && halves == 2)) /* nothing to choose */
                continue;
            status = bj_profile_place_ranks(layers, count, talk, bytes, places, &placing, error);
            double saved = fmax(placing.near_us / placing.spread_us, placing.spread_us / placing.near_us);
            if (status != BJ_OK || !(saved > WORTH_SAYING))
                continue;
            bj_profile_explain_placing(layers, &placing, count, talk, bytes, why, sizeof why);
            snprintf(line, sizeof line, "placement: %s", why);
            status = bj_strings_add(advice, line, error);
        }
    free(places);
    return status;
}

/* Messages one after the other between two ranks: how long is a message of which half the time is its start? */
static bj_status advise_joining(const bj_comm_layer *layer, bj_strings *advice, bj_error *error) {
    char half[32], one[32], joined[32], line[LINE_ROOM];
    double half_bytes = layer->start_us * layer->gbs * 1000, bytes = floor(half_bytes / JOINED);
    double apart_us = JOINED * bj_profile_estimate_in_layer(layer, bytes, 1).us;
    double joined_us = bj_profile_estimate_in_layer(layer, bytes * JOINED, 1).us;
    if (!(bytes >= 1) || !(apart_us > WORTH_SAYING * joined_us))
        return BJ_OK;
    bj_base_format_bytes(half_bytes, half, sizeof half);
    bj_base_format_bytes(bytes, one, sizeof one);
    bj_base_format_bytes(bytes * JOINED, joined, sizeof joined);
    snprintf(
        line, sizeof line,
        "messages (%s): join those below %s, of which more than half the time is their start: %d of %s take %.3g us, "
        "one of %s %.3g us",
        layer->name, half, JOINED, one, apart_us, joined, joined_us);
    return bj_strings_add(advice, line, error);
}

/* Messages of many pairs at once: one that gathers them first, or fewer at a time. */
static bj_status advise_crowds(const bj_comm_layer *layer, bj_strings *advice, bj_error *error) {
    const bj_comm_series *scaling = &layer->scaling;
    char one[32], joined[32], line[LINE_ROOM];
    if (scaling->count < 2 || !(layer->bytes > 0))
        return BJ_OK;
    double most = scaling->x[scaling->count - 1], factor = scaling->y[scaling->count - 1], free_pairs = 1;
    for (size_t i = 0; i < scaling->count && scaling->y[i] <= WORTH_SAYING; i++)
        free_pairs = scaling->x[i];
    if (!(factor > WORTH_SAYING))
        return BJ_OK;
    double apart_us = bj_profile_estimate_in_layer(layer, layer->bytes, most).us;
    double joined_us = bj_profile_estimate_in_layer(layer, layer->bytes * most, 1).us;
    bj_base_format_bytes(layer->bytes, one, sizeof one);
    bj_base_format_bytes(layer->bytes * most, joined, sizeof joined);
    size_t used = (size_t)snprintf(line, sizeof line, "messages (%s): %.0f pairs at once take %.3g times as long",
                                   layer->name, most, factor);
    if (free_pairs > 1 && used < sizeof line)
        used += (size_t)snprintf(line + used, sizeof line - used, ", up to %.0f hardly longer", free_pairs);
    if (apart_us > WORTH_SAYING * joined_us && used < sizeof line)
        snprintf(line + used, sizeof line - used,
                 "; gather them first: %.0f of %s at once take %.3g us, one of %s %.3g us", most, one, apart_us, joined,
                 joined_us);
    return bj_strings_add(advice, line, error);
}

/* Work that waits for memory gains nothing from cpus beyond these, and leaves them to others. */
static bj_status advise_cpus(const bj_contention *contention, bj_strings *advice, bj_error *error) {
    for (size_t i = 0; i < contention->level_count; i++) {
        const bj_contention_level *level = &contention->levels[i];
        double most = level->scaling_count > 0 ? level->scaling_cpus[level->scaling_count - 1] : 0, useful = NAN;
        char line[LINE_ROOM];
        for (size_t k = 0; k < level->scaling_count; k++)
            useful = level->scaling_cpus[k] == level->useful_cpus ? level->scaling_gbs[k] : useful;
        if (!(level->useful_cpus < most))
            continue;
        snprintf(line, sizeof line,
                 "cpus: use %.0f of %.0f where work waits for memory: together they get %.3g GB/s, and all %.3g",
                 level->useful_cpus, most, useful, level->scaling_gbs[level->scaling_count - 1]);
        if (!isnan(useful))
            BJ_TRY(bj_strings_add(advice, line, error));
    }
    return BJ_OK;
}

/* Loops through many arrays at once, where that closes DRAM rows (or is more than prefetchers follow). */
static bj_status advise_arrays(const bj_stream_table *streams, bj_strings *advice, bj_error *error) {
    for (size_t i = 0; i < streams->count; i++) {
        const bj_stream_series *series = &streams->items[i];
        double useful = NAN, least = INFINITY, arrays = NAN;
        char line[LINE_ROOM];
        for (size_t k = 0; k < series->count; k++) {
            useful = series->arrays[k] == series->useful ? series->gbs[k] : useful;
            arrays = series->gbs[k] < least ? series->arrays[k] : arrays;
            least = fmin(least, series->gbs[k]);
        }
        if (!series->limited || !(useful > WORTH_SAYING * least) || !(arrays > series->useful))
            continue;
        snprintf(
            line, sizeof line,
            "arrays: with %.0f cpu%s at work let a loop go through %.0f at most: each cpu gets %.3g GB/s then, and "
            "%.3g through %.0f; split loops that go through more (microfission)",
            series->cpus, series->cpus == 1 ? "" : "s", series->useful, useful, least, arrays);
        BJ_TRY(bj_strings_add(advice, line, error));
    }
    return BJ_OK;
}

static const bj_answer *find(const bj_profile *profile, bj_advice_filter *accepts, const char *key) {
    const bj_answer *answer = bj_data_find_answer(&profile->answers, key);
    bool is_there = answer != NULL && bj_data_has_value(answer) && answer->structured != NULL;
    return is_there && accepts(answer) ? answer : NULL;
}

static bj_status advise_messages(const bj_comm_layers *layers, bj_strings *advice, bj_error *error) {
    BJ_TRY(advise_placement(layers, advice, error));
    for (size_t i = 0; i < layers->count; i++) {
        BJ_TRY(advise_joining(&layers->items[i], advice, error));
        BJ_TRY(advise_crowds(&layers->items[i], advice, error));
    }
    return BJ_OK;
}

bj_status bj_profile_advise(const bj_profile *profile, bj_advice_filter *accepts, bj_strings *advice, bj_error *error) {
    const bj_answer *contended = find(profile, accepts, "memory.contention"),
                    *talk = find(profile, accepts, "comm.layers"), *many = find(profile, accepts, "memory.streams");
    bj_stream_table streams;
    bj_contention contention;
    bj_comm_layers layers;
    bj_status status = BJ_OK;
    if (contended != NULL &&
        bj_profile_read_contention(contended->key, contended->structured, &contention, NULL) == BJ_OK) {
        status = advise_cpus(&contention, advice, error);
        bj_profile_free_contention(&contention);
    }
    if (status == BJ_OK && many != NULL &&
        bj_profile_read_streams(many->key, many->structured, &streams, NULL) == BJ_OK) {
        status = advise_arrays(&streams, advice, error);
        bj_profile_free_streams(&streams);
    }
    if (status == BJ_OK && talk != NULL && bj_profile_read_comm_layers(talk->structured, &layers, NULL) == BJ_OK) {
        status = advise_messages(&layers, advice, error);
        bj_profile_free_comm_layers(&layers);
    }
    return status;
}
