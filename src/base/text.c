#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n\f\v";
static const char digits[] = "0123456789";

/* Sign, digits with at most one point, exponent: what strtod takes beyond that (hexadecimal, "inf", "nan") has no
 * place in our files. NULL when `text` does not begin so, else where it ends. */
static const char *skip_decimal(const char *text) {
    text += *text == '+' || *text == '-';
    size_t count = strspn(text, digits);
    text += count;
    if (*text == '.') {
        size_t fraction = strspn(++text, digits);
        text += fraction;
        count += fraction;
    }
    if (count == 0)
        return NULL;
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '+' || *text == '-';
        size_t exponent = strspn(text, digits);
        if (exponent == 0)
            return NULL;
        text += exponent;
    }
    return text;
}

bool bj_base_parse_double(const char *text, double *value) {
    text += strspn(text, blanks);
    const char *end = skip_decimal(text);
    if (end == NULL || end[strspn(end, blanks)] != '\0')
        return false;
    /* A locale object made for each call: no global state, and for "C" it costs no more than a lookup. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    double parsed = strtod_l(text, NULL, plain);
    freelocale(plain);
    if (!isfinite(parsed))
        return false;
    *value = parsed;
    return true;
}

bool bj_base_parse_u64(const char *text, uint64_t *value) {
    text += strspn(text, blanks);
    text += *text == '+';
    size_t count = strspn(text, digits);
    if (count == 0 || text[count + strspn(text + count, blanks)] != '\0')
        return false;
    uint64_t parsed = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (parsed > (UINT64_MAX - digit) / 10)
            return false;
        parsed = parsed * 10 + digit;
    }
    *value = parsed;
    return true;
}

size_t bj_base_measure_bidi(const unsigned char *at) {
    if (at[0] == 0xd8 && at[1] == 0x9c) /* U+061C */
        return 2;
    if (at[0] != 0xe2 || (at[1] != 0x80 && at[1] != 0x81))
        return 0;
    bool found = at[1] == 0x80 ? at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xaa && at[2] <= 0xae)
                               : at[2] >= 0xa6 && at[2] <= 0xa9;
    return found ? 3 : 0;
}

void bj_base_hide_controls(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
        bool two_bytes = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
        if (two_bytes)
            at[1] = '?';
        if (two_bytes || *at < ' ' || *at == 0x7f)
            *at = '?';
        size_t length = bj_base_measure_bidi(at);
        if (length > 0) {
            memset(at, '?', length);
            at += length - 1;
        }
    }
}

void bj_base_format_bytes(double bytes, char *text, size_t room) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    enum { LAST = sizeof units / sizeof units[0] - 1 };
    if (!isfinite(bytes)) {
        snprintf(text, room, "unknown");
        return;
    }
    double size = fabs(bytes);
    const char *sign = bytes < 0 ? "-" : "";
    for (int unit = 0;; unit++, size /= 1024) {
        /* Three digits say all that a measured size can; 1023.7 counts as 1024 of this unit, one of the next. */
        int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
        double scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
        double scaled = floor(size * scale + 0.5);
        if (scaled >= 1024 * scale && unit < LAST)
            continue;
        double whole = floor(scaled / scale);
        int fraction = (int)(scaled - whole * scale);
        if (decimals == 2 && fraction % 10 == 0) {
            fraction /= 10;
            decimals = 1;
        }
        /* The point is ours: printf's would follow the locale. */
        if (fraction == 0)
            snprintf(text, room, "%s%.0f %s", sign, whole, units[unit]);
        else
            snprintf(text, room, "%s%.0f.%0*d %s", sign, whole, decimals, fraction, units[unit]);
        return;
    }
}
