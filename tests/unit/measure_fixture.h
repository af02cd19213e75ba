/* A probe that measures a small simulated machine, while somebody counts what it maps and how it reports. */
#ifndef BJ_TESTS_UNIT_MEASURE_FIXTURE_H
#define BJ_TESTS_UNIT_MEASURE_FIXTURE_H

#include <math.h>

#include "probe_fixture.h"
#include "sim_fixture.h"

#define TESTED_MIB (UINT64_C(1) << 20)

/* The caches that open_fixture() tells of; all rates and times are exact. */
static const char *const small_machine = "{\"name\": \"small\", \"cpus\": 2, \"clock_ghz\": 2.0, \"caches\": ["
                                         "{\"size\": 32768, \"ways\": 8, \"latency\": 8, \"gbs\": 100}, "
                                         "{\"size\": 262144, \"ways\": 8, \"latency\": 24, \"gbs\": 50}], "
                                         "\"memory\": {\"latency\": 200, \"cpu_gbs\": 10}, \"misses_in_flight\": 10}";

typedef struct {
    fixture made;
    bj_machine *machine;
    bj_measure_request request;
    const bj_machine_verbs *verbs; /* the machine's own */
    bj_machine_verbs counting;
    uint64_t open_bytes, most_bytes; /* of arenas: now, and at most at once */
    unsigned reports, stop_at;       /* the report that is answered with "stop"; 0: none */
    double last_fraction;
    bool fell, left_range;
    bool refuse_huge;     /* what the machine grants is another thing later */
    unsigned huge_arenas; /* that were opened */
} measuring;

/* The verbs are told the machine only. */
static measuring *measured;

static inline bj_status count_open(bj_machine *machine, size_t bytes, bj_pages pages, int cpu, bj_arena **arena,
                                   bj_error *error) {
    if (pages == BJ_PAGES_HUGE && measured->refuse_huge)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "no huge pages");
    bj_status status = measured->verbs->open_arena(machine, bytes, pages, cpu, arena, error);
    if (status == BJ_OK)
        measured->open_bytes += (*arena)->mapping->bytes;
    measured->huge_arenas += status == BJ_OK && pages == BJ_PAGES_HUGE;
    measured->most_bytes = measured->open_bytes > measured->most_bytes ? measured->open_bytes : measured->most_bytes;
    return status;
}

static inline void count_close(bj_machine *machine, bj_arena *arena) {
    if (arena != NULL)
        measured->open_bytes -= arena->mapping->bytes;
    measured->verbs->close_arena(machine, arena);
}

static inline bool count_report(void *context, double fraction) {
    measuring *m = context;
    m->reports++;
    m->fell = m->fell || fraction < m->last_fraction;
    m->left_range = m->left_range || !(fraction >= 0 && fraction <= 1);
    m->last_fraction = fraction;
    return m->reports == m->stop_at;
}

/* Quick effort; the request may be changed until measure_probe(). */
static inline void open_measuring(measuring *m, const char *machine_text, uint64_t memory_bytes) {
    *m = (measuring){0};
    open_fixture(&m->made);
    m->machine = open_text(machine_text, 1);
    m->verbs = m->machine->verbs;
    m->counting = *m->verbs;
    m->counting.open_arena = count_open;
    m->counting.close_arena = count_close;
    m->machine->verbs = &m->counting;
    m->request = (bj_measure_request){.machine = m->machine,
                                      .cpu = m->machine->facts.cpus[0],
                                      .effort = BJ_EFFORT_QUICK,
                                      .seed = 1,
                                      .deadline_s = INFINITY,
                                      .memory_bytes = memory_bytes,
                                      .earlier = &m->made.earlier,
                                      .report_progress = count_report,
                                      .progress_context = m};
    measured = m;
}

/* However it ends, nothing stays mapped, and never more than was allowed. */
static inline bj_status measure_probe(measuring *m, const char *probe) {
    bj_error error = {""};
    bj_status status = bj_probe_find(probe)->measure(&m->request, &m->made.samples, &error);
    if (status != BJ_OK && status != BJ_ERR_INTERRUPTED)
        fail_msg("%s", error.text);
    assert_int_equal(m->open_bytes, 0);
    assert_true(m->most_bytes <= m->request.memory_bytes);
    return status;
}

static inline double clock_of(const measuring *m) {
    return m->machine->verbs->read_clock(m->machine);
}

static inline void close_measuring(measuring *m) {
    m->machine->verbs = m->verbs;
    close_machine(m->machine);
    close_fixture(&m->made);
}

static inline const bj_curve *get_curve(const measuring *m, const char *id) {
    const bj_curve *curve = bj_data_find_curve(&m->made.samples, id);
    if (curve == NULL)
        fail_msg("no curve %s", id);
    return curve;
}

static inline bool has_point(const bj_curve *curve, double x, size_t round) {
    for (size_t i = 0; i < curve->x_count; i++)
        if (curve->x[i] == x)
            return !isnan(curve->rounds[round][i]);
    return false;
}

