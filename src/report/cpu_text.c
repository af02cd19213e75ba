#include "report/cpu_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/comm_layers.h"
#include "report/terminal_text.h"

/* Of one range or of "..." with what stands between. */
enum { PIECE_ROOM = 20 };

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

void bj_report_format_cpus(const bj_cpu_set *set, const char *between, char *text, size_t room) {
    size_t used = 0;
    int *cpus = malloc((set->count + 1) * sizeof *cpus);
    snprintf(text, room, "%zu cpus", set->count); /* for who has no memory, or no cpus */
    if (cpus == NULL)
        bj_base_note_no_memory();
    if (cpus == NULL || set->count == 0) {
        free(cpus);
        return;
    }
    memcpy(cpus, set->items, set->count * sizeof *cpus);
    qsort(cpus, set->count, sizeof *cpus, compare_cpus);
    for (size_t i = 0; i < set->count;) {
        size_t last = i;
        if (used + PIECE_ROOM > room) {
            snprintf(text + used, room - used, "%s...", between);
            break;
        }
        while (last + 1 < set->count && cpus[last + 1] == cpus[last] + 1)
            last++;
        used += (size_t)snprintf(text + used, room - used, last > i ? "%s%d-%d" : "%s%d", i > 0 ? between : "", cpus[i],
                                 cpus[last]);
        i = last + 1;
    }
    free(cpus);
}

void bj_report_format_groups(const bj_cpu_groups *groups, char *text, size_t room) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < groups->count; i++) {
        if (used + 2 * PIECE_ROOM > room) {
            snprintf(text + used, room - used, "; ...");
            return;
        }
        used += (size_t)snprintf(text + used, room - used, "%s", i > 0 ? "; " : "");
        bj_report_format_cpus(&groups->items[i], ",", text + used, room - used);
        used += strlen(text + used);
    }
}

void bj_report_format_kind(const bj_cpu_kinds *kinds, size_t kind, char *text, size_t room) {
    char clock[48] = "", size[48] = "";
    bool has_clock = !isnan(kinds->clock_ghz[kind]), has_size = !isnan(kinds->l1_bytes[kind]);
    if (has_clock)
        bj_report_format_quantity(kinds->clock_ghz[kind], "GHz", clock);
    if (has_size)
        bj_report_format_quantity(kinds->l1_bytes[kind], "bytes", size);
    size_t behind = strlen(clock) + strlen(size) + sizeof ", L1 ";
    bj_report_format_cpus(&kinds->cpus.items[kind], ",", text, room - behind);
    size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s%s%s", has_clock ? ": " : "", clock, has_size ? ", L1 " : "", size);
}

bool bj_report_is_sharing(const char *key) {
    size_t length = strlen(key);
    bool is_level = strncmp(key, "cache.", 6) == 0 && length > 8 && strcmp(key + length - 8, ".sharing") == 0;
    return is_level || strcmp(key, "numa.nodes") == 0;
}

bool bj_report_is_matrix(const char *key) {
    return strcmp(key, "numa.latency_ns") == 0 || strcmp(key, "numa.gbs") == 0;
}

/* How many levels of parts a tree has, itself counted. */
static size_t count_levels(const bj_cpu_node *tree) {
    size_t most = 0;
    for (size_t i = 0; i < tree->child_count; i++) {
        size_t below = count_levels(&tree->children[i]);
        most = below > most ? below : most;
    }
    return most + 1;
}

static bool sum_up_tree(const bj_answer *answer, char *text, size_t room) {
    bj_cpu_node tree;
    char latency[48] = "";
    if (bj_profile_read_cpu_tree(answer->key, answer->structured, &tree, NULL) != BJ_OK)
        return false;
    size_t levels = count_levels(&tree);
    if (!isnan(tree.latency_ns))
        bj_report_format_quantity(tree.latency_ns, "ns", latency);
    if (tree.not_tree)
        snprintf(text, room, "not a tree: %zu cpus, %zu parts", tree.cpus.count, tree.child_count);
    else if (levels == 1)
        snprintf(text, room, "%zu cpus, all as near%s%s", tree.cpus.count, latency[0] != '\0' ? ": " : "", latency);
    else
        snprintf(text, room, "%zu cpus, %zu levels", tree.cpus.count, levels);
    bj_profile_free_cpu_tree(&tree);
    return true;
}

