/* How a region's time changed over the run: when it settled, how sure its mean is, how far threads are apart.
 *
 * Where to cut the start is the marginal standard error rule (MSER): the cut that makes the standard error of what is
 * left least, at most half of the series. It has no threshold. A running median of five goes first, so that one slow
 * cell amid the run is no start; the first two cells have fewer neighbours and count as they are. */
#include "regions/regions_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "regions/regions_constants.h"
#include "stats/quantile.h"
#include "stats/student.h"

void bj_regions_collect_series(const bj_regions_file *file, size_t region, bj_regions_series *series) {
    double from = INFINITY, to = 0;
    size_t most = 0;
    *series = (bj_regions_series){0};
    for (size_t i = 0; i < file->record_count; i++) {
        const bj_regions_record *record = &file->records[i];
        if (record->region != region || record->series_count == 0)
            continue;
        from = fmin(from, record->first_ns);
        to = fmax(to, record->series[record->series_count - 1].end_ns);
        most = record->series_count > most ? record->series_count : most;
    }
    if (most == 0 || !(to > from))
        return;
    series->count = most < BJ_REGIONS_CELLS ? most : BJ_REGIONS_CELLS;
    series->from_ns = from;
    series->cell_ns = (to - from) / (double)series->count;
    for (size_t i = 0; i < file->record_count; i++) {
        const bj_regions_record *record = &file->records[i];
        for (size_t j = 0; j < record->series_count && record->region == region; j++) {
            /* An end at the edge of a cell belongs to it; the last bits of the division do not matter. */
            double cell = fmax(0, ceil((record->series[j].end_ns - from) / series->cell_ns - 1e-9) - 1);
            size_t at = cell < (double)series->count ? (size_t)cell : series->count - 1;
            series->calls[at] += record->series[j].calls;
            series->ns[at] += record->series[j].ns;
        }
    }
}

/* Means of the cells that have calls, and which cells these are. */
static size_t list_means(const bj_regions_series *series, double *means, size_t *cells) {
    size_t count = 0;
    for (size_t i = 0; i < series->count; i++)
        if (series->calls[i] > 0) {
            means[count] = series->ns[i] / series->calls[i];
            cells[count++] = i;
        }
    return count;
}

static void smooth(const double *means, size_t count, double *smoothed) {
    for (size_t i = 0; i < count; i++) {
        double window[5];
        size_t reach = i < 2 ? i : 2;
        reach = count - 1 - i < reach ? count - 1 - i : reach;
        memcpy(window, means + i - reach, (2 * reach + 1) * sizeof *window);
        smoothed[i] = bj_stats_median(window, 2 * reach + 1);
    }
}

/* The number of cells to leave out, up to half of them: of fewer cells the error is too uncertain to choose by. */
static size_t find_cut(const double *y, size_t count) {
    double sum = 0, squares = 0, best = INFINITY;
    size_t cut = 0;
    for (size_t first = count; first-- > 0;) {
        double left = (double)(count - first), centred = y[first] - y[count - 1];
        sum += centred; /* differences to one cell: no cancellation of large numbers */
        squares += centred * centred;
        if (first > count / 2)
            continue;
        double error = fmax(0, squares - sum * sum / left) / (left * left);
        if (error <= best) {
            best = error;
            cut = first;
        }
    }
    return cut;
}

static void say(bj_regions_answer *answer, const char *format, double number) {
    answer->known = false;
    snprintf(answer->reason, sizeof answer->reason, format, number);
}

/* Mean of the settled part, with an interval from the means of ten stretches. */
static void judge_settled(const bj_regions_file *file, const bj_regions_series *series, size_t first,
                          bj_regions_summary *summary) {
    double calls = 0, ns = 0, squares = 0, sum = 0, least = INFINITY, most = 0;
    size_t stretches = 0, cells = series->count - first;
    for (size_t k = 0; k < STRETCHES; k++) {
        double these = 0, took = 0;
        for (size_t i = first + cells * k / STRETCHES; i < first + cells * (k + 1) / STRETCHES; i++) {
            these += series->calls[i];
            took += series->ns[i];
        }
        calls += these;
        ns += took;
        if (these == 0)
            continue;
        double mean = took / these;
        stretches++;
        sum += mean;
        squares += mean * mean;
        least = fmin(least, mean);
        most = fmax(most, mean);
    }
    summary->settled = (bj_regions_answer){.known = true, .ns = fmax(0, ns / calls - file->empty_ns)};
    summary->swing = least > 0 ? most / least : 0;
    if (stretches < STRETCHES) {
        say(&summary->settled_half, "calls in %.0f of ten stretches of time only", (double)stretches);
        return;
    }
    double variance = fmax(0, squares - sum * sum / STRETCHES) / (STRETCHES - 1);
    summary->settled_half.known = true;
    summary->settled_half.ns = bj_stats_student_reach(0.05, STRETCHES - 1) * sqrt(variance / STRETCHES);
}

