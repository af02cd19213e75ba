#include "cli/contribution_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/memory.h"
#include "cli/contribution_text.h"

static const char *const members[] = {"a",
                                      "across_ns",
                                      "after_bytes",
                                      "at_bytes",
                                      "b",
                                      "block_bytes",
                                      "bytes",
                                      "check",
                                      "children",
                                      "clock_ghz",
                                      "cpus",
                                      "curve",
                                      "difference",
                                      "distances_ns",
                                      "error",
                                      "from_bytes",
                                      "gbs",
                                      "groups",
                                      "hockney",
                                      "hosts",
                                      "inside_ns",
                                      "jump",
                                      "l1_bytes",
                                      "latency_ns",
                                      "latency_us",
                                      "levels",
                                      "limited",
                                      "name",
                                      "pair",
                                      "pairs",
                                      "pairs_measured",
                                      "pairs_possible",
                                      "range_us",
                                      "reference_gbs",
                                      "scaling",
                                      "segments",
                                      "spread_ns",
                                      "switches",
                                      "tree_like",
                                      "us",
                                      "useful_cpus",
                                      "useful_streams",
                                      NULL};

/* Kinds of hwloc's objects and of layers, without a number behind them. */
static bool is_kind(const char *text) {
    static const char *const kinds[] = {"Machine", "Package", "Die",   "Core",    "PU",     "NUMANode", "Group",
                                        "Module",  "Tile",    "L1",    "L2",      "L3",     "L4",       "L5",
                                        "host",    "network", "layer", "Cluster", "Socket", NULL};
    char kind[24] = "";
    size_t length = strcspn(text, " ");
    if (length >= sizeof kind)
        return false;
    memcpy(kind, text, length);
    return bj_cli_is_one_of(kind, kinds) && text[length + strspn(text + length, " 0123456789")] == '\0';
}

/* NULL: out of memory. Nesting is bounded by the reader of profiles. */
static json_t *copy_kept(const json_t *value, size_t *lost) {
    if (json_is_string(value) && !is_kind(json_string_value(value))) {
        (*lost)++;
        return json_null();
    }
    if (json_is_array(value)) {
        json_t *list = json_array();
        for (size_t i = 0; list != NULL && i < json_array_size(value); i++)
            if (json_array_append_new(list, copy_kept(json_array_get(value, i), lost)) != 0) {
                json_decref(list);
                list = NULL;
            }
        return list;
    }
    if (!json_is_object(value))
        return json_deep_copy(value);
    json_t *object = json_object();
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)value, name, member) {
        bool known = bj_cli_is_one_of(name, members);
        bool named = json_is_string(member) && !is_kind(json_string_value(member));
        bool is_layer = named && json_object_get(value, "latency_us") != NULL; /* of messages, which must have a name */
        if (!known || named)
            (*lost)++;
        if (!known || (named && !is_layer))
            continue;
        if (json_object_set_new(object, name, is_layer ? json_string("layer") : copy_kept(member, lost)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

bj_status bj_cli_strip_value(char **structured, size_t *lost, bj_error *error) {
    json_t *value = bj_json_load_value(*structured);
    json_t *kept = value != NULL ? copy_kept(value, lost) : NULL;
    char *text = kept != NULL ? json_dumps(kept, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    json_decref(value);
    json_decref(kept);
    if (text == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a structured answer");
    free(*structured);
    *structured = text;
    return BJ_OK;
}
