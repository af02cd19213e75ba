/* Several levels at once: inclusion and exclusion, frames, TLB levels, prefetchers, and the shortcuts against the long
 * way. */
#include "sim_fixture.h"

#include "machine/sim/cold_lap.h"

/* One set of two ways, then an exclusive one of four. */
static void test_exclusive_holds_what_was_evicted(void **state) {
    (void)state;
    bj_machine *machine = open_text("{\"name\": \"x\", \"caches\": [{\"size\": 128, \"ways\": 2, \"latency\": 1},"
                                    "{\"size\": 256, \"ways\": 4, \"latency\": 5, \"policy\": \"exclusive\"}]}",
                                    1);
    bj_arena *arena = open_arena(machine, 65536, BJ_PAGES_BASE);
    /* 1 2 3: the first has moved down. Getting it back up sends 2 down. */
    const int lines[] = {1, 2, 3, 1, 3, 1, 2, 3};
    const int levels[] = {3, 3, 3, 2, 1, 1, 2, 2};
    assert_levels(machine, arena, lines, levels);
    /* Both levels together hold six lines, not four. */
    for (int lap = 0; lap < 3; lap++) {
        for (uint64_t line = 10; line < 16; line++)
            assert_int_equal(load_from(machine, 0, arena, line * 64), lap == 0 ? 3 : 2);
    }
    for (int lap = 0; lap < 3; lap++) {
        for (uint64_t line = 20; line < 27; line++)
            assert_int_equal(load_from(machine, 0, arena, line * 64), 3);
    }
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

/* Two exclusive levels in a row pass lines on. */
static void test_exclusive_levels_in_a_row(void **state) {
    (void)state;
    bj_machine *machine = open_text("{\"name\": \"x\", \"caches\": [{\"size\": 128, \"ways\": 2, \"latency\": 1},"
                                    "{\"size\": 128, \"ways\": 2, \"latency\": 5, \"policy\": \"exclusive\"},"
                                    "{\"size\": 128, \"ways\": 2, \"latency\": 9, \"policy\": \"exclusive\"}]}",
                                    1);
    bj_arena *arena = open_arena(machine, 65536, BJ_PAGES_BASE);
    /* After 1 … 5: {5 4} {3 2} {1}. Taking 1 sends 4 down, 4 sends 2. */
    const int lines[] = {1, 2, 3, 4, 5, 1, 4, 2, 1};
    const int levels[] = {4, 4, 4, 4, 4, 3, 2, 3, 2};
    assert_levels(machine, arena, lines, levels);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_inclusive_takes_nearer_copies_along(void **state) {
    (void)state;
    const char *format = "{\"name\": \"x\", \"cpus\": 2, \"caches\": [{\"size\": 256, \"ways\": 4, \"latency\": 1},"
                         "{\"size\": 512, \"ways\": 4, \"latency\": 5, \"shared_by\": 2, \"policy\": \"%s\"}]}";
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        char text[400];
        snprintf(text, sizeof text, format, inclusive ? "inclusive" : "neither");
        bj_machine *machine = open_text(text, 1);
        bj_arena *arena = open_arena(machine, 65536, BJ_PAGES_BASE);
        /* Even lines fall into one set of the outer cache, which does not see the second use of 0: 8 evicts it. */
        const int lines[] = {0, 2, 4, 6, 0, 8};
        const int levels[] = {3, 3, 3, 3, 1, 3};
        assert_levels(machine, arena, lines, levels);
        /* 0 left the inner cache too, and so 2 could stay there. */
        assert_int_equal(load_from(machine, 0, arena, 2 * 64), inclusive ? 1 : 2);
        assert_int_equal(load_from(machine, 0, arena, 0), inclusive ? 3 : 1);
        /* The other cpu's copies go as well: it has 1 3 5 7, of which 9 evicts 1 below. */
        for (uint64_t line = 1; line < 9; line += 2)
            load_from(machine, 1, arena, line * 64);
        assert_int_equal(load_from(machine, 0, arena, 9 * 64), 3);
        assert_int_equal(load_from(machine, 1, arena, 1 * 64), inclusive ? 3 : 1);
        machine->verbs->close_arena(machine, arena);
        close_machine(machine);
    }
}

/* A longer line outside: its eviction takes both halves along. */
static void test_inclusive_lines_may_be_longer(void **state) {
    (void)state;
    bj_machine *machine =
        open_text("{\"name\": \"x\", \"caches\": [{\"size\": 512, \"ways\": 8, \"latency\": 1},"
                  "{\"size\": 512, \"line\": 128, \"ways\": 4, \"latency\": 5, \"policy\": \"inclusive\"}]}",
                  1);
    bj_arena *arena = open_arena(machine, 65536, BJ_PAGES_BASE);
    const int lines[] = {0, 1, 2, 4, 6, 0, 1, 8, 0, 1};
    const int levels[] = {3, 2, 3, 3, 3, 1, 1, 3, 3, 2};
    assert_levels(machine, arena, lines, levels);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static const char *const physical_cache = /* 64 sets of 4 ways: four pages of sets */
    "{\"name\": \"x\", \"page\": {\"base\": 4096, \"huge\": %d, \"frames\": \"%s\"}, \"caches\":"
    "[{\"size\": 65536, \"ways\": 4, \"latency\": 1, \"mapped\": \"physical\"}]}";

static uint64_t frame_at(bj_machine *machine, bj_arena *arena, uint64_t page) {
    return bj_sim_translate(&self_of(machine)->space, arena->mapping->address + page * 4096) / 4096;
}

static bj_machine *open_frames(const char *frames, int huge) {
    char text[400];
    snprintf(text, sizeof text, physical_cache, huge, frames);
    return open_text(text, 3);
}

static void test_random_frames_are_distinct_and_new_each_time(void **state) {
    (void)state;
    enum { PAGES = 512 };
    bj_machine *machine = open_frames("random", 0);
    bj_arena *first = open_arena(machine, PAGES * 4096, BJ_PAGES_BASE);
    bj_arena *second = open_arena(machine, PAGES * 4096, BJ_PAGES_BASE);
    assert_true(first->mapping->address != second->mapping->address);
    uint64_t colours[4] = {0}, same = 0;
    for (uint64_t i = 0; i < PAGES; i++) {
        colours[frame_at(machine, first, i) % 4]++;
        same += frame_at(machine, first, i) % 4 == i % 4;
        for (uint64_t j = 0; j < PAGES; j++) {
            assert_true(j == i || frame_at(machine, first, i) != frame_at(machine, first, j));
            assert_true(frame_at(machine, first, i) != frame_at(machine, second, j));
        }
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(colours[i], PAGES / 4 - 50, PAGES / 4 + 50);
    assert_in_range(same, PAGES / 4 - 50, PAGES / 4 + 50);
    machine->verbs->close_arena(machine, first);
    machine->verbs->close_arena(machine, second);
    close_machine(machine);
}

static void test_coloured_and_contiguous_frames(void **state) {
    (void)state;
    bj_machine *machine = open_frames("coloured", 0);
    bj_arena *arena = open_arena(machine, 64 * 4096, BJ_PAGES_BASE);
    uint64_t first_page = arena->mapping->address / 4096;
    for (uint64_t i = 0; i < 64; i++)
        assert_int_equal(frame_at(machine, arena, i) % 4, (first_page + i) % 4);
    /* So 16 pages fill the cache exactly: the second lap hits everywhere. */
    for (int lap = 0; lap < 2; lap++) {
        for (uint64_t line = 0; line < 1024; line++)
            assert_int_equal(load_from(machine, 0, arena, line * 64), lap == 0 ? 2 : 1);
    }
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);

    machine = open_frames("contiguous", 0);
    arena = open_arena(machine, 64 * 4096, BJ_PAGES_BASE);
    for (uint64_t i = 1; i < 64; i++)
        assert_int_equal(frame_at(machine, arena, i), frame_at(machine, arena, 0) + i);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_huge_pages_are_contiguous_inside(void **state) {
    (void)state;
    bj_machine *machine = open_frames("random", 2097152);
    bj_arena *arena = open_arena(machine, 3 * 2097152, BJ_PAGES_HUGE);
    for (uint64_t i = 0; i < 3 * 512; i++) {
        uint64_t first = frame_at(machine, arena, i / 512 * 512);
        assert_int_equal(first % 512, 0);
        assert_int_equal(frame_at(machine, arena, i), first + i % 512);
    }
    assert_true(frame_at(machine, arena, 512) != frame_at(machine, arena, 0) + 512 ||
                frame_at(machine, arena, 1024) != frame_at(machine, arena, 512) + 512);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

/* An unlucky draw: more pages of one colour than ways, found by looking at the frames, must miss, and no other. */
static void test_physical_sets_follow_the_frames(void **state) {
    (void)state;
    bj_machine *machine = open_frames("random", 0);
    bj_arena *arena = open_arena(machine, 16 * 4096, BJ_PAGES_BASE);
    uint64_t of_colour[4] = {0};
    for (uint64_t i = 0; i < 16; i++)
        of_colour[frame_at(machine, arena, i) % 4]++;
    for (int lap = 0; lap < 3; lap++) {
        for (uint64_t line = 0; line < 1024; line++) {
            uint64_t colour = frame_at(machine, arena, line / 64) % 4;
            int level = load_from(machine, 0, arena, line * 64);
            if (lap > 0)
                assert_int_equal(level, of_colour[colour] > 4 ? 2 : 1);
        }
    }
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_tlb_levels(void **state) {
    (void)state;
    bj_machine *machine =
        open_text("{\"name\": \"x\", \"page\": {\"huge\": 2097152}, \"caches\": [{\"size\": 4096, \"latency\": 1}],"
                  "\"tlbs\": [{\"entries\": 2, \"ways\": 0}, {\"entries\": 4, \"ways\": 2, \"latency\": 7}]}",
                  1);
    bj_arena *arena = open_arena(machine, 64 * 4096, BJ_PAGES_BASE);
    /* Pages 0 2 4 share a set of two ways at the second level. */
    const uint64_t pages[] = {0, 1, 0, 2, 1, 0, 4, 0, 2};
    const int levels[] = {3, 3, 1, 3, 2, 2, 3, 1, 3};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        assert_int_equal(look_up(machine, arena, pages[i] * 4096), levels[i]);
    machine->verbs->close_arena(machine, arena);
    /* A huge page is one entry. */
    arena = open_arena(machine, 4 * 2097152, BJ_PAGES_HUGE);
    assert_int_equal(look_up(machine, arena, 0), 3);
    for (uint64_t page = 1; page < 512; page++)
        assert_int_equal(look_up(machine, arena, page * 4096), 1);
    assert_int_equal(look_up(machine, arena, 512 * 4096), 3);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static bj_machine *open_prefetcher(const char *name) {
    char text[400];
    snprintf(text, sizeof text,
             "{\"name\": \"x\", \"prefetchers\": [\"%s\"], \"caches\": [{\"size\": 4096, \"ways\": 8, \"latency\": 1},"
             "{\"size\": 65536, \"ways\": 8, \"latency\": 9}]}",
             name);
    return open_text(text, 1);
}

static void test_prefetchers_of_neighbours(void **state) {
    (void)state;
    bj_machine *machine = open_prefetcher("next_line");
    bj_arena *arena = open_arena(machine, 1 << 20, BJ_PAGES_BASE);
    /* 0 brings 1, whose miss in the first level brings 2; 63 ends the page. */
    const int ahead[] = {0, 1, 2, 10, 9, 63, 64};
    const int ahead_levels[] = {3, 2, 2, 3, 3, 3, 3};
    assert_levels(machine, arena, ahead, ahead_levels);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);

    machine = open_prefetcher("adjacent");
    arena = open_arena(machine, 1 << 20, BJ_PAGES_BASE);
    const int pairs[] = {3, 2, 4, 6, 5, 7};
    const int pair_levels[] = {3, 2, 3, 3, 2, 2};
    assert_levels(machine, arena, pairs, pair_levels);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);

    machine = open_prefetcher("stride");
    arena = open_arena(machine, 1 << 20, BJ_PAGES_BASE);
    const int steps[] = {0, 5, 10, 15, 20, 22, 40, 35, 30, 25};
    const int step_levels[] = {3, 3, 3, 2, 2, 3, 3, 3, 2, 2};
    const int beyond[] = {100, 140, 180, 220}; /* 2,560 bytes apart: too far */
    const int beyond_levels[] = {3, 3, 3, 3};
    /* 20 brought 25 and 30, so going down meets them. */
    assert_levels(machine, arena, steps, step_levels);
    assert_levels(machine, arena, beyond, beyond_levels);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static void test_region_prefetcher(void **state) {
    (void)state;
    bj_machine *machine = open_prefetcher("region");
    bj_arena *arena = open_arena(machine, 1 << 20, BJ_PAGES_BASE);
    /* The fourth line of a region brings the others into the first level. */
    const int dense[] = {3, 17, 8, 25, 30, 0, 31, 32};
    const int dense_levels[] = {3, 3, 3, 3, 1, 1, 1, 3};
    assert_levels(machine, arena, dense, dense_levels);
    /* Pairs two lines apart, each in a region of its own: learnt after four. */
    for (uint64_t pair = 0; pair < 12; pair++) {
        uint64_t first = 4096 + pair * 96 + 5;
        assert_int_equal(load_from(machine, 0, arena, first * 64), 3);
        assert_int_equal(load_from(machine, 0, arena, (first + 2) * 64), pair < 4 ? 3 : 2);
    }
    /* Half of the seconds replaced by decoys: unlearnt. */
    unsigned met = 0;
    for (uint64_t pair = 0; pair < 40; pair++) {
        uint64_t first = 8192 + pair * 160 + 5;
        uint64_t second = pair % 2 == 0 ? 1024 + pair * 32 : first + 2;
        load_from(machine, 0, arena, first * 64);
        met += load_from(machine, 0, arena, second * 64) == 2;
    }
    assert_in_range(met, 0, 1);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

static const char *const three_levels =
    "{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": 4},"
    "{\"size\": 196608, \"ways\": 6, \"latency\": 12, \"mapped\": \"physical\"},"
    "{\"size\": 2097152, \"ways\": 16, \"latency\": 40, \"mapped\": \"physical\", \"index\": \"hashed\"%s}],"
    "\"tlbs\": [{\"entries\": 64, \"ways\": 4}, {\"entries\": 512, \"ways\": 4, \"latency\": 7}]%s}";

/* Taking independent levels one after the other counts what access by access does. */
static void count_both_ways(const char *last_level, const char *more, bj_sim_counts counts[2]) {
    char text[700];
    snprintf(text, sizeof text, three_levels, last_level, more);
    size_t count = 0;
    uint32_t *places = random_places(3 << 20, 64, 9, &count);
    for (int by_levels = 0; by_levels < 2; by_levels++) {
        bj_machine *machine = open_text(text, 7);
        bj_arena *arena = open_arena(machine, 4 << 20, BJ_PAGES_BASE);
        bj_sim_memory_system *memory = &self_of(machine)->memory;
        assert_true(memory->independent);
        memory->independent = by_levels;
        for (size_t part = 1; part <= 128; part *= 2)
            for (int lap = 0; lap < 3; lap++)
                bj_sim_visit_places(memory, cpu_of(machine, 0), arena->mapping, places, count / part, NULL);
        counts[by_levels] = cpu_of(machine, 0)->counts;
        machine->verbs->close_arena(machine, arena);
        close_machine(machine);
    }
    for (int i = 0; i < 4; i++)
        assert_true(counts[0].hits[i] > 500);
    free(places);
}

static void test_by_levels_counts_alike(void **state) {
    (void)state;
    bj_sim_counts counts[2];
    count_both_ways("", "", counts);
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    count_both_ways(", \"replacement\": \"plru\"", "", counts);
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    /* The last level alone draws, so that even its draws are the same. */
    count_both_ways(", \"replacement\": \"random\"", "", counts);
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
}

/* Prefetchers that wake at times, in every state between: the walks range from a few regions to thousands. */
static void test_by_levels_counts_alike_with_prefetchers(void **state) {
    (void)state;
    const char *const prefetchers[] = {"\"next_line\"", "\"adjacent\"", "\"region\"", "\"stride\", \"region\"",
                                       "\"next_line\", \"adjacent\", \"stride\", \"region\""};
    for (size_t i = 0; i < sizeof prefetchers / sizeof prefetchers[0]; i++) {
        char more[100];
        bj_sim_counts counts[2];
        snprintf(more, sizeof more, ", \"prefetchers\": [%s]", prefetchers[i]);
        count_both_ways("", more, counts);
        assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    }
}

/* Where nearer levels have settled, what they let through tells the farther ones everything. */
static void test_far_levels_need_only_what_passes(void **state) {
    (void)state;
    char text[600];
    snprintf(text, sizeof text, three_levels, ", \"replacement\": \"random\"", "");
    size_t count = 0, passing = 0;
    uint32_t *places = random_places(2200 << 10, 64, 9, &count), *passed = malloc(count * sizeof *passed);
    uint8_t *levels = malloc(count);
    assert_non_null(passed);
    assert_non_null(levels);
    bj_sim_counts laps[2];
    for (int far = 0; far < 2; far++) {
        bj_machine *machine = open_text(text, 7);
        bj_arena *arena = open_arena(machine, 4 << 20, BJ_PAGES_BASE);
        bj_sim_memory_system *memory = &self_of(machine)->memory;
        bj_sim_cpu *cpu = cpu_of(machine, 0);
        for (int lap = 0; lap < 2; lap++)
            bj_sim_visit_places(memory, cpu, arena->mapping, places, count, levels);
        passing = 0;
        for (size_t i = 0; i < count; i++) {
            passed[passing] = places[i];
            passing += levels[i] >= 2;
        }
        bj_sim_counts before = cpu->counts;
        if (far)
            bj_sim_visit_far_levels(memory, cpu, arena->mapping, passed, passing, 2);
        else
            bj_sim_visit_places(memory, cpu, arena->mapping, places, count, NULL);
        for (int i = 0; i < 4; i++)
            laps[far].hits[i] = cpu->counts.hits[i] - before.hits[i];
        machine->verbs->close_arena(machine, arena);
        close_machine(machine);
    }
    assert_int_equal(laps[1].hits[0] + laps[1].hits[1], 0);
    assert_int_equal(laps[0].hits[0] + laps[0].hits[1], count - passing);
    assert_true(laps[0].hits[2] > 500 && laps[0].hits[3] > 500);
    assert_int_equal(laps[0].hits[2], laps[1].hits[2]);
    assert_int_equal(laps[0].hits[3], laps[1].hits[3]);
    free(levels);
    free(passed);
    free(places);
}

/* A lap that is written down leaves what a simulated one leaves. */
static void check_cold_lap(const char *last_level, size_t bytes) {
    char text[600];
    snprintf(text, sizeof text, three_levels, last_level, "");
    size_t count = 0;
    uint32_t *places = random_places(bytes, 64, 11, &count);
    bj_sim_counts counts[2];
    for (int cold = 0; cold < 2; cold++) {
        bj_machine *machine = open_text(text, 7);
        bj_arena *arena = open_arena(machine, bytes, BJ_PAGES_BASE);
        bj_sim_memory_system *memory = &self_of(machine)->memory;
        bj_sim_cpu *cpu = cpu_of(machine, 0);
        bj_error error = {""};
        const bj_sim_lap_plan plan = {.simulated_from = count, .distinct = true};
        if (cold)
            assert_int_equal(bj_sim_write_cold_lap(memory, cpu, arena->mapping, places, &plan, &error), BJ_OK);
        else
            bj_sim_visit_places(memory, cpu, arena->mapping, places, count, NULL);
        bj_sim_counts before = cpu->counts;
        bj_sim_visit_places(memory, cpu, arena->mapping, places, count, NULL);
        for (int i = 0; i <= BJ_SIM_MAX_CACHES; i++)
            counts[cold].hits[i] = cpu->counts.hits[i] - before.hits[i];
        machine->verbs->close_arena(machine, arena);
        close_machine(machine);
    }
    assert_memory_equal(counts[0].hits, counts[1].hits, sizeof counts[0].hits);
    free(places);
}

static void test_cold_lap_leaves_the_same(void **state) {
    (void)state;
    const char *const kinds[] = {"", ", \"replacement\": \"plru\"", ", \"policy\": \"exclusive\"",
                                 ", \"policy\": \"exclusive\", \"replacement\": \"plru\""};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        check_cold_lap(kinds[i], 150 << 10);
        check_cold_lap(kinds[i], 1900 << 10);
        check_cold_lap(kinds[i], 2300 << 10);
        check_cold_lap(kinds[i], 3000 << 10);
    }
}

/* Lines of 256 bytes visited four times a lap: the last visit decides. */
static void test_cold_lap_with_long_lines(void **state) {
    (void)state;
    const char *text = "{\"name\": \"x\", \"caches\": [{\"size\": 65536, \"line\": 256, \"ways\": 4, \"latency\": 4},"
                       "{\"size\": 1048576, \"line\": 256, \"ways\": 16, \"latency\": 40}]}";
    size_t count = 0;
    uint32_t *places = random_places(1200 << 10, 64, 5, &count);
    uint64_t hits[2];
    for (int cold = 0; cold < 2; cold++) {
        bj_machine *machine = open_text(text, 7);
        bj_arena *arena = open_arena(machine, 1200 << 10, BJ_PAGES_BASE);
        bj_sim_memory_system *memory = &self_of(machine)->memory;
        bj_sim_cpu *cpu = cpu_of(machine, 0);
        bj_error error = {""};
        const bj_sim_lap_plan plan = {.simulated_from = count};
        if (cold)
            assert_int_equal(bj_sim_write_cold_lap(memory, cpu, arena->mapping, places, &plan, &error), BJ_OK);
        else
            bj_sim_visit_places(memory, cpu, arena->mapping, places, count, NULL);
        uint64_t before = cpu->counts.hits[1];
        bj_sim_visit_places(memory, cpu, arena->mapping, places, count / 2, NULL);
        hits[cold] = cpu->counts.hits[1] - before;
        machine->verbs->close_arena(machine, arena);
        close_machine(machine);
    }
    assert_in_range(hits[1], hits[0] * 99 / 100, hits[0] * 101 / 100);
    free(places);
}

static void test_prefetchers_sleep_through_random_orders(void **state) {
    (void)state;
    bj_sim_spec *spec = calloc(1, sizeof *spec);
    assert_non_null(spec);
    size_t count = 0;
    uint32_t *random = random_places(16 << 20, 64, 2, &count);
    uint32_t *ascending = malloc(count * sizeof *ascending);
    assert_non_null(ascending);
    for (size_t i = 0; i < count; i++)
        ascending[i] = (uint32_t)i * 8;
    spec->prefetchers = BJ_SIM_STRIDE | BJ_SIM_REGION;
    assert_true(bj_sim_prefetchers_sleep(spec, random, count));
    assert_false(bj_sim_prefetchers_sleep(spec, ascending, count));
    spec->prefetchers = BJ_SIM_REGION;
    assert_false(bj_sim_prefetchers_sleep(spec, ascending, count));
    spec->prefetchers = BJ_SIM_ADJACENT;
    assert_false(bj_sim_prefetchers_sleep(spec, random, count));
    free(ascending);
    free(random);
    free(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exclusive_holds_what_was_evicted),
        cmocka_unit_test(test_exclusive_levels_in_a_row),
        cmocka_unit_test(test_inclusive_takes_nearer_copies_along),
        cmocka_unit_test(test_inclusive_lines_may_be_longer),
        cmocka_unit_test(test_random_frames_are_distinct_and_new_each_time),
        cmocka_unit_test(test_coloured_and_contiguous_frames),
        cmocka_unit_test(test_huge_pages_are_contiguous_inside),
        cmocka_unit_test(test_physical_sets_follow_the_frames),
        cmocka_unit_test(test_tlb_levels),
        cmocka_unit_test(test_prefetchers_of_neighbours),
        cmocka_unit_test(test_region_prefetcher),
        cmocka_unit_test(test_by_levels_counts_alike),
        cmocka_unit_test(test_by_levels_counts_alike_with_prefetchers),
        cmocka_unit_test(test_far_levels_need_only_what_passes),
        cmocka_unit_test(test_cold_lap_leaves_the_same),
        cmocka_unit_test(test_cold_lap_with_long_lines),
        cmocka_unit_test(test_prefetchers_sleep_through_random_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
