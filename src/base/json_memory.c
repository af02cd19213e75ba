/* jansson without memory: it drops a byte of a string or a digit of a number and goes on, calls a valid text wrong, and
 * leaves members out of what it builds. None of that can be told from its results, so its allocations are watched: they
 * go where they went before, and one that fails is noted (base/memory.h). */
#include <pthread.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"

static json_malloc_t allocate_before;
static json_free_t free_before;

static void *allocate(size_t size) {
    void *memory = allocate_before(size);
    if (memory == NULL && size > 0)
        bj_base_note_no_memory();
    return memory;
}

static void release(void *memory) {
    free_before(memory);
}

static void begin_watching(void) {
    json_get_alloc_funcs(&allocate_before, &free_before);
    json_set_alloc_funcs(allocate, release);
}

void bj_json_watch_memory(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, begin_watching);
}

json_t *bj_json_load(const char *text, size_t length, json_error_t *trouble) {
    bj_json_watch_memory();
    bool before = bj_base_take_no_memory();
    memset(trouble, 0, sizeof *trouble);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, trouble);
    bool lacked = bj_base_take_no_memory();
    if (before || lacked)
        bj_base_note_no_memory();
    if (!lacked)
        return root;
    json_decref(root);
    return NULL;
}

json_t *bj_json_load_value(const char *text) {
    json_error_t trouble;
    return bj_json_load(text, strlen(text), &trouble);
}
