#include "report/terminal_comm.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "profile/comm_advice.h"
#include "profile/comm_layers.h"
#include "report/cpu_text.h"

enum { LINE_ROOM = 600, LIST_ROOM = 200 };

typedef struct {
    FILE *out;
    const bj_terminal_style *style;
    size_t indent;
} place;

static void print_line(const place *place, size_t deeper, const char *format, ...) {
    char text[LINE_ROOM];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    size_t column = place->indent + deeper;
    fprintf(place->out, "%*s", (int)column, "");
    bj_report_print_wrapped(place->out, place->style, BJ_INK_PLAIN, text, column + 2, column);
}

static void print_lines(const place *place, const bj_comm_layer *layer) {
    char switches[LIST_ROOM] = "";
    size_t used = 0;
    for (size_t i = 0; i < layer->switch_count && used + 1 < sizeof switches; i++) {
        char at[48];
        bj_report_format_quantity(layer->switches[i], "bytes", at);
        used += (size_t)snprintf(switches + used, sizeof switches - used, "%s%s",
                                 i > 0 ? ", " : "; another protocol from ", at);
    }
    print_line(place, 2, "short messages: %.3g us + bytes / %.3g GB/s%s; by lines off by at most %.0f%%",
               layer->start_us, layer->gbs, switches, 100 * layer->error);
    if (!isnan(layer->hockney_us))
        print_line(place, 2, "Hockney's one line: %.3g us + bytes / %.3g GB/s, off by at most %.0f%%",
                   layer->hockney_us, layer->hockney_gbs, 100 * layer->hockney_error);
}

static void print_scaling(const place *place, const bj_comm_series *scaling) {
    char text[LIST_ROOM] = "";
    size_t used = 0;
    for (size_t i = 0; i < scaling->count && used + 1 < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.0f: %.3g", i > 0 ? ", " : "", scaling->x[i],
                                 scaling->y[i]);
    if (scaling->count > 0)
        print_line(place, 2, "times as long by pairs at once %s", text);
}

void bj_report_print_layers(FILE *out, const bj_terminal_style *style, const char *json, size_t indent) {
    const place place = {out, style, indent};
    bj_comm_layers layers;
    if (bj_profile_read_comm_layers(json, &layers, NULL) != BJ_OK)
        return;
    for (size_t i = 0; i < layers.count; i++) {
        const bj_comm_layer *layer = &layers.items[i];
        char groups[LIST_ROOM], bytes[48] = "";
        bj_report_format_groups(&layer->groups, groups, sizeof groups);
        if (!isnan(layer->bytes))
            bj_report_format_quantity(layer->bytes, "bytes", bytes);
        print_line(&place, 0, "%s: %.3g us%s%s%s%s", layer->name, layer->latency_us, bytes[0] != '\0' ? " for " : "",
                   bytes, layer->groups.count > 0 ? ", ranks " : "", layer->groups.count > 0 ? groups : "");
        if (!isnan(layer->start_us))
            print_lines(&place, layer);
        print_scaling(&place, &layer->scaling);
    }
    bj_profile_free_comm_layers(&layers);
}

/* As for emit: an answer that is not sure is no base of advice. */
static bool is_sure(const bj_answer *answer) {
    return answer->status == BJ_ANSWER_OK && answer->confidence != BJ_CONFIDENCE_LOW;
}

void bj_report_print_advice(FILE *out, const bj_profile *profile, const bj_terminal_style *style) {
    enum { INDENT = 2 };
    const place place = {out, style, INDENT};
    bj_strings advice = {0};
    bj_status status = bj_profile_advise(profile, is_sure, &advice, NULL);
    if (status == BJ_ERR_RESOURCE)
        bj_base_note_no_memory();
    if (status == BJ_OK && advice.count > 0) {
        bj_report_print_text(out, style, BJ_INK_STRONG, "advice", 0);
        putc('\n', out);
        for (size_t i = 0; i < advice.count; i++)
            print_line(&place, 0, "%s", advice.items[i]);
    }
    bj_strings_free(&advice);
}
