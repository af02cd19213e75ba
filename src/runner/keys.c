#include "runner/keys.h"

#include <stddef.h>
#include <string.h>

#define DIGITS "0123456789"

/* Up to the next point, or to the lanes of a vector type: "double" of "doublex4.add". */
static size_t measure_part(const char *key) {
    size_t length = strcspn(key, "."), lanes = length;
    while (lanes > 0 && strchr(DIGITS, key[lanes - 1]) != NULL)
        lanes--;
    return lanes < length && lanes > 1 && key[lanes - 1] == 'x' ? lanes - 1 : length;
}

bool bj_runner_match_key(const char *pattern, const char *key) {
    while (*pattern != '\0') {
        const char *end = *pattern == '<' ? strchr(pattern, '>') : NULL;
        if (end == NULL) {
            if (*pattern++ != *key++)
                return false;
            continue;
        }
        bool number = strncmp(pattern, "<n>", 3) == 0 || strncmp(pattern, "<lanes>", 7) == 0;
        size_t length = number ? strspn(key, DIGITS) : measure_part(key);
        if (length == 0)
            return false;
        pattern = end + 1;
        key += length;
    }
    return *key == '\0';
}

const bj_probe_key *bj_runner_find_key(const bj_probe *probe, const char *key) {
    for (size_t i = 0; probe->provides[i].key != NULL; i++)
        if (bj_runner_match_key(probe->provides[i].key, key))
            return &probe->provides[i];
    return NULL;
}

const char *bj_runner_find_method(const bj_probe *probe, const char *name) {
    if (name == NULL)
        return NULL;
    for (size_t i = 0; probe->methods != NULL && probe->methods[i] != NULL; i++)
        if (strcmp(probe->methods[i], name) == 0)
            return probe->methods[i];
    return strcmp(name, BJ_METHOD_PAPER) == 0    ? probe->paper_method
           : strcmp(name, BJ_METHOD_SERVET) == 0 ? probe->servet_method
                                                 : NULL;
}

static bool is_same(const char *method, const char *name) {
    return name != NULL && strcmp(method, name) == 0;
}

bool bj_runner_is_literal(const bj_probe *probe, const char *method) {
    if (method == NULL || is_same(method, probe->methods[0]))
        return false;
    bool literal = is_same(method, probe->paper_method) || is_same(method, probe->servet_method);
    for (size_t i = 0; probe->literal_methods != NULL && probe->literal_methods[i] != NULL; i++)
        literal = literal || is_same(method, probe->literal_methods[i]);
    return literal;
}

bool bj_runner_has_method(const bj_probe *probe, const char *name) {
    return name == NULL || bj_runner_find_method(probe, name) != NULL;
}
