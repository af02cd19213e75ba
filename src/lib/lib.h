/* What the files of the public library share. The public header is include/blackjack/blackjack.h; whatever is not
 * bj_lib_* stays hidden in the shared and in the static library. */
#pragma once

#include "base/status.h"
#include "blackjack/blackjack.h"
#include "profile/profile.h"

/* An answer as the outside sees it: a characteristic under another name. */
struct bj_lib_answer {
    bj_answer characteristic;
};

typedef struct {
    const bj_answer *answer;
} bj_inside_entry;

struct bj_lib_profile {
    bj_profile whole; /* without samples where it was read */
    char *text;       /* as it was read, to be written so; NULL: it was measured */
    size_t length;
    bj_inside_entry *by_key; /* of whole, sorted; does not change while the profile is open */
    char *path;              /* never NULL */
};

/* What a call of the library must leave as it found it: errno, and no thread cancelled in the middle of it, whose stack
 * threads of ours may be working on. First line of every function that does more than look something up. */
typedef struct {
    int number, cancelling;
} bj_inside_guest;
bj_inside_guest bj_inside_enter(void);
void bj_inside_leave(bj_inside_guest *guest);
#define BJ_INSIDE_BE_GUEST() bj_inside_guest guest __attribute__((cleanup(bj_inside_leave), unused)) = bj_inside_enter()
/* Whether the calling thread has so much of its stack left. */
bool bj_inside_has_stack(size_t bytes);
/* What measuring needs: some tens of kilobytes were seen, and a guest does not know what its callbacks take. */
#define BJ_INSIDE_STACK_BYTES ((size_t)96 * 1024)

/* Takes over `whole` and `text` (may be NULL), also on failure. */
bj_lib_result bj_inside_wrap_profile(bj_profile *whole, const char *path, char *text, size_t length,
                                     bj_lib_profile **profile, bj_lib_error *error);
/* The public result for a status, with its error. */
bj_lib_result bj_inside_translate(bj_status status, const bj_error *from, bj_lib_error *to);
bj_lib_result bj_inside_fail(bj_lib_error *error, bj_lib_result result, const char *format, ...) BJ_PRINTF(3, 4);
