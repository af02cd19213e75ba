/* What regions recorded, as JSON (docs/regions.schema.json). All numbers are integers: text of a program whose locale
 * has commas must read like any other. Other threads may go on meanwhile. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "bj_build.h"
#include "lib/lib_regions.h"

/* The first of its name. */
static unsigned find_first(const bj_region_arena *arena, unsigned region) {
    for (unsigned i = 0; i < region; i++)
        if (__atomic_load_n(&arena->name[i].ready, __ATOMIC_ACQUIRE) &&
            strcmp(arena->name[i].name, arena->name[region].name) == 0)
            return i;
    return region;
}

/* As they were at one moment, where the thread lets us: it changes them at most every half millisecond. */
static size_t copy_bins(bj_region_record *record, bj_region_bin *bins, bj_region_bin *rest) {
    uint64_t count = 0, before = 0;
    for (unsigned tries = 0; tries < 100; tries++) {
        before = __atomic_load_n(&record->version, __ATOMIC_ACQUIRE);
        count = BJ_LIB_LOAD(record->bin_count);
        count = count < REGION_BINS ? count : REGION_BINS;
        for (uint64_t i = 0; i < count; i++)
            bins[i] = (bj_region_bin){BJ_LIB_LOAD(record->bins[i].end),   BJ_LIB_LOAD(record->bins[i].calls),
                                      BJ_LIB_LOAD(record->bins[i].ticks), BJ_LIB_LOAD(record->bins[i].periods),
                                      BJ_LIB_LOAD(record->bins[i].least), BJ_LIB_LOAD(record->bins[i].most)};
        *rest = (bj_region_bin){.calls = BJ_LIB_LOAD(record->period_calls), .ticks = BJ_LIB_LOAD(record->period_ticks)};
        /* Adds nothing: a plain load could come before those above. */
        if (before % 2 == 0 && __atomic_fetch_add(&record->version, 0, __ATOMIC_ACQ_REL) == before)
            break;
    }
    return (size_t)count;
}

static void write_bin(FILE *out, const bj_region_bin *bin, uint64_t start, bool first) {
    fprintf(out,
            "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ".%03" PRIu64 ", %" PRIu64 ".%03" PRIu64
            "]",
            first ? "" : ", ", bin->end - start, bin->calls, bin->ticks, bin->periods, bin->least / 1000,
            bin->least % 1000, bin->most / 1000, bin->most % 1000);
}

static void write_record(FILE *out, const bj_region_arena *arena, bj_region_record *record, uint64_t now) {
    bj_region_bin bins[REGION_BINS], rest;
    size_t count = copy_bins(record, bins, &rest);
    uint64_t calls = 0, ticks = 0;
    fprintf(out,
            "    {\"region\": %u, \"process\": %ld, \"thread\": %u, \"first\": %" PRIu64
            ", \"open\": %d, \"unopened\": %" PRIu64 ", \"backwards\": %" PRIu64 ", \"library_ticks\": %" PRIu64
            ",\n     \"lengths\": [",
            find_first(arena, record->region), (long)record->process, record->thread,
            record->first - arena->start_ticks, BJ_LIB_LOAD(record->slot.began) != 0, BJ_LIB_LOAD(record->unopened),
            BJ_LIB_LOAD(record->slot.lengths[63].calls), BJ_LIB_LOAD(record->library_ticks));
    for (unsigned i = 0; i < 63; i++) {
        uint64_t these = BJ_LIB_LOAD(record->slot.lengths[i].calls);
        uint64_t took = BJ_LIB_LOAD(record->slot.lengths[i].ticks);
        if (these > 0)
            fprintf(out, "%s[%u, %" PRIu64 ", %" PRIu64 "]", calls > 0 ? ", " : "", i, these, took);
        calls += these;
        ticks += took;
    }
    fputs("],\n     \"series\": [", out);
    for (size_t i = 0; i < count; i++)
        write_bin(out, &bins[i], arena->start_ticks, i == 0);
    /* What belongs to no closed period yet. */
    if (calls > rest.calls && ticks >= rest.ticks) {
        uint64_t end = BJ_LIB_LOAD(record->slot.period_end);
        rest.calls = calls - rest.calls;
        rest.ticks = ticks - rest.ticks;
        rest.periods = 1;
        rest.end = end != 0 && end < now ? end : now;
        rest.least = rest.most = (uint64_t)((double)rest.ticks * 1000 / (double)rest.calls);
        write_bin(out, &rest, arena->start_ticks, count == 0);
    }
    fputs("]}", out);
}

static void write_head(FILE *out, const bj_region_arena *arena, uint64_t now, uint64_t now_ns) {
    fprintf(out,
            "{\"format\": \"blackjack-regions/1\", \"version\": \"%s\",\n"
            " \"counter\": {\"name\": \"%s\", \"ticks\": %" PRIu64 ", \"ns\": %" PRIu64 "}, \"period_ticks\": %" PRIu64
            ",\n \"costs\": {\"reads\": %" PRIu64 ", \"read_ticks\": %" PRIu64 ", \"pairs\": %" PRIu64
            ", \"pair_ticks\": %" PRIu64 ", \"empty_ticks\": %" PRIu64 "},\n \"threads\": %u, \"refused\": %" PRIu64
            ",\n \"regions\": [",
            BJ_VERSION, BJ_LIB_COUNTER, now - arena->start_ticks, now_ns - arena->start_ns, arena->period_ticks,
            arena->read_count, arena->read_ticks, arena->pair_count, arena->pair_ticks, arena->empty_ticks,
            BJ_LIB_LOAD(arena->threads), BJ_LIB_LOAD(arena->refused));
    unsigned names = BJ_LIB_LOAD(arena->names);
    for (unsigned i = 0; i < names; i++) {
        const bj_region_name *region = &arena->name[i];
        double flops, bytes, loads;
        __atomic_load(&region->flops, &flops, __ATOMIC_RELAXED);
        __atomic_load(&region->bytes, &bytes, __ATOMIC_RELAXED);
        __atomic_load(&region->loads, &loads, __ATOMIC_RELAXED);
        fprintf(out, "%s\n    {\"name\": \"", i > 0 ? "," : "");
        if (__atomic_load_n(&region->ready, __ATOMIC_ACQUIRE))
            for (const char *c = region->name; *c != 0; c++)
                fprintf(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
        fprintf(out, "\", \"flops\": %.0f, \"bytes\": %.0f, \"loads\": %.0f}", flops, bytes, loads);
    }
    fputs("],\n \"records\": [\n", out);
}

char *bj_inside_regions_to_json(bj_region_arena *arena, size_t *length) {
    char *text = NULL;
    bj_text_stream stream;
    if (bj_base_open_text_stream(&stream, NULL) != BJ_OK)
        return NULL;
    FILE *out = stream.out;
    uint64_t now = BJ_LIB_READ_COUNTER(), now_ns = bj_lib_read_clock();
    write_head(out, arena, now, now_ns);
    bj_region_record *record = __atomic_load_n(&arena->records, __ATOMIC_ACQUIRE);
    for (; record != NULL; record = record->next) {
        write_record(out, arena, record, now);
        fputs(record->next != NULL ? ",\n" : "\n", out);
    }
    fputs(" ]}\n", out);
    return bj_base_close_text_stream(&stream, &text, length, NULL) == BJ_OK ? text : NULL;
}
