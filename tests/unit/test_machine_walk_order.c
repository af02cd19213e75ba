/* Visiting orders: every place once, inside the buffer, and in the order that the name promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine.h"
#include "machine/walk_order.h"

static const bj_walk_order all_orders[] = {BJ_ORDER_RANDOM, BJ_ORDER_PAGE_SEGMENTED, BJ_ORDER_STRIDE_1K,
                                           BJ_ORDER_PAIRS};

/* Sizes from one line to more than fits pages evenly, at the arena's start and inside it. */
static const bj_walk_shape shapes[] = {
    {0, 4096, 64, 4096, 64},        {0, 65536, 64, 4096, 1024},         {12288, 65536, 64, 4096, 128},
    {8192, 40000, 64, 4096, 1024},  {4096, 5120, 64, 4096, 1024},       {0, 64, 64, 4096, 64},
    {0, 1048576, 128, 4096, 1024},  {4096, 300032, 256, 512, 256},      {1 << 20, 8192, 64, 128, 4096},
    {1 << 20, 8256, 64, 128, 8192}, {65536, 1 << 19, 64, 1 << 16, 192}, {0, 8192, 512, 256, 512},
};
#define SHAPES (sizeof shapes / sizeof shapes[0])

static uint32_t *order_places(bj_walk_order order, const bj_walk_shape *shape, uint64_t seed, size_t *count) {
    bj_random random;
    bj_random_seed(&random, seed);
    *count = bj_machine_count_places(order, shape);
    uint32_t *places = malloc(*count * sizeof *places);
    assert_non_null(places);
    memset(places, 0xff, *count * sizeof *places);
    bj_machine_order_places(order, shape, &random, places);
    return places;
}

static uint64_t byte_of(uint32_t place) {
    return (uint64_t)place * BJ_WALK_WORD_BYTES;
}

static int compare_places(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* The places, sorted, are first_byte + i × step. */
static void assert_each_once(const uint32_t *places, size_t count, size_t first_byte, size_t step) {
    uint32_t *sorted = malloc(count * sizeof *sorted);
    assert_non_null(sorted);
    memcpy(sorted, places, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_places);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(byte_of(sorted[i]), first_byte + i * step);
    free(sorted);
}

static void test_every_place_once_and_inside(void **state) {
    (void)state;
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t o = 0; o < 4; o++) {
            const bj_walk_shape *shape = &shapes[s];
            size_t count, step = all_orders[o] == BJ_ORDER_STRIDE_1K ? 1024 : shape->grain_bytes;
            uint32_t *places = order_places(all_orders[o], shape, s, &count);
            assert_int_equal(count, shape->bytes >= step ? shape->bytes / step : 1);
            assert_each_once(places, count, shape->first_byte, step);
            for (size_t i = 0; i < count; i++) {
                assert_true(byte_of(places[i]) >= shape->first_byte);
                assert_true(byte_of(places[i]) + BJ_WALK_WORD_BYTES <= shape->first_byte + shape->bytes);
            }
            free(places);
        }
}

static void test_random_order_differs_by_seed(void **state) {
    (void)state;
    const bj_walk_order orders[] = {BJ_ORDER_RANDOM, BJ_ORDER_PAGE_SEGMENTED, BJ_ORDER_PAIRS};
    for (size_t o = 0; o < 3; o++) {
        size_t count;
        uint32_t *one = order_places(orders[o], &shapes[2], 1, &count);
        uint32_t *again = order_places(orders[o], &shapes[2], 1, &count);
        uint32_t *other = order_places(orders[o], &shapes[2], 2, &count);
        assert_memory_equal(one, again, count * sizeof *one);
        assert_memory_not_equal(one, other, count * sizeof *one);
        free(other);
        free(again);
        free(one);
    }
}

/* Of 16,384 places a shuffle leaves one where it was, and one is followed by its neighbour, on average. */
static void test_random_order_is_random(void **state) {
    (void)state;
    bj_walk_shape shape = {0, 1 << 20, 64, 4096, 0};
    size_t count, at_home = 0, neighbours = 0, same_page = 0;
    uint32_t *places = order_places(BJ_ORDER_RANDOM, &shape, 7, &count);
    for (size_t i = 0; i + 1 < count; i++) {
        at_home += byte_of(places[i]) == i * 64;
        neighbours += byte_of(places[i + 1]) == byte_of(places[i]) + 64;
        same_page += byte_of(places[i]) / 4096 == byte_of(places[i + 1]) / 4096;
    }
    assert_true(at_home < 12 && neighbours < 12);
    assert_true(same_page < 128); /* 64 expected of 256 pages */
    free(places);
}

/* In whole pages: those in order, their lines not. */
static void assert_pages_exhausted(const uint32_t *places, size_t count, const bj_walk_shape *shape) {
    size_t per_page = shape->page_bytes / shape->grain_bytes;
    bool shuffled_inside = false;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal((byte_of(places[i]) - shape->first_byte) / shape->page_bytes, i / per_page);
        shuffled_inside = shuffled_inside || (i % per_page > 0 && places[i] < places[i - 1]);
    }
    assert_true(shuffled_inside);
}