static bool sum_up_groups(const bj_answer *answer, char *text, size_t room) {
    bj_cpu_groups groups;
    if (bj_profile_read_cpu_groups(answer->key, answer->structured, &groups, NULL) != BJ_OK)
        return false;
    bool alike = groups.count > 0;
    for (size_t i = 1; i < groups.count; i++)
        alike = alike && groups.items[i].count == groups.items[0].count;
    if (groups.count == 0)
        snprintf(text, room, "no two cpus share one");
    else if (alike)
        snprintf(text, room, "%zu group%s of %zu cpus", groups.count, groups.count > 1 ? "s" : "",
                 groups.items[0].count);
    else
        snprintf(text, room, "%zu groups", groups.count);
    bj_profile_free_cpu_groups(&groups);
    return true;
}

static bool sum_up_kinds(const bj_answer *answer, char *text, size_t room) {
    bj_cpu_kinds kinds;
    if (bj_profile_read_cpu_kinds(answer->key, answer->structured, &kinds, NULL) != BJ_OK)
        return false;
    if (kinds.cpus.count == 1)
        snprintf(text, room, "all cpus are alike");
    else
        snprintf(text, room, "%zu kinds of cpus", kinds.cpus.count);
    bj_profile_free_cpu_kinds(&kinds);
    return true;
}

static bool sum_up_contention(const bj_answer *answer, char *text, size_t room) {
    bj_contention contention;
    char alone[48] = "";
    if (bj_profile_read_contention(answer->key, answer->structured, &contention, NULL) != BJ_OK)
        return false;
    if (!isnan(contention.reference_gbs))
        bj_report_format_quantity(contention.reference_gbs, "GB/s", alone);
    size_t levels = contention.level_count;
    if (levels == 0)
        snprintf(text, room, "none: no cpu disturbs another");
    else
        snprintf(text, room, "%zu level%s", levels, levels > 1 ? "s" : "");
    if (alone[0] != '\0')
        snprintf(text + strlen(text), room - strlen(text), ", %s alone", alone);
    bj_profile_free_contention(&contention);
    return true;
}

static bool sum_up_streams(const bj_answer *answer, char *text, size_t room) {
    bj_stream_table table;
    size_t used = 0;
    if (bj_profile_read_streams(answer->key, answer->structured, &table, NULL) != BJ_OK)
        return false;
    text[0] = '\0';
    for (size_t i = 0; i < table.count && used + 60 < room; i++) {
        const bj_stream_series *series = &table.items[i];
        used +=
            (size_t)snprintf(text + used, room - used, "%s%.0f%s with %.0f%s",
                             i > 0 ? ", " : "arrays of use: ", series->useful, series->limited ? "" : "+", series->cpus,
                             i > 0               ? ""
                             : series->cpus == 1 ? " cpu"
                                                 : " cpus");
    }
    bj_profile_free_streams(&table);
    return text[0] != '\0';
}

static bool sum_up_matrix(const bj_answer *answer, char *text, size_t room) {
    bj_node_matrix matrix;
    if (bj_profile_read_node_matrix(answer->key, answer->structured, NULL, &matrix, NULL) != BJ_OK)
        return false;
    snprintf(text, room, "%zu node%s", matrix.values.count, matrix.values.count > 1 ? "s" : "");
    bj_profile_free_node_matrix(&matrix);
    return true;
}

