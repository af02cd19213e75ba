/* The seam on the machine that we run on: experiments run and give plausible samples. What they are is not asserted. */
#include "native_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/walk_order.h"

#define SMALL_BYTES 4096u
#define LARGE_BYTES (1u << 20)
#define REPETITIONS_MAX 8u

static bj_arena *open_arena(size_t bytes, bj_pages pages) {
    bj_arena *arena = NULL;
    bj_error error = {""};
    bj_status status = machine->verbs->open_arena(machine, bytes, pages, machine->facts.cpus[0], &arena, &error);
    if (status == BJ_ERR_UNSUPPORTED && pages == BJ_PAGES_HUGE) {
        assert_true(strlen(error.text) > 0);
        return NULL;
    }
    if (status != BJ_OK)
        fail_msg("%s", error.text);
    assert_non_null(arena);
    return arena;
}

static uint32_t *order_places(size_t bytes, uint64_t seed, size_t *count) {
    bj_walk_shape shape = {.bytes = bytes, .grain_bytes = 64, .page_bytes = 4096};
    bj_random random;
    bj_random_seed(&random, seed);
    *count = bj_machine_count_places(BJ_ORDER_RANDOM, &shape);
    uint32_t *places = malloc(*count * sizeof *places);
    assert_non_null(places);
    bj_machine_order_places(BJ_ORDER_RANDOM, &shape, &random, places);
    return places;
}

/* Runs the walks; samples beyond what was asked for must stay as they are. */
static void run(const bj_walk *walks, size_t walk_count, unsigned repetitions, double *ns) {
    enum { UNTOUCHED = -7 };
    double room[2 * REPETITIONS_MAX + 1];
    bj_walk_effort effort = {.repetitions = repetitions};
    bj_error error = {""};
    size_t samples = walk_count * repetitions;
    for (size_t i = 0; i <= samples; i++)
        room[i] = UNTOUCHED;
    if (machine->verbs->run_walks(machine, walks, walk_count, &effort, room, &error) != BJ_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < samples; i++)
        assert_true(isfinite(room[i]) && room[i] > 0);
    assert_true(room[samples] == UNTOUCHED);
    memcpy(ns, room, samples * sizeof *ns);
}

static double least(const double *ns, size_t count) {
    double low = ns[0];
    for (size_t i = 1; i < count; i++)
        low = fmin(low, ns[i]);
    return low;
}

static double walk_once(bj_arena *arena, size_t bytes, unsigned repetitions) {
    double ns[REPETITIONS_MAX];
    size_t count;
    uint32_t *places = order_places(bytes, 3, &count);
    bj_walk walk = {.arena = arena, .cpu = machine->facts.cpus[0], .places = places, .count = count};
    run(&walk, 1, repetitions, ns);
    free(places);
    return least(ns, repetitions);
}

static void test_facts(void **state) {
    (void)state;
    assert_true(machine->facts.cpu_count > 0);
    assert_true(machine->facts.page_bytes >= 4096);
    assert_true(machine->facts.memory_limit_bytes > 0);
    assert_false(machine->facts.simulated);
    assert_string_equal(machine->facts.where, "native");
    double before = machine->verbs->read_clock(machine);
    assert_true(before >= 0 && machine->verbs->read_clock(machine) >= before);
}

static void test_walks_on_base_pages(void **state) {
    (void)state;
    bj_arena *arena = open_arena(LARGE_BYTES, BJ_PAGES_BASE);
    for (unsigned repetitions = 1; repetitions <= 5; repetitions += 2)
        walk_once(arena, SMALL_BYTES, repetitions);
    /* A larger working set is not faster by more than noise: the best of several tries of either. */
    double small = INFINITY, large = INFINITY;
    for (int i = 0; i < 3; i++) {
        small = fmin(small, walk_once(arena, SMALL_BYTES, 4));
        large = fmin(large, walk_once(arena, LARGE_BYTES, 4));
    }
    assert_true(large > 0.7 * small);
    machine->verbs->close_arena(machine, arena);
}

static void test_walks_on_huge_pages(void **state) {
    (void)state;
    bj_arena *arena = open_arena(machine->facts.huge_bytes > 0 ? machine->facts.huge_bytes : 2u << 20, BJ_PAGES_HUGE);
    if (arena == NULL) /* none are granted here, and that was said */
        skip();
    walk_once(arena, LARGE_BYTES, 3);
    machine->verbs->close_arena(machine, arena);
}

static void test_a_single_place(void **state) {
    (void)state;
    bj_arena *arena = open_arena(SMALL_BYTES, BJ_PAGES_BASE);
    const uint32_t place = 8;
    double ns[2];
    bj_walk walk = {.arena = arena, .cpu = machine->facts.cpus[0], .places = &place, .count = 1};
    run(&walk, 1, 2, ns);
    machine->verbs->close_arena(machine, arena);
}

/* On one cpu they take turns; the barrier must let them. */
static void test_two_walks_at_once(void **state) {
    (void)state;
    int first = machine->facts.cpus[0], other = machine->facts.cpus[machine->facts.cpu_count - 1];
    bj_arena *arenas[2] = {open_arena(SMALL_BYTES, BJ_PAGES_BASE), open_arena(LARGE_BYTES, BJ_PAGES_BASE)};
    size_t counts[2];
    uint32_t *places[2] = {order_places(SMALL_BYTES, 1, &counts[0]), order_places(LARGE_BYTES, 2, &counts[1])};
    bj_walk walks[2] = {{.arena = arenas[0], .cpu = first, .places = places[0], .count = counts[0]},
                        {.arena = arenas[1], .cpu = other, .places = places[1], .count = counts[1]}};
    double ns[2 * 3];
    run(walks, 2, 3, ns);
    for (int i = 0; i < 2; i++) {
        free(places[i]);
        machine->verbs->close_arena(machine, arenas[i]);
    }
}

