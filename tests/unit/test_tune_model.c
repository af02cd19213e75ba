/* The tuning model: the paper's numbers from the paper's inputs, and blocks that fit by arithmetic on other machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tune/figure_12.h"
#include "tune/parts.h"
#include "tune/search.h"

static void test_paper(void **state) {
    (void)state;
    bj_tune_block registers = bj_tune_fit_2012(16), cache = bj_tune_fit_2012(32768 / 8);
    assert_int_equal(registers.m, 3);
    assert_int_equal(registers.n, 3);
    assert_int_equal(registers.k, 1);
    assert_int_equal(cache.m, 63);
    assert_int_equal(cache.n, 63);
    bj_tune_block printed = bj_tune_fit_2012_printed(16);
    assert_int_equal(printed.m, 6);
    assert_int_equal(printed.n, 5);
    assert_int_equal(printed.k, 5);
    bj_tune_block practical = bj_tune_practical_2012(16);
    assert_int_equal(practical.m, 4);
    assert_int_equal(practical.n, 2);
    assert_int_equal(bj_tune_cache_block_2012(32768, 8, 64, 4), 56);
}

/* No block with the same constraint, by looking at all, moves less for its products. */
static void test_paper_is_best(void **state) {
    (void)state;
    for (size_t places = 3; places <= 400; places++) {
        bj_tune_block found = bj_tune_fit_2012(places);
        size_t used = (size_t)found.m * found.n + found.m + found.n;
        assert_true(found.n >= 1 && used <= places);
        for (size_t m = 1; m <= places; m++)
            for (size_t n = 1; m * n + m + n <= places; n++)
                assert_true(m * n * used <= (size_t)found.m * found.n * (m * n + m + n));
    }
}

static bj_tune_machine make_machine(size_t l1_bytes, unsigned registers, unsigned lanes) {
    return (bj_tune_machine){.type = BJ_TUNE_DOUBLE,
                             .lanes = lanes,
                             .registers = registers,
                             .scalars = registers,
                             .fma_latency = 4,
                             .fma_per_cycle = 2,
                             .loads_per_cycle = 2,
                             .stores_per_cycle = 1,
                             .l1_bytes = l1_bytes,
                             .l2_bytes = 0,
                             .line_bytes = 64,
                             .fused = true};
}

static void test_other_machines(void **state) {
    (void)state;
    const size_t caches[] = {1536, 24576, 49152, 131072};
    const unsigned registers[] = {13, 16, 32};
    for (size_t c = 0; c < 4; c++)
        for (size_t r = 0; r < 3; r++) {
            bj_tune_machine machine = make_machine(caches[c], registers[r], 4);
            bj_tune_model model;
            bj_error error;
            assert_int_equal(bj_tune_make_model(&machine, &model, &error), BJ_OK);
            assert_true(model.rows * model.columns + model.rows + 1 <= registers[r]);
            assert_int_equal(model.mr, model.rows * 4);
            assert_true(model.rows * model.columns >= 8); /* latency 4, two a cycle */
            assert_true((model.mr + model.nr) * model.kc * 8 <= caches[c]);
            size_t n = model.block_2012;
            assert_true(n > 0 && (n * n + n + 8 * n) * 8 <= caches[c]);
            assert_true(((n + 4) * (n + 4) + 9 * (n + 4)) * 8 > caches[c]);
            assert_true(model.mc >= model.mr && model.reason_count >= 7);
        }
}

static void test_vector_tile(void **state) {
    (void)state;
    bj_tune_model model;
    bj_error error;
    bj_tune_machine machine = make_machine(32768, 16, 4);
    assert_int_equal(bj_tune_make_model(&machine, &model, &error), BJ_OK);
    /* The block that every hand-written kernel for 16 registers of 4 lanes has: 12 x 4, or 8 x 6. */
    assert_int_equal(model.rows * model.columns, 12);
    /* One load a cycle: no tile that fits takes less time for a multiply-add. */
    machine.loads_per_cycle = 1;
    assert_int_equal(bj_tune_make_model(&machine, &model, &error), BJ_OK);
    double chosen = bj_tune_step_cycles(&machine, model.rows, model.columns) / (model.rows * model.columns);
    for (unsigned r = 1; r <= BJ_TUNE_ROWS_MAX; r++)
        for (unsigned c = 1; c <= bj_tune_most_columns(&machine, r); c++)
            assert_true(chosen <= bj_tune_step_cycles(&machine, r, c) / (r * c) + 1e-9);
    machine.registers = 2;
    assert_int_equal(bj_tune_make_model(&machine, &model, &error), BJ_ERR_FAILED);
}

