#include <stdlib.h>
#include <string.h>

#include "profile/json_text.h"
#include "report/headline.h"
#include "report/page.h"

/* Outside of strings JSON has none of these characters, so they may be replaced wherever they stand. The last two are
 * ends of lines to a script, though not to JSON. */
static const struct {
    const char *bytes, *escape;
} escapes[] = {
    {"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"\xe2\x80\xa8", "\\u2028"}, {"\xe2\x80\xa9", "\\u2029"}};

enum { LONGEST_ESCAPE = 6 };

static size_t escape_at(const char *at, const char **escape) {
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++) {
        size_t length = strlen(escapes[i].bytes);
        if (strncmp(at, escapes[i].bytes, length) == 0) {
            *escape = escapes[i].escape;
            return length;
        }
    }
    return 0;
}

/* The page in one piece; `data` is NUL-terminated. */
static bj_status join(const bj_page_shell *shell, const char *data, size_t data_length, char **text, size_t *length,
                      bj_error *error) {
    char *page = malloc(shell->head_length + LONGEST_ESCAPE * data_length + shell->tail_length + 1);
    if (page == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "out of memory");
    char *end = page;
    memcpy(end, shell->head, shell->head_length);
    end += shell->head_length;
    for (const char *at = data; *at != '\0';) {
        const char *escape = NULL;
        size_t taken = escape_at(at, &escape);
        if (taken > 0) {
            memcpy(end, escape, LONGEST_ESCAPE);
            end += LONGEST_ESCAPE;
            at += taken;
        } else {
            *end++ = *at++;
        }
    }
    memcpy(end, shell->tail, shell->tail_length);
    end += shell->tail_length;
    *end = '\0';
    *text = page;
    *length = (size_t)(end - page);
    return BJ_OK;
}

static void append_headline(bj_json_text *json, const bj_profile *profile) {
    bj_headline headline;
    bj_report_make_headline(profile, &headline);
    bj_json_append_key(json, "headline");
    bj_json_append(json, "[");
    for (size_t i = 0; i < headline.count; i++) {
        bj_json_append(json, i > 0 ? "," : "");
        bj_json_append_string(json, headline.lines[i]);
    }
    bj_json_append(json, "]");
}

static void append_files(bj_json_text *json, const bj_page_content *content) {
    bj_json_append_key(json, "files");
    bj_json_append(json, "[");
    for (size_t i = 0; i < content->file_count; i++) {
        const bj_document *file = &content->files[i];
        bj_json_append(json, i > 0 ? ",{" : "{");
        bj_json_append_text_member(json, "name", file->name);
        if (file->is_profile)
            append_headline(json, &file->profile);
        bj_json_append_key(json, "content");
        bj_json_append(json, file->json);
        bj_json_append(json, "}");
    }
    bj_json_append(json, "]");
}

static void append_probes(bj_json_text *json, const bj_page_content *content) {
    bj_json_append_key(json, "probes");
    bj_json_append(json, "[");
    for (size_t i = 0; i < content->probe_count; i++) {
        bj_json_append(json, i > 0 ? ",{" : "{");
        bj_json_append_text_member(json, "name", content->probes[i].name);
        bj_json_append_text_member(json, "question", content->probes[i].question);
        bj_json_append(json, "}");
    }
    bj_json_append(json, "]");
}

bj_status bj_report_make_web_page(const bj_page_content *content, char **text, size_t *length, bj_error *error) {
    bj_json_text json = {0};
    char *data = NULL;
    size_t data_length = 0;
    if (content->shell->head_length == 0 || content->shell->tail_length == 0)
        return bj_base_set_error(
            error, BJ_ERR_FAILED,
            "this program was built without the report page, which takes node, npm and the packages of "
            "web/package.json at build time; 'blackjack show' needs none of them");
    bj_json_append(&json, "{");
    bj_json_append_text_member(&json, "version", content->version);
    append_probes(&json, content);
    append_files(&json, content);
    bj_json_append(&json, "}");
    BJ_TRY(bj_json_finish(&json, &data, &data_length, error));
    bj_status status = join(content->shell, data, data_length, text, length, error);
    free(data);
    return status;
}
