/* Profiles: whatever is read can be written, read again as the same, shown, emitted, compared, contributed, and
 * analysed anew. */
#include "cli/contribution.h"
#include "emit/emit.h"
#include "fuzz.h"
#include "fuzz_text.h"
#include "profile/profile.h"
#include "report/answer_table.h"
#include "report/compare_print.h"
#include "report/curve_text.h"
#include "report/machine_table.h"
#include "report/plot.h"
#include "report/terminal.h"
#include "runner/keys.h"
#include "runner/runner.h"

/* The analysis resamples, so its time is that of hundreds of curves. */
enum { MOST_POINTS = 24, MOST_ROUNDS = 4 };

static void check_round_trip(const char *text, size_t length) {
    bj_profile profile;
    bj_error error = {""};
    size_t again_length = 0;
    bj_profile_init(&profile);
    bj_status status = bj_profile_parse("input", text, length, &profile, &error);
    if (status != BJ_OK)
        fprintf(stderr, "fuzz: %s\n", error.text);
    require(status == BJ_OK, "what is written can be read");
    char *again = write_text(&profile, &again_length);
    require(again_length == length && memcmp(text, again, length) == 0, "a profile is written as it was read");
    free(again);
    bj_profile_free(&profile);
}

static void show(const bj_profile *profile) {
    char *page = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&page, &length);
    require(out != NULL, "memory for a page");
    for (int utf8 = 0; utf8 < 2; utf8++) {
        const bj_terminal_style style = {.colour = false, .utf8 = utf8 != 0};
        bj_report_print_page(out, profile, &style, &(bj_page_request){0});
        bj_error error;
        for (size_t i = 0; i < profile->curves.count && i < 8; i++) {
            (void)!bj_report_plot(out, profile, profile->curves.items[i].id, &style, &error);
            (void)!bj_report_plot(out, profile, profile->curves.items[i].probe, &style, &error);
            require(bj_report_print_curve(out, profile, &profile->curves.items[i], &style, &error) == BJ_OK, "a curve");
            bj_report_write_samples(out, &profile->curves.items[i], utf8 != 0);
        }
        require(bj_report_list_curves(out, &profile->curves, &style, &error) == BJ_OK, "a list of curves");
        for (int format = BJ_TABLE_TEXT; format <= BJ_TABLE_CSV; format++)
            require(bj_report_write_answer_table(out, &profile->answers, NULL, (bj_table_format)format, &style,
                                                 &error) == BJ_OK,
                    "a table");
        const char *const names[] = {"a", "b"}, *const keys[] = {"*"};
        const bj_profile both[] = {*profile, *profile};
        const bj_machine_table machines = {both, names, 2, keys, profile->answers.count > 0};
        for (int format = BJ_TABLE_TEXT; format <= BJ_TABLE_CSV; format++)
            require(bj_report_write_machine_table(out, &machines, (bj_table_format)format, &style, &error) == BJ_OK ||
                        profile->answers.count == 0,
                    "machines beside each other");
    }
    fclose(out);
    for (size_t i = 0; i < length; i++) {
        const unsigned char *at = (const unsigned char *)page + i;
        require((*at >= ' ' && *at != 0x7f) || *at == '\n', "no control characters on a page");
        require(at[0] != 0xc2 || at[1] >= 0xa0, "nor those of two bytes");
    }
    free(page);
}

static void get_fields(const bj_profile *profile) {
    static const char *const fields[] = {"value",  "unit",   "interval", "confidence", "p",       "status",
                                         "reason", "method", "claimed",  "evidence",   "nonsense"};
    for (size_t i = 0; i < profile->answers.count; i++) {
        for (size_t j = 0; j < sizeof fields / sizeof fields[0]; j++) {
            char *text = NULL;
            bj_error error = {""};
            if (bj_profile_field_to_text(&profile->answers.items[i], fields[j], &text, &error) != BJ_OK)
                require(text == NULL && error.text[0] != '\0', "a field or a reason");
            free(text);
        }
    }
}

