/* The model of Low et al. on Sandy Bridge: kernel, KC and MC are those of BLIS's own configuration for that processor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emit/blis_model.h"

/* Sandy Bridge: four doubles a vector, multiplication and addition of 5 + 3 cycles, one pair a cycle. */
static const bj_blis_machine sandy_bridge = {
    .element_bytes = 8,
    .vector_elements = 4,
    .latency_cycles = 8,
    .per_cycle = 1,
    .caches = {{32768, 8}, {262144, 8}, {8388608, 16}},
    .levels = 3,
};

static void test_sandy_bridge(void **state) {
    (void)state;
    bj_blis_blocks blocks;
    assert_true(bj_blis_find_blocks(&sandy_bridge, &blocks));
    assert_int_equal(blocks.mr, 8);
    assert_int_equal(blocks.nr, 4);
    assert_int_equal(blocks.kc, 256);
    assert_int_equal(blocks.mc, 96);
    /* 14 of 16 ways of 512 KiB over 256 · 8 bytes. */
    assert_int_equal(blocks.nc, 3584);
}

/* What the model promises, whatever the machine: operands fit where they are to live. */
static void test_fits(void **state) {
    (void)state;
    for (unsigned latency = 1; latency <= 10; latency++)
        for (unsigned vector = 1; vector <= 16; vector *= 2)
            for (unsigned ways = 4; ways <= 16; ways *= 2) {
                bj_blis_machine machine = sandy_bridge;
                machine.latency_cycles = latency;
                machine.vector_elements = vector;
                machine.caches[0].ways = ways;
                bj_blis_blocks blocks;
                if (!bj_blis_find_blocks(&machine, &blocks))
                    continue;
                assert_true(blocks.mr * blocks.nr >= vector * latency);
                assert_int_equal(blocks.mr % vector, 0);
                assert_int_equal(blocks.mc % blocks.mr, 0);
                assert_int_equal(blocks.nc % blocks.nr, 0);
                assert_true((blocks.mr + blocks.nr) * blocks.kc * 8 <= 32768);
                assert_true(blocks.mc * blocks.kc * 8 <= 262144);
                assert_true((double)blocks.nc * blocks.kc * 8 <= 8388608);
            }
}

/* A kernel that would spill is made smaller, whatever it should hide. */
static void test_registers_bound_the_kernel(void **state) {
    (void)state;
    bj_blis_blocks blocks;
    for (unsigned registers = 3; registers <= 40; registers++) {
        bj_blis_machine machine = sandy_bridge;
        machine.registers = registers;
        assert_true(bj_blis_find_blocks(&machine, &blocks));
        assert_true(blocks.registers <= registers);
        assert_int_equal(blocks.mr % 4, 0);
        assert_int_equal(blocks.registers, blocks.mr / 4 * blocks.nr + blocks.mr / 4 + 1);
        /* 8 x 4: eight accumulators, two of A, one of B. */
        assert_int_equal(blocks.is_bounded, registers < 11);
        if (registers >= 11)
            assert_true(blocks.mr == 8 && blocks.nr == 4);
    }
}

static void test_unknown(void **state) {
    (void)state;
    bj_blis_machine machine = sandy_bridge;
    bj_blis_blocks blocks;
    machine.caches[1].ways = 0;
    assert_true(bj_blis_find_blocks(&machine, &blocks));
    assert_true(blocks.half_rule[1]);
    assert_int_equal(blocks.mc, 64); /* half of 256 KiB */
    machine.levels = 2;
    assert_true(bj_blis_find_blocks(&machine, &blocks));
    assert_int_equal(blocks.nc, 4096);
    /* What follows from a level that is not known is left open, and nothing else. */
    machine.more_levels = true;
    assert_true(bj_blis_find_blocks(&machine, &blocks));
    assert_true(blocks.mc == 64 && blocks.nc == 0);
    machine.levels = 1;
    assert_true(bj_blis_find_blocks(&machine, &blocks));
    assert_true(blocks.kc == 256 && blocks.mc == 0 && blocks.nc == 0);
    machine.levels = 0;
    assert_true(bj_blis_find_blocks(&machine, &blocks));
    assert_true(blocks.mr == 8 && blocks.nr == 4 && blocks.kc == 0);
    machine.levels = 2;
    machine.rows = 6;
    machine.columns = 8;
    assert_true(bj_blis_find_blocks(&machine, &blocks));
    assert_int_equal(blocks.mr, 6);
    assert_int_equal(blocks.nr, 8);
    machine.caches[0].size_bytes = 256; /* no room for anything */
    assert_false(bj_blis_find_blocks(&machine, &blocks));
    machine.caches[0] = (bj_blis_cache){32768, 1}; /* no way beside C's */
    assert_false(bj_blis_find_blocks(&machine, &blocks));
}

/* A latency that no machine has gives no kernel rather than a number that does not fit. */
static void test_absurd_kernel(void **state) {
    (void)state;
    static const double latencies[] = {1e5, 1e12, 1e300};
    bj_blis_blocks blocks;
    for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++) {
        bj_blis_machine machine = sandy_bridge;
        machine.latency_cycles = latencies[i];
        assert_false(bj_blis_find_blocks(&machine, &blocks));
        assert_int_equal(blocks.mr, 0);
    }
    bj_blis_machine machine = sandy_bridge;
    machine.rows = 4;
    machine.columns = 257;
    assert_false(bj_blis_find_blocks(&machine, &blocks));
    assert_int_equal(blocks.mr, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sandy_bridge),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_registers_bound_the_kernel),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_absurd_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
