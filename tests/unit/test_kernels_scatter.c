/* A scattered read visits every line once: found by setting one line after the other and adding up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/timed_calls.h"

enum { PAGE = 4096 };

static void check(size_t pages, size_t line_bytes) {
    size_t bytes = pages * PAGE;
    char *area = calloc(1, bytes);
    assert_non_null(area);
    for (size_t at = 0; at < bytes; at += line_bytes) {
        area[at] = 1;
        assert_int_equal(bj_kernel_read_scattered(area, bytes, line_bytes), 1);
        area[at] = 0;
    }
    free(area);
}

static void every_line_once(void **state) {
    (void)state;
    const size_t pages[] = {1, 2, 3, 4, 5, 12, 37, 40}, lines[] = {32, 64, 128, 256};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        for (size_t j = 0; j < sizeof lines / sizeof *lines; j++)
            check(pages[i], lines[j]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_line_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
