#include "cli/contribution.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/contribution_text.h"
#include "cli/contribution_value.h"
#include "probes/probe.h"
#include "runner/keys.h"

/* What went, in numbers where there may be many. */
typedef struct {
    size_t keys, members, methods, reasons;
} losses;

static bj_status say(bj_strings *removed, bool whether, const char *what, bj_error *error) {
    return whether ? bj_strings_add(removed, what, error) : BJ_OK;
}

static bj_status say_count(bj_strings *removed, size_t count, const char *what, const char *more, bj_error *error) {
    char text[120];
    snprintf(text, sizeof text, "%zu %s%s%s", count, what, count == 1 ? "" : "s", more);
    return say(removed, count > 0, text, error);
}

/* "2026-11-15T07:12:34Z" becomes the day, in the same form; what is no such time becomes the epoch. */
static bool cut_to_day(char *time, size_t room) {
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    bool fits = strlen(time) == sizeof form - 1;
    for (size_t i = 0; fits && form[i] != '\0'; i++)
        fits = form[i] == 'd' ? isdigit((unsigned char)time[i]) != 0 : time[i] == form[i];
    bool whole = fits && strcmp(time + 10, "T00:00:00Z") == 0;
    snprintf(time + (fits ? 10 : 0), room - (fits ? 10 : 0), fits ? "T00:00:00Z" : "1970-01-01T00:00:00Z");
    return whole;
}

/* Four binary digits: how large a memory is, not which one. */
static uint64_t round_bytes(uint64_t bytes) {
    uint64_t grain = 1;
    while (bytes / grain >= 16)
        grain *= 2;
    return bytes / grain * grain + (bytes % grain >= grain - grain / 2 && bytes <= UINT64_MAX - grain ? grain : 0);
}

static bj_status strip_tool(bj_profile *profile, bj_strings *removed, bj_error *error) {
    bool version = profile->tool.version[0] == '\0' || bj_cli_is_version(profile->tool.version);
    if (!version)
        profile->tool.version[0] = '\0';
    bool compiler = bj_cli_keep_compiler(profile->tool.compiler);
    bool flags = bj_cli_keep_flags(profile->tool.flags);
    return say(removed, !version || !compiler || !flags, "words of the program's version, compiler and flags", error);
}

/* The names of probes are what was asked for; all else that is harmless stands in fields of its own. */
static bj_status strip_arguments(bj_profile *profile, bj_strings *removed, bj_error *error) {
    bj_strings *arguments = &profile->run.arguments;
    size_t kept = 0, all = arguments->count;
    for (size_t i = 0; i < all; i++) {
        if (bj_probe_find(arguments->items[i]) != NULL)
            arguments->items[kept++] = arguments->items[i];
        else
            free(arguments->items[i]);
    }
    arguments->count = kept;
    return say_count(removed, all - kept, "argument", " of the run", error);
}

static bool is_known_method(const char *name) {
    if (strcmp(name, BJ_METHOD_PAPER) == 0 || strcmp(name, BJ_METHOD_SERVET) == 0)
        return true;
    for (size_t i = 0; i < bj_probe_count; i++)
        if (bj_runner_has_method(bj_probes[i], name))
            return true;
    return false;
}

static bj_status strip_run(bj_profile *profile, bj_strings *removed, bj_error *error) {
    static const char *const efforts[] = {"quick", "normal", "thorough", NULL};
    if (strcmp(profile->run.machine, "native") != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "a simulated machine: its file in machines/ says all of it, nothing to contribute");
    if (!bj_cli_is_one_of(profile->run.effort, efforts))
        return bj_base_set_error(error, BJ_ERR_INPUT, "run.effort: expected quick, normal or thorough");
    BJ_TRY(strip_arguments(profile, removed, error));
    bool method = profile->run.method[0] == '\0' || is_known_method(profile->run.method);
    if (!method)
        profile->run.method[0] = '\0';
    BJ_TRY(say(removed, !method, "the method of the run, which this version does not know", error));
    bool had_compiler = profile->run.cc[0] != '\0', cc = bj_cli_keep_compiler(profile->run.cc);
    /* The field says that another compiler was asked, whatever it is. */
    if (had_compiler && profile->run.cc[0] == '\0')
        snprintf(profile->run.cc, sizeof profile->run.cc, "cc");
    bool version = bj_cli_keep_compiler(profile->run.cc_version), flags = bj_cli_keep_flags(profile->run.cc_flags);
    return say(removed, !cc || !version || !flags, "words of the compiler that --cc named", error);
}

