#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

bj_status bj_base_set_error(bj_error *error, bj_status status, const char *format, ...) {
    if (error != NULL) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return status;
}
