/* Regions for a person: tables of eighty columns. */
#include <math.h>
#include <string.h>

#include "regions/regions.h"
#include "regions/regions_series.h"

/* Three digits with the unit that fits; text has room for 16. */
static const char *format_ns(double ns, char *text) {
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
    size_t unit = 0;
    while (unit + 1 < 4 && fabs(ns) >= 0.9995 * units[unit + 1].scale)
        unit++;
    snprintf(text, 16, fabs(ns / units[unit].scale) >= 99.95 ? "%.0f %s" : "%.3g %s", ns / units[unit].scale,
             units[unit].unit);
    return text;
}

/* `text` goes on at `column`; further lines begin at `indent`. */
static void print_filled(FILE *out, const char *text, size_t indent, size_t column) {
    enum { COLUMNS = 80 };
    bool fresh = true;
    while (*(text += strspn(text, " ")) != '\0') {
        size_t length = strcspn(text, " ");
        if (!fresh && column + 1 + length > COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        fprintf(out, "%s%.*s", fresh ? "" : " ", (int)length, text);
        column += length + !fresh;
        fresh = false;
        text += length;
    }
    fputc('\n', out);
}

/* "0.5%"; beyond ten times, or of nothing, the number itself says nothing more; text has room for 16. */
static const char *format_share(double share, char *text) {
    snprintf(text, 16, share < 9.995 ? "%.2g%%" : "> 1000%%", 100 * share);
    return text;
}

static void print_head(FILE *out, const bj_regions_report *report) {
    const bj_regions_file *file = report->file;
    char a[16], b[16], c[16];
    fprintf(out, "Regions: %zu, threads: %.0f, %s of %s (%s, %.4g ns a tick)\n", report->count, file->threads,
            format_ns(report->thread_ns, a), format_ns(file->duration_ns, b), file->counter, file->tick_ns);
    fprintf(out, "Begin and end take %s together, a read of the counter %s.\n", format_ns(file->pair_ns, a),
            format_ns(file->read_ns, b));
    if (report->thread_ns > 0)
        fprintf(out, "Dilation: %s of the threads' time, %.3g%%\n", format_ns(report->overhead_ns, c),
                100 * report->overhead_ns / report->thread_ns);
    if (file->refused > 0)
        fprintf(out, "Lost: %.0f times a thread found no memory to record in.\n", file->refused);
}

static void print_share(FILE *out, double share, const char *of) {
    if (isfinite(share))
        fprintf(out, share < 0.00995 ? ", %.2g%% of %s" : ", %.0f%% of %s", 100 * share, of);
}

/* What a call does, of one thread; and what that is of the attainable peaks. */
static void print_work(FILE *out, const bj_regions_summary *region) {
    const bj_regions_name *name = region->name;
    const bj_peak_standing *s = &region->standing;
    double ns = region->settled.known ? region->settled.ns : region->mean_ns;
    if (region->refused[0] != 0)
        return;
    if (name->flops > 0) {
        fprintf(out, "    %.3g Gflop/s a thread", name->flops / ns);
        if (region->has_standing && isfinite(s->flops_per_cycle))
            fprintf(out, ", %.3g flops a cycle", s->flops_per_cycle);
        print_share(out, region->has_standing ? s->flops_share : NAN, "what a core attains");
        fputc('\n', out);
    }
    if (name->loads > 0) {
        fprintf(out, "    %.3g loads a ns and thread", name->loads / ns);
        if (region->has_standing && isfinite(s->loads_per_cycle))
            fprintf(out, ", %.3g a cycle", s->loads_per_cycle);
        print_share(out, region->has_standing ? s->loads_share : NAN, "what a core attains");
        fputc('\n', out);
    }
    if (name->bytes > 0) {
        fprintf(out, "    %.3g GB/s a thread", name->bytes / ns);
        print_share(out, region->has_standing ? s->bytes_share : NAN, "memory for one");
        print_share(out, region->has_standing ? s->full_share : NAN, "its share with all");
        fputc('\n', out);
    }
    if (region->has_standing && isfinite(s->roof_share))
        fprintf(out, "    %.0f%% of what its flops a byte allow (%s)\n", 100 * s->roof_share,
                s->below_ridge ? "memory" : "flops");
}

static void print_notes(FILE *out, const bj_regions_summary *region) {
    char a[16], b[16];
    char line[200], half[40] = "";
    if (region->refused[0] != 0) {
        fputs("    refused: ", out);
        print_filled(out, region->refused, 6, strlen("    refused: "));
    }
    if (region->skip.known && region->settled.known) {
        double share = region->settled_half.ns / region->settled.ns;
        if (region->settled_half.known && share < 1) /* as much as all of it is no interval to tell */
            snprintf(half, sizeof half, " +-%.2g%%", 100 * share);
        snprintf(line, sizeof line, "skip %s at the start; then %s a call%s, stretches differ by %.3g%%",
                 format_ns(region->skip.ns, a), format_ns(region->settled.ns, b), half, 100 * (region->swing - 1));
        fputs("    ", out);
        print_filled(out, line, 6, 4);
    } else {
        fprintf(out, "    skip: undetermined: %s\n", region->skip.reason);
    }
    if (region->skew.known)
        fprintf(out, "    skew between threads: %s, at most %s\n", format_ns(region->skew.ns, a),
                format_ns(region->skew_most_ns, b));
    else if (region->threads > 1)
        fprintf(out, "    skew between threads: undetermined: %s\n", region->skew.reason);
    print_work(out, region);
    if (region->open > 0)
        fprintf(out, "    still open in %.0f threads: those calls are not counted\n", region->open);
    if (region->unopened > 0)
        fprintf(out, "    ended %.0f times without a begin\n", region->unopened);
}

static void print_lengths(FILE *out, const bj_regions_report *report) {
    fprintf(out, "\nLengths of calls               calls      share of the time in regions\n");
    for (size_t i = 0; i < BJ_REGIONS_ROWS; i++) {
        const bj_regions_row *row = &report->rows[i];
        char what[48];
        if (row->to_ticks == 0)
            snprintf(what, sizeof what, "more than %.0f ticks", row->from_ticks);
        else if (row->from_ticks == 0)
            snprintf(what, sizeof what, "%.0f ticks or less", row->to_ticks);
        else
            snprintf(what, sizeof what, "%.0f to %.0f ticks", row->from_ticks, row->to_ticks);
        fprintf(out, "  %-27s %12.0f %6.1f%%%s", what, row->calls, 100 * row->share, row->share >= 0.05 ? "  " : "");
        for (double at = 0.05; at <= row->share; at += 0.05)
            fputc('#', out);
        fputc('\n', out);
    }
}

void bj_regions_print(FILE *out, const bj_regions_report *report) {
    char a[16], b[16], c[16], d[16], added[16];
    print_head(out, report);
    fprintf(out, "\n%-24s %7s %12s %9s %9s %9s\n", "region", "threads", "calls", "time", "a call", "added");
    for (size_t i = 0; i < report->count; i++) {
        const bj_regions_summary *region = &report->regions[i];
        fprintf(out, "%-24s %7zu %12.0f %9s %9s %9s\n", region->name->name, region->threads, region->calls,
                format_ns(region->total_ns, a), format_ns(region->mean_ns, b), format_share(region->added, added));
        fprintf(out, "    averages over periods: %s to %s\n", format_ns(region->least_ns, c),
                format_ns(region->most_ns, d));
        print_notes(out, region);
    }
    print_lengths(out, report);
}

void bj_regions_print_series(FILE *out, const bj_regions_report *report, const char *region) {
    const bj_regions_file *file = report->file;
    fprintf(out, "region,start_ms,calls,mean_ns\n");
    for (size_t i = 0; i < file->name_count; i++) {
        bj_regions_series series;
        if (region != NULL && strcmp(file->names[i].name, region) != 0)
            continue;
        bj_regions_collect_series(file, i, &series);
        for (size_t cell = 0; cell < series.count; cell++)
            if (series.calls[cell] > 0)
                fprintf(out, "\"%s\",%.6g,%.0f,%.6g\n", file->names[i].name,
                        (series.from_ns + series.cell_ns * (double)cell) * 1e-6, series.calls[cell],
                        series.ns[cell] / series.calls[cell]);
    }
}

void bj_regions_print_losses(FILE *out, const bj_regions_loss *losses, size_t count) {
    enum { REMARK_INDENT = 25 };
    char a[16], b[16], c[16], remark[300];
    fprintf(out, "\nWhat regions lose between the first file (least density) and the second (full)\n");
    fprintf(out, "%-24s %9s %9s %7s %9s\n", "region", "first", "second", "ratio", "lost");
    for (size_t i = 0; i < count; i++) {
        const bj_regions_loss *loss = &losses[i];
        const char *name = loss->least != NULL ? loss->least->name->name : loss->full->name->name;
        if (!loss->ranked) {
            fprintf(out, "%-24s ", name);
            snprintf(remark, sizeof remark, "not ranked: %s", loss->remark);
            print_filled(out, remark, REMARK_INDENT, (strlen(name) > 24 ? strlen(name) : 24) + 1);
            continue;
        }
        int column = fprintf(out, "%-24s %9s %9s %7.3f %9s  ", name, format_ns(loss->least_ns, a),
                             format_ns(loss->full_ns, b), loss->ratio, format_ns(loss->lost_ns, c));
        snprintf(remark, sizeof remark, "%s", loss->remark);
        if (loss->ratio_high > 0)
            snprintf(remark + strlen(remark), sizeof remark - strlen(remark), " (%.3f..%.3f)", loss->ratio_low,
                     loss->ratio_high);
        print_filled(out, remark, REMARK_INDENT, column > 0 ? (size_t)column : 0);
    }
    fprintf(out, "Intervals are of what changed within each run; runs may differ by more.\n");
}
