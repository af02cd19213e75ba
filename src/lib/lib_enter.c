/* Being a guest in somebody's thread. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "lib/lib.h"
#include "platform/limits.h"

bj_inside_guest bj_inside_enter(void) {
    bj_inside_guest guest = {.number = errno};
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guest.cancelling);
    return guest;
}

void bj_inside_leave(bj_inside_guest *guest) {
    (void)pthread_setcancelstate(guest->cancelling, &guest->cancelling);
    errno = guest->number;
}

bool bj_inside_has_stack(size_t bytes) {
    uintptr_t low = 0;
    size_t size = 0;
    if (!bj_platform_read_stack(&low, &size))
        return true; /* not told: no reason to refuse */
    uintptr_t here = (uintptr_t)&size;
    /* A thread that runs on a stack of its own making is elsewhere. */
    if (here < low || here - low > size)
        return true;
    return here - low >= bytes;
}
