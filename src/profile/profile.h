/* The profile: the only thing that consumers of the measurements see. JSON in and out.
 *
 * The format is "blackjack-profile/1"; docs/profile.schema.json describes it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/output.h"
#include "data/answer.h"
#include "data/curve.h"

#define BJ_PROFILE_FORMAT "blackjack-profile/1"
#define BJ_PROFILE_MAX_BYTES ((size_t)32 << 20)
/* What bj_profile_field_to_text() knows, for help and messages. */
#define BJ_ANSWER_FIELDS                                                                                               \
    "value, unit, interval, confidence, p, status, reason, caveat, method, pages, claimed, evidence, probe"

typedef struct {
    char name[24];
    unsigned revision;
    bj_answer_status status; /* of the probe as a whole */
    double seconds;
    char reason[240];
    unsigned runs;        /* whole runs of it that are merged; 1 is not written */
    unsigned late_rounds; /* of all of them; 0 is not written */
    char measured[32];    /* when its first run ended, as `created`; empty is not written, nor is the next */
    char version[32];     /* of the program that measured it */
} bj_probe_record;

typedef struct {
    char **items;
    size_t count;
} bj_strings;

typedef struct {
    char created[32]; /* "2026-11-15T07:00:00Z" */
    struct {
        char version[32], compiler[96], flags[200];
    } tool;
    struct {
        uint64_t seed;
        char effort[16];
        char method[32]; /* empty: each probe's default; written only when given */
        bj_strings arguments;
        char cc[200];                       /* empty: the program's own kernels; written only when given */
        char cc_version[96], cc_flags[400]; /* what that compiler calls itself, and all of its flags */
        int cpu_measured;
        double cpu_quota; /* cpus; NaN: none (JSON null) */
        uint64_t memory_limit_bytes;
        double steal; /* share of cpu time that the hypervisor took during the run; NaN: unknown */
        char machine[128];
        uint64_t repeat;  /* whole runs that were asked for; written only from 2 on */
        bool interrupted; /* until the last of them is done; written only when true */
    } run;
    struct {
        char os[128], cpu[128], huge_pages[32];
        uint64_t page_bytes; /* 0: not known, and not written */
        int *cpus_allowed;
        size_t cpus_allowed_count;
        uint64_t memory_bytes;
        int virtualised;   /* -1: unknown */
        char emulator[64]; /* the program that runs ours; "" when none is seen, and not written */
        double load_before;
        bj_strings warnings;
    } environment;
    bj_answers answers;
    bj_curves curves;
    bj_probe_record *probes;
    size_t probe_count;
} bj_profile;

void bj_profile_init(bj_profile *profile);
void bj_profile_free(bj_profile *profile);

bj_status bj_strings_add(bj_strings *strings, const char *text, bj_error *error) BJ_WARN_UNUSED;
/* The same of a text put together, which is cut at 400 characters. */
bj_status bj_strings_add_note(bj_strings *strings, bj_error *error, const char *format, ...)
    BJ_PRINTF(3, 4) BJ_WARN_UNUSED;
/* Nothing where it is there already. */
bj_status bj_strings_add_once(bj_strings *strings, const char *text, bj_error *error) BJ_WARN_UNUSED;
void bj_strings_free(bj_strings *strings);

/* The record of a probe, made when it is not there yet. */
bj_status bj_profile_record_probe(bj_profile *profile, const char *name, bj_probe_record **record,
                                  bj_error *error) BJ_WARN_UNUSED;
const bj_probe_record *bj_profile_find_probe(const bj_profile *profile, const char *name);

/* Whole file or nothing: errors say file, place, what was expected. `profile` must be initialised; on failure it is
 * left empty. Fields that we do not know are passed over, so that later versions may add some; of the sections only
 * "format" and "characteristics" must be there, so that a profile may also be written by hand. "-" is standard input.
 */
bj_status bj_profile_read(const char *path, bj_profile *profile, bj_error *error) BJ_WARN_UNUSED;
/* The same but for the samples, as of bj_profile_parse_answers(). */
bj_status bj_profile_read_answers(const char *path, bj_profile *profile, bj_error *error) BJ_WARN_UNUSED;
/* The text of a profile's file, expanded where it is compressed by gzip, whatever its name; *text is the caller's to
 * free. "-" is standard input. */
bj_status bj_profile_read_text(const char *path, char **text, size_t *length, bj_error *error) BJ_WARN_UNUSED;
/* The same from text; `name` stands for the file in errors. */
bj_status bj_profile_parse(const char *name, const char *text, size_t length, bj_profile *profile,
                           bj_error *error) BJ_WARN_UNUSED;
/* The same but for the samples, which are passed over and not looked at: several times as fast. */
bj_status bj_profile_parse_answers(const char *name, const char *text, size_t length, bj_profile *profile,
                                   bj_error *error) BJ_WARN_UNUSED;
/* *text is the caller's to free. */
bj_status bj_profile_to_json(const bj_profile *profile, char **text, size_t *length, bj_error *error) BJ_WARN_UNUSED;
/* Replaces what is there. "-" is standard output. A name that ends in ".gz" is compressed. */
bj_status bj_profile_write(const bj_profile *profile, const char *path, bj_error *error) BJ_WARN_UNUSED;
/* The same to a file that is open for it. */
bj_status bj_profile_write_output(const bj_profile *profile, bj_output *output, bj_error *error) BJ_WARN_UNUSED;
/* Characteristics alone as {"<key>": …}, for `analyze`; *text is the caller's to free. */
bj_status bj_profile_answers_to_json(const bj_answers *answers, char **text, bj_error *error) BJ_WARN_UNUSED;
/* One field of a characteristic as `get` prints it: scalars plain, else one line of JSON; *text is the caller's.
 * BJ_ERR_USAGE: no field has that name; BJ_ERR_FAILED: this answer does not have it, and the error says why. */
bj_status bj_profile_field_to_text(const bj_answer *answer, const char *field, char **text,
                                   bj_error *error) BJ_WARN_UNUSED;