/* Every format writes or says why not; half a text would be neither. */
static void emit_all(const bj_profile *profile) {
    for (size_t i = 0; i < 2 * bj_emitter_count; i++) {
        bj_emit_notes notes = {0};
        bj_emit_request request = {.emitter = bj_emitters[i / 2], .profile = profile, .notes = &notes};
        request.options = (bj_emit_options){.least_confidence = BJ_CONFIDENCE_LOW,
                                            .allow_claimed = i % 2 == 1,
                                            .order = i % 2 == 1 ? BJ_ORDER_SPREAD : BJ_ORDER_NEAR,
                                            .host = "host",
                                            .type = "double",
                                            .vector_bytes = 32};
        bj_error error = {""};
        char *text = NULL;
        size_t length = 0;
        if (bj_emit_to_text(&request, &text, &length, &error) == BJ_OK)
            require(text != NULL && strlen(text) == length, "a text without zeros");
        else
            require(text == NULL && error.text[0] != '\0', "a text or a reason");
        bj_emit_free_notes(&notes);
        free(text);
    }
}

static void compare_with_itself(const bj_profile *profile) {
    bj_comparison comparison;
    bj_error error = {""};
    char *text = NULL;
    bj_profile_set set = {profile, 1};
    require(bj_report_compare(set, set, NULL, &comparison, &error) == BJ_OK, "profiles can be compared");
    require(comparison.count == 0, "a profile does not differ from itself");
    require(bj_report_comparison_to_json(&comparison, &text, &error) == BJ_OK, "a comparison has a text");
    free(text);
    bj_report_free_comparison(&comparison);
}

/* Of what was read from that text; NULL: it is not to be contributed. */
static char *contribute(const char *text, size_t length, size_t *stripped_length) {
    bj_profile profile;
    bj_strings removed = {0};
    bj_error error = {""};
    char *stripped = NULL;
    bj_profile_init(&profile);
    require(bj_profile_parse("input", text, length, &profile, &error) == BJ_OK, "what was read can be read");
    bj_status status = bj_cli_strip_profile(&profile, &removed, &error);
    if (status == BJ_OK)
        stripped = write_text(&profile, stripped_length);
    else
        require((status == BJ_ERR_USAGE || status == BJ_ERR_INPUT) && error.text[0] != '\0', "a profile or a reason");
    bj_strings_free(&removed);
    bj_profile_free(&profile);
    return stripped;
}

/* What is left after one time has nothing more that would go. */
static void check_contribution(const char *text, size_t length) {
    size_t once_length = 0, twice_length = 0;
    char *once = contribute(text, length, &once_length);
    if (once == NULL)
        return;
    check_round_trip(once, once_length);
    char *twice = contribute(once, once_length, &twice_length);
    require(twice != NULL && once_length == twice_length && memcmp(once, twice, once_length) == 0,
            "a contribution is contributed as it is");
    free(once);
    free(twice);
}

static bool is_cheap(const bj_profile *profile) {
    for (size_t i = 0; i < profile->curves.count; i++)
        if (profile->curves.items[i].x_count > MOST_POINTS || profile->curves.items[i].round_count > MOST_ROUNDS)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bj_profile profile;
    bj_error error = {""};
    bj_profile_init(&profile);
    bj_status status = bj_profile_parse("input", (const char *)data, size, &profile, &error);
    if (status != BJ_OK) {
        require_refusal(status, &error);
        require(profile.answers.count == 0 && profile.curves.count == 0, "a profile is read whole or not at all");
        return 0;
    }
    bj_profile quick;
    bj_profile_init(&quick);
    require(bj_profile_parse_answers("input", (const char *)data, size, &quick, &error) == BJ_OK &&
                quick.answers.count == profile.answers.count && quick.probe_count == profile.probe_count,
            "the answers are the same without the samples");
    bj_profile_free(&quick);
    size_t length = 0;
    char *text = write_text(&profile, &length);
    check_round_trip(text, length);
    check_contribution(text, length);
    free(text);
    show(&profile);
    get_fields(&profile);
    emit_all(&profile);
    compare_with_itself(&profile);
    if (is_cheap(&profile) && takes_its_time(data, size)) {
        status = bj_runner_reanalyse(&profile, &error);
        if (status != BJ_OK)
            fprintf(stderr, "fuzz: %s\n", error.text);
        require(status == BJ_OK, "odd samples give odd answers, no failure of the whole");
        text = write_text(&profile, &length);
        check_round_trip(text, length);
        free(text);
    }
    bj_profile_free(&profile);
    return 0;
}
