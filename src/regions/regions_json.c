/* The report as JSON: format blackjack-region-report/1. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "regions/regions.h"
#include "regions/regions_series.h"

/* Null where there is no number. */
static json_t *make_number(double number) {
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *make_answer(const bj_regions_answer *answer) {
    return answer->known ? json_pack("{s:o}", "ns", make_number(answer->ns))
                         : json_pack("{s:n, s:s}", "ns", "reason", answer->reason);
}

static json_t *make_series(const bj_regions_file *file, size_t region) {
    bj_regions_series series;
    json_t *list = json_array();
    bj_regions_collect_series(file, region, &series);
    for (size_t i = 0; i < series.count; i++)
        if (series.calls[i] > 0)
            json_array_append_new(list, json_pack("[f, f, f]", series.from_ns + series.cell_ns * (double)i,
                                                  series.calls[i], series.ns[i] / series.calls[i]));
    return list;
}

/* [ticks from which on, calls, ns] for each power of two that occurred. */
static json_t *make_lengths(const bj_regions_file *file, size_t region) {
    json_t *list = json_array();
    for (size_t length = 0; length < BJ_REGIONS_LENGTHS; length++) {
        double calls = 0, ns = 0;
        for (size_t i = 0; i < file->record_count; i++)
            if (file->records[i].region == region) {
                calls += file->records[i].calls[length];
                ns += file->records[i].ns[length];
            }
        if (calls > 0)
            json_array_append_new(list, json_pack("[f, f, f]", ldexp(1, (int)length), calls, ns));
    }
    return list;
}

static json_t *make_standing(const bj_peak_standing *s) {
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "gflops", make_number(s->gflops), "gbs",
                     make_number(s->gbs), "flops_per_cycle", make_number(s->flops_per_cycle), "loads_per_cycle",
                     make_number(s->loads_per_cycle), "flops_share", make_number(s->flops_share), "loads_share",
                     make_number(s->loads_share), "bytes_share", make_number(s->bytes_share), "full_share",
                     make_number(s->full_share), "roof_share", make_number(s->roof_share));
}

static json_t *make_region(const bj_regions_file *file, const bj_regions_summary *region) {
    size_t number = (size_t)(region->name - file->names);
    json_t *object = json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:o}", "name", region->name->name, "threads",
                               (json_int_t)region->threads, "calls", region->calls, "total_ns", region->total_ns,
                               "mean_ns", region->mean_ns, "least_ns", region->least_ns, "most_ns", region->most_ns,
                               "added", make_number(region->added));
    if (object == NULL)
        return NULL;
    json_object_set_new(object, "refused", region->refused[0] != 0 ? json_string(region->refused) : json_null());
    json_object_set_new(object, "skip", make_answer(&region->skip));
    json_object_set_new(object, "settled", make_answer(&region->settled));
    json_object_set_new(object, "settled_half", make_answer(&region->settled_half));
    json_object_set_new(object, "swing", make_number(region->swing));
    json_object_set_new(object, "skew", make_answer(&region->skew));
    json_object_set_new(object, "skew_most_ns", make_number(region->skew_most_ns));
    json_object_set_new(object, "flops", make_number(region->name->flops));
    json_object_set_new(object, "bytes", make_number(region->name->bytes));
    json_object_set_new(object, "loads", make_number(region->name->loads));
    if (region->has_standing)
        json_object_set_new(object, "standing", make_standing(&region->standing));
    json_object_set_new(object, "open", make_number(region->open));
    json_object_set_new(object, "unopened", make_number(region->unopened));
    json_object_set_new(object, "backwards", make_number(region->backwards));
    json_object_set_new(object, "lengths", make_lengths(file, number));
    json_object_set_new(object, "series", make_series(file, number));
    return object;
}

static json_t *make_report(const bj_regions_report *report) {
    const bj_regions_file *file = report->file;
    json_t *regions = json_array(), *rows = json_array();
    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(regions, make_region(file, &report->regions[i]));
    for (size_t i = 0; i < BJ_REGIONS_ROWS; i++) {
        const bj_regions_row *row = &report->rows[i];
        json_array_append_new(rows, json_pack("{s:f, s:o, s:f, s:f, s:f}", "from_ticks", row->from_ticks, "to_ticks",
                                              row->to_ticks > 0 ? json_real(row->to_ticks) : json_null(), "calls",
                                              row->calls, "ns", row->ns, "share", row->share));
    }
    double dilation = report->thread_ns > 0 ? report->overhead_ns / report->thread_ns : NAN;
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:f, s:o, s:o}", "counter", file->counter,
                     "tick_ns", file->tick_ns, "duration_ns", file->duration_ns, "period_ns", file->period_ns,
                     "read_ns", file->read_ns, "pair_ns", file->pair_ns, "empty_ns", file->empty_ns, "threads",
                     file->threads, "dilation", make_number(dilation), "refused", file->refused, "regions", regions,
                     "lengths", rows);
}

static json_t *make_losses(const bj_regions_loss *losses, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const bj_regions_loss *loss = &losses[i];
        const char *name = loss->least != NULL ? loss->least->name->name : loss->full->name->name;
        json_t *interval =
            loss->ranked && loss->ratio_high > 0 ? json_pack("[f, f]", loss->ratio_low, loss->ratio_high) : json_null();
        json_array_append_new(
            list, json_pack("{s:s, s:b, s:o, s:o, s:o, s:s}", "name", name, "ranked", loss->ranked, "ratio",
                            loss->ranked ? make_number(loss->ratio) : json_null(), "interval", interval, "lost_ns",
                            loss->ranked ? make_number(loss->lost_ns) : json_null(), "remark", loss->remark));
    }
    return list;
}

bj_status bj_regions_to_json(const bj_regions_report *least, const bj_regions_report *full,
                             const bj_regions_loss *losses, size_t loss_count, char **text, bj_error *error) {
    json_t *root = json_pack("{s:s, s:o}", "format", "blackjack-region-report/1", "first", make_report(least));
    if (root != NULL && full != NULL) {
        json_object_set_new(root, "second", make_report(full));
        json_object_set_new(root, "losses", make_losses(losses, loss_count));
    }
    *text = root != NULL ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(root);
    return *text != NULL ? BJ_OK : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the report");
}
