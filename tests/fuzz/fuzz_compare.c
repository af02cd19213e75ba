/* Two different profiles, one behind the other with a line of "----" between: compared both ways, as text and JSON, and
 * judged as the hosts of a fleet. */
#include "fleet/fleet.h"
#include "fuzz.h"
#include "profile/profile.h"
#include "report/compare_print.h"
#include "report/terminal_text.h"

static bool read_part(const char *text, size_t length, bj_profile *profile) {
    bj_error error = {""};
    bj_profile_init(profile);
    bj_status status = bj_profile_parse("input", text, length, profile, &error);
    if (status != BJ_OK)
        require_refusal(status, &error);
    return status == BJ_OK;
}

static void check_page(const char *page, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const unsigned char *at = (const unsigned char *)page + i;
        require((*at >= ' ' && *at != 0x7f) || *at == '\n', "no control characters on a page");
    }
}

/* Certain differences, or -1 where nothing could be compared. */
static long compare(const bj_profile *a, const bj_profile *b) {
    bj_comparison comparison;
    bj_error error = {""};
    char *text = NULL, *page = NULL;
    size_t length = 0;
    require(bj_report_compare((bj_profile_set){a, 1}, (bj_profile_set){b, 1}, NULL, &comparison, &error) == BJ_OK,
            "profiles can be compared");
    require(comparison.certain_count <= comparison.count, "what is certain is among what differs");
    FILE *out = open_memstream(&page, &length);
    require(out != NULL, "memory for a page");
    bj_report_print_comparison(out, &comparison, &(bj_terminal_style){.utf8 = true});
    fclose(out);
    check_page(page, length);
    free(page);
    require(bj_report_comparison_to_json(&comparison, &text, &error) == BJ_OK, "a comparison has a text");
    free(text);
    long certain = comparison.compared == 0 ? -1 : (long)comparison.certain_count;
    bj_report_free_comparison(&comparison);
    return certain;
}

/* One host like the second profile among six like the first. */
static void judge_fleet(const bj_profile *a, const bj_profile *b) {
    enum { HOSTS = 7 };
    bj_fleet fleet = {0};
    bj_error error = {""};
    char *text = NULL, *page = NULL, name[16];
    size_t length = 0;
    for (int i = 0; i < HOSTS; i++) {
        snprintf(name, sizeof name, "host %d", i);
        require(bj_fleet_add(&fleet, name, i == 3 ? b : a, &error) == BJ_OK, "a host is added");
    }
    require(bj_fleet_judge(&fleet, NULL, &error) == BJ_OK, "hosts are judged");
    require(fleet.odd_hosts < HOSTS, "not all hosts are unlike the others");
    FILE *out = open_memstream(&page, &length);
    require(out != NULL, "memory for a page");
    bj_fleet_print(out, &fleet);
    fclose(out);
    check_page(page, length);
    free(page);
    require(bj_fleet_to_json(&fleet, &text, &error) == BJ_OK, "a judgement has a text");
    free(text);
    bj_fleet_free(&fleet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char mark[] = "\n----\n";
    const char *text = (const char *)data, *between = memmem(text, size, mark, sizeof mark - 1);
    bj_profile a, b;
    if (between == NULL)
        return 0;
    size_t first = (size_t)(between - text), second = first + sizeof mark - 1;
    if (!read_part(text, first, &a))
        return 0;
    if (read_part(text + second, size - second, &b)) {
        long there = compare(&a, &b), back = compare(&b, &a);
        require((there > 0) == (back > 0), "what differs one way differs the other way");
        judge_fleet(&a, &b);
    }
    bj_profile_free(&a);
    bj_profile_free(&b);
    return 0;
}
