/* Samples of whole curves, altered: a small machine is measured once, by every probe; each input is a list of changes
 * to the curves of one probe, and what comes of them is written, read, analysed anew and planned a verification by.
 *
 * The first byte says which probe, each further eight are one change. So inputs stay small where curves are large. */
#include <math.h>

#include "fuzz.h"
#include "fuzz_text.h"
#include "machine/sim/sim_machine.h"
#include "probes/probe.h"
#include "profile/profile.h"
#include "runner/header.h"
#include "runner/runner.h"
#include "verify/verify_parts.h"

enum { CHANGE_BYTES = 8, CHANGES_MOST = 64, PROBES_MOST = 64 };

static const char machine_text[] =
    "{\"name\": \"x\", \"cpus\": 2, \"caches\": [{\"size\": 8192, \"ways\": 4, \"latency\": 4}, {\"size\": 65536, "
    "\"ways\": 8, \"latency\": 20, \"shared_by\": 2}], \"memory\": {\"latency\": 200, \"cpu_gbs\": 10, \"domains\": "
    "[{\"shared_by\": 2, \"gbs\": 15}]}, \"tlbs\": [{\"entries\": 16, \"ways\": 4, \"latency\": 0}], \"walk\": 30, "
    "\"noise\": {\"jitter\": 0.015, \"spike_rate\": 0.01, \"spike_factor\": 5}}";

/* Of each probe that has curves: a profile with the answers of all and its curves alone, as text. */
static struct {
    bool is_ready;
    bj_machine *machine;
    const bj_probe *probes[PROBES_MOST];
    char *texts[PROBES_MOST];
    size_t lengths[PROBES_MOST], count;
} base;

static void keep_probe(const bj_profile *whole, const char *answers, size_t length, const bj_probe *probe) {
    bj_profile part;
    bj_error error = {""};
    bj_profile_init(&part);
    require(bj_profile_parse_answers("base", answers, length, &part, &error) == BJ_OK, "answers are read");
    bj_data_free_curves(&part.curves);
    part.curves = (bj_curves){0};
    require(bj_data_copy_curves(&whole->curves, probe->name, &part.curves, &error) == BJ_OK, "curves are copied");
    if (part.curves.count > 0) {
        base.probes[base.count] = probe;
        base.texts[base.count] = write_text(&part, &base.lengths[base.count]);
        base.count++;
    }
    bj_profile_free(&part);
}

static void measure_once(void) {
    bj_sim_spec *spec = NULL;
    bj_profile whole;
    bj_error error = {""};
    const bj_probe **order = NULL;
    size_t count = 0, length = 0;
    const bj_run_plan all = {.effort = BJ_EFFORT_QUICK, .budget_s = INFINITY, .seed = 1};
    bj_profile_init(&whole);
    bj_status status = bj_sim_parse_spec("machine", machine_text, strlen(machine_text), &spec, &error);
    if (status == BJ_OK)
        status = bj_sim_open_machine(spec, 1, &base.machine, &error);
    if (status == BJ_OK)
        status = bj_runner_fill_header(base.machine, &all, &whole, &error);
    if (status == BJ_OK)
        status = bj_runner_run(base.machine, &all, &whole, &error);
    if (status == BJ_OK)
        status = bj_runner_order_probes(&all, &order, &count, &error);
    if (status != BJ_OK)
        fprintf(stderr, "fuzz: %s\n", error.text);
    require(status == BJ_OK, "a small machine is measured");
    char *answers = write_text(&whole, &length);
    for (size_t i = 0; i < count && base.count < PROBES_MOST; i++)
        keep_probe(&whole, answers, length, order[i]);
    free(answers);
    free(order);
    bj_profile_free(&whole);
    require(base.count > 0, "there are curves");
    base.is_ready = true;
}

/* Times that fuzzers like: of all magnitudes, equal ones among them. */
static double make_value(unsigned byte) {
    return byte % 16 == 0 ? 1 : ldexp(1 + byte % 16 / 16.0, (int)(byte / 16) * 4 - 24);
}

static void change_point(bj_curve *curve, const uint8_t *change, size_t at) {
    double *row = curve->rounds[change[3] % curve->round_count], value = make_value(change[4]);
    size_t end = at + change[5] < curve->x_count ? at + change[5] : curve->x_count;
    for (size_t i = at; i < end; i++)
        row[i] = change[0] % 6 == 0 ? value : change[0] % 6 == 1 ? NAN : change[0] % 6 == 2 ? row[i] * value : row[at];
}

static void apply(bj_profile *profile, const uint8_t *change) {
    bj_curve *curve = &profile->curves.items[change[1] % profile->curves.count];
    if (curve->x_count == 0 || curve->round_count == 0)
        return;
    size_t at = (size_t)(change[2] | change[6] << 8) % curve->x_count;
    if (change[0] % 6 < 4) {
        change_point(curve, change, at);
    } else if (change[0] % 6 == 4) { /* all rounds: a step that was not there */
        for (size_t r = 0; r < curve->round_count; r++)
            for (size_t i = at; i < curve->x_count; i++)
                curve->rounds[r][i] *= make_value(change[4]);
    } else { /* fewer points */
        curve->x_count = at + 1;
    }
}

static void check_answers(bj_profile *profile) {
    bj_verification verification = {0};
    bj_error error = {""};
    const bj_verify_request request = {
        .machine = base.machine, .here = profile, .profiles = profile, .profile_count = 1, .budget_s = 1};
    for (size_t i = 0; i < profile->answers.count; i++)
        require(isfinite(profile->answers.items[i].value), "answers are finite");
    if (bj_verify_plan(&request, &verification, &error) == BJ_OK)
        require(verification.count <= BJ_VERIFY_CHECKS_MOST, "a plan has its length");
    else
        require(error.text[0] != '\0', "a plan or a reason");
    bj_verify_free(&verification);
}

/* A fuzzer calls it before it looks at the time. */
int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerInitialize(int *count, char ***words) {
    (void)count;
    (void)words;
    measure_once();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bj_profile profile;
    bj_error error = {""};
    if (!base.is_ready)
        measure_once();
    if (size == 0)
        return 0;
    size_t which = data[0] % base.count, changes = (size - 1) / CHANGE_BYTES, length = 0;
    bj_profile_init(&profile);
    require(bj_profile_parse("base", base.texts[which], base.lengths[which], &profile, &error) == BJ_OK, "read again");
    for (size_t i = 0; i < changes && i < CHANGES_MOST; i++)
        apply(&profile, data + 1 + i * CHANGE_BYTES);
    char *text = write_text(&profile, &length);
    bj_profile_free(&profile);
    bj_profile_init(&profile);
    bj_status status = bj_profile_parse("input", text, length, &profile, &error);
    free(text);
    if (status != BJ_OK) {
        require_refusal(status, &error);
        return 0;
    }
    status = bj_runner_reanalyse(&profile, &error);
    if (status != BJ_OK)
        fprintf(stderr, "fuzz: %s\n", error.text);
    require(status == BJ_OK, "odd samples give odd answers, no failure of the whole");
    check_answers(&profile);
    free(write_text(&profile, &length));
    bj_profile_free(&profile);
    return 0;
}
