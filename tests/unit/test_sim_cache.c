/* One cache and one TLB level: traces that can be followed by hand, and loads of the sets. */
#include "sim_fixture.h"

#include "machine/sim/tlb.h"

static uint64_t random_state = 88172645463325252u;

typedef struct {
    bj_sim_cache_shape shape;
    bj_sim_cache cache;
} fixture;

static void open_fixture(fixture *made, uint64_t sets, uint64_t ways, int replacement, int index) {
    bj_sim_cache_spec spec = {
        .size_bytes = sets * ways * 64, .line_bytes = 64, .ways = ways, .sets = sets, .replacement = replacement};
    spec.index = index;
    made->shape = bj_sim_make_cache_shape(&spec);
    bj_error error = {""};
    assert_int_equal(bj_sim_open_cache(&made->cache, &made->shape, &random_state, &error), BJ_OK);
}

/* Uses a line of set 0 as a load would: true if it was there. */
static bool use(fixture *made, uint32_t line) {
    int way = bj_sim_find_line(&made->cache, 0, line);
    if (way >= 0)
        bj_sim_touch_way(&made->cache, 0, way);
    else
        bj_sim_insert_line(&made->cache, 0, line);
    return way >= 0;
}

static bool holds(fixture *made, uint32_t line) {
    return bj_sim_find_line(&made->cache, 0, line) >= 0;
}

static void test_lru_replaces_the_least_recently_used(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made, 1, 3, BJ_SIM_LRU, BJ_SIM_PLAIN);
    assert_false(use(&made, 1));
    assert_false(use(&made, 2));
    assert_false(use(&made, 3));
    assert_true(use(&made, 1));  /* order 1 3 2 */
    assert_false(use(&made, 4)); /* 2 goes */
    assert_false(holds(&made, 2));
    assert_true(use(&made, 3));
    assert_false(use(&made, 5)); /* order was 3 4 1 */
    assert_false(holds(&made, 1));
    assert_true(holds(&made, 3) && holds(&made, 4) && holds(&made, 5));
    bj_sim_close_cache(&made.cache);
}

static void test_lru_in_one_step_is_the_same(void **state) {
    (void)state;
    const uint64_t ways[] = {1, 2, 3, 4, 7, 8, 12, 15, 16, 20, 33};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        fixture slow, fast;
        open_fixture(&slow, 1, ways[i], BJ_SIM_LRU, BJ_SIM_PLAIN);
        open_fixture(&fast, 1, ways[i], BJ_SIM_LRU, BJ_SIM_PLAIN);
        bj_random random;
        bj_random_seed(&random, ways[i]);
        for (int j = 0; j < 2000; j++) {
            uint32_t line = (uint32_t)bj_random_below(&random, ways[i] + 2);
            bool hit = bj_sim_lru_use(fast.cache.tags, fast.shape.ways, fast.shape.stride, line);
            assert_int_equal(hit, use(&slow, line));
            assert_memory_equal(fast.cache.tags, slow.cache.tags, fast.shape.stride * sizeof(uint32_t));
        }
        bj_sim_close_cache(&slow.cache);
        bj_sim_close_cache(&fast.cache);
    }
}

static void test_a_removed_line_leaves_the_order(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made, 1, 4, BJ_SIM_LRU, BJ_SIM_PLAIN);
    for (uint32_t line = 1; line <= 4; line++)
        use(&made, line);
    bj_sim_remove_way(&made.cache, 0, bj_sim_find_line(&made.cache, 0, 3));
    assert_false(use(&made, 5)); /* takes the free way */
    assert_true(holds(&made, 1) && holds(&made, 2) && holds(&made, 4));
    assert_false(use(&made, 6)); /* 1 is the oldest */
    assert_false(holds(&made, 1));
    bj_sim_close_cache(&made.cache);
}

static void test_tree_plru_follows_its_bits(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made, 1, 4, BJ_SIM_PLRU, BJ_SIM_PLAIN);
    for (uint32_t line = 1; line <= 4; line++)
        use(&made, line);
    /* All bits point left: touching 1 turns the root to the right half, where 4 was last: 3 is next. LRU says 2. */
    assert_true(use(&made, 1));
    assert_false(use(&made, 5));
    assert_false(holds(&made, 3));
    /* Root left again; in the left half 1 was last, so 2 goes. */
    assert_false(use(&made, 6));
    assert_false(holds(&made, 2));
    /* Then the right half, where 5 was last. */
    assert_false(use(&made, 7));
    assert_false(holds(&made, 4));
    assert_true(holds(&made, 1));
    bj_sim_close_cache(&made.cache);
}

