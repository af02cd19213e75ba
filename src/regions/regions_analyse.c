/* From what threads recorded to what is said of each region, and of two runs at different densities. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "regions/regions.h"
#include "regions/regions_constants.h"
#include "regions/regions_series.h"

static void add_record(const bj_regions_record *record, bj_regions_summary *summary) {
    for (size_t i = 0; i < BJ_REGIONS_LENGTHS; i++) {
        summary->calls += record->calls[i];
        summary->total_ns += record->ns[i];
    }
    for (size_t i = 0; i < record->series_count; i++) {
        const bj_regions_bin *bin = &record->series[i];
        summary->least_ns = summary->least_ns == 0 ? bin->least_ns : fmin(summary->least_ns, bin->least_ns);
        summary->most_ns = fmax(summary->most_ns, bin->most_ns);
    }
    summary->threads++;
    summary->open += record->open;
    summary->unopened += record->unopened;
    summary->backwards += record->backwards;
}

static void judge_length(const bj_regions_file *file, bj_regions_summary *summary) {
    double raw = summary->total_ns / summary->calls;
    summary->mean_ns = fmax(0, raw - file->empty_ns);
    summary->added = summary->mean_ns > 0 ? file->pair_ns / summary->mean_ns : INFINITY;
    if (summary->added > MOST_ADDED)
        snprintf(
            summary->refused, sizeof summary->refused,
            "a call takes %.3g ns, and begin and end add %.3g ns: more than %.0f%% of it; time a loop of calls as one "
            "region",
            summary->mean_ns, file->pair_ns, 100 * MOST_ADDED);
    else if (summary->backwards > 0)
        snprintf(summary->refused, sizeof summary->refused,
                 "the counter went backwards in %.0f calls: cpus do not agree on it; pin the threads",
                 summary->backwards);
}

static void count_rows(const bj_regions_file *file, bj_regions_report *report) {
    static const double ends[BJ_REGIONS_ROWS] = {2e3, 1e4, 2e5, 1e6, 1e7, 0};
    double all = 0;
    for (size_t i = 0; i < BJ_REGIONS_ROWS; i++)
        report->rows[i] = (bj_regions_row){.from_ticks = i > 0 ? ends[i - 1] : 0, .to_ticks = ends[i]};
    for (size_t i = 0; i < file->record_count; i++)
        for (size_t j = 0; j < BJ_REGIONS_LENGTHS; j++) {
            const bj_regions_record *record = &file->records[i];
            if (record->calls[j] == 0)
                continue;
            /* By the mean of its power of two. */
            double ticks = record->ns[j] / record->calls[j] / file->tick_ns;
            size_t row = 0;
            while (ends[row] != 0 && ticks > ends[row])
                row++;
            report->rows[row].calls += record->calls[j];
            report->rows[row].ns += record->ns[j];
            all += record->ns[j];
        }
    for (size_t i = 0; i < BJ_REGIONS_ROWS && all > 0; i++)
        report->rows[i].share = report->rows[i].ns / all;
}

static int order_by_thread(const void *a, const void *b) {
    const bj_regions_record *left = *(const bj_regions_record *const *)a, *right = *(const bj_regions_record *const *)b;
    return left->thread < right->thread ? -1 : left->thread > right->thread;
}

/* What the recorder took of the threads' time. */
static bj_status sum_dilation(const bj_regions_file *file, bj_regions_report *report, bj_error *error) {
    const bj_regions_record **sorted = malloc((file->record_count + 1) * sizeof *sorted);
    if (sorted == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu records", file->record_count);
    for (size_t i = 0; i < file->record_count; i++)
        sorted[i] = &file->records[i];
    qsort(sorted, file->record_count, sizeof *sorted, order_by_thread);
    double from = 0, to = 0;
    for (size_t i = 0; i < file->record_count; i++) {
        const bj_regions_record *record = sorted[i];
        bool is_first = i == 0 || sorted[i - 1]->thread != record->thread;
        if (is_first) {
            report->thread_ns += to - from;
            from = to = record->first_ns;
        }
        from = fmin(from, record->first_ns);
        if (record->series_count > 0)
            to = fmax(to, record->series[record->series_count - 1].end_ns);
        for (size_t j = 0; j < BJ_REGIONS_LENGTHS; j++)
            report->overhead_ns += record->calls[j] * file->pair_ns;
        report->overhead_ns += record->library_ns;
    }
    report->thread_ns += to - from;
    free(sorted);
    return BJ_OK;
}

static int order_by_time(const void *a, const void *b) {
    const bj_regions_summary *left = a, *right = b;
    return left->total_ns > right->total_ns ? -1 : left->total_ns < right->total_ns;
}

bj_status bj_regions_analyse(const bj_regions_file *file, bj_regions_report *report, bj_error *error) {
    *report = (bj_regions_report){.file = file};
    report->regions = calloc(file->name_count + 1, sizeof *report->regions);
    if (report->regions == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu regions", file->name_count);
    bj_status status = sum_dilation(file, report, error);
    for (size_t region = 0; region < file->name_count && status == BJ_OK; region++) {
        bj_regions_summary *summary = &report->regions[report->count];
        bj_regions_series series;
        *summary = (bj_regions_summary){.name = &file->names[region]};
        for (size_t i = 0; i < file->record_count; i++)
            if (file->records[i].region == region)
                add_record(&file->records[i], summary);
        if (summary->calls == 0)
            continue;
        judge_length(file, summary);
        bj_regions_collect_series(file, region, &series);
        bj_regions_judge_start(file, &series, summary);
        bj_regions_judge_skew(file, region, summary);
        report->count++;
    }
    count_rows(file, report);
    qsort(report->regions, report->count, sizeof *report->regions, order_by_time);
    if (status != BJ_OK)
        bj_regions_free_report(report);
    return status;
}

void bj_regions_free_report(bj_regions_report *report) {
    free(report->regions);
    *report = (bj_regions_report){0};
}

/* The settled mean where there is one. */
static double take_mean(const bj_regions_summary *summary) {
    return summary->settled.known ? summary->settled.ns : summary->mean_ns;
}

void bj_regions_compare_to_peaks(bj_regions_report *report, const bj_peaks *peaks) {
    for (size_t i = 0; i < report->count; i++) {
        bj_regions_summary *region = &report->regions[i];
        const bj_regions_name *name = region->name;
        const bj_peak_work work = {.flops = name->flops > 0 ? name->flops : NAN,
                                   .bytes = name->bytes > 0 ? name->bytes : NAN,
                                   .loads = name->loads > 0 ? name->loads : NAN,
                                   .seconds = take_mean(region) * 1e-9,
                                   .cpus = 1};
        region->has_standing = region->refused[0] == 0 && (name->flops > 0 || name->bytes > 0 || name->loads > 0);
        if (region->has_standing)
            bj_diagnose_compare_to_peaks(peaks, &work, &region->standing);
    }
}

/* ---- two densities */

static const bj_regions_summary *find_region(const bj_regions_report *report, const char *name) {
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->regions[i].name->name, name) == 0)
            return &report->regions[i];
    return NULL;
}

