#include "machine/sim/cold_lap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"

/* Walks of fewer places are simulated from the first access on. */
enum { LEAST_COLD = 8192 };

/* Shares of accesses that a prefetcher may react to in a random order, by chance. */
static const double FEW_STRIDES = 0.001, FEW_RETURNS = 0.02;

static double share_of_strides(const uint32_t *places, size_t count) {
    const uint32_t furthest = 2048 / BJ_WALK_WORD_BYTES;
    size_t strides = 0;
    for (size_t i = 2; i < count; i++) {
        uint32_t distance = places[i] - places[i - 1];
        strides += (distance == places[i - 1] - places[i - 2]) & (distance + furthest <= 2 * furthest);
    }
    return (double)strides / (double)count;
}

/* How often one of the regions last used is used again. */
static double share_of_returns(const uint32_t *places, size_t count) {
    const unsigned shift = BJ_SIM_REGION_SHIFT - 3;
    size_t returns = 0;
    for (size_t i = BJ_SIM_REGIONS; i < count; i++) {
        unsigned returned = 0;
        for (size_t back = 1; back <= BJ_SIM_REGIONS; back++)
            returned |= places[i] >> shift == places[i - back] >> shift;
        returns += returned;
    }
    return (double)returns / (double)count;
}

bool bj_sim_prefetchers_sleep(const bj_sim_spec *spec, const uint32_t *places, size_t count) {
    if (spec->prefetchers & (BJ_SIM_NEXT_LINE | BJ_SIM_ADJACENT))
        return false;
    if ((spec->prefetchers & BJ_SIM_STRIDE) && share_of_strides(places, count) > FEW_STRIDES)
        return false;
    return !(spec->prefetchers & BJ_SIM_REGION) || share_of_returns(places, count) <= FEW_RETURNS;
}

double bj_sim_lines_to_wash_out(const bj_sim_spec *spec, size_t level) {
    const bj_sim_cache_spec *cache = &spec->caches[level];
    /* Loads of the sets are about Poisson: so many times the cache leave one set in a thousand with no more lines than
     * ways. Under random replacement a line outlives t times the cache with probability exp(-t). */
    double times = 1.6 + 9.0 / (double)cache->ways;
    if (cache->replacement == BJ_SIM_RANDOM)
        times = fmax(times, 7);
    else if (cache->replacement == BJ_SIM_PLRU)
        times = fmax(times, 4);
    double lines = (double)(cache->sets * cache->ways);
    double nearer = cache->policy == BJ_SIM_EXCLUSIVE ? bj_sim_lines_to_wash_out(spec, level - 1) : 0;
    return nearer + lines * times;
}

/* The largest power of two of bytes that all distances of the places are multiples of. */
static double find_granule(const uint32_t *places, size_t count) {
    uint32_t differing = 0;
    for (size_t i = 0; i < count; i++)
        differing |= places[i] ^ places[0];
    return (double)(differing & -differing) * BJ_WALK_WORD_BYTES;
}

bj_sim_lap_plan bj_sim_plan_lap(const bj_sim_spec *spec, const uint32_t *places, size_t count) {
    bj_sim_lap_plan plan = {0};
    if (count <= LEAST_COLD)
        return plan;
    double longest_line = (double)spec->caches[spec->cache_count - 1].line_bytes;
    double visits = fmax(longest_line / find_granule(places, count), 1); /* of a line, in a lap */
    plan.distinct = visits == 1;
    double needed = 0;
    for (size_t i = 0; i < spec->cache_count; i++)
        needed = fmax(needed, bj_sim_lines_to_wash_out(spec, i));
    size_t tail = LEAST_COLD / 2; /* the TLBs need it */
    for (size_t i = 0; i < spec->tlb_count; i++)
        tail = 4 * spec->tlbs[i].entries > tail ? 4 * spec->tlbs[i].entries : tail;
    bool asleep = bj_sim_prefetchers_sleep(spec, places, count);
    if (asleep && count > tail)
        plan.simulated_from = count - tail;
    if ((double)count / visits < needed)
        return plan;
    /* How near the end a place must be to matter. A line that is visited once and never prefetched is not met again:
     * only the TLBs ask for it. Lines that are prefetched or visited several times may be. */
    size_t met_again = asleep && plan.distinct ? tail : (size_t)(plan.distinct ? needed : 2 * needed);
    if (count > met_again) {
        plan.cold_from = count - met_again;
        if (plan.simulated_from < plan.cold_from)
            plan.simulated_from = plan.cold_from;
    }
    return plan;
}

