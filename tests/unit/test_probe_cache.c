/* The cache probe (and the clock that it needs): its analysis on made-up curves, and both on a simulated machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "made_up_curve.h"
#include "made_up_tree.h"
#include "probes/cache/cache_samples.h"
#include "probes/cache/memory_walk.h"
#include "probes/probe.h"
#include "runner/keys.h"

static const made_up_machine stairs = {
    .caches = {{32 * KIB, 4, 0, false}, {256 * KIB, 12, 0, false}, {8 * MIB, 40, 0, false}},
    .cache_count = 3,
    .memory = 200};

static const bj_probe *probe_of(const char *name) {
    const bj_probe *probe = bj_probe_find(name);
    assert_non_null(probe);
    return probe;
}

static void make_curve(const made_up_machine *machine, size_t round_count, unsigned per_octave, double noise,
                       const char *unit, bj_curves *samples) {
    double x[POINTS_MAX];
    size_t count = make_grid(4 * KIB, 64 * MIB, per_octave, x);
    bj_curve *curve;
    bj_random random;
    bj_random_seed(&random, 5);
    memset(samples, 0, sizeof *samples);
    assert_int_equal(bj_data_add_curve(samples, BJ_CACHE_WALK, "cache", &curve, NULL), BJ_OK);
    bj_data_name_axes(curve, "working_set", "bytes", "latency", unit);
    assert_int_equal(bj_data_set_attribute_text(curve, BJ_CACHE_PAGES, BJ_CACHE_PAGES_HUGE, NULL), BJ_OK);
    for (size_t r = 0; r < round_count; r++)
        for (size_t i = 0; i < count; i++) {
            double y = time_of_walk(machine, x[i]) * (1 + noise * bj_random_normal(&random));
            assert_int_equal(bj_data_record_sample(curve, x[i], r, y, NULL), BJ_OK);
        }
}

static bj_answers analyse(const bj_curves *samples, const char *method, bool from_table, const bj_answers *earlier) {
    static const bj_answers nothing;
    bj_analyse_request request = {
        .method = method, .earlier = earlier != NULL ? earlier : &nothing, .seed = 1, .from_table = from_table};
    bj_answers answers = {0};
    bj_error error = {""};
    if (probe_of("cache")->analyse(samples, &request, &answers, &error) != BJ_OK)
        fail_msg("%s: %s", method != NULL ? method : "default", error.text);
    return answers;
}

static const bj_answer *get(const bj_answers *answers, const char *key) {
    const bj_answer *answer = bj_data_find_answer(answers, key);
    if (answer == NULL)
        fail_msg("no %s", key);
    return answer;
}

static const bj_answer *get_level(const bj_answers *answers, size_t level, const char *what) {
    char key[64];
    snprintf(key, sizeof key, "cache.L%zu.%s", level, what);
    return get(answers, key);
}

/* What holds of any answer, whatever the method. */
static void assert_well_formed(const bj_answers *answers) {
    for (size_t i = 0; i < answers->count; i++) {
        const bj_answer *answer = &answers->items[i];
        const bj_probe_key *key = bj_runner_find_key(probe_of("cache"), answer->key);
        if (key == NULL)
            fail_msg("%s is not among the keys that the probe provides", answer->key);
        assert_string_equal(answer->unit, key->unit);
        bool of_memory = strcmp(answer->evidence[0], BJ_MEMORY_WALK) == 0;
        if (!of_memory || strncmp(answer->key, "memory.", 7) != 0)
            assert_string_equal(answer->evidence[0], BJ_CACHE_WALK);
        assert_false(answer->has_claimed);
        if (answer->status == BJ_ANSWER_OK || answer->status == BJ_ANSWER_UNSTABLE) {
            assert_true(answer->has_interval);
            assert_true(answer->interval[0] <= answer->value && answer->value <= answer->interval[1]);
            assert_true(answer->confidence != BJ_CONFIDENCE_NONE);
        }
        if (answer->status != BJ_ANSWER_OK)
            assert_true(strlen(answer->reason) > 0);
        else
            assert_int_equal(strlen(answer->reason), 0);
    }
}

