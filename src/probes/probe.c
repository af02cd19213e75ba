#include "probes/probe.h"

#include <string.h>

#define BJ_PROBE(name) extern const bj_probe bj_probe_##name;
#include "probes/probe_list.h"
#undef BJ_PROBE

#define BJ_PROBE(name) &bj_probe_##name,
const bj_probe *const bj_probes[] = {
#include "probes/probe_list.h"
};
#undef BJ_PROBE

const size_t bj_probe_count = sizeof bj_probes / sizeof bj_probes[0];

const bj_probe *bj_probe_find(const char *name) {
    for (size_t i = 0; i < bj_probe_count; i++)
        if (strcmp(bj_probes[i]->name, name) == 0)
            return bj_probes[i];
    return NULL;
}

bool bj_probe_is_method(const char *method, const char *name) {
    return method != NULL && strcmp(method, name) == 0;
}

bj_status bj_probe_report(const bj_measure_request *request, double fraction, bj_error *error) {
    if (request->report_progress(request->progress_context, fraction))
        return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted");
    return BJ_OK;
}

bool bj_probe_is_late(const bj_measure_request *request) {
    return request->machine->verbs->read_clock(request->machine) > request->deadline_s;
}