static bj_status strip_environment(bj_profile *profile, bj_strings *removed, bj_error *error) {
    static const char *const modes[] = {"always", "madvise", "never", "none", "unknown", NULL};
    if (!bj_cli_keep_system(profile->environment.os))
        BJ_TRY(say(removed, true, "words of the system's release", error));
    if (!bj_cli_keep_cpu_model(profile->environment.cpu))
        BJ_TRY(say(removed, true, "words of the processor's name that are no maker, family or number", error));
    if (!bj_cli_is_one_of(profile->environment.huge_pages, modes))
        snprintf(profile->environment.huge_pages, sizeof profile->environment.huge_pages, "unknown");
    uint64_t *sizes[] = {&profile->environment.memory_bytes, &profile->run.memory_limit_bytes};
    bool exact = false;
    for (size_t i = 0; i < 2; i++) {
        exact = exact || *sizes[i] != round_bytes(*sizes[i]);
        *sizes[i] = round_bytes(*sizes[i]);
    }
    BJ_TRY(say(removed, exact, "the exact size of memory", error));
    BJ_TRY(say_count(removed, profile->environment.warnings.count, "warning", " of the run", error));
    bj_strings_free(&profile->environment.warnings);
    return BJ_OK;
}

/* ---- answers */

/* What a key has where the pattern has "<type>" or "<op>": any word matches there, so the word itself is looked at. */
static bool has_known_parts(const char *pattern, const char *key) {
    static const char *const types[] = {"int8", "int16", "int32", "int64", "float", "double", NULL};
    static const char *const operations[] = {"add", "sub", "mul", "div", "mod", "shift", "sqrt", "fma", NULL};
    while (*pattern != '\0' && *key != '\0') {
        char part[64];
        size_t wanted = strcspn(pattern, "."), length = strcspn(key, ".");
        snprintf(part, sizeof part, "%.*s", (int)length, key);
        if (strncmp(pattern, "<type>", 6) == 0) {
            char *lanes = strchr(part, 'x');
            if (lanes != NULL && lanes[1] != '\0' && lanes[1 + strspn(lanes + 1, "0123456789")] == '\0')
                *lanes = '\0';
            if (!bj_cli_is_one_of(part, types))
                return false;
        } else if (strncmp(pattern, "<op>", 4) == 0 && !bj_cli_is_one_of(part, operations))
            return false;
        pattern += wanted + (pattern[wanted] == '.');
        key += length + (key[length] == '.');
    }
    return true;
}

static const bj_probe *find_probe(const char *key, const bj_probe_key **described) {
    for (size_t i = 0; i < bj_probe_count; i++) {
        *described = bj_runner_find_key(bj_probes[i], key);
        if (*described != NULL)
            return has_known_parts((*described)->key, key) ? bj_probes[i] : NULL;
    }
    return NULL;
}

static bool is_among(const char *const *methods, const char *name, size_t length) {
    for (; methods != NULL && *methods != NULL; methods++)
        if (strlen(*methods) == length && strncmp(*methods, name, length) == 0)
            return true;
    return false;
}

/* "levels/7", or "pairs+sharing/4" where another probe helped. */
static bool keeps_method(const bj_probe *probe, const char *method) {
    const char *slash = strrchr(method, '/');
    if (slash == NULL || slash[1] == '\0' || slash[1 + strspn(slash + 1, "0123456789")] != '\0')
        return false;
    for (const char *part = method; part < slash; part += strcspn(part, "+/") + 1) {
        size_t length = strcspn(part, "+/");
        bool known = is_among(probe->methods, part, length) || is_among(probe->own_methods, part, length);
        for (size_t i = 0; i < bj_probe_count && !known; i++)
            known = strlen(bj_probes[i]->name) == length && strncmp(bj_probes[i]->name, part, length) == 0;
        if (!known)
            return false;
    }
    return true;
}

