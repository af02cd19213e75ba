/* What a program recorded of its regions, of one run or of two with a line of "----" between: read, judged, printed,
 * and compared both ways. */
#include <math.h>

#include "fuzz.h"
#include "regions/regions.h"

static void print(FILE *out, const bj_regions_report *report) {
    char *text = NULL;
    bj_error error = {""};
    bj_regions_print(out, report);
    for (size_t i = 0; i < report->count && i < 4; i++)
        bj_regions_print_series(out, report, report->regions[i].name->name);
    require(bj_regions_to_json(report, NULL, NULL, 0, &text, &error) == BJ_OK, "a report has a text");
    free(text);
}

static void compare(FILE *out, const bj_regions_report *a, const bj_regions_report *b) {
    for (int basis = BJ_REGIONS_BY_CALL; basis <= BJ_REGIONS_BY_TOTAL; basis++) {
        bj_regions_loss *losses = NULL;
        bj_error error = {""};
        char *text = NULL;
        size_t count = 0;
        require(bj_regions_compare(a, b, (bj_regions_basis)basis, &losses, &count, &error) == BJ_OK, "compared");
        require(count <= a->count + b->count, "each region once");
        for (size_t i = 0; i < count; i++)
            require(!losses[i].ranked || isfinite(losses[i].ratio), "what is ranked has a ratio");
        bj_regions_print_losses(out, losses, count);
        require(bj_regions_to_json(a, b, losses, count, &text, &error) == BJ_OK, "a comparison has a text");
        free(text);
        free(losses);
    }
}

static void check_page(const char *page, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const unsigned char *at = (const unsigned char *)page + i;
        require((*at >= ' ' && *at != 0x7f) || *at == '\n', "no control characters on a page");
        require(at[0] != 0xc2 || at[1] >= 0xa0, "nor those of two bytes");
        require(at[0] != 0xe2 || at[1] != 0x80 || at[2] < 0xaa || at[2] > 0xae, "nor any that turn the direction");
    }
}

static bool read_part(const char *text, size_t length, bj_regions_file *file, bj_regions_report *report) {
    bj_error error = {""};
    bj_status status = bj_regions_parse("input", text, length, file, &error);
    if (status != BJ_OK) {
        require_refusal(status, &error);
        return false;
    }
    status = bj_regions_analyse(file, report, &error);
    if (status != BJ_OK)
        fprintf(stderr, "fuzz: %s\n", error.text);
    require(status == BJ_OK, "what is read can be judged");
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char mark[] = "\n----\n";
    const char *text = (const char *)data, *between = memmem(text, size, mark, sizeof mark - 1);
    size_t first = between != NULL ? (size_t)(between - text) : size, second = first + sizeof mark - 1, length = 0;
    bj_regions_file least, full;
    bj_regions_report least_report, full_report;
    char *page = NULL;
    if (!read_part(text, first, &least, &least_report))
        return 0;
    FILE *out = open_memstream(&page, &length);
    require(out != NULL, "memory for a page");
    print(out, &least_report);
    if (between != NULL && read_part(text + second, size - second, &full, &full_report)) {
        compare(out, &least_report, &full_report);
        compare(out, &full_report, &least_report);
        bj_regions_free_report(&full_report);
        bj_regions_free(&full);
    }
    fclose(out);
    check_page(page, length);
    free(page);
    bj_regions_free_report(&least_report);
    bj_regions_free(&least);
    return 0;
}
