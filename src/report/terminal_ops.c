#include "report/terminal_ops.h"

#include <string.h>

#include "report/terminal_text.h"

/* NAME_ROOM is that of a key; a profile with more types or operations has the rest left out. */
enum { INDENT = 2, CELL_WIDTH = 8, NAME_ROOM = 64, NAMES_MOST = 64 };

static const struct {
    const char *ending, *title;
} quantities[] = {{"latency", "latency, in 32-bit additions"},
                  {"throughput", "throughput, in the time of one 32-bit addition"},
                  {"in_flight", "in flight: independent ones that overlap"}};
enum { QUANTITY_COUNT = sizeof quantities / sizeof quantities[0] };

typedef struct {
    char items[NAMES_MOST][NAME_ROOM];
    size_t count;
} names;

typedef struct {
    FILE *out;
    const bj_profile *profile;
    const bj_terminal_style *style;
    names types, operations;
    bool medium, low, unstable, unsupported; /* what was printed and wants to be explained */
} grid;

/* "op.int32.add.latency" into its parts; false: no operation. */
static bool split_key(const char *key, char *type, char *operation, size_t *quantity) {
    char ending[NAME_ROOM];
    int end = 0;
    if (sscanf(key, "op.%63[^.].%63[^.].%63[^.]%n", type, operation, ending, &end) != 3 || key[end] != '\0')
        return false;
    for (*quantity = 0; *quantity < QUANTITY_COUNT; (*quantity)++)
        if (strcmp(ending, quantities[*quantity].ending) == 0)
            return true;
    return false;
}

bool bj_report_is_operation(const char *key) {
    char type[NAME_ROOM], operation[NAME_ROOM];
    size_t quantity;
    return split_key(key, type, operation, &quantity);
}

static void add_name(names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    if (names->count < NAMES_MOST)
        snprintf(names->items[names->count++], NAME_ROOM, "%s", name);
}

/* The grids are of one probe's answers: vectors have their own, below their own name. */
static const bj_answer *find_cell(const grid *grid, const char *probe, size_t type, size_t operation, size_t quantity) {
    char key[4 * NAME_ROOM];
    snprintf(key, sizeof key, "op.%s.%s.%s", grid->types.items[type], grid->operations.items[operation],
             quantities[quantity].ending);
    const bj_answer *answer = bj_data_find_answer(&grid->profile->answers, key);
    return answer != NULL && answer->structured == NULL && strcmp(answer->probe, probe) == 0 ? answer : NULL;
}

static void print_cell(grid *grid, const bj_answer *answer, size_t width) {
    char text[64] = "", number[48];
    bj_ink ink = BJ_INK_PLAIN;
    if (answer != NULL && bj_data_has_value(answer)) {
        const char *mark = "";
        bj_report_format_quantity(answer->value, "", number);
        if (answer->status == BJ_ANSWER_UNSTABLE)
            mark = "!";
        else if (answer->confidence < BJ_CONFIDENCE_HIGH)
            mark = answer->confidence == BJ_CONFIDENCE_MEDIUM ? "~" : "?";
        grid->unstable |= mark[0] == '!';
        grid->medium |= mark[0] == '~';
        grid->low |= mark[0] == '?';
        snprintf(text, sizeof text, "%s%s", number, mark);
        ink = mark[0] == '!' ? BJ_INK_DOUBTFUL : bj_report_choose_ink(answer->confidence);
    } else if (answer != NULL) {
        snprintf(text, sizeof text, "%s", answer->status == BJ_ANSWER_UNSUPPORTED ? "-" : "x");
        grid->unsupported |= text[0] == '-';
    }
    bj_report_print_text(grid->out, grid->style, ink, text, width);
}

