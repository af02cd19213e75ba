/* Layers of made-up pairs: noise parts none, differences do, whatever the order of the ranks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/random.h"
#include "probes/comm/comm_pairs.h"

enum { RANKS_MOST = 12 };

typedef struct {
    size_t ranks, rounds;
    double noise;      /* a round takes up to so many times longer, as a share */
    size_t host_size;  /* ranks of one host, in a row; 0: all on one */
    size_t near_hosts; /* so many are near to each other, the others far */
    bool backwards;    /* ranks in the opposite order */
    double host_us, near_us, far_us;
} plan;

static double time_of(const plan *plan, size_t a, size_t b) {
    size_t last = plan->ranks - 1, size = plan->host_size > 0 ? plan->host_size : plan->ranks;
    size_t host_a = (plan->backwards ? last - a : a) / size, host_b = (plan->backwards ? last - b : b) / size;
    if (host_a == host_b)
        return plan->host_us;
    return host_a < plan->near_hosts && host_b < plan->near_hosts ? plan->near_us : plan->far_us;
}

static void make_up(const plan *plan, bool tells_hosts, uint64_t seed, bj_curves *samples) {
    bj_random random;
    bj_error error;
    bj_curve *curve;
    bj_random_seed(&random, seed);
    if (tells_hosts) {
        assert_int_equal(bj_data_add_curve(samples, BJ_COMM_HOSTS, "comm", &curve, &error), BJ_OK);
        for (size_t i = 0; i < plan->ranks; i++) {
            size_t host = (plan->backwards ? plan->ranks - 1 - i : i) / plan->host_size;
            assert_int_equal(bj_data_record_sample(curve, (double)i, 0, (double)host, &error), BJ_OK);
        }
    }
    for (size_t a = 0; a + 1 < plan->ranks; a++) {
        char id[48];
        snprintf(id, sizeof id, "comm.pairs.%zu.8", a);
        assert_int_equal(bj_data_add_curve(samples, id, "comm", &curve, &error), BJ_OK);
        assert_int_equal(bj_data_set_attribute_number(curve, "rank", (double)a, &error), BJ_OK);
        assert_int_equal(bj_data_set_attribute_number(curve, "bytes", 8, &error), BJ_OK);
        for (size_t b = a + 1; b < plan->ranks; b++)
            for (size_t r = 0; r < plan->rounds; r++) {
                double us = time_of(plan, a, b) * (1 + plan->noise * bj_random_unit(&random));
                assert_int_equal(bj_data_record_sample(curve, (double)b, r, us, &error), BJ_OK);
            }
    }
}

/* The number of layers; group_of: the groups of the first. */
static size_t find(const plan *plan, bool tells_hosts, uint64_t seed, size_t *open, size_t *group_of) {
    bj_curves samples = {0};
    bj_comm_table table = {0};
    bj_error error;
    make_up(plan, tells_hosts, seed, &samples);
    assert_int_equal(bj_comm_read_table(&samples, &table, &error), BJ_OK);
    assert_int_equal(bj_comm_find_layers(&table, NULL, 0, false, &error), BJ_OK);
    size_t count = table.layer_count;
    *open = table.open_gaps;
    bj_comm_join_ranks(&table, 0, group_of);
    bj_comm_free_table(&table);
    bj_data_free_curves(&samples);
    return count;
}

/* Rounds that scatter by a factor of three, few of them: gaps open, but none is a layer in more than the promised one
 * of a hundred. */
static void test_noise(void **state) {
    (void)state;
    const plan plan = {.ranks = 6, .rounds = 4, .noise = 2, .host_us = 10};
    size_t open, group_of[RANKS_MOST], parted = 0;
    for (uint64_t seed = 1; seed <= 500; seed++)
        parted += find(&plan, false, seed, &open, group_of) != 1;
    if (parted > 5)
        fail_msg("%zu of 500 were parted", parted);
}

static void test_hosts(void **state) {
    (void)state;
    for (unsigned backwards = 0; backwards < 2; backwards++)
        for (uint64_t seed = 1; seed <= 50; seed++) {
            const plan plan = {.ranks = 6,
                               .rounds = 12,
                               .noise = 1.5,
                               .host_size = 2,
                               .near_hosts = 2,
                               .host_us = 7,
                               .near_us = 14,
                               .far_us = 2400,
                               .backwards = backwards == 1};
            size_t open, group_of[RANKS_MOST];
            assert_int_equal(find(&plan, true, seed, &open, group_of), 3);
            for (size_t i = 0; i < 6; i++)
                assert_int_equal(group_of[i], i / 2 * 2);
        }
}

/* The same host and a network that costs the same are two layers; without names they are one. */
static void test_names(void **state) {
    (void)state;
    const plan plan = {.ranks = 6, .rounds = 8, .noise = 0.02, .host_size = 3, .host_us = 7, .near_us = 7, .far_us = 7};
    size_t open, group_of[RANKS_MOST];
    assert_int_equal(find(&plan, true, 1, &open, group_of), 2);
    assert_int_equal(find(&plan, false, 1, &open, group_of), 1);
    assert_int_equal(open, 0);
}

/* One near pair of three: two rounds cannot tell it from chance and say so, six can. */
static void test_few_rounds(void **state) {
    (void)state;
    size_t open, group_of[RANKS_MOST];
    plan plan = {.ranks = 3, .rounds = 2, .noise = 0.02, .host_size = 2, .host_us = 1, .near_us = 2, .far_us = 2};
    assert_int_equal(find(&plan, false, 1, &open, group_of), 1);
    assert_int_equal(open, 1);
    plan.rounds = 6;
    assert_int_equal(find(&plan, false, 1, &open, group_of), 2);
    assert_int_equal(group_of[1], 0);
    assert_int_equal(group_of[2], 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_few_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
