/* What a placing of ranks costs: as counted pair by pair, and of a machine with very many ranks in no time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "profile/comm_place.h"

#define BYTES 1000.0

/* Groups of so many ranks in a row by layer, dealt out by a step that is prime to their number; times grow with the
 * layer, and n pairs at once take n times as long. */
static void make_layers(const size_t *sizes, size_t layer_count, size_t ranks, size_t step, size_t without_curve,
                        bj_comm_layers *layers) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    bj_error error;
    assert_non_null(out);
    for (size_t l = 0; l < layer_count; l++) {
        fprintf(out, "%s{\"name\": \"l%zu\", \"bytes\": 1000, \"scaling\": [[1, 1], [2, 2]], \"curve\": [",
                l > 0 ? ", " : "[", l);
        if (l != without_curve)
            fprintf(out, "[0, %zu], [1000, %zu]", l + 1, l + 1);
        fprintf(out, "], \"groups\": [");
        for (size_t first = 0; first < ranks; first += sizes[l]) {
            fprintf(out, "%s[", first > 0 ? ", " : "");
            for (size_t r = first; r < first + sizes[l] && r < ranks; r++)
                fprintf(out, "%s%zu", r > first ? ", " : "", r * step % ranks);
            fprintf(out, "]");
        }
        fprintf(out, "]}");
    }
    fprintf(out, "]");
    fclose(out);
    assert_int_equal(bj_profile_read_comm_layers(text, layers, &error), BJ_OK);
    assert_int_equal(layers->rank_count, ranks);
    free(text);
}

/* Pair by pair: the slowest layer, by the pairs of its busiest group. `inverse` undoes the step. */
static double count_cost(const size_t *sizes, size_t layer_count, size_t ranks, size_t inverse, const size_t *places,
                         size_t count, bj_talk talk) {
    double cost = 0;
    for (size_t l = 0; l < layer_count; l++) {
        size_t pairs[256] = {0}, busiest = 0;
        for (size_t i = 0; i < count; i++)
            for (size_t k = i + 1; k < (talk == BJ_TALK_ALL || i + 2 > count ? count : i + 2); k++) {
                size_t a = places[i] * inverse % ranks, b = places[k] * inverse % ranks;
                if (a / sizes[l] != b / sizes[l] || (l > 0 && a / sizes[l - 1] == b / sizes[l - 1]))
                    continue;
                size_t *own = &pairs[a / sizes[l]];
                busiest = ++*own > busiest ? *own : busiest;
            }
        double at_once = talk == BJ_TALK_ALL ? ceil((double)busiest / (double)(count - 1)) : (double)busiest;
        cost = fmax(cost, (double)(l + 1) * at_once);
    }
    return cost;
}

static void test_costs(void **state) {
    static const size_t sizes[] = {2, 6, 24, 48};
    (void)state;
    enum { LAYERS = 4, RANKS = 48, STEP = 5, INVERSE = 29 }; /* 5 * 29 = 3 * 48 + 1 */
    bj_comm_layers layers;
    make_layers(sizes, LAYERS, RANKS, STEP, SIZE_MAX, &layers);
    for (size_t count = 2; count <= RANKS; count++)
        for (bj_talk talk = BJ_TALK_NEIGHBOURS; talk <= BJ_TALK_LITTLE; talk++) {
            size_t places[RANKS], taken[RANKS] = {0};
            bj_comm_placing placing;
            bj_error error;
            assert_int_equal(bj_profile_place_ranks(&layers, count, talk, BYTES, places, &placing, &error), BJ_OK);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(taken[places[i]]++, 0);
            double cost = count_cost(sizes, LAYERS, RANKS, INVERSE, places, count, talk);
            assert_float_equal(cost, placing.is_near ? placing.near_us : placing.spread_us, 1e-9);
        }
    bj_profile_free_comm_layers(&layers);
}

/* One of each group in turn, at every layer. */
/* A last line that falls, as one disturbed point makes it, does not lead below zero; nor does a steep first one. */
static void test_beyond(void **state) {
    (void)state;
    static const char text[] = "[{\"name\": \"l\", \"curve\": [[16, 1], [1024, 9], [4096, 3]], "
                               "\"scaling\": [[1, 1], [2, 4], [4, 2]]}]";
    bj_comm_layers layers;
    bj_error error;
    assert_int_equal(bj_profile_read_comm_layers(text, &layers, &error), BJ_OK);
    const bj_comm_layer *layer = &layers.items[0];
    assert_true(bj_profile_estimate_in_layer(layer, 0, 1).us == 1);
    assert_true(fabs(bj_profile_estimate_in_layer(layer, 2560, 1).us - 6) < 1e-9);
    assert_true(bj_profile_estimate_in_layer(layer, 1e9, 1).us == 3);
    assert_true(bj_profile_estimate_in_layer(layer, 16, 1000).us == 2);
    bj_profile_free_comm_layers(&layers);
}

static void test_spread(void **state) {
    static const size_t sizes[] = {2, 4, 8}, expected[] = {0, 4, 2, 6, 1, 5, 3, 7};
    bj_comm_layers layers;
    bj_error error;
    size_t places[8];
    (void)state;
    make_layers(sizes, 3, 8, 1, SIZE_MAX, &layers);
    assert_int_equal(bj_profile_order_ranks(&layers, true, places, &error), BJ_OK);
    assert_memory_equal(places, expected, sizeof expected);
    bj_profile_free_comm_layers(&layers);
}

/* What a layer costs of which nothing is known is not covered up by a farther one. */
static void test_unknown(void **state) {
    static const size_t sizes[] = {2, 4, 8};
    bj_comm_layers layers;
    bj_comm_placing placing;
    bj_error error;
    size_t places[8];
    char why[300];
    (void)state;
    make_layers(sizes, 3, 8, 1, 1, &layers);
    assert_int_equal(bj_profile_place_ranks(&layers, 8, BJ_TALK_ALL, BYTES, places, &placing, &error), BJ_OK);
    assert_true(isnan(placing.near_us) && isnan(placing.spread_us));
    bj_profile_explain_placing(&layers, &placing, 8, BJ_TALK_ALL, BYTES, why, sizeof why);
    assert_null(strstr(why, "nan"));
    bj_profile_free_comm_layers(&layers);
}

/* Pair by pair it would be minutes. */
static void test_many(void **state) {
    enum { LAYERS = 13, RANKS = 32768, SECONDS_MOST = 5 };
    size_t sizes[LAYERS], *places = calloc(RANKS, sizeof *places);
    bj_comm_layers layers;
    bj_comm_placing placing;
    bj_error error;
    (void)state;
    assert_non_null(places);
    for (size_t l = 0; l < LAYERS; l++)
        sizes[l] = (size_t)8 << l;
    make_layers(sizes, LAYERS, RANKS, 1, SIZE_MAX, &layers);
    clock_t start = clock();
    assert_int_equal(bj_profile_place_ranks(&layers, RANKS, BJ_TALK_ALL, BYTES, places, &placing, &error), BJ_OK);
    assert_true((double)(clock() - start) < SECONDS_MOST * (double)CLOCKS_PER_SEC);
    /* Half with half: 16384 squared pairs, of which each rank does one at a time. */
    assert_float_equal(placing.near_us, LAYERS * 8193.0, 1e-6);
    assert_float_equal(placing.spread_us, LAYERS * 8193.0, 1e-6);
    bj_profile_free_comm_layers(&layers);
    free(places);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),   cmocka_unit_test(test_beyond), cmocka_unit_test(test_spread),
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
