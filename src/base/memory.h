/* Memory that ran out where no status tells: in values of a profile that then look unreadable, in lists of another
 * library that then lack an item. Who prints or writes asks at the end, since what came out may lack something. */
#pragma once

#include <stdbool.h>

#include "base/status.h"

/* Of this thread. */
void bj_base_note_no_memory(void);
/* The same with BJ_ERR_RESOURCE and a text, for functions whose callers may take any error for an unreadable value. */
bj_status bj_base_lack_memory(bj_error *error, const char *format, ...) BJ_PRINTF(2, 3);
/* Whether it ran out since the last time that this was asked. */
bool bj_base_take_no_memory(void);
