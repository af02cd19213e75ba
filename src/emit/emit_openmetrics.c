/* For whoever watches machines over time: numeric answers as OpenMetrics text, one family for an answer of all levels,
 * types and operations, which are labels, as are status and confidence. Times, rates and clocks are in seconds, bytes a
 * second and hertz, as the format wants it, and names end in the unit. The ends of the 95% interval are families of
 * their own, so that adding up over labels never mixes them with values. No host is named: whoever collects knows it.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/number.h"
#include "emit/emit.h"

#define PREFIX "blackjack_"
enum { LABELS_MOST = 3, NAME_ROOM = 160 };

typedef enum bound { VALUE, LOW, HIGH, BOUNDS } bound;

static const struct {
    const char *name, *help;
} bounds[BOUNDS] = {
    {"", ""}, {"_low", ", lower end of the 95% interval"}, {"_high", ", upper end of the 95% interval"}};

typedef struct {
    char name[16], value[64];
} label;

/* A key taken apart: "cache.L2.read_gbs" is the family cache_read of level 2. */
typedef struct {
    char name[NAME_ROOM]; /* of the family, with the unit */
    const char *unit;     /* NULL: none */
    label labels[LABELS_MOST];
    size_t label_count;
    const bj_answer *answer;
    bool claimed;
    bound bound;
    double number;
} sample;

/* Our unit, how a key ends that is in it, the format's unit, and what one of ours is in it. Counts have none. */
static const struct {
    const char *ours, *in_key, *unit;
    double factor;
} units[] = {
    {"bytes", "_bytes", "bytes", 1},
    {"ns", "_ns", "seconds", 1e-9},
    {"ms", "_ms", "seconds", 1e-3},
    {"GHz", "_ghz", "hertz", 1e9},
    {"GB/s", "_gbs", "bytes_per_second", 1e9},
    {"cycles", "_cycles", "cycles", 1},
};

static void append(sample *sample, const char *text, size_t length) {
    size_t used = strlen(sample->name);
    for (size_t i = 0; i < length && used + 1 < NAME_ROOM; i++) {
        unsigned char letter = (unsigned char)text[i];
        sample->name[used++] = (char)(letter < 0x80 && isalnum(letter) ? letter : '_');
    }
    sample->name[used] = '\0';
}

static void add_label(sample *sample, const char *name, const char *value, size_t length) {
    if (sample->label_count == LABELS_MOST)
        return;
    label *added = &sample->labels[sample->label_count++];
    snprintf(added->name, sizeof added->name, "%s", name);
    snprintf(added->value, sizeof added->value, "%.*s", (int)length, value);
}

/* L and a number. */
static bool is_level(const char *part, size_t length) {
    bool all = length > 1 && part[0] == 'L';
    for (size_t i = 1; i < length; i++)
        all = all && isdigit((unsigned char)part[i]);
    return all;
}

/* What the part of the key says as a label: "op.int32.add.latency", "op.load.throughput", "live.double"; NULL: it is of
 * the name. `end` is where the part ends. */
static const char *find_label(const char *key, size_t index, const char *part, const char *end) {
    if (is_level(part, (size_t)(end - part)))
        return "level";
    if (strncmp(key, "live.", 5) == 0)
        return index == 1 ? "type" : NULL;
    if (strncmp(key, "op.", 3) != 0 || index == 0 || *end == '\0')
        return NULL;
    bool is_last_but_one = strchr(end + 1, '.') == NULL;
    return is_last_but_one ? "operation" : "type";
}

static void name_family(sample *sample) {
    const char *key = sample->answer->key, *part = key;
    snprintf(sample->name, sizeof sample->name, PREFIX);
    for (size_t index = 0; part != NULL; index++) {
        const char *end = part + strcspn(part, "."), *name = find_label(key, index, part, end);
        size_t length = (size_t)(end - part);
        if (name != NULL && length > 0) {
            bool level = name[0] == 'l';
            add_label(sample, name, part + level, length - level);
        } else {
            if (index > 0)
                append(sample, "_", 1);
            append(sample, part, length);
        }
        part = *end != '\0' ? end + 1 : NULL;
    }
}

/* In place of the end of the key that says it our way. */
static void append_unit(sample *sample) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(sample->name), cut = strlen(units[i].in_key);
        if (strcmp(units[i].ours, sample->answer->unit) != 0)
            continue;
        if (length > cut && strcmp(sample->name + length - cut, units[i].in_key) == 0)
            sample->name[length - cut] = '\0';
        append(sample, bounds[sample->bound].name, strlen(bounds[sample->bound].name));
        append(sample, "_", 1);
        append(sample, units[i].unit, strlen(units[i].unit));
        sample->unit = units[i].unit;
        if (units[i].factor != 1)
            sample->number = bj_data_round_number(sample->number * units[i].factor, BJ_ANSWER_DIGITS);
        return;
    }
    append(sample, bounds[sample->bound].name, strlen(bounds[sample->bound].name));
}

/* Endings that the format keeps for samples of types that ours are not. */
static void avoid_reserved(sample *sample) {
    static const char *const reserved[] = {"_total", "_created", "_count", "_sum", "_bucket", "_info"};
    size_t length = strlen(sample->name);
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        size_t part = strlen(reserved[i]);
        if (length > part && strcmp(sample->name + length - part, reserved[i]) == 0)
            append(sample, "_value", strlen("_value"));
    }
}

