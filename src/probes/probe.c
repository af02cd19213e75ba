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
