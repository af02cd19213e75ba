/* How large a JSON text would become in memory, found before it is parsed.
 *
 * A parser spends a hundred bytes on what takes two in a file, and recurses with the nesting, so a limit on the file's
 * size alone leaves both open. */
#ifndef BJ_BASE_JSON_SIZE_H
#define BJ_BASE_JSON_SIZE_H

#include <stddef.h>

typedef struct {
    size_t depth;      /* of the deepest list or object */
    size_t containers; /* lists and objects */
    size_t members;    /* of objects */
    size_t values;     /* of any kind; at most one too many for each empty list or object */
} bj_json_size;

/* Of a text that may be anything: where it is not JSON the counts mean little, and parsing it says so. */
bj_json_size bj_base_measure_json(const char *text, size_t length);

#endif
