/* The file that bj_lib_write_regions() writes, which may come from anywhere. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_read.h"
#include "base/text.h"
#include "regions/regions.h"

/* A record takes some 10 kB: a thousand threads with two dozen regions each. */
#define MOST_BYTES ((size_t)1 << 28)
/* Of the shortest that may be, a second's work for each fifty thousand. */
#define MOST_RECORDS 200000u
#define MOST_BINS 4096u
#define MOST_NAMES 256u /* that the recorder gives */
/* Counts beyond 2^53 are not exact as doubles, and no counter gets there in a year. */
#define MOST_COUNT 9007199254740992.0

typedef struct {
    bj_regions_file *file;
    bj_regions_record *record;
} reading;

static bj_status read_numbers(const bj_json_place *at, json_t *list, size_t count, double *numbers) {
    if (!json_is_array(list) || json_array_size(list) != count)
        return bj_json_expected(at, NULL, "a list of %zu numbers", count);
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(list, i);
        numbers[i] = json_is_number(item) ? json_number_value(item) : -1;
        if (!(numbers[i] >= 0 && numbers[i] <= MOST_COUNT))
            return bj_json_expected(at, NULL, "numbers from 0 to 2^53");
    }
    return BJ_OK;
}

static bj_status read_length(const bj_json_place *at, json_t *item, size_t index, void *target) {
    const reading *here = target;
    double numbers[3];
    (void)index;
    BJ_TRY(read_numbers(at, item, 3, numbers));
    if (numbers[0] >= BJ_REGIONS_LENGTHS || numbers[0] != (double)(size_t)numbers[0])
        return bj_json_expected(at, NULL, "a logarithm from 0 to %u first", BJ_REGIONS_LENGTHS - 1);
    here->record->calls[(size_t)numbers[0]] += numbers[1];
    here->record->ns[(size_t)numbers[0]] += numbers[2] * here->file->tick_ns;
    return BJ_OK;
}

static bj_status read_bin(const bj_json_place *at, json_t *item, size_t index, void *target) {
    const reading *here = target;
    double numbers[6], tick_ns = here->file->tick_ns;
    BJ_TRY(read_numbers(at, item, 6, numbers));
    bj_regions_bin bin = {numbers[0] * tick_ns, numbers[1],           numbers[2] * tick_ns,
                          numbers[3],           numbers[4] * tick_ns, numbers[5] * tick_ns};
    if (bin.calls < 1 || bin.periods < 1 || bin.least_ns > bin.most_ns)
        return bj_json_expected(at, NULL, "[end, calls, ticks, periods, least, most]");
    if (index > 0 && bin.end_ns < here->record->series[index - 1].end_ns)
        return bj_json_expected(at, NULL, "bins in order of time");
    here->record->series[index] = bin;
    return BJ_OK;
}

