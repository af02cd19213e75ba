/* What `time` is asked for, one option a line ("operand=x:8*n:in", "sweep=N=1..100"): what is accepted can be planned
 * for all its sizes, and the plan touches nothing outside of its areas. */
#include "cli/time_request.h"
#include "fuzz.h"

enum { GIVEN_MOST = 24 };

static const bj_cli_option options[] = {
    {"operand", 0, "", ""}, {"n", 0, "", ""},       {"sweep", 0, "", ""},      {"context", 0, "", ""},
    {"threads", 0, "", ""}, {"samples", 0, "", ""}, {"budget", 0, "", ""},     {"limit", 0, "", ""},
    {"seed", 0, "", ""},    {"wall", 0, NULL, ""},  {"cpu-time", 0, NULL, ""}, {"json", 0, NULL, ""},
    {"csv", 0, NULL, ""},
};

static const bj_timer_caches caches = {.level_count = 3,
                                       .fits_bytes = {30000, 900000, 7000000},
                                       .holds_bytes = {32768, 1 << 20, 8 << 20},
                                       .latency_ns = {1, 4, 15},
                                       .line_bytes = 64,
                                       .last_ways = 16};

static void check_plan(const bj_timer_plan *plan) {
    require(plan->sets >= 1 && plan->touch_count <= BJ_TIMER_TOUCHES_MAX, "a plan has sets and touches");
    for (size_t i = 0; i < plan->touch_count; i++) {
        const bj_timer_touch *touch = &plan->touches[i];
        require(touch->area < plan->operand_count + 2, "a touch is in an area");
        size_t room = plan->areas[touch->area].bytes;
        require(touch->offset <= room && touch->bytes <= room - touch->offset, "a touch stays in its area");
    }
    for (size_t i = 0; i < plan->operand_count; i++) {
        const bj_timer_area *area = &plan->areas[i];
        ptrdiff_t last = (ptrdiff_t)area->first + area->stride * (ptrdiff_t)(plan->sets - 1);
        require(area->first <= area->bytes && plan->operands[i].bytes <= area->bytes - area->first,
                "the first set is in its area");
        require(last >= 0 && (size_t)last <= area->bytes - plan->operands[i].bytes, "so is the last");
    }
}

static void plan_all(const bj_time_request *request) {
    bj_timer_operand operands[BJ_TIMER_OPERANDS_MAX];
    bj_timer_plan plan;
    bj_error error = {""};
    for (size_t i = 0; i < request->size_count; i++)
        for (size_t c = 0; c < request->context_count; c++) {
            const bj_timer_request asked = {.operands = operands,
                                            .operand_count = request->operand_count,
                                            .context = request->contexts[c],
                                            .caches = &caches,
                                            .flush_bytes = bj_timer_begin_flush(&caches),
                                            .sets_bytes = bj_timer_begin_flush(&caches),
                                            .many_calls = (i + c) % 2 == 0,
                                            .threads = request->threads};
            bj_status status = bj_cli_size_operands(request, request->sizes[i], operands, &error);
            if (status == BJ_OK)
                status = bj_timer_make_plan(&asked, &plan, &error);
            if (status == BJ_OK)
                check_plan(&plan);
            else
                require(status == BJ_ERR_USAGE && error.text[0] != '\0', "a plan or a reason");
        }
}

/* Lines to options; false: one is no option. */
static bool split(char *text, bj_cli_given *given, size_t *count) {
    char *rest = text;
    for (const char *line; (line = strsep(&rest, "\n")) != NULL && *count < GIVEN_MOST;) {
        size_t length = strcspn(line, "="), i = 0;
        while (i < sizeof options / sizeof options[0] &&
               (strlen(options[i].name) != length || strncmp(options[i].name, line, length) != 0))
            i++;
        if (i == sizeof options / sizeof options[0] || (options[i].argument != NULL && line[length] == '\0'))
            return false;
        given[(*count)++] = (bj_cli_given){&options[i], options[i].argument != NULL ? line + length + 1 : NULL};
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *kernels[] = {"a.c:a", "b.so:b"};
    bj_cli_given given[GIVEN_MOST];
    bj_cli_arguments arguments = {.given = given, .operands = kernels, .operand_count = size % 2 + 1};
    bj_time_request request;
    bj_error error = {""};
    char *text = malloc(size + 1);
    require(text != NULL, "memory for options");
    memcpy(text, data, size);
    text[size] = '\0';
    if (split(text, given, &arguments.given_count)) {
        bj_status status = bj_cli_read_time_request(&arguments, &request, &error);
        require(status == BJ_OK || (status == BJ_ERR_USAGE && error.text[0] != '\0'), "a request or a reason");
        if (status == BJ_OK)
            plan_all(&request);
        bj_cli_free_time_request(&request);
    }
    free(text);
    return 0;
}