static void test_page_segmented_exhausts_a_page_first(void **state) {
    (void)state;
    const size_t chosen[] = {1, 2, 6, 10};
    for (size_t i = 0; i < 4; i++) {
        const bj_walk_shape *shape = &shapes[chosen[i]];
        size_t count;
        uint32_t *places = order_places(BJ_ORDER_PAGE_SEGMENTED, shape, i, &count);
        assert_pages_exhausted(places, count, shape);
        free(places);
    }
}

static void test_pairs_follow_each_other(void **state) {
    (void)state;
    for (size_t distance = 64; distance <= 1024; distance *= 2) {
        bj_walk_shape shape = {4096, 65536, 64, 4096, distance};
        size_t count, forward = 0, ascending = 0;
        uint32_t *places = order_places(BJ_ORDER_PAIRS, &shape, 5, &count), last = 0;
        assert_int_equal(count, 1024);
        for (size_t i = 0; i < count; i += 2) {
            assert_int_equal(byte_of(places[i]) ^ byte_of(places[i + 1]), distance);
            forward += places[i] < places[i + 1];
            uint32_t lower = places[i] < places[i + 1] ? places[i] : places[i + 1];
            ascending += i > 0 && byte_of(lower) == byte_of(last) + 64;
            last = lower;
        }
        /* In either direction, lest a next-line prefetcher is served: 256 expected, standard deviation 11. */
        assert_in_range(forward, 200, 312);
        assert_true(ascending < 12); /* one pair after its neighbour only by chance: once in 512 */
        free(places);
    }
}

static void test_stride_ascends_by_1k(void **state) {
    (void)state;
    for (size_t s = 0; s < SHAPES; s++) {
        size_t count;
        uint32_t *places = order_places(BJ_ORDER_STRIDE_1K, &shapes[s], s, &count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(byte_of(places[i]), shapes[s].first_byte + 1024 * i);
        free(places);
    }
}

static void test_sparse_has_one_of_each_group(void **state) {
    (void)state;
    const size_t one_in[] = {1, 2, 8, 64};
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t k = 0; k < 4; k++) {
            const bj_walk_shape *shape = &shapes[s];
            size_t group_bytes = shape->grain_bytes * one_in[k];
            if (shape->bytes < group_bytes)
                continue;
            size_t count = bj_machine_count_sparse(shape, one_in[k]);
            assert_int_equal(count, shape->bytes / group_bytes);
            uint32_t *places = malloc(count * sizeof *places);
            bool *seen = calloc(count, sizeof *seen);
            assert_true(places != NULL && seen != NULL);
            bj_random random;
            bj_random_seed(&random, s);
            bj_machine_order_sparse(shape, one_in[k], &random, places);
            for (size_t i = 0; i < count; i++) {
                assert_true(byte_of(places[i]) >= shape->first_byte);
                uint64_t offset = byte_of(places[i]) - shape->first_byte;
                assert_int_equal(offset % shape->grain_bytes, 0);
                assert_true(offset / group_bytes < count);
                assert_false(seen[offset / group_bytes]);
                seen[offset / group_bytes] = true;
            }
            free(seen);
            free(places);
        }
}

/* Every place of a group is taken at times: a fixed one would favour some cache sets. */
static void test_sparse_favours_no_place(void **state) {
    (void)state;
    bj_walk_shape shape = {0, 4 << 20, 64, 4096, 0};
    size_t count = bj_machine_count_sparse(&shape, 64), of_place[64] = {0};
    assert_int_equal(count, 1024);
    uint32_t places[1024];
    bj_random random;
    bj_random_seed(&random, 3);
    bj_machine_order_sparse(&shape, 64, &random, places);
    size_t ascending = 0;
    for (size_t i = 0; i < count; i++) {
        of_place[byte_of(places[i]) / 64 % 64]++;
        ascending += i > 0 && places[i] > places[i - 1];
    }
    for (size_t i = 0; i < 64; i++) /* 16 expected, standard deviation 4 */
        assert_in_range(of_place[i], 1, 40);
    assert_in_range(ascending, 400, 624);
}

/* A lap visits every page once, in the order of the laps before. */
static void test_page_walks_come_in_laps(void **state) {
    (void)state;
    const bj_page_walk_shape walks[] = {{0, 4096, 64, 100, 1},  {8192, 4096, 64, 100, 2},
                                        {0, 4096, 64, 1021, 8}, {65536, 65536, 64, 77, 3},
                                        {0, 4096, 64, 1, 1},    {1 << 21, 1 << 21, 64, 33, 2}};
    for (size_t i = 0; i < sizeof walks / sizeof walks[0]; i++) {
        const bj_page_walk_shape *walk = &walks[i];
        uint32_t places[1024];
        bj_random random;
        bj_random_seed(&random, i + 1);
        size_t pages = bj_machine_count_pages(walk);
        assert_int_equal(pages, (walk->count + walk->per_page - 1) / walk->per_page);
        bj_machine_order_pages(walk, &random, places);
        for (size_t k = 0; k < walk->count; k++) {
            assert_true(byte_of(places[k]) >= walk->first_byte && byte_of(places[k]) % walk->grain_bytes == 0);
            assert_true(byte_of(places[k]) < walk->first_byte + pages * walk->page_bytes);
            assert_int_equal(byte_of(places[k]) / walk->page_bytes, byte_of(places[k % pages]) / walk->page_bytes);
        }
        qsort(places, walk->count, sizeof places[0], compare_places);
        for (size_t k = 1; k < walk->count; k++)
            assert_true(places[k - 1] < places[k]);
    }
}