/* What a level sees: line numbers, oldest first. */
typedef struct {
    uint32_t *lines;
    size_t count;
    unsigned line_shift;
} line_list;

/* The lines of the last level that the places are in, oldest first. `distinct`: no two places share a line. Otherwise a
 * line counts at its last visit, so the list is made from the end and leaves out lines that are in it. */
static bj_status list_visits(const bj_sim_mapping *mapping, unsigned line_shift, const uint32_t *places, size_t count,
                             bool distinct, line_list *visits, bj_error *error) {
    uint64_t first = mapping->address >> line_shift;
    uint64_t lines = (mapping->bytes >> line_shift) + 1;
    uint64_t *seen = distinct ? NULL : calloc(lines / 64 + 1, sizeof *seen);
    uint32_t *list = malloc((count + 1) * sizeof *list);
    if ((!distinct && seen == NULL) || list == NULL) {
        free(seen);
        free(list);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to simulate a walk of %zu places", count);
    }
    unsigned place_shift = line_shift - 3;
    size_t from = distinct ? 0 : count;
    for (size_t i = 0; distinct && i < count; i++)
        list[i] = (uint32_t)first + (places[i] >> place_shift);
    for (size_t i = count; !distinct && i-- > 0;) {
        uint32_t line = places[i] >> place_shift;
        uint64_t bit = UINT64_C(1) << (line % 64);
        list[from] = (uint32_t)first + line;
        from -= (seen[line / 64] & bit) == 0;
        seen[line / 64] |= bit;
    }
    if (!distinct)
        memmove(list, list + from + 1, (count - from) * sizeof *list);
    free(seen);
    *visits = (line_list){.lines = list, .count = count - from, .line_shift = line_shift};
    return BJ_OK;
}

static inline uint32_t pick_set_of(const bj_sim_memory_system *memory, const bj_sim_cache_shape *shape,
                                   uint64_t address) {
    uint64_t physical = shape->mapped == BJ_SIM_PHYSICAL ? bj_sim_translate(memory->space, address) : 0;
    return bj_sim_pick_set(shape, address, physical);
}

/* Lines that leave go to `victims`, in that order, unless it is NULL. `victims` may be `seen`: no more lines leave than
 * have come. */
static void insert_in_order(const bj_sim_memory_system *memory, bj_sim_cache *cache, const line_list *seen, size_t from,
                            line_list *victims) {
    const bj_sim_cache_shape *shape = cache->shape;
    size_t left = 0;
    unsigned line_shift = seen->line_shift;
    for (size_t i = from; i < seen->count; i++) {
        uint64_t address = (uint64_t)seen->lines[i] << line_shift;
        uint32_t line = (uint32_t)(address >> shape->line_shift);
        uint32_t victim = bj_sim_insert_line(cache, pick_set_of(memory, shape, address), line);
        if (victims != NULL) {
            victims->lines[left] = victim;
            left += victim != BJ_SIM_NO_LINE;
        }
    }
    if (victims != NULL) {
        victims->count = left;
        victims->line_shift = shape->line_shift;
    }
}

/* LRU, when nobody asks what left: from the latest line on, each goes behind those that came after it, until its set is
 * full. */
