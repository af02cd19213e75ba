/* Text: numbers that do not depend on the locale, sizes for people. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole text (surrounding blanks allowed) as a finite number, with a decimal point whatever the locale. */
bool bj_base_parse_double(const char *text, double *value);
bool bj_base_parse_u64(const char *text, uint64_t *value);
/* Bytes of the UTF-8 character at `at` if it changes the direction in which text is shown, so that a line may read
 * otherwise than it is; else 0. */
size_t bj_base_measure_bidi(const unsigned char *at);
/* Control characters, the two-byte ones of UTF-8 and those of direction too, become '?': what is left is one line and
 * does nothing to a terminal. */
void bj_base_hide_controls(char *text);
/* "48 KiB", "1.25 MiB", "310 B". */
void bj_base_format_bytes(double bytes, char *text, size_t room);