static void put(bj_answers *answers, const char *key, double value) {
    bj_answer *answer;
    bj_error error;
    assert_int_equal(bj_data_put_answer(answers, key, "", &answer, &error), BJ_OK);
    answer->status = BJ_ANSWER_OK;
    answer->value = value;
}

static void test_profile(void **state) {
    (void)state;
    bj_answers answers = {0};
    bj_tune_target target = {.vector_bytes = 64, .registers = 32, .fused = true};
    bj_tune_machine machine;
    bj_tune_inputs inputs;
    bj_error error;
    assert_int_equal(bj_tune_read_machine(&answers, BJ_TUNE_DOUBLE, &target, &machine, &inputs, &error), BJ_ERR_FAILED);
    assert_non_null(strstr(error.text, "vector.width_bytes"));
    put(&answers, "vector.width_bytes", 32);
    put(&answers, "op.doublex4.fma.latency", 4);
    put(&answers, "op.doublex4.fma.throughput", 2);
    put(&answers, "live.doublex4", 16);
    put(&answers, "op.load.throughput", 2);
    put(&answers, "op.store.throughput", 1);
    put(&answers, "cache.L1.size_bytes", 32768);
    assert_int_equal(bj_tune_read_machine(&answers, BJ_TUNE_DOUBLE, &target, &machine, &inputs, &error), BJ_ERR_FAILED);
    assert_non_null(strstr(error.text, "cache.line_bytes"));
    put(&answers, "cache.line_bytes", 64);
    assert_int_equal(bj_tune_read_machine(&answers, BJ_TUNE_DOUBLE, &target, &machine, &inputs, &error), BJ_OK);
    assert_int_equal(machine.lanes, 4);
    assert_int_equal(machine.registers, 16);
    assert_int_equal(inputs.count, 8);
    /* A compiler without wide vectors or multiply-adds asks for other answers, which are not there. */
    target = (bj_tune_target){.vector_bytes = 16, .registers = 16, .fused = false};
    assert_int_equal(bj_tune_read_machine(&answers, BJ_TUNE_DOUBLE, &target, &machine, &inputs, &error), BJ_ERR_FAILED);
    assert_non_null(strstr(error.text, "op.doublex2.add.latency"));
    bj_data_free_answers(&answers);
}

/* A probe that saw no spill: the compiler's names are the limit, and the reasons say so. */
static void test_no_spill(void **state) {
    (void)state;
    bj_answers answers = {0};
    bj_answer *live;
    bj_tune_target target = {.vector_bytes = 16, .registers = 16, .fused = false};
    bj_tune_machine machine;
    bj_tune_inputs inputs;
    bj_tune_model model;
    bj_error error;
    const char *const keys[] = {"op.doublex2.add.latency",    "op.doublex2.add.throughput", "op.doublex2.mul.latency",
                                "op.doublex2.mul.throughput", "op.load.throughput",         "op.store.throughput"};
    for (size_t i = 0; i < 6; i++)
        put(&answers, keys[i], 2);
    put(&answers, "vector.width_bytes", 64);
    put(&answers, "cache.L1.size_bytes", 49152);
    put(&answers, "cache.line_bytes", 64);
    /* Never asked: an error that names the key. */
    assert_int_equal(bj_tune_read_machine(&answers, BJ_TUNE_DOUBLE, &target, &machine, &inputs, &error), BJ_ERR_FAILED);
    assert_non_null(strstr(error.text, "live.doublex2"));
    assert_int_equal(bj_data_put_answer(&answers, "live.doublex2", "", &live, &error), BJ_OK);
    live->status = BJ_ANSWER_UNDETERMINED;
    assert_int_equal(bj_tune_read_machine(&answers, BJ_TUNE_DOUBLE, &target, &machine, &inputs, &error), BJ_OK);
    assert_int_equal(machine.registers, 16);
    assert_int_equal(bj_tune_make_model(&machine, &model, &error), BJ_OK);
    bool said = false;
    for (size_t i = 0; i < model.reason_count; i++)
        said = said || strstr(model.reasons[i], "the compiler names") != NULL;
    assert_true(said);
    target.registers = 0;
    assert_int_equal(bj_tune_read_machine(&answers, BJ_TUNE_DOUBLE, &target, &machine, &inputs, &error), BJ_ERR_FAILED);
    bj_data_free_answers(&answers);
}

