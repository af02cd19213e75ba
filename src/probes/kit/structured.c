#include "probes/kit/structured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"

static void append(bj_structured *value, const char *text) {
    size_t length = strlen(text);
    if (value->length + length + 1 > value->room && !value->failed) {
        size_t room = 2 * (value->length + length) + 256;
        char *grown = realloc(value->text, room);
        value->failed = grown == NULL;
        if (grown != NULL) {
            value->text = grown;
            value->room = room;
        }
    }
    if (value->failed)
        return;
    memcpy(value->text + value->length, text, length + 1);
    value->length += length;
}

/* A comma, unless it is the first of what holds it. */
static void start_piece(bj_structured *value, const char *key) {
    char last = value->length > 0 ? value->text[value->length - 1] : '[';
    if (last != '[' && last != '{')
        append(value, ", ");
    if (key != NULL) {
        append(value, "\"");
        append(value, key);
        append(value, "\": ");
    }
}

void bj_structured_open(bj_structured *value, const char *key, char bracket) {
    start_piece(value, key);
    append(value, bracket == '{' ? "{" : "[");
}

void bj_structured_close(bj_structured *value, char bracket) {
    append(value, bracket == '}' ? "}" : "]");
}

void bj_structured_add_number(bj_structured *value, const char *key, double number) {
    char text[BJ_NUMBER_ROOM];
    start_piece(value, key);
    bj_data_format_number(bj_data_round_number(number, BJ_ANSWER_DIGITS), text);
    append(value, text);
}

void bj_structured_add_flag(bj_structured *value, const char *key, bool flag) {
    start_piece(value, key);
    append(value, flag ? "true" : "false");
}

void bj_structured_add_text(bj_structured *value, const char *key, const char *text) {
    start_piece(value, key);
    append(value, "\"");
    append(value, text);
    append(value, "\"");
}

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return (left > right) - (left < right);
}

void bj_structured_add_cpus(bj_structured *value, const char *key, const int *cpus, size_t count) {
    int *sorted = malloc((count + 1) * sizeof *sorted);
    value->failed = value->failed || sorted == NULL;
    if (value->failed) {
        free(sorted);
        return;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = cpus[i];
    qsort(sorted, count, sizeof *sorted, compare_cpus);
    bj_structured_open(value, key, '[');
    for (size_t i = 0; i < count; i++)
        bj_structured_add_number(value, NULL, sorted[i]);
    bj_structured_close(value, ']');
    free(sorted);
}

/* A cpu with its group. */
typedef struct {
    int cpu;
    size_t group;
    int lowest; /* cpu of the group */
    size_t size;
} member;

static int compare_members(const void *a, const void *b) {
    const member *left = a, *right = b;
    if (left->lowest != right->lowest)
        return left->lowest < right->lowest ? -1 : 1;
    return (left->cpu > right->cpu) - (left->cpu < right->cpu);
}

/* By group, and within it by cpu. */
static void sort_members(member *members, member *of_group, size_t count) {
    for (size_t i = 0; i < count; i++) {
        member *group = &of_group[members[i].group];
        if (group->size == 0 || members[i].cpu < group->lowest)
            group->lowest = members[i].cpu;
        group->size++;
    }
    for (size_t i = 0; i < count; i++) {
        members[i].lowest = of_group[members[i].group].lowest;
        members[i].size = of_group[members[i].group].size;
    }
    qsort(members, count, sizeof *members, compare_members);
}

void bj_structured_add_groups(bj_structured *value, const char *key, const int *cpus, const size_t *group_of,
                              size_t count) {
    member *members = calloc(2 * count + 1, sizeof *members);
    value->failed = value->failed || members == NULL;
    if (value->failed) {
        free(members);
        return;
    }
    for (size_t i = 0; i < count; i++)
        members[i] = (member){.cpu = cpus[i], .group = group_of[i]};
    sort_members(members, members + count, count);
    bj_structured_open(value, key, '[');
    for (size_t i = 0; i < count; i += members[i].size) {
        if (members[i].size < 2)
            continue;
        bj_structured_open(value, NULL, '[');
        for (size_t j = 0; j < members[i].size; j++)
            bj_structured_add_number(value, NULL, members[i + j].cpu);
        bj_structured_close(value, ']');
    }
    bj_structured_close(value, ']');
    free(members);
}

void bj_structured_add_matrix(bj_structured *value, const char *key, const double *cells, size_t rows, size_t columns) {
    bj_structured_open(value, key, '[');
    for (size_t row = 0; row < rows; row++) {
        bj_structured_open(value, NULL, '[');
        for (size_t column = 0; column < columns; column++)
            bj_structured_add_number(value, NULL, cells[row * columns + column]);
        bj_structured_close(value, ']');
    }
    bj_structured_close(value, ']');
}

void bj_structured_open_node(bj_structured *value, const int *cpus, size_t count, double latency_ns) {
    bj_structured_open(value, NULL, '{');
    bj_structured_add_cpus(value, "cpus", cpus, count);
    if (!isnan(latency_ns))
        bj_structured_add_number(value, "latency_ns", latency_ns);
}

bj_status bj_structured_finish(bj_structured *value, bj_answer *answer, bj_error *error) {
    bool failed = value->failed || value->text == NULL;
    if (failed) {
        free(value->text);
    } else {
        free(answer->structured);
        answer->structured = value->text;
    }
    *value = (bj_structured){0};
    return failed ? bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the answer %s", answer->key) : BJ_OK;
}