static void judge_loss(bj_regions_basis basis, bj_regions_loss *loss) {
    double least = take_mean(loss->least), full = take_mean(loss->full);
    loss->ranked = true;
    loss->least_ns = least * (basis == BJ_REGIONS_BY_TOTAL ? loss->least->calls : 1);
    loss->full_ns = full * (basis == BJ_REGIONS_BY_TOTAL ? loss->full->calls : 1);
    loss->ratio = loss->full_ns / loss->least_ns;
    loss->lost_ns = (loss->full_ns - loss->least_ns) * (basis == BJ_REGIONS_BY_TOTAL ? 1 : loss->full->calls);
    if (!loss->least->settled_half.known || !loss->full->settled_half.known) {
        snprintf(loss->remark, sizeof loss->remark, "no interval: %.150s",
                 loss->least->settled_half.known ? loss->full->settled_half.reason : loss->least->settled_half.reason);
        return;
    }
    /* Both relative errors are small against 1, so they add as squares. */
    double reach = loss->ratio * hypot(loss->least->settled_half.ns / least, loss->full->settled_half.ns / full);
    loss->ratio_low = loss->ratio - reach;
    loss->ratio_high = loss->ratio + reach;
    snprintf(loss->remark, sizeof loss->remark, "%s",
             loss->ratio_low > 1    ? "slower"
             : loss->ratio_high < 1 ? "faster"
                                    : "no difference beyond the interval");
}

/* More or fewer calls: the reader must know whether they are comparable. */
static void remark_calls(bj_regions_basis basis, bj_regions_loss *loss) {
    double calls = loss->full->calls / loss->least->calls;
    if (basis == BJ_REGIONS_BY_CALL && (calls > 1 + SAME_CALLS || calls < 1 - SAME_CALLS))
        snprintf(loss->remark, sizeof loss->remark,
                 "%.3g times the calls: is a call the same work in both? else --by total", calls);
}

static void fill_loss(bj_regions_basis basis, bj_regions_loss *loss) {
    if (loss->least == NULL || loss->full == NULL)
        snprintf(loss->remark, sizeof loss->remark, "only in the %s file", loss->full == NULL ? "first" : "second");
    else if (loss->least->refused[0] != 0 || loss->full->refused[0] != 0)
        snprintf(loss->remark, sizeof loss->remark, "%s",
                 loss->least->refused[0] != 0 ? loss->least->refused : loss->full->refused);
    else {
        judge_loss(basis, loss);
        remark_calls(basis, loss);
    }
}

static int order_by_loss(const void *a, const void *b) {
    const bj_regions_loss *left = a, *right = b;
    if (left->ranked != right->ranked)
        return left->ranked ? -1 : 1;
    return left->lost_ns > right->lost_ns ? -1 : left->lost_ns < right->lost_ns;
}

bj_status bj_regions_compare(const bj_regions_report *least, const bj_regions_report *full, bj_regions_basis basis,
                             bj_regions_loss **losses, size_t *count, bj_error *error) {
    *losses = calloc(least->count + full->count + 1, sizeof **losses);
    *count = 0;
    if (*losses == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu regions", least->count + full->count);
    for (size_t i = 0; i < least->count; i++) {
        const bj_regions_summary *other = find_region(full, least->regions[i].name->name);
        (*losses)[(*count)++] = (bj_regions_loss){.least = &least->regions[i], .full = other};
    }
    for (size_t i = 0; i < full->count; i++)
        if (find_region(least, full->regions[i].name->name) == NULL)
            (*losses)[(*count)++] = (bj_regions_loss){.full = &full->regions[i]};
    for (size_t i = 0; i < *count; i++)
        fill_loss(basis, &(*losses)[i]);
    qsort(*losses, *count, sizeof **losses, order_by_loss);
    return BJ_OK;
}
