/* What matters first: each line only from answers that are there, and no surer than they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile_fixture.h"
#include "report/headline.h"

static bj_answer *put(bj_profile *profile, const char *key, const char *unit, double value, bj_confidence confidence) {
    bj_answer *answer;
    assert_int_equal(bj_data_put_answer(&profile->answers, key, unit, &answer, NULL), BJ_OK);
    answer->value = value;
    answer->has_interval = true;
    answer->interval[0] = value * 0.5;
    answer->interval[1] = value * 1.5;
    answer->confidence = confidence;
    return answer;
}

static bj_answer *claim(bj_answer *answer, double value) {
    answer->has_claimed = true;
    answer->claimed = value;
    return answer;
}

static void check(const bj_profile *profile, size_t count, const char *const *lines) {
    bj_headline headline;
    bj_report_make_headline(profile, &headline);
    for (size_t i = 0; i < count && i < headline.count; i++)
        assert_string_equal(headline.lines[i], lines[i]);
    assert_int_equal(headline.count, count);
}

static void nothing_is_known(void **state) {
    check(*state, 1, (const char *const[]){"Caches and memory: not measured."});
    bj_answer *levels = put(*state, "cache.levels", "count", 0, BJ_CONFIDENCE_NONE);
    levels->status = BJ_ANSWER_UNDETERMINED;
    snprintf(levels->reason, sizeof levels->reason, "no step");
    check(*state, 2, (const char *const[]){"Caches: undetermined: no step.", "Memory: not measured."});
    put(*state, "memory.latency_ns", "ns", 0, BJ_CONFIDENCE_NONE)->status = BJ_ANSWER_FAILED;
    check(*state, 2, (const char *const[]){"Caches: undetermined: no step.", "Memory: latency failed."});
}

static void sure_answers_are_advice(void **state) {
    bj_profile *profile = *state;
    claim(put(profile, "cache.L1.size_bytes", "bytes", 32768, BJ_CONFIDENCE_HIGH), 32768);
    put(profile, "cache.L1.latency_cycles", "cycles", 3.99, BJ_CONFIDENCE_HIGH);
    claim(put(profile, "cache.L2.size_bytes", "bytes", 524288, BJ_CONFIDENCE_MEDIUM), 1048576);
    put(profile, "cache.L2.latency_ns", "ns", 3.5, BJ_CONFIDENCE_MEDIUM);
    put(profile, "cache.L3.size_bytes", "bytes", 8388608, BJ_CONFIDENCE_HIGH);
    put(profile, "memory.latency_ns", "ns", 125, BJ_CONFIDENCE_HIGH);
    put(profile, "memory.latency_in_tlb_ns", "ns", 91, BJ_CONFIDENCE_HIGH);
    put(profile, "memory.read_gbs", "GB/s", 34, BJ_CONFIDENCE_HIGH);
    put(profile, "page.size_bytes", "bytes", 4096, BJ_CONFIDENCE_HIGH);
    put(profile, "tlb.L1.entries", "count", 64, BJ_CONFIDENCE_HIGH);
    put(profile, "tlb.L2.entries", "count", 2048, BJ_CONFIDENCE_HIGH);
    put(profile, "tlb.L2.miss_ns", "ns", 7.5, BJ_CONFIDENCE_HIGH);
    check(profile, 5,
          (const char *const[]){"L1 32 KiB (claimed 32 KiB), 4 cycles: block below it.",
                                "L2 512 KiB (claimed 1 MiB), 3.5 ns: count on 0.5 of the claim.",
                                "L3 8 MiB: block below it.",
                                "Memory 125 ns, 91 ns within the TLB's reach, 34 GB/s a core.",
                                "TLB reach 8 MiB (2048 x 4 KiB): beyond it up to 7.5 ns more an access."});
}

/* Neither a doubtful nor an unsteady number is said as if it were one. */
static void doubt_is_said(void **state) {
    bj_profile *profile = *state;
    claim(put(profile, "cache.L1.size_bytes", "bytes", 32768, BJ_CONFIDENCE_LOW), 32768);
    put(profile, "cache.L1.latency_cycles", "cycles", 4, BJ_CONFIDENCE_LOW);
    claim(put(profile, "cache.L2.size_bytes", "bytes", 8388608, BJ_CONFIDENCE_MEDIUM), 33554432)->status =
        BJ_ANSWER_UNSTABLE;
    put(profile, "cache.L3.size_bytes", "bytes", 0, BJ_CONFIDENCE_NONE)->status = BJ_ANSWER_UNDETERMINED;
    put(profile, "memory.latency_ns", "ns", 100, BJ_CONFIDENCE_LOW);
    put(profile, "memory.read_gbs", "GB/s", 30, BJ_CONFIDENCE_HIGH)->status = BJ_ANSWER_UNSTABLE;
    put(profile, "page.size_bytes", "bytes", 4096, BJ_CONFIDENCE_HIGH);
    put(profile, "tlb.L1.entries", "count", 64, BJ_CONFIDENCE_LOW);
    check(profile, 4,
          (const char *const[]){"L1 16 to 48 KiB (claimed 32 KiB), low confidence: count on 16 KiB at most.",
                                "L2 4 to 12 MiB (claimed 32 MiB), unstable: do not tune for it.",
                                "L3: size undetermined.",
                                "Memory 50 to 150 ns (low confidence), 15 to 45 GB/s a core (unstable)."});
}

/* However many levels a profile has, memory keeps its line. */
static void no_more_than_five_lines(void **state) {
    char key[64];
    for (int level = 1; level <= 8; level++) {
        snprintf(key, sizeof key, "cache.L%d.size_bytes", level);
        put(*state, key, "bytes", 1024 << level, BJ_CONFIDENCE_HIGH);
        snprintf(key, sizeof key, "tlb.L%d.entries", level);
        put(*state, key, "count", 64 << level, BJ_CONFIDENCE_HIGH);
    }
    put(*state, "page.size_bytes", "bytes", 4096, BJ_CONFIDENCE_HIGH);
    put(*state, "memory.latency_ns", "ns", 100, BJ_CONFIDENCE_HIGH);
    check(*state, 5,
          (const char *const[]){"L1 2 KiB: block below it.", "L2 4 KiB: block below it.", "L3 8 KiB: block below it.",
                                "L4 16 KiB: block below it.", "Memory 100 ns."});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(sure_answers_are_advice, setup, teardown),
        cmocka_unit_test_setup_teardown(doubt_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(no_more_than_five_lines, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
