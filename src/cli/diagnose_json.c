/* "blackjack-diagnosis/1", as docs/diagnosis.schema.json has it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "cli/diagnose_output.h"
#include "data/number.h"
#include "profile/json_text.h"

static const char *const resources[BJ_RESOURCES] = {"cache", "bandwidth", "dram_rows"};

static json_t *number(double value) {
    return isfinite(value) ? json_real(bj_data_round_number(value, BJ_ANSWER_DIGITS)) : json_null();
}

/* Command lines may hold any bytes; jansson takes none that are not UTF-8. */
static json_t *make_text(const char *any) {
    bj_json_text json = {0};
    char *text;
    size_t length;
    bj_json_append(&json, "[");
    bj_json_append_string(&json, any);
    bj_json_append(&json, "]");
    if (bj_json_finish(&json, &text, &length, NULL) != BJ_OK) {
        bj_base_note_no_memory();
        return NULL;
    }
    json_t *list = bj_json_load_value(text);
    json_t *string = json_incref(json_array_get(list, 0));
    json_decref(list);
    free(text);
    return string;
}

static json_t *make_estimate(const bj_estimate *estimate, const char *unit) {
    json_t *object = json_pack("{s:o, s:s, s:[o, o], s:s}", "value", number(estimate->value), "unit", unit, "interval",
                               number(estimate->interval[0]), number(estimate->interval[1]), "status",
                               isnan(estimate->value) ? "undetermined" : "ok");
    if (!isnan(estimate->value))
        json_object_set_new(object, "confidence",
                            json_string(bj_data_name_confidence(bj_kit_judge(estimate, BJ_CONFIDENCE_HIGH))));
    return object;
}

static json_t *make_densities(const bj_diagnose_density *densities, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *object = json_pack("{s:I, s:o, s:o}", "cpus", (json_int_t)densities[i].cpus, "seconds",
                                   make_estimate(&densities[i].seconds, "s"), "efficiency",
                                   make_estimate(&densities[i].efficiency, ""));
        if (!isnan(densities[i].notes.row_hits))
            json_object_set_new(object, "row_hits", number(densities[i].notes.row_hits));
        const double *counts = densities[i].notes.counts;
        if (isfinite(counts[BJ_COUNT_CYCLES]))
            json_object_set_new(object, "counts",
                                json_pack("{s:o, s:o, s:o, s:o}", "cycles", number(counts[BJ_COUNT_CYCLES]),
                                          "instructions", number(counts[BJ_COUNT_INSTRUCTIONS]), "loads",
                                          number(counts[BJ_COUNT_LOADS]), "last_level_misses",
                                          number(counts[BJ_COUNT_MISSES])));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *make_sensitivity(const bj_diagnosis *diagnosis) {
    json_t *object = json_object();
    for (size_t c = 0; c < BJ_RESOURCES; c++) {
        json_t *list = json_array();
        for (size_t i = 0; i < diagnosis->point_count[c]; i++) {
            const bj_diagnose_point *point = &diagnosis->points[c][i];
            json_array_append_new(list,
                                  json_pack("[o, o, o, o]", number(point->pressure), number(point->slowdown.value),
                                            number(point->slowdown.interval[0]), number(point->slowdown.interval[1])));
        }
        json_object_set_new(object, resources[c], list);
    }
    return object;
}

static json_t *make_achieved(const bj_diagnosis *diagnosis) {
    json_t *object = json_object();
    for (size_t c = 0; c < BJ_RESOURCES; c++) {
        json_t *list = json_array();
        for (size_t i = 0; i < diagnosis->point_count[c]; i++)
            json_array_append_new(list, number(diagnosis->points[c][i].achieved));
        json_object_set_new(object, resources[c], list);
    }
    return object;
}

static json_t *make_cross_talk(const bj_diagnosis *diagnosis) {
    static const char *const references[3] = {"walk", "lines", "scattered"};
    json_t *object = json_object();
    for (size_t i = 0; i < 3; i++) {
        json_t *row = json_object();
        for (size_t c = 0; c < BJ_RESOURCES; c++)
            json_object_set_new(row, resources[c], number(diagnosis->cross_talk[i][c]));
        json_object_set_new(row, "copies", number(diagnosis->seen[i]));
        json_object_set_new(object, references[i], row);
    }
    json_object_set_new(object, "condition", number(diagnosis->condition));
    return object;
}

static json_t *make_closure(const bj_diagnosis *diagnosis) {
    const bj_diagnose_closure *c = &diagnosis->closure;
    json_t *parts = json_object(), *pressures = json_object();
    for (size_t i = 0; i < BJ_RESOURCES; i++) {
        json_object_set_new(parts, resources[i], number(exp(c->parts[i])));
        json_object_set_new(pressures, resources[i], number(diagnosis->pressure[i]));
    }
    json_object_set_new(parts, "other", number(exp(c->other)));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "measured", number(exp(c->loss)), "predicted",
                     number(exp(c->loss - c->residual)), "residual", number(exp(c->residual)), "parts", parts,
                     "pressure", pressures);
}

