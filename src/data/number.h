/* Numbers as the profile writes them: exact, short, and with a decimal point whatever the locale.
 *
 * The writer is lossless (what is read back is the same double). Files stay short because numbers are rounded
 * where they arise: samples to 9 significant digits when they are recorded, answers to 6 when the analysis is
 * done. So whatever is computed from them in a run is computed alike from the file. */
#pragma once

#define BJ_SAMPLE_DIGITS 9
#define BJ_ANSWER_DIGITS 6
#define BJ_NUMBER_ROOM 40

/* Samples from outside are taken logarithms of, multiplied and squared: within these that stays finite, in any unit. */
#define BJ_LEAST_SAMPLE 1e-30
#define BJ_MOST_SAMPLE 1e30

/* To so many significant digits, but never coarser than to whole numbers: integral values stay as they are, and
 * the order of values is kept. Not finite: unchanged. */
double bj_data_round_number(double value, int digits);
/* The shortest of 9, 15 and 17 digits that reads back the same, integral values without a decimal point; "null"
 * when it is not finite. `text` has BJ_NUMBER_ROOM. */
void bj_data_format_number(double value, char *text);
