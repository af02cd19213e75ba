#include "cli/time_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/size_expression.h"
#include "cli/values.h"
#include "timer/timer_constants.h"

#define LIMIT_SECONDS 60.0
#define THREADS_MOST 4096u

static bj_status refuse(const char *option, const char *expected, const char *found, bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_USAGE, "--%s: expected %s, found '%.40s'", option, expected, found);
}

static bj_status read_kernel(const char *given, bj_time_kernel *kernel, bj_error *error) {
    const char *colon = strrchr(given, ':');
    *kernel = (bj_time_kernel){.given = given};
    if (colon == NULL || colon == given || colon[1] == '\0')
        return bj_base_set_error(error, BJ_ERR_USAGE, "expected FILE.c:SYMBOL or LIBRARY.so:SYMBOL, found '%.80s'",
                                 given);
    kernel->file = strndup(given, (size_t)(colon - given));
    if (kernel->file == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
    kernel->symbol = colon + 1;
    size_t length = strlen(kernel->file);
    kernel->is_source = length > 2 && strcmp(kernel->file + length - 2, ".c") == 0;
    return BJ_OK;
}

/* A word of an operand behind its size; false: it is none of ours. */
static bool read_word(const char *word, bj_timer_operand *operand) {
    static const struct {
        const char *word;
        bj_timer_direction direction;
    } directions[] = {{"in", BJ_DIRECTION_IN}, {"out", BJ_DIRECTION_OUT}, {"inout", BJ_DIRECTION_INOUT}};
    static const struct {
        const char *word;
        bj_timer_access access;
    } orders[] = {{"order=up", BJ_ACCESS_UP}, {"order=down", BJ_ACCESS_DOWN}, {"order=random", BJ_ACCESS_RANDOM}};
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(word, directions[i].word) == 0) {
            operand->direction = directions[i].direction;
            return true;
        }
        if (strcmp(word, orders[i].word) == 0) {
            operand->access = orders[i].access;
            return true;
        }
    }
    uint64_t number;
    if (strncmp(word, "align=", 6) == 0 && bj_base_parse_u64(word + 6, &number) && number > 0) {
        operand->align = (size_t)number;
        return true;
    }
    if (strncmp(word, "misalign=", 9) == 0 && bj_base_parse_u64(word + 9, &number) && number > 0) {
        operand->misalign = (size_t)number;
        return true;
    }
    return bj_timer_parse_residency(word, &operand->residency);
}

/* "x:8*n:in:cold:align=32" */
static bj_status read_operand(const char *text, bj_time_operand *read, bj_error *error) {
    bj_timer_operand *operand = &read->operand;
    *read = (bj_time_operand){.operand = {.residency = BJ_RESIDENT_UNSAID}};
    size_t name = strcspn(text, ":");
    if (name == 0 || name >= BJ_TIMER_NAME_ROOM || text[name] == '\0')
        return refuse("operand", "NAME:BYTES, with a name of up to 23 characters", text, error);
    memcpy(operand->name, text, name);
    bj_base_hide_controls(operand->name);
    read->bytes = text + name + 1;
    read->bytes_length = strcspn(read->bytes, ":");
    const char *at = read->bytes + read->bytes_length;
    while (*at == ':') {
        char word[40];
        size_t length = strcspn(++at, ":");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        if (!read_word(word, operand))
            return refuse("operand",
                          "in, out, inout, cold, warm, L1 to L8, order=up|down|random, align=A or misalign=M", word,
                          error);
        at += length;
    }
    uint64_t some;
    BJ_TRY(bj_cli_evaluate_size("--operand", read->bytes, read->bytes_length, UINT64_C(1) << 20, &some, NULL, error));
    bj_timer_operand checked = *operand;
    checked.bytes = 1;
    return bj_timer_check_operand(&checked, error);
}

