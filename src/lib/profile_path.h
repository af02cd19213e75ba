/* Where a profile is looked for when none is named. */
#pragma once

#include "blackjack/blackjack.h"

/* The first place that holds a file; *path is the caller's to free. The error names the places where there is none. A
 * file that cannot be looked at counts as being there: opening it says why. */
bj_lib_result bj_inside_find_profile(char **path, bj_lib_error *error);
