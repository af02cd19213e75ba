#include "machine/sim/memory_system.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "machine/machine.h"

/* Walks begin far below; the next one stands for "no page". */
static const uint32_t LAST_PAGE = UINT32_MAX - 1;

static bool has_independent_levels(const bj_sim_spec *spec) {
    /* Prefetches go to the second level, which must not be the one whose misses cause them. */
    bool independent = (spec->prefetchers & ~(unsigned)BJ_SIM_STRIDE) == 0 || spec->cache_count > 1;
    for (size_t i = 0; i < spec->cache_count; i++)
        independent = independent && spec->caches[i].policy == BJ_SIM_NEITHER;
    return independent;
}

static bool is_simple(const bj_sim_spec *spec) {
    bool simple =
        has_independent_levels(spec) && spec->neighbour == 0 && (spec->prefetchers & ~(unsigned)BJ_SIM_STRIDE) == 0;
    for (size_t i = 0; i < spec->cache_count; i++)
        simple = simple && spec->caches[i].replacement == BJ_SIM_LRU;
    return simple;
}

/* The machine as each kind of cpu sees it, and the shapes of its caches. */
static bool make_kinds(bj_sim_memory_system *memory) {
    memory->simple = memory->independent = true;
    for (size_t k = 0; k < memory->kind_count; k++) {
        bj_sim_spec *seen = memory->as_kind[k] = malloc(sizeof *seen);
        if (seen == NULL)
            return false;
        bj_sim_see_as_kind(memory->spec, k, seen);
        memory->simple = memory->simple && is_simple(seen);
        memory->independent = memory->independent && has_independent_levels(seen);
        for (size_t i = 0; i < seen->cache_count; i++)
            memory->shapes[k][i] = bj_sim_make_cache_shape(&seen->caches[i]);
    }
    return true;
}

bj_status bj_sim_open_memory_system(bj_sim_memory_system *memory, const bj_sim_spec *spec, const bj_sim_space *space,
                                    uint64_t seed, bj_error *error) {
    *memory = (bj_sim_memory_system){.spec = spec,
                                     .space = space,
                                     .kind_count = spec->kind_count > 0 ? spec->kind_count : 1,
                                     .random_state = bj_random_mix(seed, 0) | 1};
    bool have_memory = (memory->cpus = calloc(spec->cpus, sizeof(bj_sim_cpu *))) != NULL && make_kinds(memory);
    for (size_t i = 0; i < spec->cache_count; i++) {
        memory->instances[i] = calloc(spec->cpus, sizeof(bj_sim_cache));
        memory->open_instances[i] = calloc(spec->cpus, sizeof(uint32_t));
        have_memory = have_memory && memory->instances[i] != NULL && memory->open_instances[i] != NULL;
    }
    if (have_memory)
        return BJ_OK;
    bj_sim_close_memory_system(memory);
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the simulated caches");
}

void bj_sim_close_memory_system(bj_sim_memory_system *memory) {
    const bj_sim_spec *spec = memory->spec;
    for (size_t i = 0; i < spec->cache_count; i++) {
        for (size_t j = 0; j < memory->open_count[i]; j++)
            bj_sim_close_cache(&memory->instances[i][memory->open_instances[i][j]]);
        free(memory->instances[i]);
        free(memory->open_instances[i]);
    }
    for (size_t i = 0; memory->cpus != NULL && i < spec->cpus; i++) {
        for (size_t j = 0; memory->cpus[i] != NULL && j < spec->tlb_count; j++)
            bj_sim_close_tlb(&memory->cpus[i]->tlbs[j]);
        free(memory->cpus[i]);
    }
    for (size_t i = 0; i < memory->kind_count; i++)
        free(memory->as_kind[i]);
    free(memory->cpus);
    *memory = (bj_sim_memory_system){.spec = spec};
}

