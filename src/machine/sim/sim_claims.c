/* What the simulated operating system claims: the file's claims, else the nominal truth of what systems tell (sizes,
 * ways, lines, pages; never latencies or TLBs). */
#include <stdio.h>
#include <string.h>

#include "machine/sim/sim_machine.h"

static bool claim_of_level(const bj_sim_cache_spec *cache, const char *what, double *value) {
    if (strcmp(what, "size_bytes") == 0 || strcmp(what, "capacity_bytes") == 0)
        *value = (double)cache->size_bytes;
    else if (strcmp(what, "line_bytes") == 0)
        *value = (double)cache->line_bytes;
    else if (strcmp(what, "associativity") == 0)
        *value = (double)cache->ways;
    else
        return false;
    return true;
}

bool bj_sim_read_claim(bj_machine *machine, const char *key, int cpu, double *value) {
    const bj_sim_machine *self = machine->self;
    const bj_sim_spec *spec = self->spec;
    size_t position;
    if (bj_sim_find_cpu(self, cpu, &position, NULL) != BJ_OK)
        return false;
    for (size_t i = 0; i < spec->claim_count; i++) {
        if (strcmp(spec->claims[i].name, key) == 0) {
            *value = spec->claims[i].value;
            return true;
        }
    }
    unsigned level = 0;
    int used = 0;
    if (sscanf(key, "cache.L%2u.%n", &level, &used) == 1 && used > 0)
        return level >= 1 && level <= spec->cache_count && claim_of_level(&spec->caches[level - 1], key + used, value);
    if (strcmp(key, "cache.levels") == 0)
        *value = (double)spec->cache_count;
    else if (strcmp(key, "cache.line_bytes") == 0)
        *value = (double)spec->caches[0].line_bytes;
    else if (strcmp(key, "page.size_bytes") == 0)
        *value = (double)spec->page_bytes;
    else
        return false;
    return true;
}