/* Every block that is searched fits, none is there twice, and what stands for others has as many tiles. */
static void test_candidates(void **state) {
    (void)state;
    static bj_tune_candidate list[BJ_TUNE_CANDIDATES_MAX];
    const unsigned registers[] = {13, 16, 32};
    for (size_t i = 0; i < 3; i++) {
        bj_tune_machine machine = make_machine(32768, registers[i], 4);
        size_t count = bj_tune_list_candidates(&machine, 40, list);
        assert_true(count >= (registers[i] < 16 ? 150u : 200u) && count < BJ_TUNE_CANDIDATES_MAX);
        for (size_t a = 0; a < count; a++) {
            const bj_tune_candidate *stands = &list[list[a].same_as];
            assert_true(list[a].rows * list[a].columns + list[a].rows + 1 <= registers[i]);
            assert_true(list[a].same_as <= a && stands->same_as == list[a].same_as);
            assert_int_equal((10 + stands->rows - 1) / stands->rows, (10 + list[a].rows - 1) / list[a].rows);
            assert_int_equal((40 + stands->columns - 1) / stands->columns,
                             (40 + list[a].columns - 1) / list[a].columns);
            assert_true(stands->unroll == list[a].unroll && stands->packed == list[a].packed);
            for (size_t b = 0; b < a; b++)
                assert_false(list[a].rows == list[b].rows && list[a].columns == list[b].columns &&
                             list[a].unroll == list[b].unroll && list[a].packed == list[b].packed);
        }
    }
}

static void test_figure(void **state) {
    (void)state;
    size_t sizes[BJ_TUNE_POINTS_MAX];
    size_t count = bj_tune_list_points(56, sizes);
    assert_int_equal(count, 21);
    assert_int_equal(sizes[0], 8);
    assert_int_equal(sizes[20], 168);
    count = bj_tune_list_points(1000, sizes);
    assert_true(count > 10 && count <= BJ_TUNE_POINTS_MAX && sizes[count - 1] > 2800);
    assert_int_equal(bj_tune_list_points(0, sizes), 0);
    bj_tune_point points[] = {{8, 5}, {16, 9}, {24, 10}, {32, 9.8}, {40, 9.6}, {48, 9.4}, {56, 7}};
    assert_int_equal(bj_tune_find_knee(points, 7, 32), 40);
    points[6].gflops = 9.6; /* it comes back: no knee */
    assert_int_equal(bj_tune_find_knee(points, 7, 32), 0);
    assert_int_equal(bj_tune_find_knee(points, 0, 32), 0);
}

/* The smaller tile where both do the same arithmetic: it overlaps with its neighbours. And where A streams past the
 * first cache, a tile with enough columns for its lines. */
static void test_small_tiles(void **state) {
    (void)state;
    bj_tune_machine machine = make_machine(49152, 32, 8);
    unsigned columns, rows;
    machine.l2_latency = 14;
    rows = bj_tune_choose_rows(&machine, 6, 48, 48, &columns);
    assert_true(rows * columns >= 8 && 2 * rows * columns <= 32);
    rows = bj_tune_choose_rows(&machine, 16, 128, 128, &columns);
    double lines = rows * 14.0 / 6, step = bj_tune_step_cycles(&machine, rows, columns);
    assert_true(lines < step);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper),       cmocka_unit_test(test_paper_is_best), cmocka_unit_test(test_other_machines),
        cmocka_unit_test(test_vector_tile), cmocka_unit_test(test_profile),       cmocka_unit_test(test_no_spill),
        cmocka_unit_test(test_candidates),  cmocka_unit_test(test_figure),        cmocka_unit_test(test_small_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
