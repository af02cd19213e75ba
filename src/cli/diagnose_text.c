/* A diagnosis for a person: what was seen, in 80 columns, and the verdict with what to do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/diagnose_output.h"

static const char *const resources[BJ_RESOURCES] = {"cache", "bandwidth", "DRAM rows"};

static void print_number(double value, int width, const char *format) {
    if (isfinite(value))
        printf(format, width, value);
    else
        printf("%*s", width, "-");
}

static void print_peak(double value, const char *name) {
    putchar(' ');
    print_number(value, 0, "%*.2f");
    printf(" %s", name);
}

static void print_densities(const bj_diagnosis *diagnosis, bool strong, bool one_chip) {
    bool hits = false;
    for (size_t i = 0; i < diagnosis->density_count; i++)
        hits = hits || isfinite(diagnosis->densities[i].notes.row_hits);
    printf("\n  cores   seconds          interval   efficiency%s\n", hits ? "   row hits" : "");
    for (size_t i = 0; i < diagnosis->density_count; i++) {
        const bj_diagnose_density *d = &diagnosis->densities[i];
        printf("  %5zu ", d->cpus);
        print_number(d->seconds.value, 9, "%*.4g");
        printf("  %8.4g - %-8.4g", d->seconds.interval[0], d->seconds.interval[1]);
        print_number(100 * d->efficiency.value, 8, "%*.0f%%");
        if (isfinite(d->notes.row_hits))
            printf("  %9.0f%%", 100 * d->notes.row_hits);
        putchar('\n');
    }
    printf("  %s\n", strong && one_chip
                         ? "(one copy on all of them, the same work: ideal is time / cores; less density\n"
                           "  means fewer cpus here, so what the program itself loses by more threads is in\n"
                           "  it)"
                     : strong ? "(one copy on as many cpus at every density, the same work: ideal is the same\n  time)"
                              : "(a copy on each, the same work each: ideal is the same time)");
}

static void print_pressure(const bj_diagnose_point *point, bj_resource resource) {
    char bytes[24], text[32];
    if (resource == BJ_RESOURCE_CACHE) {
        bj_base_format_bytes(point->pressure, bytes, sizeof bytes);
        snprintf(text, sizeof text, "%s", bytes);
    } else {
        snprintf(text, sizeof text, "%.3g GB/s", point->pressure);
    }
    printf("  %-10s %12s", resources[resource], text);
}

static void print_sensitivity(const bj_cli_diagnosis *d) {
    const bj_diagnosis *diagnosis = &d->diagnosis;
    char others[40] = "core";
    if (d->chip.count > 2)
        snprintf(others, sizeof others, "%zu cores", d->chip.count - 1);
    printf("\nOne copy, and antagonists on the other %s (slowdown against cores that\n"
           "compute in registers; DRAM rows: scattered lines against lines in order)\n\n"
           "  resource       pressure   slowdown      interval   antagonists\n",
           others);
    for (size_t c = 0; c < BJ_RESOURCES; c++)
        for (size_t i = 0; i < diagnosis->point_count[c]; i++) {
            const bj_diagnose_point *point = &diagnosis->points[c][i];
            print_pressure(point, (bj_resource)c);
            print_number(point->slowdown.value, 11, "%*.3f");
            printf("  %.3f - %.3f", point->slowdown.interval[0], point->slowdown.interval[1]);
            if (isfinite(point->achieved))
                printf(c == BJ_RESOURCE_CACHE ? "   %.3g ns an access" : "   %.3g GB/s", point->achieved);
            putchar('\n');
        }
    printf("  against idle cores, cores that compute in registers cost %.1f%%\n",
           100 * (diagnosis->null_cost.value - 1));
}

static void print_cross_talk(const bj_diagnosis *diagnosis) {
    static const char *const references[3] = {"walk", "lines", "scattered"};
    printf("\nReference programs in its place (slowdown by what stands for each resource,\n"
           "and by copies of the program; condition %.3g)\n\n"
           "  reference      cache  bandwidth  DRAM rows     copies\n",
           diagnosis->condition);
    for (size_t i = 0; i < 3; i++) {
        printf("  %-9s", references[i]);
        for (size_t c = 0; c < BJ_RESOURCES; c++)
            print_number(diagnosis->cross_talk[i][c], 11, "%*.3f");
        print_number(diagnosis->seen[i], 11, "%*.3f");
        putchar('\n');
    }
}

static void print_closure(const bj_diagnosis *diagnosis) {
    const bj_diagnose_closure *c = &diagnosis->closure;
    printf("\nAt full density: measured x%.3f, predicted x%.3f\n  of that ", exp(c->loss), exp(c->loss - c->residual));
    for (size_t i = 0; i < BJ_RESOURCES; i++)
        printf("%s%s x%.3f", i == 0 ? "" : ", ", resources[i], exp(c->parts[i]));
    putchar('\n');
    printf("Memory gives the chip %.3g GB/s (scattered %.3g), a core's share is %.3g;\n", diagnosis->total_gbs,
           diagnosis->scattered_gbs, diagnosis->share_gbs);
    if (isfinite(diagnosis->demand_gbs))
        printf("the program alone draws %.3g GB/s\n", diagnosis->demand_gbs);
    else
        printf("the program did not fill it beside the others, so its own rate is not known\n");
}

/* What stands between this and the next. */
static const char *print_standing(const char *before, double value, const char *unit, double share) {
    printf("%s %.3g %s", before, value, unit);
    if (isfinite(share))
        printf(" (%.0f%%)", 100 * share);
    return ",";
}