static inline void expect_no_sample(const measuring *m, const char *id) {
    const bj_curve *curve = bj_data_find_curve(&m->made.samples, id);
    assert_true(curve == NULL || curve->round_count == 0);
    assert_int_equal(m->most_bytes, 0);
}

/* Measures once, then late rounds with another seed: every curve has the same points as before and gains that many
 * rounds, or nothing where it is one of those that only exploring measured (fewer rounds than the longest). */
static inline void expect_late_rounds(measuring *m, const char *probe, unsigned more_rounds) {
    bj_curves before = {0};
    bj_error error = {""};
    size_t longest = 0, continued = 0;
    assert_int_equal(measure_probe(m, probe), BJ_OK);
    assert_int_equal(bj_data_copy_curves(&m->made.samples, probe, &before, &error), BJ_OK);
    m->request.more_rounds = more_rounds;
    m->request.seed++;
    assert_int_equal(measure_probe(m, probe), BJ_OK);
    assert_int_equal(m->made.samples.count, before.count);
    for (size_t i = 0; i < before.count; i++)
        longest = before.items[i].round_count > longest ? before.items[i].round_count : longest;
    for (size_t i = 0; i < before.count; i++) {
        const bj_curve *old = &before.items[i], *now = get_curve(m, old->id);
        assert_int_equal(now->x_count, old->x_count);
        for (size_t k = 0; k < old->x_count; k++)
            assert_true(now->x[k] == old->x[k]);
        for (size_t r = 0; r < old->round_count; r++)
            assert_memory_equal(now->rounds[r], old->rounds[r], old->x_count * sizeof *old->x);
        if (now->round_count > old->round_count)
            assert_int_equal(now->round_count, old->round_count + more_rounds);
        else
            assert_true(old->round_count < longest);
        continued += now->round_count > old->round_count;
    }
    assert_true(continued > 0);
    bj_data_free_curves(&before);
}

/* Late rounds are on the pages of the first ones: where huge ones are no longer granted there are none, and where they
 * are granted by now, none is used. */
static inline void expect_same_pages(const char *probe, const char *id, const char *machine_text,
                                     uint64_t memory_bytes) {
    for (int huge_first = 0; huge_first < 2; huge_first++) {
        measuring m;
        open_measuring(&m, machine_text, memory_bytes);
        m.refuse_huge = huge_first == 0;
        assert_int_equal(measure_probe(&m, probe), BJ_OK);
        assert_int_equal(m.huge_arenas > 0, huge_first);
        size_t rounds = get_curve(&m, id)->round_count;
        m.refuse_huge = huge_first == 1;
        m.huge_arenas = 0;
        m.request.more_rounds = 1;
        m.request.seed++;
        assert_int_equal(measure_probe(&m, probe), BJ_OK);
        assert_int_equal(m.huge_arenas, 0);
        assert_int_equal(get_curve(&m, id)->round_count, rounds + (huge_first == 0));
        close_measuring(&m);
    }
}

/* A whole run says how far it is, from early on to the end. */
static inline void expect_steady_progress(const char *probe, const char *machine_text, uint64_t memory_bytes) {
    measuring m;
    open_measuring(&m, machine_text, memory_bytes);
    assert_int_equal(measure_probe(&m, probe), BJ_OK);
    assert_true(m.reports >= 6);
    assert_false(m.fell);
    assert_false(m.left_range);
    assert_true(m.last_fraction == 1);
    close_measuring(&m);
}

/* Told to stop, it does at once. */
static inline void expect_interruption(const char *probe, const char *machine_text, uint64_t memory_bytes) {
    for (unsigned stop_at = 1; stop_at <= 4; stop_at += 3) {
        measuring m;
        open_measuring(&m, machine_text, memory_bytes);
        m.stop_at = stop_at;
        assert_int_equal(measure_probe(&m, probe), BJ_ERR_INTERRUPTED);
        assert_int_equal(m.reports, stop_at);
        close_measuring(&m);
    }
}

/* Half of the time it wants, and none: fewer rounds, and what there is is returned. */
static inline void expect_deadline(const char *probe, const char *id, const char *machine_text, uint64_t memory_bytes) {
    measuring whole, part;
    open_measuring(&whole, machine_text, memory_bytes);
    assert_int_equal(measure_probe(&whole, probe), BJ_OK);
    size_t rounds = get_curve(&whole, id)->round_count;
    for (double share = 0.5; share >= 0; share -= 0.5) {
        open_measuring(&part, machine_text, memory_bytes);
        part.request.deadline_s = share * clock_of(&whole);
        assert_int_equal(measure_probe(&part, probe), BJ_OK);
        const bj_curve *curve = get_curve(&part, id);
        assert_in_range(curve->round_count, 1, share > 0 ? rounds - 1 : 1);
        assert_true(clock_of(&part) < clock_of(&whole));
        close_measuring(&part);
    }
    close_measuring(&whole);
}

#endif