void bj_regions_judge_start(const bj_regions_file *file, const bj_regions_series *series, bj_regions_summary *summary) {
    double means[BJ_REGIONS_CELLS], smoothed[BJ_REGIONS_CELLS];
    size_t cells[BJ_REGIONS_CELLS], count = list_means(series, means, cells);
    if (count < LEAST_CELLS) {
        say(&summary->skip, "%.0f periods are too few to tell a start from the rest", (double)count);
        summary->settled = summary->settled_half = summary->skip;
        return;
    }
    smooth(means, count, smoothed);
    size_t cut = find_cut(smoothed, count);
    if (cut + 1 >= count / 2) { /* at the end of the search: it would be later still */
        say(&summary->skip, "it had not settled at half of its %.3g s: run longer",
            series->cell_ns * (double)series->count * 1e-9);
        summary->settled = summary->settled_half = summary->skip;
        return;
    }
    summary->skip = (bj_regions_answer){.known = true, .ns = cut == 0 ? 0 : (double)cells[cut] * series->cell_ns};
    judge_settled(file, series, cells[cut], summary);
}

/* When the thread had done so many calls; *resolution_ns: how far that is from known. */
static double find_time(const bj_regions_record *record, double calls, double *resolution_ns) {
    double before = 0, from = record->first_ns;
    for (size_t i = 0; i < record->series_count; i++) {
        const bj_regions_bin *bin = &record->series[i];
        if (before + bin->calls >= calls) {
            *resolution_ns = bin->calls > 1 ? fmax(0, bin->end_ns - from) : 0;
            return from + (bin->end_ns - from) * (calls - before) / bin->calls;
        }
        before += bin->calls;
        from = bin->end_ns;
    }
    return from;
}

static double sum_series(const bj_regions_record *record) {
    double calls = 0;
    for (size_t i = 0; i < record->series_count; i++)
        calls += record->series[i].calls;
    return calls;
}

static int order_numbers(const void *a, const void *b) {
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return left < right ? -1 : left > right;
}

/* The process with most threads in the region: those of others started at other times. */
static size_t choose_process(const bj_regions_file *file, size_t region, size_t *threads) {
    size_t *processes = malloc((file->record_count + 1) * sizeof *processes), count = 0, chosen = 0;
    *threads = 0;
    if (processes == NULL) {
        bj_base_note_no_memory();
        return 0;
    }
    for (size_t i = 0; i < file->record_count; i++)
        if (file->records[i].region == region)
            processes[count++] = file->records[i].process;
    qsort(processes, count, sizeof *processes, order_numbers);
    for (size_t i = 0, from = 0; i < count; i++) {
        from = processes[i] == processes[from] ? from : i;
        if (i - from + 1 > *threads) {
            *threads = i - from + 1;
            chosen = processes[i];
        }
    }
    free(processes);
    return chosen;
}

/* How far apart the threads are when each has done `calls`. */
static double spread_at(const bj_regions_file *file, size_t region, size_t process, double calls, double *resolution) {
    double least = INFINITY, most = -INFINITY;
    *resolution = 0;
    for (size_t i = 0; i < file->record_count; i++) {
        const bj_regions_record *record = &file->records[i];
        double known_to = 0;
        if (record->region != region || record->process != process)
            continue;
        double time = find_time(record, calls, &known_to);
        least = fmin(least, time);
        most = fmax(most, time);
        *resolution = fmax(*resolution, known_to);
    }
    return most - least;
}

void bj_regions_judge_skew(const bj_regions_file *file, size_t region, bj_regions_summary *summary) {
    size_t threads, process = choose_process(file, region, &threads);
    double least = INFINITY, most = 0, last_first = 0, first_last = INFINITY;
    double spreads[SKEW_POINTS], resolutions[SKEW_POINTS];
    if (threads < 2) {
        say(&summary->skew, "%.0f thread of a process alone", (double)threads);
        return;
    }
    for (size_t i = 0; i < file->record_count; i++)
        if (file->records[i].region == region && file->records[i].process == process) {
            const bj_regions_record *record = &file->records[i];
            double calls = sum_series(record);
            least = fmin(least, calls);
            most = fmax(most, calls);
            last_first = fmax(last_first, record->first_ns);
            first_last = fmin(first_last, calls > 0 ? record->series[record->series_count - 1].end_ns : 0);
        }
    if (last_first > first_last) {
        say(&summary->skew, "its %.0f threads were not all there at once", (double)threads);
        return;
    }
    if (least < LEAST_CALLS_SHARE * most) {
        say(&summary->skew, "threads differ in their numbers of calls by %.0f%%: there is no common step",
            100 * (1 - least / most));
        return;
    }
    for (size_t k = 0; k < SKEW_POINTS; k++) {
        double calls = fmax(1, floor(least * (double)(k + 1) / SKEW_POINTS));
        spreads[k] = spread_at(file, region, process, calls, &resolutions[k]);
        summary->skew_most_ns = fmax(summary->skew_most_ns, spreads[k]);
    }
    double median = bj_stats_median(spreads, SKEW_POINTS);
    double resolution = bj_stats_median(resolutions, SKEW_POINTS);
    if (median < resolution) {
        say(&summary->skew, "below the %.3g us that a bin of the series resolves", resolution * 1e-3);
        return;
    }
    summary->skew = (bj_regions_answer){.known = true, .ns = median};
}