static bj_status read_record(const bj_json_place *at, json_t *item, size_t index, void *target) {
    bj_regions_file *file = target;
    bj_regions_record *record = &file->records[index];
    uint64_t region = 0, process = 0, thread = 0, first = 0, open = 0, unopened = 0, backwards = 0, library = 0;
    json_t *lengths = NULL, *series = NULL;
    const bj_json_field fields[] = {
        {.name = "region",
         .kind = BJ_JSON_COUNT,
         .target = &region,
         .highest = (double)file->name_count - 1,
         .required = true},
        {.name = "process", .kind = BJ_JSON_COUNT, .target = &process, .highest = MOST_COUNT},
        {.name = "thread", .kind = BJ_JSON_COUNT, .target = &thread, .highest = MOST_COUNT, .required = true},
        {.name = "first", .kind = BJ_JSON_COUNT, .target = &first, .highest = MOST_COUNT, .required = true},
        {.name = "open", .kind = BJ_JSON_COUNT, .target = &open, .highest = 1},
        {.name = "unopened", .kind = BJ_JSON_COUNT, .target = &unopened, .highest = MOST_COUNT},
        {.name = "backwards", .kind = BJ_JSON_COUNT, .target = &backwards, .highest = MOST_COUNT},
        {.name = "library_ticks", .kind = BJ_JSON_COUNT, .target = &library, .highest = MOST_COUNT},
        {.name = "lengths", .kind = BJ_JSON_ANY, .target = &lengths, .required = true},
        {.name = "series", .kind = BJ_JSON_ANY, .target = &series, .required = true},
    };
    BJ_TRY(bj_json_read_fields(at, item, fields, sizeof fields / sizeof fields[0]));
    /* Two threads that named it at once may have given it two numbers. */
    while (strcmp(file->names[record->region].name, file->names[region].name) != 0)
        record->region++;
    record->process = (size_t)process;
    record->thread = (size_t)thread;
    record->first_ns = (double)first * file->tick_ns;
    record->library_ns = (double)library * file->tick_ns;
    record->open = open != 0;
    record->unopened = (double)unopened;
    record->backwards = (double)backwards;
    bj_json_place inside = bj_json_enter(at, "series");
    size_t count = json_array_size(series);
    if (count > MOST_BINS)
        return bj_json_expected(&inside, NULL, "at most %u bins", MOST_BINS);
    record->series = calloc(count + 1, sizeof *record->series);
    if (record->series == NULL)
        return bj_base_set_error(at->error, BJ_ERR_RESOURCE, "no memory for %zu bins", count);
    record->series_count = count;
    reading here = {file, record};
    BJ_TRY(bj_json_read_items(&inside, series, 0, MOST_BINS, read_bin, &here));
    inside = bj_json_enter(at, "lengths");
    return bj_json_read_items(&inside, lengths, 0, BJ_REGIONS_LENGTHS, read_length, &here);
}

static bj_status read_name(const bj_json_place *at, json_t *item, size_t index, void *target) {
    bj_regions_file *file = target;
    bj_regions_name *name = &file->names[index];
    BJ_TRY(bj_json_check_object(at, item));
    BJ_TRY(bj_json_require_text(at, item, "name", BJ_TEXT_WHOLE, name->name, sizeof name->name));
    bj_base_hide_controls(name->name);
    BJ_TRY(bj_json_read_number(at, item, "flops", false, &name->flops, NULL));
    BJ_TRY(bj_json_read_number(at, item, "bytes", false, &name->bytes, NULL));
    return bj_json_read_number(at, item, "loads", false, &name->loads, NULL);
}

static bj_status read_counter(const bj_json_place *at, json_t *object, bj_regions_file *file) {
    double ticks = 0, ns = 0;
    BJ_TRY(bj_json_check_object(at, object));
    BJ_TRY(bj_json_require_text(at, object, "name", BJ_TEXT_CUT, file->counter, sizeof file->counter));
    bj_base_hide_controls(file->counter);
    BJ_TRY(bj_json_read_number(at, object, "ticks", false, &ticks, NULL));
    BJ_TRY(bj_json_read_number(at, object, "ns", false, &ns, NULL));
    if (!(ticks > 0) || !(ns > 0))
        return bj_json_expected(at, NULL, "ticks and ns above 0");
    file->duration_ns = ns;
    file->tick_ns = ns / ticks;
    return BJ_OK;
}

static bj_status read_costs(const bj_json_place *at, json_t *object, bj_regions_file *file) {
    double reads = 0, read_ticks = 0, pairs = 0, pair_ticks = 0, empty_ticks = 0;
    BJ_TRY(bj_json_check_object(at, object));
    BJ_TRY(bj_json_read_number(at, object, "reads", false, &reads, NULL));
    BJ_TRY(bj_json_read_number(at, object, "read_ticks", false, &read_ticks, NULL));
    BJ_TRY(bj_json_read_number(at, object, "pairs", false, &pairs, NULL));
    BJ_TRY(bj_json_read_number(at, object, "pair_ticks", false, &pair_ticks, NULL));
    BJ_TRY(bj_json_read_number(at, object, "empty_ticks", false, &empty_ticks, NULL));
    if (!(reads > 0) || !(pairs > 0) || read_ticks < 0 || pair_ticks < 0 || empty_ticks < 0)
        return bj_json_expected(at, NULL, "reads and pairs above 0, and their ticks");
    file->read_ns = read_ticks / reads * file->tick_ns;
    file->pair_ns = pair_ticks / pairs * file->tick_ns;
    file->empty_ns = empty_ticks * file->tick_ns;
    return BJ_OK;
}

