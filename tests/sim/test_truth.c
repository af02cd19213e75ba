/* Two models of every machine of the zoo must agree: the simulator, walked at sizes just below and just above an edge,
 * and the effective sizes that truth.py works out set by set (truth.json), which shares no code with it. And truth.json
 * must still be what truth.py says of a few machines. */
#include "zoo_fixture.h"

/* Few pages decide where a walk over a cache that is larger than a page a way has its edge; both sides average over
 * draws. */
enum {
    DRAWS_EVEN = 2,
    DRAWS_TINY = 400,
    DRAWS_SMALL = 40,
    DRAWS_LARGE = 10,
    TINY = 1 << 18,
    SMALL = 4 << 20,
    LAPS = 8
};
static const double TOLERANCE_EVEN = 0.02, TOLERANCE_UNEVEN = 0.08;

/* Mean cycles of walks over `bytes`, each line of the first level once a lap, right after the first lap or after many.
 */
static double mean_cycles(bj_machine *machine, size_t bytes, size_t line, unsigned draws, bool many_laps) {
    bool huge = machine->facts.huge_bytes > 0;
    double sum = 0;
    for (unsigned i = 0; i < draws; i++) {
        bj_arena *arena = open_arena(machine, bytes, huge ? BJ_PAGES_HUGE : BJ_PAGES_BASE);
        size_t count = 0;
        uint32_t *places = random_places(bytes / line * line, line, i + 1, &count);
        bj_walk walk = {.arena = arena, .cpu = machine->facts.cpus[0], .places = places, .count = count};
        bj_walk_effort effort = {.repetitions = many_laps ? LAPS : 2, .min_accesses = many_laps ? count : 0};
        double ns[LAPS];
        bj_error error = {""};
        if (machine->verbs->run_walks(machine, &walk, 1, &effort, ns, &error) != BJ_OK)
            fail_msg("%s", error.text);
        sum += ns[effort.repetitions - 1] * self_of(machine)->spec->clock_ghz;
        free(places);
        machine->verbs->close_arena(machine, arena);
    }
    return sum / draws;
}

static int check_level(bj_machine *machine, size_t level, double truth) {
    const bj_sim_spec *spec = self_of(machine)->spec;
    const bj_sim_cache_spec *cache = &spec->caches[level];
    double next = level + 1 < spec->cache_count ? cache[1].latency_cycles : spec->memory_latency_cycles;
    double limit = cache->latency_cycles + 0.1 * (next - cache->latency_cycles);
    size_t page = machine->facts.huge_bytes > 0 ? machine->facts.huge_bytes : machine->facts.page_bytes;
    bool uneven = cache->mapped == BJ_SIM_PHYSICAL && cache->sets * cache->line_bytes > page;
    /* LRU is in its stride after one lap. */
    bool many_laps = cache->replacement != BJ_SIM_LRU;
    double tolerance = uneven ? TOLERANCE_UNEVEN : TOLERANCE_EVEN;
    unsigned draws = truth < TINY ? DRAWS_TINY : truth < SMALL ? DRAWS_SMALL : DRAWS_LARGE;
    draws = uneven ? draws : DRAWS_EVEN;
    /* One walk for all levels: in steps of the first one's lines. */
    size_t line = spec->caches[0].line_bytes;
    double below = mean_cycles(machine, (size_t)(truth * (1 - tolerance)), line, draws, many_laps);
    double above = mean_cycles(machine, (size_t)(truth * (1 + tolerance)), line, draws, many_laps);
    if (below <= limit && above > limit)
        return 0;
    print_error("%s L%zu: %.2f cycles below and %.2f above %.0f bytes, where the limit is %.2f\n", spec->name,
                level + 1, below, above, truth, limit);
    return 1;
}

static int check_machine(const char *path, json_t *truth) {
    bj_machine *machine = NULL;
    bj_error error = {""};
    if (bj_machine_open_simulated(path, 1, &machine, &error) != BJ_OK)
        fail_msg("%s", error.text);
    /* The sizes of the caches alone: without noise and TLBs. */
    json_t *keys = json_object_get(truth, "characteristics"), *notes = json_object_get(truth, "notes");
    bj_sim_spec *spec = self_of(machine)->spec;
    spec->jitter = spec->spike_rate = spec->drift = spec->neighbour = 0;
    spec->tlb_count = 0;
    int wrong = json_integer_value(json_object_get(keys, "cache.levels")) != (json_int_t)spec->cache_count;
    for (size_t level = 0; level < spec->cache_count; level++) {
        char key[64];
        snprintf(key, sizeof key, "cache.L%zu.size_bytes_without_tlb", level + 1);
        json_t *size = json_object_get(notes, key);
        if (size == NULL) { /* the TLBs make no difference */
            snprintf(key, sizeof key, "cache.L%zu.size_bytes", level + 1);
            size = json_object_get(keys, key);
        }
        wrong += check_level(machine, level, json_number_value(size));
    }
    close_machine(machine);
    return wrong;
}

static void test_simulator_agrees_with_truth(void **state) {
    (void)state;
    json_t *truths = load_truths();
    const char *name;
    json_t *truth;
    int wrong = 0;
    json_object_foreach(truths, name, truth) {
        char path[600];
        snprintf(path, sizeof path, "%s/machines/%s.json", BJ_SOURCE_DIR, name);
        wrong += check_machine(path, truth);
    }
    assert_in_range(json_object_size(truths), 30, 60);
    json_decref(truths);
    assert_int_equal(wrong, 0);
}

static void test_truth_is_current(void **state) {
    (void)state;
    if (system("python3 --version > /dev/null 2>&1") != 0)
        skip();
    const char *command = "cd '" BJ_SOURCE_DIR "' && python3 tests/sim/truth.py --check tests/sim/truth.json "
                          "machines/l2_768k.json machines/atom.json machines/three_way.json machines/no_l3.json";
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulator_agrees_with_truth),
        cmocka_unit_test(test_truth_is_current),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
