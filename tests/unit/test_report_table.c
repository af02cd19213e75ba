/* Tables: what must be quoted or escaped, what a terminal gets, samples as CSV. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/answer_table.h"
#include "report/curve_text.h"

static const bj_terminal_style plain = {0};
static const bj_table_column columns[] = {
    {.title = "name"}, {.title = "size", .right = true}, {.title = "note", .remark = true}};

static bj_table make_table(void) {
    bj_table table = {.columns = columns, .column_count = 3};
    bj_report_add_cell(&table, "a|b");
    bj_report_add_cell(&table, "%d", 7);
    bj_report_add_cell(&table, "%s", "");
    bj_report_add_cell(&table, "long,\"name\"");
    bj_report_add_cell(&table, "%d", 1024);
    bj_report_add_cell(&table, "two\nlines of <n>");
    return table;
}

static void expect_table(const bj_table *table, bj_table_format format, const char *expected) {
    char *text = NULL;
    size_t length;
    bj_error error;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_int_equal(bj_report_write_table(out, table, format, &plain, &error), BJ_OK);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void formats_protect_what_they_must(void **state) {
    (void)state;
    bj_table table = make_table();
    expect_table(&table, BJ_TABLE_TEXT,
                 "name         size\n"
                 "a|b             7\n"
                 "long,\"name\"  1024\n"
                 "    two?lines of <n>\n");
    expect_table(&table, BJ_TABLE_MARKDOWN,
                 "| name | size | note |\n"
                 "|---|---:|---|\n"
                 "| a\\|b | 7 |  |\n"
                 "| long,\"name\" | 1024 | two?lines of &lt;n> |\n");
    expect_table(&table, BJ_TABLE_CSV,
                 "name,size,note\n"
                 "a|b,7,\n"
                 "\"long,\"\"name\"\"\",1024,two?lines of <n>\n");
    bj_report_free_table(&table);
    assert_int_equal(table.count, 0);
}

static void a_table_without_rows_is_its_head(void **state) {
    (void)state;
    const bj_table table = {.columns = columns, .column_count = 3};
    expect_table(&table, BJ_TABLE_TEXT, "name  size\n");
    expect_table(&table, BJ_TABLE_CSV, "name,size,note\n");
}

static void names_of_formats(void **state) {
    (void)state;
    bj_table_format format = BJ_TABLE_TEXT;
    assert_true(bj_report_parse_table_format("csv", &format));
    assert_int_equal(format, BJ_TABLE_CSV);
    assert_true(bj_report_parse_table_format("markdown", &format));
    assert_int_equal(format, BJ_TABLE_MARKDOWN);
    assert_false(bj_report_parse_table_format("json", &format));
}

/* Structured values, claims and reasons each have their place. */
static void answers_become_rows(void **state) {
    (void)state;
    bj_answers answers = {0};
    bj_answer *answer;
    bj_error error;
    assert_int_equal(bj_data_put_answer(&answers, "a.size_bytes", "bytes", &answer, &error), BJ_OK);
    answer->value = 33234.5;
    answer->has_claimed = true;
    answer->claimed = 32768;
    strcpy(answer->probe, "one");
    assert_int_equal(bj_data_put_answer(&answers, "a.groups", "groups", &answer, &error), BJ_OK);
    answer->structured = strdup("[[0, 1]]");
    strcpy(answer->probe, "one");
    assert_int_equal(bj_data_put_answer(&answers, "b.none", "ns", &answer, &error), BJ_OK);
    answer->status = BJ_ANSWER_UNDETERMINED;
    strcpy(answer->reason, "no step, anywhere");
    strcpy(answer->probe, "two");
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    assert_int_equal(bj_report_write_answer_table(out, &answers, NULL, BJ_TABLE_CSV, NULL, &error), BJ_OK);
    assert_int_equal(bj_report_write_answer_table(out, &answers, "one", BJ_TABLE_TEXT, &plain, &error), BJ_OK);
    fclose(out);
    assert_string_equal(text, "key,value,unit,low,high,confidence,status,claimed,method,reason\n"
                              "a.size_bytes,33234.5,bytes,,,,ok,32768,,\n"
                              "a.groups,\"[[0, 1]]\",groups,,,,ok,,,\n"
                              "b.none,,ns,,,,undetermined,,,\"no step, anywhere\"\n"
                              "key           value     95% interval  confidence  claimed\n"
                              "a.size_bytes  32.5 KiB                            32 KiB\n"
                              "a.groups\n"
                              "    [[0, 1]]\n");
    free(text);
    bj_data_free_answers(&answers);
}

/* A round need not have every x; names from a file may hold anything. */
static void samples_become_rows(void **state) {
    (void)state;
    bj_curves curves = {0};
    bj_curve *curve;
    bj_error error;
    assert_int_equal(bj_data_add_curve(&curves, "some.curve", "some", &curve, &error), BJ_OK);
    bj_data_name_axes(curve, "a,b\n", "GB/s", "y", "");
    assert_int_equal(bj_data_record_sample(curve, 2, 1, 0.25, &error), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 1, 0, -1.5, &error), BJ_OK);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    bj_report_write_samples(out, curve, false);
    bj_report_write_samples(out, curve, true);
    fclose(out);
    assert_string_equal(text, "a_b__GB_s,y,round\n1,-1.5,1\n2,0.25,2\n"
                              "y,a_b__GB_s,round\n-1.5,1,1\n0.25,2,2\n");
    free(text);
    bj_data_free_curves(&curves);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_protect_what_they_must),
        cmocka_unit_test(a_table_without_rows_is_its_head),
        cmocka_unit_test(names_of_formats),
        cmocka_unit_test(answers_become_rows),
        cmocka_unit_test(samples_become_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
