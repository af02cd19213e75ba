#include "cli/cpu_list.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_among(const int *cpus, size_t count, long cpu) {
    for (size_t i = 0; i < count; i++)
        if (cpus[i] == cpu)
            return true;
    return false;
}

/* Digits only: strtol alone would take blanks and signs. */
static bool take_number(const char **text, long *number) {
    if (**text < '0' || **text > '9')
        return false;
    char *end;
    *number = strtol(*text, &end, 10);
    *text = end;
    return *number < INT_MAX;
}

static bj_status take_range(const char **text, long *first, long *last, bj_error *error) {
    const char *start = *text;
    bool good = take_number(text, first);
    *last = *first;
    if (good && **text == '-') {
        ++*text;
        good = take_number(text, last) && *last >= *first;
    }
    if (!good || (**text != ',' && **text != '\0') || (**text == ',' && (*text)[1] == '\0'))
        return bj_base_set_error(error, BJ_ERR_USAGE, "--cpus: expected a list like 0,2-3, found '%.40s'", start);
    *text += **text == ',';
    return BJ_OK;
}

bj_status bj_cli_parse_cpus(const char *text, const int *allowed, size_t allowed_count, int **cpus, size_t *count,
                            bj_error *error) {
    *count = 0;
    *cpus = calloc(allowed_count + 1, sizeof **cpus);
    if (*cpus == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a list of cpus");
    bj_status status = BJ_OK;
    const char *rest = text;
    do {
        long first = 0, last = 0;
        status = take_range(&rest, &first, &last, error);
        for (long cpu = first; status == BJ_OK && cpu <= last; cpu++) {
            if (!is_among(allowed, allowed_count, cpu))
                status = bj_base_set_error(error, BJ_ERR_USAGE, "--cpus: cpu %ld is not one that we may use", cpu);
            else if (!is_among(*cpus, *count, cpu))
                (*cpus)[(*count)++] = (int)cpu;
        }
    } while (status == BJ_OK && *rest != '\0');
    if (status != BJ_OK) {
        free(*cpus);
        *cpus = NULL;
        *count = 0;
    }
    return status;
}

bj_status bj_cli_keep_to_cpus(bj_machine *machine, const char *text, bj_cli_cpus *cpus, bj_error *error) {
    bj_machine_facts *facts = &machine->facts;
    cpus->all = facts->cpus;
    if (text == NULL)
        return BJ_OK;
    size_t count;
    BJ_TRY(bj_cli_parse_cpus(text, facts->cpus, facts->cpu_count, &cpus->chosen, &count, error));
    facts->cpus = cpus->chosen;
    facts->cpu_count = count;
    return BJ_OK;
}

void bj_cli_close_machine(bj_machine *machine, bj_cli_cpus *cpus) {
    if (machine != NULL) {
        if (cpus->all != NULL)
            machine->facts.cpus = cpus->all;
        machine->verbs->close(machine);
    }
    free(cpus->chosen);
}