static void test_tree_plru_misses_go_round(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made, 1, 8, BJ_SIM_PLRU, BJ_SIM_PLAIN);
    const uint32_t ways[] = {0, 4, 2, 6, 1, 5, 3, 7};
    for (uint32_t line = 0; line < 8; line++)
        use(&made, line);
    for (uint32_t line = 8; line < 24; line++) {
        use(&made, line);
        assert_int_equal(bj_sim_find_line(&made.cache, 0, line), ways[line % 8]);
    }
    bj_sim_close_cache(&made.cache);
}

static void test_bit_plru_clears_when_all_are_set(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made, 1, 3, BJ_SIM_PLRU, BJ_SIM_PLAIN);
    for (uint32_t line = 1; line <= 3; line++)
        use(&made, line);
    /* The third set all bits and so cleared the others': ways 0 and 1 are free to go. */
    assert_true(use(&made, 1));
    assert_false(use(&made, 4)); /* way 1; all set again, only its own stays */
    assert_false(holds(&made, 2));
    assert_false(use(&made, 5)); /* way 0 */
    assert_false(holds(&made, 1));
    assert_true(holds(&made, 3) && holds(&made, 4) && holds(&made, 5));
    bj_sim_close_cache(&made.cache);
}

static void test_random_replacement_takes_every_way_alike(void **state) {
    (void)state;
    enum { WAYS = 6, DRAWS = 60000 };
    fixture made;
    open_fixture(&made, 1, WAYS, BJ_SIM_RANDOM, BJ_SIM_PLAIN);
    for (uint32_t line = 0; line < WAYS; line++)
        use(&made, line);
    int taken[WAYS] = {0};
    for (uint32_t line = WAYS; line < WAYS + DRAWS; line++) {
        use(&made, line);
        taken[bj_sim_find_line(&made.cache, 0, line)]++;
    }
    /* Five standard deviations. */
    for (int i = 0; i < WAYS; i++)
        assert_in_range(taken[i], DRAWS / WAYS - 460, DRAWS / WAYS + 460);
    bj_sim_close_cache(&made.cache);
}

static uint32_t most_in_a_set(const bj_sim_cache_shape *shape, uint64_t first, uint64_t stride, uint32_t count) {
    uint32_t *loads = calloc(shape->sets.divisor, sizeof *loads);
    assert_non_null(loads);
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t set = bj_sim_pick_set(shape, (first + i * stride) * 64, 0);
        assert_true(set < shape->sets.divisor);
        most = ++loads[set] > most ? loads[set] : most;
    }
    free(loads);
    return most;
}

static void test_hashed_sets_share_the_load(void **state) {
    (void)state;
    const uint64_t set_counts[] = {1024, 768, 81920};
    for (size_t i = 0; i < 3; i++) {
        fixture plain, hashed;
        open_fixture(&plain, set_counts[i], 8, BJ_SIM_LRU, BJ_SIM_PLAIN);
        open_fixture(&hashed, set_counts[i], 8, BJ_SIM_LRU, BJ_SIM_HASHED);
        uint32_t sets = (uint32_t)set_counts[i];
        /* An aligned block of lines takes each set once. */
        assert_int_equal(most_in_a_set(&plain.shape, 5 * (uint64_t)sets, 1, sets), 1);
        assert_int_equal(most_in_a_set(&hashed.shape, 5 * (uint64_t)sets, 1, sets), 1);
        assert_int_equal(most_in_a_set(&hashed.shape, 0, 1, 8 * sets), 8);
        /* A stride of all sets stays in one of them unless they are hashed; so for other strides. */
        assert_int_equal(most_in_a_set(&plain.shape, 0, sets, 64), 64);
        for (uint64_t stride = 64; stride <= 65536; stride *= 2)
            assert_in_range(most_in_a_set(&hashed.shape, 0, stride, sets / 4), 1, 4);
        bj_sim_close_cache(&plain.cache);
        bj_sim_close_cache(&hashed.cache);
    }
}

