#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_read.h"
#include "profile/document.h"
#include "profile/json_text.h"
#include "profile/places.h"

/* As many as a fleet of thousands of hosts or a long sweep of a kernel needs, and no more than some 100 MB in memory.
 */
static const bj_json_size most = {.depth = 32, .containers = 400000, .members = 800000, .values = 1000000};

static const char *const other_formats[] = {"blackjack-timings/1", "blackjack-tuning/1", "blackjack-diagnosis/1",
                                            "blackjack-fleet/1"};

static bool is_other_format(const char *format) {
    for (size_t i = 0; i < sizeof other_formats / sizeof other_formats[0]; i++)
        if (format != NULL && strcmp(format, other_formats[i]) == 0)
            return true;
    return false;
}

/* Reads the text once to find out which of the formats it is; *known: not a profile, and *json is its text anew. */
static bj_status read_other(const char *path, const char *text, size_t length, bool *known, bj_document *document,
                            bj_error *error) {
    bj_json_place at = {.file = path, .error = error};
    json_t *root = NULL;
    BJ_TRY(bj_json_parse(&at, "a file of blackjack", text, length, &most, &root));
    bj_status status = BJ_OK;
    *known = json_is_object(root) && is_other_format(json_string_value(json_object_get(root, "format")));
    if (*known) {
        bj_json_text json = {0};
        bj_json_append_value(&json, root);
        status = bj_json_finish(&json, &document->json, &document->length, error);
    }
    json_decref(root);
    return status;
}

static bool claims_to_be_profile(const char *text) {
    return strstr(text, "\"" BJ_PROFILE_FORMAT "\"") != NULL;
}

static bj_status read_text(const char *path, const char *text, size_t length, bj_document *document, bj_error *error) {
    bool known = false;
    /* A profile has limits and messages of its own. */
    if (!claims_to_be_profile(text))
        BJ_TRY(read_other(path, text, length, &known, document, error));
    if (known)
        return BJ_OK;
    BJ_TRY(bj_profile_parse(path, text, length, &document->profile, error));
    document->is_profile = true;
    return bj_profile_to_json(&document->profile, &document->json, &document->length, error);
}

bj_status bj_profile_read_document(const char *path, bj_document *document, bj_error *error) {
    char *found = NULL, *text = NULL;
    size_t length = 0;
    *document = (bj_document){0};
    bj_profile_init(&document->profile);
    if (path == NULL) {
        BJ_TRY(bj_profile_find_default(&found, error));
        path = found;
    }
    bool standard_input = strcmp(path, "-") == 0;
    const char *file = standard_input ? "/dev/stdin" : path, *slash = strrchr(path, '/');
    bj_status status = bj_base_read_file(file, BJ_PROFILE_MAX_BYTES, &text, &length, error);
    if (status == BJ_OK)
        status = read_text(standard_input ? "standard input" : path, text, length, document, error);
    if (status == BJ_OK) {
        document->name = strdup(standard_input ? "standard input" : slash != NULL ? slash + 1 : path);
        if (document->name == NULL)
            status = bj_base_set_error(error, BJ_ERR_RESOURCE, "out of memory");
    }
    free(text);
    free(found);
    return status;
}

void bj_profile_free_document(bj_document *document) {
    bj_profile_free(&document->profile);
    free(document->name);
    free(document->json);
    document->name = document->json = NULL;
}