static bool sum_up_pairs(const bj_answer *answer, char *text, size_t room) {
    bj_cpu_pairs pairs;
    char range[128] = "";
    if (bj_profile_read_cpu_pairs(answer->key, answer->structured, &pairs, NULL) != BJ_OK)
        return false;
    if (!isnan(pairs.least_ns))
        bj_report_format_range((const double[]){pairs.least_ns, pairs.most_ns}, "ns", " to ", range, sizeof range);
    snprintf(text, room, "%zu pair%s%s%s", pairs.count, pairs.count == 1 ? "" : "s", range[0] != '\0' ? ", " : "",
             range);
    return true;
}

static bool sum_up_layers(const bj_answer *answer, char *text, size_t room) {
    return bj_profile_describe_layers(answer->structured, text, room);
}

static bool sum_up_ranks(const bj_answer *answer, char *text, size_t room) {
    bj_rank_places ranks;
    size_t bound = 0;
    if (bj_profile_read_comm_ranks(answer->structured, &ranks, NULL) != BJ_OK)
        return false;
    for (size_t i = 0; i < ranks.count; i++)
        bound += ranks.cpus[i] >= 0;
    snprintf(text, room, "%zu rank%s on %zu host%s, %zu bound", ranks.count, ranks.count == 1 ? "" : "s",
             ranks.host_count, ranks.host_count == 1 ? "" : "s", bound);
    bj_profile_free_comm_ranks(&ranks);
    return true;
}

bool bj_report_sum_up(const bj_answer *answer, char *text, size_t room) {
    static const struct {
        const char *key;
        bool (*sum_up)(const bj_answer *answer, char *text, size_t room);
    } known[] = {
        {"topology.tree", sum_up_tree},           {"topology.pairs", sum_up_pairs}, {"cpu.kinds", sum_up_kinds},
        {"memory.contention", sum_up_contention}, {"comm.layers", sum_up_layers},   {"comm.ranks", sum_up_ranks},
        {"memory.streams", sum_up_streams},
    };
    if (!bj_data_has_value(answer) || answer->structured == NULL)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(answer->key, known[i].key) == 0)
            return known[i].sum_up(answer, text, room);
    if (bj_report_is_sharing(answer->key))
        return sum_up_groups(answer, text, room);
    return bj_report_is_matrix(answer->key) && sum_up_matrix(answer, text, room);
}

/* "0-7: 5.2 GHz, L1 48 KiB; 8-15: 3.9 GHz, L1 32 KiB" */
static void list_kinds(const bj_answer *answer, char *text, size_t room) {
    enum { KIND_ROOM = 128 };
    bj_cpu_kinds kinds;
    size_t used = 0;
    text[0] = '\0';
    if (bj_profile_read_cpu_kinds(answer->key, answer->structured, &kinds, NULL) != BJ_OK)
        return;
    for (size_t i = 0; i < kinds.cpus.count; i++) {
        char kind[KIND_ROOM];
        bj_report_format_kind(&kinds, i, kind, sizeof kind);
        if (used + strlen(kind) + sizeof "; ; ..." > room) {
            snprintf(text + used, room - used, "; ...");
            break;
        }
        used += (size_t)snprintf(text + used, room - used, "%s%s", i > 0 ? "; " : "", kind);
    }
    bj_profile_free_cpu_kinds(&kinds);
}

bool bj_report_describe(const bj_answer *answer, char *text, size_t room) {
    char list[160] = "";
    bj_cpu_groups groups;
    if (!bj_report_sum_up(answer, text, room))
        return false;
    if (strcmp(answer->key, "cpu.kinds") == 0)
        list_kinds(answer, list, sizeof list);
    if (bj_report_is_sharing(answer->key) &&
        bj_profile_read_cpu_groups(answer->key, answer->structured, &groups, NULL) == BJ_OK) {
        bj_report_format_groups(&groups, list, sizeof list);
        bj_profile_free_cpu_groups(&groups);
    }
    if (list[0] != '\0')
        snprintf(text + strlen(text), room - strlen(text), " (%s)", list);
    return true;
}