/* Columns from `first` to `last` of one quantity. */
static void print_part(grid *grid, const char *probe, size_t quantity, size_t first, size_t last, size_t name_width) {
    bj_report_print_text(grid->out, grid->style, BJ_INK_FAINT, "", INDENT + name_width);
    for (size_t o = first; o < last; o++)
        bj_report_print_text(grid->out, grid->style, BJ_INK_FAINT, grid->operations.items[o],
                             o + 1 < last ? CELL_WIDTH : 0);
    putc('\n', grid->out);
    for (size_t t = 0; t < grid->types.count; t++) {
        fprintf(grid->out, "%*s", INDENT, "");
        bj_report_print_text(grid->out, grid->style, BJ_INK_PLAIN, grid->types.items[t], name_width);
        size_t end = last;
        while (end > first && find_cell(grid, probe, t, end - 1, quantity) == NULL)
            end--;
        for (size_t o = first; o < end; o++)
            print_cell(grid, find_cell(grid, probe, t, o, quantity), o + 1 < end ? CELL_WIDTH : 0);
        putc('\n', grid->out);
    }
}

static void print_quantity(grid *grid, const char *probe, size_t quantity) {
    size_t name_width = 0, width = bj_report_find_width(grid->style);
    for (size_t t = 0; t < grid->types.count; t++) {
        size_t columns = bj_report_count_columns(grid->types.items[t]) + 2;
        name_width = columns > name_width ? columns : name_width;
    }
    size_t taken = INDENT + name_width;
    size_t fit = width > taken + CELL_WIDTH ? (width - taken) / CELL_WIDTH : 1;
    fprintf(grid->out, "%*s", INDENT, "");
    bj_report_print_text(grid->out, grid->style, BJ_INK_STRONG, quantities[quantity].title, 0);
    putc('\n', grid->out);
    for (size_t first = 0; first < grid->operations.count; first += fit) {
        size_t last = first + fit < grid->operations.count ? first + fit : grid->operations.count;
        print_part(grid, probe, quantity, first, last, name_width);
    }
}

/* Why there is an "x": once for the quantities of an operation. */
static void print_reasons(const grid *grid, const char *probe) {
    for (size_t t = 0; t < grid->types.count; t++)
        for (size_t o = 0; o < grid->operations.count; o++) {
            const char *said = "";
            for (size_t q = 0; q < QUANTITY_COUNT; q++) {
                const bj_answer *answer = find_cell(grid, probe, t, o, q);
                if (answer == NULL || bj_data_has_value(answer) || answer->status == BJ_ANSWER_UNSUPPORTED ||
                    strcmp(answer->reason, said) == 0)
                    continue;
                char text[400];
                snprintf(text, sizeof text, "x %s %s: %s: %s", grid->types.items[t], grid->operations.items[o],
                         bj_data_name_status(answer->status), answer->reason);
                fprintf(grid->out, "%*s", INDENT, "");
                bj_report_print_wrapped(grid->out, grid->style, BJ_INK_DOUBTFUL, text, INDENT + 2, INDENT);
                said = answer->reason;
            }
        }
}

static void explain_marks(const grid *grid) {
    char text[160] = "";
    size_t used = 0;
    const struct {
        bool used;
        const char *text;
    } marks[] = {{grid->medium, "~ medium confidence"},
                 {grid->low, "? low confidence"},
                 {grid->unstable, "! unstable"},
                 {grid->unsupported, "- unsupported"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (marks[i].used)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? ", " : "", marks[i].text);
    if (used == 0)
        return;
    snprintf(text + used, sizeof text - used, "; without a mark: high confidence");
    fprintf(grid->out, "%*s", INDENT, "");
    bj_report_print_wrapped(grid->out, grid->style, BJ_INK_FAINT, text, INDENT, INDENT);
}

void bj_report_print_operations(FILE *out, const bj_profile *profile, const bj_terminal_style *style,
                                const char *probe) {
    grid grid = {.out = out, .profile = profile, .style = style};
    for (size_t i = 0; i < profile->answers.count; i++) {
        const bj_answer *answer = &profile->answers.items[i];
        char type[NAME_ROOM], operation[NAME_ROOM];
        size_t quantity;
        if (strcmp(answer->probe, probe) != 0 || !split_key(answer->key, type, operation, &quantity))
            continue;
        add_name(&grid.types, type);
        add_name(&grid.operations, operation);
    }
    for (size_t q = 0; q < QUANTITY_COUNT; q++)
        print_quantity(&grid, probe, q);
    explain_marks(&grid);
    print_reasons(&grid, probe);
}
