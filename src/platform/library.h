/* A function out of somebody's shared object. */
#pragma once

#include "base/status.h"

typedef void bj_any_function(void);

/* Loads the file and finds the function; both stay as long as the process. BJ_ERR_INPUT says what is wrong: no such
 * file, no library, no such symbol, data and not code. */
bj_status bj_platform_load_function(const char *path, const char *symbol, bj_any_function **function,
                                    bj_error *error) BJ_WARN_UNUSED;
/* The same of a library that the system's own search finds by a name without a slash. BJ_ERR_UNSUPPORTED: it is not
 * installed, or has no such function. */
bj_status bj_platform_find_function(const char *name, const char *symbol, bj_any_function **function,
                                    bj_error *error) BJ_WARN_UNUSED;
