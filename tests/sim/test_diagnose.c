/* Loads of one kind each on machines of the zoo: named rightly, or not at all. What a load collides with follows from
 * the machine's file. Rows are in tests/cli/test_diagnose.sh: few machines have them. */
#include "../unit/sim_fixture.h"

#include <math.h>

#include "diagnose/diagnose.h"

/* The cpus that share the last cache with the first, one of each core. */
static void fill_chip(const bj_sim_spec *spec, bj_diagnose_chip *chip, int *cpus) {
    const bj_sim_cache_spec *last = &spec->caches[spec->cache_count - 1];
    *chip = (bj_diagnose_chip){.cpus = cpus, .chips = 1, .cache_bytes = (double)last->size_bytes};
    for (uint64_t i = 0; i < last->shared_by; i += spec->smt)
        cpus[chip->count++] = spec->os_number[i];
    chip->cache_sharers = chip->count;
}

static double chip_gbs(const bj_sim_spec *spec, double cores) {
    double threads = cores * (double)spec->smt, gbs = cores * spec->memory_cpu_gbs;
    for (size_t d = 0; d < spec->domain_count; d++)
        gbs = fmin(gbs, spec->domains[d].gbs * fmax(threads / (double)spec->domains[d].shared_by, 1));
    return gbs;
}

static bj_diagnosis diagnose_load(const char *name, const char *kind, uint64_t seed) {
    char path[300], text[400];
    int cpus[64];
    bj_machine *machine = NULL;
    bj_error error = {""};
    bj_diagnose_chip chip;
    snprintf(path, sizeof path, BJ_SOURCE_DIR "/machines/%s.json", name);
    assert_int_equal(bj_machine_open_simulated(path, seed, &machine, &error), BJ_OK);
    const bj_sim_spec *spec = self_of(machine)->spec;
    fill_chip(spec, &chip, cpus);
    double n = (double)chip.count;
    if (strcmp(kind, "cache") == 0)
        snprintf(text, sizeof text, "\"compute_ns\": 1000, \"reuse\": {\"bytes\": %.0f, \"accesses\": 100}",
                 chip.cache_bytes * fmax(0.6, 1.8 / n));
    else if (strcmp(kind, "bandwidth") == 0)
        snprintf(text, sizeof text, "\"compute_ns\": %g, \"stream\": {\"bytes\": 65536}",
                 65536 / fmin(1.7 * chip_gbs(spec, n) / n, spec->memory_cpu_gbs) - 65536 / spec->memory_cpu_gbs);
    else
        snprintf(text, sizeof text, "\"compute_ns\": 10000, \"reuse\": {\"bytes\": 8192, \"accesses\": 100}");
    char load[600];
    snprintf(load, sizeof load, "{\"format\": \"blackjack-load/1\", \"name\": \"%s\", %s}", kind, text);
    write_machine(load, strlen(load), path, sizeof path);
    assert_int_equal(bj_machine_attach_load(machine, path, NULL, &error), BJ_OK);
    unlink(path);
    bj_diagnose_request request = {.machine = machine,
                                   .chip = &chip,
                                   .densities = {1, chip.count},
                                   .density_count = 2,
                                   .rounds = 10,
                                   .deadline_s = INFINITY,
                                   .seed = seed};
    bj_diagnose_samples samples;
    bj_diagnosis diagnosis = {0};
    if (bj_diagnose_measure(&request, &samples, &error) != BJ_OK ||
        bj_diagnose_analyse(&request, &samples, &diagnosis, &error) != BJ_OK)
        fail_msg("%s", error.text);
    bj_diagnose_free_samples(&samples);
    close_machine(machine);
    return diagnosis;
}

static void names_loads_of_one_kind(void **state) {
    static const char *const machines[] = {"nehalem_ep", "zen3", "ring_8", "plru_caches"};
    static const char *const kinds[] = {"none", "cache", "bandwidth"};
    size_t right = 0, all = 0;
    (void)state;
    for (size_t m = 0; m < 4; m++)
        for (size_t k = 0; k < 3; k++)
            for (uint64_t seed = 1; seed <= 2; seed++, all++) {
                bj_diagnosis d = diagnose_load(machines[m], kinds[k], seed);
                const char *named = bj_diagnose_name_verdict(d.verdict);
                right += strcmp(named, kinds[k]) == 0;
                /* Not knowing is no error; a wrong name is. */
                if (strcmp(named, kinds[k]) != 0 && d.verdict != BJ_VERDICT_UNDETERMINED)
                    fail_msg("%s, %s: %s, %s", machines[m], kinds[k], named, d.reason);
            }
    if (right * 100 < all * 95)
        fail_msg("%zu of %zu", right, all);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_loads_of_one_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
