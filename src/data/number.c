#include "data/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond this a double no longer tells neighbouring integers apart. */
#define LARGEST_EXACT_INTEGER 9007199254740992.0

double bj_data_round_number(double value, int digits) {
    if (!isfinite(value) || value == floor(value))
        return value;
    if (fabs(value) >= pow(10.0, digits - 1))
        return nearbyint(value);
    /* Printing and reading back is the only rounding whose result is the double nearest to the short decimal.
     * Both obey the locale alike, so it does not matter here. */
    char text[BJ_NUMBER_ROOM];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return strtod(text, NULL);
}

/* Whatever the locale puts between the digits becomes one point. */
static void set_decimal_point(const char *from, char *to) {
    for (; *from != '\0'; from++) {
        if (strchr("0123456789+-e", *from) != NULL) {
            *to++ = *from;
        } else {
            *to++ = '.';
            while (from[1] != '\0' && strchr("0123456789", from[1]) == NULL)
                from++;
        }
    }
    *to = '\0';
}

void bj_data_format_number(double value, char *text) {
    static const int digits[] = {9, 15, 17};
    if (!isfinite(value)) {
        memcpy(text, "null", sizeof "null");
        return;
    }
    if (value == floor(value) && fabs(value) <= LARGEST_EXACT_INTEGER) {
        snprintf(text, BJ_NUMBER_ROOM, "%.0f", value + 0.0); /* + 0.0: no negative zero */
        return;
    }
    char local[BJ_NUMBER_ROOM];
    for (size_t i = 0; i < sizeof digits / sizeof digits[0]; i++) {
        snprintf(local, sizeof local, "%.*g", digits[i], value);
        if (strtod(local, NULL) == value)
            break;
    }
    set_decimal_point(local, text);
}