static void print_peaks(const bj_cli_diagnosis *d) {
    const bj_peaks *peaks = &d->peaks;
    if (isnan(peaks->flops_per_cycle) && isnan(peaks->loads_per_cycle) && isnan(peaks->instructions_per_cycle))
        return;
    printf("\nAttainable by one core, a cycle:\n ");
    print_peak(peaks->instructions_per_cycle, "instructions,");
    print_peak(peaks->flops_per_cycle, "flops (double),");
    print_peak(peaks->loads_per_cycle, "loads");
    putchar('\n');
    for (size_t i = 0; d->has_work && i < d->diagnosis.density_count; i++) {
        bj_peak_work work = d->work;
        bj_peak_standing s;
        work.seconds = d->diagnosis.densities[i].seconds.value;
        work.cpus = d->request.strong ? (double)d->diagnosis.densities[i].cpus : 1;
        bj_diagnose_compare_to_peaks(peaks, &work, &s);
        printf("  %zu core%s at work", d->diagnosis.densities[i].cpus, d->diagnosis.densities[i].cpus > 1 ? "s" : "");
        const char *before = ":";
        if (isfinite(s.flops_share))
            before = print_standing(before, s.flops_per_cycle, "flops a cycle", s.flops_share);
        if (isfinite(s.loads_per_cycle))
            before = print_standing(before, s.loads_per_cycle, "loads a cycle", s.loads_share);
        if (isfinite(s.gbs))
            before = print_standing(isfinite(s.flops_share) || isfinite(s.loads_per_cycle) ? ",\n   " : ":", s.gbs,
                                    "GB/s", s.bytes_share);
        if (isfinite(s.roof_share))
            printf("%s %.0f%% of what its flops a byte allow (%s)", before, 100 * s.roof_share,
                   s.below_ridge ? "memory" : "flops");
        putchar('\n');
    }
}

void bj_cli_tell_witness(const bj_diagnose_witness *witness, double share_gbs, char *text, size_t room) {
    switch (witness->points_to) {
    case BJ_VERDICT_CACHE:
        snprintf(text, room, "they point to cache: an instruction misses %.3g times as often at full density",
                 witness->miss_growth.value);
        break;
    case BJ_VERDICT_BANDWIDTH:
        snprintf(text, room,
                 "they point to bandwidth: what misses alone on the chip is %.3g GB/s, and its share is %.3g",
                 witness->miss_gbs.value, share_gbs);
        break;
    case BJ_VERDICT_NONE:
        snprintf(text, room,
                 "they point neither to cache nor to bandwidth (%.3g GB/s miss, its share is %.3g); lines that were "
                 "fetched ahead may not count, and of DRAM rows they tell nothing",
                 witness->miss_gbs.value, share_gbs);
        break;
    default:
        snprintf(text, room, "they are too uneven from round to round to point to anything");
        break;
    }
}