static json_t *make_evidence(const bj_cli_diagnosis *d) {
    const bj_diagnosis *diagnosis = &d->diagnosis;
    json_t *support = json_object(), *cpus = json_array();
    for (size_t i = 0; i < BJ_VERDICTS; i++)
        json_object_set_new(support, bj_diagnose_name_verdict((bj_verdict)i), number(diagnosis->support[i]));
    for (size_t i = 0; i < d->chip.count; i++)
        json_array_append_new(cpus, json_integer(d->chip.cpus[i]));
    json_t *object = json_pack("{s:o, s:i, s:o, s:o, s:i}", "chip", cpus, "chips", (int)d->chip.chips, "cache_bytes",
                               number(d->chip.cache_bytes), "own_cache_bytes", number(diagnosis->own_cache_bytes),
                               "cache_level", d->chip.cache_level);
    json_object_set_new(object, "demand_gbs", number(diagnosis->demand_gbs));
    json_object_set_new(object, "share_gbs", number(diagnosis->share_gbs));
    json_object_set_new(object, "total_gbs", number(diagnosis->total_gbs));
    json_object_set_new(object, "scattered_gbs", number(diagnosis->scattered_gbs));
    json_object_set_new(object, "null_cost", make_estimate(&diagnosis->null_cost, ""));
    json_object_set_new(object, "achieved", make_achieved(diagnosis));
    json_object_set_new(object, "useful_streams", number(d->useful_streams));
    json_object_set_new(object, "rounds", json_integer((json_int_t)d->round_count));
    json_object_set_new(object, "support", support);
    return object;
}

static json_t *make_peaks(const bj_cli_diagnosis *d) {
    const bj_peaks *peaks = &d->peaks;
    json_t *roofs = json_array();
    for (size_t i = 0; i < peaks->roof_count; i++)
        json_array_append_new(roofs,
                              json_pack("{s:s, s:o, s:o, s:o}", "from", peaks->roofs[i].from, "cpu_gbs",
                                        number(peaks->roofs[i].cpu_gbs), "all_gbs", number(peaks->roofs[i].all_gbs),
                                        "ridge_flops_per_byte", number(peaks->roofs[i].ridge)));
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "clock_ghz", number(peaks->clock_ghz), "instructions_per_cycle",
                  number(peaks->instructions_per_cycle), "flops_per_cycle", number(peaks->flops_per_cycle),
                  "loads_per_cycle", number(peaks->loads_per_cycle), "gflops", number(peaks->gflops), "roofs", roofs);
    json_t *list = json_array();
    for (size_t i = 0; d->has_work && i < d->diagnosis.density_count; i++) {
        bj_peak_work work = d->work;
        bj_peak_standing standing;
        work.seconds = d->diagnosis.densities[i].seconds.value;
        work.cpus = d->request.strong ? (double)d->diagnosis.densities[i].cpus : 1;
        bj_diagnose_compare_to_peaks(peaks, &work, &standing);
        json_array_append_new(
            list, json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpus",
                            (json_int_t)d->diagnosis.densities[i].cpus, "gflops", number(standing.gflops), "gbs",
                            number(standing.gbs), "flops_per_cycle", number(standing.flops_per_cycle), "flops_share",
                            number(standing.flops_share), "bytes_share", number(standing.bytes_share), "roof_share",
                            number(standing.roof_share), "loads_per_cycle", number(standing.loads_per_cycle),
                            "loads_share", number(standing.loads_share), "full_share", number(standing.full_share)));
    }
    json_object_set_new(object, "program", list);
    return object;
}

static json_t *make_witness(const bj_cli_diagnosis *d) {
    const bj_diagnose_witness *w = &d->diagnosis.witness;
    if (!w->counted)
        return json_pack("{s:n, s:o}", "points_to", "reason", make_text(d->no_counters));
    char text[240];
    bj_cli_tell_witness(w, d->diagnosis.share_gbs, text, sizeof text);
    return json_pack("{s:s, s:s, s:o, s:o}", "points_to", bj_diagnose_name_verdict(w->points_to), "reason", text,
                     "miss_growth", make_estimate(&w->miss_growth, ""), "miss_gbs",
                     make_estimate(&w->miss_gbs, "GB/s"));
}

static json_t *make_variants(const bj_cli_diagnosis *d) {
    json_t *list = json_array();
    for (size_t i = 0; i < d->variant_count; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "make", make_text(d->variants[i].make), "densities",
                                              make_densities(d->variants[i].densities, d->request.density_count)));
    return list;
}

bj_status bj_cli_print_diagnosis_json(const bj_cli_diagnosis *d, bj_error *error) {
    const bj_diagnosis *diagnosis = &d->diagnosis;
    json_t *root = json_pack("{s:s, s:o, s:o, s:s, s:I}", "format", "blackjack-diagnosis/1", "machine",
                             make_text(d->machine), "program", make_text(d->program), "scaling",
                             d->request.strong ? "strong" : "weak", "seed", (json_int_t)d->seed);
    json_object_set_new(root, "densities", make_densities(diagnosis->densities, diagnosis->density_count));
    json_object_set_new(root, "sensitivity", make_sensitivity(diagnosis));
    json_object_set_new(root, "cross_talk", make_cross_talk(diagnosis));
    json_object_set_new(root, "closure", make_closure(diagnosis));
    json_object_set_new(root, "evidence", make_evidence(d));
    json_object_set_new(root, "peaks", make_peaks(d));
    json_object_set_new(root, "witness", make_witness(d));
    if (d->variant_count > 0)
        json_object_set_new(root, "variants", make_variants(d));
    json_object_set_new(root, "verdict",
                        json_pack("{s:s, s:s, s:o}", "resource", bj_diagnose_name_verdict(diagnosis->verdict),
                                  "confidence", bj_data_name_confidence(diagnosis->confidence), "reason",
                                  make_text(diagnosis->reason)));
    char *text = root != NULL ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(root);
    if (text == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the diagnosis");
    puts(text);
    free(text);
    return BJ_OK;
}