/* Instances begin at multiples of their number of cpus, those of a kind too (machine_memory.c checks it). */
static bj_status get_instance(bj_sim_memory_system *memory, size_t level, size_t position, bj_sim_cache **cache,
                              bj_error *error) {
    size_t kind = bj_sim_find_kind(memory->spec, position);
    size_t shared_by = memory->as_kind[kind]->caches[level].shared_by;
    size_t first = position / shared_by * shared_by;
    *cache = &memory->instances[level][first];
    if ((*cache)->tags != NULL)
        return BJ_OK;
    BJ_TRY(bj_sim_open_cache(*cache, &memory->shapes[kind][level], &memory->random_state, error));
    memory->open_instances[level][memory->open_count[level]++] = (uint32_t)first;
    return BJ_OK;
}

bj_status bj_sim_get_cpu(bj_sim_memory_system *memory, size_t position, bj_sim_cpu **cpu, bj_error *error) {
    const bj_sim_spec *spec = memory->spec;
    if (memory->cpus[position] == NULL) {
        bj_sim_cpu *made = calloc(1, sizeof *made);
        if (made == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a simulated cpu");
        made->position = position;
        made->spec = memory->as_kind[bj_sim_find_kind(spec, position)];
        bj_status status = BJ_OK;
        for (size_t i = 0; status == BJ_OK && i < spec->cache_count; i++)
            status = get_instance(memory, i, position, &made->caches[i], error);
        for (size_t i = 0; status == BJ_OK && i < spec->tlb_count; i++)
            status = bj_sim_open_tlb(&made->tlbs[i], &spec->tlbs[i], error);
        if (status != BJ_OK) {
            for (size_t i = 0; i < spec->tlb_count; i++)
                bj_sim_close_tlb(&made->tlbs[i]);
            free(made);
            return status;
        }
        memory->cpus[position] = made;
    }
    *cpu = memory->cpus[position];
    return BJ_OK;
}

void bj_sim_empty_caches_of(bj_sim_cpu *cpu, size_t cache_count) {
    for (size_t i = 0; i < cache_count; i++)
        bj_sim_empty_cache(cpu->caches[i]);
}

void bj_sim_empty_all_caches(bj_sim_memory_system *memory) {
    for (size_t i = 0; i < memory->spec->cache_count; i++) {
        for (size_t j = 0; j < memory->open_count[i]; j++)
            bj_sim_empty_cache(&memory->instances[i][memory->open_instances[i][j]]);
    }
}

void bj_sim_set_neighbour_share(bj_sim_memory_system *memory, double share) {
    size_t last = memory->spec->cache_count - 1;
    bool grew = false;
    for (size_t kind = 0; kind < memory->kind_count; kind++) {
        bj_sim_cache_shape *shape = &memory->shapes[kind][last];
        uint32_t taken = (uint32_t)(share * shape->ways * 256);
        /* Rounding up in some sets must leave one way everywhere. */
        uint32_t most = (shape->ways - 1) * 256;
        taken = taken > most ? most : taken;
        grew = grew || taken > shape->taken_256ths;
        shape->taken_256ths = taken;
    }
    for (size_t i = 0; grew && i < memory->open_count[last]; i++)
        bj_sim_shrink_cache(&memory->instances[last][memory->open_instances[last][i]]);
}

/* Takes the line out of every nearer cache below this instance. */
static void invalidate_nearer(bj_sim_memory_system *memory, const bj_sim_cpu *cpu, size_t level, uint32_t line) {
    const bj_sim_cache_spec *outer = &cpu->spec->caches[level];
    uint64_t first = (uint64_t)line << cpu->caches[level]->shape->line_shift;
    uint64_t first_physical = bj_sim_translate(memory->space, first);
    size_t from = cpu->position / outer->shared_by * outer->shared_by;
    for (size_t i = 0; i < level; i++) {
        for (size_t j = from; j < from + outer->shared_by; j++) {
            bj_sim_cache *cache = &memory->instances[i][j];
            if (cache->tags == NULL)
                continue;
            const bj_sim_cache_shape *shape = cache->shape;
            for (uint64_t at = 0; at < outer->line_bytes; at += UINT64_C(1) << shape->line_shift) {
                uint32_t set = bj_sim_pick_set(shape, first + at, first_physical + at);
                int way = bj_sim_find_line(cache, set, (uint32_t)((first + at) >> shape->line_shift));
                if (way >= 0)
                    bj_sim_remove_way(cache, set, way);
            }
        }
    }
}

/* The line has left `level`: what that means for nearer levels, and for an exclusive one behind. */
static void settle_evicted(bj_sim_memory_system *memory, bj_sim_cpu *cpu, size_t level, uint32_t line) {
    while (line != BJ_SIM_NO_LINE) {
        if (cpu->caches[level]->shape->policy == BJ_SIM_INCLUSIVE)
            invalidate_nearer(memory, cpu, level, line);
        level++;
        if (level == memory->spec->cache_count || cpu->caches[level]->shape->policy != BJ_SIM_EXCLUSIVE)
            return;
        uint64_t address = (uint64_t)line << cpu->caches[level]->shape->line_shift;
        uint32_t set = bj_sim_pick_set(cpu->caches[level]->shape, address, bj_sim_translate(memory->space, address));
        int way = bj_sim_find_line(cpu->caches[level], set, line);
        if (way >= 0) {
            bj_sim_touch_way(cpu->caches[level], set, way);
            return;
        }
        line = bj_sim_insert_line(cpu->caches[level], set, line);
    }
}

/* Brings the address into `nearest` and outwards; returns the level where it was found. */
static unsigned fetch(bj_sim_memory_system *memory, bj_sim_cpu *cpu, uint64_t address, uint64_t physical,
                      unsigned nearest) {
    unsigned count = (unsigned)memory->spec->cache_count;
    uint32_t sets[BJ_SIM_MAX_CACHES];
    unsigned found = nearest;
    for (; found < count; found++) {
        const bj_sim_cache_shape *shape = cpu->caches[found]->shape;
        sets[found] = bj_sim_pick_set(shape, address, physical);
        int way = bj_sim_find_line(cpu->caches[found], sets[found], (uint32_t)(address >> shape->line_shift));
        if (way < 0)
            continue;
        if (shape->policy == BJ_SIM_EXCLUSIVE && found != nearest)
            bj_sim_remove_way(cpu->caches[found], sets[found], way);
        else
            bj_sim_touch_way(cpu->caches[found], sets[found], way);
        break;
    }
    for (unsigned level = found; level-- > nearest;) {
        const bj_sim_cache_shape *shape = cpu->caches[level]->shape;
        if (shape->policy == BJ_SIM_EXCLUSIVE && level != nearest)
            continue;
        uint32_t line = (uint32_t)(address >> shape->line_shift);
        settle_evicted(memory, cpu, level, bj_sim_insert_line(cpu->caches[level], sets[level], line));
    }
    return found;
}

/* Lines are as long for every kind of cpu. */
static bj_sim_prefetch_rules rules_of(const bj_sim_memory_system *memory) {
    return (bj_sim_prefetch_rules){
        .prefetchers = memory->spec->prefetchers,
        .line_shift = memory->shapes[0][0].line_shift,
        .page_shift = memory->space->page_shift,
        .level_count = (unsigned)memory->spec->cache_count,
    };
}

/* `awake`: the prefetchers that this load must be shown to. */
static unsigned load(bj_sim_memory_system *memory, bj_sim_cpu *cpu, uint64_t address, uint64_t physical,
                     unsigned awake) {
    unsigned hit = fetch(memory, cpu, address, physical, 0);
    cpu->counts.hits[hit]++;
    if (awake == 0)
        return hit;
    bj_sim_prefetch_rules rules = rules_of(memory);
    rules.prefetchers = awake;
    bj_sim_prefetch wanted[BJ_SIM_MOST_PREFETCHES];
    unsigned count = bj_sim_watch_load(&cpu->prefetch, &rules, address, hit, wanted);
    for (unsigned i = 0; i < count; i++)
        fetch(memory, cpu, wanted[i].address, bj_sim_translate(memory->space, wanted[i].address), wanted[i].level);
    return hit;
}

/* The program's own pages, its stack and its code, are in use all the while. */
static void use_own_pages(const bj_sim_spec *spec, bj_sim_cpu *cpu) {
    for (uint32_t own = 0; own < spec->own_pages; own++)
        for (size_t level = 0; level < spec->tlb_count; level++)
            (void)bj_sim_use_tlb(&cpu->tlbs[level], LAST_PAGE - own);
}

static void look_up_page(const bj_sim_spec *spec, bj_sim_cpu *cpu, uint32_t page) {
    size_t level = 0;
    use_own_pages(spec, cpu);
    while (level < spec->tlb_count && !bj_sim_use_tlb(&cpu->tlbs[level], page))
        level++;
    cpu->counts.tlb_hits[level]++;
}

/* Accesses are taken so many at a time. */
enum { BLOCK = 32, MOST_REQUESTS = 3 * BLOCK };

/* The loads, and from place BLOCK on the lines that their misses prefetch. */
typedef struct {
    uint64_t virtual_address[MOST_REQUESTS], physical_address[MOST_REQUESTS];
} block;

static void find_addresses(const bj_sim_memory_system *memory, const bj_sim_mapping *mapping, const uint32_t *places,
                           size_t count, block *prepared) {
    for (size_t i = 0; i < count; i++) {
        uint64_t address = mapping->address + (uint64_t)places[i] * BJ_WALK_WORD_BYTES;
        prepared->virtual_address[i] = address;
        prepared->physical_address[i] = bj_sim_translate(memory->space, address);
    }
}

static void look_up_pages(const bj_sim_memory_system *memory, bj_sim_cpu *cpu, const bj_sim_mapping *mapping,
                          const block *prepared, size_t count) {
    /* Huge pages have names of their own in the TLBs. */
    uint32_t kind = mapping->huge ? UINT32_C(1) << 31 : 0;
    for (size_t i = 0; i < count; i++)
        look_up_page(memory->spec, cpu, (uint32_t)(prepared->virtual_address[i] >> mapping->page_shift) | kind);
}

/* One level's part of the requests through[0 .. count): those that it lets through stay in the list. Counts hits of
 * loads, and notes their level unless `levels` is NULL. */
static size_t pass_level(bj_sim_cpu *cpu, const block *prepared, size_t level, uint8_t *through, size_t count,
                         uint8_t *levels) {
    const bj_sim_cache_shape *shape = cpu->caches[level]->shape;
    bj_sim_cache *cache = cpu->caches[level];
    uint32_t lines[MOST_REQUESTS], sets[MOST_REQUESTS];
    uint8_t hits[MOST_REQUESTS];
    for (size_t i = 0; i < count; i++) {
        uint64_t address = prepared->virtual_address[through[i]];
        lines[i] = (uint32_t)(address >> shape->line_shift);
        sets[i] = bj_sim_pick_set(shape, address, prepared->physical_address[through[i]]);
    }
    bj_sim_use_lines(cache, sets, lines, count, hits);
    size_t missed = 0, hits_of_loads = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_load = through[i] < BLOCK;
        if (levels != NULL && is_load)
            levels[through[i]] = (uint8_t)level;
        hits_of_loads += hits[i] & is_load;
        through[missed] = through[i];
        missed += !hits[i];
    }
    cpu->counts.hits[level] += hits_of_loads;
    return missed;
}

