/* The kernel timer's plans, replayed range by range in the memory systems of the zoo. */
#include "zoo_fixture.h"

#include "machine/sim/memory_system.h"
#include "timer/plan.h"

/* What of the zoo can be held to it: whole frames by huge pages, and replacement that forgets what is old. On the
 * others luck decides, and what became of it is printed. */
static const char *const machines[] = {"zen3",      "zen4",    "ice_lake_sp",     "sapphire_rapids", "a64fx",
                                       "power10",   "no_l3",   "region_prefetch", "adjacent_line",   "three_way",
                                       "hashed_l2", "l2_768k", "epyc_2x64",       "neoverse_n1",     "plru_caches",
                                       "edram_l4",  "silent"};
static const char *const lucky[] = {"random_replacement", "core2_duo", "nehalem_ep", "omap3", "dunnington"};

typedef struct {
    bj_machine *machine;
    bj_timer_caches caches;
    bj_timer_plan plan;
    bj_arena *arenas[BJ_TIMER_OPERANDS_MAX + 2];
} replay;

static void read_truth(replay *r, const char *name) {
    json_t *truths = load_truths(), *truth = json_object_get(json_object_get(truths, name), "characteristics");
    const char *key;
    json_t *value;
    bj_answers answers = {0};
    bj_error error = {""};
    json_object_foreach(truth, key, value) {
        if (json_is_number(value))
            put_number(&answers, key, json_number_value(value));
    }
    if (bj_timer_read_caches(&answers, &r->caches, &error) != BJ_OK)
        fail_msg("%s: %s", name, error.text);
    bj_data_free_answers(&answers);
    json_decref(truths);
}

static void open_arenas(replay *r) {
    bool huge = self_of(r->machine)->spec->huge_bytes > 0;
    for (size_t i = 0; i < r->plan.operand_count + 2; i++)
        r->arenas[i] = r->plan.areas[i].bytes == 0
                           ? NULL
                           : open_arena(r->machine, r->plan.areas[i].bytes, huge ? BJ_PAGES_HUGE : BJ_PAGES_BASE);
}

static void close_replay(replay *r) {
    for (size_t i = 0; i < r->plan.operand_count + 2; i++)
        if (r->arenas[i] != NULL)
            r->machine->verbs->close_arena(r->machine, r->arenas[i]);
    close_machine(r->machine);
}

static size_t line_of(const replay *r) {
    return self_of(r->machine)->spec->caches[0].line_bytes;
}

static void replay_range(replay *r, size_t area, size_t offset, size_t bytes) {
    size_t line = line_of(r), first = offset / line, last = (offset + bytes - 1) / line, count = last - first + 1;
    uint32_t *places = malloc(count * sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[i] = (uint32_t)((first + i) * line / BJ_WALK_WORD_BYTES);
    bj_sim_visit_places(&self_of(r->machine)->memory, cpu_of(r->machine, 0), r->arenas[area]->mapping, places, count,
                        NULL);
    free(places);
}

/* One call of a kernel that reads each operand of the set once. */
static void call_kernel(replay *r, size_t set) {
    for (size_t i = 0; i < r->plan.operand_count; i++)
        replay_range(r, i, r->plan.areas[i].first + (size_t)((ptrdiff_t)set * r->plan.areas[i].stride),
                     r->plan.operands[i].bytes);
}

static void run_touches(replay *r) {
    for (size_t s = 0; s < r->plan.touch_count; s++) {
        const bj_timer_touch *touch = &r->plan.touches[s];
        for (unsigned pass = 0; touch->action != BJ_TOUCH_WRITE_SETS && pass < touch->passes; pass++)
            replay_range(r, touch->area, touch->offset, touch->bytes);
        for (size_t set = 0; touch->action == BJ_TOUCH_WRITE_SETS && set < r->plan.sets; set++)
            call_kernel(r, set);
    }
}

static replay open_replay(const char *name, const bj_timer_operand *operands, size_t count, size_t flush_bytes,
                          bool many_calls) {
    replay r = {.machine = open_zoo_machine(name)};
    read_truth(&r, name);
    bj_timer_request request = {.operands = operands,
                                .operand_count = count,
                                .caches = &r.caches,
                                .flush_bytes = flush_bytes > 0 ? flush_bytes : bj_timer_begin_flush(&r.caches),
                                .sets_bytes = flush_bytes > 0 ? flush_bytes : bj_timer_begin_flush(&r.caches),
                                .many_calls = many_calls};
    bj_error error = {""};
    if (bj_timer_make_plan(&request, &r.plan, &error) != BJ_OK)
        fail_msg("%s: %s", name, error.text);
    open_arenas(&r);
    return r;
}

/* Lines of an operand by the nearest level that holds them, without touching any. */
static size_t count_lines(const replay *r, size_t area, size_t *at) {
    const bj_sim_machine *self = self_of(r->machine);
    const bj_sim_cpu *cpu = cpu_of(r->machine, 0);
    size_t line = line_of(r), first = r->plan.areas[area].first / line;
    size_t last = (r->plan.areas[area].first + r->plan.operands[area].bytes - 1) / line;
    for (size_t i = first; i <= last; i++) {
        uint64_t address = r->arenas[area]->mapping->address + i * line;
        uint64_t physical = bj_sim_translate(&self->space, address);
        size_t level = 0;
        for (; level < self->spec->cache_count; level++) {
            const bj_sim_cache_shape *shape = cpu->caches[level]->shape;
            if (bj_sim_find_line(cpu->caches[level], bj_sim_pick_set(shape, address, physical),
                                 (uint32_t)(address >> shape->line_shift)) >= 0)
                break;
        }
        at[level]++;
    }
    return last - first + 1;
}

/* Shares of the operand in the asked level, and nearer. */
static void see_residency(const char *name, size_t level, double share, double *there, double *nearer) {
    bj_timer_operand operand = {.name = "x", .residency = (int)level};
    replay sizes = {.machine = NULL};
    read_truth(&sizes, name);
    operand.bytes = (size_t)(share * (double)sizes.caches.fits_bytes[level - 1]);
    replay r = open_replay(name, &operand, 1, 0, false);
    size_t at[BJ_SIM_MAX_CACHES + 1] = {0};
    run_touches(&r);
    double all = (double)count_lines(&r, 0, at);
    *there = (double)at[level - 1] / all;
    *nearer = 0;
    for (size_t i = 0; i + 1 < level; i++)
        *nearer += (double)at[i] / all;
    close_replay(&r);
}

static void test_operands_are_where_they_are_asked_for(void **state) {
    (void)state;
    static const double shares[] = {0.05, 0.2, 0.5};
    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
        replay r = {.machine = NULL};
        read_truth(&r, machines[m]);
        for (size_t level = 2; level <= r.caches.level_count; level++) {
            for (size_t s = 0; s < 3; s++) {
                double there, nearer;
                see_residency(machines[m], level, shares[s], &there, &nearer);
                if (there < 0.95 || nearer > 0.01)
                    fail_msg("%s, %.2f of L%zu: %.4f there, %.4f nearer", machines[m], shares[s], level, there, nearer);
            }
        }
    }
    for (size_t m = 0; m < sizeof lucky / sizeof lucky[0]; m++) {
        double there, nearer;
        see_residency(lucky[m], 2, 0.25, &there, &nearer);
        print_message("%s, a quarter of L2: %.3f there, %.3f nearer\n", lucky[m], there, nearer);
    }
}

