#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local bool ran_out;

void bj_base_note_no_memory(void) {
    ran_out = true;
}

bj_status bj_base_lack_memory(bj_error *error, const char *format, ...) {
    ran_out = true;
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return BJ_ERR_RESOURCE;
}

bool bj_base_take_no_memory(void) {
    bool was = ran_out;
    ran_out = false;
    return was;
}
