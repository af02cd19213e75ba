#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "data/number.h"
#include "probes/probe.h"

static void print_names(const char *label, const char *const *names, const char *none) {
    printf("    %-8s ", label);
    if (names == NULL || names[0] == NULL)
        fputs(none, stdout);
    for (size_t i = 0; names != NULL && names[i] != NULL; i++)
        printf("%s%s", i > 0 ? ", " : "", names[i]);
    putchar('\n');
}

static void print_seconds(double seconds) {
    char text[BJ_NUMBER_ROOM];
    bj_data_format_number(bj_data_round_number(seconds, 2), text);
    fputs(text, stdout);
}

static void print_cost(const bj_probe *probe) {
    char memory[32];
    bj_base_format_bytes((double)probe->memory_bytes[BJ_EFFORT_NORMAL], memory, sizeof memory);
    fputs("    cost     about ", stdout);
    for (int effort = 0; effort < BJ_EFFORT_COUNT; effort++) {
        print_seconds(probe->cost_s[effort]);
        fputs(effort + 1 < BJ_EFFORT_COUNT ? " / " : " s", stdout);
    }
    printf(" (quick / normal / thorough), at most %s", memory);
    if (probe->cost_cpu_s[BJ_EFFORT_NORMAL] > 0) {
        fputs(";\n             each cpu beyond two adds about ", stdout);
        print_seconds(probe->cost_cpu_s[BJ_EFFORT_NORMAL]);
        fputs(" s", stdout);
    }
    if (probe->requires_cpus > 1)
        printf("; needs %u cpus", probe->requires_cpus);
    putchar('\n');
}

static void print_keys(const bj_probe *probe) {
    for (size_t i = 0; probe->provides[i].key != NULL; i++) {
        const bj_probe_key *key = &probe->provides[i];
        printf("      %-32s %-10s %s\n", key->key, key->unit, key->meaning);
    }
}

static int run(const bj_cli_arguments *arguments) {
    for (size_t i = 0; i < bj_probe_count; i++) {
        const bj_probe *probe = bj_probes[i];
        printf("%s%-14s %s\n", i > 0 ? "\n" : "", probe->name, probe->question);
        print_names("needs", probe->needs, "nothing");
        print_names("methods", probe->methods, "one");
        print_cost(probe);
        if (bj_cli_is_given(arguments, "keys"))
            print_keys(probe);
    }
    return BJ_EXIT_OK;
}

static const bj_cli_option options[] = {
    {"keys", 'k', NULL, "also the keys that each probe answers, with unit and meaning"},
};

const bj_cli_command bj_cli_command_list = {
    .name = "list",
    .synopsis = "[--keys]",
    .summary = "The probes: what each answers, what it needs, roughly what it costs",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = run,
};
