/* A fleet for a person, and for a program. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "data/number.h"
#include "fleet/fleet.h"
#include "profile/json_text.h"
#include "report/terminal_text.h"

/* Numbers of one host that are told; the rest is counted. */
enum { KEYS_TOLD = 3, DOUBTS_TOLD = 10, NAME_ROOM = 256 };

void bj_fleet_name_host(const char *file, char *name, size_t room) {
    static const char *const endings[] = {".gz", ".json"};
    snprintf(name, room, "%s", file);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t length = strlen(name), ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
            name[length - ending] = '\0';
    }
    bj_base_hide_controls(name);
}

static void print_outlier(FILE *out, const bj_fleet *fleet, const bj_fleet_outlier *item) {
    const bj_fleet_key *key = &fleet->keys[item->key];
    char value[48], median[48], share[32];
    bj_report_format_quantity(item->value, key->unit, value);
    bj_report_format_quantity(item->median, key->unit, median);
    double percent = 100 * (item->ratio - 1);
    if (item->ratio >= 2)
        snprintf(share, sizeof share, "%.3g times", item->ratio);
    else
        snprintf(share, sizeof share, fabs(percent) < 10 ? "%.2g%% %s" : "%.0f%% %s", fabs(percent),
                 percent < 0 ? "below" : "above");
    fprintf(out, "%s %s the median of %zu (%s, usual %s)", key->name, share, item->of, value, median);
}

/* The outliers of one host from `first` on; how many there are. */
static size_t print_host(FILE *out, const bj_fleet *fleet, size_t first) {
    const bj_fleet_outlier *items = &fleet->outliers[first];
    size_t count = 0;
    char name[NAME_ROOM];
    while (first + count < fleet->outlier_count && items[count].host == items[0].host &&
           items[count].certain == items[0].certain)
        count++;
    bj_fleet_name_host(fleet->hosts[items[0].host].file, name, sizeof name);
    for (size_t i = 0; i < count && i < KEYS_TOLD; i++) {
        if (i == 0)
            fprintf(out, "%s: ", name);
        else
            fprintf(out, "%*s", (int)strlen(name) + 2, "");
        print_outlier(out, fleet, &items[i]);
        fputc('\n', out);
    }
    if (count > KEYS_TOLD)
        fprintf(out, "%*sand %zu more\n", (int)strlen(name) + 2, "", count - KEYS_TOLD);
    return count;
}

static void print_doubts(FILE *out, const bj_fleet *fleet, size_t first) {
    if (first < fleet->outlier_count)
        fprintf(out, "\nperhaps, not counted:\n");
    for (size_t told = 0; first < fleet->outlier_count && told < DOUBTS_TOLD; told++)
        first += print_host(out, fleet, first);
    if (first < fleet->outlier_count)
        fprintf(out, "and %zu more\n", fleet->outlier_count - first);
}

void bj_fleet_print(FILE *out, const bj_fleet *fleet) {
    size_t judged = 0, at = 0;
    for (size_t i = 0; i < fleet->kind_count; i++)
        judged += fleet->kinds[i].judged ? fleet->kinds[i].hosts : 0;
    if (fleet->odd_hosts > 0)
        fprintf(out, "%zu of %zu hosts differ from the rest\n\n", fleet->odd_hosts, judged);
    else
        fprintf(out, "no host of %zu differs from the rest\n", judged);
    while (at < fleet->certain_count)
        at += print_host(out, fleet, at);
    print_doubts(out, fleet, at);
    fputc('\n', out);
    for (size_t i = 0; i < fleet->kind_count; i++) {
        char name[sizeof fleet->kinds[i].name];
        snprintf(name, sizeof name, "%s", fleet->kinds[i].name);
        bj_base_hide_controls(name);
        if (fleet->kinds[i].judged)
            fprintf(out, "kind: %s: %zu hosts\n", name, fleet->kinds[i].hosts);
    }
    for (size_t i = 0; i < fleet->notes.count; i++) {
        bj_base_hide_controls(fleet->notes.items[i]);
        fprintf(out, "note: %s\n", fleet->notes.items[i]);
    }
}

static double rounded(double value) {
    return bj_data_round_number(value, BJ_ANSWER_DIGITS);
}

static void append_outliers(bj_json_text *json, const bj_fleet *fleet, bool certain) {
    bool first = true;
    for (size_t i = 0; i < fleet->outlier_count; i++) {
        const bj_fleet_outlier *item = &fleet->outliers[i];
        if (item->certain != certain)
            continue;
        bj_json_append(json, first ? "\n    {" : ",\n    {");
        first = false;
        bj_json_append_text_member(json, "file", fleet->hosts[item->host].file);
        bj_json_append_text_member(json, "key", fleet->keys[item->key].name);
        bj_json_append_text_member(json, "unit", fleet->keys[item->key].unit);
        bj_json_append_number_member(json, "value", item->value);
        bj_json_append_number_member(json, "median", rounded(item->median));
        bj_json_append_number_member(json, "ratio", rounded(item->ratio));
        bj_json_append_number_member(json, "p", item->p);
        bj_json_append_u64_member(json, "of", item->of);
        bj_json_append_u64_member(json, "kind", item->kind);
        if (item->doubt != NULL)
            bj_json_append_text_member(json, "doubt", item->doubt);
        bj_json_append(json, "}");
    }
    bj_json_append(json, first ? "]" : "\n  ]");
}

bj_status bj_fleet_to_json(const bj_fleet *fleet, char **text, bj_error *error) {
    bj_json_text json = {0};
    bj_json_append(&json, "{\n  \"format\": \"" BJ_FLEET_FORMAT "\",\n  \"hosts\": ");
    bj_json_append_u64(&json, fleet->count);
    bj_json_append(&json, ",\n  \"judged\": ");
    bj_json_append_u64(&json, fleet->judged);
    bj_json_append(&json, ",\n  \"outliers\": [");
    append_outliers(&json, fleet, true);
    bj_json_append(&json, ",\n  \"doubtful\": [");
    append_outliers(&json, fleet, false);
    bj_json_append(&json, ",\n  \"kinds\": [");
    for (size_t i = 0; i < fleet->kind_count; i++) {
        bj_json_append(&json, i == 0 ? "\n    {" : ",\n    {");
        bj_json_append_text_member(&json, "name", fleet->kinds[i].name);
        bj_json_append_u64_member(&json, "hosts", fleet->kinds[i].hosts);
        bj_json_append_key(&json, "judged");
        bj_json_append(&json, fleet->kinds[i].judged ? "true}" : "false}");
    }
    bj_json_append(&json, "],\n  \"notes\": [");
    for (size_t i = 0; i < fleet->notes.count; i++) {
        bj_json_append(&json, i == 0 ? "" : ", ");
        bj_json_append_string(&json, fleet->notes.items[i]);
    }
    bj_json_append(&json, "]\n}\n");
    bj_status status = bj_json_finish(&json, text, NULL, error);
    bj_json_discard(&json);
    return status;
}