/* Whatever the number of places in a page, a walk over whole blocks visits all offsets within the page equally often.
 */
static void test_page_walks_are_even_over_offsets(void **state) {
    (void)state;
    for (size_t per_page = 1; per_page <= 8; per_page *= 2) {
        bj_page_walk_shape walk = {0, 4096, 64, 512, per_page};
        uint32_t places[512];
        unsigned visits[64] = {0};
        bj_random random;
        bj_random_seed(&random, per_page);
        bj_machine_order_pages(&walk, &random, places);
        for (size_t k = 0; k < 512; k++)
            visits[byte_of(places[k]) % 4096 / 64]++;
        for (size_t k = 0; k < 64; k++)
            assert_int_equal(visits[k], 8);
    }
}

/* Partners share every power of two above their distance as a page, and none up to it. */
static void test_partners_are_a_distance_apart(void **state) {
    (void)state;
    for (size_t distance = 64; distance <= 32768; distance *= 2) {
        bj_partner_walk_shape shape = {
            .block_bytes = 65536, .blocks = 200, .grain_bytes = 64, .distance_bytes = distance};
        uint32_t places[400];
        bj_random random;
        bj_random_seed(&random, distance);
        bj_machine_order_partners(&shape, &random, places);
        qsort(places, 400, sizeof places[0], compare_places);
        for (size_t i = 0; i < 400; i += 2) {
            uint64_t one = byte_of(places[i]), other = byte_of(places[i + 1]);
            assert_true(one / 65536 == i / 2 && other / 65536 == i / 2);
            assert_true(one / distance != other / distance);
            assert_true(one / (2 * distance) == other / (2 * distance));
        }
    }
}

/* Every grain once; a window has its turn twice, half of the walk apart, and no two neighbours in one turn. */
static void test_windows_have_two_turns(void **state) {
    (void)state;
    enum { WINDOW = 16384, WINDOWS = 20, PER_TURN = WINDOW / 64 / 2, COUNT = 2 * WINDOWS * PER_TURN };
    static const bj_window_walk_shape shape = {.first_byte = 8192,
                                               .bytes = WINDOWS * WINDOW + 4096,
                                               .window_bytes = WINDOW,
                                               .page_bytes = 4096,
                                               .grain_bytes = 64};
    static uint32_t places[COUNT];
    static bool seen[WINDOWS * WINDOW / 64];
    size_t in_order = 0, pages_by_odd[2] = {0};
    bj_random random;
    bj_random_seed(&random, 3);
    assert_int_equal(bj_machine_count_windows(&shape), WINDOWS);
    bj_machine_order_windows(&shape, &random, places);
    for (size_t i = 0; i < COUNT; i++) {
        size_t byte = byte_of(places[i]) - 8192, turn = i / PER_TURN, first = byte_of(places[turn * PER_TURN]) - 8192;
        assert_true(byte % 64 == 0 && byte < WINDOWS * WINDOW && !seen[byte / 64]);
        seen[byte / 64] = true;
        assert_int_equal(byte / WINDOW, first / WINDOW);
        /* The other turn is half of the walk away, and has the other half of the page. */
        size_t other = byte_of(places[(i + COUNT / 2) % COUNT]) - 8192;
        assert_int_equal(byte / WINDOW, other / WINDOW);
        for (size_t k = turn * PER_TURN; k < (turn + 1) * PER_TURN; k++) {
            size_t near = byte_of(places[k]) - 8192;
            assert_true(near / 4096 != byte / 4096 || near / 64 % 2 == byte / 64 % 2);
        }
        in_order += i > 0 && places[i] > places[i - 1];
        pages_by_odd[byte / 64 % 2] += i < COUNT / 2;
    }
    assert_in_range(in_order, COUNT * 0.45, COUNT * 0.55);
    assert_in_range(pages_by_odd[1], COUNT / 8, COUNT / 8 * 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_place_once_and_inside),
        cmocka_unit_test(test_random_order_differs_by_seed),
        cmocka_unit_test(test_random_order_is_random),
        cmocka_unit_test(test_page_segmented_exhausts_a_page_first),
        cmocka_unit_test(test_pairs_follow_each_other),
        cmocka_unit_test(test_stride_ascends_by_1k),
        cmocka_unit_test(test_sparse_has_one_of_each_group),
        cmocka_unit_test(test_sparse_favours_no_place),
        cmocka_unit_test(test_page_walks_come_in_laps),
        cmocka_unit_test(test_page_walks_are_even_over_offsets),
        cmocka_unit_test(test_partners_are_a_distance_apart),
        cmocka_unit_test(test_windows_have_two_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
