#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void parses_numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},        {"-0", 0},        {"1", 1},
                {"+1.5", 1.5},   {"-2.25", -2.25}, {".5", .5},
                {"5.", 5},       {"1e3", 1000},    {"1.5E-3", 1.5e-3},
                {"  7\t", 7},    {"7\r\n", 7},     {"1e-400", 0},
                {"0000012", 12}, {"2.5e+2", 250},  {"1.7976931348623157e308", 1.7976931348623157e308},
                {"0.1", 0.1}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = 99;
        if (!bj_base_parse_double(good[i].text, &value) || value != good[i].value)
            fail_msg("\"%s\" gave %g", good[i].text, value);
    }
}

static void refuses_what_is_no_number(void **state) {
    (void)state;
    static const char *const bad[] = {"",      " ",      ".",     "-",   "+",   "e5",    "1e",       "1e+",  "1,5",
                                      "1.5x",  "1 2",    "nan",   "NaN", "inf", "-inf",  "infinity", "0x10", "0x1p3",
                                      "1e999", "-1e999", "1.2.3", "--1", "+-1", "1_000", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 99;
        if (bj_base_parse_double(bad[i], &value) || value != 99)
            fail_msg("\"%s\" was taken as %g", bad[i], value);
    }
}

static void parses_whole_numbers(void **state) {
    (void)state;
    uint64_t value = 0;
    assert_true(bj_base_parse_u64("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
    assert_true(bj_base_parse_u64(" 42\n", &value));
    assert_int_equal(value, 42);
    assert_true(bj_base_parse_u64("+7", &value));
    assert_int_equal(value, 7);
    static const char *const bad[] = {
        "", " ", "-1", "1.0", "0x1", "18446744073709551616", "99999999999999999999999", "1 2", "max", "+", "1e3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        value = 99;
        if (bj_base_parse_u64(bad[i], &value) || value != 99)
            fail_msg("\"%s\" was taken as a whole number", bad[i]);
    }
}

static void formats_sizes(void **state) {
    (void)state;
    static const struct {
        double bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},
                 {310, "310 B"},
                 {1023, "1023 B"},
                 {1024, "1 KiB"},
                 {49152, "48 KiB"},
                 {37376, "36.5 KiB"},
                 {1310720, "1.25 MiB"},
                 {1.05 * 1048576, "1.05 MiB"},
                 {1023.7 * 1024, "1 MiB"},
                 {1000 * 1024, "1000 KiB"},
                 {9.999 * 1024, "10 KiB"},
                 {99.97 * 1024, "100 KiB"},
                 {34359738368.0, "32 GiB"},
                 {1.8446744073709552e19, "16 EiB"},
                 {-5000, "-4.88 KiB"},
                 {NAN, "unknown"},
                 {INFINITY, "unknown"}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char text[32];
        bj_base_format_bytes(sizes[i].bytes, text, sizeof text);
        assert_string_equal(text, sizes[i].text);
    }
    char huge[32], narrow[4];
    bj_base_format_bytes(1e300, huge, sizeof huge);
    assert_int_equal(huge[sizeof huge - 1], '\0');
    bj_base_format_bytes(1310720, narrow, sizeof narrow);
    assert_string_equal(narrow, "1.2");
}

/* Only where such a locale is installed; elsewhere the parts above say the same in the C locale. */
static void ignores_the_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                        "fr_FR.utf8",  "de_DE",      "es_ES.utf8"};
    const char *set = NULL;
    for (size_t i = 0; set == NULL && i < sizeof names / sizeof names[0]; i++)
        set = setlocale(LC_ALL, names[i]);
    if (set == NULL || strcmp(localeconv()->decimal_point, ",") != 0)
        skip();
    parses_numbers(state);
    refuses_what_is_no_number(state);
    formats_sizes(state);
    setlocale(LC_ALL, "C");
}

static void hides_controls(void **state) {
    (void)state;
    char text[] = "a\n\x1b[2J\x7f \xc2\x9bm \xc2\xa0 \xc3\xa9 \xc2";
    bj_base_hide_controls(text);
    assert_string_equal(text, "a??[2J? ??m \xc2\xa0 \xc3\xa9 \xc2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_numbers),       cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(parses_whole_numbers), cmocka_unit_test(formats_sizes),
        cmocka_unit_test(ignores_the_locale),   cmocka_unit_test(hides_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