static bj_status read_lists(const bj_json_place *at, const json_t *root, bj_regions_file *file) {
    json_t *names = json_object_get(root, "regions"), *records = json_object_get(root, "records");
    if (!json_is_array(names))
        return bj_json_expected(at, "regions", "a list");
    if (!json_is_array(records))
        return bj_json_expected(at, "records", "a list");
    file->name_count = json_array_size(names);
    file->record_count = json_array_size(records);
    if (file->name_count > MOST_NAMES)
        return bj_json_expected(at, "regions", "at most %u", MOST_NAMES);
    if (file->record_count > MOST_RECORDS)
        return bj_json_expected(at, "records", "at most %u", MOST_RECORDS);
    file->names = calloc(file->name_count + 1, sizeof *file->names);
    file->records = calloc(file->record_count + 1, sizeof *file->records);
    if (file->names == NULL || file->records == NULL)
        return bj_base_set_error(at->error, BJ_ERR_RESOURCE, "no memory for %zu records", file->record_count);
    bj_json_place inside = bj_json_enter(at, "regions");
    BJ_TRY(bj_json_read_items(&inside, names, 0, MOST_NAMES, read_name, file));
    inside = bj_json_enter(at, "records");
    return bj_json_read_items(&inside, records, 0, MOST_RECORDS, read_record, file);
}

static bj_status read_root(const bj_json_place *at, const json_t *root, bj_regions_file *file) {
    char format[40] = "";
    double period_ticks = 0;
    BJ_TRY(bj_json_check_object(at, root));
    BJ_TRY(bj_json_require_text(at, root, "format", BJ_TEXT_CUT, format, sizeof format));
    if (strcmp(format, "blackjack-regions/1") != 0)
        return bj_json_expected(at, "format", "'blackjack-regions/1'");
    bj_json_place inside = bj_json_enter(at, "counter");
    BJ_TRY(read_counter(&inside, json_object_get(root, "counter"), file));
    inside = bj_json_enter(at, "costs");
    BJ_TRY(read_costs(&inside, json_object_get(root, "costs"), file));
    BJ_TRY(bj_json_read_number(at, root, "period_ticks", false, &period_ticks, NULL));
    file->period_ns = period_ticks * file->tick_ns;
    BJ_TRY(bj_json_read_number(at, root, "threads", false, &file->threads, NULL));
    BJ_TRY(bj_json_read_number(at, root, "refused", false, &file->refused, NULL));
    return read_lists(at, root, file);
}

bj_status bj_regions_parse(const char *name, const char *text, size_t length, bj_regions_file *file, bj_error *error) {
    static const bj_json_size most = {.depth = 8, .containers = 10000000, .members = 4000000, .values = 40000000};
    bj_json_place at = {.file = name, .error = error};
    json_t *root = NULL;
    *file = (bj_regions_file){0};
    BJ_TRY(bj_json_parse(&at, "regions", text, length, &most, &root));
    bj_status status = read_root(&at, root, file);
    json_decref(root);
    if (status != BJ_OK)
        bj_regions_free(file);
    return status;
}

bj_status bj_regions_read(const char *path, bj_regions_file *file, bj_error *error) {
    char *text = NULL;
    size_t length = 0;
    *file = (bj_regions_file){0};
    BJ_TRY(bj_base_read_file(path, MOST_BYTES, &text, &length, error));
    bj_status status = bj_regions_parse(path, text, length, file, error);
    free(text);
    return status;
}

void bj_regions_free(bj_regions_file *file) {
    for (size_t i = 0; i < file->record_count && file->records != NULL; i++)
        free(file->records[i].series);
    free(file->records);
    free(file->names);
    *file = (bj_regions_file){0};
}
