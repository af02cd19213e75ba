#include "runner/keys.h"

#include <stddef.h>
#include <string.h>

bool bj_runner_match_key(const char *pattern, const char *key) {
    while (*pattern != '\0') {
        const char *end = *pattern == '<' ? strchr(pattern, '>') : NULL;
        if (end == NULL) {
            if (*pattern++ != *key++)
                return false;
            continue;
        }
        bool number = end - pattern == 2 && pattern[1] == 'n';
        size_t length = number ? strspn(key, "0123456789") : strcspn(key, ".");
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

bool bj_runner_has_method(const bj_probe *probe, const char *method) {
    if (method == NULL)
        return true;
    for (size_t i = 0; probe->methods != NULL && probe->methods[i] != NULL; i++)
        if (strcmp(probe->methods[i], method) == 0)
            return true;
    return false;
}
