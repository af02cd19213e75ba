/* Laps of a short walk that runs alone: once two were alike, later ones need not be simulated. */
#include <stdlib.h>

#include "machine/sim/walker.h"

enum {
    RECORDED_LAPS_MAX = 4, /* exclusive levels take a lap or two more than the others to settle */
    PIECE = 32             /* accesses whose cost is recorded together */
};

/* Whether a level whose last two laps were alike will stay so. LRU does. Random replacement does if no load goes beyond
 * the level, since nothing is replaced then. A level that the neighbour shares does if no load gets there. */
static bool stays_settled(const bj_sim_spec *spec, size_t level, uint64_t seen, uint64_t beyond) {
    if (level == spec->cache_count)
        return true;
    if (spec->neighbour > 0 && level + 1 == spec->cache_count)
        return seen == 0;
    return spec->caches[level].replacement != BJ_SIM_RANDOM || beyond == 0;
}

/* Two laps, from the first counts to the second and from there to now: how many of the nearest levels hit alike. */
static size_t count_settled(const bj_sim_walker *who, const bj_sim_counts *first, const bj_sim_counts *second) {
    const bj_sim_counts *now = &who->cpu->counts;
    const bj_sim_spec *spec = who->cpu->spec;
    size_t levels = spec->cache_count + 1, settled = 0;
    uint64_t seen = who->walk->count;
    for (; settled < levels; settled++) {
        uint64_t hits = now->hits[settled] - second->hits[settled];
        if (hits != second->hits[settled] - first->hits[settled] || !stays_settled(spec, settled, seen, seen - hits))
            break;
        seen -= hits;
    }
    /* While a further level has not settled, alike counts prove it only for LRU. */
    for (size_t i = 0; i < settled && settled < levels; i++) {
        if (spec->caches[i].replacement != BJ_SIM_LRU)
            return i;
    }
    return settled;
}

static bool tlbs_settled(const bj_sim_walker *who, const bj_sim_counts *first, const bj_sim_counts *second) {
    bool alike = true;
    for (size_t i = 0; i <= BJ_SIM_MAX_TLBS; i++)
        alike = alike && who->cpu->counts.tlb_hits[i] - second->tlb_hits[i] == second->tlb_hits[i] - first->tlb_hits[i];
    return alike;
}

static void free_record(bj_sim_lap_record *lap) {
    free(lap->cycles);
    free(lap->passing);
    free(lap->passing_before);
    *lap = (bj_sim_lap_record){0};
}

/* One lap; `levels` receives where it hit, lap->cycles the TLBs' part. */
static void go_round_recording(bj_sim_machine *self, bj_sim_walker *who, uint8_t *levels) {
    size_t count = who->walk->count, piece = 0;
    bj_sim_counts start = who->cpu->counts;
    for (size_t at = 0; at < count; at += PIECE, piece++) {
        who->lap.cycles[piece] = bj_sim_count_tlb_cycles(who, &start);
        bj_sim_visit_places(&self->memory, who->cpu, who->mapping, who->places + at,
                            count - at < PIECE ? count - at : PIECE, levels + at);
    }
    who->lap.cycles[piece] = bj_sim_count_tlb_cycles(who, &start);
}

/* The loads of the lap, by where they hit: into the cycles, or into the list of those to be simulated. */
static void split_lap(bj_sim_walker *who, const uint8_t *levels) {
    const bj_sim_spec *spec = who->cpu->spec;
    size_t count = who->walk->count, passing = 0, piece = 0;
    double cycles = 0, each[BJ_SIM_MAX_CACHES + 1];
    for (size_t i = 0; i <= spec->cache_count; i++)
        each[i] = bj_sim_cycles_at(who, i);
    for (size_t i = 0; i < count; i++) {
        if (i % PIECE == 0) {
            who->lap.passing_before[piece] = passing;
            who->lap.cycles[piece++] += cycles;
        }
        if (levels[i] < who->lap.settled)
            cycles += each[levels[i]];
        else
            who->lap.passing[passing++] = who->places[i];
    }
    who->lap.passing_before[piece] = passing;
    who->lap.cycles[piece] += cycles;
}

bj_status bj_sim_record_lap(bj_sim_machine *self, bj_sim_walker *who, const bj_sim_counts *before, bj_error *error) {
    size_t count = who->walk->count, pieces = (count + PIECE - 1) / PIECE;
    uint8_t *levels = malloc(count);
    who->lap.cycles = malloc((pieces + 1) * sizeof *who->lap.cycles);
    who->lap.passing = malloc(count * sizeof *who->lap.passing);
    who->lap.passing_before = malloc((pieces + 1) * sizeof *who->lap.passing_before);
    if (!levels || !who->lap.cycles || !who->lap.passing || !who->lap.passing_before) {
        free(levels);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to simulate a walk of %zu places", count);
    }
    bj_sim_counts first, second = *before;
    /* A part of the levels can only be left alone where the others do not act on it. */
    bool divisible = self->memory.independent && self->spec->prefetchers == 0;
    bool known = false;
    for (unsigned lap = 0; lap < RECORDED_LAPS_MAX && !known; lap++) {
        first = second;
        second = who->cpu->counts;
        go_round_recording(self, who, levels);
        who->lap.settled = count_settled(who, &first, &second);
        known = tlbs_settled(who, &first, &second) && (who->lap.settled > self->spec->cache_count || divisible);
    }
    if (known)
        split_lap(who, levels);
    else
        free_record(&who->lap);
    free(levels);
    return BJ_OK;
}

/* The piece of a recorded lap that a place is in; *within: places before it there, of the *length that there are. */
static size_t find_piece(const bj_sim_walker *who, size_t place, size_t *within, size_t *length) {
    size_t count = who->walk->count, piece = place < count ? place / PIECE : (count - 1) / PIECE;
    *within = place - piece * PIECE;
    *length = count - piece * PIECE < PIECE ? count - piece * PIECE : PIECE;
    return piece;
}

/* From the start of a recorded lap to a place in it, within a piece evenly. */
static double cycles_up_to(const bj_sim_walker *who, size_t place) {
    size_t within, length, piece = find_piece(who, place, &within, &length);
    double part = (double)within / (double)length;
    return who->lap.cycles[piece] * (1 - part) + who->lap.cycles[piece + 1] * part;
}

static size_t passing_up_to(const bj_sim_walker *who, size_t place) {
    size_t within, length, piece = find_piece(who, place, &within, &length);
    size_t here = who->lap.passing_before[piece + 1] - who->lap.passing_before[piece];
    return who->lap.passing_before[piece] + here * within / length;
}

double bj_sim_replay_lap(bj_sim_machine *self, bj_sim_walker *who, size_t accesses) {
    size_t count = who->walk->count, end = who->next + accesses;
    double laps = (double)(end / count);
    double cycles = laps * cycles_up_to(who, count) + cycles_up_to(who, end % count) - cycles_up_to(who, who->next);
    for (; end > 0; end -= end < count ? end : count) {
        size_t from = passing_up_to(who, who->next), to = passing_up_to(who, end < count ? end : count);
        bj_sim_visit_far_levels(&self->memory, who->cpu, who->mapping, who->lap.passing + from, to - from,
                                who->lap.settled);
        who->next = end < count ? end : 0;
    }
    return cycles;
}