static bool make_sample(const bj_emit_value *value, bound bound, sample *made) {
    const bj_answer *answer = value->answer;
    bool is_interval = bound != VALUE;
    *made = (sample){.answer = answer, .claimed = value->claimed, .bound = bound, .number = value->value};
    if (is_interval && (value->claimed || !answer->has_interval))
        return false;
    if (is_interval)
        made->number = answer->interval[bound == HIGH];
    if (!isfinite(made->number))
        return false;
    name_family(made);
    append_unit(made);
    avoid_reserved(made);
    return true;
}

static int compare_samples(const void *left, const void *right) {
    const sample *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : strcmp(a->answer->key, b->answer->key);
}

/* Label values are quoted; what comes from a file may hold anything. */
static void print_label(FILE *out, const char *name, const char *text) {
    fprintf(out, "%s=\"", name);
    for (; *text != '\0'; text++) {
        unsigned char letter = (unsigned char)*text;
        if (letter == '"' || letter == '\\')
            putc('\\', out);
        putc(letter < ' ' || letter >= 127 ? '?' : letter, out);
    }
    putc('"', out);
}

static void print_family(FILE *out, const sample *sample) {
    const char *probe = sample->answer->probe;
    fprintf(out, "# TYPE %s gauge\n", sample->name);
    if (sample->unit != NULL)
        fprintf(out, "# UNIT %s %s\n", sample->name, sample->unit);
    fprintf(out, "# HELP %s Answer of ", sample->name);
    if (probe[0] != '\0')
        fprintf(out, "the probe ");
    bj_emit_print_safely(out, probe[0] != '\0' ? probe : "no probe", "\\\"");
    fprintf(out, "%s.\n", bounds[sample->bound].help);
}

static void print_sample(FILE *out, const sample *sample) {
    char number[BJ_NUMBER_ROOM];
    const bj_answer *answer = sample->answer;
    fprintf(out, "%s{", sample->name);
    print_label(out, "key", answer->key);
    for (size_t i = 0; i < sample->label_count; i++) {
        putc(',', out);
        print_label(out, sample->labels[i].name, sample->labels[i].value);
    }
    if (!sample->claimed && answer->confidence != BJ_CONFIDENCE_NONE)
        fprintf(out, ",confidence=\"%s\"", bj_data_name_confidence(answer->confidence));
    bj_data_format_number(sample->number, number);
    fprintf(out, ",status=\"%s\"} %s\n", sample->claimed ? "claimed" : bj_data_name_status(answer->status), number);
}

/* What was measured, with what, and when. */
static void print_profile(FILE *out, const bj_profile *profile) {
    struct tm when = {0};
    fprintf(out, "# TYPE blackjack_profile info\n# HELP blackjack_profile The profile that the answers are from.\n"
                 "blackjack_profile_info{");
    print_label(out, "version", profile->tool.version);
    putc(',', out);
    print_label(out, "machine", profile->run.machine);
    putc(',', out);
    print_label(out, "processor", profile->environment.cpu);
    putc(',', out);
    print_label(out, "effort", profile->run.effort);
    fprintf(out, "} 1\n");
    const char *end = strptime(profile->created, "%Y-%m-%dT%H:%M:%SZ", &when);
    if (end != NULL && *end == '\0')
        fprintf(out,
                "# TYPE blackjack_profile_measured_timestamp_seconds gauge\n"
                "# UNIT blackjack_profile_measured_timestamp_seconds seconds\n"
                "# HELP blackjack_profile_measured_timestamp_seconds When it was measured.\n"
                "blackjack_profile_measured_timestamp_seconds %lld\n",
                (long long)timegm(&when));
}

/* Families must be in one piece. */
static void print_samples(FILE *out, sample *samples, size_t count) {
    if (count > 0)
        qsort(samples, count, sizeof *samples, compare_samples);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(samples[i].name, samples[i - 1].name) != 0)
            print_family(out, &samples[i]);
        print_sample(out, &samples[i]);
    }
}

static bj_status emit(const bj_emit_request *request, FILE *out, bj_error *error) {
    const bj_answers *answers = &request->profile->answers;
    BJ_TRY(bj_emit_check_any(request, error));
    sample *samples = calloc(answers->count * BOUNDS + 1, sizeof *samples);
    size_t count = 0;
    if (samples == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu answers", answers->count);
    for (size_t i = 0; i < answers->count; i++) {
        const bj_answer *answer = &answers->items[i];
        bj_emit_value value;
        char reason[BJ_EMIT_REASON_ROOM];
        if (!bj_emit_accepts(request, answer, &value)) {
            bj_emit_describe_refusal(request, answer, reason);
            bj_emit_note_left_out(request, answer->key, reason);
            continue;
        }
        bj_emit_note_claim(request, &value);
        if (!value.claimed && answer->structured != NULL)
            continue; /* lists and trees are no metrics */
        for (int bound = VALUE; bound < BOUNDS; bound++)
            count += make_sample(&value, (enum bound)bound, &samples[count]);
    }
    print_profile(out, request->profile);
    print_samples(out, samples, count);
    fprintf(out, "# EOF\n");
    free(samples);
    return BJ_OK;
}

const bj_emitter bj_emitter_openmetrics = {
    .name = "openmetrics",
    .summary = "metrics as OpenMetrics text, for Prometheus and whatever else collects them",
    .emit = emit,
};