static bj_status read_operands(const bj_cli_arguments *arguments, bj_time_request *request, bj_error *error) {
    for (size_t i = 0; i < arguments->given_count; i++) {
        const bj_cli_given *given = &arguments->given[i];
        if (strcmp(given->option->name, "operand") != 0)
            continue;
        if (request->operand_count == BJ_TIMER_OPERANDS_MAX)
            return bj_base_set_error(error, BJ_ERR_USAGE, "--operand: more than %d", BJ_TIMER_OPERANDS_MAX);
        BJ_TRY(read_operand(given->value, &request->operands[request->operand_count], error));
        request->operand_count++;
    }
    return BJ_OK;
}

/* "N=500..4000000": doubled from A to B, or with +STEP behind B in steps. */
static bj_status read_sweep(const char *text, bj_time_request *request, bj_error *error) {
    static const char expected[] = "N=A..B or N=A..B+STEP, with A up to B";
    char first[24], last[24];
    const char *from = strncmp(text, "N=", 2) == 0 || strncmp(text, "n=", 2) == 0 ? text + 2 : NULL;
    const char *dots = from != NULL ? strstr(from, "..") : NULL;
    if (dots == NULL || (size_t)(dots - from) >= sizeof first)
        return refuse("sweep", expected, text, error);
    snprintf(first, sizeof first, "%.*s", (int)(dots - from), from);
    size_t length = strcspn(dots + 2, "+");
    snprintf(last, sizeof last, "%.*s", (int)(length < sizeof last ? length : sizeof last - 1), dots + 2);
    const char *plus = dots + 2 + length;
    uint64_t a, b, step = 0;
    if (!bj_base_parse_u64(first, &a) || !bj_base_parse_u64(last, &b) || a == 0 || b < a ||
        (*plus == '+' && (!bj_base_parse_u64(plus + 1, &step) || step == 0)))
        return refuse("sweep", expected, text, error);
    for (uint64_t n = a;; n = step > 0 ? n + step : 2 * n) {
        if (request->size_count == BJ_TIME_SIZES_MAX)
            return refuse("sweep", "200 values at most", text, error);
        request->sizes[request->size_count++] = n < b ? n : b;
        if (n >= b || b > UINT64_MAX / 4)
            return BJ_OK;
    }
}

static bj_status read_sizes(const bj_cli_arguments *arguments, bj_time_request *request, bj_error *error) {
    const char *n = bj_cli_find_value(arguments, "n"), *sweep = bj_cli_find_value(arguments, "sweep");
    bool uses_n = false;
    if (n != NULL && sweep != NULL)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--n is one size, --sweep many: not both");
    if (sweep != NULL)
        return read_sweep(sweep, request, error);
    request->size_count = 1;
    request->sizes[0] = 1;
    if (n != NULL)
        return bj_base_parse_u64(n, &request->sizes[0]) ? BJ_OK : refuse("n", "a whole number", n, error);
    for (size_t i = 0; i < request->operand_count; i++) {
        uint64_t some;
        BJ_TRY(bj_cli_evaluate_size("--operand", request->operands[i].bytes, request->operands[i].bytes_length, 1,
                                    &some, &uses_n, error));
    }
    return uses_n
               ? bj_base_set_error(error, BJ_ERR_USAGE, "an operand's size depends on n: --n or --sweep says how large")
               : BJ_OK;
}

static bj_status read_contexts(const bj_cli_arguments *arguments, bj_time_request *request, bj_error *error) {
    const char *text = bj_cli_find_value(arguments, "context");
    request->context_count = 1;
    request->contexts[0] = BJ_RESIDENT_COLD;
    if (text == NULL)
        return BJ_OK;
    request->context_count = 0;
    for (const char *at = text;; at++) {
        char word[16];
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        if (request->context_count == BJ_TIME_CONTEXTS_MAX ||
            !bj_timer_parse_residency(word, &request->contexts[request->context_count]))
            return refuse("context", "a list of cold, warm, L1, L2, ...", text, error);
        request->context_count++;
        at += length;
        if (*at == '\0')
            return BJ_OK;
    }
}

