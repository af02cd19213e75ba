#include "diagnose/peaks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double find(const bj_answers *answers, const char *key) {
    double value = NAN;
    return bj_data_get_number(answers, key, &value) && value > 0 ? value : NAN;
}

/* Flops of one operation on one element; 0: it is none. */
static double flops_of(const char *operation) {
    static const struct {
        const char *name;
        double flops;
    } known[] = {{"fma", 2}, {"add", 1}, {"sub", 1}, {"mul", 1}, {"div", 1}, {"sqrt", 1}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(operation, known[i].name) == 0)
            return known[i].flops;
    return 0;
}

/* The parts of "op.<type>[x<lanes>].<operation>.throughput"; false: it is no such key. */
static bool split_key(const char *key, char *type, double *lanes, char *operation) {
    char vector[24];
    int end = 0;
    if (sscanf(key, "op.%23[a-z0-9].%23[a-z0-9_].throughput%n", vector, operation, &end) != 2 || key[end] != '\0' ||
        end == 0)
        return false;
    *lanes = 1;
    strcpy(type, vector);
    char *cross = strchr(type, 'x');
    if (cross != NULL) {
        *lanes = strtod(cross + 1, NULL);
        *cross = '\0';
    }
    return true;
}

/* Throughputs are in operations in the time of one int32 addition, which takes one cycle wherever the probe `clock` can
 * tell a clock at all. */
static void take_throughput(const bj_answer *answer, bj_peaks *peaks) {
    char type[24], operation[24];
    double lanes, value = answer->value;
    if (!bj_data_has_value(answer) || answer->structured != NULL || !(value > 0) ||
        !split_key(answer->key, type, &lanes, operation))
        return;
    if (!(value <= peaks->instructions_per_cycle)) {
        peaks->instructions_per_cycle = value;
        snprintf(peaks->instructions_of, sizeof peaks->instructions_of, "%s", answer->key);
    }
    double flops = strcmp(type, "double") == 0 ? value * lanes * flops_of(operation) : 0;
    if (flops > 0 && !(flops <= peaks->flops_per_cycle)) {
        peaks->flops_per_cycle = flops;
        snprintf(peaks->flops_of, sizeof peaks->flops_of, "%s", answer->key);
    }
}

static void add_roof(bj_peaks *peaks, const char *from, double cpu_gbs, double all_gbs) {
    if (isnan(cpu_gbs) || peaks->roof_count == BJ_PEAKS_LEVELS)
        return;
    bj_peak_roof *roof = &peaks->roofs[peaks->roof_count++];
    *roof = (bj_peak_roof){.cpu_gbs = cpu_gbs, .all_gbs = all_gbs, .ridge = peaks->gflops / cpu_gbs};
    snprintf(roof->from, sizeof roof->from, "%s", from);
}

void bj_diagnose_find_peaks(const bj_answers *answers, size_t cpus, bj_peaks *peaks) {
    *peaks = (bj_peaks){.clock_ghz = find(answers, "cpu.clock_ghz"),
                        .instructions_per_cycle = NAN,
                        .flops_per_cycle = NAN,
                        .loads_per_cycle = find(answers, "op.load.throughput"),
                        .cpus = cpus};
    for (size_t i = 0; i < answers->count; i++)
        take_throughput(&answers->items[i], peaks);
    if (!(peaks->loads_per_cycle <= peaks->instructions_per_cycle) && !isnan(peaks->loads_per_cycle)) {
        peaks->instructions_per_cycle = peaks->loads_per_cycle;
        snprintf(peaks->instructions_of, sizeof peaks->instructions_of, "op.load.throughput");
    }
    peaks->gflops = peaks->flops_per_cycle * peaks->clock_ghz;
    for (int level = 1; level < BJ_PEAKS_LEVELS; level++) {
        char key[40], from[16];
        snprintf(key, sizeof key, "cache.L%d.read_gbs", level);
        snprintf(from, sizeof from, "L%d", level);
        add_roof(peaks, from, find(answers, key), NAN);
    }
    double full = find(answers, "memory.full.read_gbs");
    add_roof(peaks, "memory", find(answers, "memory.read_gbs"), cpus > 0 ? full * (double)cpus : NAN);
}

void bj_diagnose_compare_to_peaks(const bj_peaks *peaks, const bj_peak_work *work, bj_peak_standing *standing) {
    double per_cpu = work->seconds * work->cpus * 1e9;
    const bj_peak_roof *memory = NULL;
    for (size_t i = 0; i < peaks->roof_count; i++)
        if (strcmp(peaks->roofs[i].from, "memory") == 0)
            memory = &peaks->roofs[i];
    *standing = (bj_peak_standing){.gflops = work->flops / per_cpu, .gbs = work->bytes / per_cpu};
    standing->flops_per_cycle = standing->gflops / peaks->clock_ghz;
    standing->loads_per_cycle = work->loads / per_cpu / peaks->clock_ghz;
    standing->loads_share = standing->loads_per_cycle / peaks->loads_per_cycle;
    standing->flops_share = standing->gflops / peaks->gflops;
    standing->bytes_share = memory != NULL ? standing->gbs / memory->cpu_gbs : NAN;
    standing->full_share = memory != NULL ? standing->gbs * (double)peaks->cpus / memory->all_gbs : NAN;
    double from_bytes = memory != NULL ? memory->cpu_gbs * work->flops / work->bytes : NAN;
    standing->below_ridge = from_bytes < peaks->gflops;
    standing->roof_share =
        isnan(from_bytes) || isnan(peaks->gflops) ? NAN : standing->gflops / fmin(from_bytes, peaks->gflops);
}
