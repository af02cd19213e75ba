/* For gcc: the cache parameters that its loop optimisations and prefetching go by, on one line for a command line.
 *
 * gcc counts caches in kilobytes, and reads l2-cache-size as what a loop may fill, so it gets the effective size. */
#include <limits.h>
#include <math.h>

#include "emit/emit.h"

/* gcc's parameters are int. */
static void print_parameter(const bj_emit_request *request, const char *name, const char *key, double unit, FILE *out,
                            bool *begun) {
    bj_emit_value value;
    char what[60];
    snprintf(what, sizeof what, "--param %s", name);
    if (!bj_emit_want(request, what, key, &value))
        return;
    double number = floor(value.value / unit);
    if (!(number >= 1 && number <= INT_MAX)) {
        bj_emit_note_left_out(request, what, "gcc takes whole numbers from 1 to 2147483647");
        return;
    }
    fprintf(out, "%s%s=%.0f", *begun ? " " : "", what, number);
    *begun = true;
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    bj_emit_value levels;
    bool begun = false;
    print_parameter(request, "l1-cache-size", "cache.L1.size_bytes", 1024, out, &begun);
    print_parameter(request, "l1-cache-line-size", "cache.line_bytes", 1, out, &begun);
    /* How many levels there are does not matter, unless it is sure that there is but one. */
    if (bj_emit_count_levels(request, &levels, NULL) == 1)
        bj_emit_note_claim(request, &levels);
    else
        print_parameter(request, "l2-cache-size", "cache.L2.size_bytes", 1024, out, &begun);
    if (!begun)
        return bj_emit_refuse(request, error);
    putc('\n', out);
    return BJ_OK;
}

const bj_emitter bj_emitter_gcc_params = {
    .name = "gcc-params",
    .summary = "--param options for gcc's command line: first and second level, line",
    .emit = emit,
};
