#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/values.h"
#include "data/number.h"
#include "probes/probe.h"
#include "profile/profile.h"
#include "runner/keys.h"

enum { NAME_WIDTH = 14, LABEL_WIDTH = 8, MEANING_INDENT = 10 };

/* Without operands all of them. */
static bool is_listed(const bj_cli_arguments *arguments, const bj_probe *probe) {
    for (size_t i = 0; i < arguments->operand_count; i++)
        if (strcmp(arguments->operands[i], probe->name) == 0)
            return true;
    return arguments->operand_count == 0;
}

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
    char memory[32], seconds[BJ_EFFORT_COUNT][BJ_NUMBER_ROOM], text[400], cpus[32] = "", more[64] = "";
    bj_base_format_bytes((double)probe->memory_bytes[BJ_EFFORT_NORMAL], memory, sizeof memory);
    for (int effort = 0; effort < BJ_EFFORT_COUNT; effort++)
        bj_data_format_number(bj_data_round_number(probe->cost_s[effort], 2), seconds[effort]);
    if (probe->requires_cpus > 1)
        snprintf(cpus, sizeof cpus, "; needs %u cpus", probe->requires_cpus);
    if (probe->cost_cpu_s[BJ_EFFORT_NORMAL] > 0)
        snprintf(more, sizeof more, "; each cpu beyond two adds about %.2g s", probe->cost_cpu_s[BJ_EFFORT_NORMAL]);
    snprintf(text, sizeof text, "about %s / %s / %s s (quick / normal / thorough), at most %s%s%s",
             seconds[BJ_EFFORT_QUICK], seconds[BJ_EFFORT_NORMAL], seconds[BJ_EFFORT_THOROUGH], memory, cpus, more);
    print_labelled("cost", text);
}

/* What `high` promises. */
static void print_tolerance(const bj_probe_key *key) {
    char share[BJ_NUMBER_ROOM], least[BJ_NUMBER_ROOM];
    bj_data_format_number(bj_data_round_number(100 * key->tolerance, 3), share);
    bj_data_format_number(key->tolerance_least, least);
    if (key->tolerance == BJ_SAME_NUMBER)
        fputs("exactly", stdout);
    else if (key->tolerance > 0)
        printf("within %s%%", share);
    if (key->tolerance_least > 0)
        printf(" or %s", least);
    putchar('\n');
}

static void print_keys(const bj_probe *probe) {
    for (const bj_probe_key *key = probe->provides; key->key != NULL; key++) {
        printf("      %-32s %-13s ", key->key, key->unit);
        print_tolerance(key);
        printf("%*s", MEANING_INDENT, "");
        bj_cli_print_filled(key->meaning, MEANING_INDENT, MEANING_INDENT);
    }
}

static void print_probes(const bj_cli_arguments *arguments) {
    bool first = true;
    for (size_t i = 0; i < bj_probe_count; i++) {
        const bj_probe *probe = bj_probes[i];
        if (!is_listed(arguments, probe))
            continue;
        printf("%s%-*s ", first ? "" : "\n", NAME_WIDTH, probe->name);
        bj_cli_print_filled(probe->question, NAME_WIDTH + 1, NAME_WIDTH + 1);
        print_names("needs", probe->needs, "nothing");
        print_names("methods", probe->methods, "one");
        if (probe->paper_method != NULL)
            print_labelled(BJ_METHOD_PAPER, probe->paper_method);
        if (probe->servet_method != NULL)
            print_labelled(BJ_METHOD_SERVET, probe->servet_method);
        print_cost(probe);
        if (bj_cli_is_given(arguments, "keys"))
            print_keys(probe);
        first = false;
    }
}

/* ---- for completion: one word a line */

static void print_field_words(void) {
    for (const char *at = BJ_ANSWER_FIELDS; *at != '\0'; at += strspn(at, ", ")) {
        int length = (int)strcspn(at, ",");
        printf("%.*s\n", length, at);
        at += length;
    }
}

/* Probes may share a method, which is one word. */
static bool has_earlier(const bj_cli_arguments *arguments, size_t probe, const char *method) {
    for (size_t i = 0; i < probe; i++)
        if (is_listed(arguments, bj_probes[i]) && bj_runner_has_method(bj_probes[i], method))
            return true;
    return false;
}

static void print_method_words(const bj_cli_arguments *arguments, size_t probe) {
    const char *const *methods = bj_probes[probe]->methods;
    for (size_t m = 0; methods != NULL && methods[m] != NULL; m++)
        if (!has_earlier(arguments, probe, methods[m]))
            puts(methods[m]);
}

/* What stands for a method in some of the probes listed. */
static void print_way_word(const bj_cli_arguments *arguments, const char *way) {
    if (has_earlier(arguments, bj_probe_count, way))
        puts(way);
}

static bj_status print_words(const bj_cli_arguments *arguments, const char *kind, bj_error *error) {
    bool probes = strcmp(kind, "probes") == 0, keys = strcmp(kind, "keys") == 0, methods = strcmp(kind, "methods") == 0;
    bool papers = strcmp(kind, "papers") == 0;
    if (strcmp(kind, "fields") == 0)
        print_field_words();
    else if (!probes && !keys && !methods && !papers)
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "--words: expected probes, keys, fields, methods or papers, found '%.40s'", kind);
    if (papers) {
        print_way_word(arguments, BJ_METHOD_PAPER);
        print_way_word(arguments, BJ_METHOD_SERVET);
    }
    for (size_t i = 0; i < bj_probe_count; i++) {
        if (!is_listed(arguments, bj_probes[i]))
            continue;
        if (probes)
            puts(bj_probes[i]->name);
        for (const bj_probe_key *key = bj_probes[i]->provides; keys && key->key != NULL; key++)
            puts(key->key);
        if (methods)
            print_method_words(arguments, i);
    }
    return BJ_OK;
}

static int run(const bj_cli_arguments *arguments) {
    bj_error error;
    bj_status status = BJ_OK;
    const bj_probe *probe;
    for (size_t i = 0; i < arguments->operand_count && status == BJ_OK; i++)
        status = bj_cli_read_probe(arguments->operands[i], &probe, &error);
    const char *words = bj_cli_find_value(arguments, "words");
    if (status == BJ_OK && words != NULL)
        status = print_words(arguments, words, &error);
    else if (status == BJ_OK)
        print_probes(arguments);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"keys", 'k', NULL, "also the keys that each probe answers, with unit, meaning and what 'high' promises"},
    {"words", 0, "probes|keys|fields|methods|papers", "these words alone, one a line, for completion and scripts"},
};

const bj_cli_command bj_cli_command_list = {
    .name = "list",
    .synopsis = "[PROBE...] [--keys] [--words probes|keys|fields|methods|papers]",
    .summary = "The probes: what each answers, what it needs, roughly what it costs",
    .details = "Without PROBE all of them. <n> in a key stands for the level, <type> and <op> for what is measured.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .most_operands = (size_t)-1,
    .run = run,
};