static bj_status read_number(const bj_cli_arguments *arguments, const char *option, uint64_t least, uint64_t most,
                             unsigned *number, bj_error *error) {
    const char *text = bj_cli_find_value(arguments, option);
    uint64_t value;
    if (text == NULL)
        return BJ_OK;
    if (!bj_base_parse_u64(text, &value) || value < least || value > most)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--%s: expected a number from %llu to %llu, found '%.40s'",
                                 option, (unsigned long long)least, (unsigned long long)most, text);
    *number = (unsigned)value;
    return BJ_OK;
}

static bj_status read_seconds(const bj_cli_arguments *arguments, const char *option, double *seconds, bj_error *error) {
    const char *text = bj_cli_find_value(arguments, option);
    if (text != NULL && (!bj_base_parse_double(text, seconds) || !(*seconds > 0)))
        return refuse(option, "seconds above 0", text, error);
    return BJ_OK;
}

bj_status bj_cli_read_time_request(const bj_cli_arguments *arguments, bj_time_request *request, bj_error *error) {
    *request = (bj_time_request){.limit_s = LIMIT_SECONDS,
                                 .threads = 1,
                                 .profile = bj_cli_find_value(arguments, "profile"),
                                 .compiler = bj_cli_find_value(arguments, "cc"),
                                 .json = bj_cli_is_given(arguments, "json"),
                                 .csv = bj_cli_is_given(arguments, "csv"),
                                 .quiet = bj_cli_is_given(arguments, "quiet")};
    bool wall = bj_cli_is_given(arguments, "wall"), cpu = bj_cli_is_given(arguments, "cpu-time");
    for (size_t i = 0; i < arguments->operand_count; i++) {
        request->kernel_count++;
        BJ_TRY(read_kernel(arguments->operands[i], &request->kernels[i], error));
    }
    BJ_TRY(read_operands(arguments, request, error));
    BJ_TRY(read_sizes(arguments, request, error));
    BJ_TRY(read_contexts(arguments, request, error));
    BJ_TRY(read_number(arguments, "threads", 1, THREADS_MOST, &request->threads, error));
    BJ_TRY(read_number(arguments, "samples", BJ_SAMPLES_LEAST, 100000, &request->samples, error));
    BJ_TRY(read_seconds(arguments, "budget", &request->budget_s, error));
    BJ_TRY(read_seconds(arguments, "limit", &request->limit_s, error));
    BJ_TRY(bj_cli_read_seed(arguments, &request->seed, error));
    if (wall && cpu)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--wall or --cpu-time: not both");
    if (request->json && request->csv)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--json or --csv: not both");
    request->clock = wall ? BJ_TIME_WALL : cpu ? BJ_TIME_CPU : BJ_TIME_CHOOSE;
    if (cpu && request->threads > 1)
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "--cpu-time with --threads: cpu time leaves out that threads wait for one another");
    return BJ_OK;
}

void bj_cli_free_time_request(bj_time_request *request) {
    for (size_t i = 0; i < request->kernel_count; i++) {
        free(request->kernels[i].file);
        free(request->kernels[i].library);
    }
}

bj_status bj_cli_size_operands(const bj_time_request *request, uint64_t n, bj_timer_operand *operands,
                               bj_error *error) {
    for (size_t i = 0; i < request->operand_count; i++) {
        const bj_time_operand *from = &request->operands[i];
        uint64_t bytes;
        BJ_TRY(bj_cli_evaluate_size(from->operand.name, from->bytes, from->bytes_length, n, &bytes, NULL, error));
        operands[i] = from->operand;
        operands[i].bytes = (size_t)bytes;
        BJ_TRY(bj_timer_check_operand(&operands[i], error));
    }
    return BJ_OK;
}
