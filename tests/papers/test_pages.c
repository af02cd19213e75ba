/* The 2012 paper's page size and TLBs (3.2), by the biggest scaled step and by clusters. */
#include "paper_fixture.h"

/* "The page size is 4KB on both ARM and Nehalem, and 16KB on Itanium." */
static void test_pages(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        double kib;
    } cases[] = {{"omap3", 4}, {"nehalem_ep", 4}, {"itanium2", 16}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bj_answers answers = ASK(load_machine(cases[i].machine), "paper", "page");
        ASSERT_NUMBER(&answers, "page.size_bytes", cases[i].kib * KIB);
        bj_data_free_answers(&answers);
    }
}

static json_t *machine_of_tlb(unsigned own_pages) {
    json_t *file = load_machine("core2_duo");
    json_object_set_new(file, "tlbs", json_pack("[{s:i,s:i}]", "entries", 512, "ways", 0));
    json_object_set_new(file, "own_pages", json_integer(own_pages));
    return file;
}

/* "A need for the function stack and the code segment which will use one TLB page each, thus reducing the observable
 * TLB size by two." */
static void test_a_tlb_that_looks_two_smaller(void **state) {
    (void)state;
    bj_answers whole = ASK(machine_of_tlb(0), "paper", "tlb"), less = ASK(machine_of_tlb(2), "paper", "tlb");
    ASSERT_NUMBER(&whole, "tlb.L1.entries", 512);
    ASSERT_NUMBER(&less, "tlb.L1.entries", 510);
    bj_data_free_answers(&whole);
    bj_data_free_answers(&less);
}

/* "Both Level 1 and Level 2 TLBs are identified accurately." */
static void test_two_levels(void **state) {
    (void)state;
    bj_answers answers = ASK(load_machine("itanium2"), "paper", "page", "tlb");
    ASSERT_NUMBER(&answers, "tlb.L1.entries", 32);
    ASSERT_NUMBER(&answers, "tlb.L2.entries", 128);
    bj_data_free_answers(&answers);
}

/* What the data cache does is told by what is known of it: Core 2's first level has as many lines as 512 pages take,
 * and that is no TLB. */
static void test_a_cache_is_no_tlb(void **state) {
    (void)state;
    for (int known = 0; known <= 1; known++) {
        bj_machine *machine = open_zoo_machine("core2_duo");
        bj_answers answers = {0};
        if (known) {
            put_number(&answers, "cache.levels", 2);
            put_number(&answers, "cache.line_bytes", 64);
            put_number(&answers, "cache.L1.size_bytes", 32 * KIB);
            put_number(&answers, "cache.L1.latency_ns", 1.25);
            put_number(&answers, "cache.L2.latency_ns", 5.83);
        }
        ask("paper", "tlb", machine, &answers);
        ASSERT_WITHIN(&answers, "tlb.L1.entries", 16, 17);
        ASSERT_WITHIN(&answers, "tlb.L2.entries", 256, 257);
        ASSERT_NUMBER(&answers, "tlb.levels", known ? 2 : 3);
        bj_data_free_answers(&answers);
        close_machine(machine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_a_tlb_that_looks_two_smaller),
        cmocka_unit_test(test_two_levels),
        cmocka_unit_test(test_a_cache_is_no_tlb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
