/* Where a profile is looked for when none is named. */
#ifndef BJ_LIB_PLACES_H
#define BJ_LIB_PLACES_H

#include "base/status.h"

/* The first place that holds a file; *path is the caller's to free. BJ_ERR_USAGE: there is none, and the error names
 * the places. A file that cannot be looked at counts as being there: opening it says why. */
bj_status bj_inside_find_profile(char **path, bj_error *error) BJ_WARN_UNUSED;

#endif
