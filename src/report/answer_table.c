#include "report/answer_table.h"

#include <string.h>

#include "data/number.h"
#include "report/terminal_text.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const bj_table_column exact_columns[] = {
    {.title = "key"},        {.title = "value"},  {.title = "unit"},    {.title = "low"},    {.title = "high"},
    {.title = "confidence"}, {.title = "status"}, {.title = "claimed"}, {.title = "method"}, {.title = "reason"},
};

static const bj_table_column columns[] = {
    {.title = "key"},
    {.title = "value"},
    {.title = "95% interval"},
    {.title = "confidence"},
    {.title = "remark", .remark = true},
};
static const bj_table_column columns_with_claims[] = {
    {.title = "key"},        {.title = "value"},   {.title = "95% interval"},
    {.title = "confidence"}, {.title = "claimed"}, {.title = "remark", .remark = true},
};

static void add_number(bj_table *table, bool here, double number) {
    char text[BJ_NUMBER_ROOM];
    bj_data_format_number(number, text);
    bj_report_add_cell(table, "%s", here ? text : "");
}

static const char *name_confidence(const bj_answer *answer) {
    return answer->confidence != BJ_CONFIDENCE_NONE ? bj_data_name_confidence(answer->confidence) : "";
}

static void add_exact_row(bj_table *table, const bj_answer *answer) {
    bj_report_add_cell(table, "%s", answer->key);
    if (bj_data_has_value(answer) && answer->structured != NULL)
        bj_report_add_cell(table, "%s", answer->structured);
    else
        add_number(table, bj_data_has_value(answer), answer->value);
    bj_report_add_cell(table, "%s", answer->unit);
    add_number(table, answer->has_interval, answer->interval[0]);
    add_number(table, answer->has_interval, answer->interval[1]);
    bj_report_add_cell(table, "%s", name_confidence(answer));
    bj_report_add_cell(table, "%s", bj_data_name_status(answer->status));
    add_number(table, answer->has_claimed, answer->claimed);
    bj_report_add_cell(table, "%s", answer->method);
    bj_report_add_cell(table, "%s", answer->status != BJ_ANSWER_OK ? answer->reason : "");
}

static void add_row(bj_table *table, const bj_answer *answer, bool claims, bool structured_below) {
    char value[48] = "", interval[128], claimed[48] = "";
    bool listed = bj_data_has_value(answer) && answer->structured != NULL;
    if (bj_data_has_value(answer) && !listed)
        bj_report_format_quantity(answer->value, answer->unit, value);
    bj_report_format_interval(answer, interval, sizeof interval);
    if (answer->has_claimed)
        bj_report_format_quantity(answer->claimed, answer->unit, claimed);
    bj_report_add_cell(table, "%s", answer->key);
    bj_report_add_cell(table, "%s", listed && !structured_below ? answer->structured : value);
    bj_report_add_cell(table, "%s", interval);
    bj_report_add_cell(table, "%s", name_confidence(answer));
    if (claims)
        bj_report_add_cell(table, "%s", claimed);
    bool ok = answer->status == BJ_ANSWER_OK;
    bj_report_add_cell(table, "%s%s%s%s%s", listed && structured_below ? answer->structured : "",
                       listed && structured_below && !ok ? "; " : "", ok ? "" : bj_data_name_status(answer->status),
                       ok ? "" : ": ", ok ? "" : answer->reason);
}

bj_status bj_report_write_answer_table(FILE *out, const bj_answers *answers, const char *probe, bj_table_format format,
                                       const bj_terminal_style *style, bj_error *error) {
    bool claims = false;
    for (size_t i = 0; i < answers->count; i++)
        claims = claims || answers->items[i].has_claimed;
    bj_table table = {.columns = columns, .column_count = COUNT(columns)};
    if (format == BJ_TABLE_CSV)
        table = (bj_table){.columns = exact_columns, .column_count = COUNT(exact_columns)};
    else if (claims)
        table = (bj_table){.columns = columns_with_claims, .column_count = COUNT(columns_with_claims)};
    for (size_t i = 0; i < answers->count; i++) {
        const bj_answer *answer = &answers->items[i];
        if (probe != NULL && strcmp(answer->probe, probe) != 0)
            continue;
        if (format == BJ_TABLE_CSV)
            add_exact_row(&table, answer);
        else
            add_row(&table, answer, claims, format == BJ_TABLE_TEXT);
    }
    bj_status status = bj_report_write_table(out, &table, format, style, error);
    bj_report_free_table(&table);
    return status;
}
