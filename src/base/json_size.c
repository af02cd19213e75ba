#include "base/json_size.h"

/* Behind the string whose opening quote is at `at`. */
static size_t skip_string(const char *text, size_t length, size_t at) {
    for (at++; at < length && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at + 1;
}

bj_json_size bj_base_measure_json(const char *text, size_t length) {
    bj_json_size size = {.values = length > 0};
    size_t depth = 0;
    for (size_t i = 0; i < length;) {
        switch (text[i]) {
        case '"':
            i = skip_string(text, length, i);
            continue;
        case '{':
        case '[':
            size.containers++;
            size.values++;
            depth++;
            size.depth = depth > size.depth ? depth : size.depth;
            break;
        case '}':
        case ']':
            depth -= depth > 0;
            break;
        case ',':
            size.values++;
            break;
        case ':':
            size.members++;
            break;
        default:
            break;
        }
        i++;
    }
    return size;
}
