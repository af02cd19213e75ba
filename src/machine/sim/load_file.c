#include "machine/sim/load_file.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/json_read.h"

#define FIELD_COUNT(fields) (sizeof(fields) / sizeof(fields)[0])

enum { MAX_FILE_BYTES = 1 << 16 };
static const bj_json_size most = {8, 64, 256, 256};
/* A unit of work is not a whole program: an hour, a terabyte and a thousand million accesses are beyond any. */
static const double MOST_NS = 3.6e12, MOST_BYTES = 0x1p40, MOST_ACCESSES = 1e9;

static bj_status read_load(const bj_json_place *at, json_t *root, bj_sim_load *load) {
    static const char *const formats[] = {"blackjack-load/1", NULL};
    int format = 0;
    json_t *reuse = NULL, *stream = NULL;
    const bj_json_field fields[] = {
        {.name = "format", .kind = BJ_JSON_CHOICE, .target = &format, .choices = formats, .required = true},
        {.name = "name", .kind = BJ_JSON_TEXT, .target = load->name, .room = sizeof load->name, .required = true},
        {.name = "summary", .kind = BJ_JSON_TEXT, .target = load->summary, .room = sizeof load->summary},
        {"compute_ns", BJ_JSON_NUMBER, &load->compute_ns, 0, MOST_NS, NULL, 0, false},
        {"units", BJ_JSON_NUMBER, &load->units, 1, MOST_ACCESSES, NULL, 0, false},
        {"threads", BJ_JSON_COUNT, &load->threads, 1, 4096, NULL, 0, false},
        {"reuse", BJ_JSON_ANY, &reuse, 0, 0, NULL, 0, false},
        {"stream", BJ_JSON_ANY, &stream, 0, 0, NULL, 0, false},
    };
    const bj_json_field reuse_fields[] = {
        {"bytes", BJ_JSON_COUNT, &load->reuse.bytes, 64, MOST_BYTES, NULL, 0, true},
        {"accesses", BJ_JSON_COUNT, &load->reuse.accesses, 1, MOST_ACCESSES, NULL, 0, true},
    };
    const bj_json_field stream_fields[] = {
        {"arrays", BJ_JSON_COUNT, &load->stream.arrays, 1, 65536, NULL, 0, false},
        {"bytes", BJ_JSON_COUNT, &load->stream.bytes, 64, MOST_BYTES, NULL, 0, true},
    };
    BJ_TRY(bj_json_read_fields(at, root, fields, FIELD_COUNT(fields)));
    bj_json_place inner = bj_json_enter(at, "reuse");
    BJ_TRY(bj_json_read_fields(&inner, reuse, reuse_fields, FIELD_COUNT(reuse_fields)));
    inner = bj_json_enter(at, "stream");
    BJ_TRY(bj_json_read_fields(&inner, stream, stream_fields, FIELD_COUNT(stream_fields)));
    if (load->compute_ns <= 0 && load->reuse.accesses == 0 && load->stream.bytes == 0)
        return bj_json_expected(at, NULL, "a load that does something: compute_ns, reuse or stream");
    return BJ_OK;
}

bj_status bj_sim_parse_load(const char *name, const char *text, size_t length, bj_sim_load *load, bj_error *error) {
    bj_json_place at = {.file = name, .error = error};
    json_t *root = NULL;
    *load = (bj_sim_load){.threads = 1, .stream = {.arrays = 1}};
    BJ_TRY(bj_json_parse(&at, "a load", text, length, &most, &root));
    bj_status status = read_load(&at, root, load);
    json_decref(root);
    return status;
}

bj_status bj_sim_read_load(const char *path, bj_sim_load *load, bj_error *error) {
    char *text = NULL;
    size_t length = 0;
    BJ_TRY(bj_base_read_file(path, MAX_FILE_BYTES, &text, &length, error));
    bj_status status = bj_sim_parse_load(path, text, length, load, error);
    free(text);
    return status;
}
