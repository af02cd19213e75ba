/* The contention probe where what collides is no part of the tree, as where buses or channels do not follow caches: the
 * groups must be the file's, or the answer must not be sure of others. */
#include "zoo_fixture.h"

typedef struct {
    const char *name;
    int cpus, last_shared_by; /* 0: private second levels, and nothing behind them */
    int domain;
    double gbs, cpu_gbs;
    bool by_crowds; /* no pair fills a domain */
} layout;

static bj_machine *open_layout(const layout *on) {
    json_t *file = json_pack("{s:s, s:s, s:f, s:i, s:[{s:i, s:i}, {s:i, s:i, s:s}], s:{s:i, s:f, s:[{s:i, s:f}]}, "
                             "s:{s:i}, s:{s:f}}",
                             "format", "blackjack-machine/1", "name", on->name, "clock_ghz", 2.5, "cpus", on->cpus,
                             "caches", "size", 32768, "latency", 4, "size", 262144, "latency", 14, "mapped", "physical",
                             "memory", "latency", 250, "cpu_gbs", on->cpu_gbs, "domains", "shared_by", on->domain,
                             "gbs", on->gbs, "page", "huge", 2 << 20, "noise", "jitter", 0.015);
    assert_non_null(file);
    if (on->last_shared_by > 0) {
        json_array_append_new(json_object_get(file, "caches"),
                              json_pack("{s:i, s:i, s:i, s:i, s:s}", "size", 4 << 20, "ways", 16, "latency", 40,
                                        "shared_by", on->last_shared_by, "mapped", "physical"));
        json_object_set_new(file, "exchange", json_pack("{s:f, s:f}", "L3", 45.0, "node", 110.0));
    }
    return open_changed(file);
}

static void put_caches(const layout *on, bj_answers *answers) {
    static const double bytes[] = {32768, 262144, 4 << 20}, cycles[] = {4, 14, 40};
    put_number(answers, "cache.levels", on->last_shared_by > 0 ? 3 : 2);
    put_number(answers, "cache.line_bytes", 64);
    put_number(answers, "memory.latency_ns", 100);
    for (int i = 0; i < (on->last_shared_by > 0 ? 3 : 2); i++) {
        char key[40];
        snprintf(key, sizeof key, "cache.L%d.size_bytes", i + 1);
        put_number(answers, key, bytes[i]);
        snprintf(key, sizeof key, "cache.L%d.capacity_bytes", i + 1);
        put_number(answers, key, bytes[i]);
        snprintf(key, sizeof key, "cache.L%d.latency_ns", i + 1);
        put_number(answers, key, cycles[i] / 2.5);
    }
}

/* One level, whose groups are runs of the domain's length. */
static bool are_domains(const layout *on, json_t *levels) {
    json_t *groups = json_object_get(json_array_get(levels, 0), "groups");
    bool same = json_array_size(levels) == 1 && json_array_size(groups) == (size_t)(on->cpus / on->domain);
    for (size_t g = 0; g < json_array_size(groups); g++)
        for (size_t i = 0; i < json_array_size(json_array_get(groups, g)); i++)
            same = same && json_array_size(json_array_get(groups, g)) == (size_t)on->domain &&
                   json_integer_value(json_array_get(json_array_get(groups, g), i)) ==
                       (json_int_t)(g * (size_t)on->domain + i);
    return same;
}

static void check_layout(const layout *on) {
    static const char *const probes[] = {"topology", "sharing", "contention"};
    bj_answers answers = {0};
    bj_machine *machine = open_layout(on);
    put_caches(on, &answers);
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        run_probe(probes[i], machine, &answers);
    const bj_answer *answer = bj_data_find_answer(&answers, "memory.contention");
    assert_true(bj_data_has_value(answer));
    json_t *value = json_loads(answer->structured, 0, NULL);
    bool same = are_domains(on, json_object_get(value, "levels"));
    if (on->by_crowds ? !same && answer->confidence > BJ_CONFIDENCE_LOW : !same)
        fail_msg("%s: %s (%s)", on->name, answer->structured, bj_data_name_confidence(answer->confidence));
    json_decref(value);
    bj_data_free_answers(&answers);
    close_machine(machine);
}

static void test_domains_across_caches(void **state) {
    (void)state;
    static const layout layouts[] = {
        {"buses of two across caches of three", 6, 3, 2, 8, 6, false},
        {"buses of four across caches of six", 12, 6, 4, 11, 8, false},
        {"buses of three across caches of eight", 24, 8, 3, 11, 8, false},
        {"buses of four within one flat machine", 16, 0, 4, 11, 8, false},
        {"crowds of eight within one flat machine", 16, 0, 8, 45, 8, false},
        {"crowds of six within one flat machine", 18, 0, 6, 28, 8, false},
        {"crowds of four across caches of six", 12, 6, 4, 18, 8, true},
        {"crowds of four across caches of five", 20, 5, 4, 18, 8, true},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        check_layout(&layouts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_domains_across_caches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