static void test_cold_operands_are_nowhere(void **state) {
    (void)state;
    for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
        const bj_timer_operand operands[] = {{.name = "c", .bytes = 100000},
                                             {.name = "w", .bytes = 8192, .residency = BJ_RESIDENT_WARM}};
        replay r = open_replay(machines[m], operands, 2, 0, false);
        size_t cold[BJ_SIM_MAX_CACHES + 1] = {0}, warm[BJ_SIM_MAX_CACHES + 1] = {0};
        run_touches(&r);
        size_t lines = count_lines(&r, 0, cold);
        count_lines(&r, 1, warm);
        if ((double)cold[self_of(r.machine)->spec->cache_count] < 0.99 * (double)lines)
            fail_msg("%s: %zu of %zu lines are cold", machines[m], cold[self_of(r.machine)->spec->cache_count], lines);
        assert_true(warm[0] * line_of(&r) >= 8192);
        close_replay(&r);
    }
}

static double count_cycles(replay *r) {
    const bj_sim_spec *spec = self_of(r->machine)->spec;
    bj_sim_cpu *cpu = cpu_of(r->machine, 0);
    double cycles = 0;
    for (size_t i = 0; i <= spec->cache_count; i++)
        cycles += (double)cpu->counts.hits[i] *
                  (i < spec->cache_count ? spec->caches[i].latency_cycles : spec->memory_latency_cycles);
    return cycles;
}

/* Every call of many finds its set cold, from the first traversal to the third. */
static void test_self_flushing_area(void **state) {
    (void)state;
    const bj_timer_operand operands[] = {{.name = "x", .bytes = 40000}, {.name = "y", .bytes = 40000}};
    replay r = open_replay("no_l3", operands, 2, 0, true);
    run_touches(&r);
    bj_sim_cpu *cpu = cpu_of(r.machine, 0);
    bj_sim_counts before = cpu->counts;
    for (size_t call = 0; call < 3 * r.plan.sets; call++)
        call_kernel(&r, call % r.plan.sets);
    double visits = 0, missed = (double)(cpu->counts.hits[2] - before.hits[2]);
    for (int i = 0; i < 3; i++)
        visits += (double)(cpu->counts.hits[i] - before.hits[i]);
    assert_true(missed >= 0.999 * visits);
    close_replay(&r);
}

/* A flush inside the timed loop, less a loop that only flushes, is no cold time: alone, the flush area fits where it
 * does not beside the operands, so that the loop of flushes is too cheap (2008, section 4). */
static void test_subtracting_flushes_is_wrong(void **state) {
    (void)state;
    enum { CALLS = 10 };
    const bj_timer_operand operands[] = {{.name = "x", .bytes = 128 * 1024}, {.name = "y", .bytes = 128 * 1024}};
    /* All of a second level of 1 MiB. */
    replay r = open_replay("no_l3", operands, 2, 1000 * 1024, false);
    size_t flush = BJ_AREA_FLUSH(&r.plan);
    double begin = 0, with = 0, without = 0;
    for (int loop = 0; loop < 2; loop++) {
        for (int call = 0; call <= CALLS; call++) {
            if (call == 1)
                begin = count_cycles(&r); /* the first settles */
            replay_range(&r, flush, 0, 1000 * 1024);
            if (loop == 0)
                call_kernel(&r, 0);
        }
        *(loop == 0 ? &with : &without) = (count_cycles(&r) - begin) / CALLS;
    }
    double lines = 2.0 * 128 * 1024 / 64, truth = lines * self_of(r.machine)->spec->memory_latency_cycles;
    double told = with - without;
    print_message("flush in the loop, flushes taken off: %.2f of the cold time\n", told / truth);
    assert_true(told > 1.5 * truth);
    close_replay(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operands_are_where_they_are_asked_for),
        cmocka_unit_test(test_cold_operands_are_nowhere),
        cmocka_unit_test(test_self_flushing_area),
        cmocka_unit_test(test_subtracting_flushes_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
