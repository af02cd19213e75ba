/* Streams, chains side by side and bouncing lines on the machine that we run on: plausible, never exact. */
#include "native_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "machine/walk_order.h"

#define FIRST_LEVEL_BYTES 8192u
#define MEMORY_BYTES (64u << 20)
#define TRIES 4
/* Neighbours and throttling: what is compared may be off by so much. */
#define MARGIN 0.7

static bj_arena *open_arena(size_t bytes) {
    bj_arena *arena = NULL;
    bj_error error = {""};
    if (machine->verbs->open_arena(machine, bytes, BJ_PAGES_BASE, machine->facts.cpus[0], &arena, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return arena;
}

static double best_gbs(bj_arena *arena, bj_stream_kind kind, size_t bytes) {
    bj_stream stream = {.arena = arena, .cpu = machine->facts.cpus[0], .kind = kind, .bytes = bytes};
    bj_stream_effort effort = {.repetitions = TRIES};
    double gbs[TRIES + 1], best = 0;
    bj_error error = {""};
    gbs[TRIES] = -7;
    if (machine->verbs->run_streams(machine, &stream, 1, &effort, gbs, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_true(gbs[TRIES] == -7);
    for (int i = 0; i < TRIES; i++) {
        assert_true(isfinite(gbs[i]) && gbs[i] > 0);
        best = fmax(best, gbs[i]);
    }
    return best;
}

static void test_near_is_no_slower_than_far(void **state) {
    (void)state;
    const bj_stream_kind kinds[] = {BJ_STREAM_READ, BJ_STREAM_WRITE, BJ_STREAM_COPY};
    bj_arena *arena = open_arena(MEMORY_BYTES);
    for (size_t i = 0; i < 3; i++)
        assert_true(best_gbs(arena, kinds[i], FIRST_LEVEL_BYTES) > MARGIN * best_gbs(arena, kinds[i], MEMORY_BYTES));
    machine->verbs->close_arena(machine, arena);
}

/* Streams that would not move what they say would be too fast: a core moves no kilobyte a nanosecond. */
static void test_streams_move_data(void **state) {
    (void)state;
    bj_arena *arena = open_arena(FIRST_LEVEL_BYTES);
    assert_true(best_gbs(arena, BJ_STREAM_READ, FIRST_LEVEL_BYTES) < 1000);
    assert_true(best_gbs(arena, BJ_STREAM_WRITE, BJ_STREAM_MULTIPLE_BYTES) < 1000);
    assert_true(best_gbs(arena, BJ_STREAM_COPY, FIRST_LEVEL_BYTES) < 1000);
    machine->verbs->close_arena(machine, arena);
}

/* All of a range and nothing beyond it, whichever stores. */
static void test_stores_write_what_they_should(void **state) {
    (void)state;
    const bj_stream_kernels *kernels = bj_kernel_pick_streams();
    enum { BYTES = 4 * BJ_KERNEL_STREAM_BLOCK, GUARD = 64 };
    uint64_t *source = aligned_alloc(64, BYTES), *target = aligned_alloc(64, BYTES + GUARD);
    assert_non_null(source);
    assert_non_null(target);
    for (size_t past = 0; past < (kernels->write_past != NULL ? 2u : 1u); past++) {
        for (size_t i = 0; i < BYTES / 8; i++)
            source[i] = 1000 + i;
        memset(target, 0xa5, BYTES + GUARD);
        (past ? kernels->copy_past : kernels->copy)(target, source, BYTES, 1);
        assert_memory_equal(target, source, BYTES);
        (past ? kernels->write_past : kernels->write)(target, BYTES, 1, 77);
        for (size_t i = 0; i < BYTES / 8; i++)
            assert_int_equal(target[i], 77);
        for (size_t i = 0; i < GUARD; i++)
            assert_int_equal(((unsigned char *)target)[BYTES + i], 0xa5);
    }
    free(target);
    free(source);
}

static void test_two_streams_at_once(void **state) {
    (void)state;
    int first = machine->facts.cpus[0], other = machine->facts.cpus[machine->facts.cpu_count - 1];
    bj_arena *arenas[2] = {open_arena(FIRST_LEVEL_BYTES), open_arena(1u << 20)};
    const bj_stream streams[2] = {
        {.arena = arenas[0], .cpu = first, .kind = BJ_STREAM_COPY, .bytes = FIRST_LEVEL_BYTES},
        {.arena = arenas[1], .cpu = other, .kind = BJ_STREAM_READ, .bytes = 1u << 20}};
    bj_stream_effort effort = {.repetitions = 2, .min_bytes = 1u << 20};
    double gbs[4] = {0};
    bj_error error = {""};
    assert_int_equal(machine->verbs->run_streams(machine, streams, 2, &effort, gbs, &error), BJ_OK);
    for (int i = 0; i < 4; i++)
        assert_true(isfinite(gbs[i]) && gbs[i] > 0);
    for (int i = 0; i < 2; i++)
        machine->verbs->close_arena(machine, arenas[i]);
}

static void test_wrong_streams_are_refused(void **state) {
    (void)state;
    bj_arena *arena = open_arena(FIRST_LEVEL_BYTES);
    int cpu = machine->facts.cpus[0];
    const bj_stream wrong[] = {{.arena = arena, .cpu = cpu, .bytes = 100},
                               {.arena = arena, .cpu = cpu, .first_byte = 2048, .bytes = FIRST_LEVEL_BYTES}};
    bj_stream_effort effort = {.repetitions = 1};
    double gbs = 0;
    bj_error error = {""};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(machine->verbs->run_streams(machine, &wrong[i], 1, &effort, &gbs, &error), BJ_ERR_USAGE);
    machine->verbs->close_arena(machine, arena);
}

static double walk_chains(bj_arena *arena, size_t bytes, unsigned chains) {
    bj_walk_shape shape = {.bytes = bytes, .grain_bytes = 64, .page_bytes = 4096};
    bj_random random;
    bj_random_seed(&random, 3);
    size_t count = bj_machine_count_places(BJ_ORDER_RANDOM, &shape);
    uint32_t *places = malloc(count * sizeof *places);
    assert_non_null(places);
    bj_machine_order_places(BJ_ORDER_RANDOM, &shape, &random, places);
    bj_walk walk = {.arena = arena,
                    .cpu = machine->facts.cpus[0],
                    .places = places,
                    .count = count - count % (chains > 0 ? chains : 1),
                    .chains = chains};
    bj_walk_effort effort = {.repetitions = TRIES};
    double ns[TRIES], least = INFINITY;
    bj_error error = {""};
    if (machine->verbs->run_walks(machine, &walk, 1, &effort, ns, &error) != BJ_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < TRIES; i++) {
        assert_true(isfinite(ns[i]) && ns[i] > 0);
        least = fmin(least, ns[i]);
    }
    free(places);
    return least;
}

/* Each has its loop; one that mixed up its pointers would walk out of the arena. */
static void test_all_numbers_of_chains(void **state) {
    (void)state;
    bj_arena *arena = open_arena(1u << 20);
    for (unsigned chains = 0; chains <= BJ_WALK_CHAINS_MAX; chains++)
        walk_chains(arena, 65536, chains);
    machine->verbs->close_arena(machine, arena);
}

/* Four chains take less time an access than one: on any core that has more than one load in flight. */
static void test_chains_overlap(void **state) {
    (void)state;
    bj_arena *arena = open_arena(MEMORY_BYTES);
    double one = walk_chains(arena, MEMORY_BYTES, 1), four = walk_chains(arena, MEMORY_BYTES, 4);
    assert_true(four < 1.2 * one);
    machine->verbs->close_arena(machine, arena);
}

static void test_bounces(void **state) {
    (void)state;
    bj_arena *arena = open_arena(8192);
    int cpu_a = machine->facts.cpus[0], cpu_b = machine->facts.cpus[machine->facts.cpu_count - 1];
    double together[TRIES], apart[TRIES], ns = 0;
    bj_error error = {""};
    bj_bounce words = {.arena = arena, .cpu_a = cpu_a, .cpu_b = cpu_b, .word_a = 0, .word_b = 1};
    if (cpu_a == cpu_b) {
        assert_int_equal(machine->verbs->run_bounce(machine, &words, 1, &ns, &error), BJ_ERR_USAGE);
        machine->verbs->close_arena(machine, arena);
        skip();
    }
    if (machine->verbs->run_bounce(machine, &words, TRIES, together, &error) != BJ_OK)
        fail_msg("%s", error.text);
    words.word_b = 512;
    if (machine->verbs->run_bounce(machine, &words, TRIES, apart, &error) != BJ_OK)
        fail_msg("%s", error.text);
    double least_together = INFINITY, least_apart = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        least_together = fmin(least_together, together[i]);
        least_apart = fmin(least_apart, apart[i]);
    }
    assert_true(isfinite(least_together) && least_apart > 0);
    assert_true(least_together > MARGIN * least_apart);
    machine->verbs->close_arena(machine, arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_is_no_slower_than_far),
        cmocka_unit_test(test_streams_move_data),
        cmocka_unit_test(test_stores_write_what_they_should),
        cmocka_unit_test(test_two_streams_at_once),
        cmocka_unit_test(test_wrong_streams_are_refused),
        cmocka_unit_test(test_all_numbers_of_chains),
        cmocka_unit_test(test_chains_overlap),
        cmocka_unit_test(test_bounces),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