/* A reason may quote anything; these say what the status means. */
static const char *general_reason(bj_answer_status status) {
    switch (status) {
    case BJ_ANSWER_OK:
        break;
    case BJ_ANSWER_UNSTABLE:
        return "it moved while it was measured";
    case BJ_ANSWER_UNDETERMINED:
        return "nothing could be seen";
    case BJ_ANSWER_UNSUPPORTED:
        return "not on this machine";
    case BJ_ANSWER_FAILED:
        return "the measurement failed";
    }
    return "";
}

static bj_status strip_answer(bj_answer *answer, const bj_probe *probe, const bj_probe_key *described, losses *lost,
                              bj_error *error) {
    static const char *const pages[] = {"huge", "base", "", NULL};
    snprintf(answer->unit, sizeof answer->unit, "%s", described->unit);
    snprintf(answer->probe, sizeof answer->probe, "%s", probe->name);
    if (answer->method[0] != '\0' && !keeps_method(probe, answer->method)) {
        answer->method[0] = '\0';
        lost->methods++;
    }
    if (!bj_cli_is_one_of(answer->pages, pages))
        answer->pages[0] = '\0';
    const char *reason = general_reason(answer->status);
    lost->reasons += strcmp(answer->reason, reason) != 0;
    snprintf(answer->reason, sizeof answer->reason, "%s", reason);
    if (answer->caveat[0] != '\0' && strcmp(answer->caveat, BJ_LITERAL_CAVEAT) != 0) {
        answer->caveat[0] = '\0';
        lost->reasons++;
    }
    answer->evidence_count = 0; /* the samples go */
    return answer->structured != NULL ? bj_cli_strip_value(&answer->structured, &lost->members, error) : BJ_OK;
}

static bj_status strip_answers(bj_answers *answers, losses *lost, bj_error *error) {
    bj_status status = BJ_OK;
    size_t kept = 0;
    for (size_t i = 0; i < answers->count; i++) {
        const bj_probe_key *described;
        const bj_probe *probe = find_probe(answers->items[i].key, &described);
        if (probe == NULL) {
            free(answers->items[i].structured);
            lost->keys++;
            continue;
        }
        if (status == BJ_OK)
            status = strip_answer(&answers->items[i], probe, described, lost, error);
        answers->items[kept++] = answers->items[i];
    }
    answers->count = kept;
    return status;
}

static size_t strip_probes(bj_profile *profile, losses *lost) {
    size_t kept = 0, all = profile->probe_count;
    for (size_t i = 0; i < all; i++) {
        bj_probe_record *record = &profile->probes[i];
        if (bj_probe_find(record->name) == NULL)
            continue;
        const char *reason = general_reason(record->status);
        if (record->reason[0] != '\0' && strcmp(record->reason, reason) != 0) {
            lost->reasons++;
            snprintf(record->reason, sizeof record->reason, "%s", reason);
        }
        if (!bj_cli_is_version(record->version))
            record->version[0] = '\0';
        if (record->measured[0] != '\0')
            (void)cut_to_day(record->measured, sizeof record->measured);
        profile->probes[kept++] = *record;
    }
    profile->probe_count = kept;
    return all - kept;
}

bj_status bj_cli_strip_profile(bj_profile *profile, bj_strings *removed, bj_error *error) {
    losses lost = {0};
    if (!cut_to_day(profile->created, sizeof profile->created))
        BJ_TRY(say(removed, true, "the time of day", error));
    BJ_TRY(strip_tool(profile, removed, error));
    BJ_TRY(strip_run(profile, removed, error));
    BJ_TRY(strip_environment(profile, removed, error));
    BJ_TRY(strip_answers(&profile->answers, &lost, error));
    BJ_TRY(say_count(removed, strip_probes(profile, &lost), "probe", " that this version does not know", error));
    BJ_TRY(say_count(removed, lost.keys, "answer", " that this version does not know", error));
    BJ_TRY(say_count(removed, lost.members, "name", " inside of answers", error));
    BJ_TRY(say_count(removed, lost.methods, "method", " of answers that this version does not know", error));
    BJ_TRY(say_count(removed, lost.reasons, "reason", ", in favour of what the status means", error));
    BJ_TRY(say_count(removed, profile->curves.count, "curve", " with all samples", error));
    bj_data_free_curves(&profile->curves);
    return BJ_OK;
}
