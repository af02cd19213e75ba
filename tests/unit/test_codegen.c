/* The generator: what it lists is consistent, its text compiles with the compilers at hand, and every kernel returns
 * what the plain computation says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>

#include "codegen/codegen.h"
#include "codegen/generated.h"
#include "platform/process.h"
#include "platform/processor.h"

static void test_units_are_listed_once(void **state) {
    (void)state;
    size_t count = bj_codegen_count_familys(), chains = 0, live = 0, vector_chains = 0, vectors_live = 0, variants = 0;
    for (size_t i = 0; i < count; i++) {
        bj_codegen_family unit = bj_codegen_family_at(i);
        size_t found = count;
        assert_true(bj_codegen_find_family(unit.kind, unit.type->name, unit.operation, unit.then, &found));
        bj_codegen_family first = bj_codegen_family_at(found);
        assert_true(bj_codegen_is_variant(&unit, &first) && found <= i && i - found <= 1);
        bool is_vector = unit.type->lanes > 1;
        chains += unit.kind == BJ_CODEGEN_CHAINS && !is_vector && unit.abreast == BJ_CODEGEN_ABREAST;
        live += unit.kind == BJ_CODEGEN_LIVE && !is_vector;
        vector_chains += unit.kind == BJ_CODEGEN_CHAINS && is_vector;
        vectors_live += unit.kind == BJ_CODEGEN_LIVE && is_vector;
        variants += found != i;
        assert_int_equal(unit.type->bytes % unit.type->lanes, 0);
    }
    assert_int_equal(chains, 36);
    assert_int_equal(live, 4);
    /* Six operations of six types, and loads and stores of three. */
    assert_int_equal(vector_chains, 6 * 6 + 2 * 3);
    assert_int_equal(vectors_live, 6 + 4);
    assert_int_equal(variants, 4);
    size_t nothing;
    assert_false(bj_codegen_find_family(BJ_CODEGEN_CHAINS, "int32", "sqrt", NULL, &nothing));
    assert_false(bj_codegen_find_family(BJ_CODEGEN_LIVE, "int8", "", NULL, &nothing));
}

static void test_unrolls_differ_by_two(void **state) {
    (void)state;
    for (unsigned s = 1; s <= BJ_CODEGEN_ABREAST; s++) {
        unsigned once = bj_codegen_count_steps(s, false);
        assert_true(once % 2 == 0 && once * s >= 32);
        assert_int_equal(bj_codegen_count_steps(s, true), 2 * once);
    }
    for (unsigned k = BJ_CODEGEN_LIVE_LEAST; k <= BJ_CODEGEN_LIVE_MOST; k++)
        assert_true(bj_codegen_count_sweeps(k) >= 2 && bj_codegen_count_sweeps(k) * k <= 2 * BJ_CODEGEN_LIVE_MOST);
}

/* A long run as of a timed batch: nothing may leave its range. */
static void test_operands_stay_in_range(void **state) {
    (void)state;
    for (size_t i = 0; i < bj_codegen_count_familys(); i++) {
        bj_codegen_family unit = bj_codegen_family_at(i);
        if (unit.kind != BJ_CODEGEN_CHAINS)
            continue;
        unsigned char values[BJ_CODEGEN_CHAIN_VALUES * BJ_CODEGEN_WIDEST];
        unsigned char operands[BJ_CODEGEN_OPERANDS * BJ_CODEGEN_WIDEST];
        bj_codegen_fill_operands(&unit, values, operands);
        bool divides = strcmp(unit.operation, "div") == 0 || strcmp(unit.operation, "mod") == 0;
        /* Lanes are alike, and take their time. */
        for (int part = 0; part < (unit.type->lanes > 1 ? 5 : 50); part++) {
            bj_codegen_compute_result(&unit, 1, 1000, operands, values);
            if (unit.type->is_float) {
                float narrow;
                double wide;
                memcpy(&narrow, values, sizeof narrow);
                memcpy(&wide, values, sizeof wide);
                double value = fabs(unit.type->bytes / unit.type->lanes == sizeof narrow ? narrow : wide);
                if (!(value > 0.1 && value < 1e8))
                    fail_msg("%s.%s reaches %g", unit.type->name, unit.operation, value);
            } else if (divides) {
                /* Positive, and of full length: the highest bit but the sign's is set. */
                unsigned char top = values[unit.type->bytes - 1];
                if (top >> 6 != 1)
                    fail_msg("%s.%s has the top byte %d", unit.type->name, unit.operation, top);
            }
        }
    }
}

