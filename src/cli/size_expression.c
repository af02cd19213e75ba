#include "cli/size_expression.h"

#include <stdlib.h>

enum { DEPTH_MOST = 50 };

typedef struct {
    const char *at, *end;
    uint64_t n;
    int depth;
    bool failed, uses_n;
} reading;

static uint64_t read_sum(reading *r);

static uint64_t fail(reading *r) {
    r->failed = true;
    return 0;
}

static char look(reading *r) {
    while (r->at < r->end && *r->at == ' ')
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static uint64_t read_factor(reading *r) {
    char first = look(r);
    if (first == '(') {
        if (++r->depth > DEPTH_MOST)
            return fail(r);
        r->at++;
        uint64_t value = read_sum(r);
        if (look(r) != ')')
            return fail(r);
        r->at++;
        r->depth--;
        return value;
    }
    if (first == 'n' || first == 'N') {
        r->at++;
        r->uses_n = true;
        return r->n;
    }
    if (first < '0' || first > '9')
        return fail(r);
    uint64_t value = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(value, 10u, &value) || __builtin_add_overflow(value, *r->at - '0', &value))
            return fail(r);
    return value;
}

static uint64_t read_product(reading *r) {
    uint64_t value = read_factor(r);
    for (char next = look(r); !r->failed && (next == '*' || next == '/'); next = look(r)) {
        r->at++;
        uint64_t other = read_factor(r);
        if (r->failed || (next == '/' && other == 0))
            return fail(r);
        if (next == '/')
            value /= other;
        else if (__builtin_mul_overflow(value, other, &value))
            return fail(r);
    }
    return value;
}

static uint64_t read_sum(reading *r) {
    uint64_t value = read_product(r);
    for (char next = look(r); !r->failed && (next == '+' || next == '-'); next = look(r)) {
        r->at++;
        uint64_t other = read_product(r);
        if (next == '+' ? __builtin_add_overflow(value, other, &value) : __builtin_sub_overflow(value, other, &value))
            return fail(r);
    }
    return value;
}

bj_status bj_cli_evaluate_size(const char *what, const char *text, size_t length, uint64_t n, uint64_t *value,
                               bool *uses_n, bj_error *error) {
    reading r = {.at = text, .end = text + length, .n = n};
    *value = read_sum(&r);
    if (r.failed || look(&r) != '\0' || r.at != r.end)
        return bj_base_set_error(
            error, BJ_ERR_USAGE,
            "%.60s: expected a size such as 8*n, of whole numbers, n, + - * / and brackets, that is "
            "not below zero; found '%.*s'",
            what, length < 60 ? (int)length : 60, text);
    if (uses_n != NULL)
        *uses_n = *uses_n || r.uses_n;
    return BJ_OK;
}
