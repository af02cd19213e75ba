/* Other people's libraries, for comparison: CBLAS by dlopen, LIBXSMM by its own call. Nothing of them is linked. */
#pragma once

#include "kernels/timed_calls.h"
#include "timer/build.h"
#include "tune/model.h"

enum { BJ_TUNE_PEERS_MAX = 8 };

typedef struct {
    char name[40];
    bj_kernel_function *kernel;
    bool adds; /* computes C += A·B also where C -= A·B is asked: it has no other, and the work is the same */
} bj_tune_peer;

typedef struct {
    bj_tune_peer items[BJ_TUNE_PEERS_MAX];
    size_t count;
} bj_tune_peers;

/* One thread each; to be called before any of them is loaded. */
void bj_tune_calm_peers(void);
/* A library that the user names. BJ_ERR_INPUT: it has no CBLAS. */
bj_status bj_tune_add_peer(bj_tune_peers *peers, const char *path, bj_tune_type type, bool subtract,
                           bj_error *error) BJ_WARN_UNUSED;
/* Those that are installed: OpenBLAS, BLIS, ATLAS; LIBXSMM, which comes as headers and an archive, where `build` can
 * compile a call of it. */
void bj_tune_find_peers(bj_tune_peers *peers, const bj_timer_build *build, bj_tune_type type, bool subtract);