/* By every field that says something, and in the same order. */
static void assert_same_answers(const bj_answers *a, const bj_answers *b) {
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const bj_answer *one = &a->items[i], *two = &b->items[i];
        assert_string_equal(one->key, two->key);
        assert_string_equal(one->unit, two->unit);
        assert_string_equal(one->reason, two->reason);
        assert_string_equal(one->method, two->method);
        assert_int_equal(one->status, two->status);
        assert_int_equal(one->confidence, two->confidence);
        assert_true(one->value == two->value && one->has_interval == two->has_interval);
        assert_true(one->interval[0] == two->interval[0] && one->interval[1] == two->interval[1]);
        assert_true(one->has_p == two->has_p && one->p == two->p);
        assert_true(one->has_claimed == two->has_claimed && one->claimed == two->claimed);
    }
}

static void test_answers_of_rounds(void **state) {
    (void)state;
    bj_curves samples;
    make_curve(&stairs, 8, 8, 0.005, "ns", &samples);
    bj_answers answers = analyse(&samples, NULL, false, NULL);
    /* Nobody has looked how far memory goes: there may be more levels. */
    assert_int_equal(get(&answers, "cache.levels")->confidence, BJ_CONFIDENCE_MEDIUM);
    bj_data_free_answers(&answers);
    bj_curve *look;
    assert_int_equal(bj_data_add_curve(&samples, BJ_CACHE_LOOK, "cache", &look, NULL), BJ_OK);
    assert_int_equal(bj_data_record_sample(look, 448 * MIB, 0, 100, NULL), BJ_OK);
    answers = analyse(&samples, NULL, false, NULL);
    assert_well_formed(&answers);
    const bj_answer *levels = get(&answers, "cache.levels");
    assert_true(levels->value == 3 && levels->status == BJ_ANSWER_OK);
    assert_int_equal(levels->confidence, BJ_CONFIDENCE_HIGH);
    for (size_t i = 0; i < 3; i++) {
        const bj_answer *size = get_level(&answers, i + 1, "size_bytes");
        assert_int_equal(size->status, BJ_ANSWER_OK);
        assert_int_equal(size->confidence, BJ_CONFIDENCE_HIGH);
        assert_true(size->has_p && size->p <= 0.01);
        assert_true(fabs(size->value / stairs.caches[i].size - 1) < 0.05);
        assert_true(size->value == floor(size->value));
        assert_true(fabs(get_level(&answers, i + 1, "capacity_bytes")->value / stairs.caches[i].size - 1) < 0.125);
        assert_true(fabs(get_level(&answers, i + 1, "latency_ns")->value / stairs.caches[i].latency - 1) < 0.03);
    }
    assert_null(bj_data_find_answer(&answers, "cache.L4.size_bytes"));
    /* How long an addition takes is not known here. */
    assert_int_equal(get(&answers, "cache.L1.latency_cycles")->status, BJ_ANSWER_UNDETERMINED);
    assert_true(fabs(get(&answers, "memory.latency_ns")->value / stairs.memory - 1) < 0.03);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

/* Rounds of memory.walk: a window in the first TLB, one in the last, the whole. */
static void add_memory_walk(bj_curves *samples, double near_ns, double wide_ns, double whole_ns) {
    const double x[] = {128 * 1024, 4 * MIB, 256 * MIB}, y[] = {near_ns, wide_ns, whole_ns};
    bj_curve *curve;
    assert_int_equal(bj_data_add_curve(samples, BJ_MEMORY_WALK, "cache", &curve, NULL), BJ_OK);
    assert_int_equal(bj_data_set_attribute_text(curve, BJ_CACHE_PAGES, BJ_CACHE_PAGES_HUGE, NULL), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(curve, BJ_MEMORY_PAGE, 4096, NULL), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(curve, BJ_MEMORY_GRAIN, 64, NULL), BJ_OK);
    for (size_t r = 0; r < 8; r++)
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(bj_data_record_sample(curve, x[i], r, y[i] * (1 + 0.002 * (double)(r % 3)), NULL), BJ_OK);
}

/* With TLB misses by the whole, without by the window; and a prefetcher that learns windows is seen. */
static void test_latencies_of_memory(void **state) {
    (void)state;
    static const struct {
        double near, wide;
        bool plain;
    } cases[] = {{200, 205, true}, {150, 203, false}, {100, 102, false}};
    for (size_t i = 0; i < 3; i++) {
        bj_curves samples;
        bj_curve *look;
        make_curve(&stairs, 8, 8, 0.005, "ns", &samples);
        assert_int_equal(bj_data_add_curve(&samples, BJ_CACHE_LOOK, "cache", &look, NULL), BJ_OK);
        assert_int_equal(bj_data_record_sample(look, 448 * MIB, 0, 100, NULL), BJ_OK);
        add_memory_walk(&samples, cases[i].near, cases[i].wide, 260);
        bj_answers answers = analyse(&samples, NULL, false, NULL);
        assert_well_formed(&answers);
        const bj_answer *whole = get(&answers, "memory.latency_ns"),
                        *in_tlb = get(&answers, "memory.latency_in_tlb_ns");
        assert_true(fabs(whole->value / 260 - 1) < 0.01);
        assert_int_equal(whole->confidence, BJ_CONFIDENCE_HIGH);
        assert_string_equal(whole->evidence[0], BJ_MEMORY_WALK);
        assert_string_equal(whole->pages, BJ_CACHE_PAGES_HUGE);
        assert_string_equal(in_tlb->pages, BJ_CACHE_PAGES_HUGE);
        assert_int_equal(in_tlb->status, cases[i].plain ? BJ_ANSWER_OK : BJ_ANSWER_UNDETERMINED);
        if (cases[i].plain) {
            assert_true(fabs(in_tlb->value / cases[i].near - 1) < 0.01);
            /* One miss of 60 ns a page and turn, that 32 visits share. */
            assert_true(in_tlb->interval[0] <= 0.99 * cases[i].near - 60.0 / 32);
        } else {
            assert_non_null(strstr(in_tlb->reason, "prefetcher"));
        }
        bj_data_free_answers(&answers);
        bj_data_free_curves(&samples);
    }
}

/* Profiles of older versions have no such walk: what the largest one took, TLB misses and all. */
static void test_latency_of_memory_without_its_walk(void **state) {
    (void)state;
    bj_curves samples;
    make_curve(&stairs, 8, 8, 0.005, "ns", &samples);
    bj_answers answers = analyse(&samples, NULL, false, NULL);
    assert_true(fabs(get(&answers, "memory.latency_ns")->value / stairs.memory - 1) < 0.03);
    assert_int_equal(get(&answers, "memory.latency_in_tlb_ns")->status, BJ_ANSWER_UNDETERMINED);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

/* Cycles come from the yardstick of the rounds, whatever the clock said at another time. */
static void test_cycles_by_the_yardstick_of_the_rounds(void **state) {
    (void)state;
    static const char *const ids[] = {"cache.yardstick", "cache.yardstick.once"};
    bj_curves samples;
    bj_answers earlier = {0};
    bj_answer *add;
    assert_int_equal(bj_data_put_answer(&earlier, "op.int32.add.latency_ns", "ns", &add, NULL), BJ_OK);
    add->value = 0.25;
    make_curve(&stairs, 8, 8, 0.005, "ns", &samples);
    for (size_t i = 0; i < 2; i++) {
        bj_curve *curve;
        assert_int_equal(bj_data_add_curve(&samples, ids[i], "cache", &curve, NULL), BJ_OK);
        for (size_t r = 0; r < 8; r++)
            assert_int_equal(bj_data_record_sample(curve, 1, r, 0.5 * (1 + 0.002 * (double)(r % 3)), NULL), BJ_OK);
    }
    bj_answers answers = analyse(&samples, NULL, false, &earlier);
    for (size_t level = 1; level <= 3; level++) {
        const bj_answer *ns = get_level(&answers, level, "latency_ns"),
                        *cycles = get_level(&answers, level, "latency_cycles");
        assert_true(fabs(cycles->value / (2 * ns->value) - 1) < 1e-6);
        assert_true(cycles->interval[1] > 1.009 * cycles->value && cycles->interval[1] < 1.05 * cycles->value);
        assert_int_equal(cycles->evidence_count, 3);
    }
    bj_data_free_answers(&earlier);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

static void test_moving_level_is_unstable(void **state) {
    (void)state;
    bj_curves samples;
    make_curve(&stairs, 10, 8, 0.005, "ns", &samples);
    bj_curve *curve = &samples.items[0];
    for (size_t r = 0; r < curve->round_count; r++) {
        made_up_machine now = stairs;
        now.caches[2].size = r % 2 == 0 ? 4 * MIB : 8 * MIB;
        for (size_t i = 0; i < curve->x_count; i++)
            curve->rounds[r][i] = time_of_walk(&now, curve->x[i]);
    }
    bj_answers answers = analyse(&samples, NULL, false, NULL);
    assert_well_formed(&answers);
    const bj_answer *last = get_level(&answers, 3, "size_bytes");
    assert_int_equal(last->status, BJ_ANSWER_UNSTABLE);
    assert_true(last->interval[0] <= 4.3 * MIB && last->interval[1] >= 7.9 * MIB);
    assert_true(last->confidence < BJ_CONFIDENCE_HIGH);
    assert_int_equal(get_level(&answers, 1, "size_bytes")->status, BJ_ANSWER_OK);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

static void test_units_of_latencies(void **state) {
    (void)state;
    bj_curves samples;
    bj_answers earlier = {0};
    bj_answer *add;
    assert_int_equal(bj_data_put_answer(&earlier, "op.int32.add.latency_ns", "ns", &add, NULL), BJ_OK);
    add->status = BJ_ANSWER_OK;
    add->value = 0.25;
    static const struct {
        const char *unit;
        bool add_known, ns, cycles;
        double to_ns;
    } cases[] = {
        {"unit", false, false, false, 0}, {"unit", true, false, false, 0},   {"ns", false, true, false, 1},
        {"ns", true, true, true, 1},      {"cycles", false, false, true, 0}, {"cycles", true, true, true, 0.25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_curve(&stairs, 1, 2, 0, cases[i].unit, &samples);
        bj_answers answers = analyse(&samples, NULL, true, cases[i].add_known ? &earlier : NULL);
        assert_well_formed(&answers);
        const bj_answer *ns = bj_data_find_answer(&answers, "cache.L2.latency_ns"),
                        *cycles = bj_data_find_answer(&answers, "cache.L2.latency_cycles"),
                        *memory = bj_data_find_answer(&answers, "memory.latency_ns");
        assert_int_equal(ns != NULL, cases[i].ns);
        assert_int_equal(memory != NULL, cases[i].ns);
        assert_int_equal(cycles != NULL, cases[i].cycles);
        if (ns != NULL)
            assert_true(fabs(ns->value - 12 * cases[i].to_ns) < 1e-9);
        if (memory != NULL)
            assert_true(fabs(memory->value - 200 * cases[i].to_ns) < 1e-9);
        if (ns != NULL && cycles != NULL)
            assert_true(fabs(ns->value - 0.25 * cycles->value) < 1e-9);
        bj_data_free_answers(&answers);
        bj_data_free_curves(&samples);
    }
    bj_data_free_answers(&earlier);
}

static void test_sizes_of_a_table_are_among_its_points(void **state) {
    (void)state;
    made_up_machine machine = stairs;
    machine.caches[1] = (made_up_cache){384 * KIB, 12.5, 8, true};
    machine.caches[2] = (made_up_cache){6 * MIB, 40, 12, true};
    for (unsigned per_octave = 1; per_octave <= 4; per_octave++) {
        bj_curves samples;
        make_curve(&machine, 1, per_octave, 0.004, "unit", &samples);
        bj_answers answers = analyse(&samples, NULL, true, NULL);
        assert_well_formed(&answers);
        assert_true(get(&answers, "cache.levels")->value == 3);
        for (size_t level = 1; level <= 3; level++) {
            const bj_answer *size = get_level(&answers, level, "size_bytes");
            const bj_curve *curve = &samples.items[0];
            bool sampled = false;
            for (size_t i = 0; i < curve->x_count; i++)
                sampled = sampled || curve->x[i] == size->value;
            assert_true(sampled);
            /* A single sample a point promises nothing by itself. */
            assert_int_equal(size->status, BJ_ANSWER_OK);
        }
        bj_data_free_answers(&answers);
        bj_data_free_curves(&samples);
    }
}

static void test_flat_curve_is_undetermined(void **state) {
    (void)state;
    const made_up_machine flat = {.caches = {{4 * KIB, 7.3, 0, false}}, .cache_count = 1, .memory = 7.3};
    for (size_t rounds = 1; rounds <= 6; rounds += 5) {
        bj_curves samples;
        make_curve(&flat, rounds, 4, rounds > 1 ? 0.01 : 0, "ns", &samples);
        bj_answers answers = analyse(&samples, NULL, rounds == 1, NULL);
        assert_well_formed(&answers);
        const bj_answer *levels = get(&answers, "cache.levels");
        assert_int_equal(levels->status, BJ_ANSWER_UNDETERMINED);
        assert_non_null(strstr(levels->reason, "65536 KiB"));
        assert_null(bj_data_find_answer(&answers, "cache.L1.size_bytes"));
        bj_data_free_answers(&answers);
        bj_data_free_curves(&samples);
    }
}

static void test_no_curve_is_an_error(void **state) {
    (void)state;
    bj_curves samples = {0};
    bj_answers answers = {0}, nothing = {0};
    bj_analyse_request request = {.earlier = &nothing};
    bj_error error = {""};
    assert_int_equal(probe_of("cache")->analyse(&samples, &request, &answers, &error), BJ_ERR_FAILED);
    assert_non_null(strstr(error.text, BJ_CACHE_WALK));
    assert_int_equal(answers.count, 0);
    bj_data_free_answers(&answers);
}

static void test_every_method_on_many_curves(void **state) {
    (void)state;
    static const made_up_machine one = {.caches = {{64 * KIB, 3, 0, false}}, .cache_count = 1, .memory = 90};
    static const made_up_machine flat = {.caches = {{4 * KIB, 7, 0, false}}, .cache_count = 1, .memory = 7};
    static const made_up_machine smooth = {
        .caches = {{32 * KIB, 4, 8, false}, {512 * KIB, 14, 8, true}, {8 * MIB, 50, 16, true}},
        .cache_count = 3,
        .memory = 250,
        .reach = 256 * KIB,
        .miss = 8};
    const made_up_machine *const machines[] = {&stairs, &one, &flat, &smooth};
    const char *const *methods = probe_of("cache")->methods;
    assert_string_equal(methods[0], "levels");
    for (size_t m = 0; methods[m] != NULL; m++)
        for (size_t i = 0; i < 4; i++)
            for (size_t rounds = 1; rounds <= (i == 3 ? 3 : 1); rounds += 2) {
                bj_curves samples;
                make_curve(machines[i], rounds, 1, 0.01, "ns", &samples);
                bj_answers answers = analyse(&samples, methods[m], rounds == 1, NULL);
                assert_well_formed(&answers);
                const bj_answer *levels = get(&answers, "cache.levels");
                assert_true(levels->status == BJ_ANSWER_OK || levels->status == BJ_ANSWER_UNDETERMINED);
                if (m > 0) /* kept for comparison: none can tell a TLB from a cache */
                    for (size_t k = 0; k < answers.count; k++)
                        assert_true(answers.items[k].confidence <= BJ_CONFIDENCE_MEDIUM);
                bj_data_free_answers(&answers);
                bj_data_free_curves(&samples);
            }
}

/* 2012 paper: a cluster more than there are caches, the largest x of each but the last is a size. */
static void test_qt_cluster_on_stairs(void **state) {
    (void)state;
    bj_curves samples;
    make_curve(&stairs, 1, 4, 0.005, "ns", &samples);
    bj_answers answers = analyse(&samples, "qt_cluster", true, NULL);
    assert_true(get(&answers, "cache.levels")->value == 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(get_level(&answers, i + 1, "size_bytes")->value == stairs.caches[i].size);
        const bj_answer *capacity = get_level(&answers, i + 1, "capacity_bytes");
        assert_int_equal(capacity->status, BJ_ANSWER_UNDETERMINED);
    }
    assert_true(fabs(get(&answers, "memory.latency_ns")->value / 200 - 1) < 0.03);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

static void test_analyse_is_pure(void **state) {
    (void)state;
    const char *const *methods = probe_of("cache")->methods;
    bj_curves samples, untouched;
    make_curve(&stairs, 5, 4, 0.02, "ns", &samples);
    make_curve(&stairs, 5, 4, 0.02, "ns", &untouched);
    for (size_t m = 0; methods[m] != NULL; m++) {
        bj_answers one = analyse(&samples, methods[m], false, NULL), two = analyse(&samples, methods[m], false, NULL);
        assert_same_answers(&one, &two);
        bj_data_free_answers(&two);
        bj_data_free_answers(&one);
    }
    for (size_t r = 0; r < samples.items[0].round_count; r++)
        assert_memory_equal(samples.items[0].rounds[r], untouched.items[0].rounds[r],
                            samples.items[0].x_count * sizeof(double));
    bj_data_free_curves(&untouched);
    bj_data_free_curves(&samples);
}

static bool go_on(void *context, double fraction) {
    double *last = context;
    assert_true(fraction >= *last && fraction <= 1 + 1e-9);
    *last = fraction;
    return false;
}

static bool stop_now(void *context, double fraction) {
    (void)context;
    return fraction > 0.3;
}

static bj_measure_request measure_request(bj_machine *machine, bj_answers *earlier, double *progress) {
    return (bj_measure_request){.machine = machine,
                                .cpu = machine->facts.cpus[0],
                                .effort = BJ_EFFORT_QUICK,
                                .seed = 17,
                                .deadline_s = INFINITY,
                                .memory_bytes = 256u << 20,
                                .earlier = earlier,
                                .report_progress = go_on,
                                .progress_context = progress};
}

/* Clock, then cache, as a run does it. */
static bj_answers run_on(const char *path) {
    bj_machine *machine = NULL;
    bj_error error = {""};
    bj_answers answers = {0};
    if (bj_machine_open_simulated(path, 9, &machine, &error) != BJ_OK)
        fail_msg("%s", error.text);
    const char *const names[] = {"clock", "cache"};
    for (size_t i = 0; i < 2; i++) {
        bj_curves samples = {0};
        double progress = 0;
        bj_measure_request measuring = measure_request(machine, &answers, &progress);
        bj_analyse_request analysing = {.earlier = &answers, .seed = 17};
        if (probe_of(names[i])->measure(&measuring, &samples, &error) != BJ_OK ||
            probe_of(names[i])->analyse(&samples, &analysing, &answers, &error) != BJ_OK)
            fail_msg("%s: %s", names[i], error.text);
        assert_true(progress > 0.99);
        bj_data_free_curves(&samples);
    }
    machine->verbs->close(machine);
    return answers;
}

#define CORE2 BJ_SOURCE_DIR "/machines/core2_duo.json"

/* What a run on it answers, for several tests. */
static bj_answers honest;

static int run_honest(void **state) {
    (void)state;
    honest = run_on(CORE2);
    return 0;
}

static int free_honest(void **state) {
    (void)state;
    bj_data_free_answers(&honest);
    return 0;
}

static void test_simulated_machine(void **state) {
    (void)state;
    bj_answers answers = run_on(CORE2);
    assert_same_answers(&answers, &honest);
    /* 2.4 GHz, 32 KiB and 4 MiB, by the machine's file. */
    assert_true(fabs(get(&answers, "cpu.clock_ghz")->value / 2.4 - 1) < 0.03);
    assert_true(fabs(get(&answers, "op.int32.add.latency_ns")->value * 2.4 - 1) < 0.03);
    assert_true(get(&answers, "cache.levels")->value == 2);
    assert_true(fabs(get(&answers, "cache.L1.size_bytes")->value / (32 * KIB) - 1) < 0.05);
    assert_true(fabs(get(&answers, "cache.L2.capacity_bytes")->value / (4 * MIB) - 1) < 0.2);
    assert_true(fabs(get(&answers, "cache.L1.latency_cycles")->value / 3 - 1) < 0.05);
    assert_true(fabs(get(&answers, "cache.L2.latency_cycles")->value / 14 - 1) < 0.1);
    bj_data_free_answers(&answers);
}

/* Three rounds more, later in the run and by another seed: the same points and the same answers, told better. */
static void test_more_rounds(void **state) {
    (void)state;
    bj_machine *machine = NULL;
    bj_answers earlier = {0};
    bj_curves samples = {0}, before = {0};
    double progress = 0;
    bj_error error = {""};
    assert_int_equal(bj_machine_open_simulated(CORE2, 9, &machine, NULL), BJ_OK);
    bj_measure_request request = measure_request(machine, &earlier, &progress);
    assert_int_equal(probe_of("cache")->measure(&request, &samples, &error), BJ_OK);
    assert_int_equal(bj_data_copy_curves(&samples, "cache", &before, &error), BJ_OK);
    progress = 0;
    request.more_rounds = 3;
    request.seed = 4711;
    assert_int_equal(probe_of("cache")->measure(&request, &samples, &error), BJ_OK);
    assert_true(progress > 0.99);
    assert_int_equal(samples.count, before.count);
    for (size_t c = 0; c < before.count; c++) {
        const bj_curve *old = &before.items[c], *now = bj_data_find_curve(&samples, old->id);
        bool is_look = strcmp(old->id, BJ_CACHE_LOOK) == 0;
        assert_int_equal(now->round_count, old->round_count + (is_look ? 0 : 3));
        for (size_t i = 0, k = 0; i < old->x_count; i++) {
            while (k < now->x_count && now->x[k] < old->x[i])
                k++;
            assert_true(k < now->x_count && now->x[k] == old->x[i]);
            for (size_t r = 0; r < old->round_count; r++)
                assert_true(now->rounds[r][k] == old->rounds[r][i] || isnan(old->rounds[r][i]));
            for (size_t r = old->round_count; r < now->round_count; r++)
                assert_true(now->rounds[r][k] > 0);
        }
    }
    bj_answers answers = analyse(&samples, NULL, false, NULL);
    assert_true(get(&answers, "cache.levels")->value == 2);
    assert_true(fabs(get(&answers, "cache.L1.size_bytes")->value / (32 * KIB) - 1) < 0.05);
    assert_true(fabs(get(&answers, "cache.L2.capacity_bytes")->value / (4 * MIB) - 1) < 0.2);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&before);
    bj_data_free_curves(&samples);
    /* Nobody knows how earlier rounds were measured: none is added to them. */
    make_curve(&stairs, 2, 2, 0, "ns", &samples);
    assert_int_equal(probe_of("cache")->measure(&request, &samples, &error), BJ_OK);
    assert_int_equal(samples.items[0].round_count, 2);
    bj_data_free_curves(&samples);
    machine->verbs->close(machine);
}

/* What the system claims cannot reach a probe: lies change nothing. */
static void test_lying_claims_change_nothing(void **state) {
    (void)state;
    json_error_t trouble;
    json_t *file = json_load_file(CORE2, 0, &trouble);
    assert_non_null(file);
    json_t *claims = json_pack("{s:i, s:i, s:i, s:i, s:i}", "cache.levels", 4, "cache.L1.size_bytes", 65536,
                               "cache.L2.size_bytes", 262144, "cache.line_bytes", 128, "page.size_bytes", 65536);
    assert_non_null(claims);
    assert_int_equal(json_object_set_new(file, "claims", claims), 0);
    char *text = json_dumps(file, 0), *root = make_tree();
    assert_non_null(text);
    put(root, "/liar.json", text);
    char *path = path_in_tree(root, "/liar.json");
    /* It does lie. */
    bj_machine *machine = NULL;
    double claimed = 0;
    assert_int_equal(bj_machine_open_simulated(path, 9, &machine, NULL), BJ_OK);
    assert_true(machine->verbs->read_claim(machine, "cache.L1.size_bytes", machine->facts.cpus[0], &claimed));
    assert_true(claimed == 65536);
    machine->verbs->close(machine);
    bj_answers lied_to = run_on(path);
    assert_same_answers(&honest, &lied_to);
    bj_data_free_answers(&lied_to);
    free(path);
    remove_tree(root);
    free(text);
    json_decref(file);
}

static void test_interruption_and_deadline(void **state) {
    (void)state;
    bj_machine *machine = NULL;
    bj_answers earlier = {0};
    double progress = 0;
    assert_int_equal(bj_machine_open_simulated(CORE2, 9, &machine, NULL), BJ_OK);
    bj_measure_request request = measure_request(machine, &earlier, &progress);
    request.report_progress = stop_now;
    bj_curves samples = {0};
    bj_error error = {""};
    assert_int_equal(probe_of("cache")->measure(&request, &samples, &error), BJ_ERR_INTERRUPTED);
    bj_data_free_curves(&samples);
    /* A deadline that is over: one round, whole, and an answer from it. */
    request = measure_request(machine, &earlier, &progress);
    request.deadline_s = machine->verbs->read_clock(machine);
    samples = (bj_curves){0};
    progress = 0;
    assert_int_equal(probe_of("cache")->measure(&request, &samples, &error), BJ_OK);
    const bj_curve *walk = bj_data_find_curve(&samples, BJ_CACHE_WALK);
    assert_non_null(walk);
    assert_int_equal(walk->round_count, 1);
    for (size_t i = 0; i < walk->x_count; i++)
        assert_true(isfinite(walk->rounds[0][i]) && walk->rounds[0][i] > 0);
    bj_answers answers = analyse(&samples, NULL, false, NULL);
    assert_true(get(&answers, "cache.levels")->value == 2);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
    /* Too little memory to see anything. */
    request.memory_bytes = 65536;
    samples = (bj_curves){0};
    assert_int_equal(probe_of("cache")->measure(&request, &samples, &error), BJ_ERR_RESOURCE);
    bj_data_free_curves(&samples);
    machine->verbs->close(machine);
}

/* One round resamples to nothing, whatever it shows. */
static void test_one_round_is_never_sure(void **state) {
    (void)state;
    bj_curves samples;
    make_curve(&stairs, 1, 8, 0.005, "ns", &samples);
    bj_answers answers = analyse(&samples, NULL, false, NULL);
    for (size_t i = 0; i < answers.count; i++)
        assert_int_not_equal(answers.items[i].confidence, BJ_CONFIDENCE_HIGH);
    bj_data_free_answers(&answers);
    bj_data_free_curves(&samples);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_of_rounds),
        cmocka_unit_test(test_latencies_of_memory),
        cmocka_unit_test(test_latency_of_memory_without_its_walk),
        cmocka_unit_test(test_cycles_by_the_yardstick_of_the_rounds),
        cmocka_unit_test(test_moving_level_is_unstable),
        cmocka_unit_test(test_units_of_latencies),
        cmocka_unit_test(test_sizes_of_a_table_are_among_its_points),
        cmocka_unit_test(test_flat_curve_is_undetermined),
        cmocka_unit_test(test_no_curve_is_an_error),
        cmocka_unit_test(test_every_method_on_many_curves),
        cmocka_unit_test(test_qt_cluster_on_stairs),
        cmocka_unit_test(test_analyse_is_pure),
        cmocka_unit_test(test_simulated_machine),
        cmocka_unit_test(test_more_rounds),
        cmocka_unit_test(test_lying_claims_change_nothing),
        cmocka_unit_test(test_interruption_and_deadline),
        cmocka_unit_test(test_one_round_is_never_sure),
    };
    return cmocka_run_group_tests(tests, run_honest, free_honest);
}