static void test_two_walks_on_one_cpu(void **state) {
    (void)state;
    bj_arena *arena = open_arena(2 * SMALL_BYTES, BJ_PAGES_BASE);
    size_t count;
    uint32_t *low = order_places(SMALL_BYTES, 1, &count), *high = order_places(SMALL_BYTES, 2, &count);
    for (size_t i = 0; i < count; i++)
        high[i] += SMALL_BYTES / BJ_WALK_WORD_BYTES;
    int cpu = machine->facts.cpus[0];
    bj_walk walks[2] = {{.arena = arena, .cpu = cpu, .places = low, .count = count},
                        {.arena = arena, .cpu = cpu, .places = high, .count = count}};
    double ns[2 * 2];
    run(walks, 2, 2, ns);
    free(high);
    free(low);
    machine->verbs->close_arena(machine, arena);
}

/* The walk that can start must not wait for the one that cannot, and the error is that one's. */
static void test_a_walk_that_cannot_start(void **state) {
    (void)state;
    bj_arena *arena = open_arena(2 * SMALL_BYTES, BJ_PAGES_BASE);
    size_t count;
    uint32_t *places = order_places(SMALL_BYTES, 1, &count);
    bj_walk walks[2] = {{.arena = arena, .cpu = machine->facts.cpus[0], .places = places, .count = count},
                        {.arena = arena, .cpu = 1 << 20, .places = places, .count = count}};
    bj_walk_effort effort = {.repetitions = 2};
    double ns[2 * 2], before = machine->verbs->read_clock(machine);
    bj_error error = {""};
    assert_int_not_equal(machine->verbs->run_walks(machine, walks, 2, &effort, ns, &error), BJ_OK);
    assert_true(machine->verbs->read_clock(machine) - before < 10);
    assert_non_null(strstr(error.text, "1048576"));
    free(places);
    machine->verbs->close_arena(machine, arena);
}

static void test_more_accesses_when_asked(void **state) {
    (void)state;
    bj_arena *arena = open_arena(SMALL_BYTES, BJ_PAGES_BASE);
    size_t count;
    uint32_t *places = order_places(SMALL_BYTES, 1, &count);
    bj_walk walk = {.arena = arena, .cpu = machine->facts.cpus[0], .places = places, .count = count};
    bj_walk_effort effort = {.repetitions = 1, .min_accesses = 20000000};
    double ns = 0, before = machine->verbs->read_clock(machine);
    bj_error error = {""};
    if (machine->verbs->run_walks(machine, &walk, 1, &effort, &ns, &error) != BJ_OK)
        fail_msg("%s", error.text);
    /* By the machine's own clock that many accesses fit into the time that the call took. */
    double took_ns = 1e9 * (machine->verbs->read_clock(machine) - before);
    assert_true(ns > 0 && ns * (double)effort.min_accesses <= took_ns);
    free(places);
    machine->verbs->close_arena(machine, arena);
}

static void test_an_unknown_cpu_is_an_error(void **state) {
    (void)state;
    bj_arena *arena = NULL;
    bj_error error = {""};
    assert_int_not_equal(machine->verbs->open_arena(machine, SMALL_BYTES, BJ_PAGES_BASE, 1 << 20, &arena, &error),
                         BJ_OK);
    assert_null(arena);
    assert_true(strlen(error.text) > 0);
}

static void test_chain_of_additions(void **state) {
    (void)state;
    bj_chain chain = {.cpu = machine->facts.cpus[0], .type = "int32", .operation = "add", .abreast = 1};
    double ns[6] = {0, 0, 0, 0, 0, -7};
    bj_error error = {""};
    if (machine->verbs->run_chains(machine, &chain, 1, 5, ns, &error) != BJ_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < 5; i++)
        assert_true(isfinite(ns[i]) && ns[i] > 0);
    assert_true(ns[5] == -7);
    /* Both lengths tell the time of one step. */
    double twice;
    chain.unroll = BJ_WORK_TWICE;
    assert_int_equal(machine->verbs->run_chains(machine, &chain, 1, 1, &twice, &error), BJ_OK);
    assert_true(isfinite(twice) && twice > 0);
}

static void test_unknown_chains_are_unsupported(void **state) {
    (void)state;
    const bj_chain chains[] = {{machine->facts.cpus[0], "int32", "conjugate", NULL, 1, BJ_UNROLL_ONCE},
                               {machine->facts.cpus[0], "int3", "add", NULL, 1, BJ_UNROLL_ONCE}};
    for (size_t i = 0; i < 2; i++) {
        double ns = -7;
        bj_error error = {""};
        assert_int_equal(machine->verbs->run_chains(machine, &chains[i], 1, 1, &ns, &error), BJ_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.text, chains[i].operation));
        assert_true(isnan(ns));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_walks_on_base_pages),
        cmocka_unit_test(test_walks_on_huge_pages),
        cmocka_unit_test(test_a_single_place),
        cmocka_unit_test(test_two_walks_at_once),
        cmocka_unit_test(test_two_walks_on_one_cpu),
        cmocka_unit_test(test_a_walk_that_cannot_start),
        cmocka_unit_test(test_more_accesses_when_asked),
        cmocka_unit_test(test_an_unknown_cpu_is_an_error),
        cmocka_unit_test(test_chain_of_additions),
        cmocka_unit_test(test_unknown_chains_are_unsupported),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