static void test_shift_comes_back(void **state) {
    (void)state;
    size_t number;
    assert_true(bj_codegen_find_family(BJ_CODEGEN_CHAINS, "int16", "shift", NULL, &number));
    bj_codegen_family unit = bj_codegen_family_at(number);
    unsigned char values[BJ_CODEGEN_CHAIN_VALUES * 2], starts[BJ_CODEGEN_CHAIN_VALUES * 2];
    unsigned char operands[BJ_CODEGEN_OPERANDS * 2];
    bj_codegen_fill_operands(&unit, starts, operands);
    memcpy(values, starts, sizeof values);
    bj_codegen_compute_result(&unit, 1, 1, operands, values);
    assert_memory_not_equal(values, starts, 2);
    bj_codegen_compute_result(&unit, 1, 2, operands, starts);
    bj_codegen_fill_operands(&unit, values, operands);
    assert_memory_equal(values, starts, 2);
}

/* By hand: 3 variables, one sweep: p0 += p2, p1 += p0, p2 += p1. */
static void test_sweep_by_hand(void **state) {
    (void)state;
    size_t number;
    assert_true(bj_codegen_find_family(BJ_CODEGEN_LIVE, "int32", "", NULL, &number));
    bj_codegen_family unit = bj_codegen_family_at(number);
    uint32_t values[3] = {1, 10, 100};
    bj_codegen_compute_result(&unit, 3, 1, NULL, values);
    assert_int_equal(values[0], 101);
    assert_int_equal(values[1], 111);
    assert_int_equal(values[2], 211);
}

static void put_start(const bj_codegen_family *unit, unsigned char *target, float value) {
    double wide = value;
    bool is_wide = unit->type->bytes / unit->type->lanes == sizeof wide;
    memcpy(target, is_wide ? (void *)&wide : (void *)&value, is_wide ? sizeof wide : sizeof value);
}

/* By hand: two streams of loads, which take turns at the places, and of stores. */
static void test_moves_by_hand(void **state) {
    (void)state;
    const char *const operations[] = {"load", "store"};
    for (int o = 0; o < 2; o++) {
        size_t number;
        assert_true(bj_codegen_find_family(BJ_CODEGEN_CHAINS, "doublex2", operations[o], NULL, &number));
        bj_codegen_family unit = bj_codegen_family_at(number);
        double values[BJ_CODEGEN_CHAIN_VALUES][2], starts[BJ_CODEGEN_CHAIN_VALUES][2];
        double operands[BJ_CODEGEN_OPERANDS][2];
        bj_codegen_fill_operands(&unit, values, operands);
        memcpy(starts, values, sizeof starts);
        assert_int_equal(bj_codegen_count_values(&unit, 2), BJ_CODEGEN_CHAIN_VALUES);
        bj_codegen_compute_result(&unit, 2, 3, operands, values);
        const double(*place)[2] = &values[BJ_CODEGEN_ABREAST], (*old)[2] = &starts[BJ_CODEGEN_ABREAST];
        for (int stream = 0; stream < 2; stream++)
            for (int lane = 0; lane < 2; lane++) {
                assert_true(values[stream][lane] == (o == 0 ? old[4 + stream][lane] : starts[stream][lane]));
                assert_true(place[2 + stream][lane] == (o == 0 ? old[2 + stream][lane] : starts[stream][lane]));
                assert_true(place[6 + stream][lane] == old[6 + stream][lane]);
            }
    }
}

/* Lane by lane what the scalar gives, for the plain computation itself. */
static void test_lanes_are_scalars(void **state) {
    (void)state;
    const char *const operations[][2] = {{"add", NULL}, {"div", NULL}, {"sqrt", "mul"}, {"fma", NULL}};
    for (size_t o = 0; o < 4; o++) {
        size_t narrow, wide;
        assert_true(bj_codegen_find_family(BJ_CODEGEN_CHAINS, "float", operations[o][0], operations[o][1], &narrow));
        assert_true(bj_codegen_find_family(BJ_CODEGEN_CHAINS, "floatx8", operations[o][0], operations[o][1], &wide));
        bj_codegen_family scalar = bj_codegen_family_at(narrow), vector = bj_codegen_family_at(wide);
        float values[BJ_CODEGEN_CHAIN_VALUES * 8], operands[BJ_CODEGEN_OPERANDS * 8], one[BJ_CODEGEN_CHAIN_VALUES];
        float starts[BJ_CODEGEN_CHAIN_VALUES * 8], scalar_operands[BJ_CODEGEN_OPERANDS];
        bj_codegen_fill_operands(&scalar, one, scalar_operands);
        bj_codegen_fill_operands(&vector, values, operands);
        for (size_t i = 0; i < BJ_CODEGEN_OPERANDS * 8; i++)
            assert_true(operands[i] == scalar_operands[i / 8]);
        memcpy(starts, values, sizeof starts);
        bj_codegen_compute_result(&vector, 2, 5, operands, values);
        for (size_t i = 0; i < 16; i++) {
            one[0] = starts[i];
            bj_codegen_compute_result(&scalar, 1, 5, scalar_operands, one);
            assert_memory_equal(&one[0], &values[i], sizeof one[0]);
            assert_true(i == 0 || starts[i] != starts[i - 1]);
        }
    }
}

