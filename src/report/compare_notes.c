#include "report/compare_notes.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "data/number.h"

typedef struct {
    bj_comparison *comparison;
    bj_status status; /* of the first note that failed */
    bj_error *error;
} noting;

static void note_texts(noting *noting, const char *what, const char *a, const char *b) {
    if (noting->status == BJ_OK && strcmp(a, b) != 0)
        noting->status = bj_strings_add_note(&noting->comparison->notes, noting->error, "%s: %.120s, then %.120s", what,
                                             a[0] != '\0' ? a : "not told", b[0] != '\0' ? b : "not told");
}

static void note_bytes(noting *noting, const char *what, uint64_t a, uint64_t b) {
    char text_a[32], text_b[32];
    bj_base_format_bytes((double)a, text_a, sizeof text_a);
    bj_base_format_bytes((double)b, text_b, sizeof text_b);
    /* Only what shows in three digits: free memory is never twice the same. */
    note_texts(noting, what, text_a, text_b);
}

static void note_numbers(noting *noting, const char *what, double a, double b, const char *none) {
    char text_a[BJ_NUMBER_ROOM], text_b[BJ_NUMBER_ROOM];
    bj_data_format_number(bj_data_round_number(a, 3), text_a);
    bj_data_format_number(bj_data_round_number(b, 3), text_b);
    note_texts(noting, what, isnan(a) ? none : text_a, isnan(b) ? none : text_b);
}

/* Probes whose method changed between the two: their answers may differ for that alone. */
static void note_revisions(noting *noting, const bj_profile *a, const bj_profile *b) {
    for (size_t i = 0; i < a->probe_count; i++) {
        const bj_probe_record *record = &a->probes[i], *other = bj_profile_find_probe(b, record->name);
        if (noting->status == BJ_OK && other != NULL && other->revision != record->revision)
            noting->status = bj_strings_add_note(&noting->comparison->notes, noting->error,
                                                 "probe %s: revision %u of its method, then %u", record->name,
                                                 record->revision, other->revision);
    }
}

bj_status bj_report_note_environment(bj_comparison *comparison, const bj_profile *a, const bj_profile *b,
                                     bj_error *error) {
    static const char *const virtualised[] = {"unknown", "no", "yes"};
    noting noting = {.comparison = comparison, .status = BJ_OK, .error = error};
    note_texts(&noting, "machine", a->run.machine, b->run.machine);
    note_texts(&noting, "cpu", a->environment.cpu, b->environment.cpu);
    note_texts(&noting, "system", a->environment.os, b->environment.os);
    note_texts(&noting, "huge pages", a->environment.huge_pages, b->environment.huge_pages);
    note_bytes(&noting, "memory", a->environment.memory_bytes, b->environment.memory_bytes);
    note_texts(&noting, "virtualised", virtualised[a->environment.virtualised + 1],
               virtualised[b->environment.virtualised + 1]);
    note_numbers(&noting, "cpus", (double)a->environment.cpus_allowed_count, (double)b->environment.cpus_allowed_count,
                 "none");
    note_numbers(&noting, "cpu quota", a->run.cpu_quota, b->run.cpu_quota, "none");
    note_texts(&noting, "effort", a->run.effort, b->run.effort);
    note_texts(&noting, "method", a->run.method, b->run.method);
    note_texts(&noting, "blackjack", a->tool.version, b->tool.version);
    note_texts(&noting, "compiler", a->tool.compiler, b->tool.compiler);
    note_revisions(&noting, a, b);
    return noting.status;
}
