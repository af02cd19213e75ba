/* Being a guest in somebody's thread. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "lib/lib.h"

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
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return true; /* not told: no reason to refuse */
    bool told = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
    (void)pthread_attr_destroy(&attributes);
    uintptr_t here = (uintptr_t)&attributes, low = (uintptr_t)lowest;
    /* A thread that runs on a stack of its own making is elsewhere. */
    if (!told || here < low || here - low > size)
        return true;
    return here - low >= bytes;
}