static bj_status fill_from_latest(const bj_sim_memory_system *memory, bj_sim_cache *cache, const line_list *seen,
                                  size_t from, bj_error *error) {
    const bj_sim_cache_shape *shape = cache->shape;
    uint16_t *filled = calloc(shape->sets.divisor, sizeof *filled);
    if (filled == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to simulate a walk");
    for (size_t i = seen->count; i-- > from;) {
        uint64_t address = (uint64_t)seen->lines[i] << seen->line_shift;
        uint32_t set = pick_set_of(memory, shape, address);
        if (filled[set] < bj_sim_own_ways(shape, set))
            cache->tags[(size_t)set * shape->stride + filled[set]++] = (uint32_t)(address >> shape->line_shift);
    }
    free(filled);
    return BJ_OK;
}

/* Sets in random order would miss the host's own caches with every line: lines are first dealt out to heaps of
 * neighbouring sets. The order within a set stays. */
enum { HEAPS = 64 };

static bj_status insert_by_heaps(const bj_sim_memory_system *memory, bj_sim_cache *cache, const line_list *seen,
                                 size_t from, bj_error *error) {
    const bj_sim_cache_shape *shape = cache->shape;
    struct pair {
        uint32_t set, line;
    };
    size_t count = seen->count - from, starts[HEAPS + 1] = {0};
    uint32_t *sets = malloc(count * sizeof *sets);
    struct pair *heaps = malloc(count * sizeof *heaps);
    if (sets == NULL || heaps == NULL) {
        free(sets);
        free(heaps);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to simulate a walk of %zu lines", count);
    }
    uint32_t sets_per_heap = shape->sets.divisor / HEAPS + 1;
    bj_sim_divisor heap_of = bj_sim_make_divisor(sets_per_heap);
    for (size_t i = 0; i < count; i++) {
        sets[i] = pick_set_of(memory, shape, (uint64_t)seen->lines[from + i] << seen->line_shift);
        starts[bj_sim_quotient(&heap_of, sets[i]) + 1]++;
    }
    for (size_t i = 1; i <= HEAPS; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < count; i++) {
        uint64_t address = (uint64_t)seen->lines[from + i] << seen->line_shift;
        heaps[starts[bj_sim_quotient(&heap_of, sets[i])]++] =
            (struct pair){.set = sets[i], .line = (uint32_t)(address >> shape->line_shift)};
    }
    for (size_t i = 0; i < count; i++)
        bj_sim_insert_line(cache, heaps[i].set, heaps[i].line);
    free(sets);
    free(heaps);
    return BJ_OK;
}

/* Puts the lines, from the `from`-th on, into the level. */
static bj_status insert_lines(const bj_sim_memory_system *memory, bj_sim_cache *cache, const line_list *seen,
                              size_t from, line_list *victims, bj_error *error) {
    const size_t large_table = 1 << 20;
    const bj_sim_cache_shape *shape = cache->shape;
    if (shape->replacement == BJ_SIM_LRU && victims == NULL)
        return fill_from_latest(memory, cache, seen, from, error);
    if (victims == NULL && (size_t)shape->sets.divisor * shape->stride * sizeof cache->tags[0] > large_table)
        return insert_by_heaps(memory, cache, seen, from, error);
    insert_in_order(memory, cache, seen, from, victims);
    return BJ_OK;
}

bj_status bj_sim_write_cold_lap(bj_sim_memory_system *memory, bj_sim_cpu *cpu, const bj_sim_mapping *mapping,
                                const uint32_t *places, const bj_sim_lap_plan *plan, bj_error *error) {
    const bj_sim_spec *spec = cpu->spec;
    size_t count = plan->simulated_from - plan->cold_from;
    unsigned longest_shift = cpu->caches[spec->cache_count - 1]->shape->line_shift;
    line_list visits = {0}, victims = {0};
    bj_status status =
        list_visits(mapping, longest_shift, places + plan->cold_from, count, plan->distinct, &visits, error);
    if (status == BJ_OK && (victims.lines = malloc(visits.count * sizeof *victims.lines)) == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to simulate a walk of %zu places", count);
    bj_sim_empty_caches_of(cpu, spec->cache_count);
    for (size_t i = 0; status == BJ_OK && i < spec->cache_count; i++) {
        const line_list *seen = cpu->caches[i]->shape->policy == BJ_SIM_EXCLUSIVE ? &victims : &visits;
        bool feeds_next = i + 1 < spec->cache_count && cpu->caches[i + 1]->shape->policy == BJ_SIM_EXCLUSIVE;
        double needed = bj_sim_lines_to_wash_out(spec, i);
        size_t from = feeds_next || (double)seen->count <= needed ? 0 : seen->count - (size_t)needed;
        status = insert_lines(memory, cpu->caches[i], seen, from, feeds_next ? &victims : NULL, error);
    }
    free(victims.lines);
    free(visits.lines);
    return status;
}
