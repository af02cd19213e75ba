/* The machine that we run on, for a group of tests. */
#ifndef BJ_TESTS_NATIVE_FIXTURE_H
#define BJ_TESTS_NATIVE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/machine.h"

static bj_machine *machine;

static inline int open_machine(void **state) {
    (void)state;
    bj_error error = {""};
    if (bj_machine_open_native(1, &machine, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return 0;
}

static inline int close_machine(void **state) {
    (void)state;
    machine->verbs->close(machine);
    return 0;
}

#endif
