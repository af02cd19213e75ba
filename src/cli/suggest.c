#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define LONGEST 64

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Edit distance (insert, delete, replace); LONGEST for words that are longer than all our names. */
static size_t distance(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b);
    if (rows > LONGEST || columns > LONGEST)
        return LONGEST;
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[columns];
}

void bj_cli_offer_name(bj_cli_guess *guess, const char *name) {
    size_t length = strlen(guess->word), far = distance(guess->word, name);
    /* A third of the word wrong is a slip; more is another word. */
    size_t slip = length / 3 > 2 ? length / 3 : 2;
    if (far > slip || far >= length || (guess->text[0] != '\0' && far >= guess->distance))
        return;
    guess->distance = far;
    snprintf(guess->text, sizeof guess->text, " (did you mean '%s%s'?)", guess->prefix != NULL ? guess->prefix : "",
             name);
}