static void test_remainders_need_no_power_of_two(void **state) {
    (void)state;
    const uint32_t divisors[] = {1, 2, 3, 64, 96, 1000, 12288, 81920, 114688, 1u << 20};
    bj_random random;
    bj_random_seed(&random, 4);
    for (size_t i = 0; i < sizeof divisors / sizeof divisors[0]; i++) {
        bj_sim_divisor by = bj_sim_make_divisor(divisors[i]);
        for (int j = 0; j < 20000; j++) {
            uint32_t value = j == 0 ? UINT32_MAX : (uint32_t)bj_random_next(&random);
            assert_int_equal(bj_sim_remainder(&by, value), value % divisors[i]);
            assert_int_equal(bj_sim_quotient(&by, value), value / divisors[i]);
        }
    }
}

static void test_ways_of_others_are_not_used(void **state) {
    (void)state;
    fixture made;
    open_fixture(&made, 64, 8, BJ_SIM_LRU, BJ_SIM_PLAIN);
    for (uint32_t line = 0; line < 8; line++)
        bj_sim_insert_line(&made.cache, 9, line);
    made.shape.taken_256ths = 2 * 256 + 128; /* two and a half */
    bj_sim_shrink_cache(&made.cache);
    uint32_t own = 0;
    for (uint32_t set = 0; set < 64; set++) {
        assert_in_range(bj_sim_own_ways(&made.shape, set), 5, 6);
        own += bj_sim_own_ways(&made.shape, set);
    }
    assert_in_range(own, 64 * 11 / 2 - 3, 64 * 11 / 2 + 3);
    uint32_t left = bj_sim_own_ways(&made.shape, 9);
    for (uint32_t line = 0; line < 8; line++)
        assert_int_equal(bj_sim_find_line(&made.cache, 9, line) >= 0, line >= 8 - left);
    assert_int_equal(bj_sim_insert_line(&made.cache, 9, 100), 8 - left);
    bj_sim_close_cache(&made.cache);
}

/* Both kinds of TLB against a list that is searched and moved by hand. */
static void check_tlb(uint64_t entries, uint64_t ways, uint32_t pages) {
    bj_sim_tlb_spec spec = {.entries = entries, .ways = ways};
    bj_sim_tlb tlb;
    bj_error error = {""};
    assert_int_equal(bj_sim_open_tlb(&tlb, &spec, &error), BJ_OK);
    uint64_t sets = entries / ways;
    uint32_t *list = malloc(entries * sizeof *list);
    assert_non_null(list);
    memset(list, 0xff, entries * sizeof *list);
    bj_random random;
    bj_random_seed(&random, entries);
    for (int i = 0; i < 30000; i++) {
        uint32_t page = (uint32_t)bj_random_below(&random, pages) + 7;
        uint32_t *set = list + page % sets * ways;
        uint64_t place = 0;
        while (place < ways && set[place] != page)
            place++;
        bool hit = place < ways;
        memmove(set + 1, set, (hit ? place : ways - 1) * sizeof *set);
        set[0] = page;
        assert_int_equal(bj_sim_use_tlb(&tlb, page), hit);
    }
    free(list);
    bj_sim_close_tlb(&tlb);
}

static void test_tlbs_are_lru(void **state) {
    (void)state;
    check_tlb(1, 1, 3);
    check_tlb(16, 16, 20);
    check_tlb(48, 48, 60);
    check_tlb(64, 4, 90);
    check_tlb(1280, 5, 1500);
    check_tlb(3072, 3072, 3300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lru_replaces_the_least_recently_used),
        cmocka_unit_test(test_lru_in_one_step_is_the_same),
        cmocka_unit_test(test_a_removed_line_leaves_the_order),
        cmocka_unit_test(test_tree_plru_follows_its_bits),
        cmocka_unit_test(test_tree_plru_misses_go_round),
        cmocka_unit_test(test_bit_plru_clears_when_all_are_set),
        cmocka_unit_test(test_random_replacement_takes_every_way_alike),
        cmocka_unit_test(test_hashed_sets_share_the_load),
        cmocka_unit_test(test_remainders_need_no_power_of_two),
        cmocka_unit_test(test_ways_of_others_are_not_used),
        cmocka_unit_test(test_tlbs_are_lru),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