/* Behind each load that missed the first level, what the prefetchers of neighbours make of that; returns how many
 * requests the second level sees. */
static size_t add_neighbours(const bj_sim_memory_system *memory, block *prepared, uint8_t *through, size_t count) {
    const bj_sim_prefetch_rules rules = rules_of(memory);
    uint8_t loads[BLOCK];
    memcpy(loads, through, count);
    size_t wanted = 0, requests = 0;
    for (size_t i = 0; i < count; i++) {
        through[requests++] = loads[i];
        uint64_t *to = prepared->virtual_address + BLOCK + wanted;
        uint64_t address = prepared->virtual_address[loads[i]], physical = prepared->physical_address[loads[i]];
        unsigned more = bj_sim_want_neighbours(&rules, address, to);
        for (unsigned j = 0; j < more; j++) {
            /* Never in another page. */
            prepared->physical_address[BLOCK + wanted] = physical + (to[j] - address);
            through[requests++] = (uint8_t)(BLOCK + wanted++);
        }
    }
    return requests;
}

/* Independent levels are taken one after the other, each seeing what the nearer ones let through: no branch depends on
 * where an access hits, which no host could predict. Draws of random replacement then come in another order than
 * access by access, but each is as random. */
static void load_by_levels(const bj_sim_memory_system *memory, bj_sim_cpu *cpu, block *prepared, size_t count,
                           size_t nearest, uint8_t *levels) {
    const bj_sim_spec *spec = memory->spec;
    uint8_t through[MOST_REQUESTS];
    for (size_t i = 0; i < count; i++)
        through[i] = (uint8_t)i;
    size_t level = nearest;
    for (; level < spec->cache_count && count > 0; level++) {
        count = pass_level(cpu, prepared, level, through, count, levels);
        if (level == 0 && (spec->prefetchers & (BJ_SIM_NEXT_LINE | BJ_SIM_ADJACENT)) != 0)
            count = add_neighbours(memory, prepared, through, count);
    }
    for (size_t i = 0; i < count; i++) {
        bool is_load = through[i] < BLOCK;
        cpu->counts.hits[level] += is_load;
        if (levels != NULL && is_load)
            levels[through[i]] = (uint8_t)level;
    }
}

