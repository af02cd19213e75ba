#include "cli/tune_output.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/style.h"
#include "report/terminal_text.h"

static const char *const own_names[BJ_TUNE_PEERS] = {"general", "fixed", "2012", "plain"};

static const char *name_column(const bj_cli_tuning *tuning, size_t k) {
    return k < BJ_TUNE_PEERS ? own_names[k] : tuning->peers[k - BJ_TUNE_PEERS];
}

static json_t *number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *make_block(const bj_tune_block *block) {
    return json_pack("[i, i, i]", (int)block->m, (int)block->n, (int)block->k);
}

static json_t *make_model(const bj_tune_model *model) {
    json_t *object = json_object(), *reasons = json_array();
    const struct {
        const char *name;
        size_t value;
    } fields[] = {{"mr", model->mr},
                  {"nr", model->nr},
                  {"kr", model->kr},
                  {"block", model->block},
                  {"kc", model->kc},
                  {"mc", model->mc},
                  {"pack_from", model->pack_from},
                  {"prefetch_bytes", model->prefetch_bytes},
                  {"block_2012", model->block_2012}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        json_object_set_new(object, fields[i].name, json_integer((json_int_t)fields[i].value));
    json_object_set_new(object, "registers_2012", make_block(&model->registers_2012));
    json_object_set_new(object, "practical_2012", make_block(&model->practical_2012));
    json_object_set_new(object, "cache_2012", make_block(&model->cache_2012));
    for (size_t i = 0; i < model->reason_count; i++)
        json_array_append_new(reasons, json_string(model->reasons[i]));
    json_object_set_new(object, "reasoning", reasons);
    return object;
}

/* `gflops` is of the kernel for that one size, warm; everything else is under its name. */
static json_t *make_result(const bj_cli_tuning *tuning, const bj_tune_result *result) {
    static const char *const names[BJ_TUNE_CONTEXTS][2] = {{"own", "against"}, {"own_cold", "against_cold"}};
    json_t *object = json_object();
    json_object_set_new(object, "n", json_integer((json_int_t)result->n));
    json_object_set_new(object, "gflops", number(result->gflops[BJ_TUNE_WARM][BJ_TUNE_FIXED]));
    for (size_t c = 0; c < BJ_TUNE_CONTEXTS; c++) {
        json_t *own = json_object(), *others = json_object();
        for (size_t k = 0; k < BJ_TUNE_PEERS + tuning->peer_count; k++)
            json_object_set_new(k < BJ_TUNE_PEERS ? own : others, name_column(tuning, k), number(result->gflops[c][k]));
        json_object_set_new(object, names[c][0], own);
        json_object_set_new(object, names[c][1], others);
    }
    return object;
}

static size_t find_knee(const bj_cli_tuning *tuning) {
    return bj_tune_find_knee(tuning->points, tuning->point_count, tuning->job.model.block_2012);
}

static json_t *make_figure(const bj_cli_tuning *tuning) {
    json_t *object = json_object(), *points = json_array();
    size_t knee = find_knee(tuning);
    for (size_t i = 0; i < tuning->point_count; i++) {
        json_t *point = json_object();
        json_object_set_new(point, "n", json_integer((json_int_t)tuning->points[i].n));
        json_object_set_new(point, "gflops", number(tuning->points[i].gflops));
        json_array_append_new(points, point);
    }
    json_object_set_new(object, "model_size", json_integer((json_int_t)tuning->job.model.block_2012));
    json_object_set_new(object, "knee", knee > 0 ? json_integer((json_int_t)knee) : json_null());
    json_object_set_new(object, "points", points);
    return object;
}

static void print_figure(const bj_cli_tuning *tuning) {
    size_t knee = find_knee(tuning);
    puts("\nThe kernel of 2012, unpacked and blocked for registers alone, over n");
    puts("(figure 12), warm, Gflop/s");
    for (size_t i = 0; i < tuning->point_count; i++)
        printf("%6zu %9.2f%s\n", tuning->points[i].n, tuning->points[i].gflops,
               tuning->points[i].n == tuning->job.model.block_2012 ? "  the model's size"
               : knee > 0 && tuning->points[i].n == knee           ? "  knee"
                                                                   : "");
    if (knee > 0)
        printf("Speed falls for good beyond n = %zu; the model's size is %zu.\n", knee, tuning->job.model.block_2012);
    else
        printf("The model's size is %zu, but speed does not fall for good: the next cache keeps\n"
               "up with this kernel.\n",
               tuning->job.model.block_2012);
}

static bj_status print_json(const bj_cli_tuning *tuning, bj_error *error) {
    json_t *root = json_object(), *inputs = json_object(), *results = json_array();
    json_object_set_new(root, "format", json_string("blackjack-tuning/1"));
    json_object_set_new(root, "operation", json_string(tuning->job.name));
    json_object_set_new(root, "type", json_string(bj_tune_name_type(tuning->job.machine.type)));
    json_object_set_new(root, "compiler", json_string(tuning->compiler));
    for (size_t i = 0; i < tuning->inputs.count; i++)
        json_object_set_new(inputs, tuning->inputs.items[i].key, json_real(tuning->inputs.items[i].value));
    json_object_set_new(root, "inputs", inputs);
    json_object_set_new(root, "model", make_model(&tuning->job.model));
    for (size_t i = 0; i < tuning->result_count; i++)
        json_array_append_new(results, make_result(tuning, &tuning->results[i]));
    json_object_set_new(root, "results", results);
    json_object_set_new(root, "figure_12", make_figure(tuning));
    if (tuning->search != NULL)
        json_object_set_new(root, "search", bj_cli_make_search(tuning));
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(root);
    if (text == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the results");
    puts(text);
    free(text);
    return BJ_OK;
}

/* Columns from `first` to before `end`. */
static void print_columns(const bj_cli_tuning *tuning, size_t context, size_t first, size_t end) {
    printf("     n");
    for (size_t k = first; k < end; k++)
        printf(" %8.8s", name_column(tuning, k));
    putchar('\n');
    for (size_t i = 0; i < tuning->result_count; i++) {
        printf("%6zu", tuning->results[i].n);
        for (size_t k = first; k < end; k++)
            if (isfinite(tuning->results[i].gflops[context][k]))
                printf(" %8.2f", tuning->results[i].gflops[context][k]);
            else
                printf(" %8s", "-");
        putchar('\n');
    }
}

/* As many columns side by side as 80 of the terminal hold, which are all but with libraries of --against. */
static void print_table(const bj_cli_tuning *tuning, size_t context, const char *title) {
    enum { SIDE_BY_SIDE = 8 };
    size_t count = BJ_TUNE_PEERS + tuning->peer_count;
    printf("\n%s, Gflop/s\n", title);
    for (size_t first = 0; first < count; first += SIDE_BY_SIDE)
        print_columns(tuning, context, first, first + SIDE_BY_SIDE < count ? first + SIDE_BY_SIDE : count);
}

bj_status bj_cli_print_tuning(const bj_cli_tuning *tuning, bool json, bj_error *error) {
    const bj_tune_model *model = &tuning->job.model;
    if (json)
        return print_json(tuning, error);
    printf("%s in %s: tile %u x %u, %u steps of k, blocks kc %zu, mc %zu; verified\n", tuning->job.name,
           bj_tune_name_type(tuning->job.machine.type), model->mr, model->nr, model->kr, model->kc, model->mc);
    bj_terminal_style style = bj_cli_find_style();
    for (size_t i = 0; i < model->reason_count; i++) {
        fputs("  ", stdout);
        bj_report_print_wrapped(stdout, &style, BJ_INK_PLAIN, model->reasons[i], 4, 2);
    }
    print_table(tuning, BJ_TUNE_WARM, "Warm");
    print_table(tuning, BJ_TUNE_COLD, "Cold");
    print_figure(tuning);
    if (tuning->search != NULL)
        bj_cli_print_search(tuning);
    return BJ_OK;
}
