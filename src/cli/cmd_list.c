#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/values.h"
#include "data/number.h"
#include "probes/probe.h"
#include "profile/profile.h"

enum { NAME_WIDTH = 14, LABEL_WIDTH = 8, MEANING_INDENT = 10 };

typedef struct {
    const bj_probe **probes;
    size_t count;
} probe_set;

/* ---- for people */

static void print_labelled(const char *label, const char *text) {
    printf("    %-*s ", LABEL_WIDTH, label);
    bj_cli_print_filled(text, 4 + LABEL_WIDTH + 1, 4 + LABEL_WIDTH + 1);
}

static void print_names(const char *label, const char *const *names, const char *none) {
    char text[400] = "";
    for (size_t i = 0, used = 0; names != NULL && names[i] != NULL && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "", names[i]);
    print_labelled(label, text[0] != '\0' ? text : none);
}

static void print_cost(const bj_probe *probe) {
    char memory[32], seconds[BJ_EFFORT_COUNT][BJ_NUMBER_ROOM], text[300], cpus[32] = "";
    bj_base_format_bytes((double)probe->memory_bytes[BJ_EFFORT_NORMAL], memory, sizeof memory);
    for (int effort = 0; effort < BJ_EFFORT_COUNT; effort++)
        bj_data_format_number(bj_data_round_number(probe->cost_s[effort], 2), seconds[effort]);
    if (probe->requires_cpus > 1)
        snprintf(cpus, sizeof cpus, "; needs %u cpus", probe->requires_cpus);
    snprintf(text, sizeof text, "about %s / %s / %s s (quick / normal / thorough), at most %s%s",
             seconds[BJ_EFFORT_QUICK], seconds[BJ_EFFORT_NORMAL], seconds[BJ_EFFORT_THOROUGH], memory, cpus);
    print_labelled("cost", text);
}

static void print_keys(const bj_probe *probe) {
    for (const bj_probe_key *key = probe->provides; key->key != NULL; key++) {
        printf("      %-32s %s\n%*s", key->key, key->unit, MEANING_INDENT, "");
        bj_cli_print_filled(key->meaning, MEANING_INDENT, MEANING_INDENT);
    }
}

static void print_probes(const probe_set *set, bool keys) {
    for (size_t i = 0; i < set->count; i++) {
        const bj_probe *probe = set->probes[i];
        printf("%s%-*s ", i > 0 ? "\n" : "", NAME_WIDTH, probe->name);
        bj_cli_print_filled(probe->question, NAME_WIDTH + 1, NAME_WIDTH + 1);
        print_names("needs", probe->needs, "nothing");
        print_names("methods", probe->methods, "one");
        print_cost(probe);
        if (keys)
            print_keys(probe);
    }
}

/* ---- for completion: one word a line */

static void print_key_words(const probe_set *set) {
    for (size_t i = 0; i < set->count; i++)
        for (const bj_probe_key *key = set->probes[i]->provides; key->key != NULL; key++)
            puts(key->key);
}

static void print_field_words(const probe_set *set) {
    (void)set;
    for (const char *at = BJ_ANSWER_FIELDS; *at != '\0'; at += strspn(at, ", ")) {
        int length = (int)strcspn(at, ",");
        printf("%.*s\n", length, at);
        at += length;
    }
}

static bool has_earlier(const probe_set *set, size_t probe, const char *method) {
    for (size_t i = 0; i < probe; i++)
        for (size_t m = 0; set->probes[i]->methods != NULL && set->probes[i]->methods[m] != NULL; m++)
            if (strcmp(set->probes[i]->methods[m], method) == 0)
                return true;
    return false;
}

static void print_method_words(const probe_set *set) {
    for (size_t i = 0; i < set->count; i++)
        for (size_t m = 0; set->probes[i]->methods != NULL && set->probes[i]->methods[m] != NULL; m++)
            if (!has_earlier(set, i, set->probes[i]->methods[m]))
                puts(set->probes[i]->methods[m]);
}

static void print_probe_words(const probe_set *set) {
    for (size_t i = 0; i < set->count; i++)
        puts(set->probes[i]->name);
}

static bj_status print_words(const probe_set *set, const char *kind, bj_error *error) {
    static const struct {
        const char *kind;
        void (*print)(const probe_set *set);
    } kinds[] = {{"probes", print_probe_words},
                 {"keys", print_key_words},
                 {"fields", print_field_words},
                 {"methods", print_method_words}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].kind, kind) == 0) {
            kinds[i].print(set);
            return BJ_OK;
        }
    return bj_base_set_error(error, BJ_ERR_USAGE, "--words: expected probes, keys, fields or methods, found '%.40s'",
                             kind);
}

static bj_status select_probes(const bj_cli_arguments *arguments, probe_set *set, bj_error *error) {
    bool all = arguments->operand_count == 0;
    size_t count = all ? bj_probe_count : arguments->operand_count;
    set->probes = calloc(count, sizeof *set->probes);
    if (set->probes == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu probes", count);
    for (; set->count < count; set->count++) {
        const bj_probe **probe = &set->probes[set->count];
        if (all)
            *probe = bj_probes[set->count];
        else
            BJ_TRY(bj_cli_read_probe(arguments->operands[set->count], probe, error));
    }
    return BJ_OK;
}

static int run(const bj_cli_arguments *arguments) {
    probe_set set = {0};
    bj_error error;
    const char *words = bj_cli_find_value(arguments, "words");
    bj_status status = select_probes(arguments, &set, &error);
    if (status == BJ_OK && words != NULL)
        status = print_words(&set, words, &error);
    else if (status == BJ_OK)
        print_probes(&set, bj_cli_is_given(arguments, "keys"));
    free(set.probes);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"keys", 'k', NULL, "also the keys that each probe answers, with unit and meaning"},
    {"words", 0, "probes|keys|fields|methods", "these words alone, one a line, for completion and scripts"},
};

const bj_cli_command bj_cli_command_list = {
    .name = "list",
    .synopsis = "[PROBE...] [--keys] [--words probes|keys|fields|methods]",
    .summary = "The probes: what each answers, what it needs, roughly what it costs",
    .details = "Without PROBE all of them. <n> in a key stands for the level, <type> and <op> for what is measured.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = (size_t)-1,
    .run = run,
};