static void run_kernel(const bj_codegen_family *unit, bj_generated_kernel kernel, unsigned abreast, size_t steps) {
    size_t values_count = bj_codegen_count_values(unit, abreast);
    unsigned char got[BJ_CODEGEN_LIVE_MOST * BJ_CODEGEN_WIDEST] = {0}, wanted[sizeof got];
    unsigned char operands[BJ_CODEGEN_OPERANDS * BJ_CODEGEN_WIDEST] = {0};
    if (unit->kind == BJ_CODEGEN_CHAINS)
        bj_codegen_fill_operands(unit, got, operands);
    else if (!unit->type->is_float)
        for (size_t i = 0; i < sizeof got; i++)
            got[i] = (unsigned char)(i * 37 + 11);
    else
        for (size_t i = 0; i < sizeof got; i += unit->type->bytes / unit->type->lanes)
            put_start(unit, got + i, (float)(i % 251) + 1);
    memcpy(wanted, got, sizeof got);
    assert_non_null(kernel);
    kernel(got, operands, 2);
    bj_codegen_compute_result(unit, abreast, 2 * steps, operands, wanted);
    if (memcmp(got, wanted, values_count * unit->type->bytes) != 0)
        fail_msg("%s %s%s%s with %zu values", unit->type->name, unit->operation, unit->then != NULL ? "+" : "",
                 unit->then != NULL ? unit->then : "", values_count);
}

static void test_kernels_return_what_they_should(void **state) {
    (void)state;
    size_t run = 0;
    for (size_t i = 0; i < bj_codegen_count_familys(); i++) {
        bj_codegen_family unit = bj_codegen_family_at(i);
        char name[48];
        bj_codegen_name_family(&unit, name, sizeof name);
        const bj_generated_family *table = &bj_generated_families[i];
        assert_string_equal(table->name, name);
        if (!table->is_supported(bj_platform_has_instructions))
            continue;
        for (unsigned s = 1; s <= unit.abreast; s++)
            for (int twice = 0; twice < 2 && bj_codegen_has_abreast(&unit, s); twice++, run++)
                run_kernel(&unit, table->kernels[2 * (s - 1) + twice], s, bj_codegen_count_steps(s, twice));
        unsigned most = unit.kind == BJ_CODEGEN_LIVE ? bj_codegen_most_live(unit.type) : 0;
        for (unsigned k = BJ_CODEGEN_LIVE_LEAST; k <= most; k++, run++)
            run_kernel(&unit, table->kernels[k - BJ_CODEGEN_LIVE_LEAST], k, bj_codegen_count_sweeps(k));
    }
    assert_null(bj_generated_families[bj_codegen_count_familys()].name);
    assert_true(run >= 34 * 40 + 4 * 130);
}

/* -fsyntax-only: the build compiles them in earnest. */
static void check_text(const char *compiler, const char *folder) {
    char *words[64] = {(char *)compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"};
    size_t count = 6;
    char paths[32][300];
    for (size_t i = 0; i < bj_codegen_count_files(); i++) {
        bj_codegen_file file = bj_codegen_file_at(i);
        char name[64];
        bj_codegen_name_file(&file, name, sizeof name);
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, name);
        words[count++] = paths[i];
    }
    bj_process process = {.words = words};
    bj_process_rules rules = {.jobs = 1, .limit_s = 100};
    bj_error error = {""};
    assert_int_equal(bj_platform_run_processes(&process, 1, &rules, &error), BJ_OK);
    if (process.exit_status == 127) {
        print_message("%s is not here\n", compiler);
        return;
    }
    if (process.exit_status != 0)
        fail_msg("%s: %s", compiler, process.output);
}

static void test_text_is_c_for_gcc_and_clang(void **state) {
    (void)state;
    char *folder = NULL;
    bj_error error = {""};
    if (bj_platform_make_folder(&folder, &error) != BJ_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < bj_codegen_count_files(); i++) {
        bj_codegen_file file = bj_codegen_file_at(i);
        char name[64], path[300];
        bj_codegen_name_file(&file, name, sizeof name);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        bj_codegen_write_file(&file, out);
        assert_int_equal(fclose(out), 0);
    }
    check_text("gcc", folder);
    check_text("clang", folder);
    bj_platform_remove_folder(folder);
    assert_int_not_equal(access(folder, F_OK), 0);
    free(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_are_listed_once),
        cmocka_unit_test(test_unrolls_differ_by_two),
        cmocka_unit_test(test_operands_stay_in_range),
        cmocka_unit_test(test_shift_comes_back),
        cmocka_unit_test(test_sweep_by_hand),
        cmocka_unit_test(test_moves_by_hand),
        cmocka_unit_test(test_lanes_are_scalars),
        cmocka_unit_test(test_kernels_return_what_they_should),
        cmocka_unit_test(test_text_is_c_for_gcc_and_clang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