/* What a copy did by the processor's counters, and what that points to. */
static void print_witness(const bj_cli_diagnosis *d) {
    const bj_diagnose_witness *w = &d->diagnosis.witness;
    if (!w->counted) {
        printf("\nNo second witness: no hardware counters, ");
        bj_cli_print_filled(d->no_counters, sizeof "No second witness: no hardware counters, " - 1, 2);
        return;
    }
    printf("\nBy the processor's counters, of a copy\n\n"
           "  cores  instructions/cycle  loads/cycle  misses/1000 instructions\n");
    for (size_t i = 0; i < d->diagnosis.density_count; i++) {
        const double *counts = d->diagnosis.densities[i].notes.counts;
        printf("  %5zu", d->diagnosis.densities[i].cpus);
        print_number(counts[BJ_COUNT_INSTRUCTIONS] / counts[BJ_COUNT_CYCLES], 20, "%*.2f");
        print_number(counts[BJ_COUNT_LOADS] / counts[BJ_COUNT_CYCLES], 13, "%*.2f");
        print_number(1e3 * counts[BJ_COUNT_MISSES] / counts[BJ_COUNT_INSTRUCTIONS], 26, "%*.3g");
        putchar('\n');
    }
    char text[240];
    bj_cli_tell_witness(w, d->diagnosis.share_gbs, text, sizeof text);
    printf("  ");
    bj_cli_print_filled(text, 2, 2);
}

void bj_cli_rank_variants(const bj_cli_diagnosis *d, size_t density, size_t *order) {
    for (size_t i = 0; i < d->variant_count; i++) {
        size_t at = i;
        for (; at > 0 && d->variants[i].densities[density].seconds.value <
                             d->variants[order[at - 1]].densities[density].seconds.value;
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void print_variants(const bj_cli_diagnosis *d) {
    size_t order[BJ_CLI_VARIANTS_MOST];
    printf("\nVariants, fastest first at each density\n");
    for (size_t i = 0; i < d->request.density_count; i++) {
        bj_cli_rank_variants(d, i, order);
        printf("  %zu core%s\n", d->request.densities[i], d->request.densities[i] > 1 ? "s" : "");
        for (size_t v = 0; v < d->variant_count; v++) {
            const bj_estimate *seconds = &d->variants[order[v]].densities[i].seconds;
            printf("    %9.4g s  (%.4g - %.4g)  %.40s\n", seconds->value, seconds->interval[0], seconds->interval[1],
                   d->variants[order[v]].make);
        }
    }
    printf("  diagnosed below, and what is built now: %.60s\n", d->variants[d->chosen].make);
}

void bj_cli_print_diagnosis(const bj_cli_diagnosis *d) {
    const bj_diagnosis *diagnosis = &d->diagnosis;
    char bytes[24];
    bj_base_format_bytes(d->chip.cache_bytes, bytes, sizeof bytes);
    printf("%s\non %s: %zu cores of one chip", d->program, d->machine, d->chip.count);
    if (d->chip.chips > 1)
        printf(" of %zu", d->chip.chips);
    printf(", L%d of %s for %zu, %zu rounds\n", d->chip.cache_level, bytes, d->chip.cache_sharers, d->round_count);
    if (d->variant_count > 0)
        print_variants(d);
    print_densities(diagnosis, d->request.strong, d->request.total_cpus == 0);
    print_sensitivity(d);
    print_cross_talk(diagnosis);
    print_closure(diagnosis);
    print_peaks(d);
    print_witness(d);
    printf("\n%s", bj_diagnose_name_verdict(diagnosis->verdict));
    if (diagnosis->confidence != BJ_CONFIDENCE_NONE)
        printf(", confidence %s", bj_data_name_confidence(diagnosis->confidence));
    printf(":\n  ");
    bj_cli_print_filled(diagnosis->reason, 2, 2);
    if (diagnosis->verdict == BJ_VERDICT_ROWS && isfinite(d->useful_streams))
        printf("  With %.0f cpus at work, %.0f arrays in each are of use here (probe streams).\n", d->streams_cpus,
               d->useful_streams);
}
