/* A profile without its samples: they are most of the file, and who only asks for answers need not wait for them. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "profile/profile.h"

static size_t skip_blanks(const char *text, size_t length, size_t at) {
    while (at < length && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0')
        at++;
    return at;
}

/* Behind the object or list that begins at `at`; `length` where it does not end. */
static size_t skip_container(const char *text, size_t length, size_t at) {
    size_t depth = 0;
    while (at < length) {
        if (text[at] == '"') {
            at = bj_json_skip_string(text, length, at);
            continue;
        }
        depth += text[at] == '{' || text[at] == '[';
        depth -= text[at] == '}' || text[at] == ']';
        at++;
        if (depth == 0)
            return at;
    }
    return length;
}

/* Where the value of the root's member "curves" begins and ends; false: there is none that is an object. A text that is
 * no JSON may fool this, and is refused by the parser all the same: what is taken out is balanced. */
static bool find_curves(const char *text, size_t length, size_t *begin, size_t *end) {
    static const char name[] = "\"curves\"";
    size_t at = skip_blanks(text, length, 0);
    if (at >= length || text[at] != '{')
        return false;
    for (at++; at < length;) {
        if (text[at] == '"') {
            size_t behind = bj_json_skip_string(text, length, at);
            bool named = behind - at == strlen(name) && memcmp(text + at, name, strlen(name)) == 0;
            at = skip_blanks(text, length, behind);
            if (!named || at >= length || text[at] != ':')
                continue;
            *begin = skip_blanks(text, length, at + 1);
            if (*begin >= length || text[*begin] != '{')
                return false;
            *end = skip_container(text, length, *begin);
            return *end < length; /* the root goes on behind it */
        }
        at = text[at] == '{' || text[at] == '[' ? skip_container(text, length, at) : at + 1;
    }
    return false;
}

bj_status bj_profile_parse_answers(const char *name, const char *text, size_t length, bj_profile *profile,
                                   bj_error *error) {
    size_t begin = 0, end = 0;
    if (!find_curves(text, length, &begin, &end))
        return bj_profile_parse(name, text, length, profile, error);
    char *rest = malloc(length);
    if (rest == NULL) {
        bj_profile_free(profile);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "%.200s: no memory for %zu bytes", name, length);
    }
    memcpy(rest, text, begin + 1);
    /* Lines keep their numbers, for errors behind them. */
    for (size_t i = begin + 1; i + 1 < end; i++)
        rest[i] = text[i] == '\n' ? '\n' : ' ';
    memcpy(rest + end - 1, text + end - 1, length - (end - 1));
    bj_status status = bj_profile_parse(name, rest, length, profile, error);
    free(rest);
    return status;
}
