#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/values.h"
#include "emit/emit.h"
#include "probes/probe.h"
#include "profile/places.h"
#include "runner/keys.h"

static bj_status refuse_value(const char *option, const char *expected, const char *found, bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_USAGE, "--%s: expected %s, found '%.40s'", option, expected, found);
}

static bool choose(size_t index, const char **name, const char **meaning) {
    if (index >= bj_emitter_count)
        return false;
    *name = bj_emitters[index]->name;
    *meaning = bj_emitters[index]->summary;
    return true;
}

static bj_status read_format(const char *name, const bj_emitter **emitter, bj_error *error) {
    *emitter = bj_emit_find_emitter(name);
    if (*emitter != NULL)
        return BJ_OK;
    bj_cli_guess guess = {.word = name};
    for (size_t i = 0; i < bj_emitter_count; i++)
        bj_cli_offer_name(&guess, bj_emitters[i]->name);
    return bj_base_set_error(error, BJ_ERR_USAGE, "no format '%.60s'%s; see 'blackjack help emit'", name, guess.text);
}

static bj_status read_confidence(const bj_cli_arguments *arguments, bj_emit_options *options, bj_error *error) {
    const char *text = bj_cli_find_value(arguments, "min-confidence");
    options->least_confidence = BJ_CONFIDENCE_MEDIUM;
    if (text != NULL && !bj_data_parse_confidence(text, &options->least_confidence))
        return refuse_value("min-confidence", "low, medium or high", text, error);
    return BJ_OK;
}

static bj_status read_places(const bj_cli_arguments *arguments, bj_emit_options *options, bj_error *error) {
    const char *order = bj_cli_find_value(arguments, "order");
    const char *host = bj_cli_find_value(arguments, "host");
    options->order = BJ_ORDER_NEAR;
    if (order != NULL && strcmp(order, "spread") == 0)
        options->order = BJ_ORDER_SPREAD;
    else if (order != NULL && strcmp(order, "near") != 0)
        return refuse_value("order", "near or spread", order, error);
    options->host = host != NULL ? host : "localhost";
    for (const char *at = options->host; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f || strchr("=#\"", *at) != NULL)
            return refuse_value("host", "a host name", options->host, error);
    return options->host[0] != '\0' ? BJ_OK : refuse_value("host", "a host name", "", error);
}

/* "8x6" */
static bj_status read_kernel(const char *text, bj_emit_options *options, bj_error *error) {
    char rows[16];
    const char *by = strchr(text, 'x');
    size_t length = by != NULL ? (size_t)(by - text) : sizeof rows;
    uint64_t mr = 0, nr = 0;
    if (length < sizeof rows) {
        memcpy(rows, text, length);
        rows[length] = '\0';
        if (bj_base_parse_u64(rows, &mr) && bj_base_parse_u64(by + 1, &nr) && mr >= 1 && mr <= 256 && nr >= 1 &&
            nr <= 256) {
            options->kernel_rows = (unsigned)mr;
            options->kernel_columns = (unsigned)nr;
            return BJ_OK;
        }
    }
    return refuse_value("kernel", "MRxNR, such as 8x6, each from 1 to 256", text, error);
}

static bj_status read_product(const bj_cli_arguments *arguments, bj_emit_options *options, bj_error *error) {
    const char *type = bj_cli_find_value(arguments, "type");
    const char *bytes = bj_cli_find_value(arguments, "vector-bytes");
    const char *kernel = bj_cli_find_value(arguments, "kernel");
    uint64_t vector = 0; /* as measured */
    options->type = type != NULL ? type : "double";
    if (strcmp(options->type, "double") != 0 && strcmp(options->type, "float") != 0)
        return refuse_value("type", "double or float", options->type, error);
    if (bytes != NULL && (!bj_base_parse_u64(bytes, &vector) || vector < 8 || vector > 1024 || vector % 8 != 0))
        return refuse_value("vector-bytes", "a multiple of 8 from 8 to 1024", bytes, error);
    options->vector_bytes = (unsigned)vector;
    return kernel != NULL ? read_kernel(kernel, options, error) : BJ_OK;
}

static bj_status read_options(const bj_cli_arguments *arguments, bj_emit_request *request, bj_error *error) {
    bj_emit_options *options = &request->options;
    options->strict = bj_cli_is_given(arguments, "strict");
    options->allow_claimed = bj_cli_is_given(arguments, "allow-claimed");
    BJ_TRY(read_format(arguments->operands[0], &request->emitter, error));
    BJ_TRY(read_confidence(arguments, options, error));
    BJ_TRY(read_places(arguments, options, error));
    return read_product(arguments, options, error);
}

