#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define LONGEST 64

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Edit distance (insert, delete, replace); words longer than any name of ours are as far as can be. */
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

void bj_cli_suggest(const char *word, const char *const *names, size_t count, char *text, size_t room) {
    const char *best = NULL;
    size_t best_distance = LONGEST;
    for (size_t i = 0; i < count; i++) {
        size_t far = distance(word, names[i]);
        if (far < best_distance) {
            best_distance = far;
            best = names[i];
        }
    }
    text[0] = '\0';
    /* A third of the word wrong is a slip; more is another word. */
    size_t slip = strlen(word) / 3 > 2 ? strlen(word) / 3 : 2;
    if (best != NULL && best_distance <= slip && best_distance < strlen(word))
        snprintf(text, room, " (did you mean '%s'?)", best);
}

void bj_cli_suggest_choice(const char *word, bool (*choices)(size_t index, const char **name, const char **meaning),
                           char *text, size_t room) {
    const char *names[64], *meaning;
    size_t count = 0;
    while (count < sizeof names / sizeof names[0] && choices(count, &names[count], &meaning))
        count++;
    bj_cli_suggest(word, names, count, text, room);
}