/* The sets of a large level are not in the host's own caches: asked for all at once, they are waited for once. */
static void await_far_sets(const bj_sim_cpu *cpu, const block *prepared, size_t count) {
    const size_t large_table = 1 << 18;
    for (size_t level = 1; level < cpu->spec->cache_count; level++) {
        const bj_sim_cache_shape *shape = cpu->caches[level]->shape;
        if ((size_t)shape->sets.divisor * shape->stride * sizeof(uint32_t) < large_table)
            continue;
        for (size_t i = 0; i < count; i++) {
            uint32_t set = bj_sim_pick_set(shape, prepared->virtual_address[i], prepared->physical_address[i]);
            __builtin_prefetch(cpu->caches[level]->tags + (size_t)set * shape->stride);
        }
    }
}

void bj_sim_visit_places(bj_sim_memory_system *memory, bj_sim_cpu *cpu, const bj_sim_mapping *mapping,
                         const uint32_t *places, size_t count, uint8_t *levels) {
    const unsigned neighbours = BJ_SIM_NEXT_LINE | BJ_SIM_ADJACENT;
    const bj_sim_prefetch_rules rules = rules_of(memory);
    block prepared;
    for (size_t done = 0; done < count; done += BLOCK) {
        size_t now = count - done < BLOCK ? count - done : BLOCK;
        uint8_t *here = levels != NULL ? levels + done : NULL;
        find_addresses(memory, mapping, places + done, now, &prepared);
        look_up_pages(memory, cpu, mapping, &prepared, now);
        bool asleep = bj_sim_pass_loads(&cpu->prefetch, &rules, prepared.virtual_address, now);
        unsigned awake = memory->spec->prefetchers & (asleep ? neighbours : ~0u);
        if (memory->independent && asleep) {
            load_by_levels(memory, cpu, &prepared, now, 0, here);
            continue;
        }
        await_far_sets(cpu, &prepared, now);
        for (size_t i = 0; i < now; i++) {
            unsigned hit = load(memory, cpu, prepared.virtual_address[i], prepared.physical_address[i], awake);
            if (here != NULL)
                here[i] = (uint8_t)hit;
        }
    }
}

void bj_sim_visit_far_levels(bj_sim_memory_system *memory, bj_sim_cpu *cpu, const bj_sim_mapping *mapping,
                             const uint32_t *places, size_t count, size_t nearest) {
    block prepared;
    for (size_t done = 0; done < count; done += BLOCK) {
        size_t now = count - done < BLOCK ? count - done : BLOCK;
        find_addresses(memory, mapping, places + done, now, &prepared);
        load_by_levels(memory, cpu, &prepared, now, nearest, NULL);
    }
}