static const char *name_probe(const char *key) {
    for (size_t i = 0; i < bj_probe_count; i++)
        if (bj_runner_find_key(bj_probes[i], key) != NULL)
            return bj_probes[i]->name;
    return NULL;
}

/* What the reader of a format that cannot say so must know all the same. */
static void tell_notes(const bj_emit_request *request) {
    enum { MOST_LINES = 4 };
    const bj_emit_notes *notes = request->notes;
    const char *name = request->emitter->name;
    size_t count = request->emitter->has_comments ? 0 : notes->left_out.count;
    for (size_t i = 0; i < count && count <= MOST_LINES; i++)
        bj_cli_complain("%s: %s", name, notes->left_out.items[i]);
    if (count > MOST_LINES)
        bj_cli_complain("%s: %zu answers are left out; 'blackjack emit sh' names each with the reason", name, count);
    char keys[400] = "";
    for (size_t i = 0; i < notes->claimed.count; i++)
        if (strlen(keys) + strlen(notes->claimed.items[i]) + 3 < sizeof keys)
            snprintf(keys + strlen(keys), sizeof keys - strlen(keys), "%s%s", i > 0 ? ", " : "",
                     notes->claimed.items[i]);
    if (notes->claimed.count > 0)
        bj_cli_complain("%s: %zu claimed by the operating system, not measured: %s", name, notes->claimed.count, keys);
}

static int run(const bj_cli_arguments *arguments) {
    const char *target = bj_cli_find_value(arguments, "output");
    bj_output *output = NULL;
    bj_error error;
    bj_profile profile;
    char *default_path = NULL;
    bj_emit_notes notes = {0};
    bj_emit_request request = {.profile = &profile, .notes = &notes, .name_probe = name_probe};
    char *text = NULL;
    size_t length = 0;
    const char *path = arguments->operand_count > 1 ? arguments->operands[1] : NULL;
    bj_profile_init(&profile);
    if (target == NULL)
        target = "-";
    bj_status status = read_options(arguments, &request, &error);
    if (status == BJ_OK)
        status =
            bj_cli_open_output(target, bj_cli_is_given(arguments, "force"), "--force replaces it", &output, &error);
    if (status == BJ_OK)
        status = bj_profile_read_default(path, &profile, path == NULL ? &default_path : NULL, &error);
    if (status == BJ_OK)
        status = bj_emit_to_text(&request, &text, &length, &error);
    if (status == BJ_OK)
        status = bj_cli_write_output(output, text, length, &error);
    if (status == BJ_OK)
        tell_notes(&request);
    bj_base_close_output(output);
    bj_emit_free_notes(&notes);
    free(text);
    if (status != BJ_OK)
        bj_cli_name_default(default_path, &error);
    free(default_path);
    bj_profile_free(&profile);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"output", 'o', "FILE", "write there instead of to standard output"},
    {"force", 0, NULL, "replace the file if it exists"},
    {"min-confidence", 0, "low|medium|high",
     "of answers to take (default medium); low: unstable ones and those without, too"},
    {"allow-claimed", 0, NULL, "where an answer is not taken, take what the operating system claims, if it does"},
    {"strict", 0, NULL, "write nothing where something would be left out"},
    {"order", 0, "near|spread", "omp-places, rankfile: neighbours first (default) or last"},
    {"host", 0, "NAME", "rankfile: the host (default localhost), or NAME,... of those of comm.ranks"},
    {"type", 0, "double|float", "blis: the elements (default double)"},
    {"vector-bytes", 0, "N", "blis: width of the vectors, instead of the one that was measured"},
    {"kernel", 0, "MRxNR", "blis: the micro-kernel that there is, instead of the one by the model"},
};

const bj_cli_command bj_cli_command_emit = {
    .name = "emit",
    .synopsis = "FORMAT [FILE] [-o FILE] [--force] [--min-confidence low|medium|high] [--allow-claimed]\n"
                "[--strict] [--order near|spread] [--host NAME] [--type double|float] [--vector-bytes N]\n"
                "[--kernel MRxNR]",
    .summary = "A profile in the form that compilers, build systems and libraries read",
    .choices_title = "FORMAT is one of",
    .choices = choose,
    .details =
        "Without FILE the default profile, which 'run --save' keeps.\n"
        "\n"
        "Each format asks only for what it uses. What is missing or not sure enough is left out: a comment in the\n"
        "output, or standard error where the format has none, says what, why, and what to run for it. When\n"
        "nothing can be written, or with --strict when something would be left out, the reason goes to standard\n"
        "error and the exit status is 1.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 1,
    .most_operands = 2,
    .run = run,
};
